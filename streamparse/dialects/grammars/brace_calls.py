"""Grammar G: a call as a brace literal whose strings have a delimiter of their own.

    <|tool_call>call:NAME{key:<|"|>text<|"|>,n:42,o:{k:[1,true,null]}}<tool_call|>

Keys are bare words, strings have no escapes: nothing but the delimiter ends one.  The arguments become JSON text on
the way; the call is complete at the brace that closes it.  Strings in plain quotes, or in none, are repaired; so are
arguments in parentheses, as `(key: "text")` or `(key="text")`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, partial
from types import MappingProxyType

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, compile_markers, write_any
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_block import Patterns
from streamparse.dialects.grammars.json_values import read_string
from streamparse.dialects.grammars.literals import CONSTANTS, JSON_NUMBER, Write, escape_text, read_literal_arguments
from streamparse.schema.kinds import STRING, quote

# The beginning of a call.
BRACE_HEAD = (
    rf"{GAP}call:[ ]?(?P<name>[\w.:/-]{{1,256}}+){GAP}"
    rf"(?:\{{|(?P<odd>\((?={GAP}(?:\)|[A-Za-z_]\w{{0,255}}{GAP}[:=]))))"
)

_KEY = r"[^\s:,{}\[\]<>\"][^:,{}\[\]<>\"\n]{0,255}"
_WORD = r"(?P<key>[A-Za-z_]\w{0,255})(?=[ \t\r\n]{0,64}[:=])"


class BraceCalls(msgspec.Struct, frozen=True, dict=True):
    """The markers of one format: what delimits a string, and what may follow a call."""

    delimiter: str
    closes: tuple[str, ...]
    # The beginning of a call up to its brace: a pattern with the group `name`.
    follows: str = BRACE_HEAD

    @cached_property
    def patterns(self) -> Patterns:
        """The parts of a call."""
        quote = re.escape(self.delimiter)
        mark = rf"(?:{quote}|\")?"  # some models delimit a key as a string
        key = rf"{mark}(?P<key>{_KEY}){mark}(?={GAP}:)"
        return Patterns(
            head=self.follows,
            end=rf"{GAP}{write_any(self.closes)}",
            opening=quote,
            key=key,
            parameter=rf"{key}{GAP}:",
            # A number, a constant, or a text without delimiters, up to the next key or the end of the call.
            argument=rf"[^{{}}\[\]\"]{{1,1000}}?(?={GAP}(?:\}}|,{GAP}{key}{GAP}:))",
            # The same in parentheses.
            odd_parameter=rf"{_WORD}{GAP}[:=]",
            odd_argument=rf"[^{{}}\[\]\"()]{{1,1000}}?(?={GAP}(?:\)|,{GAP}{_WORD}{GAP}[:=]))",
            element=r"[^{}\[\]\",]{1,1000}+(?=[\]},])",  # the same inside of a container
        )

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        head = yield from reader.match(self.patterns.head)
        assert head is not None  # the dialect is asked only where this very pattern has matched
        name = context.resolve_name(head["name"])
        if not context.believes(name):
            return False
        reader.commit()
        call = context.sink.call_start(name, None, "inband")
        is_odd = head.groupdict().get("odd") is not None
        if is_odd:
            context.sink.call_repaired(call)
        notation = partial(_Braces, self, context, name, is_odd)
        key, closes = (self.patterns.odd_parameter, ")") if is_odd else (self.patterns.parameter, "}")
        last = yield from read_literal_arguments(reader, context, call, key, closes, notation)
        if last:
            context.sink.call_arguments(call, last)
            context.sink.call_end(call)
            while (yield from reader.match_end(self.patterns.end)) is not None:
                pass  # Gemma 4 writes it twice at times
        return True


class _Braces:
    """The notation of one literal; `was_repaired` says that it could be read only after a repair."""

    brackets: Mapping[str, str] = MappingProxyType({"[": "]", "{": "}"})
    has_sets = False

    def __init__(self, format: BraceCalls, context: Context, tool: str, is_odd: bool, key: str, argument: bool) -> None:
        self._format = format
        self._patterns = format.patterns
        self._limits = context.limits
        self._bare = self._patterns.element
        if argument:
            self._bare = self._patterns.odd_argument if is_odd else self._patterns.argument
        self._text = argument and context.view_parameters(tool).view_member(key).kinds == STRING
        self.was_repaired = False

    def read_key(self, reader: Reader, write: Write) -> Step[bool]:
        found = yield from reader.match(self._patterns.key)
        if found is not None:
            write(quote(found["key"].strip()))
        return found is not None

    def read_scalar(self, reader: Reader, write: Write) -> Step[bool]:
        if (yield from reader.match(self._patterns.opening)) is not None:
            return (yield from self._read_string(reader, write))
        if (yield from reader.peek()) == '"':
            text = yield from read_string(reader, self._limits.max_call_args, write)
            self.was_repaired = True
            if text is not None:
                write(quote(text))
            return text is not None
        bare = yield from reader.peek_match(self._bare)
        if bare is None:
            return False
        text = reader.take(len(bare[0])).strip()
        value = None if self._text else CONSTANTS.get(text) or (text if JSON_NUMBER.fullmatch(text) else None)
        self.was_repaired = self.was_repaired or value is None
        write(quote(text) if value is None else value)
        return True

    def _read_string(self, reader: Reader, write: Write) -> Step[bool]:
        write('"')
        end = yield from reader.read_until(
            compile_markers(self._format.delimiter), lambda text: write(escape_text(text))
        )
        if end:
            reader.take(len(end))
            write('"')
        return bool(end)
