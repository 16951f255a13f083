"""Literals of notations other than JSON, rewritten as JSON text while they come: what Python and brace literals share.

A notation says what its brackets, its scalars and its keys are.  Containers need no recursion: what is open
is a list of levels.  In Python `{` opens a dict or a set, so its first element waits for what follows it.

Python literals become JSON text as they come.  Nothing is ever evaluated.

Both vocabularies are known (`True` and `true`, `None` and `null`).  Tuples and sets become arrays, keys become
strings.  A string may hold raw line breaks, and go on in a second literal after it.  Some models do not escape the
quotes in a string: a quote ends it only if what follows is structure, else it is data, and the call repaired.  Others
add literals (`"a" + "b"`), which is a repair, too, and believed only while no quote was data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.engine.reader import GoOn, Match, Pattern, Reader, Step
from streamparse.dialects.grammars.call_block import fail_call
from streamparse.limits import Limits, most
from streamparse.patterns import lazy_partial, lazy_re
from streamparse.schema.kinds import quote
from streamparse.sink import Call

# Takes the next piece of JSON text.
Write: TypeAlias = Callable[[str], Any]

_QUOTES = 2  # source: RFC 8259, section 7: a key stands between two quotation marks


class Notation(Protocol):
    """How the parts of a literal are written.  Its readers return False where the text is not of this notation."""

    @property
    def brackets(self) -> Mapping[str, str]:
        """The closing bracket of each opening one; `{` opens a mapping, any other a list."""

    @property
    def has_sets(self) -> bool:
        """Whether a `{` without keys is a list, too."""

    def read_scalar(self, reader: Reader, write: Write) -> Step[bool]:
        """Write a value that is no container, as JSON text."""

    def read_key(self, reader: Reader, write: Write) -> Step[bool]:
        """Write a key of a mapping, as JSON text of any kind."""

    @property
    def was_repaired(self) -> bool:
        """Whether a value could be read only after a repair."""


class _Level:
    """A container that is open."""

    __slots__ = ("closes", "fresh", "keyed", "opens")

    def __init__(self, opens: str, closes: str) -> None:
        self.opens = opens
        self.closes = closes
        self.fresh = True  # no element has come
        self.keyed = opens == "{"

    def write_lead(self) -> str:
        """Return the JSON text before an element; the next one will not be the first."""
        lead = ", " if not self.fresh else "{" if self.keyed else "["
        self.fresh = False
        return lead

    def write_end(self) -> str:
        """Return the JSON text at the closing bracket."""
        return (self.write_lead() if self.fresh else "") + ("}" if self.keyed else "]")


def read_literal(reader: Reader, write: Write, notation: Notation, limits: Limits) -> Step[bool]:
    """Write one literal as JSON text while it comes; False if it breaks off, or is of another notation."""
    levels: list[_Level] = []
    while True:
        first = yield from reader.skip_blanks()
        if first and first in notation.brackets:
            if len(levels) == limits.max_depth:
                write(first if first == "{" else "[")  # so that the text that was passed on shows the reason
                return False
            reader.take(1)
            levels.append(_Level(first, notation.brackets[first]))
        elif not (yield from notation.read_scalar(reader, write)):
            return False
        following = "end"
        while levels and following == "end":
            following = yield from _read_element(reader, write, notation, limits, levels)
        if following == "broken":
            return False
        if not levels:
            return True


def read_literal_arguments(
    reader: Reader, context: Context, call: Call, key: Pattern, closes: str, notation: Callable[[str, bool], Notation]
) -> Step[str]:
    """Read `KEY VALUE, KEY VALUE` and the closing bracket; return "" if they break off, and the call is given up.

    Else return the end of the call's JSON text, which is not passed on yet: what follows may show that it is no call.
    `key` is a pattern of a key and what separates it from its value, with the group `key`.  `notation` is asked for
    the notation of each value: with its key, and True for a scalar, False for a container.
    """
    sink = context.sink
    write = sink.call_teller(call)
    lead = "{"
    while (after := (yield from reader.skip_blanks())) != closes:
        if after == "," and lead != "{":
            reader.take(1)
            yield from reader.skip_blanks()
            continue
        found = yield from reader.match(key)
        if found is None:
            return break_off(reader, context, call)
        name = found["key"].strip()
        write(lead + quote(name) + ": ")
        lead = ", "
        value = notation(name, (yield from reader.skip_blanks()) not in ("[", "(", "{"))
        if not (yield from read_literal(reader, write, value, context.limits)):
            return break_off(reader, context, call)
        if value.was_repaired:
            sink.call_repaired(call)
    reader.take(1)
    return "{}" if lead == "{" else "}"


def break_off(reader: Reader, context: Context, call: Call) -> str:
    """Give up a call that cannot be read further, or leave it open where the text ends inside it; return ""."""
    if reader.final:  # the text ends inside the call
        context.sink.call_arguments(call, reader.take(len(reader.buffer) - reader.at))
    else:
        fail_call(context, call, f"the arguments of {call.name!r} are no such literals")
    return ""


def _read_element(
    reader: Reader, write: Write, notation: Notation, limits: Limits, levels: list[_Level]
) -> Step[Literal["value", "end", "broken"]]:
    """Go on in the innermost container: to its next value, or over its end ("end": its own value is whole)."""
    level = levels[-1]
    after = yield from reader.skip_blanks()
    if after == "," and not level.fresh:
        reader.take(1)
        after = yield from reader.skip_blanks()
    elif after != level.closes and not level.fresh:
        return "broken"
    if after == level.closes:
        reader.take(1)
        write(levels.pop().write_end())
        return "end"
    if not level.keyed or (level.fresh and notation.has_sets and after in notation.brackets):
        level.keyed = False
        write(level.write_lead())
        return "value"
    return (yield from _read_member(reader, write, notation, limits, level))


def _read_member(
    reader: Reader, write: Write, notation: Notation, limits: Limits, level: _Level
) -> Step[Literal["value", "end", "broken"]]:
    """Read a key up to its value; or, where a set begins, its first element."""
    held = StringIO()
    whole = yield from notation.read_key(reader, make_limited_writer(held, limits.max_key))
    key = held.getvalue()
    if not whole or len(key) - _QUOTES * key.startswith('"') > most(limits.max_key):
        write(level.write_lead() + key)  # it is no key, but nothing is lost
        return "broken"
    if (yield from reader.skip_blanks()) == ":":
        reader.take(1)
        write(level.write_lead() + (key if key.startswith('"') else f'"{key}"') + ": ")
        return "value"
    if not (level.fresh and notation.has_sets):
        write(level.write_lead() + key)  # it is no key, but nothing is lost
        return "broken"
    level.keyed = False
    write(level.write_lead() + key)
    return "end"


def escape_text(text: str) -> str:
    """The text as it is inside a JSON string."""
    return quote(text)[1:-1]


def make_limited_writer(held: StringIO, limit: int | None) -> Write:
    """Write, but of the JSON text of a string keep no more than it takes to know that the string passes the limit."""
    room = most(limit) + _QUOTES + 1

    def write(text: str) -> None:
        held.write(text[: room - held.tell()])

    return write


# The name of an argument; models also write Python's own keywords, and hyphens.
KEYWORD: Final = r"[^\W\d][\w-]{0,255}"

_HEX = "[0-9a-fA-F]"
_BEGIN = r"""(?:[rRuU]?(?:"{3}|'{3}|"(?=[^"]|"[^"])|'(?=[^']|'[^'])))"""
# What may follow a string that is an argument.
_AFTER_ARGUMENT = rf"(?:{GAP}(?:\)|,{GAP}(?:\)|\*|{KEYWORD}{GAP}=)|[rRuU]?[\"']))"
# What may follow a string in a container.
_AFTER_ELEMENT = rf"(?:{GAP}(?:[,\])}}:]|[rRuU]?[\"']))"

_PLAIN = {'"': lazy_re(r'[^"\\]+'), "'": lazy_re(r"[^'\\]+")}
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}
# The constants of both vocabularies, as JSON has them.
CONSTANTS: Final = {"True": "true", "true": "true", "False": "false", "false": "false", "None": "null", "null": "null"}
JSON_NUMBER: Final = lazy_re(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DECIMAL = lazy_re(r"([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eE][+-]?[0-9]+)?)")
_RADIX = lazy_re(r"[+-]?0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")


_OPENING = lazy_partial(rf"(?P<opening>{_BEGIN})")
# The beginning of another string that continues the one before.
_AGAIN = lazy_partial(rf"{GAP}(?P<plus>\+{GAP})?(?P<opening>{_BEGIN})")
# A number or a constant, as soon as a character follows that cannot belong to it.
_WORD = lazy_partial(r"[+-]?[\w.]{1,1000}+(?:(?<=[0-9.][eE])[+-][0-9]{1,9}+)?(?=[^\w.+-])")
# What ends a string, by its quote and whether it is an argument; and the same at the end of the text.
_ENDS = {
    (quote, argument): (lazy_partial(f"{quote}(?={after})"), lazy_partial(rf"{quote}(?={after}|\s*\Z)"))
    for quote in "\"'"
    for argument, after in ((True, _AFTER_ARGUMENT), (False, _AFTER_ELEMENT))
}
# A string up to a quote that may end it, where a quote may be data; by its quote and whether it is an argument.
_LOOSE = {
    (quote, argument): lazy_re(rf"""(?:[^{quote}\\]|{quote}(?=[^{after} \t\r\nrRuU"'\\]))+""")
    for quote in "\"'"
    for argument, after in ((True, "),"), (False, r",\])}:"))
}
# A quote that a `+` and another string follow, by the quote.
_JOINS = {quote: lazy_partial(rf"{quote}(?={GAP}\+{GAP}[rRuU]?[\"'])") for quote in "\"'"}
_TRIPLE = {quote: lazy_partial(quote) for quote in ('"""', "'''")}
_HIGH, _LOW = f"u[dD][89abAB]{_HEX}{{2}}", f"u[dD][c-fC-F]{_HEX}{{2}}"
# A backslash and what it escapes.
_ESCAPE = lazy_partial(
    rf"\\(?:(?P<pair>{_HIGH}\\{_LOW})|(?P<code>u(?![dD][89abAB]){_HEX}{{4}}|U{_HEX}{{8}}|x{_HEX}{{2}})"
    rf"|(?P<lone>{_HIGH}(?=[^\\]|\\[^u]|\\u(?:[^dD]|[dD][^c-fC-F])))"
    r"|(?P<octal>[0-7]{1,2}(?=[^0-7])|[0-7]{3})|(?P<line>\n|\r\n|\r(?=[^\n]))|(?P<other>[^0-7\r\nuUx]))"
)
_LAST_ESCAPE = lazy_partial(r"\\(?P<other>[\s\S]?)")
# A backslash in a raw string: it keeps a quote from ending it.
_RAW = lazy_partial(r"\\[\s\S]")


class PythonLiterals:
    """The notation of one literal; `was_repaired` says that it could be read only after a repair.

    With `argument` its strings are values of keyword arguments themselves, and not parts of a container.
    """

    brackets: MappingProxyType[str, str] = MappingProxyType({"[": "]", "(": ")", "{": "}"})
    has_sets = True

    def __init__(self, argument: bool) -> None:
        self.argument = argument
        self.was_repaired: bool = False
        self._loose = False  # a quote in a string was data

    def read_key(self, reader: Reader, write: Write) -> Step[bool]:
        return self.read_scalar(reader, write)

    def read_scalar(self, reader: Reader, write: Write) -> Step[bool]:
        opening = yield from reader.match(_OPENING)
        if opening is not None:
            write('"')
            whole = yield from self._read_string(reader, write, opening["opening"])
            if whole:
                write('"')
            return whole
        word = yield from reader.peek_match(_WORD)
        value = None if word is None else self._read_word(word[0])
        if word is not None and value is not None:
            reader.take(len(word[0]))
            write(value)
        return value is not None

    def _read_word(self, word: str) -> str | None:
        """The JSON text of a number or a constant."""
        if word in CONSTANTS:
            return CONSTANTS[word]
        digits = word.replace("_", "")
        if JSON_NUMBER.fullmatch(digits):
            return digits
        if _RADIX.fullmatch(digits):
            return str(int(digits, 0))
        parts = _DECIMAL.fullmatch(digits)
        if parts is None or not (parts[2] or parts[3]):
            return None
        sign, whole, fraction, exponent = parts[1].strip("+"), parts[2].lstrip("0") or "0", parts[3], parts[4]
        self.was_repaired = self.was_repaired or (len(parts[2]) > 1 and parts[2][0] == "0")
        return sign + whole + ("" if fraction is None else "." + (fraction or "0")) + exponent

    def _read_string(self, reader: Reader, write: Write, opening: str) -> Step[bool]:
        """Write what one or more adjacent string literals say; False if the text ends inside."""
        while True:
            raw, quote = opening[0] in "rR", opening.lstrip("rRuU")
            if not (yield from self._read_rest(reader, write, quote, raw)):
                return False
            again = yield from reader.match(_AGAIN)
            if again is None:
                return True
            self.was_repaired = self.was_repaired or again["plus"] is not None
            opening = again["opening"]

    def _read_rest(self, reader: Reader, write: Write, quote: str, raw: bool) -> Step[bool]:
        """Write a string up to its closing quote, and take that."""
        while True:
            # Where nothing is reported yet, quotes that are data are taken with the rest.
            is_loose = self._loose and len(quote) == 1 and not reader.is_committed
            plain = _LOOSE[quote, self.argument] if is_loose else _PLAIN[quote[0]]
            run = plain.match(reader.buffer, reader.at)
            if run is not None:
                write(escape_text(reader.take(run.end() - run.start())))
            if reader.at == len(reader.buffer):
                if reader.final:
                    return False
                reader.fast_path = _make_fast_path(quote[0], write) if reader.is_committed else None
                yield
                reader.fast_path = None
            elif reader.buffer[reader.at] == "\\":
                yield from self._read_escape(reader, write, raw)
            elif (yield from self._ends_string(reader, quote)):
                reader.take(len(quote))
                return True
            else:
                write(escape_text(reader.take(1)))

    def _ends_string(self, reader: Reader, quote: str) -> Step[bool]:
        """Whether the quote that comes next ends the string."""
        if len(quote) == 3:
            return (yield from reader.peek_match(_TRIPLE[quote])) is not None
        end, last = _ENDS[quote, self.argument]
        found = yield from reader.peek_match(end, last)
        if found is None and not self._loose:
            found = yield from reader.peek_match(_JOINS[quote])
        self._loose = self._loose or found is None
        self.was_repaired = self.was_repaired or self._loose
        return found is not None

    def _read_escape(self, reader: Reader, write: Write, raw: bool) -> Step[None]:
        found = yield from reader.match(_RAW if raw else _ESCAPE, _LAST_ESCAPE)
        if found is None:  # a code that breaks off
            write(escape_text(reader.take(1)))
        else:
            write(escape_text(found[0] if raw else _unescape(found)))


def _unescape(escape: Match) -> str:
    """What an escape means; one that Python does not have means itself."""
    groups = escape.groupdict()
    if groups["other"] is not None:
        return _SIMPLE.get(groups["other"], escape[0])
    if groups["pair"]:
        return bytes.fromhex(groups["pair"].replace("\\", "").replace("u", "")).decode("utf-16-be")
    if groups["octal"]:
        return chr(int(groups["octal"], 8))
    if groups["line"]:
        return ""
    code = int((groups["code"] or groups["lone"])[1:], 16)
    return "\ufffd" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)


def _make_fast_path(quote: str, write: Write) -> GoOn:
    """The short way for text that only continues a string."""

    def go_on(text: str, _: Reader) -> str | None:
        if quote in text or "\\" in text:
            return text
        write(escape_text(text))
        return None

    return go_on
