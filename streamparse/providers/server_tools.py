"""Tools that a provider brings itself: search, code, a computer, grammars.  No other provider has them.

Whose a definition is shows in its shape:

| who | shape |
|---|---|
| Anthropic | a type with a date (`web_search_20250305`, `bash_20250124`), `mcp_toolset` |
| OpenAI Responses | a type of its list (`web_search`, `code_interpreter`, `mcp`), `custom` with a name |
| OpenAI chat | `{"type": "custom", "custom": {...}}` |
| OpenRouter | a type `openrouter:...` |
| Gemini | `{"googleSearch": {}}` and the like, also beside declarations of functions |
| Bedrock | `{"systemTool": {...}}`, `{"cachePoint": {...}}` |

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview
https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools
https://openrouter.ai/docs/guides/features/server-tools/overview
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from streamparse.providers.server_tool_keys import SERVER_TOOL_KEYS
from streamparse.tools.definitions import LISTS, normalize_keys, read_sdk_object
from streamparse.writing.definitions import is_typed

__all__ = ["Own", "owns", "parted"]

Own: TypeAlias = Mapping[str, Any]
"""A definition, or the part of one, that only its own provider can read."""

_ANTHROPIC: Final = re.compile(r"\w+_20[0-9]{6}|mcp_toolset")
_RESPONSES: Final = re.compile(
    r"(?:web_search|file_search|computer|computer_use|code_interpreter|image_generation|local_shell|shell|apply_patch"
    r"|mcp|tool_search|custom)(?:_preview)?(?:_20[0-9]{2}_[0-9]{2}_[0-9]{2})?"
)
_OPENROUTER: Final = re.compile(r"openrouter:\w+")

_OWNERS: Final[dict[str, Callable[[Own], bool]]] = {
    "anthropic": lambda own: _typed(own, _ANTHROPIC),
    "openai": lambda own: own.get("type") == "custom" and "custom" in own,
    "openai-responses": lambda own: "custom" not in own and _typed(own, _RESPONSES),
    "openrouter": lambda own: _typed(own, _OPENROUTER),
    "gemini": lambda own: normalize_keys(own) <= SERVER_TOOL_KEYS["gemini"],
    "gemini-openapi": lambda own: normalize_keys(own) <= SERVER_TOOL_KEYS["gemini"],
    "bedrock": lambda own: normalize_keys(own) <= SERVER_TOOL_KEYS["bedrock"],
}


def owns(provider: str, own: Own) -> bool:
    """Whether a tool shows that it is one of this provider's own."""
    return provider in _OWNERS and _OWNERS[provider](own)


def parted(tools: Iterable[Any], keep: Callable[[Own], bool]) -> tuple[list[tuple[str, Any]], list[dict[str, Any]]]:
    """Part the providers' own tools that are to `keep` from all others, these with their places in the request."""
    others: list[tuple[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for number, tool in enumerate(map(read_sdk_object, tools)):
        own, beside = _own(tool), tool
        if own is not None and keep(own):
            kept.append(dict(own))
            beside = {key: value for key, value in tool.items() if key not in own}
        if beside or own is None:
            others.append((f"tools[{number}]", beside))
    return others, kept


def _own(tool: Any) -> Own | None:
    """What of a tool's definition only its provider can read."""
    if not isinstance(tool, Mapping):
        return None
    if is_typed(tool):
        return tool
    beside = {key: value for key, value in tool.items() if key not in LISTS}
    return beside if beside and normalize_keys(beside) <= frozenset().union(*SERVER_TOOL_KEYS.values()) else None


def _typed(own: Own, pattern: re.Pattern[str]) -> bool:
    kind = own.get("type")
    return isinstance(kind, str) and pattern.fullmatch(kind) is not None
