"""What the server is asked, of what a client asked in its own way.

In the server's own wire a request stays as it is.  With `tools="prompt"` the tools leave it (`providers.teaching`), and
its conversation is read, changed and written in one wire: what need not change is kept as it came.  Chat servers have
many fields for thought (`reasoning_content`, `reasoning`, `reasoning_details` with its signatures, `thinking_blocks`),
and each of them knows its own: they are neither read nor written anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from streamparse.dialects import Dialects
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, READERS, write_request
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.writing.adapter import Adapter
from streamparse.writing.parts import Item, Part, Turn
from streamparse.writing.prompts import PROMPTS, teach_tools
from streamparse.writing.request import Request, join_system_text

_PROVIDERS: Final = {"openai-chat": "openai", "ollama-chat": "ollama"}
"""The providers whose names are not those of their wires."""
_REWRITTEN: Final = ("tools", "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs")
"""The settings that are kept from a server without tools."""
_OF_TURNS: Final = ("messages", "system")
_OF_CALLS: Final = ("tool_calls", "function_call", "tool_call_id", "tool_name")
_BLOCKS_OF_CALLS: Final = ("tool_use", "tool_result")
_DEFAULT_DIALECT: Final = "hermes"
_THOUGHT: Final = "thought as it came"
_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")


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
    return any(message.get(key) for key in _OF_CALLS) or any(block.get("type") in _BLOCKS_OF_CALLS for block in blocks)


def translate_request(
    request: Mapping[str, Any], source: str, target: str, dialect: str | None
) -> tuple[dict[str, Any], list[Loss]]:
    """Return the request in the words of the wire `target`, and what it could not say.

    With a `dialect` the tools are taught in it, and not handed over.
    """
    lost: list[Loss] = []
    if source == target and dialect is None:
        return dict(request), lost
    read = READERS[_PROVIDERS.get(source, source)](request, lost)
    if source == target:
        read = replace(read, turns=read_turns(request, read, source))
    asked = read if dialect is None else teach_tools(read, dialect, lost)
    if source == target:
        kept = _replace_turns(request, write_turns(asked, source, lost))
        return kept, [loss for loss in lost if loss.place != "request" or loss.keyword in _REWRITTEN]
    written = write_request(asked, _PROVIDERS.get(target, target), lost)
    if target == "openai-chat" and asked.stream:
        written["stream_options"] = {"include_usage": True}  # other wires always send the counts
    return written, lost


def _replace_turns(request: Mapping[str, Any], history: dict[str, Any]) -> dict[str, Any]:
    """Return a request in its own wire with other turns; all else is left to the server.

    The probabilities of tokens would be those of a text in which calls are written, and not those of the answer.
    """
    kept = {key: value for key, value in request.items() if key not in (*_REWRITTEN, *_OF_TURNS)}
    return kept | history


class _Chat(OpenAI):
    """Chat completions between two sides that both know the fields of thought."""

    def has_place_for(self, item: Item, /) -> bool:
        return item.kind == _THOUGHT or super().has_place_for(item)

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        fields = {field: message[field] for field in _FIELDS if message.get(field)}
        return [Item(_THOUGHT, fields)] if fields else []

    def write_thought(self, turn: Turn, _lost: list[Loss], /) -> dict[str, Any]:
        return next((part.data for part in turn.parts if isinstance(part, Item) and part.kind == _THOUGHT), {})


_WRITERS: Final[Mapping[str, Adapter]] = {
    "openai-chat": _Chat(),
    "anthropic": ADAPTERS["anthropic"],
    "ollama-chat": ADAPTERS["ollama"],
}
"""What writes a history, by the wire that both sides speak."""


def read_turns(request: Mapping[str, Any], read: Request, wire: str) -> list[Turn]:
    """Return the turns of a request, as `write_turns` writes them; `read` is what was read of it for any other."""
    return _WRITERS[wire].read_messages(request.get("messages"), []) if wire == "openai-chat" else read.turns


def write_turns(asked: Request, wire: str, lost: list[Loss]) -> dict[str, Any]:
    """Return the fields of a request that hold its turns, in the words of the wire that they came in."""
    adapter = _WRITERS[wire]
    if not adapter.traits.separate_system:
        return {"messages": adapter.write_messages(asked.turns, lost)}
    messages = adapter.write_messages([turn for turn in asked.turns if turn.role != "system"], lost)
    system = join_system_text(asked, lost)
    return {"messages": messages, **({"system": system} if system else {})}
