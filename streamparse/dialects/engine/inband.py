"""The sink in front of the assembler: finds calls and thoughts in the text that passes through.

    text ──▶ next marker ──▶ a thought begins or ends
                        └──▶ a dialect reads what follows ──▶ a call
                                                         └──▶ no call: text

In prose one search for the markers is all that it costs.  Nothing is held back but the beginning of a marker, what a
dialect needs to decide, and white space between a call and what follows it.

The parser is made of these:

- `ActiveMarkers`: what is looked for;
- `Reader`: the text that has come and is not read yet;
- `VisibleText`, and an `OpenThought` while there is one: the text before the next marker, and what it means for it;
- `Attempt`, after a marker: the dialects that may read what follows it;
- `RescanBudget`: how often what turned out to be no call may be looked at again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from streamparse.dialects.engine.active_markers import ActiveMarkers, Candidate, Catalogue
from streamparse.dialects.engine.attempt import Attempt, MarkerMet, Outcome, Setting
from streamparse.dialects.engine.grammar import (
    NO_VIEWS,
    Context,
    Dialect,
    Dialects,
    Quoted,
    Reasoning,
    Thought,
    leave_out_calls,
)
from streamparse.dialects.engine.markers import Found, MarkerMatch
from streamparse.dialects.engine.reader import Reader, RescanBudget, Step
from streamparse.dialects.engine.sinks import DirectSink
from streamparse.dialects.engine.spans import (
    AFTER_CALL,
    IN_TEXT,
    INVENTED,
    START,
    TURN_BEGUN,
    OpenThought,
    VisibleText,
)
from streamparse.events import Place, Scope, Source
from streamparse.limits import Limits, most
from streamparse.patterns import BLANKS, lazy_re
from streamparse.sink import Call, Sink
from streamparse.sink import Outcome as TurnOutcome
from streamparse.tools import Toolset

_BLANKS = lazy_re(r"[ \t\r\n]*")
_MOST_MARKER: Final = 1024  # characters; no marker is longer
_MOST_PIECES: Final = 128  # pieces of text that are kept, and not looked at or joined
_MOST_GAP: Final = 256  # blanks that may wait between a call and what follows; more are text
_REASONING: Final = ("reasoning",)
_TOKEN_SIGN = lazy_re(r"[|｜]|\[TOOL_CALLS\]")


class InBandParser:
    """A `Sink` that looks for calls and thoughts in `text`, and passes everything else on to `sink`.

    `catalogue` has the dialects that `dialects` may name.  `ignored`: words of `dialects`, `"auto"` or `"all"`, that
    mean reasoning alone here.  `on_marker` is called when a marker is met, with the number of characters of the text
    that are still to be read; `on_dialect`, with its name, when a dialect is about to read.

    Raises ValueError for the name of a dialect that is not known.
    """

    __slots__ = (  # so many attributes in a dict would take most of the room of an idle parser
        *("_active", "_attempt", "_budget", "_catalogue", "_dialects", "_direct", "_find_in_prose"),
        *("_follows_drop", "_follows_quoted", "_has_ended", "_has_reasoning", "_has_settled", "_ignores_auto"),
        *("_is_outdated", "_joins_thoughts", "_most_vain", "_vain"),
        *("_markers", "_pieces", "_reader", "_setting", "_sink", "_span", "_steps", "_taped", "_tell"),
        *("_text", "_thought", "_tools", "call_arguments", "call_end", "call_error", "call_repaired", "call_revoke"),
        *("call_teller", "calls_doubted", "dialect", "ignores_calls"),
    )

    reads_markup = True

    def __init__(
        self,
        sink: Sink,
        catalogue: Catalogue,
        dialects: Dialects,
        tools: Toolset,
        reasoning: Reasoning,
        limits: Limits,
        quoted: Quoted = "text",
        *,
        ignored: tuple[str, ...] = (),
        on_dialect: Callable[[str], object] | None = None,
        on_marker: Callable[[int], object] | None = None,
    ) -> None:
        self._sink = sink
        self._catalogue = catalogue
        self._tools = tools
        self._has_reasoning = reasoning != "closed"
        # The dialect that produced a call, once one did.
        self.dialect: str | None = None
        self._reader = Reader(limits.max_held_text)
        self._taped = self._reader.tape.pieces  # looked up once: the list stays the same
        self._text = VisibleText(sink)
        direct = self._direct = DirectSink(sink, self._reader, self._text)
        # What needs no place in the order goes to the sink itself, without a call in between.
        # The same as the sink's; each that is fetched costs 64 bytes.
        self.call_arguments: Callable[..., None] = direct.call_arguments
        self.call_teller: Callable[[Call], Callable[[str], None]] = direct.call_teller
        self.call_repaired: Callable[[Call], None] = direct.call_repaired
        self.call_end: Callable[[Call], None] = sink.call_end
        self.call_error: Callable[[Call, str, str], None] = sink.call_error
        self.call_revoke: Callable[[Call, str], None] = sink.call_revoke
        self.calls_doubted: Callable[[str, str], None] = sink.calls_doubted

        self._has_ended = False  # the turn has, and what comes next takes that back: also what is held for long
        self._budget = RescanBudget()
        self._vain = 0  # markers in open text that opened nothing, since the last call
        self._most_vain = most(limits.max_markers)
        self._thought: OpenThought | None = None
        self._joins_thoughts = False  # since the last call there was a thought
        self._follows_quoted = False  # nothing but blanks since a call that was quoted
        self._follows_drop = False  # nothing since a marker that was dropped
        self._has_settled = False  # a bare call stands, for what follows it belongs to its format
        views = {} if tools else NO_VIEWS
        context = Context(direct, tools, limits, thoughts=self._has_reasoning, views=views, on_dialect=on_dialect)
        self._setting = Setting(
            self._reader, direct, context, quoted, on_marker,
            min(most(limits.max_call_args), most(limits.max_held_text)),
        )  # fmt: skip
        self._attempt: Attempt | None = None
        self._steps: Step[Dialect | None]  # of the attempt
        self._find_in_prose: Callable[[str], MarkerMatch | None] | None = None  # the search, while nothing is held
        chosen: Dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        self._dialects = leave_out_calls(chosen, *ignored) if ignored else chosen
        # Whether "auto" and "all" mean reasoning alone, as from the first native call on.
        self._ignores_auto = self._dialects == _REASONING
        # Whether calls that `dialects` asks for are not looked for, or not any more.
        self.ignores_calls: bool = self._dialects != chosen
        self._is_outdated = False  # the markers below are not those of `_dialects`
        self._active = self._activate()
        self._enter(self._text)
        if reasoning == "open":
            self._open_thought(self._active.any_thought)
        elif "" in self._active.openers:
            first, *others = candidates = self._active.list_candidates("", "start")
            self._begin(MarkerMet("", 0, candidates), first, iter(others))

    # -- the verbs of a wire ---------------------------------------------------------------------------

    def text(self, text: str) -> None:
        find = self._find_in_prose
        if find is not None and ((spotted := find(text)) is None or self._is_plain(text, spotted)):
            pieces = self._pieces
            pieces.append(text)
            if len(pieces) > _MOST_PIECES:
                self._span.quotes.trim()
            tell = self._tell  # to call it at once would take longer, for it is no method
            tell(text)
            return
        if self._has_ended:
            self.go_on()
        if self._is_outdated:
            self._renew_markers()
        reader = self._reader
        go_on = reader.fast_path
        if go_on is not None or self._attempt is not None:
            taped = self._taped
            if len(taped) > _MOST_PIECES:
                reader.tape.trim()
            taped.append(text)
        if go_on is not None:  # the grammar waits in a long value: the text may be all value
            rest = go_on(text, reader)
            if rest is None:
                return
            text = rest
        reader.push(text)
        self._advance()
        is_prose = (
            self._attempt is None
            and reader.at >= len(reader.buffer)
            and self._span.is_prose
            and not (self._follows_quoted or self._follows_drop)
        )
        self._find_in_prose = self._markers.may_hold if is_prose else None

    def _is_plain(self, text: str, spotted: MarkerMatch) -> bool:
        """Whether there is no marker though there may be one."""
        return spotted.end() < len(text) and self._markers.is_known_without(text)

    def reasoning(self, text: str) -> None:
        if self._has_ended:
            self.go_on()
        self._flush()
        self._text.held.drop_endings()
        if self._thought is not None and text.strip(BLANKS) and self._thought.revoke("thought_goes_on"):
            self._markers = self._span.get_markers(self._active)
        self._sink.reasoning(text)

    def refusal(self, text: str) -> None:
        self.go_on()
        self._flush()
        self._sink.refusal(text)

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self._flush()
        self._sink.item(kind, data, index)

    def fact(self, name: str, value: Any) -> None:
        self._sink.fact(name, value)

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self._flush()
        self._sink.error(scope, code, message, offset)

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"
    ) -> Call:  # fmt: skip
        if self._find_in_prose is None:
            self.go_on()
            self._flush()
            self._text.held.drop_endings()
        if not self._ignores_auto:  # a server that reads calls itself leaves none in the text
            self._ignores_auto = True
            self.ignore_calls("auto", "all")
        return self._sink.call_start(name, id, source, place)

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        self.go_on()
        self._flush()
        self._text.held.drop_endings()
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
        dialects = leave_out_calls(self._dialects, *words)
        if dialects == self._dialects:
            return
        self._dialects = dialects
        self.ignores_calls = True
        # Nothing is held in prose, so the markers can wait for the next text: after a call there is seldom one.
        self._is_outdated = self._find_in_prose is not None
        self._find_in_prose = None
        if not self._is_outdated:
            self._renew_markers()

    def _activate(self) -> ActiveMarkers:
        return self._catalogue.activate(
            self._dialects, self._tools.names, self._has_reasoning, self._setting.quoted
        )  # fmt: skip

    def _renew_markers(self) -> None:
        """Look for what `dialects` means now."""
        self._is_outdated = False
        before = self._active
        self._active = self._activate()
        self._active.drop(before.drops, before.other_turns)
        self._markers = self._span.get_markers(self._active)

    def close(self, stopped: bool = False) -> None:
        """The text is over: decide what is held.  `stopped`: the model itself ended it, and nothing cut it."""
        self._reader.final = True
        self._reader.stopped = stopped
        self._advance()
        if not stopped:
            if self._text.held.calls or self._text.held.may_go_on:
                self._text.revoke("cut")
            if self._thought is not None:
                self._thought.revoke("cut")

    def _flush(self) -> None:
        """Something else begins: what is held for a marker, or for a call that is not certain, comes before it."""
        reader = self._reader
        if self._attempt is not None and self._attempt.is_certain:
            return
        if self._attempt is not None or reader.at < len(reader.buffer):
            reader.final = True
            self._advance()
            reader.final = False

    def _advance(self) -> None:
        reader = self._reader
        while True:
            if self._attempt is not None:
                outcome = self._attempt.resume(self._steps)
                if outcome is None:
                    return
                self._finish(self._attempt.met, outcome)
            elif reader.at >= len(reader.buffer) or not self._scan():
                return

    # -- text and thought ------------------------------------------------------------------------------

    def _scan(self) -> bool:
        """Pass on text up to the next marker, and act on it; return False if more text is needed."""
        reader, place = self._reader, self._text.place
        if place == TURN_BEGUN:
            return self._read_begun_turn()
        text, at = reader.buffer, reader.at
        found: Found | None = None
        if self._thought is None and place < IN_TEXT and len(text) - at > _MOST_MARKER:
            visible, found = self._find_visible(text, at)
            if visible >= 0:  # so the rest is searched with the fewer markers that count in text
                self._write(self._take(visible + 1 - at))
                return True
        markers = self._markers
        if found is None:
            found = markers.search(text, at)
        end = len(text) if found is None else found.start()
        # Blanks after a call wait for what follows: next to another call, or at the end, they are structure.
        is_gap = place == AFTER_CALL and self._thought is None and not text[at:end].strip(BLANKS)
        gap = end - at if is_gap else 0
        if gap > _MOST_GAP:
            gap, self._text.place = 0, IN_TEXT
        if end > at and not gap:
            self._write(self._take(end - at))
            if found is not None and markers is not self._markers:
                return True  # other markers count now, and what was found may be none of them
        if found is None:
            self._drop_gap(gap)
            return False
        if markers.is_complete(found, reader.final):
            self._meet(found[0], gap)
            return True
        if reader.final:  # what began like a longer marker is a shorter one, or text
            shorter = markers.find_shorter(found)
            if shorter:
                self._meet(shorter, gap)
            else:
                self._write(self._take(1))
        return reader.final

    def _find_visible(self, text: str, at: int) -> tuple[int, Found | None]:
        """Where visible text begins in a long text, -1 if that is not known; and the marker that is there instead."""
        blanks = _BLANKS.match(text, at)
        assert blanks is not None
        begin = blanks.end()
        if len(text) - begin <= _MOST_MARKER:
            return -1, None
        # Only where a marker can begin is looked at, for the text may be long, before this place and behind it.
        found = self._markers.search(text[at : begin + _MOST_MARKER])
        if found is None or at + found.start() > begin:
            return begin, None
        return -1, Found(text, at + found.start(), at + found.end())

    def _drop_gap(self, gap: int) -> None:
        """At the end of the text, blanks after a call are structure."""
        if self._reader.final and gap:
            self._take_gap(gap)

    def _take_gap(self, gap: int) -> None:
        blanks = self._take(gap)
        if self._text.held.text is not None:
            self._text.held.add_text(blanks)

    def _write(self, text: str) -> None:
        """Pass on text, or thought, that belongs to no call."""
        self._follows_drop = False
        if self._follows_quoted and text.strip(BLANKS):
            self._follows_quoted = False
        if self._span.write(text):
            self._markers = self._span.get_markers(self._active)

    def _take(self, size: int) -> str:
        """Take what opens nothing."""
        self._budget.ahead -= size
        return self._reader.take(size)

    def _enter(self, span: VisibleText | OpenThought) -> None:
        """From here on text belongs to this span."""
        self._span = span
        self._thought = span if isinstance(span, OpenThought) else None
        self._tell: Callable[[str], object] = span.tell
        self._pieces = span.quotes.pieces
        self._markers = span.get_markers(self._active)
        self._find_in_prose = None

    def _open_thought(self, thought: Thought) -> None:
        self._text.held.drop_endings()
        self._enter(OpenThought(self._sink, thought, self._joins_thoughts and not thought.pieces))

    def _close_thought(self, thought: OpenThought) -> None:
        thought.revoke("thought_closed")
        self._joins_thoughts = thought.joins or not thought.is_fresh
        self._enter(self._text)

    # -- a marker --------------------------------------------------------------------------------------

    def _meet(self, marker: str, gap: int) -> None:
        """A marker is next, after a gap if a call is before it."""
        if self._thought is not None:
            self._meet_in_thought(self._thought, marker)
            return
        text, active = self._text, self._active
        if marker in active.other_turns:
            own = active.find_own(marker)
            if not own and self._is_turn_of_others():
                self._begin_turn(marker, gap)
                return
            marker = own or marker
        is_at_edge = text.place != IN_TEXT
        if is_at_edge and text.held.calls and marker in active.settles:
            text.held.release()
            self._has_settled = True
            self._write(self._take(gap + len(marker)))
            return
        thought = active.thoughts.get(marker) if is_at_edge or self._opens_inside(marker) else None
        if thought is None and (marker in active.closers or marker in active.thoughts):
            gap -= self._note_thought_marker(marker, gap, is_at_edge)
        if thought is not None or (is_at_edge and marker in active.closers):
            self._take_gap(gap)
            self._take(len(marker))
            if thought is not None:
                self._open_thought(thought)
            return
        self._meet_opener(marker, gap)

    def _meet_opener(self, marker: str, gap: int) -> None:
        """A marker that is none of thoughts is next in open text."""
        text, active = self._text, self._active
        if text.place == START and active.note_text_opener(marker):
            self._markers = self._span.get_markers(self._active)
        candidates = active.list_candidates(marker, text.position)
        if text.held.is_alone and candidates:  # nothing but the end of the turn may follow a fence that is a call
            text.revoke("text_follows")
            self._markers = self._span.get_markers(self._active)
            return
        is_inside = text.place == IN_TEXT
        if is_inside and self._is_leftover(marker):
            self._take(len(marker))
            self._follows_drop = True
            return
        if is_inside and marker not in active.drops and self._opens_nothing(marker, candidates):
            return
        is_drafted = bool(text.draft_ends)
        is_quoted = is_drafted or self._follows_quoted or (is_inside and text.quotes.is_open(_is_token(marker)))
        if is_quoted and text.quotes.is_in_code:  # what looks for doubt may read what is quoted, too, but not code
            candidates = [each for each in candidates if not each.is_companion]
        if not text.is_led(marker):
            candidates = [each for each in candidates if each.is_named or each.is_companion]
        is_structure = marker in active.drops and not is_quoted
        endings = active.turn_ends if text.held.calls else active.endings
        is_ending = text.place == AFTER_CALL and not is_quoted and marker in endings and text.held.has_room
        met = MarkerMet(
            marker, gap, candidates, is_structure, is_ending, is_quoted=is_quoted, is_drafted=is_drafted
        )  # fmt: skip
        self._try(met)

    def _opens_nothing(self, marker: str, candidates: list[Candidate]) -> bool:
        """Pass over a marker in text that opens no call here, be it quoted or not; return False if it may open one."""
        if not all(each.is_companion for each in candidates):
            return False
        met = MarkerMet(marker, 0, candidates)
        if next(self._setting.find_readers(met), None) is not None:
            return False
        if candidates:
            self._setting.note_marker(len(self._reader.buffer) - self._reader.at)
        self._pass_over(met, self._budget.spend(met.count_looked()) if candidates else 0)
        return True

    def _is_leftover(self, marker: str) -> bool:
        """Whether a marker in text is a token that ended the turn: prose that mentions one has a blank before it."""
        quotes = self._text.quotes
        return marker in self._active.own_ends and not (
            quotes.is_at_margin or quotes.is_after_blank or quotes.is_open(is_token=True) or self._text.draft_ends
        )

    def _is_turn_of_others(self) -> bool:
        """Whether such a marker begins a turn here: next to a call, or behind one that stands, where a turn may begin.

        That is at the start of a line, and right behind a special token, dropped or not.
        """
        text, quotes = self._text, self._text.quotes
        if self._follows_quoted or text.draft_ends:
            return False
        if text.place == AFTER_CALL:
            return self._direct.has_calls
        if not (self._direct.calls or self._has_settled):
            return False
        if text.place == START or self._follows_drop:
            return True
        return (quotes.is_at_margin and not quotes.is_in_code) or (
            quotes.is_after_token and not quotes.is_open(is_token=True)
        )

    def _begin_turn(self, marker: str, gap: int) -> None:
        self._setting.note_marker(len(self._reader.buffer) - self._reader.at - gap)
        self._write(self._take(gap + len(marker)))
        self._text.place = TURN_BEGUN
        self._markers = self._span.get_markers(self._active)

    def _read_begun_turn(self) -> bool:
        """Pass on blanks in such a turn; what is visible shows that the model invented it, and all of it is text."""
        reader = self._reader
        blanks = _BLANKS.match(reader.buffer, reader.at)
        assert blanks is not None
        if blanks[0]:
            self._write(self._take(len(blanks[0])))
        if reader.at >= len(reader.buffer):
            return False
        self._text.place = INVENTED
        self._sink.error("frame", "invented_turn", "behind a call the model went on as somebody else: this is text")
        return True

    def _note_thought_marker(self, marker: str, gap: int, is_at_edge: bool) -> int:
        """Note a marker of thoughts that opens none; return how much of the gap before it is text."""
        if (not is_at_edge and self._text.quotes.is_open()) or not self._text.note_thought_marker(
            marker, self._active.thoughts
        ):
            return 0
        if self._text.place >= IN_TEXT:  # visible text followed the calls: theirs would come behind it
            return 0
        text = self._direct.revoke("thought_closed")
        if text:
            self._write(text + self._text.take_endings())
        elif not (self._text.held.calls and self._text.revoke("thought_closed")):
            return 0
        if gap:
            self._write(self._take(gap))
        return gap

    def _opens_inside(self, marker: str) -> bool:
        """Whether a thought may begin with this marker in the middle of a text."""
        quotes = self._text.quotes
        if marker in self._active.tokens:  # prose that mentions one has a blank before it, a model has none
            return not quotes.is_after_blank and not quotes.is_open(is_token=True)
        return marker in self._active.inside and not quotes.is_open(is_token=True)

    def _meet_in_thought(self, span: OpenThought, marker: str) -> None:
        thought = span.thought
        if marker in self._active.other_turns:
            own = self._active.find_own(marker)
            span.is_invented = span.is_invented or (not own and bool(span.held.calls))
            marker = own or marker
        if marker in thought.closes:
            self._take(len(marker))
            self._close_thought(span)
        elif span.is_fresh and (marker in thought.opens or marker in thought.echoes):
            self._take(len(marker))  # the prompt, or the model, opened it already
            span.is_fresh = False
            self._markers = self._span.get_markers(self._active)
        else:
            is_quoted = not span.held.calls and span.quotes.is_open(_is_token(marker))
            is_text = is_quoted or span.is_invented
            candidates = [] if is_text else self._active.list_candidates_in_thought(marker)
            is_structure = marker in self._active.drops and not is_quoted
            self._try(MarkerMet(marker, 0, candidates, is_structure, in_thought=True, is_quoted=is_quoted))

    def _try(self, met: MarkerMet) -> None:
        """Let the dialects read what follows a marker."""
        if not met.candidates:
            self._pass_over(met)
            return
        readers = self._setting.find_readers(met)
        first = next(readers, None)
        if first is not None:
            self._begin(met, first, readers)
        else:
            self._setting.note_marker(len(self._reader.buffer) - self._reader.at)
            self._pass_over(met, self._budget.spend(met.count_looked()))
            self._note_vain(met)

    def _begin(self, met: MarkerMet, first: Candidate, others: Iterator[Candidate]) -> None:
        """Begin to read what follows a marker."""
        self._attempt = Attempt(self._setting, met, first, others)
        self._steps = self._attempt.read()

    # -- after a marker --------------------------------------------------------------------------------

    def _finish(self, met: MarkerMet, outcome: Outcome) -> None:
        """What follows a marker was read."""
        self._attempt = None
        if self._direct.has_revoked:
            self._direct.has_revoked = False
            self._markers = self._span.get_markers(self._active)
        if self._reader.tape.has_call:
            self._reader.tape.restart(self._reader.buffer, self._reader.at)
        if outcome.record is not None:
            self._settle(met, outcome)
            if outcome.cut is not None:
                outcome.record.report_cut(outcome.cut)
        if outcome.dialect is not None:
            self.dialect = (outcome.record.format if outcome.record is not None else None) or outcome.dialect.name
            self._budget.ahead = 0
            self._vain = 0
            self._active.note_found(outcome.dialect)
            if self._thought is None:
                self._text.place = AFTER_CALL
                self._text.held.drop_endings()
                self._joins_thoughts = False
            self._markers = self._span.get_markers(self._active)
        elif outcome.record is None:
            self._pass_over(met, self._budget.spend(outcome.looked))
        if outcome.dialect is None:
            self._note_vain(met)

    def _note_vain(self, met: MarkerMet) -> None:
        """What follows a marker was no call.  Behind too many of these no calls are looked for any more."""
        if met.is_quoted or met.in_thought or all(each.opener.bare or each.is_companion for each in met.candidates):
            return
        self._vain += 1
        if self._vain > self._most_vain:
            message = f"{self._vain} markers opened no call: no more calls are looked for"
            self._sink.error("frame", "limit_markers", message)
            self._most_vain = sys.maxsize
            self._dialects = _REASONING
            self._renew_markers()

    def _settle(self, met: MarkerMet, outcome: Outcome) -> None:
        """Hold the text of recorded calls that were reported; pass it on where none was."""
        record, dialect = outcome.record, outcome.dialect
        assert record is not None
        if dialect is None:
            self._write(outcome.text)
            self._budget.ahead -= len(outcome.text)
            self._follows_quoted = met.is_quoted
        elif record.place == "plain":
            self._reader.tape.keep(outcome.text)
        elif record.place == "bare":
            self._text.held.add(record.calls, outcome.text)
            self._text.held.is_alone = record.format is not None
        elif record.place == "quoted":
            self._pieces.append(outcome.text)  # the mark that closes the quotation does not stand right at the other
            self._follows_quoted = True
        elif self._thought is not None and dialect.in_thought == "ends":
            self._thought.held.add(record.calls, outcome.text)

    def _pass_over(self, met: MarkerMet, seen: int = 0) -> None:
        """The marker opens nothing: it is structure, or text with what was `seen` after it."""
        opened = met.gap + len(met.text)
        if met.is_structure:
            dropped = self._take(opened)
            self._follows_drop = True
            if self._thought is None and self._text.held.calls:
                self._text.held.add_text(dropped)  # if they are revoked, all of it is text
        elif met.is_ending and not seen and self._direct.has_calls:
            self._text.held.add_ending(self._take(opened), opens=any(not each.is_companion for each in met.candidates))
        elif seen or opened:
            self._write(self._take(seen or opened))


def _is_token(marker: str) -> bool:
    """Whether a marker is a special token, which is never code."""
    return _TOKEN_SIGN.search(marker) is not None
