"""What an assistant's message of chat completions holds besides text, thought and calls of functions.

| item | where it goes |
|---|---|
| `custom_tool_call`, a call of a tool that takes text | after the calls of functions (see below) |
| `audio`, a spoken answer | `audio`, by its id alone |
| `thinking_blocks` of LiteLLM | whole blocks again, with the thoughts that they sign |
| `reasoning_opaque` of GitHub Copilot | beside `reasoning_text`, the thought that it seals |

**Custom tools.** Tools that take text, their calls and results, in both ways in which OpenAI writes them; no
other provider has any.

| | chat completions | Responses |
|---|---|---|
| tool | `{"type": "custom", "custom": {"name", "description", "format"}}` | `custom`: `name`, `description`, `format` |
| its grammar | `{"type": "grammar", "grammar": {"syntax", "definition"}}` | `grammar`: `syntax`, `definition` |
| call | `{"type": "custom", "id", "custom": {"name", "input"}}` | `custom_tool_call`: `call_id`, `name`, `input` |
| result | a `tool` message like any other | `custom_tool_call_output`: `call_id`, `output` |

https://platform.openai.com/docs/guides/function-calling#custom-tools

In a message the last two are items: the call as it came, the result as Responses write it.  So a provider without such
calls leaves out both, and both are losses.

**Thoughts.** What signs or hides them: OpenRouter's `reasoning_details`, LiteLLM's `thinking_blocks`, and
`reasoning_opaque`, the text in which GitHub Copilot seals the whole thought of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import asdict, replace

from streamparse.tools import ToolResult
from streamparse.writing.answer_parts import complete_block, join_details
from streamparse.writing.content import read_blocks
from streamparse.writing.definitions import CustomTool
from streamparse.writing.json_access import Template, drop_empty, fill_template, get_objects, get_str, read_template
from streamparse.writing.parts import Item, Message, Part, Thought, is_item
from streamparse.writing.results import read_text_result, write_result_text
from streamparse.writing.traits import IdPolicy

BLOCKS: Final = "thinking_blocks"
OPAQUE: Final = "reasoning_opaque"
CALL_EXTRAS: Final = ("extra_content", "provider_specific_fields")
"""What a call holds for its provider, most often a signature: at Google's own server, and at LiteLLM."""
_FORMAT: Final = "anthropic-claude-v1"


class ThinkingBlocks:
    """Gathers LiteLLM's blocks, each with the thought before it; `think` takes a piece of that."""

    def __init__(self) -> None:
        self._thought: list[str] = []
        self.think: Callable[[str], None] = self._thought.append
        self.whole: list[dict[str, Any]] = []

    def add(self, block: Any) -> None:
        """Take the end of a block, as the server sent it."""
        if isinstance(block, dict):
            self.whole.append(complete_block(block, "".join(self._thought)))
        self._thought.clear()


