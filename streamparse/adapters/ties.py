"""What ties a result to its call: its id, or where a provider has none, the tool's name and the order.

A conversation may come without ids (Ollama, Gemini), and results without names (OpenAI, Anthropic, Bedrock) or in
another order than their calls.  After `tied` every call has an id, every result that of its call and the name of its
tool, and the results of one turn stand in the order of the calls, before all else.
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
    waiting: list[ToolCall] = []  # calls whose result has not come
    numbers = count()
    for turn in turns:
        if turn.role == "assistant":
            parts = [_with_id(part, numbers) for part in turn.parts]
            found = [part for part in parts if isinstance(part, ToolCall)]
            calls |= {call.id: call for call in found}
            waiting = found or waiting
            yield Turn(turn.role, parts)
        elif turn.results:
            results = [_with_call(result, waiting) for result in turn.results]
            others = [part for part in turn.parts if not isinstance(part, ToolResult)]
            yield Turn(turn.role, [*ordered(results, calls), *others])
        else:
            yield turn


def _with_id(part: Part, numbers: Iterator[int]) -> Part:
    """A call of a conversation without ids gets one."""
    if not isinstance(part, ToolCall):
        return part
    number = next(numbers)
    return part if part.id else replace(part, id=f"call_{number}")


def _with_call(result: ToolResult, waiting: list[ToolCall]) -> ToolResult:
    """A result without an id is that of the first call of its tool that has none, or else of the first."""
    known = [call for call in waiting if call.id == result.call_id]
    named = [call for call in waiting if call.name == result.tool_name]
    call = next(iter(known or (() if result.call_id else named or waiting)), None)
    if call is None:
        return result
    waiting.remove(call)
    return replace(result, call_id=call.id)


def ordered(results: Iterable[ToolResult], calls: dict[str, ToolCall]) -> list[ToolResult]:
    """Results in the order of their calls, and with the names of their tools."""
    places = {id: number for number, id in enumerate(calls)}
    found = sorted(results, key=lambda result: places.get(result.call_id, len(places)))
    return [_named(result, calls.get(result.call_id), number) for number, result in enumerate(found)]


def _named(result: ToolResult, call: ToolCall | None, number: int) -> ToolResult:
    name = result.tool_name or (call.name if call is not None else "")
    return replace(result, tool_name=name, index=number)
