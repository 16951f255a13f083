"""The sink in front of the assembler: finds calls and thoughts in the text that passes through.

    text ──▶ next marker ──▶ a thought begins or ends
                        └──▶ a dialect reads what follows ──▶ a call
                                                         └──▶ no call: text

In prose one search for the markers is all that it costs.  Nothing is held back but the beginning of a marker, what a
dialect needs to decide, and white space between a call and what follows it.

The parser is made of these:

- `ActiveMarkers`: what is looked for;
- `Reader`: the text that has come and is not read yet;
- `VisibleText`, and an `OpenThought` while there is one: the text before the next marker, and its state;
- `Scanner`: finds the next marker, and does what the table of `meanings.py` says;
- `Attempt`, after a marker: the dialects that may read what follows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from streamparse.dialects.engine.active_markers import ActiveMarkers
from streamparse.dialects.engine.attempt import Setting
from streamparse.dialects.engine.catalogue import Catalogue
from streamparse.dialects.engine.grammar import NO_VIEWS, Context, Dialects, Quoted, Reasoning, leave_out_calls
from streamparse.dialects.engine.markers import MarkerMatch
from streamparse.dialects.engine.reader import Reader
from streamparse.dialects.engine.scanner import Scanner
from streamparse.dialects.engine.sinks import DirectSink
from streamparse.dialects.engine.spans import VisibleText
from streamparse.events import Place, Scope, Source
from streamparse.limits import Limits, most
from streamparse.patterns import BLANKS
from streamparse.sink import Call, Sink
from streamparse.sink import Outcome as TurnOutcome
from streamparse.tools import Toolset

_MOST_PIECES: Final = 128  # bound: pieces of text that are kept before they are looked at or joined


class InBandParser:
    """A `Sink` that looks for calls and thoughts in `text`, and passes everything else on to `sink`.

    `catalogue` has the dialects that `dialects` may name.  `ignored`: words of `dialects`, `"auto"` or `"all"`, that
    mean reasoning alone here.  `on_marker` is called when a marker is met, with the number of characters of the text
    that are still to be read; `on_dialect`, with its name, when a dialect is about to read.

    Raises ValueError for the name of a dialect that is not known.
    """

    __slots__ = (  # so many attributes in a dict would take most of the room of an idle parser
        *("_find_in_prose", "_has_ended", "_ignores_auto", "_markers", "_pieces", "_scanner", "_sink", "_tell"),
        *("call_arguments", "call_end", "call_error", "call_repaired", "call_revoke", "call_teller", "calls_doubted"),
        "ignores_calls",
    )

    reads_markup = True

    def __init__(
        self, sink: Sink, catalogue: Catalogue, dialects: Dialects, tools: Toolset, reasoning: Reasoning,
        limits: Limits, quoted: Quoted = "text", *, ignored: tuple[str, ...] = (),
        on_dialect: Callable[[str], object] | None = None, on_marker: Callable[[int], object] | None = None,
    ) -> None:  # fmt: skip
        self._sink = sink
        most_held = most(limits.max_held_text)
        reader, text = Reader(most_held, most(limits.max_markers)), VisibleText(sink)
        direct = DirectSink(sink, reader, text)
        # What needs no place in the order goes to the sink itself.  Each bound method that is fetched costs 64 bytes.
        self.call_arguments: Callable[..., None] = direct.call_arguments
        self.call_teller: Callable[[Call], Callable[[str], None]] = direct.call_teller
        self.call_repaired: Callable[[Call], None] = direct.call_repaired
        self.call_end: Callable[[Call], None] = sink.call_end
        self.call_error: Callable[[Call, str, str], None] = sink.call_error
        self.call_revoke: Callable[[Call, str], None] = sink.call_revoke
        self.calls_doubted: Callable[[str, str], None] = sink.calls_doubted
        chosen: Dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        left = leave_out_calls(chosen, *ignored) if ignored else chosen
        active = ActiveMarkers(catalogue, left, tools.names, reasoning != "closed", quoted)
        # Whether calls that `dialects` asks for are not looked for, or not any more.
        self.ignores_calls: bool = left != chosen
        self._ignores_auto = left == ("reasoning",)  # "auto" means that, as from the first native call on
        self._has_ended = False  # the turn has, and what comes next takes that back: also what is held for long
        views = {} if tools else NO_VIEWS
        context = Context(direct, tools, limits, thoughts=reasoning != "closed", views=views, on_dialect=on_dialect)
        least_held = min(most(limits.max_call_args), most_held)
        self._scanner = Scanner(sink, active, Setting(reader, direct, context, quoted, on_marker, least_held), text)
        # While nothing is held: a search for markers, and what text without any is passed on to.
        self._find_in_prose: Callable[[str], MarkerMatch | None] | None = None
        self._markers = active.prose
        self._pieces, self._tell = text.quotes.pieces, text.tell
        if reasoning == "open":
            self._scanner.open_thought(active.any_thought)
        elif active.has_start:
            self._scanner.begin_at_start()

    @property
    def dialect(self) -> str | None:
        """The dialect that produced a call, once one did."""
        return self._scanner.dialect

    # -- the verbs of a wire ---------------------------------------------------------------------------

    def text(self, text: str) -> None:
        find = self._find_in_prose
        if find is not None and (
            (spotted := find(text)) is None
            # There may be a marker: a text like this one may be known to have none.
            or (spotted.end() < len(text) and self._markers.is_known_without(text))
        ):
            pieces = self._pieces
            pieces.append(text)
            if len(pieces) > _MOST_PIECES:
                self._scanner.span.quotes.trim()
            tell = self._tell  # to call it at once would take longer, for it is no method
            tell(text)
            return
        if self._has_ended:
            self.go_on()
        scanner = self._scanner
        reader = scanner.reader
        rest: str | None = text
        if scanner.attempt is not None:
            taped = reader.tape.pieces
            if len(taped) > _MOST_PIECES:
                reader.tape.trim()
            taped.append(text)
            go_on = reader.fast_path  # the grammar waits in a long value: the text may be all value
            rest = text if go_on is None else go_on(text, reader)
        if rest is not None:
            reader.push(rest)
            scanner.advance()
            is_held = scanner.attempt is not None or reader.at < len(reader.buffer)
            markers = None if is_held else scanner.span.get_prose_markers(scanner.active)
            self._find_in_prose = None
            if markers is not None:
                self._find_in_prose, self._markers = markers.may_hold, markers
                self._tell, self._pieces = scanner.span.tell, scanner.span.quotes.pieces

    def reasoning(self, text: str) -> None:
        if self._has_ended:
            self.go_on()
        self._scanner.flush()
        scanner = self._scanner
        scanner.text.held.drop_endings()
        if scanner.span is not scanner.text and text.strip(BLANKS):
            scanner.span.revoke("thought_goes_on")
        self._sink.reasoning(text)

    def refusal(self, text: str) -> None:
        self.go_on()
        self._scanner.flush()
        self._sink.refusal(text)

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self._scanner.flush()
        self._sink.item(kind, data, index)

    def fact(self, name: str, value: Any) -> None:
        self._sink.fact(name, value)

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self._scanner.flush()
        self._sink.error(scope, code, message, offset)

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"
    ) -> Call:  # fmt: skip
        if self._find_in_prose is None:
            self.go_on()
            self._scanner.flush()
            self._scanner.text.held.drop_endings()
        if not self._ignores_auto:  # a server that reads calls itself leaves none in the text
            self._ignores_auto = True
            self.ignore_calls("auto", "all")
        return self._sink.call_start(name, id, source, place)

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        self.go_on()
        self._scanner.flush()
        self._scanner.text.held.drop_endings()
        if not self._ignores_auto:
            self._ignores_auto = True
            self.ignore_calls("auto", "all")
        return self._sink.call_whole(name, arguments, id)

    def finish(self, reason: str, outcome: TurnOutcome = "stop") -> None:
        self._watch_for_more()
        self._sink.finish(reason, outcome)

    def end(self) -> None:
        self._watch_for_more()
        self._sink.end()

    def _watch_for_more(self) -> None:
        self._has_ended = True
        self._find_in_prose = None

    def go_on(self) -> None:
        self._has_ended = False
        self._sink.go_on()

    def ignore_calls(self, *words: str) -> None:
        """From here on these words of `dialects`, `"auto"` or `"all"`, mean reasoning alone."""
        if self._scanner.active.leave_out(*words):
            self.ignores_calls = True
            self._find_in_prose = None  # the markers are chosen again when more text comes: after a call it seldom does

    def close(self, stopped: bool = False) -> None:
        """The text is over: decide what is held.  `stopped`: the model itself ended it, and nothing cut it."""
        self._scanner.close(stopped)
