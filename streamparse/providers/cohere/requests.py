"""Requests for Cohere's chat, version 2.

https://docs.cohere.com/v2/reference/chat

One tool cannot be named as the one that must be called: it is then the only one that is declared, which has the same
effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.writing.json_access import get_object, get_str
from streamparse.writing.request import SAMPLING_FIELDS, Choice, Request
from streamparse.writing.request_format import RequestFormat, place_alike

_MODES: dict[str, Any] = {"REQUIRED": "required", "NONE": "none"}
_WORDS = {mode: word for word, mode in _MODES.items()}


def _read_others(request: Mapping[str, Any], _lost: list[Loss]) -> dict[str, Any]:
    choice = Choice(_MODES.get(get_str(request, "tool_choice")))
    form = get_object(request, "response_format")
    schema = dict(get_object(form, "json_schema")) if form.get("type") == "json_object" else None
    return {"choice": choice, "schema": schema}


def _restrict(request: Request, _lost: list[Loss]) -> Request:
    only = [declared for declared in request.tools if declared.tool.name == request.choice.name]
    return replace(request, tools=only or request.tools)


def _write_others(request: Request, _lost: list[Loss]) -> dict[str, Any]:
    form = {"type": "json_object", **({"json_schema": request.schema} if request.schema else {})}
    return {
        "stream": request.stream,
        "tool_choice": _WORDS.get(request.choice.mode or "") if request.tools else None,
        "response_format": form if request.schema is not None else None,
    }


COHERE_REQUESTS = RequestFormat(
    fields=place_alike("model", "messages", "stream", "tools", "max_tokens", *SAMPLING_FIELDS)
    | {"stop": "stop_sequences", "top_p": "p", "top_k": "k", "think": "thinking.type"},
    other_places=("tool_choice", "response_format"),
    bounds={"top_p": (0.01, 0.99), "top_k": (0, 500), "presence_penalty": (0, 1), "frequency_penalty": (0, 1)},
    max_stops=5,
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
)
