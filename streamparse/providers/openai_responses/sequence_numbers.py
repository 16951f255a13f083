"""The sequence numbers of OpenAI Responses: an event that comes twice is told once."""

from __future__ import annotations

from typing import Final

from streamparse.sink import Sink

__all__ = ["ENDS", "Numbers"]

ENDS: Final = ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done")
"""The types of the events that end a response."""

_LONGEST_GAP: Final = 64


class Numbers:
    """Judges the numbers of events; `due` is the one that comes next.

    Each response counts anew, so may each item.  Events that end a response may carry any number (LiteLLM writes 0),
    and a server is `believed` only if it numbers every event (LiteLLM numbers a few) and has counted in turn.
    """

    __slots__ = ("_id", "_missing", "_out_of_turn", "_sink", "believed", "due", "gap", "late")

    def __init__(self, sink: Sink) -> None:
        self.due: int | None = None
        self._sink = sink
        self._id: str | None = None
        self.believed = True
        self.gap = False  # before the event that was judged last, one is missing
        self.late = False  # the event that was judged last comes after later ones
        self._missing: set[int] = set()
        self._out_of_turn = 0  # of the numbers below `due`, those that did not come in turn

    def take(self, number: int, kind: str | None, response: str | None) -> bool:
        """Judge a number that is not due, of an event that may hold a response's id: whether to tell the event."""
        self.gap = self.late = False
        starts = kind == "response.created" and response != self._id
        if starts:
            self._id = response
        if self.due is None or starts:
            self.believed = True
            self.restart(number)
        elif number > self.due:
            self.gap = self._counts
            self._missing.update(range(self.due, min(number, self.due + _LONGEST_GAP)))
            self._out_of_turn += number + 1 - self.due
            self.due = number + 1
        elif self._counts and kind not in ENDS:
            return self._is_late(number)
        return True

    def steps_back(self, number: int) -> bool:
        """Whether a number has come, or should have, and is none that is missing."""
        return self.due is not None and number < self.due and number not in self._missing

    def restart(self, number: int) -> None:
        """The server counts anew from a number."""
        self._missing.clear()
        self.due = self._out_of_turn = number + 1

    @property
    def _counts(self) -> bool:
        return self.believed and self.due is not None and self.due - self._out_of_turn > 1

    def _is_late(self, number: int) -> bool:
        if number in self._missing:
            self._missing.discard(number)
            self.late = True
            self._sink.error("frame", "out_of_order", f"event {number} comes after later ones")
            return True
        self._sink.error("frame", "duplicate_frame", f"event {number} came before")
        return False
