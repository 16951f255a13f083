"""The result of a call: a value or an error, exactly one for each call.

Programs that exchange calls and results as plain JSON find both envelopes here:

| `to_call_envelope()` | is | | `to_envelope()` | is |
|---|---|---|---|---|
| `tool_call_id` | `call_id` | | `tool_call_id` | `call_id` |
| `name` | `tool_name` | | `success` | `success` |
| `arguments` | `arguments` | | `output` | `result` |
| `timestamp` | `time`, ISO 8601 | | `error` | `failure`: `type` is its kind, `message`, `code`, `details` |
| `context` | `step_number` is `turn`; `task_id` and `working_directory` as given | | `recoverable`, `suggested_action` | those of the failure |
| | | | `exit_code` | `exit_code` |
| | | | `execution_time_ms` | `seconds` |
| | | | `state_changes` | `state_changes` |
| | | | `metadata` | `truncated`, `stdout_truncated`, `stderr_truncated`, `total_output_bytes`, `attempts`, `revoked`, `incomplete` |
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from streamparse.tools.errors import SUGGESTIONS, ToolFailure


class StateChange(msgspec.Struct, frozen=True):
    """Something that a call did to the world: `type` is a word such as `FileCreated`, `path` what it was done to."""

    type: str
    path: str


class ToolResult(msgspec.Struct, frozen=True, tag_field="type", tag="tool_result"):
    """The answer to one call.

    - `result`: JSON values only.
    - `error`: written for the model; None if the tool succeeded.
    - `revoked`: the server took the call back.  `incomplete`: its turn did not end well.  A tool that had already
      begun keeps its result in both cases.
    - `started`, `ended`: readings of the runner's clock, in seconds; None if the tool never ran.
    - `changes`: sentences about arguments that are odd, or were not read as they were written (`"3"` as 3).
    - `arguments`: those that the tool was given, or would have been; None if they never were whole.
    - `failure`: the error for programs.
    - `attempts`: how often the tool began.
    - `truncated`: whether its value was cut.
    - `turn`: the number of the turn in its run.
    - `time`: when the model began to write the call; None if that is not known.
    - `state_changes`: what the tool reported with `ToolContext.report_change`, in all attempts.
    """

    call_id: str
    tool_name: str
    result: Any = None
    error: str | None = None
    index: int = 0
    seconds: float = 0.0
    revoked: bool = False
    incomplete: bool = False
    started: float | None = None
    ended: float | None = None
    changes: tuple[str, ...] = ()
    arguments: dict[str, Any] | None = None
    failure: ToolFailure | None = None
    attempts: int = 0
    truncated: bool = False
    turn: int = 0
    time: datetime | None = None
    state_changes: tuple[StateChange, ...] = ()

    @property
    def id(self) -> str:
        """The id of the call, as `ToolCall.id`."""
        return self.call_id

    @property
    def name(self) -> str:
        """The name of the tool, as `ToolCall.name`."""
        return self.tool_name

    @property
    def success(self) -> bool:
        """Whether the tool ran and returned a value."""
        return self.error is None

    @property
    def exit_code(self) -> int | None:
        """The exit code of a process, where the value or the failure's details have one as `exit_code`."""
        code = self._holder.get("exit_code")
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @property
    def metadata(self) -> dict[str, Any]:
        """Facts about the result.

        `stdout_truncated`, `stderr_truncated` and `total_output_bytes` (None if not known) are what the value, or the
        failure's details, have under these names; the runner sets the first two where it cuts such a text itself.
        """
        total = self._holder.get("total_output_bytes")
        return {
            "truncated": self.truncated,
            "stdout_truncated": self._holder.get("stdout_truncated") is True,
            "stderr_truncated": self._holder.get("stderr_truncated") is True,
            "total_output_bytes": total if isinstance(total, int) and not isinstance(total, bool) else None,
            "attempts": self.attempts,
            "revoked": self.revoked,
            "incomplete": self.incomplete,
        }

    def to_call_envelope(self, *, task_id: str | None = None, working_directory: str | None = None) -> dict[str, Any]:
        """Return the call as a plain dict, fit for JSON; what no runner knows is for the caller to say."""
        return {
            "tool_call_id": self.call_id,
            "name": self.tool_name,
            "arguments": self.arguments,
            "timestamp": None if self.time is None else self.time.isoformat(),
            "context": {"step_number": self.turn, "task_id": task_id, "working_directory": working_directory},
        }

    def to_envelope(self) -> dict[str, Any]:
        """Return the result as a plain dict, fit for JSON."""
        failure = self.failure
        if failure is None and self.error is not None:  # made without a runner, as the answer to a broken call
            failure = ToolFailure("validation" if self.arguments is None else "execution", self.error, "")
        return {
            "tool_call_id": self.call_id,
            "success": self.success,
            "output": self.result,
            "error": None if failure is None else _describe(failure),
            "recoverable": None if failure is None else failure.recoverable,
            "suggested_action": None if failure is None else failure.suggestion or SUGGESTIONS[failure.kind],
            "exit_code": self.exit_code,
            "execution_time_ms": round(self.seconds * 1000, 3),
            "state_changes": [{"type": each.type, "path": each.path} for each in self.state_changes],
            "metadata": self.metadata,
        }

    @property
    def _holder(self) -> dict[str, Any]:
        """Where a tool says more of its outcome than the value."""
        holder = self.result if self.failure is None else self.failure.details
        return holder if isinstance(holder, dict) else {}


def _describe(failure: ToolFailure) -> dict[str, Any]:
    return {"type": failure.kind, "message": failure.message, "code": failure.code, "details": failure.details}
