"""What a flood costs: a text in which one marker after the other opens nothing.

To try the dialects that share a marker costs a hundred times what a piece of prose costs, and a model that is stuck
writes the same marker thousands of times.  So the parser learns while it reads such a text.  It is a state machine: the
same text, read in the same state, is passed on in the same pieces and leads to the same state.  `Floods` keeps the
states that were seen, and the moves between them:

    state ──text──▶ what was passed on, the next state

A move that is known costs one look into a dictionary.  Only moves that passed on text and did nothing else are kept: a
call is read in full each time.  A state that is met for the first time has no moves, so what follows a flood is read
as it always is.

A long text that came at once is cut where it repeats itself, and its parts are read one by one (`_find_run`).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple, Protocol, TypeAlias

from streamparse.dialects.engine.grammar import TagBalance, TagNote
from streamparse.dialects.engine.reader import Reader, RescanBudget, Spending

MOST_PIECE: Final = 1024  # characters of a text that is learnt; longer ones do not come twice
_MOST_VAIN: Final = 4  # see `Floods`
_MOST_PATIENCE: Final = 4096  # the same, after floods of which nothing came twice
_MOST_STATES: Final = 512
_MOST_MOVES: Final = 2048  # of all states
_MOST_MISSES: Final = 1024  # characters in a row that were not known: this is no flood
_LEAST_PART: Final = 64  # characters of a part of a run
_MOST_PERIOD: Final = 512
_LEAST_PARTS: Final = 3
_PROOF: Final = 48  # characters by which a repetition is found

# All that decides how the next text is read: equal snapshots are the same state.
Snapshot: TypeAlias = Hashable


class Move(NamedTuple):
    """What came of a text."""

    passed_on: str
    tags: tuple[TagNote, ...]
    # How many characters before the end of the text the last marker was met; None if none was.
    left: int | None
    spending: Spending
    next: State


class State:
    """A state of the parser, and what came of the texts that were read in it."""

    __slots__ = ("moves", "snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.moves: dict[str, Move] = {}


class Recording:
    """What one text did to the parser."""

    def __init__(self) -> None:
        self.passed_on: list[str] = []
        self.left: int | None = None
        self.spending: Spending | None = None
        self.is_plain = False  # no marker was met, and at its end none may begin


class Machine(Protocol):
    """What `Floods` asks of the parser, which it is given each time: neither must keep the other alive."""

    def capture(self) -> Snapshot | None:
        """Return the state; None while a call is being read, or may still be revoked."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state."""

    def record(self, text: str) -> Recording | None:
        """Read a text as usual; return what it did, None if it did more than to pass on text."""

    def replay(self, text: str) -> None:
        """Pass on text that changes nothing."""

    def meet_again(self, left: int) -> None:
        """A marker was met so many characters before the end of what was read."""


