"""An answer that is one fence and nothing else: what it holds is read as an answer of its own.

Some models write their calls in a fence, as they were shown them.  The fence is no call yet, for it may be an example
that text follows.  So it is one bare call, or several, of the formats whose markers its content has: reported at the
closing line, if the content is whole calls and blanks alone, and revoked if visible text follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from streamparse.dialects.engine.catalogue import Catalogue
from streamparse.dialects.engine.grammar import Context, Dialect, markers
from streamparse.dialects.engine.inband import InBandParser
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.engine.sinks import Draft, RecordingSink, Spoiled
from streamparse.events import Place, Source
from streamparse.patterns import BLANKS, lazy_partial

# As in `quotes.py`, but that the pieces have bounds.  What is longer is read as no fence here, and quotes all the same.
_OPENING = lazy_partial(r"(`{3,64}|~{3,64})[^`\r\n]{0,64}\r?\n")
_CLOSING = lazy_partial(r" {0,3}(`{3,64}|~{3,64})[ \t]{0,64}\r?\n")
_LAST_CLOSING = lazy_partial(r" {0,3}(`{3,64}|~{3,64})[ \t]{0,64}(?:\r?\n|\Z)")
# Content that begins with a bracket of JSON has no marker of a format: `fenced-json` reads it, if any does.
_FOLLOWS: Final = r"(?:`{3,64}|~{3,64})[^`\r\n]{0,64}\r?\n\s{0,64}(?!\{|\[\s{0,64}[{\]])\S"


def make_fence(catalogue: Catalogue, dialects: tuple[str | Dialect, ...], openers: Iterable[str]) -> Dialect:
    """Return what reads calls of these dialects in a fence that is all of an answer, and begins with an opener."""
    fences = markers(*openers, inclusive=True, position="start", bare=True)
    return Dialect("fence", fences, FencedCalls(catalogue, dialects), _FOLLOWS)


class FencedCalls(msgspec.Struct, frozen=True):
    """Reads calls of these dialects in a fence."""

    catalogue: Catalogue
    dialects: tuple[str | Dialect, ...]

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        record = context.sink
        assert isinstance(record, RecordingSink)  # its openers are bare
        opening = yield from reader.match(_OPENING)
        assert opening is not None  # `_FOLLOWS` has matched it
        calls = _Calls()
        content = InBandParser(
            calls, self.catalogue, self.dialects, context.tools, "closed", context.limits, "calls",
            on_dialect=context.on_dialect,
        )  # fmt: skip
        if not (yield from _read_content(reader, opening[1], content)):
            return False
        content.close(stopped=True)
        if not calls.are_whole or (reader.final and not reader.stopped):
            return False
        record.format = content.dialect
        calls.report(record)
        return True


def _read_content(reader: Reader, run: str, content: InBandParser) -> Step[bool]:
    """Pass the lines up to the closing one to `content`, as they come; return False if there is no closing line."""
    while True:
        line = yield from reader.match(_CLOSING, _LAST_CLOSING)
        if line is not None and line[1].startswith(run):
            return True
        if line is not None:
            content.text(line[0])
            continue
        end = 0
        while not end:
            if not (yield from reader.peek()):
                return False
            end = reader.buffer.find("\n", reader.at) + 1
            content.text(reader.take((end or len(reader.buffer)) - reader.at))


class _Calls:
    """A sink that keeps calls with their own markers.  Whatever else is reported but blanks raises `Spoiled`."""

    reads_markup = False

    def __init__(self) -> None:
        self._drafts: list[Draft] = []

    @property
    def are_whole(self) -> bool:
        """Whether there are calls, and all of them have ended."""
        return bool(self._drafts) and all(draft.closed for draft in self._drafts)

    def report(self, sink: RecordingSink) -> None:
        """Report the calls."""
        for draft in self._drafts:
            call = sink.call_start(draft.name, draft.id or None)
            sink.call_arguments(call, draft.raw)
            if draft.is_repaired:
                sink.call_repaired(call)
            sink.call_end(call)

    def text(self, text: str) -> None:
        if text.strip(BLANKS):
            raise Spoiled

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"  # noqa: ARG002
    ) -> Draft:  # fmt: skip
        if place != "plain":
            raise Spoiled
        draft = Draft(len(self._drafts), name, id or "")
        self._drafts.append(draft)
        return draft

    def call_arguments(self, call: Any, fragment: str, **_: Any) -> None:
        call.arguments.write(fragment)

    def call_teller(self, call: Any) -> Any:
        return call.arguments.write

    def call_repaired(self, call: Any) -> None:
        call.is_repaired = True

    def call_end(self, call: Any) -> None:
        call.closed = True

    def spoil(self, *_: Any, **__: Any) -> Any:
        """Something was reported that is no call."""
        raise Spoiled

    reasoning = refusal = item = fact = error = call_error = call_revoke = calls_doubted = spoil
    call_whole = finish = end = go_on = spoil
