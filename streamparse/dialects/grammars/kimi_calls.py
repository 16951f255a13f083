"""Grammar C as Kimi K2 writes it: the id names the tool, or is a mere counter.

    <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>
    <|tool_call_begin|>3<|tool_call_argument_begin|>{...}<|tool_call_end|>

Of the second kind the tool is the only declared one that takes these arguments, so the call is read whole; if there is
no such tool, its name is the counter, and the call is one of an unknown tool.
"""

from __future__ import annotations

from io import StringIO
from typing import Any

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Match, Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments
from streamparse.dialects.grammars.name_then_json import MarkedCalls
from streamparse.json import JSONError, read
from streamparse.patterns import plain
from streamparse.tools import Tool, Toolset

__all__ = ["KimiCalls"]

_COUNTER = plain(r"(?:(?:call|chatcmpl|tool)(?=[\w:-]*[0-9])[\w:-]++|[0-9]++)")


class KimiCalls(MarkedCalls, frozen=True, dict=True):
    """The grammar of Kimi K2."""

    def call(self, reader: Reader, context: Context, head: Match) -> Step[bool]:
        """Read one call; False if it is none."""
        written = head["name"]
        if context.tool_name(written) in context.tools or _COUNTER.fullmatch(written) is None:
            return (yield from super().call(reader, context, head))
        text = StringIO()
        if not (yield from arguments(reader, context, self.stops, text.write)):
            return False
        name = _taking(context.tools, text.getvalue())
        if context.declared and name is None:
            return False
        reader.commit()
        sink = context.sink
        call = sink.call_start(name or written, head["id"] or written, "inband")
        sink.call_arguments(call, text.getvalue())
        if name is not None:
            sink.call_repaired(call)
        sink.call_end(call)
        return True


def _taking(tools: Toolset, text: str) -> str | None:
    """The name of the only tool that takes these arguments."""
    try:
        given = read(text, "heal").value
    except JSONError:
        return None
    fitting = [name for name, tool in tools.items() if isinstance(given, dict) and _takes(tool, given)]
    return fitting[0] if len(fitting) == 1 else None


def _takes(tool: Tool, given: dict[str, Any]) -> bool:
    known, required = tool.parameters.get("properties"), tool.parameters.get("required")
    known = known if isinstance(known, dict) else {}
    return known.keys() >= given.keys() and given.keys() >= set(required if isinstance(required, list) else ())