class Floods:
    """The states and moves of one answer.

    `vain` counts the markers that opened nothing, and the texts at whose end one may begin, since there was a call;
    prose reduces it.  When it is too much, a flood `is_on`, and `feed` reads the text.  While it is, the parser itself
    need not be in the state in which the text is: `end` brings it there.
    """

    __slots__ = (
        *("_budget", "_is_learning", "_is_stale", "_left", "_misses", "_most_vain", "_moves", "_state", "_states"),
        *("_tags", "_vain_before", "_was_known", "is_on", "vain"),
    )

    def __init__(self, tags: TagBalance, budget: RescanBudget) -> None:
        self.vain = 0
        self.is_on = False
        self._vain_before = 0  # after the text before
        self._most_vain = _MOST_VAIN  # more after each flood that was none
        self._is_learning = False
        self._is_stale = False  # the parser is not in the state in which the text is
        self._misses = 0  # characters in a row that were not known
        self._was_known = False  # a text of this flood was
        self._tags = tags
        self._budget = budget
        self._states: dict[Snapshot, State] = {}
        self._moves = 0
        self._state: State | None = None  # None: not known
        self._left: int | None = None  # how many characters ago a marker was met, while stale

    def note_text(self, is_held: bool, is_prose: bool) -> bool:
        """Note that the parser has read a text, and no dialect reads now; return whether a flood is on.

        `is_held`: at its end a marker may begin; `is_prose`: what follows is prose.
        """
        if is_held:
            self.vain += 1
        elif is_prose and self.vain == self._vain_before:
            self.vain = max(0, self.vain - 1)
        self._vain_before = self.vain
        if self.vain > self._most_vain and not self._is_learning and not self.is_on:
            self.is_on = True
            self._misses = 0
            self._was_known = False
        return self.is_on

    def feed(self, machine: Machine, text: str) -> None:
        """Read a text of a flood."""
        self._take(machine, text)
        if self._misses > _MOST_MISSES:
            self._most_vain = _MOST_VAIN if self._was_known else min(2 * self._most_vain, _MOST_PATIENCE)
            self.end(machine)

    def end(self, machine: Machine) -> None:
        """The flood is over: the parser reads all itself from here on."""
        self._settle(machine)
        self.is_on = False
        self.vain = 0
        self._states.clear()
        self._moves = 0

    def may_skip(self, reader: Reader) -> bool:
        """Whether many markers before what is still to be read opened nothing."""
        # At the end of the text, more is read as the end of calls.
        return self.vain > _MOST_VAIN and not self._is_learning and not reader.final

    def skip_run(self, machine: Machine, reader: Reader) -> None:
        """Read the parts of what repeats itself from here on, if it does.  No dialect reads, and nothing is held."""
        self.vain = 0
        text, at = reader.buffer, reader.at
        part, count = _find_run(text, at)
        if not count:
            return
        end = at + count * len(part)
        reader.reset("")
        while at < end:
            if read := self._take_run(machine, part, (end - at) // len(part)):
                at += read * len(part)
                continue
            at += len(part)
            reader.hidden = len(text) - at
            self._take(machine, part)
            if self._state is None:  # it was more than text
                break
        self._settle(machine)
        reader.hidden = 0
        reader.go_on_in(text, at)

    def _take(self, machine: Machine, text: str) -> None:
        """Read a text."""
        state = self._state
        if state is None or (move := state.moves.get(text)) is None or not self._budget.repeat(move.spending):
            self._learn(machine, text)
            return
        self._repeat(machine, move, text, 1)

    def _take_run(self, machine: Machine, part: str, count: int) -> int:
        """Read a text so often, as long as it leads back to the same state; return how often it was read."""
        move = self._state.moves.get(part) if self._state is not None else None
        if move is None or move.next is not self._state:
            return 0
        if not (move.spending.can_repeat and self._budget.repeat(move.spending)):
            return 0
        self._repeat(machine, move, part, count)
        return count

    def _repeat(self, machine: Machine, move: Move, text: str, count: int) -> None:
        if move.passed_on:
            machine.replay(move.passed_on * count)
        if move.tags:
            self._tags.repeat(move.tags * count)
        if move.left is not None:
            self._left = move.left
        elif self._left is not None:
            self._left += len(text) * count
        self._state = move.next
        self._is_stale = self._was_known = True
        self._misses = 0

    def _settle(self, machine: Machine) -> None:
        """Bring the parser to the state in which the text is; what is read from here on, it reads itself."""
        if self._is_stale and self._state is not None:
            machine.restore(self._state.snapshot)
            if self._left is not None:
                machine.meet_again(self._left)
        self._is_stale = False
        self._state = self._left = None

    def _learn(self, machine: Machine, text: str) -> None:
        """Read a text as usual, and keep what it does."""
        before = self._state
        self._settle(machine)
        if len(text) > MOST_PIECE:
            self._misses += len(text)
            self._record(machine, text)
            return
        before = before or self._find_state(machine)
        self._tags.notes = []
        recording = self._record(machine, text)
        notes, self._tags.notes = self._tags.notes, None
        # Prose, or the text of a call, says much sooner that this is no flood.
        self._misses += _MOST_MISSES // 4 if recording is None or recording.is_plain else len(text)
        if before is None or recording is None or recording.spending is None:
            return
        if notes and self._tags.has_called:
            return  # it matters how many tags are open
        after = self._find_state(machine)
        if after is not None:
            self._state = after
            self._moves += 1
            before.moves[text] = Move(
                "".join(recording.passed_on), tuple(notes), recording.left, recording.spending, after
            )  # fmt: skip

    def _record(self, machine: Machine, text: str) -> Recording | None:
        was_on, self.is_on, was_learning = self.is_on, False, self._is_learning
        self._is_learning = len(text) <= MOST_PIECE
        try:
            return machine.record(text)
        finally:
            self.is_on, self._is_learning = was_on, was_learning

    def _find_state(self, machine: Machine) -> State | None:
        """The state in which the parser is."""
        if len(self._states) >= _MOST_STATES or self._moves >= _MOST_MOVES:
            self._states.clear()
            self._moves = 0
        snapshot = machine.capture()
        if snapshot is None:
            return None
        state = self._states.get(snapshot)
        if state is None:
            state = self._states[snapshot] = State(snapshot)
        return state


def _find_run(text: str, at: int) -> tuple[str, int]:
    """Return a part of the text at `at` that repeats itself there, and how often it comes; 0 if it does not."""
    again = text.find(text[at : at + _PROOF], at + 1, at + _PROOF + _MOST_PERIOD)
    if again < 0:
        return "", 0
    unit = text[at:again]
    part = unit * -(-_LEAST_PART // len(unit))
    count, end = 0, at
    while text.startswith(part, end):
        count += 1
        end += len(part)
    return (part, count) if count >= _LEAST_PARTS else ("", 0)
