"""What comes of a call: a value or an error, exactly one for each call."""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.tools.errors import ToolFailure

__all__ = ["ToolResult"]


class ToolResult(msgspec.Struct, frozen=True, tag_field="type", tag="tool_result"):
    """The answer to one call.

    `result` holds JSON values only.  `error` is written for the model, and is None if the tool succeeded.
    `started` and `ended` are readings of the runner's clock, in seconds, None if the tool never ran.
    `revoked` says that the server took the call back, `incomplete` that its turn did not end well;
    a tool that had already begun keeps its result all the same.
    `changes` tells in sentences what of the arguments was read otherwise than it was written (`"3"` as 3), or is odd in
    them; `arguments` are those that the tool was given, or would have been; None if they never were whole.
    `failure` is the error for programs.  `attempts` counts how often the tool began, `truncated` says that its value
    was cut, `turn` is the number of the turn in its run.
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

    @property
    def success(self) -> bool:
        """Whether the tool ran and returned a value."""
        return self.error is None

    @property
    def exit_code(self) -> int | None:
        """The exit code of a process, where the value or the failure's details have one as `exit_code`."""
        holder = self.result if self.failure is None else self.failure.details
        code = holder.get("exit_code") if isinstance(holder, dict) else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None
