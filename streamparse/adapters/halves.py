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
from typing import Final, NamedTuple

from msgspec.structs import replace

from streamparse.adapters.parts import CITATION, Item, Part, Text, Thought, Turn
from streamparse.adapters.values import string
from streamparse.response import ToolCall

__all__ = ["drop_halves", "drop_last_thoughts"]

_SERVER: Final = "server"
_PROGRAM: Final = "program"
"""Who runs a call."""
_USES: Final = ("server_tool_use", "mcp_tool_use")
_RESULT: Final = "_tool_result"
_CALLS: Final = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call", "custom_tool_call")
"""Calls that the program itself is to run."""
_OUTPUTS: Final = tuple(f"{kind}_output" for kind in _CALLS)
_REASONING: Final = "reasoning"
_BESIDE_TEXT: Final = ("phase", "annotation", "citation", "audio", CITATION)
"""What says something of a text, and stands in no place of its own."""
_THOUGHTS: Final = ("signature", "thinking_blocks", "redacted_thinking", "redactedContent")


def drop_halves(parts: Iterable[Part], *, is_paused: bool = False) -> list[Part]:
    """Return the parts of an answer without items whose other half is missing.

    With `is_paused` the server may go on with what it has begun, so calls of its own may lack their results.
    """
    kept: list[Part | None] = list(parts)
    waiting: dict[tuple[str, str], int] = {}  # the places of calls whose result has not come
    for place, part in enumerate(kept):
        half = _read_half(part)
        if half is None:
            continue
        if half.is_call and half.key not in waiting:
            waiting[half.key] = place
        elif half.is_call or waiting.pop(half.key, None) is None:  # a second one of the same id, or a result of nothing
            kept[place] = None
    for (who, _), place in waiting.items():
        if who != _SERVER or not is_paused:
            kept[place] = None
    return _drop_idle_reasoning([part for part in kept if part is not None])


class _Half(NamedTuple):
    """One of two items that stand only together; those that do have one `key`."""

    key: tuple[str, str]
    is_call: bool


def _read_half(part: Part | None) -> _Half | None:
    if not isinstance(part, Item):
        return None
    if part.kind in _USES:
        return _Half((_SERVER, string(part.data, "id")), True)
    if part.kind.endswith(_RESULT):
        return _Half((_SERVER, string(part.data, "tool_use_id")), False)
    if part.kind in _CALLS or part.kind in _OUTPUTS:
        return _Half((_PROGRAM, _call_id(part)), part.kind in _CALLS)
    return None


def drop_last_thoughts(turn: Turn) -> Turn:
    """Return a turn without the thoughts at its end, and without what signs them; texts of blanks hide none."""
    end = len(turn.parts)
    for place, part in reversed(list(enumerate(turn.parts))):
        if _is_thought(part) or _is_blank(part):
            end = place
        elif not (isinstance(part, Item) and part.kind in _BESIDE_TEXT):  # which hides none either
            break
    return turn if end == len(turn.parts) else replace(turn, parts=turn.parts[:end])


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


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
    return isinstance(part, ToolCall) or (isinstance(part, Item) and part.kind not in (_REASONING, *_BESIDE_TEXT))


def _call_id(item: Item) -> str:
    return string(item.data, "call_id") or string(item.data, "id")
