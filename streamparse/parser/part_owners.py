"""Whose the parts of an answer are, by what no other provider has.

| owner | what shows it | what says nothing |
|---|---|---|
| Anthropic | `thinking`, `tool_use` and the server's own, results of tools, files | `text`, and kinds yet to come |
| OpenAI Responses | `function_call`, `reasoning`, calls of the server's own, a `message` of `output_text` | others |
| OpenAI chat, Mistral | `refusal`, `output_text`, images, audio; a thought that is a list | `text` |
| Gemini Interactions | a `function_call` beside a `thought` or a `text` | others |
| Gemini | `functionCall`, `executableCode` and the like, as keys | kinds yet to come |
| Bedrock Converse | `toolUse`, `reasoningContent` and the like, as keys; no part has a `type` | kinds yet to come |

One part that shows its owner decides for all of them: providers add kinds more often than we read of it.
"""

from __future__ import annotations

from typing import Any, Final

from streamparse.patterns import plain

__all__ = [
    "are_blocks",
    "are_converse",
    "are_gemini",
    "are_interaction",
    "are_items",
    "are_only_gemini",
    "hold_block",
    "hold_calls",
    "is_chat",
    "is_item_message",
    "kind_of",
]

_BLOCK: Final = plain(r"(?:redacted_)?thinking|(?:\w+_)?tool_use|(?:\w+_)?tool_result|container_upload")
_ITEM: Final = plain(
    r"reasoning|(?:function|custom_tool|tool_search|mcp|web_search|file_search|computer|code_interpreter"
    r"|image_generation|local_shell|shell|apply_patch)_call|mcp_list_tools|mcp_approval_request"
)
_CHAT: Final = frozenset(
    {"refusal", "output_text", "input_text", "image_url", "input_audio", "audio", "file", "reference", "document_url"}
)
_SAID: Final = frozenset({"output_text", "refusal"})
_CONVERSE: Final = frozenset(
    {"text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent", "cachePoint", "image"}
)
_GEMINI: Final = frozenset(
    {"text", "thought", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "inlineData"}
    | {"function_call", "function_response", "executable_code", "code_execution_result", "inline_data", "fileData"}
    | {"file_data", "thoughtSignature", "thought_signature", "toolCall", "tool_call", "toolResponse", "tool_response"}
)


def are_blocks(parts: list[Any]) -> bool:
    """Whether typed parts are content blocks of Anthropic; text alone is, too."""
    kinds = _kinds(parts)
    return bool(kinds) and (all(kind == "text" for kind in kinds) or any(map(_BLOCK.fullmatch, kinds)))


def hold_block(parts: list[Any]) -> bool:
    """Whether one of typed parts is a content block that no other provider has."""
    return any(map(_BLOCK.fullmatch, _kinds(parts)))


def are_items(parts: list[Any]) -> bool:
    """Whether typed parts are output items of the Responses API."""
    kinds = _kinds(parts)
    messages = [part for kind, part in zip(kinds, parts, strict=False) if kind == "message"]
    shown = bool(messages) or any(map(_ITEM.fullmatch, kinds))
    return shown and all(map(is_item_message, messages))


def are_interaction(parts: list[Any]) -> bool:
    """Whether typed parts are outputs of Gemini's Interactions, whose calls have the name of OpenAI's."""
    kinds = _kinds(parts)
    return "function_call" in kinds and ("thought" in kinds or "text" in kinds)


def are_converse(parts: list[Any]) -> bool:
    """Whether parts are content blocks of Bedrock's Converse."""
    return _untyped(parts) and any(not _CONVERSE.isdisjoint(part) for part in parts)


def are_gemini(parts: list[Any]) -> bool:
    """Whether parts are those of Gemini's `generateContent`."""
    return _untyped(parts) and any(not _GEMINI.isdisjoint(part) for part in parts)


def are_only_gemini(parts: list[Any]) -> bool:
    """Whether parts hold nothing but what those of Gemini's `generateContent` do; texts alone, too."""
    return are_gemini(parts) and all(part.keys() <= _GEMINI for part in parts)


def hold_calls(parts: list[Any], *keys: str) -> bool:
    """Whether one of the parts without a type is a call under one of these keys."""
    inner = [part.get(key) for part in parts for key in keys] if _untyped(parts) else []
    return any(isinstance(call, dict) and isinstance(call.get("name"), str) for call in inner)


def is_chat(parts: list[Any]) -> bool:
    """Whether one of the parts of a message is of OpenAI chat or its relatives."""
    return any(kind_of(part) in _CHAT or _is_listed_thought(part) for part in parts)


def is_item_message(value: Any) -> bool:
    """Whether a value is a message of the Responses API: those of Anthropic have other parts."""
    parts = value.get("content") if kind_of(value) == "message" else None
    return isinstance(parts, list) and bool(parts) and all(kind_of(part) in _SAID for part in parts)


def _is_listed_thought(part: Any) -> bool:
    return kind_of(part) == "thinking" and isinstance(part.get("thinking"), list)  # Mistral


def _kinds(parts: list[Any]) -> list[str]:
    """The types of parts; nothing, if one of them has none."""
    kinds = list(map(kind_of, parts))
    return kinds if all(kinds) else []


def kind_of(value: Any) -> str:
    """The type that a part says; "" if it says none."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _untyped(parts: list[Any]) -> bool:
    return bool(parts) and all(isinstance(part, dict) and "type" not in part for part in parts)
