"""JSON under constrained decoding: an array of calls, or the arguments of the one tool that was asked for.

    [{"name": NAME, "parameters": {...}}]      tool_choice="required"
    {...}                                      tool_choice names the tool

The second kind says no name; it is believed where exactly one tool is declared, and the first key is one of its
parameters.
"""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments, broken
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.patterns import gradual

__all__ = ["GuidedCalls"]

_FIRST_KEY = gradual(r"\{[ \t\r\n]{0,64}\"(?P<key>[^\"\\]{1,256})\"[ \t\r\n]{0,64}:")


class GuidedCalls(JsonCalls, frozen=True, dict=True):
    """Calls as grammar A reads them, or bare arguments."""

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        first = yield from reader.look(_FIRST_KEY)
        name = next(iter(context.tools), "")
        known = len(context.tools) == 1 and first is not None and first["key"] not in (*self.names, *self.arguments)
        if first is None or not known or context.tools.parameter_schema(name, first["key"]) is None:
            return (yield from super().__call__(reader, context))
        reader.commit()
        sink = context.sink
        call = sink.call_start(name, None, "inband")
        if (yield from arguments(reader, context, self.stops, sink.call_teller(call))):
            sink.call_end(call)
        elif not reader.over:
            broken(context, call, f"the arguments of {name!r} break off")
        return True
