"""What an assistant's message of chat completions holds beside text, thought and calls of functions.

| item | where it goes |
|---|---|
| `custom_tool_call`, a call of a tool that takes text | behind the calls of functions (see below) |
| `audio`, an answer that was spoken | `audio`, by its id alone |
| `thinking_blocks` of LiteLLM | whole blocks again, with the thoughts that they sign |

**Custom tools.** Tools that take text, their calls and results, in both ways in which OpenAI writes them; nobody
else has any.

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

from msgspec.structs import replace

from streamparse.tools import ToolResult
from streamparse.writing.answer_parts import complete_block
from streamparse.writing.content import read_blocks
from streamparse.writing.definitions import CustomTool
from streamparse.writing.json_access import drop_empty, get_objects, get_str
from streamparse.writing.parts import Item, Part, Thought, Turn
from streamparse.writing.results import read_text_result, write_result_text
from streamparse.writing.traits import IdPolicy

CUSTOM_CALL: Final = "custom_tool_call"
CUSTOM_OUTPUT: Final = "custom_tool_call_output"


def write_chat_tool(tool: CustomTool) -> dict[str, Any]:
    """A tool that takes text as chat completions declare it."""
    rest = {key: value for key, value in tool.format.items() if key != "type"}
    form = {"type": "grammar", "grammar": rest} if tool.format.get("type") == "grammar" else tool.format
    return {"type": "custom", "custom": {"name": tool.name, **drop_empty(description=tool.description), **_form(form)}}


def write_item_tool(tool: CustomTool) -> dict[str, Any]:
    """A tool that takes text as Responses declare it."""
    return {"type": "custom", "name": tool.name, **drop_empty(description=tool.description), **_form(tool.format)}


def _form(form: dict[str, Any]) -> dict[str, Any]:
    return {"format": form} if form else {}


def write_chat_call(call: Any, ids: IdPolicy) -> dict[str, Any]:
    """A call as chat completions take it."""
    if get_str(call, "type") == "custom":
        return {**call, "id": ids.normalize(get_str(call, "id"))}
    custom = {"name": get_str(call, "name"), "input": get_str(call, "input")}
    return {"id": ids.normalize(get_str(call, "call_id")), "type": "custom", "custom": custom}


def write_item_call(call: Any, ids: IdPolicy) -> dict[str, Any]:
    """A call as Responses take it."""
    if isinstance(call, dict) and get_str(call, "type") == CUSTOM_CALL:
        return call
    name, text = get_str(call, "custom", "name"), get_str(call, "custom", "input")
    return {"type": CUSTOM_CALL, "call_id": ids.normalize(get_str(call, "id")), "name": name, "input": text}


def is_custom_output(part: Part) -> bool:
    """Whether a part is the result of such a call."""
    return isinstance(part, Item) and part.kind == CUSTOM_OUTPUT and isinstance(part.data, Mapping)


def read_custom_output(part: Part) -> Part:
    """The result of such a call as any other; another part stays as it is."""
    if not isinstance(part, Item) or not is_custom_output(part):
        return part
    return read_text_result(get_str(part.data, "call_id"), "", read_blocks(part.data.get("output")))


def mark_custom_outputs(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns of chat completions, where only its id tells what a result answers: those of such calls as items."""
    waiting: set[str] = set()
    for turn in turns:
        if turn.role == "assistant":
            found = {
                get_str(part.data, "id") for part in turn.parts if isinstance(part, Item) and part.kind == CUSTOM_CALL
            }
            waiting = found if found or turn.calls else waiting
        yield replace(turn, parts=[_output(part, waiting) for part in turn.parts]) if waiting else turn


def _output(part: Part, waiting: set[str]) -> Part:
    if not isinstance(part, ToolResult) or part.call_id not in waiting:
        return part
    waiting.remove(part.call_id)
    return Item(CUSTOM_OUTPUT, {"type": CUSTOM_OUTPUT, "call_id": part.call_id, "output": write_result_text(part)})


EXTRA_KINDS = (CUSTOM_CALL, CUSTOM_OUTPUT, "audio", "thinking_blocks")
"""The items that have a place of their own; results of custom calls have it behind the message."""


def write_custom_calls(parts: Iterable[Part], ids: IdPolicy) -> list[dict[str, Any]]:
    """The calls of tools that take text."""
    return [write_chat_call(part.data, ids) for part in parts if isinstance(part, Item) and part.kind == CUSTOM_CALL]


def write_audio(parts: Iterable[Part]) -> dict[str, Any]:
    """The field that names an answer that was spoken; a stream tells its id once, in some piece."""
    pieces = (part.data for part in parts if isinstance(part, Item) and part.kind == "audio")
    ids = (get_str(piece, "id") for piece in pieces)
    return next(({"audio": {"id": id}} for id in ids if id), {})


def write_thinking_blocks(parts: Iterable[Part]) -> dict[str, Any]:
    """The field for LiteLLM's blocks of thought, if there are any."""
    texts: list[str] = []
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Thought):
            texts.append(part.text)
        elif isinstance(part, Item) and part.kind == "thinking_blocks" and isinstance(part.data, dict):
            blocks.append(complete_block(part.data, "".join(texts)))
            texts = []
    return drop_empty(thinking_blocks=blocks)


def read_extras(message: Mapping[str, Any]) -> list[Part]:
    """The custom calls and the spoken answer of a message."""
    customs = [call for call in get_objects(message.get("tool_calls")) if get_str(call, "type") == "custom"]
    found: list[Part] = [Item(CUSTOM_CALL, dict(call)) for call in customs]
    return found + [Item("audio", dict(audio)) for audio in get_objects([message.get("audio")])]


def read_thinking_blocks(message: Mapping[str, Any]) -> list[Part]:
    """LiteLLM's blocks of thought in a message."""
    parts: list[Part] = []
    for block in get_objects(message.get("thinking_blocks")):
        text = get_str(block, "thinking")
        parts += [Thought(text)] if text else []
        parts += [Item("thinking_blocks", dict(block))] if {"signature", "data"} & block.keys() else []
    return parts
