"""Grammar F: calls as Python writes them.

    [NAME(key="value", n=1), NAME2()]

Also one call a line, without the list.  The head of a call is believed only as far as its first `key=`, or the `)`:
no prose and no Markdown looks like that.  Then the arguments stream as JSON text.

A `)` alone proves nothing: a string whose quotes are not escaped may hold it (`bash(command='grep ')' file')`).  The
call is complete when what follows proves it: the head of another call after a comma, a semicolon or a line break; the
`]` of the list; a closing marker of the format; a good end of the text.  Anything else shows that this was no list of
calls: the call is malformed.

Where only declared tools are believed, one of them vouches for all calls of its list, also for those before it.

Some write the objects of grammar B as Python literals:

    <|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}, {'name': 'now', 'arguments': {}}]

Such a call starts as soon as its name and its arguments' key have come, and is complete at the brace that closes its
dict.
"""

from __future__ import annotations

from io import StringIO

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, write_any
from streamparse.dialects.engine.reader import Match, Pattern, Reader, Step
from streamparse.dialects.grammars.call_block import fail_call, read_block, write_call
from streamparse.dialects.grammars.call_json import disproves_call
from streamparse.dialects.grammars.json_calls import Draft
from streamparse.dialects.grammars.literals import (
    KEYWORD,
    PythonLiterals,
    break_off,
    make_limited_writer,
    read_literal,
    read_literal_arguments,
)
from streamparse.json import JSONError, read
from streamparse.patterns import BLANKS, lazy_partial

_NAME = r"[^\W\d][\w.:/-]{0,255}"
# The beginning of a call, looked at up to its first argument's name.
CALL_HEAD = rf"(?P<name>{_NAME})[ \t]{{0,8}}\((?={GAP}(?:\)|{KEYWORD}{GAP}=[^=]))"

_HEAD = lazy_partial(CALL_HEAD)
_NEXT_CALL = lazy_partial(rf"(?:{GAP}[,;]|[ \t\r]{{0,64}}+\n){GAP}(?={CALL_HEAD})")
_LIST_BEGIN = lazy_partial(rf"{GAP}\[{GAP}(?={_NAME})")
_LIST_END = lazy_partial(rf"{GAP}[,;]?{GAP}\]")
_KEY = lazy_partial(rf"(?P<key>{KEYWORD}){GAP}=(?=[^=])")
# The keys that hold the arguments in a dict.
_DICT_ARGUMENTS = ("arguments", "parameters")
# What follows a dict: another one, or the end of the list.
_BETWEEN_DICTS = lazy_partial(rf"{GAP}(?:(?P<more>[,;]?{GAP}(?=\{{))|,?{GAP}\])")


class PythonCalls(msgspec.Struct, frozen=True):
    """One or more calls, in a list or not; one of `closes` may end them.

    `method` is what a name may end with that is not part of the tool's name.
    """

    closes: tuple[str, ...] = ()
    method: str = ""
    follows: str = rf"\s{{0,64}}(?:\[\s{{0,64}})?{CALL_HEAD}"

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        block = _PythonBlock(self, lazy_partial(rf"{GAP}[,;]?{GAP}{write_any(self.closes)}"))
        return read_block(reader, context, block.read_call, block.read_next, None)


