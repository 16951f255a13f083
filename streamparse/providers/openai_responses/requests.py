"""Requests for OpenAI Responses.

https://platform.openai.com/docs/api-reference/responses/create

A request holds its whole conversation, so nothing of it need be kept: `store` is false unless it was asked for.  There
are no stops, no seed and no penalties here.  Of a request that goes on from a stored response, what is stored is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.providers.openai_chat.requests import (
    can_enforce,
    read_answer_format,
    read_choice,
    read_effort,
    write_choice,
)
from streamparse.writing.json_access import get_at, get_object, get_str
from streamparse.writing.request import ACCOUNT_FIELDS, SCHEMA_NAME, Request
from streamparse.writing.request_format import RequestFormat, place_alike


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    text = request.get("input")
    return {**request, "input": [{"role": "user", "content": text}]} if isinstance(text, str) else request


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    section = get_object(request, "text", "format")
    return {
        "choice": read_choice(request, "name"),
        **read_answer_format(get_at(request, "text", "format"), section, lost),
        **read_effort(get_str(request, "reasoning", "effort")),
    }


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    store = request.account.get("store") or False
    return {
        **write_choice(request, {"name": request.choice.name}),
        "store": store,
        "text.format": _write_format(request, lost),
    }


def _write_format(request: Request, lost: list[Loss]) -> dict[str, Any] | None:
    if not request.schema:
        return {"type": "json_object"} if request.schema is not None else None
    name, strict = request.schema_name or SCHEMA_NAME, can_enforce(request, lost)
    return {"type": "json_schema", "name": name, "schema": request.schema, "strict": strict}


RESPONSES_REQUESTS = RequestFormat(
    fields=place_alike("model", "tools", "stream", "temperature", "top_p", *ACCOUNT_FIELDS)
    | {"messages": "input", "max_tokens": "max_output_tokens", "effort": "reasoning.effort"},
    read_only={"system": "instructions"},
    other_places=("tool_choice", "parallel_tool_calls", "text.format"),
    dropped={"stop": ("stop", "dropped: an answer ends by itself here")},
    others_written=("parallel", "schema_name"),
    normalize=_normalize,
    read_others=_read_others,
    write_others=_write_others,
)
