"""What ties a result to its call: its id, or where a provider has none, the tool's name and the order.

A conversation may come without ids (Ollama, Gemini), or with the same ids in each turn (those of servers and parsers
that count anew), and results without names (OpenAI, Anthropic, Bedrock) or in another order than their calls.  After
`tied` every call has an id of its own (Anthropic refuses one that comes twice), every result that of its call and the
name of its tool, and the results of one turn stand in the order of the calls, before all else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.parts import Part, Turn

__all__ = ["ordered", "tied"]


def tied(turns: Iterable[Turn]) -> list[Turn]:
    """The turns of a conversation, each result tied to its call."""
    return list(_tied(turns))


def _tied(turns: Iterable[Turn]) -> Iterator[Turn]:
    calls = _Calls()
    waiting = _Waiting(())
    for turn in turns:
        if turn.role == "assistant":
            parts = [calls.enter(part) if isinstance(part, ToolCall) else part for part in turn.parts]
            pairs: Iterable[tuple[Part, Part]] = zip(turn.parts, parts, strict=True)
            found = [(old.id, new) for old, new in pairs if isinstance(old, ToolCall) and isinstance(new, ToolCall)]
            waiting = _Waiting(found) if found else waiting
            yield replace(turn, parts=parts)
        elif turn.results:
            results = [waiting.tie(result) for result in turn.results]
            others = [part for part in turn.parts if not isinstance(part, ToolResult)]
            yield replace(turn, parts=[*_in_order(results, calls.by_id, calls.places), *others])
        else:
            yield turn


class _Calls:
    """The calls of a conversation, each under an id of its own, and their places."""

    def __init__(self) -> None:
        self.by_id: dict[str, ToolCall] = {}
        self.places: dict[str, int] = {}
        self._number = 0

    def enter(self, call: ToolCall) -> ToolCall:
        """Enter a call under an id of its own: it may come without one, or with that of a call before it."""
        id = call.id if call.id and call.id not in self.by_id else self._unused()
        self.places[id] = len(self.places)
        self.by_id[id] = replace(call, id=id)
        return self.by_id[id]

    def _unused(self) -> str:
        """An id that no call has had; no number is tried twice."""
        self._number = max(self._number, len(self.by_id))
        while (id := f"call_{self._number}") in self.by_id:
            self._number += 1
        return id


class _Waiting:
    """Calls whose result has not come: by the ids that they came with, by the names of their tools, and all."""

    def __init__(self, calls: Iterable[tuple[str, ToolCall]]) -> None:
        self._by_id: dict[str, deque[ToolCall]] = {}
        self._by_name: dict[str, deque[ToolCall]] = {}
        self._all: deque[ToolCall] = deque()
        self._answered: set[str] = set()
        for id, call in calls:
            self._by_id.setdefault(id, deque()).append(call)
            self._by_name.setdefault(call.name, deque()).append(call)
            self._all.append(call)

    def tie(self, result: ToolResult) -> ToolResult:
        """A result without an id is that of the first call of its tool that has none, or else of the first."""
        if result.call_id:
            call = self._first(self._by_id.get(result.call_id))
        else:
            call = self._first(self._by_name.get(result.tool_name)) or self._first(self._all)
        if call is None:
            return result
        self._answered.add(call.id)
        return replace(result, call_id=call.id)

    def _first(self, calls: deque[ToolCall] | None) -> ToolCall | None:
        """The first that waits; those that are answered are never looked at again."""
        while calls and calls[0].id in self._answered:
            calls.popleft()
        return calls[0] if calls else None


def ordered(results: Iterable[ToolResult], calls: Mapping[str, ToolCall]) -> list[ToolResult]:
    """Results in the order of their calls, and with the names of their tools."""
    return _in_order(results, calls, {id: number for number, id in enumerate(calls)})


def _in_order(
    results: Iterable[ToolResult], calls: Mapping[str, ToolCall], places: Mapping[str, int]
) -> list[ToolResult]:
    found = sorted(results, key=lambda result: places.get(result.call_id, len(places)))
    return [_named(result, calls.get(result.call_id), number) for number, result in enumerate(found)]


def _named(result: ToolResult, call: ToolCall | None, number: int) -> ToolResult:
    name = result.tool_name or (call.name if call is not None else "")
    return replace(result, tool_name=name, index=number)
