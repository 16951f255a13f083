"""What ties a result to its call: its id, or where a provider has none, the tool's name and the order.

A conversation may come without ids (Ollama, Gemini), or with the same ids in each turn (those of servers and parsers
that count anew), and results without names (OpenAI, Anthropic, Bedrock) or in another order than their calls.  After
`tied` every call has an id of its own (Anthropic refuses one that comes twice), every result that of its call and the
name of its tool, and the results of one turn stand in the order of the calls, before all else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from msgspec.structs import replace

from streamparse.adapters.parts import Part, Turn
from streamparse.response import ToolCall
from streamparse.tools import ToolResult

__all__ = ["ordered", "tied"]


def tied(turns: Iterable[Turn]) -> list[Turn]:
    """The turns of a conversation, each result tied to its call."""
    return list(_tied(turns))


def _tied(turns: Iterable[Turn]) -> Iterator[Turn]:
    calls: dict[str, ToolCall] = {}
    waiting: list[tuple[str, ToolCall]] = []  # calls whose result has not come, and the ids that they came with
    for turn in turns:
        if turn.role == "assistant":
            parts = [_with_id(part, calls) for part in turn.parts]
            pairs = zip(turn.parts, parts, strict=True)
            found = [(old.id, new) for old, new in pairs if isinstance(old, ToolCall) and isinstance(new, ToolCall)]
            waiting = found or waiting
            yield replace(turn, parts=parts)
        elif turn.results:
            results = [_with_call(result, waiting) for result in turn.results]
            others = [part for part in turn.parts if not isinstance(part, ToolResult)]
            yield replace(turn, parts=[*ordered(results, calls), *others])
        else:
            yield turn


def _with_id(part: Part, calls: dict[str, ToolCall]) -> Part:
    """Enter a call under an id of its own: it may come without one, or with that of a call before it."""
    if not isinstance(part, ToolCall):
        return part
    id = part.id
    for number in count(len(calls)):
        if id and id not in calls:
            break
        id = f"call_{number}"
    calls[id] = replace(part, id=id)
    return calls[id]


def _with_call(result: ToolResult, waiting: list[tuple[str, ToolCall]]) -> ToolResult:
    """A result without an id is that of the first call of its tool that has none, or else of the first."""
    known = [pair for pair in waiting if pair[0] == result.call_id]
    named = [pair for pair in waiting if pair[1].name == result.tool_name]
    pair = next(iter(known if result.call_id else named or waiting), None)
    if pair is None:
        return result
    waiting.remove(pair)
    return replace(result, call_id=pair[1].id)


def ordered(results: Iterable[ToolResult], calls: dict[str, ToolCall]) -> list[ToolResult]:
    """Results in the order of their calls, and with the names of their tools."""
    places = {id: number for number, id in enumerate(calls)}
    found = sorted(results, key=lambda result: places.get(result.call_id, len(places)))
    return [_named(result, calls.get(result.call_id), number) for number, result in enumerate(found)]


def _named(result: ToolResult, call: ToolCall | None, number: int) -> ToolResult:
    name = result.tool_name or (call.name if call is not None else "")
    return replace(result, tool_name=name, index=number)
