"""What a flood costs: a text in which one marker after the other opens nothing.

To try the dialects that share a marker costs a hundred times what a piece of prose costs, and a model that is stuck
writes the same marker thousands of times.  So the parser learns while it reads such a text.  It is a state machine: the
same text, read in the same state, is passed on in the same pieces and leads to the same state.  `Floods` keeps the
states that were seen, and the moves between them:

    state ──text──▶ what was passed on, the next state

A move that is known costs one look into a dictionary.  Only moves that passed on text and did nothing else are kept: a
call is read in full each time.  A state that is met for the first time has no moves, so what follows a flood is read
as it always is.

A long text is cut where it repeats itself, always at the same place of what is repeated, so that few parts are
different.  Where the moves of a part lead back to a state, all that follows is passed on at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias

from streamparse.dialects.engine.grammar import TagBalance, TagChange
from streamparse.dialects.engine.markers import find_end_of_repeats, find_period
from streamparse.dialects.engine.reader import Reader, RescanBudget, Spending

MOST_PIECE: Final = 1024  # characters of a text that is learnt; longer ones do not come twice
_MOST_VAIN: Final = 4  # see `Floods`
_MOST_PATIENCE: Final = 4096  # the same, after floods of which nothing came twice
_MOST_STATES: Final = 512
_MOST_MOVES: Final = 2048  # of all states
_MOST_MISSES: Final = 4096  # characters in a row that were not known: this is no flood
_LEAST_MISS: Final = 8  # as many at least for each text, so that a period of 512 short texts is learnt
LEAST_RUN: Final = 96  # characters of a text in which repetitions are looked for
_MOST_PERIOD: Final = 512
_LEAST_PARTS: Final = 3
_PROOF: Final = 48  # characters by which a repetition is found
_LEAST_PART: Final = 16  # characters of a part of a run
_MOST_ALIKE: Final = 4  # parts of a run that are learnt before longer ones are
_MOST_LEARNT: Final = 12  # parts of a run, if what comes of them is new each time

# All that decides how the next text is read: equal snapshots are the same state.
Snapshot: TypeAlias = Hashable


class Move(NamedTuple):
    """What came of a text."""

    passed_on: str
    tags: Mapping[str, TagChange]
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
        *("_budget", "_fruitless", "_is_learning", "_is_stale", "_left", "_misses", "_most_skipped", "_most_vain"),
        *("_moves", "_skipping", "_state", "_states", "_tags", "_unit", "_vain_before", "_was_known"),
        *("is_on", "is_repeating", "vain"),
    )

    def __init__(self, tags: TagBalance, budget: RescanBudget) -> None:
        self.vain = 0
        self.is_on = False
        self.is_repeating = False  # a part of the text came often, so what comes next is perhaps the same
        self._vain_before = 0  # after the text before
        self._most_vain = _MOST_VAIN  # more after each flood that was none
        self._is_learning = False
        self._is_stale = False  # the parser is not in the state in which the text is
        self._misses = 0  # characters in a row that were not known
        self._was_known = False  # a text of this flood was
        self._tags = tags
        self._budget = budget
        self._states: dict[Snapshot, State] | None = None  # most answers have none
        self._moves = 0
        self._fruitless = 0  # parts of runs that were learnt since one was known
        self._skipping = 0  # so many texts that repeat themselves are not read part by part
        self._most_skipped = 0  # more after each of which nothing came twice
        self._unit = ""  # what was repeated in the last run
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
        is_flood = self.vain > self._most_vain or self.is_repeating
        if is_flood and not self._is_learning and not self.is_on:
            self.is_on = True
            self.is_repeating = False
            self._misses = 0
            self._was_known = False
        return self.is_on

    def feed(self, machine: Machine, reader: Reader, text: str) -> None:
        """Read a text of a flood."""
        at = self._take_run(machine, reader, text, 0) if len(text) >= LEAST_RUN else 0
        if at < len(text):
            self._take(machine, text[at:])
        if self._misses > _MOST_MISSES:
            self._most_vain = _MOST_VAIN if self._was_known else min(2 * self._most_vain, _MOST_PATIENCE)
            self.end(machine)

    def end(self, machine: Machine) -> None:
        """The flood is over: the parser reads all itself from here on."""
        self._settle(machine)
        self.is_on = False
        self.vain = 0
        self._states = None
        self._moves = 0

    def may_skip(self, reader: Reader) -> bool:
        """Whether many markers before what is still to be read opened nothing."""
        # At the end of the text, more is read as the end of calls.
        return self.vain > _MOST_VAIN and not self._is_learning and not reader.final

    def skip_run(self, machine: Machine, reader: Reader) -> None:
        """Read what repeats itself from here on, if anything does.  No dialect reads, and nothing is held."""
        self.vain = 0  # or nothing but this would be tried again
        text, at = reader.buffer, reader.at
        reader.reset("")
        end = self._take_run(machine, reader, text, at)
        reader.hidden = len(text) - end
        self._settle(machine)
        reader.hidden = 0
        reader.go_on_in(text, end)
        self.is_repeating = end > at and not self._fruitless
        if self.is_repeating:  # what is held at the end of it is read again: the markers in it must not lead back here
            self.vain = 0

    def _take_run(self, machine: Machine, reader: Reader, text: str, at: int) -> int:
        """Read what repeats itself in a text at `at`; return where that ends, or `at` if nothing repeats itself."""
        if self._skipping > 0:
            self._skipping -= 1
            return at
        run = self._find_run(text, at)
        if run is None:
            return at
        part, start, end = run
        if self._state is None and self._states:
            self._state = self._find_state(machine)  # which was perhaps met before
        if start > at:
            reader.hidden = len(text) - start
            self._take(machine, text[at:start])
            at = start
        learnt = 0
        while count := (end - at) // len(part):
            read = self._take_known(machine, part, count)
            at += read * len(part)
            if read == count:
                continue
            learnt = 1 if read else learnt + 1
            self._fruitless += 1
            at += len(part)
            reader.hidden = len(text) - at
            self._learn(machine, part)
            if self._state is None:  # it was more than text, or at its end a call is being read
                turn = len(self._unit) // 3
                self._unit = self._unit[turn:] + self._unit[:turn]
            elif learnt % _MOST_ALIKE == 0 and 2 * len(part) <= MOST_PIECE:
                part += part
            if self._fruitless >= _MOST_LEARNT and (self._state is None or part not in self._state.moves):
                self._skipping = self._most_skipped = min(2 * self._most_skipped + 1, _MOST_PATIENCE)
                break
            if self._state is None:
                break
        reader.hidden = 0
        return at

    def _find_run(self, text: str, at: int) -> tuple[str, int, int] | None:
        """Find what repeats itself in a text at `at`: a part, where the first one begins, where it ends."""
        period = find_period(text, at, _PROOF, _MOST_PERIOD)
        if not period:
            return None
        unit, start = text[at : at + period], at
        turned = (2 * self._unit).find(unit) if len(self._unit) == len(unit) else -1
        if turned < 0:
            self._unit = unit
        elif turned > 0:
            start += len(unit) - turned
        part = self._unit * -(-_LEAST_PART // len(unit))
        end = find_end_of_repeats(text, at, period)
        return (part, start, end) if end - start >= _LEAST_PARTS * len(part) else None

    def _take(self, machine: Machine, text: str) -> None:
        """Read a text."""
        move = self._find_move(text)
        if move is None:
            self._learn(machine, text)
        else:
            self._repeat(machine, move, text)

    def _take_known(self, machine: Machine, part: str, count: int) -> int:
        """Read a text up to `count` times, as long as it is known what comes of it; return how often it was read."""
        read, most = 0, 1
        first, spent, walk = self._state, self._budget.again, list[Move]()
        while read < count and (move := self._find_move(part)) is not None:
            self._repeat(machine, move, part)
            self._fruitless = self._most_skipped = 0
            walk.append(move)
            read += 1
            if self._state is first:
                read += len(walk) * self._repeat_walk(machine, walk, part, spent, (count - read) // len(walk))
            elif len(walk) < most:
                continue
            most *= 2  # the state from which the walk began is perhaps none to which it leads back
            first, spent, walk = self._state, self._budget.again, []
        return read

    def _find_move(self, text: str) -> Move | None:
        """What comes of a text, if it is known; it is paid for."""
        state = self._state
        if state is None or (move := state.moves.get(text)) is None or not self._budget.repeat(move.spending):
            return None
        return move

    def _repeat(self, machine: Machine, move: Move, text: str) -> None:
        if move.passed_on:
            machine.replay(move.passed_on)
        if move.tags:
            self._tags.repeat(move.tags)
        if move.left is not None:
            self._left = move.left
        elif self._left is not None:
            self._left += len(text)
        self._state = move.next
        self._is_stale = self._was_known = True
        self._misses = 0

    def _repeat_walk(self, machine: Machine, walk: list[Move], part: str, before: int, count: int) -> int:
        """Repeat moves that led back to where they began, up to `count` times; return how often.

        `before`: what the budget was when they began.
        """
        spent = self._budget.again - before
        if spent > 0:
            if any(move.spending.is_reset for move in walk):
                return 0  # from here on each walk ends as this one did
            count = self._budget.repeat_often(spent, count)
        if passed_on := "".join(move.passed_on for move in walk) * count:
            machine.replay(passed_on)
        self._tags.repeat(_join_changes(walk), count)
        if self._left is not None and all(move.left is None for move in walk):
            self._left += count * len(walk) * len(part)
        return count

    def _settle(self, machine: Machine, ahead: int = 0) -> None:
        """Bring the parser to the state in which the text is; what is read from here on, it reads itself.

        `ahead`: how many characters have come that are to be read now.
        """
        if self._is_stale and self._state is not None:
            machine.restore(self._state.snapshot)
            if self._left is not None:
                machine.meet_again(self._left + ahead)
        self._is_stale = False
        self._state = self._left = None

    def _learn(self, machine: Machine, text: str) -> None:
        """Read a text as usual, and keep what it does."""
        before = self._state
        self._settle(machine, len(text))
        if len(text) > MOST_PIECE:
            self._misses += len(text)
            self._record(machine, text)
            return
        before = before or self._find_state(machine)
        tags: dict[str, TagChange] = {}
        self._tags.changes = tags
        recording = self._record(machine, text)
        self._tags.changes = None
        # Prose, or the text of a call, says much sooner that this is no flood.
        self._misses += _MOST_MISSES // 4 if recording is None or recording.is_plain else max(len(text), _LEAST_MISS)
        if before is None or recording is None or recording.spending is None:
            return
        if self._tags.is_decided_by_count(tags):
            return  # and that is no part of the state
        after = self._find_state(machine)
        if after is not None:
            self._state = after
            self._moves += 1
            before.moves[text] = Move("".join(recording.passed_on), tags, recording.left, recording.spending, after)

    def _record(self, machine: Machine, text: str) -> Recording | None:
        was_on, self.is_on, was_learning = self.is_on, False, self._is_learning
        self._is_learning = len(text) <= MOST_PIECE
        try:
            return machine.record(text)
        finally:
            self.is_on, self._is_learning = was_on, was_learning

    def _find_state(self, machine: Machine) -> State | None:
        """The state in which the parser is."""
        states = self._states
        if states is None or len(states) >= _MOST_STATES or self._moves >= _MOST_MOVES:
            states = self._states = {}
            self._moves = 0
        snapshot = machine.capture()
        if snapshot is None:
            return None
        state = states.get(snapshot)
        if state is None:
            state = states[snapshot] = State(snapshot)
        return state


def _join_changes(walk: list[Move]) -> Mapping[str, TagChange]:
    """What moves change, one after the other."""
    first, *others = walk
    joined = dict(first.tags)
    for move in others:
        for tag, change in move.tags.items():
            joined[tag] = joined[tag].then(change) if tag in joined else change
    return joined