class _PythonBlock(msgspec.Struct):
    """The calls after one marker."""

    format: PythonCalls
    close: Pattern
    is_list: bool = False
    is_broken: bool = False

    def read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        if not found:
            self.is_list = (yield from reader.match(_LIST_BEGIN)) is not None
            yield from reader.skip_blanks()
        start = reader.count_kept()
        head = yield from reader.match(_HEAD)
        name = "" if head is None else self._find_name(context, head)
        if head is None or not context.believes(name):
            may_be_vouched = head is not None and self.is_list and context.declared and not found
            if not may_be_vouched or not (yield from self._is_vouched(reader, context, start)):
                return False
            yield from reader.match(_HEAD)
            if not context.trust_all().believes(name):
                return False
        reader.commit()
        call = context.sink.call_start(name, None, "inband")
        last = yield from read_literal_arguments(reader, context, call, _KEY, ")", _make_notation)
        self.is_broken = not last
        if last and (yield from self._is_proven(reader, context.trust_all())):
            context.sink.call_arguments(call, last)
            context.sink.call_end(call)
        elif last:
            self.is_broken = True
            break_off(reader, context, call)
        return True

    def read_next(self, reader: Reader) -> Step[bool]:
        if self.is_broken:
            return False
        if (yield from reader.match(_NEXT_CALL)) is not None:
            return True
        if self.is_list:
            yield from reader.match(_LIST_END)
        yield from reader.match_end(self.close)
        return False

    def _is_proven(self, reader: Reader, context: Context) -> Step[bool]:
        """Whether what follows a closing bracket shows that it ended a call; takes nothing."""
        following = yield from reader.peek_match(_NEXT_CALL)
        if following is not None:
            return context.believes(self._find_name(context, following))
        if self.is_list and (yield from reader.peek_match(_LIST_END)) is not None:
            return True
        if (yield from reader.peek_match(self.close)) is not None:
            return True
        is_over = reader.final and not reader.buffer[reader.at :].strip(BLANKS)
        return reader.stopped and (is_over or reader.is_cut_off(self.close))

    def _find_name(self, context: Context, head: Match) -> str:
        return context.resolve_name(head["name"].removesuffix(self.format.method))

    def _is_vouched(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Whether a list whose first call is of an unknown tool holds one of a declared tool; takes nothing."""
        reader.rewind(start)
        name = ""
        while name not in context.tools:
            head = yield from reader.match(_HEAD)
            if head is None or not (yield from _skip_arguments(reader, context)):
                break
            name = self._find_name(context, head)
            yield from reader.match(_NEXT_CALL)
        reader.rewind(start)
        return name in context.tools


def _make_notation(_key: str, is_scalar: bool) -> PythonLiterals:
    return PythonLiterals(argument=is_scalar)


def _skip_arguments(reader: Reader, context: Context) -> Step[bool]:
    """Take the arguments of a call and the bracket after them; False if they break off."""
    while (after := (yield from reader.skip_blanks())) != ")":
        if after == ",":
            reader.take(1)
            yield from reader.skip_blanks()
        if (yield from reader.match(_KEY)) is None:
            return False
        notation = PythonLiterals(argument=(yield from reader.skip_blanks()) not in ("[", "(", "{"))
        if not (yield from read_literal(reader, lambda _: None, notation, context.limits)):
            return False
    reader.take(1)
    return True


class LiteralCalls(msgspec.Struct, frozen=True):
    """Dicts in a list, each a call; one of `closes` may follow."""

    closes: tuple[str, ...] = ()

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        return read_block(reader, context, self._read_call, self._read_next, context.limits.max_call_args)

    def _read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        if not found and (yield from reader.skip_blanks()) == "[":
            reader.take(1)
        if (yield from reader.skip_blanks()) != "{":
            return False
        reader.take(1)
        draft, sink = Draft(), context.sink
        sound = True
        while sound and (after := (yield from reader.skip_blanks())) != "}":
            if after == ",":
                reader.take(1)
            else:
                sound = yield from self._read_member(reader, context, draft)
        if draft.call is None:
            if not sound or draft.name is None or draft.arguments is None:
                return False
            reader.commit()
            reader.take(1)
            write_call(reader, context, draft.name, None, draft.arguments)
        elif sound:
            reader.take(1)
            sink.call_end(draft.call)
        elif reader.final:
            sink.call_arguments(draft.call, reader.take_rest())  # the text ends inside the call
        else:
            fail_call(context, draft.call, f"the arguments of {draft.name!r} are no Python literals")
        return True

    def _read_next(self, reader: Reader) -> Step[bool]:
        following = yield from reader.match(_BETWEEN_DICTS)
        if following is not None and following["more"] is not None:
            return True
        yield from reader.match(lazy_partial(rf"{GAP}{write_any(self.closes)}"))
        return False

    def _read_member(self, reader: Reader, context: Context, draft: Draft) -> Step[bool]:
        """Read one key and its value; False where it is not sound."""
        key = yield from _read_text(reader, context, context.limits.max_key)
        if key is None or (yield from reader.skip_blanks()) != ":":
            return False
        reader.take(1)
        yield from reader.skip_blanks()
        if context.declared and (yield from disproves_call(reader, key, ("name", *_DICT_ARGUMENTS))):
            return False
        if key == "name" and draft.name is None:
            name = yield from _read_text(reader, context, context.limits.max_name)
            draft.name = None if name is None else context.resolve_name(name)
            return draft.name is not None and context.believes_quoted(draft.name)
        notation, held = PythonLiterals(argument=False), StringIO()
        if key not in _DICT_ARGUMENTS or draft.call is not None:
            return (yield from read_literal(reader, lambda _: None, notation, context.limits))
        if draft.name is None:
            whole = yield from read_literal(reader, held.write, notation, context.limits)
            draft.arguments = held.getvalue()
            return whole
        reader.commit()
        draft.call = context.sink.call_start(draft.name, None, "inband")
        whole = yield from read_literal(reader, context.sink.call_teller(draft.call), notation, context.limits)
        if notation.was_repaired:
            context.sink.call_repaired(draft.call)
        return whole


def _read_text(reader: Reader, context: Context, limit: int | None) -> Step[str | None]:
    """Read a string literal; return None if there is no string."""
    held = StringIO()
    if not (yield from PythonLiterals(argument=False).read_scalar(reader, make_limited_writer(held, limit))):
        return None
    try:
        value = read(held.getvalue(), "strict", context.limits).value
    except JSONError:
        return None
    return value if isinstance(value, str) else None
