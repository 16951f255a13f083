"""Requests for Ollama's `/api/chat`.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion

A request is for a stream unless it says otherwise.  No tool can be demanded, and none forbidden: for `none` no tools
are sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.writing.json_access import get_object
from streamparse.writing.request import SAMPLING_FIELDS, Request
from streamparse.writing.request_format import RequestFormat, place_alike, read_object


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    options = dict(get_object(request, "options"))
    limit = options.get("num_predict")
    if not (isinstance(limit, int) and limit > 0):  # -1 is no limit
        options["num_predict"] = None
    return {**request, "options": options, "stream": request.get("stream") is not False}


def _read_others(request: Mapping[str, Any], _lost: list[Loss]) -> dict[str, Any]:
    form, think = request.get("format"), request.get("think")
    schema = {} if form == "json" else read_object(form)
    effort = think if isinstance(think, str) else ""
    return {"schema": schema, "think": bool(think) if think is not None else None, "effort": effort}


def _restrict(request: Request, lost: list[Loss]) -> Request:
    if request.choice.mode == "none":
        return replace(request, tools=[])
    if request.tools and request.choice.mode == "required":
        lost.append(Loss("request", "", "tool_choice", "dropped: the model decides"))
    return request


def _write_others(request: Request, _lost: list[Loss]) -> dict[str, Any]:
    form = request.schema or "json" if request.schema is not None else None
    return {"stream": request.stream, "think": request.think, "format": form}


OLLAMA_REQUESTS = RequestFormat(
    fields=place_alike("model", "messages", "stream", "tools")
    | place_alike("stop", *SAMPLING_FIELDS, section="options")
    | {"max_tokens": "options.num_predict"},
    other_places=("format", "think"),
    wants_pairs=False,
    others_written=("think",),
    normalize=_normalize,
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
)
