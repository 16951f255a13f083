"""How one call is written as text: a writer for each family of dialects, the inverse of what the dialects read.

Not every format can say every argument:

| family | what it cannot say | what is written instead |
|---|---|---|
| tags | a name that is none there | all arguments as one JSON object between the tags of the call |
| tags | a text that holds the call's tags, or that is read as another kind of value | the same |
| Python | a name that is none in Python | the name, with a `Loss` |
| brace literals | a name with punctuation | the name, with a `Loss` |
| brace literals | a text that holds the delimiter | a string as JSON has it |

What a text between tags is read as, its schema says; where that is not known, a text which is JSON of another kind is
read as that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.schema.kinds import STRING, SchemaView, to_json_text
from streamparse.tools import Tool

ANY_NAME: Final = r"(?s).*"
_ESCAPED: Final = "\\u003c"
"""`<` in JSON: so no marker stands in a string."""


class CallToWrite(msgspec.Struct, frozen=True):
    """A call that is to be written: its number in its turn, and its tool's schema as far as that is known."""

    name: str
    arguments: dict[str, Any]
    number: int = 0
    typed: SchemaView = SchemaView([], None)


WriteCall: TypeAlias = Callable[[CallToWrite, list[Loss]], str]
"""Writes one call; adds what could not be said."""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_object(arguments: str = "arguments", name: str = "name") -> WriteCall:
    """One JSON object with the name and the arguments."""
    return lambda call, _lost: _json({name: call.name, arguments: call.arguments})


def wrap_call(before: str, after: str, inner: WriteCall) -> WriteCall:
    """A call between markers."""
    return lambda call, lost: f"{before}{inner(call, lost)}{after}"


def name_then_json(before: str, middle: str, after: str) -> WriteCall:
    """A name, then the arguments as JSON, between markers."""
    return lambda call, _lost: f"{before}{call.name}{middle}{_json(call.arguments)}{after}"


def write_numbered_call(call: CallToWrite, _lost: list[Loss]) -> str:
    """Kimi's calls, which say their number."""
    head = f"<|tool_call_begin|>functions.{call.name}:{call.number}<|tool_call_argument_begin|>"
    return f"{head}{_json(call.arguments)}<|tool_call_end|>"


class TagWriter(msgspec.Struct, frozen=True):
    """Tags for each parameter, `each` with its `{name}` and `{value}`; `before` and `after` hold the `{tool}`.

    `names` is a pattern of the names that `each` can say, `ends` one of what no value may hold; it may have `{name}`
    and `{tool}`, too.  With `trims` a line break at either end of a value belongs to the tags.  With `declared` only a
    parameter that the tool declares has tags.
    """

    before: str
    each: str
    after: str
    names: str
    ends: str
    joint: str = "\n"
    trims: bool = False
    declared: bool = False

    def __call__(self, call: CallToWrite, _lost: list[Loss]) -> str:
        said = [self._member(call, name, value) for name, value in call.arguments.items()]
        lines = [line for line in said if line is not None]
        if len(lines) < len(said):
            lines = [_json(call.arguments).replace("<", _ESCAPED)]
        return self.joint.join([self.before.format(tool=call.name), *lines, self.after.format(tool=call.name)])

    def _member(self, call: CallToWrite, name: str, value: Any) -> str | None:
        """A parameter between its tags; None if that cannot be said so."""
        text = value if isinstance(value, str) else _json(value)
        unknown = bool(call.typed.members) and name not in call.typed.members
        if unknown and (self.declared or len(call.arguments) == 1):
            return None  # alone, it might be taken for what wraps all arguments
        ends = self.ends.format(name=re.escape(name), tool=re.escape(call.name))
        if not re.fullmatch(self.names, name) or re.search(ends, text) or (self.trims and text.endswith("\r")):
            return None  # a carriage return would become a part of the break behind it
        if not _is_read_as(value, to_json_text(text, call.typed.member(name).kinds), text):
            return None
        bare = "\n{value}\n" not in self.each
        padded = f"\n{text}\n" if self.trims and bare and (text[:1] in ("\r", "\n") or text[-1:] == "\n") else text
        return self.each.format(name=name, value=padded)


def _is_read_as(value: Any, read: str, text: str) -> bool:
    """Whether the JSON text that a parameter's text is read as is that of the value."""
    return read.startswith('"') and json.loads(read) == value if isinstance(value, str) else read == text


