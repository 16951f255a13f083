"""The formats in which calls are written as text, by the dialects that read them: a row for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.tools import Tool
from streamparse.writing.call_writers import (
    ANY_NAME,
    Braces,
    Python,
    Spoken,
    Tags,
    WriteCall,
    between,
    json_object,
    kimi,
    named,
)

__all__ = ["MARKUPS", "Markup"]


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

    def write(self, calls: Iterable[Spoken], lost: list[Loss]) -> str:
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

_INVOKE = Tags(
    '<invoke name="{tool}">',
    '<parameter name="{name}">{value}</parameter>',
    "</invoke>",
    names=_ATTRIBUTE,
    ends=r"</?(?:[\w-]{{1,32}}:)?(?:parameter|invoke|function_calls|tool_call)",
)
_FUNCTION = Tags(
    "<function={tool}>",
    "<parameter={name}>{value}</parameter>",
    "</function>",
    names=_AFTER_EQUALS,
    ends=r"</?(?:parameter|function|(?:seed:)?tool_call)",
    trims=True,
)
_PAIR = Tags(
    "<tool_call>{tool}",
    "<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>",
    "</tool_call>",
    names=_IN_PAIR,
    ends=r"</?(?:arg_key|arg_value|tool_calls?)\b",
)
_TOOL = Tags(
    "<{tool}>",
    "<{name}>{value}</{name}>",
    "</{tool}>",
    names=_IN_TAG,
    ends=r"</?(?:{tool}|{name})\b",
    trims=True,
    declared=True,
)

_ROWS = (
    Markup("hermes", between("<tool_call>\n", "\n</tool_call>", json_object())),
    Markup("llama3-json", json_object("parameters"), "<|python_tag|>", "; "),
    Markup("bare-json", json_object(), rule="Write nothing beside the JSON."),
    Markup("fenced-json", between("```json\n", "\n```", json_object()), rule="Write nothing beside the block."),
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
    Markup("mistral-v11", named("[TOOL_CALLS]", "[ARGS]", ""), between=""),
    Markup(
        "deepseek-v3",
        named("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n", "\n```<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁begin｜>",
        after="<｜tool▁calls▁end｜>",
    ),
    Markup(
        "deepseek-v3.1",
        named("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁begin｜>",
        "",
        "<｜tool▁calls▁end｜>",
    ),
    Markup("kimi-k2", kimi, "<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
    Markup("react", named("Action: ", "\nAction Input: ", ""), rule="Then stop; the result follows as an Observation."),
    Markup(
        "harmony",
        named("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", "<|call|>"),
        between="<|start|>assistant",
    ),
    Markup(
        "qwen3-coder",
        between(
            "<tool_call>\n",
            "\n</tool_call>",
            replace(_FUNCTION, each="<parameter={name}>\n{value}\n</parameter>"),
        ),
        rule=_VALUES,
        names=_FUNCTION.names,
    ),
    Markup(
        "seed-oss",
        between("<seed:tool_call>\n", "\n</seed:tool_call>", replace(_FUNCTION, trims=False)),
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
    Markup("pythonic", Python(_KEYWORD), "[", ", ", "]", _PYTHON, _KEYWORD),
    Markup("lfm2", Python(_KEYWORD), "<|tool_call_start|>[", ", ", "]<|tool_call_end|>", _PYTHON, _KEYWORD),
    Markup("olmo3", Python(_KEYWORD), "<function_calls>\n", "\n", "\n</function_calls>", _PYTHON, _KEYWORD),
    Markup("gemma4", Braces('<|"|>', "<|tool_call>", "<tool_call|>", _IN_BRACES), between="", names=_IN_BRACES),
    Markup(
        "functiongemma",
        Braces("<escape>", "<start_function_call>", "<end_function_call>", _IN_BRACES),
        between="",
        names=_IN_BRACES,
    ),
)

MARKUPS: dict[str, Markup] = {row.dialect: row for row in _ROWS}
"""The ways to write calls, by the name of the dialect that reads them."""
