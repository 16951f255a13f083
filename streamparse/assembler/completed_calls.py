"""The complete calls of an answer: duplicates are found here, and calls are revoked."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec.structs import replace

from streamparse.assembler.call import CallState
from streamparse.assembler.event_log import EventLog
from streamparse.events import Source, ToolCallComplete, ToolCallRevoked
from streamparse.response import ToolCall

_Seen: TypeAlias = tuple[str, dict[str, Any], int]
"""A call's name, arguments and index."""


class CompletedCalls:
    """Makes the events `ToolCallComplete` and `ToolCallRevoked`.

    Some servers parse a call and leak its text too.  So the calls of either way that have not come the other way yet
    are kept, and the second of a pair is a duplicate.  The same call twice in one way is two calls.
    """

    def __init__(self, log: EventLog) -> None:
        self.has_taken_back = False
        """Whether a call was revoked for another reason than that it turned out not to be a call."""
        self._log = log
        self._native: list[_Seen] = []
        self._in_text: list[_Seen] = []

    def add(self, call: CallState, arguments: dict[str, Any], source: Source, raw: str) -> bool:
        """Take a call that is whole; return False, and take nothing, if it is a duplicate of one of the other way.

        A call in the text makes room for a native one if it does not count as that does.
        """
        same, other = self._native, self._in_text
        if call.source != "native":
            same, other = other, same
        for place, (name, values, index) in enumerate(other):
            if name == call.name and values == arguments and _same_types(values, arguments):
                del other[place]
                if call.source != "native" or not self._makes_room(index):
                    return False
                break
        else:
            same.append((call.name, arguments, call.index))
        found = ToolCall(call.name, arguments, call.id, source, raw, call.index, place=call.place)
        self._log.response.tool_calls.append(found)
        self._log.events.append(ToolCallComplete(call.index, call.id, call.name, arguments, source, raw, call.place))
        return True

    def revoke(self, index: int, reason: str) -> None:
        """Revoke a call that turned out not to be one; nothing if it is not complete, or was revoked before."""
        self._revoke([(place, call) for place, call in self._standing() if call.index == index], reason)

    def revoke_all(self, reason: str) -> None:
        """Revoke every call: the server took its turn back."""
        self._take_back(self._standing(), reason)

    def revoke_uncertain(self) -> None:
        """Revoke the calls that only a good end makes certain: the answer was cut."""
        self._take_back([(at, call) for at, call in self._standing() if call.place in ("bare", "thought")], "cut")

    def revoke_inband(self, code: str, message: str) -> None:
        """Revoke the calls that were found in the text, with an error if there are any."""
        in_text = self._log.response.formats
        doubtful = [(place, call) for place, call in self._standing() if call.index in in_text]
        if doubtful:
            self._log.error("call", code, message)
        self._take_back(doubtful, code)

    def _makes_room(self, index: int) -> bool:
        """Whether a call in the text is worth less than a native one; it is revoked then.

        It was revoked before, is not a plain call, had to be repaired, or text follows it.
        """
        found = next((each for each in self._log.response.tool_calls if each.index == index), None)
        if found is None:
            return False
        counts = found.place == "plain" and found.source == "inband" and not found.revoked
        if counts and not self._log.has_text_since(index):
            return False
        self.revoke(index, "duplicate_call")
        return True

    def _standing(self) -> list[tuple[int, ToolCall]]:
        """The calls that are not revoked, with their places in the response."""
        return [(place, call) for place, call in enumerate(self._log.response.tool_calls) if not call.revoked]

    def _take_back(self, found: list[tuple[int, ToolCall]], reason: str) -> None:
        self.has_taken_back = self.has_taken_back or bool(found)
        self._revoke(found, reason)

    def _revoke(self, found: list[tuple[int, ToolCall]], reason: str) -> None:
        for place, call in found:
            self._log.response.tool_calls[place] = replace(call, revoked=True)
            self._log.events.append(ToolCallRevoked(call.index, call.id, reason))


def _same_types(one: Any, other: Any) -> bool:
    """Whether equal values are the same JSON: to Python, true is 1."""
    if isinstance(one, dict):
        return all(_same_types(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return all(map(_same_types, one, other))
    return isinstance(one, bool) == isinstance(other, bool)
