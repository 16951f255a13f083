"""The two kinds of text that an answer is made of: the visible text, and thoughts in it.

A span knows what was said in it so far, as far as that decides what the next marker means: whether it is quoted, where
it is, and which markers count there.  It passes text on, and holds calls in it that may still be revoked: bare calls
in the visible text, until visible text follows; drafts in a thought, until the thought goes on or closes.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Final

from streamparse.dialects.engine.active_markers import NO_MARKERS, ActiveMarkers
from streamparse.dialects.engine.catalogue import Candidate
from streamparse.dialects.engine.grammar import Position, Thought
from streamparse.dialects.engine.markers import IndexedMarkers
from streamparse.dialects.engine.meanings import Kind, Meaning, State
from streamparse.dialects.engine.quotes import Quotes
from streamparse.patterns import BLANKS
from streamparse.sink import Call, Sink

# The places in the visible text: nothing but blanks and thoughts so far; nothing but blanks since a call; nothing but
# blanks since what begins the turn of somebody else; in text; in such a turn, where nothing is a marker.
START, AFTER_CALL, TURN_BEGUN, IN_TEXT, INVENTED = range(5)

_MOST_ENDINGS: Final = 16  # bound: endings that wait after a call; more are text
_LEADS: Final = ("Thought:", "Question:", "Plan:", "Reflection:")
_BEGUN_LEADS: Final = frozenset(lead[:size] for lead in _LEADS for size in range(len(lead)))
_MOST_LEAD: Final = max(map(len, _LEADS))
_LEAD_OPENER: Final = "Action:"


class HeldCalls:
    """Complete calls that may still be revoked, in order, and all text from the marker of the first one on.

    What ends a call that is certain is held, too, without a call: it is text if text follows.
    """

    __slots__ = ("_endings", "calls", "is_alone", "may_go_on", "text")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        # None if nothing is held.
        self.text: StringIO | None = None
        # The last ending is a marker that opens calls, too: where the text is cut, another call may have begun.
        self.may_go_on: bool = False
        # They are all of the answer, or none: no other call may follow.
        self.is_alone: bool = False
        self._endings = 0  # since the last call

    def add(self, calls: list[Call], text: str) -> None:
        """Hold calls, and the text from which they were read."""
        self.calls += calls
        self._endings = 0
        self.add_text(text)

    def add_text(self, text: str) -> None:
        """Hold text between calls, or after them."""
        if self.text is None:
            self.text = StringIO()
        self.text.write(text)

    @property
    def has_room(self) -> bool:
        """Whether another ending may be held."""
        return self._endings < _MOST_ENDINGS

    def add_ending(self, text: str, opens: bool) -> None:
        """Hold what ends a call; `opens`: it opens calls, too."""
        self._endings += 1
        self.may_go_on = opens
        self.add_text(text)

    def release(self) -> None:
        """Hold nothing any more: the calls are calls."""
        self.calls, self.text, self._endings, self.may_go_on, self.is_alone = [], None, 0, False, False

    def drop_endings(self) -> None:
        """Another call follows, or a thought: what ended a certain call is no text."""
        if self.text is not None and not self.calls:
            self.release()

    def revoke(self, sink: Sink, reason: str) -> str:
        """Revoke the calls, and hold nothing any more; return the text."""
        calls, text = self.calls, "" if self.text is None else self.text.getvalue()
        self.release()
        for call in calls:
            sink.call_revoke(call, reason)
        return text


class VisibleText:
    """The visible text: its state at the end, and the bare calls that may be revoked there."""

    __slots__ = (  # each parser has one
        *("_lead", "_sink", "calls", "draft_ends", "follows_drop", "follows_quoted", "has_settled", "held"),
        *("joins_thoughts", "place", "quotes", "tell"),
    )

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.tell: Callable[[str], None] = sink.text
        self.quotes: Quotes = Quotes()
        self.held: HeldCalls = HeldCalls()
        self.place: int = START
        self._lead = ""  # its first characters, as many as show whether they are one of `_LEADS`
        # Complete calls with markers of their own since visible text parted them from those before.
        self.calls: list[Call] = []
        self.has_settled: bool = False  # a bare call stands, for what follows it belongs to its format
        self.follows_quoted: bool = False  # nothing but blanks since a call that was quoted
        self.follows_drop: bool = False  # nothing since a marker that was dropped
        self.joins_thoughts: bool = False  # since the last call there was a thought
        # What ends a thought that is written in the text, for its opener came after text: calls in it are drafts.
        self.draft_ends: tuple[str, ...] = ()

    def get_prose_markers(self, active: ActiveMarkers) -> IndexedMarkers | None:
        """Return the markers that count, if text without any of them changes no state; else None."""
        is_prose = (
            self.place >= IN_TEXT
            and self._lead not in _BEGUN_LEADS
            and not (self.held.calls or self.follows_quoted or self.follows_drop)
        )
        return (active.prose if self.place == IN_TEXT else NO_MARKERS) if is_prose else None

    @property
    def has_call(self) -> bool:
        """Whether a call that was not revoked is before the next marker, with no call behind visible text after it."""
        return bool(self.calls or self.held.calls or self.has_settled)

    def find_state(self, is_token: bool) -> State:
        """Return the state of the text before a marker; `is_token`: it is a special token."""
        if self.place != IN_TEXT and not (self.follows_quoted or self.draft_ends):
            if self.held.calls:
                return "after a bare call"
            return "after a call" if self.place == AFTER_CALL and self.has_call else "start"
        state = self.quotes.find_state(is_token)
        if state == "quoted":
            return state
        if self.draft_ends:
            return "in a draft"
        if self.follows_quoted:
            return "after a quoted call"
        return "after a token" if self.follows_drop and state != "at a line" else state

    def get_markers(self, active: ActiveMarkers) -> IndexedMarkers:
        """Return the markers that count here."""
        return (active.at_start, active.later, NO_MARKERS, active.prose, NO_MARKERS)[self.place]

    def list_candidates(self, active: ActiveMarkers, marker: str, meaning: Meaning) -> list[Candidate]:
        """Return the dialects that may read what follows a marker here."""
        position: Position = "start" if self.place == START else "edge"
        if self.place == IN_TEXT:
            position = "line" if self.quotes.is_at_margin else "anywhere"
        candidates = active.list_candidates(marker, position)
        if meaning == "quoted attempt" and self.quotes.is_in_code:  # what casts doubt reads quoted text, but not code
            candidates = [each for each in candidates if not each.is_companion]
        if marker == _LEAD_OPENER and self.place == IN_TEXT and not self._lead.startswith(_LEADS):
            candidates = [each for each in candidates if each.is_named or each.is_companion]
        return candidates

    def change_state(self, meaning: Meaning, marker: str, active: ActiveMarkers) -> None:
        """A marker means something for those that follow."""
        if meaning == "draft begins":
            self.draft_ends = active.thoughts[marker].closes
        elif marker in self.draft_ends:
            self.draft_ends = ()

    def drop(self, text: str) -> None:
        """Note structure that is dropped, `text`: if held calls are revoked, it is text with them."""
        self.follows_drop = True
        if self.held.calls:
            self.held.add_text(text)

    def begin_thought(self, thought: Thought) -> OpenThought:
        """Return a thought that begins here."""
        self.follows_drop = self.follows_quoted = False
        self.held.drop_endings()
        return OpenThought(self._sink, thought, self.joins_thoughts and not thought.pieces)

    def end_call(self) -> None:
        """A dialect has read what is before."""
        self.place = AFTER_CALL
        self.held.drop_endings()
        self.joins_thoughts = False

    def write(self, text: str) -> bool:
        """Pass on text that belongs to no call; return True if other markers count from here on."""
        is_blank = not text.strip(BLANKS)
        self.follows_drop = False
        self.follows_quoted = self.follows_quoted and is_blank
        if self.held.calls and is_blank:
            self.held.add_text(text)
            return False
        is_change = self.held.text is not None and self.revoke("text_follows")
        if self._lead in _BEGUN_LEADS:
            self._lead = (self._lead + text).lstrip(BLANKS)[:_MOST_LEAD]
        if not is_blank and self.place < IN_TEXT:
            self.place = IN_TEXT
            is_change = True
        # As `pass_on`, without a call.
        self.quotes.pieces.append(text)
        self._sink.text(text)
        return is_change

    def pass_on(self, text: str) -> None:
        """Pass on text that may not be looked at for what it says of markers, but for what it quotes."""
        self.quotes.pieces.append(text)
        self._sink.text(text)

    def take_endings(self) -> str:
        """Return what is held of the ends of certain calls, and hold it no more."""
        return "" if self.held.calls else self.held.revoke(self._sink, "")

    def revoke(self, reason: str) -> bool:
        """Revoke the held calls, whose text is visible text; return True if other markers count from here on."""
        if self.held.text is None:
            return False
        self.pass_on(self.held.revoke(self._sink, reason))
        self.place = IN_TEXT
        return True


class OpenThought:
    """A thought that is open, and the calls in it that may be revoked.

    `joins`: a thought was right before it, to which a line break joins it.
    """

    def __init__(self, sink: Sink, thought: Thought, joins: bool) -> None:
        self._sink = sink
        self.tell: Callable[[str], None] = sink.reasoning
        self.thought = thought
        self.quotes: Quotes = Quotes()
        self.held: HeldCalls = HeldCalls()
        self.joins: bool = joins
        # Nothing but blanks so far: another opener may be the prompt's, or the model's, own.
        self.is_fresh: bool = True
        # In the turn of somebody else, behind a call: no more calls are looked for.
        self.is_invented: bool = False

    def get_prose_markers(self, active: ActiveMarkers) -> IndexedMarkers | None:
        """As of `VisibleText`."""
        return None if self.held.calls or self.is_fresh or self.joins else self.get_markers(active)

    @property
    def has_call(self) -> bool:
        """Whether a call that may be revoked is right before the next marker."""
        return bool(self.held.calls)

    def find_state(self, is_token: bool) -> State:
        """As of `VisibleText`."""
        if self.held.calls:
            return "invented" if self.is_invented else "after a call in a thought"
        if self.quotes.is_open(is_token):
            return "quoted in a thought"
        return "invented" if self.is_invented else "in a thought"

    def get_markers(self, active: ActiveMarkers) -> IndexedMarkers:
        """Return the markers that count here."""
        return active.get_markers_in_thought(self.thought, self.is_fresh)

    def list_own_kinds(self, marker: str) -> tuple[Kind, ...]:
        """Return what a marker is in this thought alone."""
        if marker in self.thought.closes:
            return ("end of this thought",)
        is_echo = self.is_fresh and (marker in self.thought.opens or marker in self.thought.echoes)
        return ("echo",) if is_echo else ()

    def list_candidates(
        self, active: ActiveMarkers, marker: str, meaning: Meaning  # noqa: ARG002 - as `VisibleText`
    ) -> list[Candidate]:  # fmt: skip
        """Return the dialects that may read what follows a marker here."""
        return active.list_candidates_in_thought(marker)

    def change_state(self, meaning: Meaning, marker: str, active: ActiveMarkers) -> None:  # noqa: ARG002 - as above
        """What follows is invented."""
        self.is_invented = True

    def drop(self, text: str) -> None:
        """Note structure that is dropped: it is not kept."""

    def write(self, text: str) -> bool:
        """Pass on thought; return True if other markers count from here on."""
        if self.held.calls and not text.strip(BLANKS):
            self.held.add_text(text)
            return False
        is_change = bool(self.held.calls) and self.revoke("thought_goes_on")
        return self._pass_on(text) or is_change

    def _pass_on(self, text: str) -> bool:
        self.quotes.pieces.append(text)
        if self.joins:
            self.joins = False
            self._sink.reasoning("\n")
        self._sink.reasoning(text)
        if not self.is_fresh or not text.strip(BLANKS):
            return False
        self.is_fresh = False
        return True

    def revoke(self, reason: str) -> bool:
        """Revoke the held calls, whose text is thought; return True if other markers count from here on."""
        return bool(self.held.calls) and self._pass_on(self.held.revoke(self._sink, reason))
