"""The facts that a turn takes in, and the commands that it returns.

Facts go into `Turn.take`, commands come out.  Each fact carries `at`: seconds, of any clock that does not go back.
A list of facts is all that a turn is made of: taken again, in the same order, they give the same commands.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from streamparse.events import Event
from streamparse.tools import StateChange, ToolFailure, ToolResult


class ApprovalRequest(msgspec.Struct, frozen=True, tag_field="type", tag="approval_request"):
    """A call needs approval before it may run: `run.approve(request)`, or `run.deny(request, why)`.

    `arguments` are those that it will run with.  `key` is the call's idempotency key.
    """

    index: int
    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    key: str


class Progress(msgspec.Struct, frozen=True, tag_field="type", tag="progress"):
    """A tool shows how far it is; see `ToolContext.progress`."""

    index: int
    call_id: str
    tool_name: str
    value: Any


class _Attempt(msgspec.Struct, frozen=True):
    """An attempt of a call, by the place of the call in the answer; the first has the number 1."""

    index: int
    attempt: int


# -- facts -------------------------------------------------------------------------------------------------


class Received(msgspec.Struct, frozen=True, tag=True):
    """The parser reported an event."""

    event: Event
    at: float


class Opened(msgspec.Struct, frozen=True, tag=True):
    """A streamed argument of a call has begun to arrive, and the others that the tool requires are closed.

    `arguments` are those that are closed; `streamed` names those that are read as they come.
    """

    index: int
    arguments: dict[str, Any]
    streamed: tuple[str, ...]
    at: float


class Misread(msgspec.Struct, frozen=True, tag=True):
    """The parts of a streamed argument differ from the whole call's argument; comes before that call."""

    index: int
    at: float


class SourceEnded(msgspec.Struct, frozen=True, tag=True):
    """No event follows; without a `Done` before it the turn has not ended well."""

    at: float


class Returned(_Attempt, frozen=True, tag=True):
    """A tool's function has really returned or raised, or its coroutine was cancelled.

    `value` holds JSON values; `truncated` says that it was cut.  `began` is false if the function was never called.
    `partial` is what it showed last of its progress, `state_changes` what it reported by `ToolContext.report_change`.
    """

    at: float
    value: Any = None
    failure: ToolFailure | None = None
    truncated: bool = False
    cancelled: bool = False
    began: bool = True
    partial: Any = None
    state_changes: tuple[StateChange, ...] = ()


class Abandoned(_Attempt, frozen=True, tag=True):
    """A function that was to be cancelled cannot be stopped, and still runs; `Returned` follows if it ever returns."""

    at: float
    partial: Any = None
    state_changes: tuple[StateChange, ...] = ()


class Asked(msgspec.Struct, frozen=True, tag=True):
    """The function of a call asks for an approval of its own: it is an agent.  `Approval` of the call answers it."""

    index: int
    request: ApprovalRequest
    at: float


class Approval(msgspec.Struct, frozen=True, tag=True):
    """A call was approved, or denied; or what its function has `Asked` for was."""

    index: int
    granted: bool
    at: float
    why: str = ""


class Withdrawn(msgspec.Struct, frozen=True, tag=True):
    """The function of a call waits no more for one of the approvals that it has `Asked` for, and has no answer."""

    index: int
    at: float


class Cancelled(msgspec.Struct, frozen=True, tag=True):
    """The run was cancelled from outside."""

    at: float


class Woke(msgspec.Struct, frozen=True, tag=True):
    """The time of a `Wake` has come."""

    at: float


class Suspended(msgspec.Struct, frozen=True, tag=True):
    """Nobody is there to approve, and all that is left waits for that: the calls are put off (`Turn.waiting`)."""

    at: float


class Restarted(msgspec.Struct, frozen=True, tag=True):
    """The program ended, and these facts are all that is left: no function runs, and no event follows."""

    at: float


Fact: TypeAlias = (
    Received
    | Opened
    | Misread
    | SourceEnded
    | Returned
    | Abandoned
    | Asked
    | Approval
    | Withdrawn
    | Cancelled
    | Woke
    | Suspended
    | Restarted
)


# -- commands ----------------------------------------------------------------------------------------------


class Open(_Attempt, frozen=True, tag=True):
    """Call the tool's function with an argument that is still being written; report `Returned` once it has.

    That is no beginning: `Start` or `Break` follows, and until then the function is not to come to its end.
    `arguments` are all but those that `streamed` names.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    streamed: tuple[str, ...]
    key: str


class Break(_Attempt, frozen=True, tag=True):
    """Raise `CallBroken` in the streamed arguments of a function that was opened: it will not begin."""

    reason: str


class Start(_Attempt, frozen=True, tag=True):
    """Call the tool's function now; report `Returned` once it has.  If it was opened, end its streamed arguments.

    `key` is the call's idempotency key; `deadline` is on the clock of the facts.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    key: str
    deadline: float | None


class Cancel(_Attempt, frozen=True, tag=True):
    """Cancel the function; report `Returned` or `Abandoned`."""


class RequestApproval(msgspec.Struct, frozen=True, tag=True):
    """Ask whether the call may run; report an `Approval`."""

    request: ApprovalRequest


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The call's one result."""

    result: ToolResult


class Wake(msgspec.Struct, frozen=True, tag=True):
    """Report `Woke` at this time."""

    at: float


Command: TypeAlias = Open | Break | Start | Cancel | RequestApproval | Answer | Wake
