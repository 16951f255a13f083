"""Parts that stand only with others: calls that a server ran with their results, thought with what it led to.

| who | what | refused without |
|---|---|---|
| Anthropic | `server_tool_use`, `mcp_tool_use` | its `..._tool_result`, unless the turn was paused there |
| Anthropic | `..._tool_result` | its `..._tool_use` |
| Responses | calls that the program runs (`computer_call`, `custom_tool_call`, ...) | its `..._output` |
| Responses | `..._output` | its call |
| Responses | `reasoning` | a message, a call or another item behind it |
| Anthropic, Bedrock | thought at the end of a message | a text or a call behind it |

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool
https://github.com/openai/openai-agents-python/issues/1660
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from streamparse.adapters.parts import Item, Part, Text, Thought, Turn
from streamparse.adapters.values import string
from streamparse.response import ToolCall

__all__ = ["drop_halves", "drop_last_thoughts"]

_USES: Final = ("server_tool_use", "mcp_tool_use")
_RESULT: Final = "_tool_result"
_CALLS: Final = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call", "custom_tool_call")
"""Calls that the program itself is to run."""
_OUTPUTS: Final = tuple(f"{kind}_output" for kind in _CALLS)
_REASONING: Final = "reasoning"
_PHASE: Final = "phase"
_THOUGHTS: Final = ("signature", "thinking_blocks", "redacted_thinking", "redactedContent")


def drop_halves(parts: Iterable[Part], *, is_paused: bool = False) -> list[Part]:
    """Return the parts of an answer without items whose other half is missing.

    With `is_paused` the server may go on with what it has begun, so calls of its own may lack their results.
    """
    whole = list(parts)
    items = [part for part in whole if isinstance(part, Item)]
    used = {string(item.data, "id") for item in items if item.kind in _USES}
    gave = {string(item.data, "tool_use_id") for item in items if item.kind.endswith(_RESULT)}
    called = {_call_id(item) for item in items if item.kind in _CALLS}
    put_out = {_call_id(item) for item in items if item.kind in _OUTPUTS}

    def is_whole(part: Part) -> bool:
        if not isinstance(part, Item):
            return True
        if part.kind in _USES:
            return is_paused or string(part.data, "id") in gave
        if part.kind.endswith(_RESULT):
            return string(part.data, "tool_use_id") in used
        if part.kind in _CALLS:
            return _call_id(part) in put_out
        return part.kind not in _OUTPUTS or _call_id(part) in called

    return _drop_idle_reasoning([part for part in whole if is_whole(part)])


def drop_last_thoughts(turn: Turn) -> Turn:
    """Return a turn without the thoughts at its end, and without what signs them."""
    end = len(turn.parts)
    while end and _is_thought(turn.parts[end - 1]):
        end -= 1
    return turn if end == len(turn.parts) else replace(turn, parts=turn.parts[:end])


def _is_thought(part: Part) -> bool:
    return isinstance(part, Thought) or (isinstance(part, Item) and part.kind in _THOUGHTS)


def _drop_idle_reasoning(parts: list[Part]) -> list[Part]:
    """Drop the reasoning behind which nothing stands."""
    kept: list[Part] = []
    is_followed = False
    for part in reversed(parts):
        is_reasoning = isinstance(part, Item) and part.kind == _REASONING
        if is_followed or not is_reasoning:
            kept.append(part)
        is_followed = is_followed or _follows(part)
    return kept[::-1]


def _follows(part: Part) -> bool:
    """Whether a part is what a reasoning may stand before."""
    if isinstance(part, Text):
        return bool(part.text.strip())
    return isinstance(part, ToolCall) or (isinstance(part, Item) and part.kind not in (_REASONING, _PHASE))


def _call_id(item: Item) -> str:
    return string(item.data, "call_id") or string(item.data, "id")
