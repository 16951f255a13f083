"""How calls are written as text: a writer for each family of dialects, the inverse of what the dialects read.

Not every dialect can write every argument:

| family | what it cannot write | what is written instead |
|---|---|---|
| tags | what is no name there | all arguments as one JSON object between the tags of the call |
| tags | a text that holds the call's tags, or that is read as another kind of value | the same |
| Python | what is no name in Python | the name, with a `Loss` |
| brace literals | a name with punctuation | the name, with a `Loss` |
| brace literals | a text that holds the delimiter | a string as JSON has it |

The schema says what a text between tags is read as; where that is not known, a text that is JSON of another kind is
read as that.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.schema.kinds import STRING, SchemaView, to_json_text
from streamparse.tools import Tool
from streamparse.writing.json_access import get_object

_ANY_NAME: Final = r"(?s).*"
_ESCAPED: Final = "\\u003c"
"""`<` in JSON: so no marker is in a string."""


class CallToWrite(msgspec.Struct, frozen=True):
    """A call that is to be written: its number in its message, and its tool's schema as far as that is known."""

    name: str
    arguments: dict[str, Any]
    number: int = 0
    typed: SchemaView = SchemaView([], None)


def _write_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class MarkupWriter(msgspec.Struct, frozen=True):
    """Writes one call between `before` and `after`, which may have its `{tool}` and its `{number}`.

    `names` is a pattern of the parameters' names that can be written.  `rule` is what a model must know beyond an
    example.
    """

    before: str = ""
    after: str = ""
    names: str = _ANY_NAME
    rule: ClassVar[str] = ""

    @abstractmethod
    def write_arguments(self, call: CallToWrite, lost: list[Loss]) -> str:
        """Write the text between the two; add the losses."""

    def write(self, call: CallToWrite, lost: list[Loss]) -> str:
        """Write a call; add what cannot be written."""
        before, after = (text.format(tool=call.name, number=call.number) for text in (self.before, self.after))
        return f"{before}{self.write_arguments(call, lost)}{after}"

    def _report_names(self, call: CallToWrite, values: dict[str, Any], lost: list[Loss]) -> None:
        for name in values:
            if not re.fullmatch(self.names, name):
                lost.append(Loss(call.name, f"/{name}", "name", "written, but not read back: no name in this format"))


class ObjectWriter(MarkupWriter, frozen=True):
    """One JSON object with the name and the arguments, under these keys."""

    name_key: str = "name"
    arguments_key: str = "arguments"

    def write_arguments(self, call: CallToWrite, _lost: list[Loss]) -> str:
        return _write_json({self.name_key: call.name, self.arguments_key: call.arguments})


class ArgumentsWriter(MarkupWriter, frozen=True):
    """The arguments as one JSON object; the name is before them."""

    def write_arguments(self, call: CallToWrite, _lost: list[Loss]) -> str:
        return _write_json(call.arguments)


class TagWriter(MarkupWriter, frozen=True, kw_only=True):
    """Tags for each parameter: `each` has its `{name}` and `{value}`.

    `ends` is a pattern of what no value may have; it may have `{name}` and `{tool}`, too.  With `trims` a line break at
    either end of a value belongs to the tags.  With `is_declared` only a parameter that the tool declares has tags.
    """

    each: str
    ends: str
    separator: str = "\n"
    trims: bool = False
    is_declared: bool = False
    rule: ClassVar[str] = "A value that is not text is written as JSON."

    def write_arguments(self, call: CallToWrite, _lost: list[Loss]) -> str:
        members = [self._write_member(call, name, value) for name, value in call.arguments.items()]
        lines = [member for member in members if member is not None]
        if len(lines) < len(members):
            lines = [_write_json(call.arguments).replace("<", _ESCAPED)]
        return self.separator.join(["", *lines, ""])

    def _write_member(self, call: CallToWrite, name: str, value: Any) -> str | None:
        """Write a parameter between its tags; None if that cannot be read back."""
        text = value if isinstance(value, str) else _write_json(value)
        is_unknown = bool(call.typed.members) and name not in call.typed.members
        if is_unknown and (self.is_declared or len(call.arguments) == 1):
            return None  # alone, it might be taken for what wraps all arguments
        ends = self.ends.format(name=re.escape(name), tool=re.escape(call.name))
        if not re.fullmatch(self.names, name) or re.search(ends, text) or (self.trims and text.endswith("\r")):
            return None  # a carriage return would become a part of the break after it
        if not _is_read_as(value, to_json_text(text, call.typed.view_member(name).kinds), text):
            return None
        bare = "\n{value}\n" not in self.each
        padded = f"\n{text}\n" if self.trims and bare and (text[:1] in ("\r", "\n") or text[-1:] == "\n") else text
        return self.each.format(name=name, value=padded)


