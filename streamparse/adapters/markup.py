"""How calls are written as text, one way for each family of dialects: the inverse of what the dialects read.

A value can only be written where the format can say it: the tag formats have no escape, so a text that holds their own
closing tag comes back cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from streamparse.response import ToolCall

__all__ = ["MARKUPS", "Markup"]

WriteCall: TypeAlias = Callable[[str, dict[str, Any], int], str]


class Markup(msgspec.Struct, frozen=True):
    """One way to write calls: `one` writes the call of a number, `before`, `between` and `after` join several.

    `rule` is what a model must know beyond an example.
    """

    dialect: str
    one: WriteCall
    before: str = ""
    between: str = "\n"
    after: str = ""
    rule: str = ""

    def write(self, calls: Iterable[ToolCall]) -> str:
        """The text of calls; "" for none."""
        written = [self.one(call.name, call.arguments, number) for number, call in enumerate(calls)]
        return f"{self.before}{self.between.join(written)}{self.after}" if written else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(arguments: str = "arguments", name: str = "name") -> WriteCall:
    return lambda tool, values, _number: _json({name: tool, arguments: values})


def _between(before: str, after: str, inner: WriteCall) -> WriteCall:
    return lambda tool, values, number: f"{before}{inner(tool, values, number)}{after}"


def _named(before: str, between: str, after: str) -> WriteCall:
    """A name, then the arguments as JSON, between markers."""
    return lambda tool, values, _number: f"{before}{tool}{between}{_json(values)}{after}"


def _kimi(tool: str, values: dict[str, Any], number: int) -> str:
    head = f"<|tool_call_begin|>functions.{tool}:{number}<|tool_call_argument_begin|>"
    return f"{head}{_json(values)}<|tool_call_end|>"


def _text(value: Any) -> str:
    """A value between tags: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else _json(value)


def _tags(before: str, each: str, after: str, joint: str = "\n") -> WriteCall:
    """Tags for each parameter, written with `{name}` and `{value}`; `before` holds the `{tool}`."""

    def write(tool: str, values: dict[str, Any], _number: int) -> str:
        inner = "".join(each.format(name=name, value=_text(value)) + joint for name, value in values.items())
        return before.format(tool=tool) + joint + inner + after.format(tool=tool)

    return write


def _python(tool: str, values: dict[str, Any], _number: int) -> str:
    return f"{tool}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def _braces(quote: str, before: str, after: str) -> WriteCall:
    """Gemma's literals: bare keys, and strings between delimiters of their own."""

    def literal(value: Any) -> str:
        if isinstance(value, str):
            return f"{quote}{value}{quote}"
        if isinstance(value, dict):
            return "{" + ",".join(f"{key}:{literal(each)}" for key, each in value.items()) + "}"
        return "[" + ",".join(map(literal, value)) + "]" if isinstance(value, list) else _json(value)

    return lambda tool, values, _number: f"{before}call:{tool}{literal(values)}{after}"


_VALUES = "A value that is not text is written as JSON."
_PYTHON = "Arguments are given by name, as Python literals."
_INVOKE = ('<invoke name="{tool}">', '<parameter name="{name}">{value}</parameter>', "</invoke>")
_FUNCTION = ("<function={tool}>", "<parameter={name}>{value}</parameter>", "</function>")
_PAIR = "<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>"

_ROWS = (
    Markup("hermes", _between("<tool_call>\n", "\n</tool_call>", _object())),
    Markup("llama3-json", _object("parameters"), "<|python_tag|>", "; "),
    Markup("bare-json", _object(), rule="Write nothing beside the JSON."),
    Markup("fenced-json", _between("```json\n", "\n```", _object()), rule="Write nothing beside the block."),
    Markup("mistral-array", _object(), "[TOOL_CALLS] [", ", ", "]"),
    Markup("granite-array", _object(), "<|tool_call|>[", ", ", "]"),
    Markup("functools", _object(), "functools[", ", ", "]"),
    Markup(
        "cohere-action", _object("parameters", "tool_name"), "<|START_ACTION|>[\n    ", ",\n    ", "\n]<|END_ACTION|>"
    ),
    Markup("mistral-v11", _named("[TOOL_CALLS]", "[ARGS]", ""), between=""),
    Markup(
        "deepseek-v3",
        _named("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n", "\n```<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁begin｜>",
        after="<｜tool▁calls▁end｜>",
    ),
    Markup(
        "deepseek-v3.1",
        _named("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁begin｜>",
        "",
        "<｜tool▁calls▁end｜>",
    ),
    Markup("kimi-k2", _kimi, "<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
    Markup(
        "react", _named("Action: ", "\nAction Input: ", ""), rule="Then stop; the result follows as an Observation."
    ),
    Markup(
        "harmony",
        _named("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", "<|call|>"),
        between="<|start|>assistant",
    ),
    Markup(
        "qwen3-coder",
        _between(
            "<tool_call>\n",
            "\n</tool_call>",
            _tags(_FUNCTION[0], "<parameter={name}>\n{value}\n</parameter>", _FUNCTION[2]),
        ),
        rule=_VALUES,
    ),
    Markup("seed-oss", _between("<seed:tool_call>\n", "\n</seed:tool_call>", _tags(*_FUNCTION)), rule=_VALUES),
    Markup("anthropic-invoke", _tags(*_INVOKE), "<function_calls>\n", after="\n</function_calls>", rule=_VALUES),
    Markup("minimax-m2", _tags(*_INVOKE), "<minimax:tool_call>\n", after="\n</minimax:tool_call>", rule=_VALUES),
    Markup("glm-4.5", _tags("<tool_call>{tool}", _PAIR, "</tool_call>"), rule=_VALUES),
    Markup("glm-4.7", _tags("<tool_call>{tool}", _PAIR.replace("\n", ""), "</tool_call>", ""), rule=_VALUES),
    Markup(
        "hunyuan-v3",
        _tags("<tool_call>{tool}<tool_sep>", _PAIR, "</tool_call>"),
        "<tool_calls>\n",
        after="\n</tool_calls>",
        rule=_VALUES,
    ),
    Markup("tool-name-tag", _tags("<{tool}>", "<{name}>{value}</{name}>", "</{tool}>"), rule=_VALUES),
    Markup("pythonic", _python, "[", ", ", "]", _PYTHON),
    Markup("lfm2", _python, "<|tool_call_start|>[", ", ", "]<|tool_call_end|>", _PYTHON),
    Markup("olmo3", _python, "<function_calls>\n", "\n", "\n</function_calls>", _PYTHON),
    Markup("gemma4", _braces('<|"|>', "<|tool_call>", "<tool_call|>"), between=""),
    Markup("functiongemma", _braces("<escape>", "<start_function_call>", "<end_function_call>"), between=""),
)

MARKUPS: dict[str, Markup] = {row.dialect: row for row in _ROWS}
"""The ways to write calls, by the name of the dialect that reads them."""
