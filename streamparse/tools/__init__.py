"""A tool, its schema, and what comes of calling it.

The providers' ways to declare tools are read into one: `Toolset.of` takes whatever a request may
carry, or plain Python functions.  Nothing here runs a tool; `streamparse.runtime` does.
"""

from streamparse.tools.context import CallBroken, Streamed, ToolContext
from streamparse.tools.errors import RETRYABLE, ErrorKind, ToolError, ToolFailure, format_error_for_model
from streamparse.tools.output import make_output_tool, read_output
from streamparse.tools.result import StateChange, ToolResult
from streamparse.tools.signature import is_async
from streamparse.tools.tool import Effect, InvalidArguments, Tool, bind, tool, validate
from streamparse.tools.toolset import Toolset

__all__ = [
    "RETRYABLE",
    "CallBroken",
    "Effect",
    "ErrorKind",
    "InvalidArguments",
    "StateChange",
    "Streamed",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFailure",
    "ToolResult",
    "Toolset",
    "bind",
    "format_error_for_model",
    "is_async",
    "make_output_tool",
    "read_output",
    "tool",
    "validate",
]
