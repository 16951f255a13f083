"""Looks at a call before anything runs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from streamparse.repair.extent import excess
from streamparse.repair.findings import Finding, Preflight, named, pointer
from streamparse.repair.guards import Guard
from streamparse.repair.schema import checked
from streamparse.response import ToolCall
from streamparse.tools import Toolset

__all__ = ["preflight"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""All but tab, line feed and carriage return."""
_SHOWN = 10


def preflight(
    call: ToolCall,
    tools: Iterable[Any],
    *,
    tier: int = 0,
    coerce: bool = True,
    sanitise: bool = False,
    guards: Iterable[Guard] = (),
) -> Preflight:
    """Say whether a call may be run, and as what, without running it.

    The tool must be declared and of a tier that is unlocked, the arguments must fit its JSON Schema.  With `coerce`
    values are converted where nothing is lost (`"3"` for an integer), with `sanitise` control characters are taken
    out of texts; both are reported.  `guards` look at the call that comes out.  Raises ModuleNotFoundError without
    the extra `schema`.
    """
    declared = Toolset.of(tools)
    tool = declared.get(call.name)
    if tool is None:
        return Preflight(call, (_unknown(call.name, declared),))
    if tool.tier > tier:
        return Preflight(call, (Finding("locked_tool", f"the tool {call.name!r} is not unlocked"),))
    if (problem := excess(call.arguments)) is not None:
        return Preflight(call, (Finding("invalid_value", problem),))
    arguments, found = _sanitised(call.arguments, ()) if sanitise else (call.arguments, [])
    arguments, problems = checked(tool.parameters, arguments, coerce=coerce)
    call = msgspec.structs.replace(call, arguments=arguments)
    guarded = [finding for guard in guards for finding in guard(call)]
    return Preflight(call, (*found, *problems, *guarded))


def _unknown(name: str, tools: Toolset) -> Finding:
    """Name what was perhaps meant: to a model that is worth more than a list of all."""
    close = difflib.get_close_matches(name[:200], tools.names, 3, 0.6) or sorted(tools.names)[:_SHOWN]
    known = f"; known are: {', '.join(close)}" if close else ""
    return Finding("unknown_tool", f"there is no tool {name[:200]!r}{known}")


def _sanitised(value: Any, path: tuple[Any, ...]) -> tuple[Any, list[Finding]]:
    """Take control characters out of every text of a value."""
    if isinstance(value, str) and _CONTROL.search(value):
        message = f"control characters were taken out of {named(path)}"
        return _CONTROL.sub("", value), [Finding("sanitised", message, pointer(path), fatal=False)]
    found: list[Finding] = []
    if isinstance(value, dict):
        value = {key: _kept(_sanitised(each, (*path, key)), found) for key, each in value.items()}
    elif isinstance(value, list):
        value = [_kept(_sanitised(each, (*path, number)), found) for number, each in enumerate(value)]
    return value, found


def _kept(result: tuple[Any, list[Finding]], found: list[Finding]) -> Any:
    found += result[1]
    return result[0]
