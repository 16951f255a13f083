r"""Regular expressions as JSON Schema has them, those of ECMA-262, for the `regex` engine, which knows their `\p{…}`.

They are not anchored (JSON Schema 2020-12, core, section 6.4).  What is written otherwise for the engine:

| in ECMA-262 | means |
|---|---|
| `$` | the very end, not before a last line break |
| `.` | no line break, be it `\r`, U+2028 or U+2029 |
| `\d`, `\w`, `\b` | ASCII only |
| `\s` | Unicode's white space and U+FEFF |
| `\u{1F600}`, `\ud83d\ude00`, `\cJ` | one character |
| `\k<name>` | what the group caught |
| `[]`, `[^]` | no character, any character |
| `{` that begins no count, `[` in a class | itself |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import chain, pairwise
from time import thread_time
from typing import Final, TypeAlias

import regex

__all__ = ["compiled", "found", "patience", "translated"]

_PATIENCE: Final = 1.0
"""Seconds that searches may take: the texts are the model's, and may fit a careless pattern badly."""

_LARGEST: Final = 100_000
"""Parts that a pattern may have once its counts are written out, as the engine does: of `(a{1000}){1000}` a million."""

_Ranges: TypeAlias = tuple[tuple[int, int], ...]


def _others(ranges: _Ranges) -> _Ranges:
    """All characters but these."""
    edges = chain([(-1, -1)], ranges, [(0x110000, 0x110000)])
    return tuple((low + 1, high - 1) for (_, low), (high, _) in pairwise(edges) if low + 1 < high)


def _written(ranges: _Ranges) -> str:
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


_DIGITS: Final = ((0x30, 0x39),)
_LETTERS: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACES: Final = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_SETS: Final = {
    word: _written(ranges)
    for small, of_it in (("d", _DIGITS), ("w", _LETTERS), ("s", _SPACES))
    for word, ranges in ((f"\\{small}", of_it), (f"\\{small.upper()}", _others(of_it)))
}
_WORD: Final = _SETS["\\w"]
_EDGE: Final = f"(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}])"
_PLAIN: Final = {
    "$": r"\Z",
    ".": r"[^\n\r\u2028\u2029]",
    "[]": "(?!)",
    "[^]": r"[\s\S]",
    "{": r"\{",
    "\\b": f"(?:{_EDGE})",
    "\\B": f"(?!{_EDGE})",
    **{word: f"[{written}]" for word, written in _SETS.items()},
}
"""Outside of classes."""

_ESCAPE: Final = (
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u\{[0-9a-fA-F]+\}|\\c[A-Za-z]|\\k<[^<>]*>|"
    r"\\[pP]\{[^{}]*\}|\\[\s\S]"
)
_TOKEN: Final = re.compile(rf"{_ESCAPE}|\[\^?\]|\[(?:\\[\s\S]|[^\]\\])+\]?|[$.]|\{{(?!\d+(?:,\d*)?\}})")
_IN_CLASS: Final = re.compile(rf"(?:\\[pP]\{{[^{{}}]*\}}|\\[dDwWsS])-?|{_ESCAPE}|-(?=\\[dDwWsSpP])|[\[&|~]")

_PART: Final = re.compile(r"\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])+\]?|\{(\d+)(?:,\d*)?\}|[\s\S]")


@lru_cache(maxsize=256)
def compiled(source: str) -> regex.Pattern[str] | None:
    """Return the pattern, None if it cannot be read."""
    written = translated(source)
    if _size(written) > _LARGEST:
        return None
    try:
        return regex.compile(written)
    except (regex.error, OverflowError, RecursionError):
        return None


class _Patience:
    """Seconds of work that are left for searches."""

    def __init__(self) -> None:
        self.left = _PATIENCE


_shared: ContextVar[_Patience | None] = ContextVar("_shared", default=None)


@contextmanager
def patience() -> Iterator[None]:
    """Within this, all searches together may take a second of work; without, each may."""
    before = _shared.set(_Patience())
    try:
        yield
    finally:
        _shared.reset(before)


def found(source: str, text: str) -> bool | None:
    """Say whether a pattern fits somewhere in a text, None if it cannot be read.

    Raises TimeoutError if that takes too long (`patience`).
    """
    pattern = compiled(source)
    if pattern is None:
        return None
    patient = _shared.get() or _Patience()
    if patient.left <= 0:
        raise TimeoutError
    begun = thread_time()
    try:
        return pattern.search(text, timeout=patient.left) is not None
    finally:
        patient.left -= thread_time() - begun


def _size(written: str) -> int:
    """How many parts a pattern has, those counted that it wants several times."""
    sizes, last = [0], 0
    for part in _PART.finditer(written):
        if part[0] == "(":
            sizes.append(0)
        elif part[1]:
            sizes[-1] += last * (_count(part[1]) - 1)
        else:
            last = sizes.pop() if part[0] == ")" and len(sizes) > 1 else 1
            sizes[-1] += last
    return sum(sizes)


def _count(digits: str) -> int:
    return int(digits[:9]) or 1


def translated(source: str) -> str:
    """Write an ECMA-262 pattern for the `regex` engine."""
    return _TOKEN.sub(lambda match: _outside(match[0]), source)


def _outside(token: str) -> str:
    if token in _PLAIN:
        return _PLAIN[token]
    return _class(token) if token.startswith("[") else _escape(token)


def _class(token: str) -> str:
    return "[" + _IN_CLASS.sub(lambda match: _inside(match[0]), token[1:])


def _inside(token: str) -> str:
    """A hyphen beside a set stands for itself."""
    if token in ("-", "[", "&", "|", "~"):
        return "\\" + token
    sets = token.removesuffix("-") if token[1:2] in tuple("dDwWsSpP") else token
    return _SETS.get(sets, _escape(sets)) + ("\\-" if sets != token else "")


def _escape(token: str) -> str:
    kind = token[1]
    if kind == "c" and len(token) > 2:
        return f"\\x{ord(token[2]) & 31:02x}"
    if kind == "k" and len(token) > 2:
        return f"(?P={token[3:-1]})"
    if kind == "u" and token[2:3] == "{":
        return f"\\U{int(token[3:-1], 16):08x}"
    if kind == "u" and len(token) > 2:
        return f"\\U{0x10000 + (int(token[2:6], 16) - 0xD800) * 0x400 + int(token[8:], 16) - 0xDC00:08x}"
    return token
