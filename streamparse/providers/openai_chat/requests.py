"""Requests for OpenAI chat completions.

https://platform.openai.com/docs/api-reference/chat/create

OpenAI has two words for the limit.  Its models that think refuse the older one, `max_tokens`; its other models take
both, and mean the same; and of all other servers many know the older one alone:

| who | what `max_completion_tokens` does there |
|---|---|
| Ollama | nothing: the answer has no limit (https://github.com/ollama/ollama/issues/7125) |
| llama-cpp-python | nothing (https://github.com/abetlen/llama-cpp-python/issues/1907) |
| Mistral | the request is refused (https://github.com/editor-code-assistant/eca/issues/231) |

So the newer word is written for the models that want it, by their names, and for no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.schema.strict import find_open_objects, find_optional_properties
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import drop_empty, get_str, get_strs
from streamparse.writing.request import (
    ACCOUNT_FIELDS,
    SAMPLING_FIELDS,
    SCHEMA_NAME,
    Choice,
    Request,
    get_section,
    lose_thinking,
    lose_unread,
    lose_unread_choice,
    lose_unread_form,
    lose_unwritten,
    pick,
    warn_of_stops,
)

_READ = (
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "max_tokens", "max_completion_tokens", "stop",
    "stream", "response_format", "reasoning_effort", *SAMPLING_FIELDS, *ACCOUNT_FIELDS,
)  # fmt: skip
_FORMAT = ("name", "schema", "strict")
_SAMPLING = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")
_NO_EFFORT = ("none", "minimal")
_MOST_STOPS = 4
_THINKING_MODELS = re.compile(r"(?:[\w.-]+/|ft:)?(?:o\d|gpt-(?!3|4|oss))")
"""The models that refuse `max_tokens`: OpenAI's that think."""


def read_openai(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for chat completions."""
    lose_unread(request, _READ, lost)
    choice = read_choice(request, "function", "name")
    lose_unread_choice(request, choice, lost)
    form = request.get("response_format")
    schema = _schema(form)
    lose_unread_form(form, schema, lost)
    lose_unread(get_section(form, "json_schema"), _FORMAT, lost)
    stop, effort = request.get("stop"), get_str(request, "reasoning_effort")
    return Request(
        model=get_str(request, "model"),
        turns=adapter.read_messages(request.get("messages"), lost),
        tools=read_tools(request.get("tools"), lost),
        choice=choice,
        max_tokens=request.get("max_completion_tokens") or request.get("max_tokens"),
        stop=[stop] if isinstance(stop, str) else get_strs(stop),
        sampling=pick(request, SAMPLING_FIELDS),
        stream=request.get("stream") is True,
        schema=schema,
        schema_name=get_str(get_section(form, "json_schema"), "name"),
        strict=get_section(form, "json_schema").get("strict") is True,
        think=wants_thought(effort),
        effort=effort,
        account=pick(request, ACCOUNT_FIELDS),
    )


def read_choice(request: Mapping[str, Any], *name: str) -> Choice:
    """The choice of tools in OpenAI's words; `name` is the path to that of the only one."""
    choice, parallel = request.get("tool_choice"), request.get("parallel_tool_calls")
    said = parallel if isinstance(parallel, bool) else None
    if choice in ("auto", "none", "required"):
        return Choice(choice, parallel=said)
    only = get_str(choice, *name) if get_str(choice, "type") in ("", "function") else ""
    return Choice("required", only, said) if only else Choice(parallel=said)


def wants_thought(effort: str) -> bool | None:
    """Whether an effort asks for thought; None if nothing is said."""
    return effort not in _NO_EFFORT if effort else None


def _schema(wanted: Any) -> dict[str, Any] | None:
    if get_str(wanted, "type") == "json_object":
        return dict(get_section(wanted, "schema"))  # llama.cpp, Together and Fireworks take a schema there
    schema = get_section(wanted, "json_schema").get("schema")
    return dict(schema) if isinstance(schema, Mapping) else None


def write_openai(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for chat completions, as OpenAI takes it and most of those that speak like it."""
    written: dict[str, Any] = {"model": request.model, "messages": adapter.write_messages(request.turns, lost)}
    written |= drop_empty(tools=adapter.write_tools(request.tools, lost), stop=request.stop)
    warn_of_stops(request, _MOST_STOPS, lost)
    written |= drop_empty(**{_limit_word(request): request.max_tokens}, stream=True if request.stream else None)
    written |= pick(request.sampling, _SAMPLING) | pick(request.account, ACCOUNT_FIELDS) | _written_choice(request)
    lose_unwritten(request, _SAMPLING, lost, ACCOUNT_FIELDS)
    if request.schema is not None:
        written["response_format"] = _format(request, lost)
    lose_thinking(request, lost)
    return {**written, **drop_empty(reasoning_effort=request.effort)}


def _limit_word(request: Request) -> str:
    return "max_completion_tokens" if is_thinking_model(request.model) else "max_tokens"


def is_thinking_model(model: str) -> bool:
    """Whether a name is that of one of OpenAI's models that think."""
    return _THINKING_MODELS.match(model) is not None


def _written_choice(request: Request) -> dict[str, Any]:
    choice = request.choice
    if not request.tools:
        return {}
    named = {"type": "function", "function": {"name": choice.name}} if choice.name else choice.mode
    return drop_empty(tool_choice=named, parallel_tool_calls=choice.parallel)


def can_enforce(request: Request, lost: list[Loss]) -> bool:
    """Whether the schema of the answer is to be enforced; one that would be refused then is not, and it is told."""
    refused = [*find_open_objects(request.schema), *find_optional_properties(request.schema)] if request.strict else []
    for path, keyword, why in refused[:1]:
        lost.append(Loss("request", path, "strict", f"dropped: {keyword}: {why}"))
    return request.strict and not refused


def _format(request: Request, lost: list[Loss]) -> dict[str, Any]:
    if not request.schema:
        return {"type": "json_object"}
    strict = {"strict": True} if can_enforce(request, lost) else {}
    name = request.schema_name or SCHEMA_NAME
    return {"type": "json_schema", "json_schema": {"name": name, "schema": request.schema, **strict}}
