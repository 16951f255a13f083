"""Parts of bodies, made whole: what users keep of an answer when they do not keep all of it.

| what is given | whose | the body around it |
|---|---|---|
| `{"role", "content", "tool_calls"}` | OpenAI chat, Ollama | `choices[0].message` |
| `{"index", "message"}` | OpenAI chat | `choices[0]` |
| `{"role", "content": [blocks]}`, or the blocks alone | Anthropic | a `message` |
| `[items]`, or a message that is one | OpenAI Responses | `output` |
| `[outputs]` | Gemini Interactions | `outputs` |
| `{"role": "model", "parts": []}`, a candidate, or parts with a call | Gemini | `candidates[0]` |
| `{"role", "content": [parts]}`, or parts with a call | Bedrock Converse | `output.message` |
| `{"generation"}` | Llama through Bedrock's `invoke` | a completion |
| `{"outputs": [{"text"}]}`, `{"results": [{"outputText"}]}` | Mistral and Titan there | a completion |
| `[{"generated_text"}]` | text-generation-inference | a completion |

Gemini's own names come in snake case from its Python libraries; they are spelled as the wire has them.
What lies inside of arguments and results is data, and is not looked at.
"""

from __future__ import annotations

import re
from typing import Any, Final

from streamparse.recover.owners import (
    are_blocks,
    are_converse,
    are_gemini,
    are_interaction,
    are_items,
    hold_calls,
    is_chat,
    is_item_message,
)

__all__ = ["complete", "loosely"]

_ROLES: Final = ("assistant", "model")
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
    told = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    reason = value.get("finish_reason")
    return _choice({"role": "assistant", "content": text, "tool_calls": told, "finish_reason": reason})


def _function(call: Any) -> Any:
    """A call as OpenAI writes it; others write its name and arguments right into it."""
    if not isinstance(call, dict) or "function" in call or "name" not in call:
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
    if len(values) == 1 and isinstance(values[0], dict) and isinstance(values[0].get("generated_text"), str):
        return _completion(values[0]["generated_text"])
    if hold_calls(values, "toolUse"):
        return {"output": {"message": {"role": "assistant", "content": values}}, "stopReason": None}
    if hold_calls(values, "functionCall", "function_call"):
        return _spelled({"candidates": [{"content": {"role": "model", "parts": values}}]})
    return _of_typed(list(map(_typed, values)))


def _of_typed(values: list[Any]) -> dict[str, Any] | None:
    if are_interaction(values):
        return {"object": "interaction", "outputs": values}
    if are_items(values):
        return {"object": "response", "output": values}
    return {"type": "message", "role": "assistant", "content": values} if are_blocks(values) else None


def _typed(value: Any) -> Any:
    """A message of the Responses API as its answers have it, for there may be less of it in a history."""
    if not isinstance(value, dict) or "type" in value or value.get("role") != "assistant":
        return value
    content = value.get("content")
    said = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
    return {**value, "type": "message", "content": said}


def _of_message(value: dict[str, Any]) -> dict[str, Any] | None:
    message = value.get("message")
    if isinstance(message, dict) and (isinstance(value.get("index"), int) or _is_alone(value, message)):
        return {"choices": [value]}
    if value.get("role") not in _ROLES or not ({"content", "tool_calls", "function_call"} & value.keys()):
        return None
    content = value.get("content")
    return (_of_parts(value, content) if isinstance(content, list) else None) or _choice(value)


def _of_parts(value: dict[str, Any], parts: list[Any]) -> dict[str, Any] | None:
    """The body around a message of these parts; None if it is one of OpenAI chat."""
    if is_item_message(value):
        return {"object": "response", "output": [value]}
    if is_chat(parts) or value.get("tool_calls"):
        return None
    if value.get("type") == "message" or are_blocks(parts):
        return {**value, "type": "message"}
    return {"output": {"message": value}, "stopReason": value.get("stopReason")} if are_converse(parts) else None


def _choice(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message = {**message, "tool_calls": list(map(_function, calls))}
    return {"choices": [{"index": 0, "message": message, "finish_reason": message.get("finish_reason")}]}


def _is_alone(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a message stands in an object of no wire: those of Ollama, Cohere and Anthropic have these keys."""
    return message.get("role") in _ROLES and value.keys().isdisjoint(("done", "finish_reason", "type", "choices"))


def _of_candidate(value: dict[str, Any]) -> dict[str, Any] | None:
    content = value.get("content", value)
    parts = content.get("parts") if isinstance(content, dict) else None
    if content is value:
        alone = value.get("role") == "model" and isinstance(parts, list) and are_gemini(parts)
        return _spelled({"candidates": [{"content": value}]}) if alone else None
    blank = not parts and isinstance(content, dict) and content.get("role") == "model" and _has_ended(value)
    is_ours = blank or (isinstance(parts, list) and are_gemini(parts))
    return _spelled({"candidates": [value]}) if is_ours else None


def _has_ended(candidate: dict[str, Any]) -> bool:
    return isinstance(candidate.get("finishReason", candidate.get("finish_reason")), str)


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
