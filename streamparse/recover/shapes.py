"""Parts of bodies, made whole: what users keep of an answer when they do not keep all of it.

| what is given | whose | the body around it |
|---|---|---|
| `{"role", "content", "tool_calls"}` | OpenAI chat, Ollama | `choices[0].message` |
| `{"index", "message"}` | OpenAI chat | `choices[0]` |
| `{"role", "content": [{"type": "tool_use"}]}`, or the blocks alone | Anthropic | a `message` |
| `[{"type": "function_call"}]` | OpenAI Responses | `output` |
| `{"role": "model", "parts": []}`, or a candidate | Gemini | `candidates[0]` |
| `{"role", "content": [{"toolUse"}]}` | Bedrock Converse | `output.message` |
| `{"generation"}` | Llama through Bedrock's `invoke` | a completion |
| `{"outputs": [{"text"}]}`, `{"results": [{"outputText"}]}` | Mistral and Titan there | a completion |
| `[{"generated_text"}]` | text-generation-inference | a completion |

Gemini's own names come in snake case from its Python libraries; they are spelled as the wire has them.
What lies inside of arguments and results is data, and is not looked at.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["complete", "loosely"]

_ROLES: Final = ("assistant", "model")
_BLOCKS: Final = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"})
_ITEMS: Final = frozenset({"function_call", "reasoning", "message", "custom_tool_call"})
_CONVERSE: Final = frozenset({"text", "toolUse", "reasoningContent", "citationsContent"})
_PARTS: Final = frozenset({"text", "functionCall", "function_call", "thought", "inlineData", "inline_data"})
_GEMINI: Final = ("candidates", "usage_metadata", "prompt_feedback")
_WIRES_KEYS: Final = frozenset({"type", "object", "choices", "done", "event_type", "candidates", "output", "error"})
_DATA: Final = frozenset({"args", "response", "arguments"})


def loosely(value: Any) -> dict[str, Any] | None:
    """Return the body of a decoded object that has its text, or text and calls, right at the top; None for others.

    So do old versions of APIs and objects of libraries.  Of JSON that was given as text nobody knows: it may be the
    answer itself.
    """
    if not isinstance(value, dict) or not _WIRES_KEYS.isdisjoint(value):
        return None
    text = next((value[key] for key in ("content", "text", "output_text") if isinstance(value.get(key), str)), None)
    if text is None:
        return None
    calls = value.get("tool_calls")
    told = [_function(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    message = {"role": "assistant", "content": text, "tool_calls": told}
    return {"choices": [{"index": 0, "message": message, "finish_reason": value.get("finish_reason")}]}


def _function(call: dict[str, Any]) -> dict[str, Any]:
    """A call as OpenAI writes it."""
    if "function" in call:
        return call
    given = next((call[key] for key in ("arguments", "args", "parameters", "input") if key in call), None)
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": given}}


def complete(value: Any) -> dict[str, Any] | None:
    """Return the body that a value is a part of, or stands for; None, or the same again, if it is whole."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict):
        return None
    if any(key in value for key in _GEMINI):
        return _spelled(value)
    return _of_message(value) or _of_candidate(value) or _of_completion(value)


def _of_list(values: list[Any]) -> dict[str, Any] | None:
    kinds = set(map(_kind, values))
    if kinds and kinds <= _BLOCKS:
        return {"type": "message", "role": "assistant", "content": values}
    if kinds and kinds <= _ITEMS and all(map(_is_item, values)):
        return {"object": "response", "output": values}
    if len(values) == 1 and isinstance(values[0], dict) and isinstance(values[0].get("generated_text"), str):
        return _completion(values[0]["generated_text"])
    return None


def _is_item(value: dict[str, Any]) -> bool:
    """Whether a typed object is of the Responses API: a message of Anthropic has other parts."""
    parts = value.get("content") if value["type"] == "message" else None
    return not isinstance(parts, list) or all(_kind(part) in ("output_text", "refusal") for part in parts)


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _of_message(value: dict[str, Any]) -> dict[str, Any] | None:
    message = value.get("message")
    if isinstance(message, dict) and (isinstance(value.get("index"), int) or _is_alone(value, message)):
        return {"choices": [value]}
    if value.get("role") not in _ROLES or not ({"content", "tool_calls", "function_call"} & value.keys()):
        return None
    content = value.get("content")
    if isinstance(content, list) and content and all(isinstance(part, dict) for part in content):
        if all(_kind(part) in _BLOCKS for part in content) and "tool_calls" not in value:
            return {"type": "message", **value}
        if all(_CONVERSE & part.keys() and "type" not in part for part in content):
            return {"output": {"message": value}, "stopReason": value.get("stopReason")}
    return {"choices": [{"index": 0, "message": value, "finish_reason": value.get("finish_reason")}]}


def _is_alone(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a message stands in an object of no wire: those of Ollama, Cohere and Anthropic have these keys."""
    return message.get("role") in _ROLES and value.keys().isdisjoint(("done", "finish_reason", "type", "choices"))


def _of_candidate(value: dict[str, Any]) -> dict[str, Any] | None:
    content = value.get("content", value)
    parts = content.get("parts") if isinstance(content, dict) else None
    known = isinstance(parts, list) and all(isinstance(part, dict) and _PARTS & part.keys() for part in parts)
    if not known or (content is value and value.get("role") != "model"):
        return None
    return _spelled({"candidates": [value if content is not value else {"content": value}]})


def _of_completion(value: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(text := value.get("generation"), str):
        return _completion(text, value.get("stop_reason"))
    for key, name, reason in (("outputs", "text", "stop_reason"), ("results", "outputText", "completionReason")):
        inner = value.get(key)
        first = inner[0] if isinstance(inner, list) and inner else None
        if isinstance(first, dict) and isinstance(first.get(name), str):
            return _completion(first[name], first.get(reason))
    return None


def _completion(text: str, reason: Any = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "text": text, "finish_reason": reason}]}


def _spelled(body: dict[str, Any]) -> dict[str, Any]:
    """Spell the names of Gemini's own fields as its wire does."""
    return {_camel(key): each if key in _DATA else _spelled_inside(each) for key, each in body.items()}


def _spelled_inside(value: Any) -> Any:
    if isinstance(value, list):
        return [_spelled_inside(each) for each in value]
    return _spelled(value) if isinstance(value, dict) else value


def _camel(name: str) -> str:
    return re.sub(r"(?<=[a-z])_([a-z])", lambda match: match[1].upper(), name)
