"""A tool, its schema, and the result of a call.

The providers' ways to declare tools are read into one: `Toolset.of` takes whatever a request may
carry, or plain Python functions.  Nothing here runs a tool; `streamparse.runtime` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.lazy import export_lazily
from streamparse.tools.declaration import CallOptions, Effect, InvalidArguments, Tool, bind, tool, validate
from streamparse.tools.toolset import Toolset

if TYPE_CHECKING:
    from streamparse.tools.context import CallBroken, Streamed, ToolContext
    from streamparse.tools.errors import RETRYABLE, ErrorKind, ToolError, ToolFailure, format_error_for_model
    from streamparse.tools.output import make_output_tool, read_output
    from streamparse.tools.result import StateChange, ToolResult
    from streamparse.tools.signature import is_async

__all__ = [
    "RETRYABLE", "CallBroken", "CallOptions", "Effect", "ErrorKind", "InvalidArguments", "StateChange", "Streamed",
    "Tool", "ToolContext", "ToolError", "ToolFailure", "ToolResult", "Toolset", "bind", "format_error_for_model",
    "is_async", "make_output_tool", "read_output", "tool", "validate",
]  # fmt: skip

if not TYPE_CHECKING:  # a parser knows the tools, and runs none
    __getattr__ = export_lazily(
        globals(),
        {
            "context": ("CallBroken", "Streamed", "ToolContext"),
            "errors": ("RETRYABLE", "ErrorKind", "ToolError", "ToolFailure", "format_error_for_model"),
            "output": ("make_output_tool", "read_output"),
            "result": ("StateChange", "ToolResult"),
            "signature": ("is_async",),
        },
    )
