"""What the server is asked, of what a client asked in its own way.

In the server's own wire a request stays as it is.  With `tools="prompt"` the tools leave it: the system's turn teaches
them, calls of the history become what the model would have written, and results become text of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from streamparse.adapters import PROMPTS, Text, Turn, format_calls_as_text, format_system_prompt
from streamparse.adapters.content import spoken
from streamparse.adapters.loss import Loss
from streamparse.adapters.parts import Part
from streamparse.adapters.requests import READERS, REQUEST_WRITERS, Choice, Request
from streamparse.parser import Dialects
from streamparse.response import ToolCall
from streamparse.tools import ToolResult

__all__ = ["dialect_to_teach", "for_server", "speaks_of_tools", "taught"]

_PROVIDERS: Final = {"openai-chat": "openai", "anthropic": "anthropic", "ollama-chat": "ollama"}
_OF_TOOLS: Final = ("tools", "tool_choice", "parallel_tool_calls")
_OF_TURNS: Final = ("messages", "system")
_OF_CALLS: Final = ("tool_calls", "function_call", "tool_call_id", "tool_name")
_BLOCKS_OF_CALLS: Final = ("tool_use", "tool_result")
_DEFAULT_DIALECT: Final = "hermes"


def dialect_to_teach(dialects: Dialects) -> str:
    """The dialect in which a server's model is asked to write calls; raises ValueError if none of them has a prompt."""
    if dialects == "auto":
        return _DEFAULT_DIALECT
    names = [each if isinstance(each, str) else each.name for each in dialects]
    known = [name for name in names if name in PROMPTS]
    if not known:
        raise ValueError(f"no dialect of {names} has a prompt; those that have are: {', '.join(PROMPTS)}")
    return known[0]


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
    read = READERS[_PROVIDERS[source]](request, lost)
    asked = read if dialect is None else taught(read, dialect)
    untold = [] if dialect is None else _untold_choice(read)
    lost += untold
    written = REQUEST_WRITERS[_PROVIDERS[target]](asked, lost)
    if source == target:  # all else is the server's to understand
        kept = {key: value for key, value in request.items() if key not in (*_OF_TOOLS, *_OF_TURNS)}
        return kept | {key: written[key] for key in _OF_TURNS if key in written}, untold
    if target == "openai-chat" and asked.stream:
        written["stream_options"] = {"include_usage": True}  # other wires always tell the counts
    return written, lost


def _untold_choice(request: Request) -> list[Loss]:
    """What no prompt can make sure of."""
    choice, reason = request.choice, "dropped: the model decides"
    required = [Loss("request", "", "tool_choice", reason)] if choice.mode == "required" else []
    return [*required, *([] if choice.parallel is not False else [Loss("request", "", "parallel_tool_calls", reason)])]


def taught(request: Request, dialect: str) -> Request:
    """The same request to a model that knows of tools only by text."""
    allowed = request.tools if request.choice.mode != "none" else []
    prompt = format_system_prompt([declared.tool for declared in allowed], dialect)
    turns = _joined(Turn(turn.role, _told(turn.parts, dialect)) for turn in request.turns)
    if prompt and turns and turns[0].role == "system":
        turns[0] = Turn("system", [*turns[0].parts, Text("\n\n" + prompt)])
    elif prompt:
        turns.insert(0, Turn("system", [Text(prompt)]))
    return replace(request, turns=turns, tools=[], choice=Choice())


def _told(parts: Iterable[Part], dialect: str) -> list[Part]:
    """The parts of a turn with its calls and results as text."""
    told: list[Part] = []
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        else:
            told.append(Text(_answer(part)) if isinstance(part, ToolResult) else part)
    if calls:
        written = format_calls_as_text(calls, dialect)
        told.append(Text("\n" + written if any(isinstance(part, Text) for part in told) else written))
    return told


def _answer(result: ToolResult) -> str:
    content = msgspec.json.encode({"name": result.tool_name, "content": spoken(result)}).decode()
    return f"<tool_response>\n{content}\n</tool_response>\n"


def _joined(turns: Iterable[Turn]) -> list[Turn]:
    """Turns of the user that follow each other as one: templates want the sides to take turns."""
    joined: list[Turn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role == "user":
            joined[-1] = Turn("user", [*joined[-1].parts, *turn.parts])
        else:
            joined.append(turn)
    return joined
