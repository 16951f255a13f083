"""The half of an emitter that writes calls: what leaves of each, and when.

| event | what leaves |
|---|---|
| call start and deltas | at once, as far as they are valid JSON (`arguments`) and new (`held`) |
| call complete | the rest of the arguments: for the first time the call is valid JSON |
| call error | what makes sure that the call is no valid JSON, and never will be; the turn ends as one that was cut |
| error of a double | nothing, if it says it as the first one did: no word of it has left, and the first one stands |
"""

from __future__ import annotations

from bisect import insort

from streamparse.emitting.answer import DOUBLE, DOUBTED
from streamparse.emitting.arguments import Arguments
from streamparse.emitting.duplicate_hold import Held, said_by
from streamparse.events import Error, ToolCallComplete, ToolCallDelta, ToolCallStart

__all__ = ["CallWriter"]


class CallWriter:
    """Follows the calls of one answer; `_called` and `_broken` say how the turn has to end."""

    def __init__(self) -> None:
        self._calls: dict[int, Arguments] = {}  # those that have begun to leave
        self._held: dict[int | None, Held] = {}
        self._said: dict[str, list[str]] = {}  # what complete calls say, in order, by name
        self._called = False  # a call has left, and stands
        self._broken = False  # one is missing
        self._doubt: Error | None = None  # why those that have left do not stand

    # -- what a target has to write ----------------------------------------------------------------------

    def _start(self, event: ToolCallStart) -> bytes:
        raise NotImplementedError

    def _arguments(self, index: int, text: str) -> bytes:
        raise NotImplementedError

    def _stop(self, event: ToolCallComplete) -> bytes:
        """The call is whole, and all of its arguments are written."""
        raise NotImplementedError

    # -- inside ----------------------------------------------------------------------------------------

    def _begin(self, event: ToolCallStart) -> bytes:
        said = self._said.get(event.name)
        if said is None:
            return self._let_out(event)
        self._held[event.index] = Held(event, said)
        return b""

    def _let_out(self, event: ToolCallStart) -> bytes:
        self._calls[event.index] = Arguments()
        return self._start(event)

    def _let_go(self, index: int | None) -> bytes:
        """Write what was held of a call."""
        held = self._held.pop(index, None)
        return self._let_out(held.start) + self._continue(held.delta) if held is not None else b""

    def _continue(self, event: ToolCallDelta) -> bytes:
        held = self._held.get(event.index)
        if held is not None:
            return b"" if held.says_the_same(event) else self._let_go(event.index)
        text = self._calls[event.index].feed(event.arguments)
        return self._arguments(event.index, text) if text else b""

    def _complete(self, event: ToolCallComplete) -> bytes:
        head = self._let_go(event.index)
        rest = self._calls[event.index].finish(event)
        if rest is None:
            return head + self._break_off(event.index)
        self._called = True
        insort(self._said.setdefault(event.name, []), said_by(event))
        return head + (self._arguments(event.index, rest) if rest else b"") + self._stop(event)

    def _break_off(self, index: int) -> bytes:
        self._broken = True
        text = self._calls[index].break_off()
        return self._arguments(index, text) if text else b""

    def _fault(self, event: Error) -> bytes:
        """A call is broken, or was none."""
        index = event.index
        if event.code == DOUBTED:
            self._doubt = event
        if event.code == DOUBLE and index not in self._calls:
            self._held.pop(index, None)
            return b""
        self._broken = True  # even if nothing of it has left
        return self._let_go(index) + self._break_off(index) if index is not None else b""
