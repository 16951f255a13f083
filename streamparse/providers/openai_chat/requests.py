"""Requests for OpenAI chat completions.

https://platform.openai.com/docs/api-reference/chat/create

OpenAI has two names for the limit.  Its models that think refuse the older one, `max_tokens`; its other models take
both, with one meaning; and many other servers know the older one alone:

| who | what `max_completion_tokens` does there |
|---|---|
| Ollama | nothing: the answer has no limit (https://github.com/ollama/ollama/issues/7125) |
| llama-cpp-python | nothing (https://github.com/abetlen/llama-cpp-python/issues/1907) |
| Mistral | the request is refused (https://github.com/editor-code-assistant/eca/issues/231) |

So the newer name is written for the models that want it, known by their names, and for no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.schema.strict import find_open_objects, find_optional_properties
from streamparse.writing.json_access import drop_empty, get_object, get_str
from streamparse.writing.request import ACCOUNT_FIELDS, SCHEMA_NAME, Choice, Request
from streamparse.writing.request_format import RequestFormat, lose_unread, place_alike, read_object

_SAMPLING = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")
_NO_EFFORT = ("none", "minimal")
_THINKING_MODELS = re.compile(r"(?:[\w.-]+/|ft:)?(?:o\d|gpt-(?!3|4|oss))")
"""The models that refuse `max_tokens`: OpenAI's that think."""


def is_thinking_model(model: str) -> bool:
    """Whether a name is that of one of OpenAI's models that think."""
    return _THINKING_MODELS.match(model) is not None


# -- what both of OpenAI's APIs say alike ------------------------------------------------------------------------------


def read_choice(request: Mapping[str, Any], *name: str) -> Choice:
    """Read the choice of tools in OpenAI's words; `name` is the path to that of the only one."""
    choice, parallel = request.get("tool_choice"), request.get("parallel_tool_calls")
    may_parallel = parallel if isinstance(parallel, bool) else None
    only = get_str(choice, *name) if get_str(choice, "type") in ("", "function") else ""
    if choice in ("auto", "none", "required"):
        return Choice(choice, parallel=may_parallel)
    return Choice("required" if only else None, only, may_parallel)


def write_choice(request: Request, function: dict[str, Any]) -> dict[str, Any]:
    """Write the choice of tools; `function` names the only one."""
    choice = request.choice
    if not request.tools:
        return {}
    named = {"type": "function", **function} if choice.name else choice.mode
    return {"tool_choice": named, "parallel_tool_calls": choice.parallel}


def read_answer_format(form: Any, section: Any, lost: list[Loss]) -> dict[str, Any]:
    """Read the format of the answer; `section` is where it has the schema."""
    schema = read_object(section.get("schema"))
    if get_str(form, "type") == "json_object":
        schema = dict(get_object(form, "schema"))  # llama.cpp, Together and Fireworks take a schema there
    if form is not None and schema is None and get_str(form, "type") != "text":
        lost.append(Loss("request", "", "response_format", "dropped: it says no schema, and nothing known elsewhere"))
    lose_unread(section, ("name", "schema", "strict", *(("type",) if section is form else ())), lost)
    return {"schema": schema, "schema_name": get_str(section, "name"), "strict": section.get("strict") is True}


def can_enforce(request: Request, lost: list[Loss]) -> bool:
    """Whether the schema of the answer is to be enforced; one that would be refused then is not, and that is a loss."""
    refused = [*find_open_objects(request.schema), *find_optional_properties(request.schema)] if request.strict else []
    for path, keyword, why in refused[:1]:
        lost.append(Loss("request", path, "strict", f"dropped: {keyword}: {why}"))
    return request.strict and not refused


def read_effort(effort: str) -> dict[str, Any]:
    """Read how much thought is asked for; no effort says nothing."""
    return {"effort": effort, "think": effort not in _NO_EFFORT if effort else None}


# -- chat completions --------------------------------------------------------------------------------------------------


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**request, "max_tokens": request.get("max_completion_tokens") or request.get("max_tokens")}


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    form = request.get("response_format")
    return {
        "choice": read_choice(request, "function", "name"),
        **read_answer_format(form, get_object(form, "json_schema"), lost),
        **read_effort(get_str(request, "reasoning_effort")),
    }


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    limit = "max_completion_tokens" if is_thinking_model(request.model) else "max_tokens"
    choice = write_choice(request, {"function": {"name": request.choice.name}})
    return {limit: request.max_tokens, **choice, "response_format": _write_format(request, lost)}


def _write_format(request: Request, lost: list[Loss]) -> dict[str, Any] | None:
    if not request.schema:
        return {"type": "json_object"} if request.schema is not None else None
    strict = drop_empty(strict=can_enforce(request, lost) or None)
    name = request.schema_name or SCHEMA_NAME
    return {"type": "json_schema", "json_schema": {"name": name, "schema": request.schema, **strict}}


CHAT_REQUESTS = RequestFormat(
    fields=place_alike("model", "messages", "tools", "stop", "stream", *_SAMPLING, *ACCOUNT_FIELDS)
    | {"effort": "reasoning_effort"},
    read_only=place_alike("max_tokens", "top_k"),
    other_places=("max_completion_tokens", "tool_choice", "parallel_tool_calls", "response_format"),
    max_stops=4,
    others_written=("parallel", "schema_name"),
    normalize=_normalize,
    read_others=_read_others,
    write_others=_write_others,
)
"""Chat completions as OpenAI takes them, and most servers that speak like it."""
