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
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from streamparse.loss import Loss
from streamparse.schema.kinds import STRING, SchemaView, to_json_text

__all__ = ["ANY_NAME", "Braces", "Python", "Spoken", "Tags", "WriteCall", "between", "json_object", "kimi", "named"]

ANY_NAME: Final = r"(?s).*"
_ESCAPED: Final = "\\u003c"
"""`<` in JSON: so no marker stands in a string."""


class Spoken(msgspec.Struct, frozen=True):
    """A call that is to be written: its number in its turn, and its tool's schema as far as that is known."""

    name: str
    arguments: dict[str, Any]
    number: int = 0
    typed: SchemaView = SchemaView([], None)


WriteCall: TypeAlias = Callable[[Spoken, list[Loss]], str]
"""Writes one call; adds what could not be said."""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_object(arguments: str = "arguments", name: str = "name") -> WriteCall:
    """One JSON object with the name and the arguments."""
    return lambda call, _lost: _json({name: call.name, arguments: call.arguments})


def between(before: str, after: str, inner: WriteCall) -> WriteCall:
    """A call between markers."""
    return lambda call, lost: f"{before}{inner(call, lost)}{after}"


def named(before: str, middle: str, after: str) -> WriteCall:
    """A name, then the arguments as JSON, between markers."""
    return lambda call, _lost: f"{before}{call.name}{middle}{_json(call.arguments)}{after}"


def kimi(call: Spoken, _lost: list[Loss]) -> str:
    """Kimi's calls, which say their number."""
    head = f"<|tool_call_begin|>functions.{call.name}:{call.number}<|tool_call_argument_begin|>"
    return f"{head}{_json(call.arguments)}<|tool_call_end|>"


class Tags(msgspec.Struct, frozen=True):
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

    def __call__(self, call: Spoken, _lost: list[Loss]) -> str:
        said = [self._member(call, name, value) for name, value in call.arguments.items()]
        lines = [line for line in said if line is not None]
        if len(lines) < len(said):
            lines = [_json(call.arguments).replace("<", _ESCAPED)]
        return self.joint.join([self.before.format(tool=call.name), *lines, self.after.format(tool=call.name)])

    def _member(self, call: Spoken, name: str, value: Any) -> str | None:
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


class Python(msgspec.Struct, frozen=True):
    """A call with arguments by name, as Python writes it."""

    names: str

    def __call__(self, call: Spoken, lost: list[Loss]) -> str:
        _told(call, call.arguments, self.names, lost)
        return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


class Braces(msgspec.Struct, frozen=True):
    """Gemma's literals: bare keys, and strings between delimiters of their own, in which nothing is escaped."""

    quote: str
    before: str
    after: str
    names: str

    def __call__(self, call: Spoken, lost: list[Loss]) -> str:
        for name, value in call.arguments.items():
            if call.typed.member(name).kinds == STRING and not isinstance(value, (str, list, dict)):
                lost.append(Loss(call.name, f"/{name}", "value", "read as text, which its schema wants"))
        return f"{self.before}call:{call.name}{self._literal(call, call.arguments, lost)}{self.after}"

    def _literal(self, call: Spoken, value: Any, lost: list[Loss]) -> str:
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


def _told(call: Spoken, values: dict[str, Any], names: str, lost: list[Loss]) -> None:
    """Tell of the names that cannot be said."""
    for name in values:
        if not re.fullmatch(names, name):
            lost.append(Loss(call.name, f"/{name}", "name", "written, but not read back: no name in this format"))
