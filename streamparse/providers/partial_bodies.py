"""Parts of bodies, made whole: what users keep of an answer when they do not keep all of it.

| given | API | the body around it |
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
| `{"custom_id", "response": {"body"}}` | a batch of OpenAI or Mistral | the `body` |
| `{"custom_id", "result": {"message"}}` | a batch of Anthropic | the `message`, or the `error` |
| `{"recordId", "modelOutput"}` | a batch of Bedrock | the `modelOutput` |

Of decoded values alone, because JSON that was given as text may be the answer itself:

| given | API |
|---|---|
| a call, or a list of calls | OpenAI chat |
| a block, an item, a part with a call | Anthropic, Responses, Gemini, Converse |
| `[{"text"}]` | Gemini, Converse |
| `{"content": [texts]}` | Anthropic |
| `{"text"}` or `{"content"}`, with `tool_calls` or without | the first version of Cohere, objects of libraries |

One part that no other provider has decides whose all of them are, because providers add kinds at any time.  Gemini's
fields come in snake case from its Python libraries; they are spelled as on the wire.  What is inside arguments and
results is the user's, and is not looked at.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from streamparse.dialects.grammars.call_json import extract_calls
from streamparse.patterns import lazy_re
from streamparse.providers.gemini.sdk_dump import restore_fields
from streamparse.providers.sdks import MESSAGE_TYPES, write_chat_message

Object: TypeAlias = dict[str, Any]

_OWNERS: Final = {
    "anthropic": lazy_re(r"(?:redacted_)?thinking|(?:\w+_)?tool_use|(?:\w+_)?tool_result|container_upload"),
    "openai-responses": lazy_re(
        r"reasoning|(?:function|custom_tool|tool_search|mcp|web_search|file_search|computer|code_interpreter"
        r"|image_generation|local_shell|shell|apply_patch)_call|mcp_list_tools|mcp_approval_request"
    ),
}
"""The `type` of parts that no other wire has.  `text` decides nothing."""
_ROLES: Final = ("assistant", "model")
_SAID: Final = frozenset({"content", "tool_calls", "function_call"})
_MESSAGE: Final = _SAID | frozenset((
    "id", "name", "thinking", "reasoning", "reasoning_content", "reasoning_text", "reasoning_opaque", "refusal",
    "images", "annotations", "audio",
))  # fmt: skip
"""What a message without a role may have."""
_OTHERS: Final = frozenset({"done", "type", "choices", "event_type"})
"""What other wires have next to the `message`."""
_BODIES: Final = _OTHERS | {"object", "candidates", "output", "error"}
"""What only bodies have, not values that are kept alone."""


# -- parts of bodies ---------------------------------------------------------------------------------------------------


def complete_body(value: Any) -> Object | None:
    """Return the body that a value is a part of, or short for; None if it is whole, or shows nothing."""
    completed = None
    match value:
        case (
            {"custom_id": _, "response": {"body": dict(body)}}
            | {"custom_id": _, "result": {"message": dict(body)} | {"error": dict(body)}}
            | {"recordId": _, "modelOutput": dict(body)}
        ):
            completed = complete_body(body) or body
        case {"type": kind, "content": str() | list()} if kind in MESSAGE_TYPES:
            completed = _make_chat_body(write_chat_message(value))
        case {"message": dict(message)}:
            completed = _complete_choice(value, message)
        case {"role": "model", "parts": list()}:
            completed = _make_gemini_body({"content": value})
        case (
            {"content": {"role": "model", "parts": list()}}
            | {"content": {"role": "model"} | {"parts": list()}, "finishReason": str()}
            | {"content": {"role": "model"} | {"parts": list()}, "finish_reason": str()}
        ):
            completed = _make_gemini_body(value)
        case {"role": "assistant" | "model"} | {"content": list()}:
            completed = _complete_message(value)
        case {"generation": str(text)}:
            completed = _make_completion_body(text, value.get("stop_reason"))
        case {"outputs": [{"text": str(text)} as first, *_]} if "type" not in first:  # as those of an interaction have
            completed = _make_completion_body(text, first.get("stop_reason"))
        case {"results": [{"outputText": str(text)} as first, *_]}:
            completed = _make_completion_body(text, first.get("completionReason"))
        case [{"generated_text": str(text)}]:
            completed = _make_completion_body(text)
        case list():
            completed = _complete_list(value)
    return completed


def _complete_choice(value: Object, message: Object) -> Object | None:
    """Return the body around a choice, or a message in an object of no wire.

    Next to those of Ollama, Cohere and Anthropic is more, and Cohere's reasons are written in capitals.
    """
    if isinstance(value.get("index"), int):
        return {"choices": [value]}
    if "finish_reason" in value and (isinstance(message.get("content"), list) or "tool_plan" in message):
        return None
    if not _OTHERS.isdisjoint(value) or str(value.get("finish_reason", "")).isupper():
        return None
    if "role" not in message and (_SAID.isdisjoint(message) or not message.keys() <= _MESSAGE):
        return None
    shared: Object = {key: value[key] for key in ("finish_reason", "usage") if key in value}
    return _complete_message({"role": "assistant", **shared, **message})


def _complete_message(value: Object) -> Object | None:
    """Return the body around a message, whose content may be a list of parts."""
    content = value.get("content")
    parts = content if isinstance(content, list) else []
    owner = _find_owner(parts)
    if "role" not in value:
        return _make_anthropic_body(value) if owner == "anthropic" and _OTHERS.isdisjoint(value) else None
    if value["role"] not in _ROLES or _SAID.isdisjoint(value):
        return None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    is_anthropic = value.get("type") == "message" or ("stop_reason" in value and isinstance(content, str))
    body: Object | None
    if isinstance(value.get("tool_plan"), str):
        body = {"message": {**value, "content": blocks}, "finish_reason": value.get("finish_reason")}
    elif _is_item(value):
        body = {"object": "response", "output": [value]}
    elif owner == "openai-chat" or value.get("tool_calls"):
        body = _make_chat_body(value)
    elif is_anthropic and isinstance(content, list):
        body = None  # it is whole
    elif is_anthropic or owner == "anthropic":
        body = {**value, "type": "message", "content": blocks}  # a text is short for one block
    elif parts and all(isinstance(part, dict) and "type" not in part for part in parts):
        body = {"output": {"message": value}, "stopReason": value.get("stopReason")}
    else:
        body = _make_chat_body(value)
    return body


def _complete_list(values: list[Any]) -> Object | None:
    owner = _find_owner(values)
    if owner == "bedrock-converse":
        return {"output": {"message": {"role": "assistant", "content": values}}, "stopReason": None}
    if owner == "gemini":
        return _make_gemini_body({"content": {"role": "model", "parts": values}})
    values = list(map(_make_item, values))
    kinds = list(map(_get_kind, values))
    if not all(kinds):
        return None
    if "function_call" in kinds and ("thought" in kinds or "text" in kinds):  # its calls have the name of OpenAI's
        return {"object": "interaction", "outputs": values}
    are_items = all(_is_item(value) for kind, value in zip(kinds, values, strict=True) if kind == "message")
    if are_items and (owner == "openai-responses" or "message" in kinds or "function_call" in kinds):
        return {"object": "response", "output": values}
    return _make_anthropic_body({"content": values}) if owner == "anthropic" or {*kinds} == {"text"} else None


def _make_item(value: Any) -> Any:
    """Return a message of the Responses API as its answers have it; in a history there may be less of it."""
    match value:
        case {"role": "assistant", "content": str(text)} if value.get("type", "message") == "message":
            if "type" in value and "stop_reason" in value:  # Anthropic's
                return value
            return {**value, "type": "message", "content": [{"type": "output_text", "text": text}]}
        case {"role": "assistant", "content": _} if "type" not in value:
            return {**value, "type": "message"}
    return value


# -- values without any message around them ----------------------------------------------------------------------------


def wrap_bare_value(value: Any) -> Object | None:
    """Return the body of a decoded value without any message around it; None for others."""
    calls = value if isinstance(value, list) else [value]
    if calls and all(map(_is_call, calls)):
        return _make_chat_body({"role": "assistant", "tool_calls": calls})
    body = _complete_list([value]) if isinstance(value, dict) else None
    match value:
        case _ if body is not None:
            pass
        case [_, *_] if all(isinstance(part, dict) and part.keys() == {"text"} for part in value):
            body = _make_gemini_body({"content": {"role": "model", "parts": value}})
        case {"content": [*blocks]} if {*map(_get_kind, blocks)} == {"text"}:
            body = _make_anthropic_body(value)
        case {"toolCalls": _} if next(extract_calls(value), None) is not None:
            pass  # an envelope, as a model writes it: its calls and its text are found in its JSON
        case {"content": str(text)} | {"text": str(text)} | {"output_text": str(text)} if _BODIES.isdisjoint(value):
            calls = value.get("tool_calls")
            calls = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
            reason = value.get("finish_reason")
            body = _make_chat_body({"role": "assistant", "content": text, "tool_calls": calls, "finish_reason": reason})
    return body


def _is_call(value: Any) -> bool:
    """Whether a value is a call of OpenAI chat; the definition of a tool has no arguments."""
    match value:
        case {"function": {"name": _, "arguments": _}}:
            return "id" in value or "type" in value
    return False


# -- the bodies --------------------------------------------------------------------------------------------------------


def _make_chat_body(message: Object) -> Object:
    """Return the body of OpenAI chat around a message, which may have its finish reason and usage, too."""
    message = dict(message)
    if isinstance(calls := message.get("tool_calls"), list):
        message["tool_calls"] = list(map(_make_chat_call, calls))
    if isinstance(content := message.get("content"), list):  # LangChain has texts among blocks
        message["content"] = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    if isinstance(thought := message.get("thinking"), str):  # Ollama
        message = {"reasoning_content": thought, **message}
    choice = {"index": 0, "message": message, "finish_reason": message.get("finish_reason")}
    return {"choices": [choice], "usage": message.get("usage")}


def _make_chat_call(call: Any) -> Any:
    """Return a call as OpenAI writes it; elsewhere its name and arguments are directly in it."""
    if not isinstance(call, dict) or "function" in call or "name" not in call:
        return call
    given = next((call[key] for key in ("arguments", "args", "parameters", "input") if key in call), None)
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": given}}


def _make_anthropic_body(value: Object) -> Object:
    return {**value, "type": "message", "role": "assistant"}


def _make_gemini_body(candidate: Object) -> Object:
    return restore_fields({"candidates": [candidate]})


def _make_completion_body(text: str, reason: Any = None) -> Object:
    return {"choices": [{"index": 0, "text": text, "finish_reason": reason}]}


# -- whose parts are ---------------------------------------------------------------------------------------------------


def _find_owner(parts: list[Any]) -> str | None:
    """Return the wire that alone has one of these parts."""
    for part in parts:
        match part:
            case {"type": "thinking", "thinking": list()}:  # Mistral
                return "openai-chat"
            case {"type": str(kind)}:
                owner = next((owner for owner, kinds in _OWNERS.items() if kinds.fullmatch(kind)), None)
            case {"toolUse": {"name": str()}}:
                owner = "bedrock-converse"
            case {"functionCall": {"name": str()}} | {"function_call": {"name": str()}}:
                owner = "gemini"
            case _:
                continue
        if owner is not None:
            return owner
    return None


def _get_kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def _is_item(value: Object) -> bool:
    """Whether a message is an item of the Responses API: those of Anthropic have other parts."""
    parts = value.get("content") if value.get("type") == "message" else None
    return isinstance(parts, list) and bool(parts) and {*map(_get_kind, parts)} <= {"output_text", "refusal"}