def _is_read_as(value: Any, read: str, text: str) -> bool:
    """Whether a parameter's text is read as this value."""
    return read.startswith('"') and json.loads(read) == value if isinstance(value, str) else read == text


class PythonWriter(MarkupWriter, frozen=True):
    """A call with arguments by name, as Python writes it."""

    rule: ClassVar[str] = "Arguments are given by name, as Python literals."

    def write_arguments(self, call: CallToWrite, lost: list[Loss]) -> str:
        self._report_names(call, call.arguments, lost)
        return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


class BraceWriter(MarkupWriter, frozen=True, kw_only=True):
    """Gemma's literals: bare keys, and strings between delimiters of their own, in which nothing is escaped."""

    quote: str

    def write_arguments(self, call: CallToWrite, lost: list[Loss]) -> str:
        for name, value in call.arguments.items():
            if call.typed.view_member(name).kinds == STRING and not isinstance(value, (str, list, dict)):
                lost.append(Loss(call.name, f"/{name}", "value", "read as text, which its schema wants"))
        return self._write_literal(call, call.arguments, lost)

    def _write_literal(self, call: CallToWrite, value: Any, lost: list[Loss]) -> str:
        if isinstance(value, str):
            is_escaped = self.quote in value
            return _write_json(value).replace("<", _ESCAPED) if is_escaped else f"{self.quote}{value}{self.quote}"
        if isinstance(value, list):
            return "[" + ",".join(self._write_literal(call, each, lost) for each in value) + "]"
        if not isinstance(value, dict):
            return _write_json(value)
        self._report_names(call, value, lost)
        return "{" + ",".join(f"{key}:{self._write_literal(call, each, lost)}" for key, each in value.items()) + "}"


class Markup(msgspec.Struct, frozen=True):
    """One way to write calls: `one` writes a call, `before`, `between` and `after` join several.

    `rule` is what a model must know beyond an example.
    """

    dialect: str
    one: MarkupWriter
    before: str = ""
    between: str = "\n"
    after: str = ""
    own_rule: str = ""

    @property
    def rule(self) -> str:
        """What a model must know beyond an example."""
        return self.own_rule or self.one.rule

    def write(self, calls: Iterable[CallToWrite], lost: list[Loss]) -> str:
        """Write calls as text; "" for none.  Add what cannot be written."""
        written = [self.one.write(call, lost) for call in calls]
        return f"{self.before}{self.between.join(written)}{self.after}" if written else ""

    def list_unwritable(self, tool: Tool) -> Iterator[str]:
        """List the names of a tool's parameters that the dialect has no place for."""
        names = get_object(tool.parameters, "properties")
        return (name for name in names if not re.fullmatch(self.one.names, name))


_IN_TAG = r"[A-Za-z_][\w.-]{0,255}"
_ATTRIBUTE = r"[^<>\"]{1,256}"
_AFTER_EQUALS = r"[^<>\s\"'=](?:[^<>\r\n\"'=]{0,254}[^<>\s\"'=])?"
_KEYWORD = r"[^\W\d][\w-]{0,255}"
_IN_PAIR = r"(?!\s)[^<>]{1,256}(?<!\s)"
_IN_BRACES = r"[^\s:,{}\[\]<>\"](?:[^:,{}\[\]<>\"\n]{0,254}[^\s:,{}\[\]<>\"])?"

_INVOKE = TagWriter(
    '<invoke name="{tool}">',
    "</invoke>",
    _ATTRIBUTE,
    each='<parameter name="{name}">{value}</parameter>',
    ends=r"</?(?:[\w-]{{1,32}}:)?(?:parameter|invoke|function_calls|tool_call)",
)
_FUNCTION = TagWriter(
    "<tool_call>\n<function={tool}>",
    "</function>\n</tool_call>",
    _AFTER_EQUALS,
    each="<parameter={name}>\n{value}\n</parameter>",
    ends=r"</?(?:parameter|function|(?:seed:)?tool_call)",
    trims=True,
)
_SEED = replace(
    _FUNCTION,
    before="<seed:tool_call>\n<function={tool}>",
    after="</function>\n</seed:tool_call>",
    each="<parameter={name}>{value}</parameter>",
    trims=False,
)
_PAIR = TagWriter(
    "<tool_call>{tool}",
    "</tool_call>",
    _IN_PAIR,
    each="<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>",
    ends=r"</?(?:arg_key|arg_value|tool_calls?)\b",
)
_TOOL = TagWriter(
    "<{tool}>",
    "</{tool}>",
    _IN_TAG,
    each="<{name}>{value}</{name}>",
    ends=r"</?(?:{tool}|{name})\b",
    trims=True,
    is_declared=True,
)
_PYTHON = PythonWriter(names=_KEYWORD)
_GEMMA = BraceWriter("<|tool_call>call:{tool}", "<tool_call|>", _IN_BRACES, quote='<|"|>')
_FUNCTION_GEMMA = BraceWriter("<start_function_call>call:{tool}", "<end_function_call>", _IN_BRACES, quote="<escape>")
_DEEPSEEK = ArgumentsWriter("<｜tool▁call▁begin｜>{tool}<｜tool▁sep｜>", "<｜tool▁call▁end｜>")
_DEEPSEEK_FENCED = ArgumentsWriter(
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{tool}\n```json\n", "\n```<｜tool▁call▁end｜>"
)
_DEEPSEEK_CALLS = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
_KIMI = ArgumentsWriter("<|tool_call_begin|>functions.{tool}:{number}<|tool_call_argument_begin|>", "<|tool_call_end|>")
_HARMONY = ArgumentsWriter("<|channel|>commentary to=functions.{tool} <|constrain|>json<|message|>", "<|call|>")
_COHERE = ObjectWriter(name_key="tool_name", arguments_key="parameters")

