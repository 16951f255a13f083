"""Reads the text of an answer: up to the next marker, and then what the marker means.

    text ──▶ next marker ──▶ its kinds ──┐
                        └──▶ its state ──┴──▶ its meaning ──▶ text, dropped, an ending, a thought, an attempt

What a marker means is decided by the table of `meanings.py` alone.  The scanner does what the table says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from streamparse.dialects.engine.active_markers import ActiveMarkers
from streamparse.dialects.engine.attempt import Attempt, MarkerMet, Outcome, Setting
from streamparse.dialects.engine.catalogue import Candidate
from streamparse.dialects.engine.grammar import Dialect, Thought
from streamparse.dialects.engine.markers import Found, IndexedMarkers
from streamparse.dialects.engine.meanings import CHANGES, Meaning, find_meaning
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.engine.sinks import RecordingSink
from streamparse.dialects.engine.spans import AFTER_CALL, IN_TEXT, INVENTED, TURN_BEGUN, OpenThought, VisibleText
from streamparse.patterns import BLANKS, lazy_re
from streamparse.sink import Sink

_BLANKS = lazy_re(r"[ \t\r\n]*")
_CLOSING_TAGS: Final = ("</", "[/", "◁/")
_MOST_MARKER: Final = 1024  # bound: characters that are searched for a marker that begins before all text
_MOST_GAP: Final = 256  # bound: blanks that wait between a call and what follows; more are text


class Scanner:
    """Reads what `setting.reader` has, passes on text and thoughts, and lets dialects read after their markers."""

    __slots__ = ("_setting", "_sink", "_steps", "active", "attempt", "dialect", "reader", "span", "text")

    def __init__(self, sink: Sink, active: ActiveMarkers, setting: Setting, text: VisibleText) -> None:
        self._sink = sink
        self._setting = setting
        self.reader: Reader = setting.reader
        # What is looked for.
        self.active: ActiveMarkers = active
        self.text: VisibleText = text
        # What the next text belongs to: the visible text, or an open thought.
        self.span: VisibleText | OpenThought = text
        # What reads after a marker, and its steps.
        self.attempt: Attempt | None = None
        self._steps: Step[Dialect | None]
        # The dialect that produced a call, once one did.
        self.dialect: str | None = None

    def begin_at_start(self) -> None:
        """Let the dialects read that begin without a marker, as some prompts end with it."""
        first, *others = candidates = self.active.list_candidates("", "start")
        self._begin_attempt(MarkerMet("", 0, candidates, "attempt"), first, iter(others))

    def open_thought(self, thought: Thought) -> None:
        """A thought begins."""
        self.span = self.text.begin_thought(thought)

    def advance(self) -> None:
        """Read what has come, as far as it can be decided."""
        reader = self.reader
        if self.active.is_outdated and (self.attempt is not None or reader.at < len(reader.buffer)):
            self.active.renew()
        while True:
            if self.attempt is not None:
                outcome = self.attempt.resume(self._steps)
                if outcome is None:
                    return
                self._finish_attempt(self.attempt.met, outcome)
            elif reader.at >= len(reader.buffer) or not self._scan():
                return

    def flush(self) -> None:
        """Something else begins: what is held for a marker, or for a call that is not certain, comes before it."""
        reader = self.reader
        if self.attempt is not None and self.attempt.is_certain:
            return
        if self.attempt is not None or reader.at < len(reader.buffer):
            reader.final = True
            self.advance()
            reader.final = False

    def close(self, stopped: bool) -> None:
        """The text is over: decide what is held.  `stopped`: the model itself ended it, and nothing cut it."""
        self.reader.final = True
        self.reader.stopped = stopped
        self.advance()
        if not stopped:
            if self.text.held.calls or self.text.held.may_go_on:
                self.text.revoke("cut")
            if self.span is not self.text:
                self.span.revoke("cut")

    # -- text ------------------------------------------------------------------------------------------

    def _scan(self) -> bool:
        """Pass on text up to the next marker, and act on it; return False if more text is needed."""
        if self.text.place == TURN_BEGUN:
            return self._read_begun_turn()
        reader = self.reader
        text, at = reader.buffer, reader.at
        markers = self.span.get_markers(self.active)
        if len(text) - at > _MOST_MARKER and (size := self._count_visible(markers)):
            self.span.write(self._take(size))  # so the rest is searched with the fewer markers that count in text
            return True
        found = markers.search(text, at)
        end = len(text) if found is None else found.begin
        gap = self._count_gap(end) if self.text.place == AFTER_CALL else 0
        if end > at and not gap and self.span.write(self._take(end - at)) and found is not None:
            return True  # other markers count now, and what was found may be none of them
        if found is None:
            if reader.final and gap:  # at the end of the text, blanks after a call are structure
                self._take_gap(gap)
            return False
        return self._meet_found(markers, found, gap)

    def _count_visible(self, markers: IndexedMarkers) -> int:
        """Count how much of a long text is visible text for certain, 0 if that is not known: blanks and a character."""
        if self.span is not self.text or self.text.place >= IN_TEXT:
            return 0
        text, at = self.reader.buffer, self.reader.at
        blanks = _BLANKS.match(text, at)
        assert blanks is not None
        begin = blanks.end()
        if len(text) - begin <= _MOST_MARKER:
            return 0
        # Only where a marker can begin is looked at, for the text may be long, before this place and behind it.
        found = markers.search(text[at : begin + _MOST_MARKER])
        return begin + 1 - at if found is None or at + found.start() > begin else 0

    def _count_gap(self, end: int) -> int:
        """Count the blanks up to `end` that wait: between a call and another, or the end, they are structure."""
        at = self.reader.at
        if self.span is not self.text or self.reader.buffer[at:end].strip(BLANKS):
            return 0
        if end - at > _MOST_GAP:
            self.text.place = IN_TEXT
            return 0
        return end - at

    def _take_gap(self, gap: int) -> None:
        blanks = self._take(gap)
        if self.text.held.text is not None:
            self.text.held.add_text(blanks)

    def _take(self, size: int) -> str:
        """Take what opens nothing."""
        self.reader.budget.ahead -= size
        return self.reader.take(size)

    def _read_begun_turn(self) -> bool:
        """Pass on blanks in such a turn; what is visible shows that the model invented it, and all of it is text."""
        reader = self.reader
        blanks = _BLANKS.match(reader.buffer, reader.at)
        assert blanks is not None
        if blanks[0]:
            self.span.write(self._take(len(blanks[0])))
        if reader.at >= len(reader.buffer):
            return False
        self.text.place = INVENTED
        self._sink.error("frame", "invented_turn", "behind a call the model went on as somebody else: this is text")
        return True

    # -- a marker --------------------------------------------------------------------------------------

    def _meet_found(self, markers: IndexedMarkers, found: Found, gap: int) -> bool:
        """Meet what was found, if it is a marker; return False if more text must show that."""
        if not found.is_beginning:
            self._meet(found[0], gap)
        elif not self.reader.final:
            return False
        elif shorter := markers.find_shorter(found):  # what began like a longer marker is another one, or text
            self._meet(shorter, gap)
        else:
            self.span.write(self._take(1))
        return True

    def _meet(self, marker: str, gap: int) -> None:
        """A marker is next, after a gap if a call is before it: do what it means."""
        span = self.span
        marker, kinds, is_token = self.active.find_kinds(marker)
        if kinds[:1] == ("turn",) and not span.has_call:
            kinds = kinds[1:]
        if isinstance(span, OpenThought):
            kinds = (*span.list_own_kinds(marker), *kinds)
        state = span.find_state(is_token)
        while (meaning := find_meaning(kinds, state)) in CHANGES:
            span.change_state(meaning, marker, self.active)
            kinds, state = kinds[1:], span.find_state(is_token)
        if meaning in ("attempt", "quoted attempt"):
            otherwise = find_meaning(kinds[kinds.index("call") + 1 :], state)
            self._try(marker, gap, meaning, otherwise)
        else:
            _ACTIONS[meaning](self, MarkerMet(marker, gap, [], meaning, meaning))

    def _try(self, marker: str, gap: int, meaning: Meaning, otherwise: Meaning) -> None:
        """Let the dialects read what follows a marker."""
        text, setting = self.text, self._setting
        candidates = self.span.list_candidates(self.active, marker, meaning)
        if text.held.is_alone and candidates and self.span is text:
            text.revoke("text_follows")  # nothing but the end of the turn may follow a fence that is a call
            return
        met = MarkerMet(
            marker, gap, candidates, meaning, otherwise, self.span is not text, bool(text.draft_ends)
        )  # fmt: skip
        if not candidates:
            self._pass_over(met)
            return
        readers = setting.find_readers(met)
        first = next(readers, None)
        if first is not None:
            self._begin_attempt(met, first, readers)
        else:
            setting.note_marker(len(self.reader.buffer) - self.reader.at)
            self._pass_over(met, self.reader.budget.spend(met.count_looked()))
            self._note_vain(met)

    def _pass_over(self, met: MarkerMet, seen: int = 0) -> None:
        """The marker opens nothing: it is what it is otherwise, or text with what was `seen` after it."""
        opened = met.gap + len(met.text)
        held = self.text.held
        if met.otherwise == "dropped":
            self.span.drop(self._take(opened))
        elif met.otherwise == "ending" and not seen and self.text.has_call and held.has_room:
            held.add_ending(self._take(opened), opens=any(not each.is_companion for each in met.candidates))
        elif seen or opened:
            self.span.write(self._take(seen or opened))

    def _begin_turn(self, met: MarkerMet) -> None:
        self._setting.note_marker(len(self.reader.buffer) - self.reader.at - met.gap)
        self.span.write(self._take(met.gap + len(met.text)))
        self.text.place = TURN_BEGUN

    def _let_calls_stand(self, met: MarkerMet) -> None:
        self.text.held.release()
        self.text.has_settled = True
        self.span.write(self._take(met.gap + len(met.text)))

    def _begin_text(self, met: MarkerMet) -> None:
        self.active.begin_text(met.text)
        self.span.drop(self._take(met.gap + len(met.text)))

    # -- thoughts --------------------------------------------------------------------------------------

    def _begin_thought(self, met: MarkerMet) -> None:
        self._take_gap(met.gap)
        self._take(len(met.text))
        self.open_thought(self.active.thoughts[met.text])

    def _end_thought(self, met: MarkerMet) -> None:
        self._take(len(met.text))
        span = self.span
        assert isinstance(span, OpenThought)
        span.revoke("thought_closed")
        self.text.joins_thoughts = span.joins or not span.is_fresh
        self.span = self.text

    def _pass_over_echo(self, met: MarkerMet) -> None:
        self._take(len(met.text))
        assert isinstance(self.span, OpenThought)
        self.span.is_fresh = False

    def _end_drafts(self, met: MarkerMet) -> None:
        """A thought ends that nothing opened: the prompt did, and calls before are drafts.  The marker is dropped."""
        gap = met.gap
        if met.text.startswith(_CLOSING_TAGS) and self._revoke_drafts():  # other markers end messages, too
            if gap:
                self.span.write(self._take(gap))
            gap = 0
        self._take_gap(gap)
        self._take(len(met.text))

    def _revoke_drafts(self) -> bool:
        text = self._setting.direct.revoke("thought_closed")
        if text:
            self.span.write(text + self.text.take_endings())
            return True
        return bool(self.text.held.calls) and self.text.revoke("thought_closed")

    # -- an attempt ------------------------------------------------------------------------------------

    def _begin_attempt(self, met: MarkerMet, first: Candidate, others: Iterator[Candidate]) -> None:
        self.attempt = Attempt(self._setting, met, first, others)
        self._steps = self.attempt.read()

    def _finish_attempt(self, met: MarkerMet, outcome: Outcome) -> None:
        """What follows a marker was read."""
        self.attempt = None
        reader, record = self.reader, outcome.record
        if reader.tape.has_call:
            reader.tape.restart(reader.buffer, reader.at)
        if record is not None:
            self._settle(met, outcome, record)
            if outcome.cut is not None:
                record.report_cut(outcome.cut)
        elif outcome.dialect is None:
            self._pass_over(met, reader.budget.spend(outcome.looked))
        if outcome.dialect is None:
            self._note_vain(met)
            return
        self.dialect = (record.format if record is not None else None) or outcome.dialect.name
        reader.budget.restart()
        self.active.note_found(outcome.dialect)
        if self.span is self.text:
            self.text.end_call()

    def _settle(self, met: MarkerMet, outcome: Outcome, record: RecordingSink) -> None:
        """Hold the text of recorded calls that were reported; pass it on where none was."""
        dialect, text = outcome.dialect, self.text
        if dialect is None:
            self.span.write(outcome.text)
            self.reader.budget.ahead -= len(outcome.text)
            text.follows_quoted = met.is_quoted
        elif record.place == "plain":
            self.reader.tape.keep(outcome.text)
        elif record.place == "bare":
            text.held.add(record.calls, outcome.text)
            text.held.is_alone = record.format is not None
        elif record.place == "quoted":
            text.quotes.pieces.append(
                outcome.text
            )  # the mark that closes the quotation does not stand right at the other
            text.follows_quoted = True
        elif self.span is not text and dialect.in_thought == "ends":
            self.span.held.add(record.calls, outcome.text)

    def _note_vain(self, met: MarkerMet) -> None:
        """What follows a marker was no call.  Behind too many of these no calls are looked for any more."""
        if met.is_quoted or met.in_thought or all(each.opener.bare or each.is_companion for each in met.candidates):
            return
        budget = self.reader.budget
        if budget.spend_marker():
            message = f"{budget.vain} markers opened no call: no more calls are looked for"
            self._sink.error("frame", "limit_markers", message)
            self.active.look_for_reasoning()


_ACTIONS: Final[dict[Meaning, Callable[[Scanner, MarkerMet], None]]] = {
    "text": Scanner._pass_over,
    "dropped": Scanner._pass_over,
    "ending": Scanner._pass_over,
    "thought": Scanner._begin_thought,
    "opened before": Scanner._pass_over_echo,
    "thought ends": Scanner._end_thought,
    "calls were drafts": Scanner._end_drafts,
    "another turn": Scanner._begin_turn,
    "settled": Scanner._let_calls_stand,
    "text begins": Scanner._begin_text,
}
