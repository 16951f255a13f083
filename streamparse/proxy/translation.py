"""A client's request in the words of the server's wire.

In the server's own wire a request stays as it is.  With `tools="prompt"` the tools move to its system prompt
(`teach_tools`): its conversation is read, changed and written in one wire, and what need not change is kept as it came.
Chat servers have many fields for thought (`reasoning_content`, `reasoning`, `reasoning_details` with its signatures,
`thinking_blocks`), and each server knows its own: they are neither read nor written anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from streamparse.dialects import Dialects
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, READERS, write_request
from streamparse.providers.names import ADAPTER_OF_WIRE
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.writing.adapter import Adapter
from streamparse.writing.parts import Item, Message, Part
from streamparse.writing.prompts import PROMPTS, teach_tools
from streamparse.writing.request import Request
from streamparse.writing.request_format import join_system_text

_REWRITTEN: Final = ("tools", "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs")
"""The settings that are kept from a server without tools."""
_TURN_FIELDS: Final = ("messages", "system")
_CALL_FIELDS: Final = ("tool_calls", "function_call", "tool_call_id", "tool_name")
_CALL_BLOCKS: Final = ("tool_use", "tool_result")
_DEFAULT_DIALECT: Final = "hermes"
_THOUGHT: Final = "thought as it came"
_THOUGHT_FIELDS: Final = (
    "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "reasoning_text", "reasoning_opaque"
)  # fmt: skip


def choose_dialect_to_teach(dialects: Dialects) -> str:
    """Return the dialect in which a model is asked to write calls; raise ValueError if none of them has a prompt."""
    chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
    names = [each if isinstance(each, str) else each.name for each in chosen]
    known = [name for name in names if name in PROMPTS]
    if not known and ("auto" in names or "all" in names):
        return _DEFAULT_DIALECT
    if not known:
        raise ValueError(f"no dialect of {names} has a prompt; those that have are: {', '.join(PROMPTS)}")
    return known[0]


def choose_dialects_to_read(dialects: Dialects, teaches: bool) -> Dialects:
    """Return the dialects to look for: a model that was taught one writes it, whatever its server's wire is."""
    chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
    return (choose_dialect_to_teach(chosen), *chosen) if teaches else dialects


def has_tools(request: Mapping[str, Any]) -> bool:
    """Whether a request declares tools, or has calls in its history: a server without tools knows neither."""
    messages = request.get("messages")
    history = messages if isinstance(messages, list) else []
    return bool(request.get("tools")) or any(map(_has_calls, history))


def _has_calls(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return any(message.get(key) for key in _CALL_FIELDS) or any(block.get("type") in _CALL_BLOCKS for block in blocks)


def translate_request(
    request: Mapping[str, Any], source: str, target: str, dialect: str | None
) -> tuple[dict[str, Any], list[Loss]]:
    """Return the request in the words of the wire `target`, and what is lost.

    With a `dialect` the tools are taught in it, and not handed over; without, the two wires differ.
    """
    lost: list[Loss] = []
    read = READERS[ADAPTER_OF_WIRE[source]](request, lost)
    if source == target and dialect is not None:
        taught = _teach_in_place(request, read, source, dialect, lost)
        return taught, [loss for loss in lost if loss.place != "request" or loss.keyword in _REWRITTEN]
    asked = read if dialect is None else teach_tools(read, dialect, lost)
    written = write_request(asked, ADAPTER_OF_WIRE[target], lost)
    if target == "openai-chat" and asked.stream:
        written["stream_options"] = {"include_usage": True}  # other wires always send the counts
    return written, lost


def _teach_in_place(
    request: Mapping[str, Any], read: Request, wire: str, dialect: str, lost: list[Loss]
) -> dict[str, Any]:
    """Return a request in its own wire whose tools are taught in a dialect; only its turns are written anew."""
    adapter = _ADAPTERS[wire]
    if wire == "openai-chat":
        read = replace(read, messages=adapter.read_messages(request.get("messages"), []))
    asked = teach_tools(read, dialect, lost)
    # The probabilities of tokens would be those of a text in which calls are written, and not those of the answer.
    taught = {key: value for key, value in request.items() if key not in (*_REWRITTEN, *_TURN_FIELDS)}
    turns = asked.messages
    if adapter.traits.separate_system:
        turns = [turn for turn in turns if turn.role != "system"]
        if system := join_system_text(asked, lost):
            taught["system"] = system
    return taught | {"messages": adapter.write_messages(turns, lost)}


class _Chat(OpenAI):
    """Chat completions between two sides that both know the fields of thought."""

    def has_place_for(self, item: Item, /) -> bool:
        return item.kind == _THOUGHT or super().has_place_for(item)

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        fields = {field: message[field] for field in _THOUGHT_FIELDS if message.get(field)}
        return [Item(_THOUGHT, fields)] if fields else []

    def write_thought(self, message: Message, _lost: list[Loss], /) -> dict[str, Any]:
        return next((part.data for part in message.parts if isinstance(part, Item) and part.kind == _THOUGHT), {})


_ADAPTERS: Final[Mapping[str, Adapter]] = {
    "openai-chat": _Chat(),
    "anthropic": ADAPTERS["anthropic"],
    "ollama-chat": ADAPTERS["ollama"],
}
"""What reads and writes the turns of a request, by the wire that both sides speak."""
