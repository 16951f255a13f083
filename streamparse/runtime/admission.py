"""Whether a call may run at all, with which arguments, under which locks, and whether somebody must be asked.

All of it is decided once, when the call is whole: what runs is what was checked here.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from streamparse.events import ToolCallComplete
from streamparse.repair import Gate, GuardFailed
from streamparse.repair.answers import explain_call
from streamparse.response import ToolCall
from streamparse.tools import ErrorKind, Tool

EVERYTHING: Final = "*"  # the lock that no other call may be held beside

QUOTED: Final = "the call was not run: it stood where the text only quotes (a code block, a quotation, a string)"
MISWRITTEN: Final = "the call was not run: it was not written correctly, and had to be repaired to be read"


class Refused(msgspec.Struct, frozen=True):
    """Why a call must not run; the message is for the model, and says how to call."""

    kind: ErrorKind
    code: str
    message: str
    changes: tuple[str, ...] = ()


class Admitted(msgspec.Struct, frozen=True):
    """What a call runs with."""

    arguments: dict[str, Any]
    changes: tuple[str, ...]
    locks: frozenset[str]
    needs_approval: bool


def admit(event: ToolCallComplete, gate: Gate, *, run_recovered: bool, run_quoted: bool) -> Admitted | Refused:
    """Take a call through the gate."""
    tool = gate.tools.get(event.name)
    if tool is not None:  # of an unknown tool the gate says what was perhaps meant
        if event.source == "recovered" and not run_recovered:
            return Refused("validation", "recovered", f"{MISWRITTEN}; {explain_call(event.name, tool)}")
        if event.place == "quoted" and not run_quoted:
            told = f"{QUOTED}; if it is meant, call it in the open: {explain_call(event.name, tool)}"
            return Refused("validation", "quoted", told)
        if tool.function is None:
            return Refused("resource", "no_function", f"the tool {event.name!r} cannot be run here")
    call = ToolCall(event.name, event.arguments, event.id, event.source, event.raw, event.index, False, event.place)
    try:
        looked = gate.look(call)
    except GuardFailed as error:  # what cannot be judged must not run
        return Refused("execution", "guard_failed", str(error))
    changes = tuple(finding.message for finding in looked.findings if not finding.fatal)
    if not looked.ok or tool is None:
        code = next((finding.code for finding in looked.findings if finding.fatal), "invalid_value")
        return Refused("permission" if code == "locked_tool" else "validation", code, looked.message, changes)
    # Others hold the event, and what was checked is what runs.
    checked = msgspec.structs.replace(looked.call, arguments=copy_arguments(looked.call.arguments))
    return _read_declaration(tool, checked, changes)


def copy_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a copy, with copies of all lists and objects inside: what runs is what was checked, whoever sees it."""
    copy: dict[str, Any] = msgspec.to_builtins(arguments)
    return copy


def can_open(tool: Tool) -> bool:
    """Whether a function may be called while the model still writes an argument: never if that could be too early."""
    if tool.function is None or tool.effect == "once" or tool.needs_approval is not False:
        return False
    return bool(tool.streamed) and not (isinstance(tool.lock, str) and tool.lock in tool.streamed)


def find_needed(tool: Tool) -> frozenset[str]:
    """The parameters that must be closed before a function may be called with others still open."""
    required = frozenset(tool.parameters.get("required", ())) - tool.streamed
    return required | {tool.lock} if isinstance(tool.lock, str) and tool.lock != EVERYTHING else required


def admit_open(call: ToolCall, streamed: frozenset[str], gate: Gate) -> Admitted | None:
    """Take a call through the gate whose streamed arguments are still being written.

    None says that it is to wait until it is whole, whatever the reason: then it is decided.
    """
    tool = gate.tools.get(call.name)
    if tool is None or not can_open(tool) or not streamed <= tool.streamed:
        return None
    if not tool.streamed.isdisjoint(call.arguments) or not find_needed(tool) <= call.arguments.keys():
        return None
    try:
        looked = gate.look_without(call, tool.streamed)
    except GuardFailed:  # it may want to see the whole call
        return None
    if not looked.ok:
        return None
    checked = msgspec.structs.replace(looked.call, arguments=copy_arguments(looked.call.arguments))
    admitted = _read_declaration(tool, checked, ())
    return admitted if isinstance(admitted, Admitted) else None


def _read_declaration(tool: Tool, call: ToolCall, changes: tuple[str, ...]) -> Admitted | Refused:
    """Ask what the tool's own functions say of the call."""
    try:
        locks = _find_locks(tool, copy_arguments(call.arguments))  # copies: what they change was not checked
        asks = tool.needs_approval
        shown = msgspec.structs.replace(call, arguments=copy_arguments(call.arguments))
        return Admitted(call.arguments, changes, locks, bool(asks if isinstance(asks, bool) else asks(shown)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the user's, `sys.exit` too; what cannot be judged must not run
        told = f"the call was not run: the declaration of {tool.name!r} failed on it: {type(error).__name__}"
        return Refused("execution", "declaration_failed", told)


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


class Locks:
    """What some calls hold, and whether another may run beside all of them.

    Two calls may, if neither has an effect; else if they share no lock and none has `"*"`.
    """

    def __init__(self) -> None:
        self._of_readers: set[str] = set()
        self._of_writers: set[str] = set()
        self._has_readers = False
        self._has_writers = False

    def hold(self, tool: Tool, locks: frozenset[str]) -> None:
        """Add a call's locks."""
        if tool.effect == "none":
            self._has_readers = True
            self._of_readers |= locks
        else:
            self._has_writers = True
            self._of_writers |= locks

    def allow(self, tool: Tool, locks: frozenset[str]) -> bool:
        """Whether a call with these locks may run beside those that hold some."""
        if _clash(locks, self._of_writers, exist=self._has_writers):
            return False
        return tool.effect == "none" or not _clash(locks, self._of_readers, exist=self._has_readers)


def _clash(locks: frozenset[str], held: set[str], *, exist: bool) -> bool:
    return exist and (EVERYTHING in locks or EVERYTHING in held or not locks.isdisjoint(held))
