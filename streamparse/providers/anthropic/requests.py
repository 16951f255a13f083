"""Requests for Anthropic Messages.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.schema.strict import as_warnings, find_open_objects
from streamparse.writing.json_access import drop_empty, get_at, get_objects, get_str
from streamparse.writing.request import Choice, Request
from streamparse.writing.request_format import RequestFormat, pick, place_alike, read_object

DEFAULT_MAX_TOKENS = 4096
"""The limit where none is given: this API wants one."""

_SAMPLING = ("temperature", "top_p", "top_k")
_MODES: dict[str, Any] = {"auto": "auto", "any": "required", "tool": "required", "none": "none"}


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    if _is_cached(request):
        lost.append(Loss("messages", "", "cache_control", "dropped: no setting elsewhere"))
    schema = read_object(get_at(request, "output_config", "format", "schema"))
    # A schema is always enforced here.
    return {"choice": _read_choice(request.get("tool_choice")), "schema": schema, "strict": True}


def _is_cached(request: Mapping[str, Any]) -> bool:
    """Whether blocks are marked for the cache, which no other provider has; marks on tools are read with these."""
    contents = [request.get("system"), *(message.get("content") for message in get_objects(request.get("messages")))]
    blocks = [block for content in contents for block in get_objects(content)]
    within = [block for result in blocks for block in get_objects(result.get("content"))]
    return any("cache_control" in block for block in (*blocks, *within))


def _read_choice(choice: Any) -> Choice:
    is_serial = get_at(choice, "disable_parallel_tool_use")
    mode = get_str(choice, "type")
    name = get_str(choice, "name") if mode == "tool" else ""
    return Choice(_MODES.get(mode), name, not is_serial if isinstance(is_serial, bool) else None)


def _restrict(request: Request, lost: list[Loss]) -> Request:
    stop = [each for each in request.stop if each.strip()]
    if len(stop) < len(request.stop):
        lost.append(Loss("request", "", "stop", "dropped: one of white space alone is refused"))
    if request.max_tokens is None:
        lost.append(Loss("request", "", "max_tokens", f"set to {DEFAULT_MAX_TOKENS}: it is required"))
    return replace(request, stop=stop, max_tokens=request.max_tokens or DEFAULT_MAX_TOKENS)


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    # Newer versions of the official SDK leave these out.
    outcome = "sent, but newer versions of the API do without it"
    lost += [Loss("request", "", name, outcome, warning=True) for name in pick(request.sampling, _SAMPLING)]
    if request.schema:
        lost += as_warnings("request", find_open_objects(request.schema))
    elif request.schema is not None:
        lost.append(Loss("request", "", "response_format", "dropped: JSON needs a schema here"))
    if request.think:
        lost.append(Loss("request", "", "thinking", "dropped: it needs a budget"))
    form = {"type": "json_schema", "schema": request.schema} if request.schema else None
    return {"tool_choice": _write_choice(request), "output_config.format": form}


def _write_choice(request: Request) -> dict[str, Any] | None:
    choice = request.choice
    if not request.tools or (choice.mode is None and choice.parallel is None):
        return None
    names = {"auto": "auto", "none": "none", "required": "tool" if choice.name else "any"}
    written = drop_empty(type=names[choice.mode or "auto"], name=choice.name)
    says_serial = choice.parallel is not None and choice.mode != "none"
    return {**written, "disable_parallel_tool_use": not choice.parallel} if says_serial else written


ANTHROPIC_REQUESTS = RequestFormat(
    fields=place_alike("model", "max_tokens", "system", "messages", "tools", "stream", *_SAMPLING)
    | {"stop": "stop_sequences"},
    read_only=place_alike("seed", "presence_penalty", "frequency_penalty") | {"think": "thinking.type"},
    other_places=("tool_choice", "output_config.format"),
    bounds={"temperature": (0, 1)},
    others_written=("parallel",),
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
)
