"""Patterns that find where a marker may stand: small ones, which say yes a little too often.

A pattern of whole markers is exact, but costs milliseconds to compile, and the names of a request's tools are part of
it.  These look at the first few characters alone.  `trie_filter` is for literals that are always the same, and is
compiled once.  The others take the names of tools: for each place behind the first character they know only which
characters may stand there, so they are small however many tools there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Final, TypeAlias

__all__ = ["TAGS", "Find", "any_tag_filter", "are_words", "name_filters", "trie_filter"]

Find: TypeAlias = Callable[..., "re.Match[str] | None"]
"""The `search` of a compiled pattern."""
TAGS: Final = frozenset({"<", "</"})
"""What stands before a word in a tag."""

_DEPTH: Final = 5  # so many characters of a literal are looked at
_PLACES: Final = 3  # and of a name
_MANY: Final = 12  # more letters stand for all of them
_LOWER: Final = frozenset("abcdefghijklmnopqrstuvwxyz")
_WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | _LOWER


@lru_cache(maxsize=64)
def trie_filter(literals: frozenset[str]) -> Find:
    """A search for the first characters of any of the literals, or as many of them as end the text."""
    return re.compile(_trie(literals, _DEPTH) or "(?!)").search


@lru_cache(maxsize=64)
def any_tag_filter(literals: frozenset[str], leads: frozenset[str] = frozenset()) -> Find:
    """As `trie_filter`, and for any tag of a word, and whatever stands behind the leads."""
    others = frozenset(literal for literal in literals if literal[0] != "<" or _second(literal) not in _WORD) | leads
    return re.compile("|".join(filter(None, (r"</?(?:(?=\w)|\Z)", _trie(others, _DEPTH))))).search


def name_filters(leads: Collection[str], names: Collection[str]) -> tuple[Find, ...]:
    """Searches that together find where one of the leads with one of the names behind it may stand."""
    if not leads or not names:
        return ()
    name = _written(_columns_of(names))
    behind = rf"(?:{name}|\Z)" if name else ""
    parts = [f"</?{behind}"] if TAGS.intersection(leads) else []
    parts += [_cut(lead, behind) for lead in sorted(set(leads) - TAGS) if lead]
    bare = [name or "(?s:.)"] if "" in leads else []
    return tuple(re.compile(pattern, re.DOTALL).search for pattern in ("|".join(parts), *bare) if pattern)


def _cut(lead: str, behind: str) -> str:
    """A pattern of a lead and what stands behind it, or as much of the lead as ends the text."""
    for character in reversed(lead[1:]):
        behind = rf"(?:{re.escape(character)}{behind}|\Z)"
    return re.escape(lead[:1]) + behind


def are_words(names: Iterable[str]) -> bool:
    """Whether each name begins as a word, so that `any_tag_filter` finds its tag."""
    return all(name[0] in _WORD for name in names)


def _columns_of(names: Collection[str]) -> list[set[str]]:
    """Which characters stand at each place of the names; no place that one of them lacks, or that is not all ASCII."""
    columns: list[set[str]] = []
    for place in range(min(_PLACES, *map(len, names))):
        column = {name[place] for name in names}
        if not "".join(column).isascii():
            break
        columns.append(column)
    return columns


def _written(columns: list[set[str]]) -> str:
    """The pattern of what the columns permit; where the text ends, it permits all."""
    if not columns:
        return ""
    first, *behind = map(_characters, columns)
    others = "|".join(f"{'.' * place}[^{characters}]" for place, characters in enumerate(behind))
    return f"[{first}]" + (f"(?!{others})" if others else "")


def _characters(column: set[str]) -> str:
    """The inside of a character class; of many letters it takes all, for a short class compiles sooner."""
    many = len(column & _LOWER) > _MANY
    return "a-z" * many + re.escape("".join(sorted(column - _LOWER if many else column)))


def _second(literal: str) -> str:
    """What stands behind `<` or `</`."""
    return literal[1:].removeprefix("/")[:1]


def _trie(literals: Iterable[str], depth: int) -> str:
    """A pattern of the first `depth` characters of any literal, or fewer at the end of the text."""
    by_first: dict[str, set[str]] = {}
    for literal in literals:
        by_first.setdefault(literal[0], set()).add(literal[1:])
    return "|".join(
        re.escape(first) + ("" if "" in rests or depth == 1 else rf"(?:\Z|{_trie(rests, depth - 1)})")
        for first, rests in sorted(by_first.items())
    )
