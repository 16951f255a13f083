"""Requests for Gemini's `generateContent` and `streamGenerateContent`.

https://ai.google.dev/api/generate-content

The path names the model and says whether it is a stream, so they are not in the body; a body that names its model, as
those of batches do, is read with it.

A model that thinks wants the first call of each answer since the user last spoke back with its signature, and refuses
the request without.  Where a conversation has none, because another model made the call or the client has lost it,
Google names a word to send instead (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.gemini.messages import SIGNING_MODELS, move_media, sign_first_call
from streamparse.providers.gemini.parts import to_camel_keys
from streamparse.providers.gemini.sdk_dump import to_camel_case
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import drop_empty, get_object, get_str, get_strs
from streamparse.writing.request import SAMPLING_FIELDS, Choice, Request
from streamparse.writing.request_format import RequestFormat, lose_unread, read_object

_SECTIONS = ("generationConfig", "toolConfig")
_OTHER_CONFIG = ("responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig")
_MODES: dict[str, Any] = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_WORDS = {mode: word for word, mode in _MODES.items()}
_JSON = "application/json"


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    request = to_camel_keys(request)
    sections = {name: to_camel_keys(get_object(request, name)) for name in _SECTIONS}
    return {**request, **sections, "model": get_str(request, "model").removeprefix("models/") or None}


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    config = get_object(request, "generationConfig")
    return {
        "choice": _read_choice(to_camel_keys(get_object(request, "toolConfig", "functionCallingConfig")), lost),
        "schema": _read_schema(config, lost),
        "think": _read_thinking(to_camel_keys(get_object(config, "thinkingConfig")), lost),
    }


def _read_choice(config: Mapping[str, Any], lost: list[Loss]) -> Choice:
    """Read the choice of tools; elsewhere one can be named only where a call is required."""
    word, names = get_str(config, "mode").upper(), get_strs(config.get("allowedFunctionNames"))
    mode = _MODES.get(word)
    if mode is None and word not in ("", "MODE_UNSPECIFIED"):
        lost.append(Loss("request", "", "tool_choice", "dropped: no such choice elsewhere"))
    is_named = mode == "required" and len(names) == 1
    if names and not is_named and mode != "none":
        outcome = "dropped: elsewhere all tools are allowed, or one if it must be called"
        lost.append(Loss("request", "", "allowedFunctionNames", outcome))
    return Choice(mode, names[0] if is_named else "")


def _read_schema(config: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any] | None:
    if (schema := read_object(config.get("responseJsonSchema"))) is not None:
        return schema
    if not isinstance(config.get("responseSchema"), Mapping):
        return {} if config.get("responseMimeType") == _JSON else None
    declared = {"functionDeclarations": [{"name": "answer", "parameters": config["responseSchema"]}]}
    read = read_tools([declared], lost)
    return read[0].tool.parameters if read else None


def _read_thinking(config: Mapping[str, Any], lost: list[Loss]) -> bool | None:
    if config.get("thinkingBudget") == 0:
        return False
    lose_unread(config, ("includeThoughts",), lost)
    return True if config.get("includeThoughts") is True else None


def _restrict(request: Request, lost: list[Loss]) -> Request:
    """Sign the first call of each answer since the user last spoke; older models get pictures after the results."""
    request = replace(request, messages=move_media(request.messages, request.model, lost))
    if not SIGNING_MODELS.match(request.model):
        return request
    messages = list(request.messages)
    for place, message in reversed(list(enumerate(messages))):
        if message.role == "user" and message.parts and not message.results:
            break
        messages[place] = sign_first_call(message)
        if messages[place] is not message:
            outcome = "not known: the model is told to do without"
            lost.append(Loss("assistant", "", "thought_signature", outcome, warning=True))
    return replace(request, messages=messages)


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    choice, thinking = request.choice, None
    if request.tools and request.schema is not None and not SIGNING_MODELS.match(request.model):
        # https://github.com/googleapis/python-genai/issues/867
        outcome = "kept, but refused: models before version 3 take no tools with it"
        lost.append(Loss("request", "", "response_format", outcome, warning=True))
    if request.think is not None:
        thinking = {"includeThoughts": True} if request.think else {"thinkingBudget": 0}
    names = [choice.name] if choice.name else []
    calling = {"mode": _WORDS.get(choice.mode or ""), **drop_empty(allowedFunctionNames=names)}
    return {
        "toolConfig.functionCallingConfig": calling if request.tools and choice.mode is not None else None,
        "generationConfig.responseMimeType": _JSON if request.schema is not None else None,
        "generationConfig.responseJsonSchema": request.schema or None,
        "generationConfig.thinkingConfig": thinking,
    }


GEMINI_REQUESTS = RequestFormat(
    fields={
        "system": "systemInstruction",
        "messages": "contents",
        "tools": "tools",
        **{name: f"generationConfig.{to_camel_case(name)}" for name in SAMPLING_FIELDS},
        "max_tokens": "generationConfig.maxOutputTokens",
        "stop": "generationConfig.stopSequences",
    },
    read_only={"model": "model"},
    other_places=("toolConfig.functionCallingConfig", *(f"generationConfig.{name}" for name in _OTHER_CONFIG)),
    max_stops=5,
    others_written=("think",),
    normalize=_normalize,
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
    write_system=lambda text: {"parts": [{"text": text}]},
)
