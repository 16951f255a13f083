"""Whether a call may run at all, with which arguments, under which locks, and whether a person must approve it.

All of it is decided once, when the call is whole: the arguments checked here are the ones that run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from streamparse.events import ToolCallComplete
from streamparse.repair import Gate, GuardFailed
from streamparse.repair.answers import explain_call
from streamparse.response import ToolCall
from streamparse.runtime.call import Ending
from streamparse.runtime.endings import refuse, refuse_doubtful
from streamparse.tools import Tool
from streamparse.unknown_names import check_keywords

EVERYTHING: Final = "*"  # the lock that allows no other call at the same time

QUOTED: Final = "the call was not run: it stood where the text only quotes (a code block, a quotation, a string)"

Allowed: TypeAlias = Literal["recovered", "repaired", "quoted", "divided"]
"""What may run although it would not: calls that were found only at the end, or had to be mended to be read; those that
the text only quotes; those of tools with effects that something else in the text divides or follows."""

OLD_KEYWORDS: Final = {
    "run_recovered": 'allow=("recovered", "repaired")',
    "run_quoted": 'allow=("quoted",)',
    "trailing": 'allow=("divided",)',
}


class Admitted(msgspec.Struct, frozen=True):
    """What a call runs with."""

    arguments: dict[str, Any]
    changes: tuple[str, ...]
    locks: frozenset[str]
    needs_approval: bool


def check_options(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise TypeError for an unknown keyword; of old ones `read_allowed` says what is written now."""
    check_keywords(function, [word for word in given if word not in OLD_KEYWORDS], known)


def read_allowed(allow: Collection[Allowed], old: Mapping[str, object]) -> frozenset[Allowed]:
    """Return what `allow` says; `old` are keywords that nobody takes.

    Raises TypeError for a plain string, for anything that is no collection, and for any keyword, with the new one if
    there is one; ValueError for an unknown word.
    """
    for keyword in old:
        instead = f": use {OLD_KEYWORDS[keyword]}" if keyword in OLD_KEYWORDS else ""
        raise TypeError(f"got an unexpected keyword argument {keyword!r}{instead}")
    given: object = allow
    if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
        raise TypeError(f"allow is a collection of words, such as ('quoted',), not {given!r}")
    for word in given:
        if word not in get_args(Allowed):
            raise ValueError(f"allow holds words of {get_args(Allowed)}, not {word!r}")
    return frozenset(given)


def admit(event: ToolCallComplete, gate: Gate, allow: Collection[str]) -> Admitted | Ending:
    """Take a call through the gate."""
    tool = gate.tools.get(event.name)
    if tool is not None:  # for an unknown tool the gate proposes the nearest
        if event.source in ("recovered", "repaired") and event.source not in allow:
            return refuse_doubtful(event, tool)
        if event.place == "quoted" and "quoted" not in allow:
            advice = f"if it is meant, call it in the open: {explain_call(event.name, tool)}"
            return refuse("validation", "quoted", f"{QUOTED}; {advice}")
        if tool.function is None:
            return refuse("resource", "no_function", f"the tool {event.name!r} cannot be run here")
    call = ToolCall(
        event.name, event.arguments, event.id, event.source, event.raw, event.index, False, event.place, event.reason
    )
    try:
        looked = gate.look(call)
    except GuardFailed as error:  # what cannot be judged must not run
        return refuse("execution", "guard_failed", str(error))
    changes = tuple(finding.message for finding in looked.findings if not finding.fatal)
    if not looked.ok or tool is None:
        code = next((finding.code for finding in looked.findings if finding.fatal), "invalid_value")
        return refuse("permission" if code == "locked_tool" else "validation", code, looked.message, changes)
    return _read_declaration(tool, looked.call, changes)


def copy_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a copy, with copies of all lists and objects inside: nobody can change them after the check."""
    copy: dict[str, Any] = msgspec.to_builtins(arguments)
    return copy


def can_open(tool: Tool) -> bool:
    """Whether a function may be called while the model still writes an argument: never if that could be too early."""
    if tool.effect == "write" or tool.needs_approval is not False:
        return False
    return bool(tool.streamed) and not (isinstance(tool.lock, str) and tool.lock in tool.streamed)


def find_needed(tool: Tool) -> frozenset[str]:
    """The parameters that must be closed before a function may be called with others still open."""
    required = tool.required - tool.streamed
    return required | {tool.lock} if isinstance(tool.lock, str) and tool.lock != EVERYTHING else required


def admit_open(call: ToolCall, streamed: frozenset[str], gate: Gate) -> Admitted | None:
    """Take a call through the gate whose streamed arguments are still being written.

    None: it has to wait until it is whole, whatever the reason; then it is decided.
    """
    tool = gate.tools.get(call.name)
    if tool is None or not can_open(tool) or not streamed <= tool.streamed:
        return None
    if not tool.streamed.isdisjoint(call.arguments) or not find_needed(tool) <= call.arguments.keys():
        return None
    try:
        looked = gate.look(call, without=tool.streamed)
    except GuardFailed:  # it may want to see the whole call
        return None
    if not looked.ok:
        return None
    admitted = _read_declaration(tool, looked.call, ())
    return admitted if isinstance(admitted, Admitted) else None


def _read_declaration(tool: Tool, call: ToolCall, changes: tuple[str, ...]) -> Admitted | Ending:
    """Ask the tool's own functions for the locks of a call, and whether it needs approval."""
    checked = copy_arguments(call.arguments)  # others hold the event, and could change them after the check
    try:
        locks = _find_locks(tool, copy_arguments(checked))  # copies: what these functions change was not checked
        asks = tool.needs_approval
        shown = msgspec.structs.replace(call, arguments=copy_arguments(checked))
        return Admitted(checked, changes, locks, bool(asks if isinstance(asks, bool) else asks(shown)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the user's, `sys.exit` too; what cannot be judged must not run
        message = f"the call was not run: the declaration of {tool.name!r} failed on it: {type(error).__name__}"
        return refuse("execution", "declaration_failed", message)


def _find_locks(tool: Tool, arguments: dict[str, Any]) -> frozenset[str]:
    if tool.lock is None:
        return frozenset()
    if isinstance(tool.lock, str):
        return frozenset((EVERYTHING if tool.lock == EVERYTHING else _find_value(tool, tool.lock, arguments),))
    named = tool.lock(arguments)
    if named is None:
        return frozenset()
    return frozenset((named,) if isinstance(named, str) else (_name_value(each) for each in named))


def _find_value(tool: Tool, parameter: str, arguments: dict[str, Any]) -> str:
    if parameter in arguments:
        return _name_value(arguments[parameter])
    described = tool.parameters.get("properties", {}).get(parameter)
    if isinstance(described, dict) and "default" in described:
        return _name_value(described["default"])
    return EVERYTHING  # which value the function takes is not known here


def _name_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def find_open_locks(tool: Tool) -> frozenset[str]:
    """The locks to expect of a call whose arguments are not whole yet: at worst everything."""
    return frozenset() if tool.lock is None else frozenset((EVERYTHING,))
