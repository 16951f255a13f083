"""Parts of bodies, made whole: what users keep of an answer when they do not keep all of it.

| what is given | whose | the body around it |
|---|---|---|
| `{"role", "content", "tool_calls"}` | OpenAI chat, Ollama | `choices[0].message` |
| `{"index", "message"}` | OpenAI chat | `choices[0]` |
| `{"message": {"content", "tool_calls"}}`, with a role or without | OpenAI chat | `choices[0].message` |
| `{"role", "tool_plan"}` | Cohere | `message` |
| `{"role", "content": [blocks]}`, with a role or without, or the blocks alone | Anthropic | a `message` |
| `{"type": "message", "content": "text"}`, or with a `stop_reason` | Anthropic | a `message` of one block |
| `{"type": "ai", "content", "tool_calls", "response_metadata"}` | LangChain | `choices[0].message` |
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

from streamparse.parser.part_owners import (
    are_blocks,
    are_converse,
    are_gemini,
    are_interaction,
    are_items,
    hold_block,
    hold_calls,
    is_chat,
    is_item_message,
    kind_of,
)

__all__ = ["chat_of", "complete", "completed_list", "gemini_of"]

_ROLES: Final = ("assistant", "model")
_GEMINI: Final = ("candidates", "usage_metadata", "prompt_feedback")
_LANGCHAIN: Final = ("ai", "AIMessageChunk")
_REASONS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_DATA: Final = frozenset({"args", "response", "arguments"})
_OTHERS: Final = frozenset({"done", "type", "choices", "event_type"})
"""What stands beside the `message` of other wires."""
_SAID: Final = frozenset({"content", "tool_calls", "function_call"})
_MESSAGE: Final = _SAID | frozenset(
    {"id", "name", "thinking", "reasoning", "reasoning_content", "refusal", "images", "annotations", "audio"}
)
"""What a message may hold that says no role."""


def _function(call: Any) -> Any:
    """A call as OpenAI writes it; others write its name and arguments right into it."""
    if not isinstance(call, dict) or "function" in call or "name" not in call:
        return call
    given = next((call[key] for key in ("arguments", "args", "parameters", "input") if key in call), None)
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": given}}


def complete(value: Any) -> dict[str, Any] | None:
    """Return the body that a value is a part of, or stands for; None, or the same again, if it is whole."""
    if isinstance(value, list):
        return completed_list(value)
    if not isinstance(value, dict):
        return None
    if value.get("type") in _LANGCHAIN and isinstance(value.get("content"), (str, list)):
        return _of_langchain(value)
    if any(key in value for key in _GEMINI) and "content" not in value:
        return _spelled(value)
    return _of_message(value) or _of_candidate(value) or _of_completion(value)


def completed_list(values: list[Any]) -> dict[str, Any] | None:
    """Return the body that a list is a part of; None for others."""
    if len(values) == 1 and isinstance(values[0], dict) and isinstance(values[0].get("generated_text"), str):
        return _completion(values[0]["generated_text"])
    if hold_calls(values, "toolUse"):
        return {"output": {"message": {"role": "assistant", "content": values}}, "stopReason": None}
    if hold_calls(values, "functionCall", "function_call"):
        return gemini_of(values)
    return _of_typed(list(map(_typed, values)))


def gemini_of(parts: list[Any]) -> dict[str, Any]:
    """Return the body of Gemini around parts."""
    return _spelled({"candidates": [{"content": {"role": "model", "parts": parts}}]})


def _of_typed(values: list[Any]) -> dict[str, Any] | None:
    if are_interaction(values):
        return {"object": "interaction", "outputs": values}
    if are_items(values):
        return {"object": "response", "output": values}
    return {"type": "message", "role": "assistant", "content": values} if are_blocks(values) else None


def _typed(value: Any) -> Any:
    """A message of the Responses API as its answers have it, for there may be less of it in a history."""
    if not isinstance(value, dict) or value.get("role") != "assistant" or value.get("type", "message") != "message":
        return value
    content = value.get("content")
    if "type" in value and (not isinstance(content, str) or "stop_reason" in value):  # an answer's own, or Anthropic's
        return value
    said = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
    return {**value, "type": "message", "content": said}


def _of_langchain(value: dict[str, Any]) -> dict[str, Any]:
    about = value.get("response_metadata")
    reasons = [about.get(key) for key in _REASONS] if isinstance(about, dict) else []
    reason = next((reason for reason in reasons if reason), None)
    message = {"role": "assistant", "content": value["content"], "finish_reason": reason}
    if calls := value.get("tool_calls"):
        message["tool_calls"] = calls
        if isinstance(value["content"], list):  # what the provider wrote, its calls among it
            message["content"] = [part for part in value["content"] if kind_of(part) != "tool_use"]
    return chat_of({**message, "usage": value.get("usage_metadata")})


def _of_message(value: dict[str, Any]) -> dict[str, Any] | None:
    message, content = value.get("message"), value.get("content")
    if isinstance(message, dict):
        return _of_choice(value, message)
    if "role" not in value and isinstance(content, list) and _OTHERS.isdisjoint(value) and hold_block(content):
        return {**value, "type": "message", "role": "assistant"}
    if value.get("role") not in _ROLES or _SAID.isdisjoint(value):
        return None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if isinstance(value.get("tool_plan"), str):
        return {"message": {**value, "content": blocks}, "finish_reason": value.get("finish_reason")}
    is_anthropic = value.get("type") == "message" or "stop_reason" in value
    if is_anthropic and isinstance(content, str) and not value.get("tool_calls"):
        return {**value, "type": "message", "content": blocks}  # a text is short for one block
    return (_of_parts(value, content) if isinstance(content, list) else None) or chat_of(value)


def _of_choice(value: dict[str, Any], message: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(value.get("index"), int):
        return {"choices": [value]}
    beside: dict[str, Any] = {key: value[key] for key in ("finish_reason", "usage") if key in value}
    return _of_message({"role": "assistant", **beside, **message}) if _is_alone(value, message) else None


def _of_parts(value: dict[str, Any], parts: list[Any]) -> dict[str, Any] | None:
    """The body around a message of these parts; None if it is one of OpenAI chat."""
    if is_item_message(value):
        return {"object": "response", "output": [value]}
    if is_chat(parts) or value.get("tool_calls"):
        return None
    if value.get("type") == "message" or are_blocks(parts):
        return {**value, "type": "message"}
    return {"output": {"message": value}, "stopReason": value.get("stopReason")} if are_converse(parts) else None


def chat_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return the body of OpenAI chat around a message, which may hold its finish reason and usage, too."""
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message = {**message, "tool_calls": list(map(_function, calls))}
    if isinstance(content := message.get("content"), list):  # LangChain has texts beside blocks
        said = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
        message = {**message, "content": said}
    if isinstance(thought := message.get("thinking"), str):  # Ollama
        message = {"reasoning_content": thought, **message}
    choice = {"index": 0, "message": message, "finish_reason": message.get("finish_reason")}
    return {"choices": [choice], "usage": message.get("usage")}


def _is_alone(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a message stands in an object of no wire: beside those of Ollama, Cohere and Anthropic is more."""
    if not _OTHERS.isdisjoint(value) or ("finish_reason" in value and _is_of_cohere(value, message)):
        return False
    if "role" in message:
        return message["role"] in _ROLES
    return not _SAID.isdisjoint(message) and message.keys() <= _MESSAGE


def _is_of_cohere(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a message with a reason to end is one of Cohere, whose reasons are written in capitals."""
    reason = value["finish_reason"]
    return isinstance(message.get("content"), list) or "tool_plan" in message or str(reason).isupper()


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