def join_thinking_blocks(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return LiteLLM's blocks in the parts of a message or of a whole answer."""
    blocks = ThinkingBlocks()
    for part in parts:
        if isinstance(part, Thought):
            blocks.think(part.text)
        elif is_item(part, BLOCKS):
            blocks.add(part.data)
    return blocks.whole


def join_reasoning_details(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return the entries of `reasoning_details` in the parts of a whole answer, each signature with its thought."""
    pieces: list[str | dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Thought):
            pieces.append(part.text)
        elif isinstance(part, Item) and (detail := read_detail(part.kind, part.data)) is not None:
            pieces.append(detail)
    return [entry | {"index": place} for place, entry in enumerate(join_details(pieces))]


def read_detail(kind: str, data: Any) -> dict[str, Any] | None:
    """Return an item as a piece of `reasoning_details`, if it signs or hides a thought."""
    if kind.startswith("reasoning.") and isinstance(data, dict):
        return data
    if kind == "signature":
        return {"type": "reasoning.text", "signature": data, "format": _FORMAT}
    if kind == "redacted_thinking" and isinstance(data, dict):
        return {"type": "reasoning.encrypted", "data": data.get("data"), "format": _FORMAT}
    return None


# -- custom tools ----------------------------------------------------------------------------------

CUSTOM_CALL: Final = "custom_tool_call"
CUSTOM_OUTPUT: Final = "custom_tool_call_output"
_TOOL_FIELDS: Final = {"name": "$name", "description": "$description?", "format": "$format?"}
_CALL_FIELDS: Final = {"name": "$name", "input": "$input"}
_CHAT_CALL: Final = {"id": "$id", "type": "custom", "custom": _CALL_FIELDS}
_ITEM_CALL: Final = {"type": CUSTOM_CALL, "call_id": "$id", **_CALL_FIELDS}


def write_chat_tool(tool: CustomTool) -> dict[str, Any]:
    """Write a tool that takes text as chat completions declare it."""
    form = tool.format
    if form.get("type") == "grammar":
        form = {"type": "grammar", "grammar": {key: value for key, value in form.items() if key != "type"}}
    return fill_template({"type": "custom", "custom": _TOOL_FIELDS}, {**asdict(tool), "format": form})


def write_item_tool(tool: CustomTool) -> dict[str, Any]:
    """Write a tool that takes text as Responses declare it."""
    return fill_template({"type": "custom", **_TOOL_FIELDS}, asdict(tool))


def write_chat_call(call: Any, ids: IdPolicy) -> dict[str, Any]:
    """Write a call as chat completions take it."""
    if get_str(call, "type") == "custom":
        return {**call, "id": ids.normalize(get_str(call, "id"))}
    return _rewrite_call(call, _ITEM_CALL, _CHAT_CALL, ids)


def write_item_call(call: Any, ids: IdPolicy) -> dict[str, Any]:
    """Write a call as Responses take it."""
    if isinstance(call, dict) and get_str(call, "type") == CUSTOM_CALL:
        return call
    return _rewrite_call(call, _CHAT_CALL, _ITEM_CALL, ids)


def _rewrite_call(call: Any, source: Template, target: Template, ids: IdPolicy) -> dict[str, Any]:
    found = read_template(source, call)
    values = {name: get_str(found, name) for name in found}
    return fill_template(target, {**values, "id": ids.normalize(values["id"])})


def is_custom_output(part: Part) -> bool:
    """Whether a part is the result of such a call."""
    return is_item(part, CUSTOM_OUTPUT) and isinstance(part.data, Mapping)


def read_custom_output(part: Item) -> Part:
    """Return the result of such a call as any other; another item stays as it is."""
    if not is_custom_output(part):
        return part
    return read_text_result(get_str(part.data, "call_id"), "", read_blocks(part.data.get("output")))


def mark_custom_outputs(messages: Iterable[Message]) -> Iterator[Message]:
    """Make items of the results of such calls: in chat completions only a result's id shows what it answers."""
    waiting: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            customs = [part.data for part in message.parts if is_item(part, CUSTOM_CALL)]
            found = {get_str(call, "id") for call in customs}
            waiting = found if found or message.calls else waiting
        yield replace(message, parts=[_mark_output(part, waiting) for part in message.parts]) if waiting else message


def _mark_output(part: Part, waiting: set[str]) -> Part:
    if not isinstance(part, ToolResult) or part.call_id not in waiting:
        return part
    waiting.remove(part.call_id)
    return Item(CUSTOM_OUTPUT, {"type": CUSTOM_OUTPUT, "call_id": part.call_id, "output": write_result_text(part)})


EXTRA_KINDS: Final = (CUSTOM_CALL, CUSTOM_OUTPUT, "audio", BLOCKS, OPAQUE)
"""The items that have a place of their own; results of custom calls have it after the message."""


def write_custom_calls(parts: Iterable[Part], ids: IdPolicy) -> list[dict[str, Any]]:
    """Write the calls of tools that take text."""
    return [write_chat_call(part.data, ids) for part in parts if is_item(part, CUSTOM_CALL)]


def write_audio(parts: Iterable[Part]) -> dict[str, Any]:
    """Write the field that names a spoken answer; a stream gives its id once, in any of its pieces."""
    pieces = (part.data for part in parts if is_item(part, "audio"))
    ids = (get_str(piece, "id") for piece in pieces)
    return next(({"audio": {"id": id}} for id in ids if id), {})


def write_signed_thoughts(parts: Iterable[Part]) -> dict[str, Any]:
    """Write the fields for LiteLLM's blocks of thought, and for Copilot's sealed one, if there are any."""
    parts = list(parts)
    return {**drop_empty(thinking_blocks=join_thinking_blocks(parts)), **_write_sealed_thought(parts)}


def _write_sealed_thought(parts: list[Part]) -> dict[str, Any]:
    """Write the last sealed thought: a message has a place for one."""
    seals = [(place, part.data) for place, part in enumerate(parts) if is_item(part, OPAQUE)]
    if not seals:
        return {}
    (begin, _), (end, sealed) = [(0, None), *seals][-2:]
    thought = "".join(part.text for part in parts[begin:end] if isinstance(part, Thought))
    return {**drop_empty(reasoning_text=thought), OPAQUE: sealed}


def read_extras(written: Mapping[str, Any]) -> list[Part]:
    """Read the custom calls and the spoken answer of a message."""
    customs = [call for call in get_objects(written.get("tool_calls")) if get_str(call, "type") == "custom"]
    found: list[Part] = [Item(CUSTOM_CALL, dict(call)) for call in customs]
    return found + [Item("audio", dict(audio)) for audio in get_objects([written.get("audio")])]


_ENTRIES: Final = ((BLOCKS, BLOCKS, ("thinking",)), ("reasoning_details", "", ("text", "summary")))
"""Fields that list thoughts: the kind of an entry as an item, else its `type`, and the keys of its text."""


def read_signed_thoughts(written: Mapping[str, Any]) -> list[Part]:
    """Read the thoughts of a message that say more than their text: Copilot's, LiteLLM's and OpenRouter's."""
    parts: list[Part] = []
    if sealed := get_str(written, OPAQUE):
        text = get_str(written, "reasoning_text")
        parts = [*([Thought(text)] if text else []), Item(OPAQUE, sealed)]
    for field, kind, texts in _ENTRIES:
        for entry in get_objects(written.get(field)):
            text = next(filter(None, (get_str(entry, key) for key in texts)), "")
            parts += [Thought(text)] if text else []
            parts += [Item(kind or get_str(entry, "type"), dict(entry))] if {"signature", "data"} & entry.keys() else []
    return parts