class PythonWriter(msgspec.Struct, frozen=True):
    """A call with arguments by name, as Python writes it."""

    names: str

    def __call__(self, call: CallToWrite, lost: list[Loss]) -> str:
        _told(call, call.arguments, self.names, lost)
        return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


class BraceWriter(msgspec.Struct, frozen=True):
    """Gemma's literals: bare keys, and strings between delimiters of their own, in which nothing is escaped."""

    quote: str
    before: str
    after: str
    names: str

    def __call__(self, call: CallToWrite, lost: list[Loss]) -> str:
        for name, value in call.arguments.items():
            if call.typed.member(name).kinds == STRING and not isinstance(value, (str, list, dict)):
                lost.append(Loss(call.name, f"/{name}", "value", "read as text, which its schema wants"))
        return f"{self.before}call:{call.name}{self._literal(call, call.arguments, lost)}{self.after}"

    def _literal(self, call: CallToWrite, value: Any, lost: list[Loss]) -> str:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return "[" + ",".join(self._literal(call, each, lost) for each in value) + "]"
        if not isinstance(value, dict):
            return _json(value)
        _told(call, value, self.names, lost)
        return "{" + ",".join(f"{key}:{self._literal(call, each, lost)}" for key, each in value.items()) + "}"

    def _string(self, text: str) -> str:
        return _json(text).replace("<", _ESCAPED) if self.quote in text else f"{self.quote}{text}{self.quote}"


def _told(call: CallToWrite, values: dict[str, Any], names: str, lost: list[Loss]) -> None:
    """Tell of the names that cannot be said."""
    for name in values:
        if not re.fullmatch(names, name):
            lost.append(Loss(call.name, f"/{name}", "name", "written, but not read back: no name in this format"))


class Markup(msgspec.Struct, frozen=True):
    """One way to write calls: `one` writes the call of a number, `before`, `between` and `after` join several.

    `rule` is what a model must know beyond an example, `names` a pattern of the parameters' names that can be said.
    """

    dialect: str
    one: WriteCall
    before: str = ""
    between: str = "\n"
    after: str = ""
    rule: str = ""
    names: str = ANY_NAME

    def write(self, calls: Iterable[CallToWrite], lost: list[Loss]) -> str:
        """The text of calls; "" for none.  Adds what could not be said."""
        written = [self.one(call, lost) for call in calls]
        return f"{self.before}{self.between.join(written)}{self.after}" if written else ""

    def unsayable(self, tool: Tool) -> Iterator[str]:
        """The names of a tool's parameters that the format has no place for."""
        properties = tool.parameters.get("properties")
        names = properties if isinstance(properties, dict) else {}
        return (name for name in names if not re.fullmatch(self.names, name))


_VALUES = "A value that is not text is written as JSON."
_PYTHON = "Arguments are given by name, as Python literals."
_ATTRIBUTE = r"[^<>\"]{1,256}"
_AFTER_EQUALS = r"[^<>\s\"'=](?:[^<>\r\n\"'=]{0,254}[^<>\s\"'=])?"
_IN_TAG = r"[A-Za-z_][\w.-]{0,255}"
_KEYWORD = r"[^\W\d][\w-]{0,255}"
_IN_PAIR = r"(?!\s)[^<>]{1,256}(?<!\s)"
_IN_BRACES = r"[^\s:,{}\[\]<>\"](?:[^:,{}\[\]<>\"\n]{0,254}[^\s:,{}\[\]<>\"])?"

_INVOKE = TagWriter(
    '<invoke name="{tool}">',
    '<parameter name="{name}">{value}</parameter>',
    "</invoke>",
    names=_ATTRIBUTE,
    ends=r"</?(?:[\w-]{{1,32}}:)?(?:parameter|invoke|function_calls|tool_call)",
)
_FUNCTION = TagWriter(
    "<function={tool}>",
    "<parameter={name}>{value}</parameter>",
    "</function>",
    names=_AFTER_EQUALS,
    ends=r"</?(?:parameter|function|(?:seed:)?tool_call)",
    trims=True,
)
_PAIR = TagWriter(
    "<tool_call>{tool}",
    "<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>",
    "</tool_call>",
    names=_IN_PAIR,
    ends=r"</?(?:arg_key|arg_value|tool_calls?)\b",
)
_TOOL = TagWriter(
    "<{tool}>",
    "<{name}>{value}</{name}>",
    "</{tool}>",
    names=_IN_TAG,
    ends=r"</?(?:{tool}|{name})\b",
    trims=True,
    declared=True,
)