_ROWS = (
    Markup("hermes", ObjectWriter("<tool_call>\n", "\n</tool_call>")),
    Markup("llama3-json", ObjectWriter(arguments_key="parameters"), "<|python_tag|>", "; "),
    Markup("bare-json", ObjectWriter(), own_rule="Write nothing beside the JSON."),
    Markup("fenced-json", ObjectWriter("```json\n", "\n```"), own_rule="Write nothing beside the block."),
    Markup("mistral-array", ObjectWriter(), "[TOOL_CALLS] [", ", ", "]"),
    Markup("granite-array", ObjectWriter(), "<|tool_call|>[", ", ", "]"),
    Markup("functools", ObjectWriter(), "functools[", ", ", "]"),
    Markup("cohere-action", _COHERE, "<|START_ACTION|>[\n    ", ",\n    ", "\n]<|END_ACTION|>"),
    Markup("mistral-v11", ArgumentsWriter("[TOOL_CALLS]{tool}[ARGS]"), between=""),
    Markup("deepseek-v3", _DEEPSEEK_FENCED, _DEEPSEEK_CALLS[0], after=_DEEPSEEK_CALLS[1]),
    Markup("deepseek-v3.1", _DEEPSEEK, _DEEPSEEK_CALLS[0], "", _DEEPSEEK_CALLS[1]),
    Markup("kimi-k2", _KIMI, "<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
    Markup(
        "react",
        ArgumentsWriter("Action: {tool}\nAction Input: "),
        own_rule="Then stop; the result follows as an Observation.",
    ),
    Markup("harmony", _HARMONY, between="<|start|>assistant"),
    Markup("qwen3-coder", _FUNCTION),
    Markup("seed-oss", _SEED),
    Markup("anthropic-invoke", _INVOKE, "<function_calls>\n", after="\n</function_calls>"),
    Markup("minimax-m2", _INVOKE, "<minimax:tool_call>\n", after="\n</minimax:tool_call>"),
    Markup("glm-4.5", _PAIR),
    Markup("glm-4.7", replace(_PAIR, each=_PAIR.each.replace("\n", ""), separator="")),
    Markup(
        "hunyuan-v3", replace(_PAIR, before="<tool_call>{tool}<tool_sep>"), "<tool_calls>\n", after="\n</tool_calls>"
    ),
    Markup("tool-name-tag", _TOOL),
    Markup("pythonic", _PYTHON, "[", ", ", "]"),
    Markup("lfm2", _PYTHON, "<|tool_call_start|>[", ", ", "]<|tool_call_end|>"),
    Markup("olmo3", _PYTHON, "<function_calls>\n", "\n", "\n</function_calls>"),
    Markup("gemma4", _GEMMA, between=""),
    Markup("functiongemma", _FUNCTION_GEMMA, between=""),
)

MARKUPS: dict[str, Markup] = {row.dialect: row for row in _ROWS}
"""The ways to write calls, by the name of the dialect that reads them."""

PromptDialect: TypeAlias = Literal[
    "hermes", "llama3-json", "bare-json", "fenced-json", "mistral-array", "granite-array", "functools",
    "cohere-action", "mistral-v11", "deepseek-v3", "deepseek-v3.1", "kimi-k2", "react", "harmony", "qwen3-coder",
    "seed-oss", "anthropic-invoke", "minimax-m2", "glm-4.5", "glm-4.7", "hunyuan-v3", "tool-name-tag", "pythonic",
    "lfm2", "olmo3", "gemma4", "functiongemma",
] | str  # fmt: skip
"""The name of a dialect that has a prompt, one of `MARKUPS`: editors complete it."""
