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

So is the line of a batch's results opened: `{"custom_id", "response": {"body"}}` of OpenAI and Mistral, `{"custom_id",
"result": {"message"}}` of Anthropic, `{"recordId", "modelOutput"}` of Bedrock.

Of decoded values alone, because JSON that was given as text may be the answer itself:

| given | API |
|---|---|
| a call, or a list of calls | OpenAI chat |
| a block, an item, a part; a list of texts | Anthropic, Responses, Gemini, Converse |
| `{"content": [texts]}` | Anthropic |
| `{"text"}` or `{"content"}`, with `tool_calls` or without | the first version of Cohere, objects of libraries |

One part that no other provider has decides whose all of them are, because providers add kinds at any time.  Gemini's
fields come in snake case from its Python libraries; they are spelled as on the wire.  What is inside arguments and
results is the user's, and is not looked at.
"""

from __future__ import annotations

from typing import Any, Final

from streamparse.dialects.grammars.call_json import extract_calls
from streamparse.patterns import lazy_re
from streamparse.providers.gemini.facts import PART_KEYS
from streamparse.providers.gemini.sdk_dump import restore_fields, to_camel_case
from streamparse.providers.sdks import MESSAGE_TYPES, write_chat_message
from streamparse.reading.decode import find_objects

# -- facts -------------------------------------------------------------------------------------------------------------

_KINDS: Final = {
    "anthropic": lazy_re(r"(?:redacted_)?thinking|(?:\w+_)?tool_use|(?:\w+_)?tool_result|container_upload"),
    "openai-responses": lazy_re(
        r"reasoning|(?:function|custom_tool|tool_search|mcp|web_search|file_search|computer|code_interpreter"
        r"|image_generation|local_shell|shell|apply_patch)_call|mcp_list_tools|mcp_approval_request"
    ),
    "openai-chat": lazy_re(
        "refusal|output_text|input_text|image_url|input_audio|audio|file|reference|document_url"  # Mistral's, too
    ),
}
"""The `type` of parts that no other provider has.  `text` decides nothing."""
_CONVERSE_KEYS: Final = frozenset(
    ("text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent", "cachePoint", "image")
)
_GEMINI_KEYS: Final = frozenset(PART_KEYS)
"""The keys of parts that have no `type`; Gemini's in camel case."""
_COMPLETIONS: Final = (("outputs", "text", "stop_reason"), ("results", "outputText", "completionReason"))
"""Lists of completions in answers of `invoke`, with the keys of the text and of the reason to end.

They have no `type`, unlike the `outputs` of an interaction.
"""
_RESULTS: Final = (
    ("custom_id", "response", "body"),
    ("custom_id", "result", "message"),
    ("custom_id", "result", "error"),
    ("recordId", "modelOutput"),
)
"""Where the body is in a line of a batch's results, after the key by which the line is known."""
_ROLES: Final = ("assistant", "model")
_SAID: Final = frozenset({"content", "tool_calls", "function_call"})
_MESSAGE: Final = _SAID | frozenset(
    (
        *("id", "name", "thinking", "reasoning", "reasoning_content", "reasoning_text", "reasoning_opaque"),
        *("refusal", "images", "annotations", "audio"),
    )
)
"""What a message without a role may have."""
_OTHERS: Final = frozenset({"done", "type", "choices", "event_type"})
"""What other wires have next to the `message`."""
_BODIES: Final = frozenset({"type", "object", "choices", "done", "event_type", "candidates", "output", "error"})
"""What only bodies have, not values that are kept alone."""
_LISTED: Final = frozenset({"type", "role", "generated_text", "toolUse", "functionCall", "function_call"})
"""One of them every element has of a list that is a body; see `_complete_list`."""
_GEMINI: Final = frozenset({"candidates", "usage_metadata", "prompt_feedback"})


# -- parts of bodies ---------------------------------------------------------------------------------------------------


def complete_body(value: Any) -> dict[str, Any] | None:
    """Return the body that a value is a part of, or short for; None, or the same again, if it is whole."""
    if isinstance(value, list):
        return _complete_list(value)
    if not isinstance(value, dict):
        return None
    if ("custom_id" in value or "recordId" in value) and (result := _find_result(value)) is not None:
        return complete_body(result) or result
    if value.get("type") in MESSAGE_TYPES and isinstance(value.get("content"), (str, list)):
        return _make_chat_body(write_chat_message(value))
    if not _GEMINI.isdisjoint(value) and "content" not in value:
        return restore_fields(value)
    return _complete_message(value) or _complete_candidate(value) or _read_completion(value)


def _find_result(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the body in a line of a batch's results."""
    for id, *path in _RESULTS:
        found = find_objects(value, *path) if id in value else []
        if found:
            return found[0]
    return None


def wrap_bare_value(value: Any) -> dict[str, Any] | None:
    """Return the body of a decoded value without any message around it; None for others."""
    if _is_call(value):
        return _make_chat_body({"role": "assistant", "tool_calls": value if isinstance(value, list) else [value]})
    if isinstance(value, dict):
        return _wrap_object(value)
    is_gemini = isinstance(value, list) and _has_gemini_key(value)
    return _make_gemini_body(value) if is_gemini and all(_list_keys(part) <= _GEMINI_KEYS for part in value) else None


def _wrap_object(value: dict[str, Any]) -> dict[str, Any] | None:
    body = None if _LISTED.isdisjoint(value) else _complete_list([value])
    if body is not None or not _BODIES.isdisjoint(value):
        return body
    content = value.get("content")
    if "role" not in value and isinstance(content, list):
        return _make_anthropic_body(value) if _are_anthropic_blocks(content) else None
    if "toolCalls" in value and next(extract_calls(value), None) is not None:
        return None  # an envelope, as a model writes it: its calls and its text are found in its JSON
    text = next((value[key] for key in ("content", "text", "output_text") if isinstance(value.get(key), str)), None)
    if text is None:
        return None
    calls = value.get("tool_calls")
    calls = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    reason = value.get("finish_reason")
    return _make_chat_body({"role": "assistant", "content": text, "tool_calls": calls, "finish_reason": reason})


def _complete_list(values: list[Any]) -> dict[str, Any] | None:
    if len(values) == 1 and isinstance(values[0], dict) and isinstance(values[0].get("generated_text"), str):
        return _make_completion_body(values[0]["generated_text"])
    if _has_call(values, "toolUse"):
        return {"output": {"message": {"role": "assistant", "content": values}}, "stopReason": None}
    if _has_call(values, "functionCall", "function_call"):
        return _make_gemini_body(values)
    values = list(map(_make_item, values))
    kinds = _list_kinds(values)
    if "function_call" in kinds and ("thought" in kinds or "text" in kinds):  # its calls have the name of OpenAI's
        return {"object": "interaction", "outputs": values}
    messages = [value for kind, value in zip(kinds, values, strict=False) if kind == "message"]
    if (messages or _has_kind(values, "openai-responses")) and all(map(_is_item_message, messages)):
        return {"object": "response", "output": values}
    return _make_anthropic_body({"content": values}) if _are_anthropic_blocks(values) else None


def _make_item(value: Any) -> Any:
    """Return a message of the Responses API as its answers have it; in a history there may be less of it."""
    if not isinstance(value, dict) or value.get("role") != "assistant" or value.get("type", "message") != "message":
        return value
    content = value.get("content")
    if "type" in value and (not isinstance(content, str) or "stop_reason" in value):  # an answer's own, or Anthropic's
        return value
    content = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
    return {**value, "type": "message", "content": content}


def _complete_message(value: dict[str, Any]) -> dict[str, Any] | None:
    message, content = value.get("message"), value.get("content")
    if isinstance(message, dict):
        return _complete_choice(value, message)
    if "role" not in value and _OTHERS.isdisjoint(value) and _has_kind(content, "anthropic"):
        return _make_anthropic_body(value)
    if value.get("role") not in _ROLES or _SAID.isdisjoint(value):
        return None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if isinstance(value.get("tool_plan"), str):
        return {"message": {**value, "content": blocks}, "finish_reason": value.get("finish_reason")}
    is_anthropic = value.get("type") == "message" or "stop_reason" in value
    if is_anthropic and isinstance(content, str) and not value.get("tool_calls"):
        return {**value, "type": "message", "content": blocks}  # a text is short for one block
    return (_complete_parts(value, content) if isinstance(content, list) else None) or _make_chat_body(value)


def _complete_choice(value: dict[str, Any], message: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(value.get("index"), int):
        return {"choices": [value]}
    shared: dict[str, Any] = {key: value[key] for key in ("finish_reason", "usage") if key in value}
    return _complete_message({"role": "assistant", **shared, **message}) if _is_alone(value, message) else None


def _complete_parts(value: dict[str, Any], parts: list[Any]) -> dict[str, Any] | None:
    """Return the body around a message of these parts; None if it is one of OpenAI chat."""
    if _is_item_message(value):
        return {"object": "response", "output": [value]}
    if value.get("tool_calls") or any(_is_of_chat(part) for part in parts):
        return None
    if value.get("type") == "message" or _are_anthropic_blocks(parts):
        return {**value, "type": "message"}
    is_converse = _are_untyped(parts) and any(not _CONVERSE_KEYS.isdisjoint(part) for part in parts)
    return {"output": {"message": value}, "stopReason": value.get("stopReason")} if is_converse else None


def _is_alone(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a message is in an object of no wire: next to those of Ollama, Cohere and Anthropic is more."""
    if not _OTHERS.isdisjoint(value):
        return False
    if "finish_reason" in value:
        # Cohere's reasons are written in capitals.
        is_of_cohere = isinstance(message.get("content"), list) or "tool_plan" in message
        if is_of_cohere or str(value["finish_reason"]).isupper():
            return False
    if "role" in message:
        return message["role"] in _ROLES
    return not _SAID.isdisjoint(message) and message.keys() <= _MESSAGE


def _complete_candidate(value: dict[str, Any]) -> dict[str, Any] | None:
    content = value.get("content", value)
    if not isinstance(content, dict):
        return None
    parts = content.get("parts")
    is_gemini = isinstance(parts, list) and _has_gemini_key(parts)
    is_model = content.get("role") == "model"
    if content is value:
        return restore_fields({"candidates": [{"content": value}]}) if is_gemini and is_model else None
    has_ended = isinstance(value.get("finishReason", value.get("finish_reason")), str)
    return restore_fields({"candidates": [value]}) if is_gemini or (not parts and is_model and has_ended) else None


def _read_completion(value: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(text := value.get("generation"), str):
        return _make_completion_body(text, value.get("stop_reason"))
    for key, name, reason in _COMPLETIONS:
        inner = value.get(key)
        first = inner[0] if isinstance(inner, list) and inner else None
        if isinstance(first, dict) and "type" not in first and isinstance(first.get(name), str):
            return _make_completion_body(first[name], first.get(reason))
    return None


# -- the bodies --------------------------------------------------------------------------------------------------------


def _make_chat_body(message: dict[str, Any]) -> dict[str, Any]:
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


def _make_anthropic_body(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "type": "message", "role": "assistant"}


def _make_gemini_body(parts: list[Any]) -> dict[str, Any]:
    return restore_fields({"candidates": [{"content": {"role": "model", "parts": parts}}]})


def _make_completion_body(text: str, reason: Any = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "text": text, "finish_reason": reason}]}


# -- whose parts are ---------------------------------------------------------------------------------------------------


def _get_kind(value: Any) -> str:
    """Return the type of a part; "" for one without."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _list_kinds(parts: Any) -> list[str]:
    """Return the types of a list of parts; nothing if one of them has none, or this is no list."""
    kinds = list(map(_get_kind, parts)) if isinstance(parts, list) else []
    return kinds if all(kinds) else []


def _has_kind(parts: Any, owner: str) -> bool:
    """Whether one of typed parts is of a kind that only this owner has."""
    return any(map(_KINDS[owner].fullmatch, _list_kinds(parts)))


def _are_untyped(parts: list[Any]) -> bool:
    return bool(parts) and all(isinstance(part, dict) and "type" not in part for part in parts)


def _list_keys(part: dict[str, Any]) -> set[str]:
    return {to_camel_case(str(key)) for key in part}


def _has_gemini_key(parts: list[Any]) -> bool:
    return _are_untyped(parts) and any(not _GEMINI_KEYS.isdisjoint(_list_keys(part)) for part in parts)


def _has_call(parts: list[Any], *keys: str) -> bool:
    """Whether one of the parts without a type is a call under one of these keys."""
    inner = [part.get(key) for part in parts for key in keys] if _are_untyped(parts) else []
    return any(isinstance(call, dict) and isinstance(call.get("name"), str) for call in inner)


def _are_anthropic_blocks(parts: list[Any]) -> bool:
    """Whether typed parts are content blocks of Anthropic; text alone is, too."""
    kinds = _list_kinds(parts)
    return bool(kinds) and (all(kind == "text" for kind in kinds) or _has_kind(parts, "anthropic"))


def _is_of_chat(part: Any) -> bool:
    kind = _get_kind(part)
    is_listed_thought = kind == "thinking" and isinstance(part.get("thinking"), list)  # Mistral
    return is_listed_thought or _KINDS["openai-chat"].fullmatch(kind) is not None


def _is_item_message(value: Any) -> bool:
    """Whether a value is a message of the Responses API: those of Anthropic have other parts."""
    parts = value.get("content") if _get_kind(value) == "message" else None
    return (
        isinstance(parts, list) and bool(parts) and all(_get_kind(part) in ("output_text", "refusal") for part in parts)
    )


def _is_call(value: Any) -> bool:
    """Whether a value is a call of OpenAI chat, or a list of them."""
    calls = value if isinstance(value, list) else [value]
    functions = [call.get("function") for call in calls if isinstance(call, dict) and ("id" in call or "type" in call)]
    are_whole = all(isinstance(each, dict) and {"name", "arguments"} <= each.keys() for each in functions)
    return bool(functions) and len(functions) == len(calls) and are_whole