_ROWS = (
    Markup("hermes", wrap_call("<tool_call>\n", "\n</tool_call>", json_object())),
    Markup("llama3-json", json_object("parameters"), "<|python_tag|>", "; "),
    Markup("bare-json", json_object(), rule="Write nothing beside the JSON."),
    Markup("fenced-json", wrap_call("```json\n", "\n```", json_object()), rule="Write nothing beside the block."),
    Markup("mistral-array", json_object(), "[TOOL_CALLS] [", ", ", "]"),
    Markup("granite-array", json_object(), "<|tool_call|>[", ", ", "]"),
    Markup("functools", json_object(), "functools[", ", ", "]"),
    Markup(
        "cohere-action",
        json_object("parameters", "tool_name"),
        "<|START_ACTION|>[\n    ",
        ",\n    ",
        "\n]<|END_ACTION|>",
    ),
    Markup("mistral-v11", name_then_json("[TOOL_CALLS]", "[ARGS]", ""), between=""),
    Markup(
        "deepseek-v3",
        name_then_json("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n", "\n```<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁begin｜>",
        after="<｜tool▁calls▁end｜>",
    ),
    Markup(
        "deepseek-v3.1",
        name_then_json("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁begin｜>",
        "",
        "<｜tool▁calls▁end｜>",
    ),
    Markup("kimi-k2", write_numbered_call, "<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
    Markup(
        "react",
        name_then_json("Action: ", "\nAction Input: ", ""),
        rule="Then stop; the result follows as an Observation.",
    ),
    Markup(
        "harmony",
        name_then_json("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", "<|call|>"),
        between="<|start|>assistant",
    ),
    Markup(
        "qwen3-coder",
        wrap_call(
            "<tool_call>\n",
            "\n</tool_call>",
            replace(_FUNCTION, each="<parameter={name}>\n{value}\n</parameter>"),
        ),
        rule=_VALUES,
        names=_FUNCTION.names,
    ),
    Markup(
        "seed-oss",
        wrap_call("<seed:tool_call>\n", "\n</seed:tool_call>", replace(_FUNCTION, trims=False)),
        rule=_VALUES,
        names=_FUNCTION.names,
    ),
    Markup(
        "anthropic-invoke",
        _INVOKE,
        "<function_calls>\n",
        after="\n</function_calls>",
        rule=_VALUES,
        names=_INVOKE.names,
    ),
    Markup(
        "minimax-m2",
        _INVOKE,
        "<minimax:tool_call>\n",
        after="\n</minimax:tool_call>",
        rule=_VALUES,
        names=_INVOKE.names,
    ),
    Markup("glm-4.5", _PAIR, rule=_VALUES, names=_PAIR.names),
    Markup(
        "glm-4.7",
        replace(_PAIR, each=_PAIR.each.replace("\n", ""), joint=""),
        rule=_VALUES,
        names=_PAIR.names,
    ),
    Markup(
        "hunyuan-v3",
        replace(_PAIR, before="<tool_call>{tool}<tool_sep>"),
        "<tool_calls>\n",
        after="\n</tool_calls>",
        rule=_VALUES,
        names=_PAIR.names,
    ),
    Markup("tool-name-tag", _TOOL, rule=_VALUES, names=_TOOL.names),
    Markup("pythonic", PythonWriter(_KEYWORD), "[", ", ", "]", _PYTHON, _KEYWORD),
    Markup("lfm2", PythonWriter(_KEYWORD), "<|tool_call_start|>[", ", ", "]<|tool_call_end|>", _PYTHON, _KEYWORD),
    Markup("olmo3", PythonWriter(_KEYWORD), "<function_calls>\n", "\n", "\n</function_calls>", _PYTHON, _KEYWORD),
    Markup("gemma4", BraceWriter('<|"|>', "<|tool_call>", "<tool_call|>", _IN_BRACES), between="", names=_IN_BRACES),
    Markup(
        "functiongemma",
        BraceWriter("<escape>", "<start_function_call>", "<end_function_call>", _IN_BRACES),
        between="",
        names=_IN_BRACES,
    ),
)

MARKUPS: dict[str, Markup] = {row.dialect: row for row in _ROWS}
"""The ways to write calls, by the name of the dialect that reads them."""
