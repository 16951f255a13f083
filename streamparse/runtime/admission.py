"""Which calls may run, and when.

`admit` decides once, when a call is whole, whether it may run at all, with which arguments, under which locks, and
whether a person must approve it: what runs is what was checked here.

`choose_next` lets calls begin in call order.  One waits while a call that holds what it needs runs, or comes before it
and is not answered: also one that the model still writes, whose needs are not known yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from streamparse.events import ToolCallComplete
from streamparse.repair import Gate, GuardFailed
from streamparse.repair.answers import explain_call
from streamparse.response import ToolCall
from streamparse.runtime.call import Call, Ending
from streamparse.runtime.endings import refuse
from streamparse.runtime.facts import Wake
from streamparse.tools import Tool

EVERYTHING: Final = "*"  # the lock that allows no other call at the same time

QUOTED: Final = "the call was not run: it stood where the text only quotes (a code block, a quotation, a string)"
MISWRITTEN: Final = "the call was not run: it was not written correctly, and had to be repaired to be read"


class Admitted(msgspec.Struct, frozen=True):
    """What a call runs with."""

    arguments: dict[str, Any]
    changes: tuple[str, ...]
    locks: frozenset[str]
    needs_approval: bool


def admit(event: ToolCallComplete, gate: Gate, *, run_recovered: bool, run_quoted: bool) -> Admitted | Ending:
    """Take a call through the gate."""
    tool = gate.tools.get(event.name)
    if tool is not None:  # of an unknown tool the gate says what was perhaps meant
        if event.source == "recovered" and not run_recovered:
            return refuse("validation", "recovered", f"{MISWRITTEN}; {explain_call(event.name, tool)}")
        if event.place == "quoted" and not run_quoted:
            advice = f"if it is meant, call it in the open: {explain_call(event.name, tool)}"
            return refuse("validation", "quoted", f"{QUOTED}; {advice}")
        if tool.function is None:
            return refuse("resource", "no_function", f"the tool {event.name!r} cannot be run here")
    call = ToolCall(event.name, event.arguments, event.id, event.source, event.raw, event.index, False, event.place)
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
    """Return a copy, with copies of all lists and objects inside: what runs is what was checked."""
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

    None: it has to wait until it is whole, whatever the reason; then it is decided.
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
    admitted = _read_declaration(tool, looked.call, ())
    return admitted if isinstance(admitted, Admitted) else None


def _read_declaration(tool: Tool, call: ToolCall, changes: tuple[str, ...]) -> Admitted | Ending:
    """Ask the tool's own functions for the locks of a call, and whether it needs approval."""
    checked = copy_arguments(call.arguments)  # others hold the event, and what was checked is what runs
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


class Locks:
    """The locks that some calls hold, and whether another call may run at the same time.

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
        """Whether a call with these locks may run at the same time as those that hold some."""
        if _has_clash(locks, self._of_writers, exist=self._has_writers):
            return False
        return tool.effect == "none" or not _has_clash(locks, self._of_readers, exist=self._has_readers)


def _has_clash(locks: frozenset[str], held: set[str], *, exist: bool) -> bool:
    return exist and (EVERYTHING in locks or EVERYTHING in held or not locks.isdisjoint(held))


def choose_next(calls: Iterable[Call], limit: int, now: float) -> Iterator[Call]:
    """Yield those that may begin, or be opened, of all that are not answered or whose function has not returned.

    One that was opened has its locks and its place already.
    Notes on the others whether only functions that cannot be stopped keep them from beginning.
    """
    occupied = [call for call in calls if call.occupies]
    unstoppable = [call for call in occupied if call.phase == "answered"]
    held, never_freed = _hold(occupied), _hold(unstoppable)
    places = limit - len(occupied)
    for call in sorted(calls, key=lambda call: call.index):
        if call.tool is None or not call.can_run:
            continue
        if call.phase == "ready" and call.is_open:
            if call.opening == "open":
                yield call
        elif call.opening == "offered":
            if places > 0 and held.allow(call.tool, call.locks):
                places -= 1
                yield call
        elif call.phase == "ready":
            if places > 0 and call.not_before <= now and held.allow(call.tool, call.locks):
                places -= 1
                yield call
            else:
                is_stuck = len(unstoppable) >= limit or not never_freed.allow(call.tool, call.locks)
                since = now if call.stuck_since is None else call.stuck_since
                call.stuck_since = since if is_stuck else None
        held.hold(call.tool, call.locks | call.open_locks)


def find_due(call: Call, now: float) -> float | None:
    """Return when something is to happen to a call unless a fact comes before."""
    if call.phase == "running" or call.opening == "broken":
        return None if call.cancelled else call.deadline
    if call.phase != "ready":
        return None
    if call.not_before > now:
        return call.not_before
    return None if call.stuck_since is None or call.timeout is None else call.stuck_since + call.timeout


class Alarm:
    """The next moment at which something is due, and the one for which a wake-up was asked."""

    def __init__(self) -> None:
        self._due: float | None = None
        self._asked: float | None = None

    def is_due(self, now: float) -> bool:
        """Whether the moment has come."""
        return self._due is not None and now >= self._due

    def set(self, moments: Iterable[float]) -> Wake | None:
        """Set the earliest of some moments; return the wake-up to ask for, if none as early was."""
        self._due = min(moments, default=None)
        if self._due is None or (self._asked is not None and self._asked <= self._due):
            return None
        self._asked = self._due
        return Wake(self._due)

    def forget(self) -> None:
        """Forget the wake-up: it has come, or never will."""
        self._asked = None


def _hold(calls: Iterable[Call]) -> Locks:
    held = Locks()
    for call in calls:
        if call.tool is not None:
            held.hold(call.tool, call.locks | call.open_locks)
    return held
