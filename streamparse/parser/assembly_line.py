"""The one assembly line, on which streams, text and whole bodies are parsed.

    frames ──▶ wire ──verbs──▶ [ in-band ] ──verbs──▶ assembler ──▶ events, ParsedResponse

`StreamParser` and `TextParser` feed it piece by piece, `whole_bodies` once.  So a whole response gives the same calls
as feeding it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from streamparse.assembler import Assembler, HasOffset
from streamparse.dialects import CATALOGUE, InBandParser
from streamparse.events import Place, Source
from streamparse.frames import Frame
from streamparse.parser.empty_answers import MOST_LOOKED_AT, find_unread_text
from streamparse.parser.options import ParserOptions
from streamparse.parser.wire_selector import WireSelector
from streamparse.providers.wires import WIRES
from streamparse.reading.decode import read_excerpt
from streamparse.response import ParsedResponse
from streamparse.sink import Sink
from streamparse.stats import Stats

if TYPE_CHECKING:
    from streamparse.parser.late_calls import JSONRun

_FEW_TOKENS: Final = 8  # bound: tokens of silence: marks of the end, the tags of an empty thought


class AssemblyLine:
    """The assembler, the in-band parser in front of it, and the wire in front of both.

    Without a wire it reads text.  Its subclasses catch `ParseHalted`, and then set `_is_open` to False.
    """

    def __init__(self, options: ParserOptions, wire: str | None = None) -> None:
        self._options = options
        self._assembler = Assembler(options.tools, options.limits, mode="strict" if options.strict else "lenient")
        self._record = self._assembler.record
        self._inband: InBandParser | None = None
        if options.dialects:
            parses_calls = wire not in (None, "auto") and wire in WIRES and WIRES[wire].parses_calls
            self._inband = InBandParser(
                self._assembler, CATALOGUE, options.dialects, options.tools, options.reasoning, options.limits,
                options.quoted, ignored=("auto",) if parses_calls else (),
                on_dialect=self._record.set_dialect, on_marker=self._record.note_marker,
            )  # fmt: skip
            self._assembler.is_watching = False
        self._sink: Sink = self._inband or self._assembler
        self._selector: WireSelector | None = None
        if wire is not None:
            self._selector = WireSelector(wire, options, self._assembler, self._inband)
        self._is_closed = False
        self._is_open = True  # no limit has ended the answer early
        self._has_intents = False  # what is written like a call at the end of the answer was looked for
        self._unread: dict[str, int] | None = None
        self._is_early = True  # nothing was said yet
        self._early: list[Frame] = []  # the first messages, while that is so

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        response = self._assembler.response
        if self._is_closed and not self._has_intents:
            self._has_intents = True
            self._add_intents(response)
        return response

    def partial(self, index: int) -> dict[str, Any]:
        """The arguments of a call so far: of an open one only what no further text can change.

        Numbers and literals are there once a delimiter has closed them, strings as far as they came, except for half
        an escape; a key with its value.  Of a complete call all arguments are there.  What was returned does not
        change, and must not be changed.  Called after each piece, it costs as much as reading the call once, and each
        time a copy of what is still open.
        Raises KeyError if no call of that index has begun, or if it broke.
        """
        return self._assembler.look(index)

    def origin_of(self, index: int) -> tuple[Source, Place]:
        """How a call that has begun was found, and where: what its Complete will say, except for repairs."""
        return self._record.origins.get(index, ("native", "field"))

    def _halt(self, code: str, message: str, place: HasOffset) -> None:
        """End the parse: first what waited for more is decided.  Raises `ParseHalted`."""
        self._close_wire(place)
        self._close_text(place, stopped=False)
        self._assembler.halt(code, message)

    def _close_wire(self, end: HasOffset) -> None:
        self._record.position = end
        if self._selector is not None:
            self._selector.close()
            if self._selector.sealed:  # what had waited for its end came before the marker
                self._sink.end()

    def _close_text(self, end: HasOffset, stopped: bool) -> None:
        """No more text comes; `stopped`: the model itself ended it."""
        self._assembler.is_watching = False
        if self._inband is not None:
            self._inband.close(stopped)
        self._record.position = end

    def _finish(self, end: HasOffset, truncated: str | None) -> None:
        """The answer is over: find what it still holds, and make `Done`; see `Assembler.close` for `truncated`."""
        self._close_text(end, self._assembler.has_stopped)
        if self._inband is not None:
            self._recover()
        self._check_for_answer()
        self._assembler.close(truncated)

    def _note_early(self, frame: Frame) -> None:
        """Keep a message of the beginning: if nothing comes of any, they are looked at again."""
        if self._selector is not None and not self._selector.over:
            self._early.append(frame)
            self._is_early = len(self._early) < MOST_LOOKED_AT

    def _check_for_answer(self) -> None:
        """Report an answer that says nothing although something was sent."""
        wire = self._selector.wire if self._selector is not None else None
        if wire is None or not self._assembler.is_empty:
            return
        tokens = self._assembler.response.tokens.completion
        frame = find_unread_text(self._early, wire.shape, self._options.choice)
        if frame is not None:
            message = f"nothing of the answer was understood: {read_excerpt(frame)!r}"
            self._assembler.error("stream", "empty_answer", message, frame.offset)
        elif tokens > _FEW_TOKENS:
            self._assembler.error("stream", "empty_answer", f"an answer without content took {tokens} tokens")

    def _recover(self) -> JSONRun | None:
        """Look for calls in what is in doubt, if the model ended its turn without one; see `late_calls`."""
        if not self._assembler.has_stopped or self._assembler.calls_found:
            return None
        content = self._assembler.response.content
        if not ("{" in content or "<" in content or "[" in content or "(" in content or "`" in content):
            return None  # all calls in text have one of these
        from streamparse.parser.late_calls import recover  # noqa: PLC0415 - a module that many programs never need

        was_read = self._inband is None or not self._inband.ignores_calls
        return recover(content, self._options, was_read, self._assembler)

    def _count(self, **counts: Any) -> Stats:
        """Make the statistics so far, with counts of what was fed."""
        return Stats.of(
            self._assembler.response,
            dialect=self._inband.dialect if self._inband is not None else None,
            leniencies=dict(self._record.leniencies),
            unread_calls=self._count_unread(),
            **counts,
        )

    def _count_unread(self) -> dict[str, int]:
        """Count the whole calls of declared tools that were left as text, by place, once the answer is over."""
        if not self._is_closed or not self._options.tools:
            return {}
        if self._unread is None:
            from streamparse.parser.unread_calls import count_unread  # noqa: PLC0415 - as above

            response = self._assembler.response
            late = [call for call in response.tool_calls if self.origin_of(call.index)[0] == "recovered"]
            self._unread = count_unread(response, late, self._options.tools, self._options.limits)
        return self._unread

    def _add_intents(self, response: ParsedResponse) -> None:
        """Add what ends an answer like a call, if the model itself ended it."""
        options = self._options
        if options.tools and options.dialects and response.ok and self._assembler.has_stopped:
            from streamparse.parser.unread_calls import find_call_intents  # noqa: PLC0415 - as above

            response.intents = find_call_intents(response, options.tools, options.limits)
