"""How an emitter writes calls: which parts are sent, and when.

| event | what is sent |
|---|---|
| call start and deltas | at once, as far as they are valid JSON (`json_prefix`) and not a possible duplicate |
| call complete | the rest of the arguments: only now is the call valid JSON |
| call error | nothing more, so the arguments never become valid JSON; the turn ends like one that was cut |
| error of a duplicate | nothing, as long as its arguments equal those of the first call, which counts |

Some servers read a call and leak its text too; the second of the two ends with `duplicate_call`.  A call that a client
has seen begin cannot be taken back.  So a call is held (`HeldCall`) as long as its arguments begin like those of a
complete call of its name.  It is sent at the first character that differs, or when it is complete: the same call twice
in the same way is two calls.  White space and escapes make no difference.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from streamparse.emitting.json_prefix import INSIDE, LONGEST_ESCAPE, ArgumentWriter
from streamparse.emitting.outcome import DUPLICATE, Outcome
from streamparse.events import Error, ToolCallComplete, ToolCallDelta, ToolCallStart
from streamparse.response import ToolCall

_BETWEEN: Final = re.compile(r'[ \t\r\n]*([^" \t\r\n]*)("?)')


class CallTarget(Protocol):
    """What writes the parts of a call in the words of one wire."""

    def write_call_start(self, event: ToolCallStart, /) -> bytes: ...

    def write_arguments(self, index: int, text: str, /) -> bytes: ...

    def write_call_end(self, event: ToolCallComplete, /) -> bytes:
        """Write the end of a call; where arguments are sent in pieces, all of them are written by then."""


class CallWriter:
    """Writes the calls of one answer, and reports to its outcome what became of them."""

    def __init__(self, target: CallTarget, outcome: Outcome) -> None:
        self._target = target
        self._outcome = outcome
        self._begun: dict[int, ArgumentWriter] = {}  # calls of which something was sent
        self._held: dict[int | None, HeldCall] = {}
        self._complete: dict[str, list[str]] = {}  # the arguments of complete calls, sorted, by name

    def begin(self, event: ToolCallStart, /) -> bytes:
        complete = self._complete.get(event.name)
        if complete is None:
            return self._write_start(event)
        self._held[event.index] = HeldCall(event, complete)
        return b""

    def extend(self, event: ToolCallDelta, /) -> bytes:
        held = self._held.get(event.index)
        if held is not None:
            return b"" if held.extend(event) else self.release(event.index)
        text = self._begun[event.index].feed(event.arguments)
        return self._target.write_arguments(event.index, text) if text else b""

    def complete(self, event: ToolCallComplete) -> bytes:
        head = self.release(event.index)
        rest = self._begun[event.index].finish(event)
        if rest is None:
            return head + self._abort(event.index)
        self._outcome.called = True
        insort(self._complete.setdefault(event.name, []), spell_arguments(event))
        arguments = self._target.write_arguments(event.index, rest) if rest else b""
        return head + arguments + self._target.write_call_end(event)

    def fail(self, event: Error, /) -> bytes:
        """Take the error of a call that broke, or that turned out to be text."""
        if event.code == DUPLICATE and event.index not in self._begun:
            self._held.pop(event.index, None)
            return b""
        self._outcome.broken = True  # even if nothing of it was sent: the client lacks a call
        return self.release(event.index) + self._abort(event.index) if event.index is not None else b""

    def release(self, index: int | None) -> bytes:
        """Write a call that is held; nothing if it is not."""
        held = self._held.pop(index, None)
        return self._write_start(held.start) + self.extend(held.delta) if held is not None else b""

    def _write_start(self, event: ToolCallStart) -> bytes:
        self._begun[event.index] = ArgumentWriter()
        return self._target.write_call_start(event)

    def _abort(self, index: int) -> bytes:
        self._outcome.broken = True
        text = self._begun[index].abort()
        return self._target.write_arguments(index, text) if text else b""


class WholeCallWriter(CallWriter):
    """The same for a wire whose calls come whole: a call that never becomes complete is never sent."""

    def begin(self, _event: ToolCallStart, /) -> bytes:
        return b""

    def extend(self, _event: ToolCallDelta, /) -> bytes:
        return b""

    def complete(self, event: ToolCallComplete) -> bytes:
        self._outcome.called = True
        return self._target.write_call_end(event)

    def fail(self, _event: Error, /) -> bytes:
        return b""


class HeldCall:
    """A call of which nothing was sent yet: its start, and its arguments so far.

    `complete` has the arguments of the complete calls of its name, each by `spell_arguments`, in sorted order.  Those
    that begin alike are neighbours, so two binary searches find all that still match.
    """

    __slots__ = ("_compared", "_complete", "_deltas", "_first", "_last", "_speller", "start")

    def __init__(self, start: ToolCallStart, complete: Sequence[str]) -> None:
        self.start: ToolCallStart = start
        self._deltas: list[str] = []
        self._complete = tuple(complete)
        self._first, self._last = 0, len(complete)  # of those that begin like this call
        self._compared = 0
        self._speller = _Speller()

    def extend(self, delta: ToolCallDelta) -> bool:
        """Keep the next delta; return whether the arguments of a complete call still begin like this."""
        self._deltas.append(delta.arguments)
        text = self._speller.feed(delta.arguments)
        begin, end = self._compared, self._compared + len(text)
        self._first = bisect_left(self._complete, text, self._first, self._last, key=lambda each: each[begin:end])
        self._last = bisect_right(self._complete, text, self._first, self._last, key=lambda each: each[begin:end])
        self._compared = end
        return self._first < self._last and not self._speller.is_invalid

    @property
    def delta(self) -> ToolCallDelta:
        """The arguments so far, as one delta."""
        return ToolCallDelta(self.start.index, "".join(self._deltas))


class _Speller:
    """Spells JSON text canonically while it arrives: no white space between values, no escape that is not needed."""

    __slots__ = ("_in_string", "_rest")

    def __init__(self) -> None:
        self._in_string = False
        self._rest = ""  # an escape that is not whole yet

    @property
    def is_invalid(self) -> bool:
        """Whether the text is not JSON."""
        return len(self._rest) >= LONGEST_ESCAPE

    def feed(self, fragment: str) -> str:
        """Take the next piece; return its canonical spelling, as far as it is decided."""
        text = self._rest + fragment
        pieces: list[str] = []
        place = 0
        while place < len(text):
            piece, end = self._read_string(text, place) if self._in_string else self._read_between(text, place)
            if end == place:
                break
            pieces.append(piece)
            place = end
        self._rest = text[place:]
        return "".join(pieces)

    def _read_string(self, text: str, place: int) -> tuple[str, int]:
        """Read the inside of a string, up to its end or to an escape that is not whole."""
        inside = INSIDE.match(text, place)
        assert inside is not None
        end = inside.end()
        spelled = msgspec.json.encode(msgspec.json.decode(f'"{inside[0]}"')).decode()
        if text[end : end + 1] != '"':
            return spelled[1:-1], end
        self._in_string = False
        return spelled[1:], end + 1

    def _read_between(self, text: str, place: int) -> tuple[str, int]:
        """Read the text between strings, up to the next one."""
        token = _BETWEEN.match(text, place)
        assert token is not None
        self._in_string = bool(token[2])
        return token[1] + token[2], token.end()


def spell_arguments(call: ToolCallComplete) -> str:
    """Return the arguments of a complete call in the spelling by which calls are compared."""
    return _Speller().feed(get_argument_text(call))


def get_argument_text(call: ToolCall | ToolCallComplete) -> str:
    """Return a call's arguments as JSON text: the model's own, unless it had to be mended."""
    if call.source == "repaired" or not call.raw:
        return msgspec.json.encode(call.arguments).decode()
    return call.raw
