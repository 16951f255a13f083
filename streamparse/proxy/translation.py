"""What the server is asked, of what a client asked in its own way.

In the server's own wire a request stays as it is.  With `tools="prompt"` the tools leave it
(`adapters.requests.teaching`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from streamparse.dialects import Dialects
from streamparse.loss import Loss
from streamparse.providers.adapters import READERS, write_request
from streamparse.proxy.history import read_turns, written_turns
from streamparse.writing.prompts import PROMPTS, teach_tools

__all__ = ["dialect_to_teach", "dialects_to_read", "for_server", "speaks_of_tools"]

_PROVIDERS: Final = {"openai-chat": "openai", "ollama-chat": "ollama"}
"""The providers that are called otherwise than their wires."""
_REWRITTEN: Final = ("tools", "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs")
"""The settings that a server without tools is not told of."""
_OF_TURNS: Final = ("messages", "system")
_OF_CALLS: Final = ("tool_calls", "function_call", "tool_call_id", "tool_name")
_BLOCKS_OF_CALLS: Final = ("tool_use", "tool_result")
_DEFAULT_DIALECT: Final = "hermes"


def dialect_to_teach(dialects: Dialects) -> str:
    """The dialect in which a server's model is asked to write calls; raises ValueError if none of them has a prompt."""
    chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
    names = [each if isinstance(each, str) else each.name for each in chosen]
    known = [name for name in names if name in PROMPTS]
    if not known and ("auto" in names or "all" in names):
        return _DEFAULT_DIALECT
    if not known:
        raise ValueError(f"no dialect of {names} has a prompt; those that have are: {', '.join(PROMPTS)}")
    return known[0]


def dialects_to_read(dialects: Dialects, teaches: bool) -> Dialects:
    """The dialects to look for in an answer: a model that was taught one writes it, whatever its server's wire is."""
    chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
    return (dialect_to_teach(chosen), *chosen) if teaches else dialects


def speaks_of_tools(request: Mapping[str, Any]) -> bool:
    """Whether a request declares tools, or tells of calls in its history: a server without tools knows of neither."""
    messages = request.get("messages")
    said = messages if isinstance(messages, list) else []
    return bool(request.get("tools")) or any(_tells_of_calls(message) for message in said)


def _tells_of_calls(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return any(message.get(key) for key in _OF_CALLS) or any(block.get("type") in _BLOCKS_OF_CALLS for block in blocks)


def for_server(
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
        read = replace(read, messages=read_turns(request, read, source))
    asked = read if dialect is None else teach_tools(read, dialect, lost)
    if source == target:
        kept = _kept(request, written_turns(asked, source, lost))
        return kept, [loss for loss in lost if loss.place != "request" or loss.keyword in _REWRITTEN]
    written = write_request(asked, _PROVIDERS.get(target, target), lost)
    if target == "openai-chat" and asked.stream:
        written["stream_options"] = {"include_usage": True}  # other wires always tell the counts
    return written, lost


def _kept(request: Mapping[str, Any], history: dict[str, Any]) -> dict[str, Any]:
    """A request in its own wire with other turns: all else is the server's to understand.

    The probabilities of tokens would be those of a text in which calls are written, and not those of the answer.
    """
    kept = {key: value for key, value in request.items() if key not in (*_REWRITTEN, *_OF_TURNS)}
    return kept | history
