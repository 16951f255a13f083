"""What the model reads about a call that did not end with a value of its tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from streamparse.events import ToolCallComplete
from streamparse.repair.answers import explain_call
from streamparse.repair.reasons import find_reason
from streamparse.runtime.call import Call, Ending
from streamparse.tools import Effect, ErrorKind, Tool, ToolFailure, format_error_for_model

UNFINISHED: Final = "the turn did not finish; the call was not run"
STOPPED: Final = "the run was stopped before the tool had ended"
OUT_OF_TIME: Final = "the time of the whole run was over before the tool had ended"
CRASHED: Final = "the program ended before the tool had"
CRASHED_INSIDE: Final = "the program ended inside the call; it was not run"
DIFFERS: Final = "the call as a whole differs from what was read of it before"
CUT_INSIDE: Final = "the stream ended inside the call; it was not run"
LATE: Final = "the call came after the end of the answer; it was not run"
DIVIDED: Final = (
    "no call with effects in the text of your answer was run: something else stood between the calls or behind them, "
    "so they may only have been examples; if they are meant, call again, with nothing between and behind the calls"
)
WAITING: Final = "the call has not run yet: it waits for an approval"
NOT_RUN: Final = "; it was not run"
HAD_BEGUN: Final[dict[Effect, str]] = {
    "read": "",
    "idempotent": "; it had begun, and may be called again",
    "write": "; it had begun, and its outcome is unknown",
}
FIND_OUT: Final = "find out what came of it before you call it again"


def refuse(kind: ErrorKind, code: str, message: str, changes: tuple[str, ...] = ()) -> Ending:
    """End a call with a message that says all that the model must know."""
    failure = ToolFailure(kind, message, code)
    return Ending(failure=failure, error=failure.message, changes=changes)


def refuse_doubtful(event: ToolCallComplete, tool: Tool) -> Ending:
    """End a call that was recovered or repaired: the model reads why, and `details` tell the developer."""
    reason = find_reason(event)
    message = f"the call was not run: {reason.for_model}; {explain_call(event.name, tool)}"
    details = {"reason": event.reason, "explanation": reason.for_developer}
    failure = ToolFailure("validation", message, event.source, details)
    return Ending(failure=failure, error=failure.message)


def describe_failed(call: Call, failure: ToolFailure) -> Ending:
    """End a call with what its tool reported."""
    return Ending(failure=failure, error=format_error_for_model(failure, call.name))


def describe_cancelled(call: Call, goes_on: str) -> Ending:
    """End a call that was cancelled; `goes_on` says that its function still runs."""
    advice = f"; {FIND_OUT}" if _has_unknown_outcome(call) else ""
    kind: ErrorKind = "timeout" if call.cancelled == "out_of_time" else "execution"
    return refuse(
        kind, call.cancelled or "stopped", f"{call.reason or STOPPED}{goes_on}{_say_whether_begun(call)}{advice}"
    )


def describe_timeout(call: Call, partial: Any, goes_on: str) -> ToolFailure:
    """Describe that an attempt took too long, with what it showed of its progress."""
    details: dict[str, Any] = {"limit_seconds": call.timeout}
    if partial is not None:
        details["partial_output"] = partial
    advice = FIND_OUT if _has_unknown_outcome(call) else ""
    message = f"{call.reason}{goes_on}{_say_whether_begun(call)}"
    return ToolFailure("timeout", message, call.cancelled, details, suggestion=advice)


def describe_no_place(call: Call, held: Iterable[Call]) -> Ending:
    """End a call that could not begin, because all that it needs is held by functions that cannot be stopped."""
    names = [each.name for each in held]
    message = (
        f"the tool was not run: no place became free in {call.timeout:g} s; "
        f"{len(names)} threads are held by tools that did not return ({', '.join(names)[:200]})"
    )
    return refuse("timeout", "no_place", message)


def _has_unknown_outcome(call: Call) -> bool:
    return call.attempt > 0 and call.effect == "write"


def _say_whether_begun(call: Call) -> str:
    return HAD_BEGUN[call.effect] if call.attempt else NOT_RUN
