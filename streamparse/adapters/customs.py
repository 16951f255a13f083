"""Calls of tools that take text, and their results, in both ways in which OpenAI writes them; nobody else has any.

| | chat completions | Responses |
|---|---|---|
| call | `{"type": "custom", "id", "custom": {"name", "input"}}` | `custom_tool_call`: `call_id`, `name`, `input` |
| result | a `tool` message like any other | `custom_tool_call_output`: `call_id`, `output` |

https://platform.openai.com/docs/guides/function-calling#custom-tools

In a turn both are items: the call as it came, the result as Responses write it.  So who has no such calls leaves out
both, and tells of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from streamparse.adapters.content import read_blocks, result_heard, spoken
from streamparse.adapters.parts import Item, Part, Turn
from streamparse.adapters.rules import Ids
from streamparse.adapters.values import string
from streamparse.tools import ToolResult

__all__ = ["CALL", "OUTPUT", "answered", "chat_call", "heard_output", "is_output", "responses_call"]

CALL: Final = "custom_tool_call"
OUTPUT: Final = "custom_tool_call_output"


def chat_call(call: Any, ids: Ids) -> dict[str, Any]:
    """A call as chat completions take it."""
    if string(call, "type") == "custom":
        return {**call, "id": ids.fit(string(call, "id"))}
    custom = {"name": string(call, "name"), "input": string(call, "input")}
    return {"id": ids.fit(string(call, "call_id")), "type": "custom", "custom": custom}


def responses_call(call: Any, ids: Ids) -> dict[str, Any]:
    """A call as Responses take it."""
    if isinstance(call, dict) and string(call, "type") == CALL:
        return call
    name, text = string(call, "custom", "name"), string(call, "custom", "input")
    return {"type": CALL, "call_id": ids.fit(string(call, "id")), "name": name, "input": text}


def is_output(part: Part) -> bool:
    """Whether a part is the result of such a call."""
    return isinstance(part, Item) and part.kind == OUTPUT and isinstance(part.data, Mapping)


def heard_output(part: Part) -> Part:
    """The result of such a call as any other; another part stays as it is."""
    if not isinstance(part, Item) or not is_output(part):
        return part
    return result_heard(string(part.data, "call_id"), "", read_blocks(part.data.get("output")))


def answered(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns of chat completions, where only its id tells what a result answers: those of such calls as items."""
    waiting: set[str] = set()
    for turn in turns:
        if turn.role == "assistant":
            found = {string(part.data, "id") for part in turn.parts if isinstance(part, Item) and part.kind == CALL}
            waiting = found if found or turn.calls else waiting
        yield replace(turn, parts=[_output(part, waiting) for part in turn.parts]) if waiting else turn


def _output(part: Part, waiting: set[str]) -> Part:
    if not isinstance(part, ToolResult) or part.call_id not in waiting:
        return part
    waiting.remove(part.call_id)
    return Item(OUTPUT, {"type": OUTPUT, "call_id": part.call_id, "output": spoken(part)})
