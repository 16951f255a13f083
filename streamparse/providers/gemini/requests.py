"""Requests for Gemini's `generateContent` and `streamGenerateContent`.

https://ai.google.dev/api/generate-content

The model and whether it is a stream are said by the path, so they are not in the body; a body that names its model, as
those of batches do, is read with it.

A model that thinks wants the first call of each answer of the present turn back with its signature, and refuses the
request without.  Where a conversation has none, for it was another model's or the client has lost it, the word stands
there that Google names for this case (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.gemini.parts import NO_SIGNATURE, SIGNING_MODELS, spell_fields
from streamparse.writing.definitions import read_declared
from streamparse.writing.json_access import mappings, present, string, strings
from streamparse.writing.request import (
    Choice,
    Request,
    chosen,
    drop_unread,
    drop_unwritten,
    section,
    system_text,
    tell_effort,
    tell_no_messages,
    tell_schema_name,
    tell_serial,
    tell_stops,
    tell_unread_choice,
)

__all__ = ["read_gemini", "write_gemini"]

_READ = ("model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig")
_SAMPLING = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
_CONFIG = (
    "maxOutputTokens", "stopSequences", "responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig",
    *_SAMPLING.values(),
)  # fmt: skip
_MOST_STOPS = 5
_MODES: dict[str, Any] = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_WORDS = {mode: word for word, mode in _MODES.items()}
_JSON = "application/json"


def read_gemini(request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read the body of a request for content."""
    request = spell_fields(request)
    drop_unread(request, _READ, lost)
    config = spell_fields(section(request, "generationConfig"))
    drop_unread(config, _CONFIG, lost)
    tools = spell_fields(section(request, "toolConfig"))
    drop_unread(tools, ("functionCallingConfig",), lost)
    adapter = ADAPTERS["gemini"]
    system = adapter.read_messages([{**section(request, "systemInstruction"), "role": "system"}], lost)
    return Request(
        model=string(request, "model").removeprefix("models/"),
        turns=[*(turn for turn in system if turn.parts), *adapter.read_messages(request.get("contents"), lost)],
        tools=read_declared(request.get("tools"), lost),
        choice=_choice(spell_fields(section(tools, "functionCallingConfig")), lost),
        max_tokens=config.get("maxOutputTokens"),
        stop=strings(config.get("stopSequences")),
        sampling={name: config[word] for name, word in _SAMPLING.items() if config.get(word) is not None},
        schema=_schema(config, lost),
        think=_think(spell_fields(section(config, "thinkingConfig")), lost),
    )


def _choice(config: Mapping[str, Any], lost: list[Loss]) -> Choice:
    """The choice of tools; elsewhere one can be named only where a call is required."""
    word, names = string(config, "mode").upper(), strings(config.get("allowedFunctionNames"))
    mode = _MODES.get(word)
    tell_unread_choice({"tool_choice": word.removeprefix("MODE_UNSPECIFIED") or None}, Choice(mode), lost)
    named = mode == "required" and len(names) == 1
    if names and not named and mode != "none":
        done = "dropped: elsewhere all tools are allowed, or one if it must be called"
        lost.append(Loss("request", "", "allowedFunctionNames", done))
    return Choice(mode, names[0] if named else "")


def _schema(config: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any] | None:
    if isinstance(config.get("responseJsonSchema"), Mapping):
        return dict(config["responseJsonSchema"])
    if not isinstance(config.get("responseSchema"), Mapping):
        return {} if config.get("responseMimeType") == _JSON else None
    declared = {"functionDeclarations": [{"name": "answer", "parameters": config["responseSchema"]}]}
    read = read_declared([declared], lost)
    return read[0].tool.parameters if read else None


def _think(config: Mapping[str, Any], lost: list[Loss]) -> bool | None:
    if config.get("thinkingBudget") == 0:
        return False
    drop_unread(config, ("includeThoughts",), lost)
    return True if config.get("includeThoughts") is True else None


def write_gemini(request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write the body of a request for content."""
    adapter = ADAPTERS["gemini"]
    system = system_text(request, lost)
    written: dict[str, Any] = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    contents = adapter.write_messages([turn for turn in request.turns if turn.role != "system"], lost)
    tell_no_messages(contents, lost)
    if SIGNING_MODELS.match(request.model):
        _sign_calls(contents, lost)
    tell_serial(request, lost)
    tell_stops(request, _MOST_STOPS, lost)
    tell_schema_name(request, lost)
    drop_unwritten(request, _SAMPLING, lost)
    written |= {"contents": contents, **present(tools=adapter.write_tools(request.tools, lost))}
    written |= present(toolConfig=_written_choice(request))
    config = _config(request, lost)
    return {**written, "generationConfig": config} if config else written


def _config(request: Request, lost: list[Loss]) -> dict[str, Any]:
    config = {_SAMPLING[name]: value for name, value in chosen(request.sampling, _SAMPLING).items()}
    config |= present(maxOutputTokens=request.max_tokens, stopSequences=request.stop)
    if request.schema is not None:
        config["responseMimeType"] = _JSON
    if request.schema:
        config["responseJsonSchema"] = request.schema
    if request.think is not None:
        config["thinkingConfig"] = {"includeThoughts": True} if request.think else {"thinkingBudget": 0}
    tell_effort(request, lost)  # each version has other words for how much
    return config


def _written_choice(request: Request) -> dict[str, Any] | None:
    choice = request.choice
    if not request.tools or choice.mode is None:
        return None
    names = [choice.name] if choice.name else []
    return {"functionCallingConfig": {"mode": _WORDS[choice.mode], **present(allowedFunctionNames=names)}}


def _sign_calls(contents: list[dict[str, Any]], lost: list[Loss]) -> None:
    """Put the word that stands for a signature on the first call of each answer since the user spoke."""
    for content in reversed(contents):
        parts = mappings(content["parts"])
        if content["role"] == "user" and not any("functionResponse" in part for part in parts):
            return
        call: Any = next((part for part in parts if "functionCall" in part), None)
        if call is not None and "thoughtSignature" not in call:
            call["thoughtSignature"] = NO_SIGNATURE
            done = "not known: the model is told to do without"
            lost.append(Loss("assistant", "", "thought_signature", done, warning=True))
