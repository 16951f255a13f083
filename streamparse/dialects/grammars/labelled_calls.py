"""Grammar C inside of a tag that bears a label, as CWM writes it: JSON, or the one argument as bare text.

    <tool: NAME>            <tool: NAME>            <tool: function>
    {...}                   TEXT                    NAME TEXT
    </tool>                 </tool>                 </tool>

The third shape is that of a label which is no tool.  Text is the one parameter that the tool requires, or its only
one; where no tools are declared, `command`.  It could be prose, so it is a call only once its closing tag has come.

Facts: the server that Meta published with the model (`serve/tool.py` of facebookresearch/cwm); vLLM's parser of CWM.
"""

from __future__ import annotations

from io import StringIO
from typing import Final

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Markers
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments, broken
from streamparse.dialects.grammars.json_writer import Members
from streamparse.patterns import gradual
from streamparse.schema.kinds import SchemaView

__all__ = ["LABEL", "LabelledCalls"]

_NAME: Final = r"(?P<name>[\w.:/-]{1,256})"
LABEL: Final = rf"<tool:[ ]?{_NAME}[ ]?>"
"""The opening tag."""
_CLOSE: Final = "</tool>"
_LABEL = gradual(LABEL)
_INNER = gradual(rf"{GAP}{_NAME}(?=[\s<])[ \t]{{0,8}}")
_JSON = gradual(rf"{GAP}\{{{GAP}[\"}}]")
_END = gradual(rf"{GAP}{_CLOSE}")
_AGAIN = gradual(rf"{GAP}(?={LABEL})")
_BREAKS = gradual(r"\A[ \t]{0,64}\r?\n|\r?\n[ \t]{0,64}\Z")


class LabelledCalls:
    """Reads the calls of CWM."""

    stops = Markers((_CLOSE, "<tool:"))
    close = Markers((_CLOSE,))

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = False
        while True:
            label = yield from reader.match(_LABEL)
            if label is None or not (yield from self._call(reader, context, label["name"])):
                return found
            found = True
            yield from reader.match(_END)
            if reader.beginning(_END):
                reader.rest()
            reader.remember(context.limits.max_call_args)
            if (yield from reader.match(_AGAIN)) is None:
                return True

    def _call(self, reader: Reader, context: Context, label: str) -> Step[bool]:
        """Read one call; False if it is none."""
        name = context.tool_name(label)
        if name not in context.tools and (yield from reader.look(_JSON)) is None:
            inner = yield from reader.match(_INNER)
            name = "" if inner is None else context.tool_name(inner["name"])
            context = context.for_declared() if context.tools else context
        if not context.believes(name):
            return False
        if (yield from reader.look(_JSON)) is None:
            return (yield from self._text(reader, context, name))
        reader.commit()
        sink = context.sink
        call = sink.call_start(name, None, "inband")
        if (yield from arguments(reader, context, self.stops, sink.call_teller(call))):
            sink.call_end(call)
        elif not reader.over:
            broken(context, call, f"the arguments of {name!r} break off")
        return True

    def _text(self, reader: Reader, context: Context, name: str) -> Step[bool]:
        """Read the one argument of a call up to the closing tag."""
        text = StringIO()
        if not (yield from reader.until(self.close, text.write)):
            return False
        said = _BREAKS.sub("", text.getvalue())
        key = _only_key(context, name) if said.strip() else None
        if (key is None) if said.strip() else bool(_required(context, name)):
            return False
        reader.commit()
        call = context.sink.call_start(name, None, "inband")
        members = Members(context, call)
        if key is not None:
            value = members.value(key, members.typed.member(key).kinds)
            value(said)
            value.end()
        members.close()
        context.sink.call_end(call)
        return True


def _only_key(context: Context, name: str) -> str | None:
    """The parameter that takes a text; None if there are several, or none."""
    if not context.tools:
        return "command"
    keys = _required(context, name) or sorted(_members(context, name))
    return keys[0] if len(keys) == 1 else None


def _required(context: Context, name: str) -> list[str]:
    required = context.tools[name].parameters.get("required") if name in context.tools else None
    return [key for key in required if key in _members(context, name)] if isinstance(required, list) else []


def _members(context: Context, name: str) -> frozenset[str]:
    schema = context.tools[name].parameters if name in context.tools else {}
    return SchemaView([schema], schema).members
