"""Requests for Anthropic Messages.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamparse.json.json_safety import make_jsonable
from streamparse.loss import Loss
from streamparse.schema.strict import as_warnings, find_open_objects
from streamparse.writing.adapter import Adapter
from streamparse.writing.content import read_blocks
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import drop_empty, get_objects, get_str, get_strs
from streamparse.writing.parts import Turn
from streamparse.writing.request import (
    SAMPLING_FIELDS,
    Choice,
    Request,
    clamp,
    get_section,
    join_system_text,
    lose_schema_name,
    lose_unread,
    lose_unread_choice,
    lose_unwritten,
    pick,
    read_thinking,
    warn_of_no_messages,
)

DEFAULT_MAX_TOKENS = 4096
"""What stands for a limit that was not set: this API wants one."""

_READ = (
    "model", "messages", "system", "tools", "tool_choice", "max_tokens", "stop_sequences", "stream", "output_config",
    "thinking", *SAMPLING_FIELDS,
)  # fmt: skip
_SAMPLING = ("temperature", "top_p", "top_k")
_MODES: dict[str, Any] = {"auto": "auto", "any": "required", "tool": "required", "none": "none"}


def read_anthropic(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for Messages."""
    lose_unread(request, _READ, lost)
    choice = _choice(request.get("tool_choice"))
    lose_unread_choice(request, choice, lost)
    lost += _unkept(request)
    lose_unread(get_section(request, "output_config"), ("format",), lost)
    parts = read_blocks(make_jsonable(request.get("system"), "system", lost))
    return Request(
        model=get_str(request, "model"),
        turns=[
            *([Turn("system", parts)] if parts else []),
            *adapter.read_messages(request.get("messages"), lost),
        ],
        tools=read_tools(request.get("tools"), lost),
        choice=choice,
        max_tokens=request.get("max_tokens"),
        stop=get_strs(request.get("stop_sequences")),
        sampling=pick(request, SAMPLING_FIELDS),
        stream=request.get("stream") is True,
        schema=_schema(request.get("output_config")),
        strict=True,  # a schema is always enforced here
        think=read_thinking(request, lost),
    )


def _unkept(request: Mapping[str, Any]) -> Iterator[Loss]:
    """The marks of caching on blocks, which no other provider has; those on tools are told where these are read."""
    contents = [request.get("system"), *(message.get("content") for message in get_objects(request.get("messages")))]
    blocks = [block for content in contents for block in get_objects(content)]
    within = [block for result in blocks for block in get_objects(result.get("content"))]
    if any("cache_control" in block for block in (*blocks, *within)):
        yield Loss("messages", "", "cache_control", "dropped: no setting elsewhere")


def _choice(choice: Any) -> Choice:
    serial = choice.get("disable_parallel_tool_use") if isinstance(choice, Mapping) else None
    parallel = not serial if isinstance(serial, bool) else None
    mode = get_str(choice, "type")
    return Choice(_MODES.get(mode), get_str(choice, "name") if mode == "tool" else "", parallel)


def _schema(config: Any) -> dict[str, Any] | None:
    wanted = config.get("format") if isinstance(config, Mapping) else None
    schema = wanted.get("schema") if isinstance(wanted, Mapping) else None
    return dict(schema) if isinstance(schema, Mapping) else None


def write_anthropic(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for Messages."""
    turns = [turn for turn in request.turns if turn.role != "system"]
    written: dict[str, Any] = {"model": request.model, "max_tokens": _limit(request, lost)}
    written |= drop_empty(system=join_system_text(request, lost))
    written["messages"] = adapter.write_messages(turns, lost)
    warn_of_no_messages(written["messages"], lost)
    written |= drop_empty(tools=adapter.write_tools(request.tools, lost), stop_sequences=_stops(request, lost))
    written |= drop_empty(stream=True if request.stream else None, tool_choice=_written_choice(request))
    written |= _sampling(request, lost)
    lose_schema_name(request, lost)
    if request.schema:
        lost += as_warnings("request", find_open_objects(request.schema))
        written["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    elif request.schema is not None:
        lost.append(Loss("request", "", "response_format", "dropped: JSON needs a schema here"))
    if request.think:
        lost.append(Loss("request", "", "thinking", "dropped: it needs a budget"))
    return written


def _stops(request: Request, lost: list[Loss]) -> list[str]:
    """The stops, without those of blanks alone, which are refused."""
    kept = [stop for stop in request.stop if stop.strip()]
    if len(kept) < len(request.stop):
        lost.append(Loss("request", "", "stop", "dropped: one of blanks alone is refused"))
    return kept


def _limit(request: Request, lost: list[Loss]) -> int:
    if request.max_tokens is None:
        lost.append(Loss("request", "", "max_tokens", f"set to {DEFAULT_MAX_TOKENS}: it is required"))
    return request.max_tokens or DEFAULT_MAX_TOKENS


def _sampling(request: Request, lost: list[Loss]) -> dict[str, Any]:
    """The settings of sampling, which newer versions of the official SDK leave out; temperatures reach to 1 here."""
    lose_unwritten(request, _SAMPLING, lost)
    written = pick(request.sampling, _SAMPLING)
    done = "sent, but newer versions of the API do without it"
    lost += [Loss("request", "", name, done, warning=True) for name in written]
    return clamp(written, {"temperature": (0, 1)}, lost)


def _written_choice(request: Request) -> dict[str, Any] | None:
    choice = request.choice
    if not request.tools or (choice.mode is None and choice.parallel is None):
        return None
    names = {"auto": "auto", "none": "none", "required": "tool" if choice.name else "any"}
    written = drop_empty(type=names[choice.mode or "auto"], name=choice.name)
    serial = choice.parallel is not None and choice.mode != "none"
    return {**written, "disable_parallel_tool_use": not choice.parallel} if serial else written
