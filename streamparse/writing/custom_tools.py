"""Tools that take text, their calls and results, in both ways in which OpenAI writes them; nobody else has any.

| | chat completions | Responses |
|---|---|---|
| tool | `{"type": "custom", "custom": {"name", "description", "format"}}` | `custom`: `name`, `description`, `format` |
| its grammar | `{"type": "grammar", "grammar": {"syntax", "definition"}}` | `grammar`: `syntax`, `definition` |
| call | `{"type": "custom", "id", "custom": {"name", "input"}}` | `custom_tool_call`: `call_id`, `name`, `input` |
| result | a `tool` message like any other | `custom_tool_call_output`: `call_id`, `output` |

https://platform.openai.com/docs/guides/function-calling#custom-tools

In a turn the last two are items: the call as it came, the result as Responses write it.  So who has no such calls
leaves out both, and tells of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from streamparse.tools import ToolResult
from streamparse.writing.content import read_blocks, result_heard, spoken
from streamparse.writing.json_access import present, string
from streamparse.writing.naming import Ids
from streamparse.writing.parts import Item, Part, Turn

__all__ = [
    "CALL",
    "OUTPUT",
    "TextTool",
    "answered",
    "chat_call",
    "chat_tool",
    "heard_output",
    "is_output",
    "read_text_tool",
    "responses_call",
    "responses_tool",
]

CALL: Final = "custom_tool_call"
OUTPUT: Final = "custom_tool_call_output"


class TextTool(msgspec.Struct, frozen=True):
    """A tool that takes text; `form` is the format of it, as Responses say it."""

    name: str
    description: str = ""
    form: dict[str, Any] = {}


def read_text_tool(definition: Mapping[str, Any]) -> TextTool | None:
    """The tool that takes text, of either definition; None if it is none, or says more than this."""
    inner = definition.get("custom", definition)
    if definition.get("type") != "custom" or not isinstance(inner, Mapping) or not string(inner, "name"):
        return None
    if inner.keys() - {"type", "name", "description", "format"}:
        return None
    form = inner.get("format")
    said = {**form, **(_grammar(form) or {})} if isinstance(form, Mapping) else {}
    said.pop("grammar", None)
    return TextTool(string(inner, "name"), string(inner, "description"), said)


def _grammar(form: Mapping[str, Any]) -> Mapping[str, Any] | None:
    grammar = form.get("grammar")
    return grammar if isinstance(grammar, Mapping) else None


def chat_tool(tool: TextTool) -> dict[str, Any]:
    """A tool that takes text as chat completions declare it."""
    rest = {key: value for key, value in tool.form.items() if key != "type"}
    form = {"type": "grammar", "grammar": rest} if tool.form.get("type") == "grammar" else tool.form
    return {"type": "custom", "custom": {"name": tool.name, **present(description=tool.description), **_form(form)}}


def responses_tool(tool: TextTool) -> dict[str, Any]:
    """A tool that takes text as Responses declare it."""
    return {"type": "custom", "name": tool.name, **present(description=tool.description), **_form(tool.form)}


def _form(form: dict[str, Any]) -> dict[str, Any]:
    return {"format": form} if form else {}


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
