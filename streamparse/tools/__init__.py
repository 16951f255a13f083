"""A tool, its schema, and what comes of calling it.

The providers' ways to declare tools are read into one: `Toolset.of` takes whatever a request may
carry, or plain Python functions.  Nothing here runs a tool; `streamparse.runtime` does.
"""

from streamparse.tools.arguments import InvalidArguments, bind, validate
from streamparse.tools.declaration import Early, Tool, tool
from streamparse.tools.result import ToolResult
from streamparse.tools.toolset import Toolset

__all__ = ["Early", "InvalidArguments", "Tool", "ToolResult", "Toolset", "bind", "tool", "validate"]
