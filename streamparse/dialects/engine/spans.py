"""The two kinds of text that an answer is made of: the visible text, and thoughts in it.

A span knows what was said in it so far, as far as that decides what the next marker means: whether it is quoted, where
it is, and which markers count there.  It passes text on, and holds calls in it that may still be revoked: bare calls
in the visible text, until visible text follows; drafts in a thought, until the thought goes on or closes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import Final

from streamparse.dialects.engine.active_markers import NO_MARKERS, ActiveMarkers
from streamparse.dialects.engine.grammar import Position, Thought
from streamparse.dialects.engine.markers import IndexedMarkers
from streamparse.dialects.engine.quotes import Quotes
from streamparse.patterns import BLANKS
from streamparse.sink import Call, Sink

START: Final = 0  # nothing but blanks and thoughts so far
AFTER_CALL: Final = 1  # nothing but blanks since a call
TURN_BEGUN: Final = 2  # nothing but blanks since what begins the turn of somebody else
IN_TEXT: Final = 3
INVENTED: Final = 4  # in such a turn: nothing is a marker

_MOST_ENDINGS: Final = 16  # that may wait after a call; more are text
_CLOSING_TAGS: Final = ("</", "[/", "◁/")
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
    """The visible text: where its end is, and the bare calls that may be revoked there."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.tell: Callable[[str], None] = sink.text
        self.quotes: Quotes = Quotes()
        self.held: HeldCalls = HeldCalls()
        self.place: int = START
        self._lead = ""  # its first characters, as many as show whether they are one of `_LEADS`
        # What ends a thought that is written in the text, for its opener came after text: calls in it are drafts.
        self.draft_ends: tuple[str, ...] = ()

    @property
    def is_prose(self) -> bool:
        """Whether text without a marker is passed on as it is, and changes nothing."""
        return self.place >= IN_TEXT and self._lead not in _BEGUN_LEADS and not self.held.calls

    @property
    def position(self) -> Position:
        """Where the next marker is."""
        if self.place != IN_TEXT:
            return "start" if self.place == START else "edge"
        return "line" if self.quotes.is_at_margin else "anywhere"

    def get_markers(self, active: ActiveMarkers) -> IndexedMarkers:
        """Return the markers that count here."""
        return (active.at_start, active.later, NO_MARKERS, active.prose, NO_MARKERS)[self.place]

    def is_led(self, marker: str) -> bool:
        """Whether what was said agrees with a marker: `Action:` needs one of the leads of its format."""
        return marker != _LEAD_OPENER or self.place != IN_TEXT or self._lead.startswith(_LEADS)

    def note_thought_marker(self, marker: str, thoughts: Mapping[str, Thought]) -> bool:
        """Note a marker of thoughts that is text here.

        What comes after one that opens a thought at the start of a line is a draft.  One that closes what nothing
        opened shows that the prompt opened the thought.  Then return True: the calls before it are drafts.
        """
        if marker in self.draft_ends:
            self.draft_ends = ()
        elif marker in thoughts:
            if self.quotes.is_at_margin and not self.draft_ends:
                self.draft_ends = thoughts[marker].closes
        elif not self.draft_ends:
            return marker.startswith(_CLOSING_TAGS)  # others end messages, too
        return False

    def write(self, text: str) -> bool:
        """Pass on text that belongs to no call; return True if other markers count from here on."""
        is_blank = not text.strip(BLANKS)
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
        # Something was passed on by `write`, be it blanks.
        self.has_told: bool = False
        # In the turn of somebody else, behind a call: no more calls are looked for.
        self.is_invented = False

    @property
    def is_prose(self) -> bool:
        """As of `VisibleText`."""
        return not (self.held.calls or self.is_fresh or self.joins)

    def get_markers(self, active: ActiveMarkers) -> IndexedMarkers:
        """Return the markers that count here."""
        return active.get_markers_in_thought(self.thought, self.is_fresh)

    def write(self, text: str) -> bool:
        """Pass on thought; return True if other markers count from here on."""
        if self.held.calls and not text.strip(BLANKS):
            self.held.add_text(text)
            return False
        is_change = bool(self.held.calls) and self.revoke("thought_goes_on")
        return self._pass_on(text) or is_change

    def _pass_on(self, text: str) -> bool:
        self.quotes.pieces.append(text)
        pieces = ("\n", text) if self.joins else (text,)
        self.joins, self.has_told = False, True
        for piece in pieces:
            self._sink.reasoning(piece)
        if not self.is_fresh or not text.strip(BLANKS):
            return False
        self.is_fresh = False
        return True

    def revoke(self, reason: str) -> bool:
        """Revoke the held calls, whose text is thought; return True if other markers count from here on."""
        return bool(self.held.calls) and self._pass_on(self.held.revoke(self._sink, reason))
