"""The sink in front of the assembler: finds calls and thoughts in the text that passes through.

    text ─▶ next marker ─▶ quoted? ─▶ a dialect reads what follows ─▶ a call
               │              └ text      └ none of its own: text
               └▶ a thought begins or ends

In prose one search for the armed markers is all that it costs.  Nothing is held back but the beginning of a marker,
what a dialect needs to decide, and white space between a call and what follows it.

What a call needs to be told depends on where its marker stands:

| the marker | a call is told |
|---|---|
| is the format's own, in open text | as it comes |
| is a plain word (`<tool>`) | when it is whole, and names a declared tool with its required arguments |
| is none of the format's own (`{`, a fence, a tool's name) | likewise; it is revoked if visible text follows |
| stands in a thought | when it is whole, if its dialect says so; it may be revoked if the thought goes on |
| is quoted | never; with `quoted="calls"` when it is whole, and names a declared tool |
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from streamparse.dialects.engine.active_markers import Armed, Candidate
from streamparse.dialects.engine.direct import Direct, has_required
from streamparse.dialects.engine.grammar import Context, Dialect, Spot, Thought
from streamparse.dialects.engine.held import HeldCalls
from streamparse.dialects.engine.marker_index import IndexedMarkers
from streamparse.dialects.engine.markers import Place as Spotted
from streamparse.dialects.engine.options import Dialects, Quoted, Reasoning, without_calls
from streamparse.dialects.engine.quotes import Quotes
from streamparse.dialects.engine.reader import Overflow, Reader, Step
from streamparse.dialects.engine.recording_sink import Draft, Trial
from streamparse.dialects.engine.rescan_budget import RescanBudget
from streamparse.events import Place, Scope, Source
from streamparse.limits import Limits, most
from streamparse.patterns import plain
from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

__all__ = ["InBand"]

_START: Final = 0  # nothing but blanks and thoughts so far
_AFTER_CALL: Final = 1  # nothing but blanks since a call
_IN_TEXT: Final = 2

_BLANK: Final = " \t\r\n"
_BLANKS = plain(r"[ \t\r\n]*")
_MOST_MARKER: Final = 1024  # characters; no marker is longer
_MOST_PIECES: Final = 128  # of the text that was passed on and not looked at for quotations
_CLOSING_TAGS: Final = ("</", "[/", "◁/")
_MOST_QUOTED: Final = 4096  # characters of a quoted call that wait for its end
_MOST_GAP: Final = 256  # blanks that may wait between a call and what follows; more are text
_TOKEN_SIGNS: Final = ("|", "｜", "[TOOL_CALLS]")
_MOST_LEAD: Final = 16  # characters of the visible text in which a lead of the format is looked for
_LEADS: Final = ("Thought:", "Question:", "Plan:", "Reflection:")
_LEAD_OPENER: Final = "Action:"


class InBand:
    """A `Sink` that listens to `text` and passes everything else on.

    `found` is the name of the dialect that produced a call, once one did; `ignores_calls` whether calls that `dialects`
    arms are not looked for any more.  `on_marker` is told, when a marker is met,
    how many characters of the text are still to be read; `on_dialect` which dialect is about to read.
    """

    reads_markup = True

    def __init__(
        self,
        sink: Sink,
        dialects: Dialects,
        tools: Toolset,
        reasoning: Reasoning,
        limits: Limits,
        quoted: Quoted = "text",
        on_dialect: Callable[[str], None] | None = None,
        on_marker: Callable[[int], None] | None = None,
    ) -> None:
        self._sink = sink
        self._tools = tools
        self._limits = limits
        self._tells_quoted = quoted == "calls"
        self._has_thoughts = reasoning != "closed"
        self._dialects = dialects
        self._on_dialect = on_dialect
        self._on_marker = on_marker
        self.found: str | None = None
        self.ignores_calls = False
        self._has_native_call = False
        # What needs no place in the order goes to the sink itself, without a call in between.
        self.call_arguments = sink.call_arguments
        self.call_teller = sink.call_teller
        self.call_end = sink.call_end
        self.call_repaired = sink.call_repaired
        self.call_error = sink.call_error
        self.call_revoke = sink.call_revoke
        self.calls_doubted = sink.calls_doubted
        self.usage = sink.usage
        self.finish = sink.finish
        self.end = sink.end

        self._reader = Reader()
        self._direct = Direct(sink, self._reader, self._pass_text)
        self._context = Context(self._direct, tools, limits, thoughts=self._has_thoughts)
        self._armed = Armed.of(dialects, tools.names, self._has_thoughts)
        self._markers: IndexedMarkers = self._armed.at_start
        self._find_in_prose: Callable[[str], Spotted | None] | None = None  # the search, while nothing is held
        self._place = _START
        self._lead = ""  # the first of the visible text
        self._tell: Callable[[str], None] = sink.text

        # The text, or the thought, as far as it was passed on: is what comes next quoted?
        self._text_quotes = self._quotes = Quotes()
        self._pieces = self._quotes.pieces
        self._shares_quote = False  # nothing but blanks since a call that was quoted

        self._draft_ends: tuple[str, ...] = ()  # what ends a thought that is shown: its marks stand behind text
        self._thought: Thought | None = None
        self._is_fresh = False  # nothing but blanks in that thought so far
        self._is_behind_thought = False  # a thought was the last thing but blanks

        self._bare = HeldCalls()
        self._drafts = HeldCalls()  # calls in the thought that is open

        self._grammar: Step[Dialect | None] | None = None  # what reads behind the marker that is being tried
        self._asked: Dialect | None = None
        self._trial: Trial | None = None
        self._forget_marker()
        self._budget = RescanBudget()

        if reasoning == "open":
            self._enter_thought(self._armed.any_thought)
        elif nameless := self._armed.candidates("", "start"):
            self._grammar = self._try(0, "", nameless)

    def _forget_marker(self) -> None:
        self._opened = 0  # the size of the marker that is being tried, and of the gap before it
        self._is_quoted = False
        self._is_dropped = False  # it is structure if it opens nothing
        self._looked = 0  # how far behind it the grammars have looked
        self._is_settled = False  # what was read is told, as a call or as text

    # -- the verbs of a wire ---------------------------------------------------------------------------

    def text(self, text: str) -> None:
        """Listen to a piece of text."""
        find = self._find_in_prose
        if find is not None and ((spotted := find(text)) is None or self._is_plain(text, spotted)):
            pieces = self._pieces
            pieces.append(text)
            if len(pieces) > _MOST_PIECES:
                self._quotes.trim()
            self._tell(text)
            return
        reader = self._reader
        if reader.flow is not None:
            rest = reader.flow(text)
            if rest is None:
                return
            text = rest
        reader.push(text)
        self._advance()
        is_calm = self._grammar is None and reader.at >= len(reader.buffer)
        self._find_in_prose = self._markers.may_hold if is_calm and self._is_in_prose() else None

    def _is_plain(self, text: str, spotted: Spotted) -> bool:
        """Whether there is no marker though one may stand there."""
        return spotted.end() < len(text) and self._markers.search(text, spotted.start()) is None

    def _is_in_prose(self) -> bool:
        """Whether text without a marker is passed on as it is, and changes nothing."""
        if self._thought is not None:
            return not self._drafts.calls
        is_settled = self._place == _IN_TEXT and len(self._lead) == _MOST_LEAD
        return is_settled and not self._bare.calls and not self._shares_quote

    def reasoning(self, text: str) -> None:
        self._release()
        if self._drafts.calls and text.strip(_BLANK):
            self._revoke_drafts("thought_goes_on")
        self._sink.reasoning(text)

    def refusal(self, text: str) -> None:
        self._release()
        self._sink.refusal(text)

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self._release()
        self._sink.item(kind, data, index)

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self._release()
        self._sink.error(scope, code, message, offset)

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"
    ) -> Call:  # fmt: skip
        self._release()
        if not self._has_native_call:
            self._has_native_call = True
            self.ignore_calls("auto", "all")
        return self._sink.call_start(name, id, source, place)

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        self._release()
        if not self._has_native_call:
            self._has_native_call = True
            self.ignore_calls("auto", "all")
        return self._sink.call_whole(name, arguments, id)

    def ignore_calls(self, *words: str) -> None:
        """From here on look for no calls that only these words of `Dialects` arm."""
        dialects = without_calls(self._dialects, *words)
        if dialects == self._dialects:
            return
        self._dialects = dialects
        self.ignores_calls = True
        drops = self._armed.drops
        self._armed = Armed.of(dialects, self._tools.names, self._has_thoughts)
        self._armed.expect(drops)
        self._find_in_prose = None
        self._choose_markers()

    def close(self, stopped: bool = False) -> None:
        """The text is over: decide what is held.  `stopped`: the model itself ended it, and nothing cut it."""
        self._reader.final = True
        self._reader.stopped = stopped
        self._advance()
        if not stopped:
            self._revoke_bare("cut")
            self._revoke_drafts("cut")

    def _release(self) -> None:
        """Something else begins: what is held for a marker, or for a call that is not certain, comes before it."""
        reader = self._reader
        if self._grammar is not None and (reader.committed or self._open_draft() is not None):
            return
        if self._grammar is not None or reader.at < len(reader.buffer):
            reader.final = True
            self._advance()
            reader.final = False

    def _advance(self) -> None:
        reader = self._reader
        while True:
            if self._grammar is not None:
                if not self._resume():
                    return
            elif reader.at >= len(reader.buffer) or not self._scan():
                return

    # -- text and thought ------------------------------------------------------------------------------

    def _scan(self) -> bool:
        """Pass on text up to the next marker and act on it; False if more text is needed."""
        reader = self._reader
        text, at = reader.buffer, reader.at
        if self._thought is None and self._place != _IN_TEXT and (visible := self._first_visible(text, at)) >= 0:
            self._say(self._take(visible + 1 - at))
            return True
        markers = self._markers
        found = markers.search(text, at)
        end = len(text) if found is None else found.start()
        is_gap = self._place == _AFTER_CALL and self._thought is None and not text[at:end].strip(_BLANK)
        gap = end - at if is_gap else 0
        if gap > _MOST_GAP:
            gap, self._place = 0, _IN_TEXT
        if end > at and not gap:
            self._say(self._take(end - at))
            if found is not None and markers is not self._markers:
                return True  # what may begin here is no marker any more
        if found is None:
            return self._drop_gap(gap)
        if markers.whole(found, reader.final):
            self._meet(found[0], gap)
            return True
        if reader.final:
            self._say(self._take(1))
        return reader.final

    def _first_visible(self, text: str, at: int) -> int:
        """Where visible text begins, or -1 if a marker may stand there; what follows, which may be long, can wait."""
        blanks = _BLANKS.match(text, at)
        assert blanks is not None
        begin = blanks.end()
        if len(text) - begin <= _MOST_MARKER:
            return -1
        found = self._markers.search(text[: begin + _MOST_MARKER], at)
        return begin if found is None or found.start() > begin else -1

    def _drop_gap(self, gap: int) -> bool:
        """Blanks after a call wait for what follows; at the end of the text they are structure."""
        if self._reader.final and gap:
            blanks = self._take(gap)
            if self._bare.calls:
                self._bare.add_text(blanks)
        return False

    def _say(self, text: str) -> None:
        """Pass on a piece of text, or of thought, that belongs to no call."""
        is_blank = not text.strip(_BLANK)
        held = self._bare if self._thought is None else self._drafts
        if held.calls:
            if is_blank:
                held.add_text(text)
                return
            if self._thought is not None:
                self._revoke_drafts("thought_goes_on")
            else:
                self._revoke_bare("text_follows")
        if self._thought is None and len(self._lead) < _MOST_LEAD:
            self._lead = (self._lead + text).lstrip(_BLANK)[:_MOST_LEAD]
        if not is_blank:
            self._shares_quote = False
            if self._thought is None and self._place != _IN_TEXT:
                self._place = _IN_TEXT
                self._choose_markers()
        self._pieces.append(text)
        self._tell(text)

    def _pass_text(self, text: str) -> None:
        """Pass on visible text that a grammar has read."""
        if text.strip(_BLANK):
            self._revoke_bare("text_follows")
        self._text_quotes.pieces.append(text)
        self._sink.text(text)

    def _choose_markers(self) -> None:
        """Look for the markers that count here."""
        armed = self._armed
        if self._thought is not None:
            self._markers = armed.in_thought(self._thought, self._is_fresh)
        else:
            self._markers = (armed.at_start, armed.later, armed.prose)[self._place]

    def _listen(self, quotes: Quotes) -> None:
        self._quotes = quotes
        self._pieces = quotes.pieces

    def _enter_thought(self, thought: Thought) -> None:
        self._thought = thought
        self._is_fresh = True
        self._tell = self._begin_thought
        self._listen(Quotes())
        self._choose_markers()

    def _begin_thought(self, text: str) -> None:
        """Pass on the first of a thought; a line break joins it to a thought right before it."""
        if self._is_behind_thought:
            self._sink.reasoning("\n")
            self._is_behind_thought = False
        self._sink.reasoning(text)
        if text.strip(_BLANK):
            self._ripen()

    def _ripen(self) -> None:
        """The thought has begun: another opening marker is no more than text."""
        self._is_fresh = False
        self._tell = self._sink.reasoning if not self._is_behind_thought else self._begin_thought
        self._choose_markers()

    def _leave_thought(self) -> None:
        self._revoke_drafts("thought_closed")
        self._is_behind_thought = self._is_behind_thought or not self._is_fresh
        self._thought = None
        self._tell = self._sink.text
        self._listen(self._text_quotes)
        self._choose_markers()

    # -- a marker --------------------------------------------------------------------------------------

    def _meet(self, marker: str, gap: int) -> None:
        """A whole marker stands at the reader's place, or behind a gap after a call."""
        if self._thought is not None:
            self._meet_in_thought(self._thought, marker)
            return
        at_edge = self._place != _IN_TEXT
        if at_edge and self._bare.calls and marker in self._armed.settles:
            self._bare.take()
            self._say(self._take(gap + len(marker)))
            return
        opens = self._armed.thoughts.get(marker) if at_edge or self._opens_inside(marker) else None
        if opens is None and (marker in self._armed.strays or marker in self._armed.thoughts):
            self._follow_shown_thought(marker, at_edge)
        if opens is not None or (at_edge and marker in self._armed.strays):
            self._take(gap + len(marker))
            if opens is not None:
                self._enter_thought(opens)
            return
        if self._place == _START and self._armed.opens_text(marker):
            self._choose_markers()
        is_drafted = bool(self._draft_ends)
        is_quoted = self._shares_quote or (not at_edge and self._quotes.is_open(_is_token(marker)))
        self._is_quoted = is_drafted or is_quoted
        found = self._armed.candidates(marker, self._spot())
        self._read(marker, gap, [each for each in found if self._may_read(each)])

    def _follow_shown_thought(self, marker: str, at_edge: bool) -> None:
        """The mark of a thought that stands in the text.  What is drafted behind one that opens at a line is text.

        One that closes what nothing has opened shows that the prompt opened the thought: calls before it are drafts.
        """
        if not at_edge and self._quotes.is_open():
            return
        if marker in self._draft_ends:
            self._draft_ends = ()
        elif marker in self._armed.thoughts:
            if self._quotes.at_margin and not self._draft_ends:
                self._draft_ends = self._armed.thoughts[marker].closes
        elif not self._draft_ends and marker.startswith(_CLOSING_TAGS):  # other marks end messages, too
            for call in self._direct.calls:
                self._sink.call_revoke(call, "thought_closed")
            self._direct.calls.clear()

    def _may_read(self, candidate: Candidate) -> bool:
        """Whether a dialect may read what stands here; what looks for doubt may everywhere but in code."""
        if candidate.is_beside:
            return not (self._is_quoted and self._quotes.is_in_code)
        if candidate.is_named or candidate.opener.text != _LEAD_OPENER:
            return True
        return self._place != _IN_TEXT or self._lead.startswith(_LEADS)

    def _spot(self) -> Spot:
        """Where the next marker stands."""
        if self._place == _START:
            return "start"
        if self._place == _AFTER_CALL:
            return "edge"
        return "line" if self._quotes.at_margin else "anywhere"

    def _opens_inside(self, marker: str) -> bool:
        """Whether a thought may begin in the middle of a text with this marker, which nobody quotes."""
        if marker in self._armed.tokens:  # prose that mentions one has a blank before it, a model has none
            return not self._quotes.is_behind_blank and not self._quotes.is_open(is_token=True)
        return marker in self._armed.inside and not self._quotes.is_open(is_token=True)

    def _meet_in_thought(self, thought: Thought, marker: str) -> None:
        """A whole marker stands at the reader's place, and a thought is open."""
        if marker in thought.closes:
            self._take(len(marker))
            self._leave_thought()
        elif self._is_fresh and (marker in thought.opens or marker in thought.echoes):
            self._take(len(marker))  # the prompt, or the model, opened it already
            self._ripen()
        else:
            self._is_quoted = not self._drafts.calls and self._quotes.is_open(_is_token(marker))
            self._read(marker, 0, [] if self._is_quoted else self._armed.candidates_in_thought(marker))

    def _read(self, marker: str, gap: int, candidates: list[Candidate]) -> None:
        """Let the dialects read what follows a marker."""
        self._opened = gap + len(marker)
        self._is_dropped = marker in self._armed.drops and not self._is_quoted
        self._looked = 0
        if candidates:
            self._grammar = self._try(gap, marker, candidates)
        else:
            self._pass_over()

    def _try(self, gap: int, marker: str, candidates: list[Candidate]) -> Step[Dialect | None]:
        """Ask each dialect that shares the marker; return the one that read a call.

        Once one has read a whole call, no other one reads the same characters.
        """
        reader = self._reader
        if self._on_marker is not None:
            self._on_marker(len(reader.buffer) - reader.at)
        for candidate in candidates:
            dialect = candidate.dialect
            self._asked = dialect
            trial = self._trial = self._trial_of(candidate)
            reader.remember(self._most_held(candidate))
            reader.take(gap if candidate.opener.inclusive else gap + len(marker))
            if (yield from reader.look(dialect.probe)) is not None:
                if (yield from self._read_body(candidate, trial)):
                    return dialect
                if self._is_settled:
                    return None
            elif self._is_dropped and reader.beginning(dialect.probe):
                self._cut_off(dialect)
                return dialect
            self._looked = max(self._looked, reader.taken())
            reader.rewind(0)
        return None

    def _trial_of(self, candidate: Candidate) -> Trial | None:
        """How calls behind a marker are judged; None if they are told as they come."""
        if candidate.is_beside:
            return None
        if self._thought is not None:
            return Trial(self._context.sink, self._reader, "thought", self._is_known)
        if self._is_quoted:
            judge = self._is_declared if self._tells_quoted and not self._draft_ends else None
            return Trial(self._context.sink, self._reader, "quoted", judge)
        if candidate.opener.bare:
            return Trial(self._context.sink, self._reader, "bare", self._is_callable)
        if candidate.opener.word and self._tools:
            return Trial(self._context.sink, self._reader, "plain", self._is_callable, self._takes_anything)
        return None

    def _is_declared(self, name: str, raw: str) -> bool:  # noqa: ARG002
        return name in self._tools

    def _is_known(self, name: str, raw: str) -> bool:  # noqa: ARG002
        return not self._tools or name in self._tools

    def _is_callable(self, name: str, raw: str) -> bool:
        return not self._tools or (name in self._tools and has_required(self._tools[name], raw, self._limits))

    def _takes_anything(self, name: str) -> bool:
        """Whether a call of a declared tool is one whatever arguments it has."""
        return name in self._tools and not self._tools[name].parameters.get("required")

    def _most_held(self, candidate: Candidate) -> int | None:
        """How much may be held before a call is certain."""
        limits = self._limits
        if self._trial is None and not candidate.declared:
            return limits.max_call_args
        if self._is_quoted and not self._tells_quoted:  # it will be text: none of it waits for long
            return min(most(limits.max_held_text), _MOST_QUOTED)
        return limits.max_held_text

    def _read_body(self, candidate: Candidate, trial: Trial | None) -> Step[bool]:
        """Let a dialect read what follows its marker; whether it read a call."""
        context, dialect = self._context, candidate.dialect
        if self._on_dialect is not None:
            self._on_dialect(dialect.name)
        if candidate.declared or (self._thought is not None and self._tools):
            context = context.for_declared()
        if trial is None:
            return (yield from dialect.body(self._reader, context))
        self._reader.pin()
        is_found = yield from dialect.body(self._reader, replace(context, sink=trial))
        return is_found if trial.is_over else self._end_trial(trial, is_found and not trial.is_spoiled)

    def _end_trial(self, trial: Trial, is_sound: bool) -> bool:
        """A grammar has read what follows a marker on trial; whether it read a call.

        `is_sound`: what stands behind the last whole call belongs to the calls, too.
        """
        reader = self._reader
        draft = self._open_draft() if reader.over else None
        if trial.has_whole:
            is_sound = is_sound and (draft is None or trial.place in ("bare", "plain"))
            behind = reader.restart()
            reader.unpin()
            reader.forgive()
            if not is_sound:
                reader.put_back(behind)
            self._tell_text_of_trial(trial, trial.consumed + (behind if is_sound else ""))
            if draft is not None and is_sound and (reader.stopped or trial.place == "plain"):
                trial.tell_cut(draft)
        elif draft is not None and trial.place in ("bare", "plain"):
            reader.forgive()
            trial.tell_cut(draft)
        elif is_sound and not trial.has_calls and not self._is_quoted:
            reader.forgive()  # thought and text, which were passed on
        else:
            reader.unpin()
            return False
        self._is_settled = True
        return bool(trial.calls) or not trial.has_whole

    def _tell_text_of_trial(self, trial: Trial, text: str) -> None:
        """Hold the text of calls that were told, or pass it on where none was."""
        if not trial.calls:
            self._say(text)
            self._budget.advance(len(text))
            self._shares_quote = self._is_quoted
        elif trial.place == "bare":
            self._bare.add(trial.calls, text)
        elif trial.place == "thought" and self._asked is not None and self._asked.in_thought == "ends":
            self._drafts.add(trial.calls, text)
        elif trial.place == "quoted":
            self._shares_quote = True

    def _open_draft(self) -> Draft | None:
        """The call on trial that has begun, is not over, and would be told."""
        draft = self._trial.open_draft if self._trial is not None and not self._trial.is_over else None
        return draft if draft is not None and self._is_known(draft.name, "") else None

    def _cut_off(self, dialect: Dialect) -> None:
        """The text ends inside of a call's own markers, before its arguments: no text, and no call yet."""
        reader = self._reader
        reader.take(len(reader.buffer) - reader.at)
        markup = reader.forgive()
        self._sink.error("call", "truncated_call", f"the text ended inside a call's markup ({dialect.name}): {markup}")

    def _resume(self) -> bool:
        """Let the grammar go on; False if it needs more text."""
        assert self._grammar is not None
        try:
            next(self._grammar)
        except StopIteration as stop:
            self._leave(stop.value)
            return True
        except Overflow as overflow:
            self._leave(self._dialect_of_whole(), overflow.most)
            return True
        return False

    def _dialect_of_whole(self) -> Dialect | None:
        """A grammar took more than may be held: the dialect, if it has told whole calls before that."""
        trial = self._trial
        if trial is None or trial.is_over or not trial.has_whole or not self._end_trial(trial, is_sound=False):
            return None
        return self._asked

    # -- after a marker --------------------------------------------------------------------------------

    def _leave(self, dialect: Dialect | None, seen: int = sys.maxsize) -> None:
        """The grammar has ended: what it took and gave no meaning to is text again."""
        self._grammar = self._trial = None
        is_settled, self._is_settled = self._is_settled, False
        reader = self._reader
        kept = reader.forgive()
        reader.put_back(kept)
        if dialect is not None:
            self.found = dialect.name
            self._leave_call(dialect)
        elif not is_settled:
            self._pass_over(self._budget.spend(min(max(self._looked, len(kept)), seen)))

    def _leave_call(self, dialect: Dialect) -> None:
        """A call is over: what is structure in its dialect is so from now on, and blanks may belong to the call."""
        self._budget.reset()
        self._armed.found(dialect)
        if self._thought is None:
            self._place = _AFTER_CALL
            self._is_behind_thought = False
        self._choose_markers()

    def _pass_over(self, seen: int = 0) -> None:
        """The marker that was met opens nothing: it is structure, or text with what is `seen` behind it."""
        if self._is_dropped:
            self._take(self._opened)
        elif seen or self._opened:
            self._say(self._take(seen or self._opened))

    def _take(self, size: int) -> str:
        """Take what opens nothing."""
        self._budget.advance(size)
        return self._reader.take(size)

    # -- calls that are none ---------------------------------------------------------------------------

    def _revoke_bare(self, reason: str) -> None:
        """Visible text follows calls without a marker: they are none, and their text comes before it."""
        if self._bare.calls:
            calls, text = self._bare.take()
            for call in calls:
                self._sink.call_revoke(call, reason)
            self._text_quotes.pieces.append(text)
            self._sink.text(text)
            self._place = _IN_TEXT
            self._choose_markers()

    def _revoke_drafts(self, reason: str) -> None:
        """The thought goes on, or closes, behind calls that stand in it: they are thought."""
        if self._drafts.calls:
            calls, text = self._drafts.take()
            for call in calls:
                self._sink.call_revoke(call, reason)
            self._pieces.append(text)
            self._tell(text)


def _is_token(marker: str) -> bool:
    """Whether a marker is a special token of the model's, which nobody writes in code."""
    return any(sign in marker for sign in _TOKEN_SIGNS)
