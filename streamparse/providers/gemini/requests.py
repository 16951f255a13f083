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
from streamparse.providers.gemini.parts import NO_SIGNATURE, SIGNING_MODELS, camels
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import drop_empty, get_objects, get_str, get_strs
from streamparse.writing.request import (
    Choice,
    Request,
    get_section,
    join_system_text,
    lose_effort,
    lose_schema_name,
    lose_serial,
    lose_unread,
    lose_unread_choice,
    lose_unwritten,
    pick,
    warn_of_no_messages,
    warn_of_stops,
)

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


def read_gemini(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read the body of a request for content."""
    request = camels(request)
    lose_unread(request, _READ, lost)
    config = camels(get_section(request, "generationConfig"))
    lose_unread(config, _CONFIG, lost)
    tools = camels(get_section(request, "toolConfig"))
    lose_unread(tools, ("functionCallingConfig",), lost)
    system = adapter.read_messages([{**get_section(request, "systemInstruction"), "role": "system"}], lost)
    return Request(
        model=get_str(request, "model").removeprefix("models/"),
        turns=[*(turn for turn in system if turn.parts), *adapter.read_messages(request.get("contents"), lost)],
        tools=read_tools(request.get("tools"), lost),
        choice=_choice(camels(get_section(tools, "functionCallingConfig")), lost),
        max_tokens=config.get("maxOutputTokens"),
        stop=get_strs(config.get("stopSequences")),
        sampling={name: config[word] for name, word in _SAMPLING.items() if config.get(word) is not None},
        schema=_schema(config, lost),
        think=_think(camels(get_section(config, "thinkingConfig")), lost),
    )


def _choice(config: Mapping[str, Any], lost: list[Loss]) -> Choice:
    """The choice of tools; elsewhere one can be named only where a call is required."""
    word, names = get_str(config, "mode").upper(), get_strs(config.get("allowedFunctionNames"))
    mode = _MODES.get(word)
    lose_unread_choice({"tool_choice": word.removeprefix("MODE_UNSPECIFIED") or None}, Choice(mode), lost)
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
    read = read_tools([declared], lost)
    return read[0].tool.parameters if read else None


def _think(config: Mapping[str, Any], lost: list[Loss]) -> bool | None:
    if config.get("thinkingBudget") == 0:
        return False
    lose_unread(config, ("includeThoughts",), lost)
    return True if config.get("includeThoughts") is True else None


def write_gemini(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write the body of a request for content."""
    system = join_system_text(request, lost)
    written: dict[str, Any] = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    contents = adapter.write_messages([turn for turn in request.turns if turn.role != "system"], lost)
    warn_of_no_messages(contents, lost)
    if SIGNING_MODELS.match(request.model):
        _sign_calls(contents, lost)
    lose_serial(request, lost)
    warn_of_stops(request, _MOST_STOPS, lost)
    lose_schema_name(request, lost)
    lose_unwritten(request, _SAMPLING, lost)
    written |= {"contents": contents, **drop_empty(tools=adapter.write_tools(request.tools, lost))}
    written |= drop_empty(toolConfig=_written_choice(request))
    config = _config(request, lost)
    return {**written, "generationConfig": config} if config else written


def _config(request: Request, lost: list[Loss]) -> dict[str, Any]:
    config = {_SAMPLING[name]: value for name, value in pick(request.sampling, _SAMPLING).items()}
    config |= drop_empty(maxOutputTokens=request.max_tokens, stopSequences=request.stop)
    if request.schema is not None:
        config["responseMimeType"] = _JSON
    if request.schema:
        config["responseJsonSchema"] = request.schema
    if request.think is not None:
        config["thinkingConfig"] = {"includeThoughts": True} if request.think else {"thinkingBudget": 0}
    lose_effort(request, lost)  # each version has other words for how much
    return config


def _written_choice(request: Request) -> dict[str, Any] | None:
    choice = request.choice
    if not request.tools or choice.mode is None:
        return None
    names = [choice.name] if choice.name else []
    return {"functionCallingConfig": {"mode": _WORDS[choice.mode], **drop_empty(allowedFunctionNames=names)}}


def _sign_calls(contents: list[dict[str, Any]], lost: list[Loss]) -> None:
    """Put the word that stands for a signature on the first call of each answer since the user spoke."""
    for content in reversed(contents):
        parts = get_objects(content["parts"])
        if content["role"] == "user" and not any("functionResponse" in part for part in parts):
            return
        call: Any = next((part for part in parts if "functionCall" in part), None)
        if call is not None and "thoughtSignature" not in call:
            call["thoughtSignature"] = NO_SIGNATURE
            done = "not known: the model is told to do without"
            lost.append(Loss("assistant", "", "thought_signature", done, warning=True))
