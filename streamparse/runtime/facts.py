"""What a turn hears, and what it asks for.

Facts go into `Turn.take`, commands come out.  Each fact carries `at`: seconds, of any clock that does not go back.
A list of facts is all that a turn is made of: taken again, in the same order, they give the same commands.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from streamparse.events import Event
from streamparse.tools import StateChange, ToolFailure, ToolResult

__all__ = [
    "Abandoned",
    "Answer",
    "Approval",
    "ApprovalRequest",
    "Cancel",
    "Cancelled",
    "Command",
    "Fact",
    "Progress",
    "Received",
    "RequestApproval",
    "Restarted",
    "Returned",
    "SourceEnded",
    "Start",
    "Wake",
    "Woke",
]


class ApprovalRequest(msgspec.Struct, frozen=True, tag_field="type", tag="approval_request"):
    """Somebody must say whether a call may run: `run.approve(request)`, or `run.deny(request, why)`.

    `arguments` are those that it will run with.  `key` is the call's idempotency key.
    """

    index: int
    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    key: str


class Progress(msgspec.Struct, frozen=True, tag_field="type", tag="progress"):
    """What a tool shows of what it does; see `ToolContext.progress`."""

    index: int
    call_id: str
    tool_name: str
    value: Any


# -- facts -------------------------------------------------------------------------------------------------


class Received(msgspec.Struct, frozen=True, tag=True):
    """The parser reported an event."""

    event: Event
    at: float


class SourceEnded(msgspec.Struct, frozen=True, tag=True):
    """No event follows; without a `Done` before it the turn has not ended well."""

    at: float


class Returned(msgspec.Struct, frozen=True, tag=True):
    """A tool's function has really returned or raised, or its coroutine was cancelled.

    `value` holds JSON values; `truncated` says that it was cut.  `began` is false if the function was never called.
    `partial` is what it showed last of its progress, `state_changes` what it reported by `ToolContext.changed`.
    """

    index: int
    attempt: int
    at: float
    value: Any = None
    failure: ToolFailure | None = None
    truncated: bool = False
    cancelled: bool = False
    began: bool = True
    partial: Any = None
    state_changes: tuple[StateChange, ...] = ()


class Abandoned(msgspec.Struct, frozen=True, tag=True):
    """A function that was to be cancelled cannot be stopped, and still runs; `Returned` follows if it ever returns."""

    index: int
    attempt: int
    at: float
    partial: Any = None
    state_changes: tuple[StateChange, ...] = ()


class Approval(msgspec.Struct, frozen=True, tag=True):
    """Somebody has said whether a call may run."""

    index: int
    granted: bool
    at: float
    why: str = ""


class Cancelled(msgspec.Struct, frozen=True, tag=True):
    """The run was cancelled from outside."""

    at: float


class Woke(msgspec.Struct, frozen=True, tag=True):
    """The time of a `Wake` has come."""

    at: float


class Restarted(msgspec.Struct, frozen=True, tag=True):
    """The program ended, and these facts are what is left of it: no function runs, and no event follows."""

    at: float


Fact: TypeAlias = Received | SourceEnded | Returned | Abandoned | Approval | Cancelled | Woke | Restarted


# -- commands ----------------------------------------------------------------------------------------------


class Start(msgspec.Struct, frozen=True, tag=True):
    """Call the tool's function now; report `Returned` once it has.

    `key` is the call's idempotency key; `deadline` is on the clock of the facts.
    """

    index: int
    attempt: int
    id: str
    name: str
    arguments: dict[str, Any]
    key: str
    deadline: float | None


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """Cancel the function; report `Returned` or `Abandoned`."""

    index: int
    attempt: int


class RequestApproval(msgspec.Struct, frozen=True, tag=True):
    """Ask whether the call may run; report an `Approval`."""

    request: ApprovalRequest


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The call's one result."""

    result: ToolResult


class Wake(msgspec.Struct, frozen=True, tag=True):
    """Report `Woke` at this time."""

    at: float


Command: TypeAlias = Start | Cancel | RequestApproval | Answer | Wake
