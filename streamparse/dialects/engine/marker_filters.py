"""Searches for where a marker may be: compiled from its first characters only, so they are quick to make and to run.

What they find is looked up in a `MarkerIndex`.  Nothing here depends on a whole name of a tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import takewhile
from typing import Final, TypeAlias

# The `search` of a compiled pattern.
Find: TypeAlias = Callable[..., "re.Match[str] | None"]
# A search for what begins with a character, and that character; "" if it may be any.
FirstFilter: TypeAlias = tuple[str, Find]
# Which characters there are at each of the first places of some names.
Columns: TypeAlias = tuple[frozenset[str], ...]
# What comes before the word of a tag.
TAGS: Final = frozenset({"<", "</"})

_DEPTH: Final = 5  # bench: characters of a literal that a filter looks at
_TAG_DEPTH: Final = 4  # bench: of those that begin with "<": they are many, and `<` is rare in prose
_PLACES: Final = 3  # bench: characters of a name that a filter looks at
WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def group_by_first(literals: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group literals by their first character: what follows it in each, in the order in which they come."""
    by_first: dict[str, list[str]] = {}
    for literal in literals:
        by_first.setdefault(literal[0], []).append(literal[1:])
    return sorted(by_first.items())


@lru_cache(maxsize=64)
def compile_trie_filter(literals: frozenset[str]) -> Find:
    """A search for the first characters of any of the literals, or for as many of them as end the text."""
    return re.compile(_write_filter(literals) or "(?!)").search


@lru_cache(maxsize=64)
def compile_tag_filter(literals: frozenset[str], leads: frozenset[str] = frozenset()) -> Find:
    """As `compile_trie_filter`, and a search for any tag of a word, and for the leads."""
    others = (
        frozenset(literal for literal in literals if literal[0] != "<" or _get_after_bracket(literal) not in WORD)
        | leads
    )
    return re.compile("|".join(filter(None, (r"</?(?:(?=\w)|\Z)", _write_filter(others))))).search


@lru_cache(maxsize=64)
def compile_first_filters(literals: frozenset[str]) -> tuple[FirstFilter, ...]:
    """The filters of `compile_trie_filter`, one for each first character."""
    firsts = sorted({literal[0] for literal in literals})
    return tuple(
        (first, compile_trie_filter(frozenset(each for each in literals if each[0] == first))) for first in firsts
    )


def list_columns(names: Collection[str]) -> Columns:
    """The characters at each of the first places of the names, up to one that a name lacks or that is not ASCII."""
    heads = {name[:_PLACES] for name in names}
    columns = map(frozenset, zip(*heads, strict=False))  # as many as the shortest head has characters
    return tuple(takewhile(lambda column: "".join(column).isascii(), columns))


@lru_cache(maxsize=64)
def compile_name_filters(leads: tuple[str, ...], columns: Columns) -> tuple[Find, ...]:
    """Searches that together find where one of the leads may be, with a name after it that the columns permit."""
    patterns = _list_name_patterns(leads, columns)
    bare = patterns.pop("", "")
    return tuple(re.compile(pattern, re.DOTALL).search for pattern in ("|".join(patterns.values()), bare) if pattern)


@lru_cache(maxsize=64)
def compile_first_name_filters(leads: tuple[str, ...], columns: Columns) -> tuple[FirstFilter, ...]:
    """The same with a search for each lead, and with the character that it begins with."""
    patterns = _list_name_patterns(leads, columns)
    return tuple((lead[:1], re.compile(pattern, re.DOTALL).search) for lead, pattern in patterns.items())


def _list_name_patterns(leads: tuple[str, ...], columns: Columns) -> dict[str, str]:
    """Patterns that find a name after each lead; those of tags are one."""
    name = _write_columns(columns)
    after = rf"(?:{name}|\Z)" if name else ""
    patterns = {"<": f"</?{after}"} if not TAGS.isdisjoint(leads) else {}
    patterns |= {lead: _write_cut(lead, after) for lead in sorted(set(leads) - TAGS) if lead}
    return patterns | {"": name or "(?s:.)"} if "" in leads else patterns


def _write_cut(lead: str, after: str) -> str:
    """A pattern of a lead and `after`, or of as much of the lead as ends the text."""
    for character in reversed(lead[1:]):
        after = rf"(?:{re.escape(character)}{after}|\Z)"
    return re.escape(lead[:1]) + after


def _write_columns(columns: Columns) -> str:
    """A pattern of what the columns permit.  At the end of the text it permits all."""
    if not columns:
        return ""
    first, *after = (re.escape("".join(sorted(column))) for column in columns)
    others = "|".join(f"{'.' * place}[^{characters}]" for place, characters in enumerate(after))
    return f"[{first}]" + (f"(?!{others})" if others else "")


def _get_after_bracket(literal: str) -> str:
    """The character after `<` or `</`."""
    return literal[1:].removeprefix("/")[:1]


def _write_filter(literals: Collection[str]) -> str:
    """A pattern of the first characters of any literal, or of as many of them as end the text."""
    tags = [literal for literal in literals if literal[0] == "<"]
    others = [literal for literal in literals if literal[0] != "<"]
    return "|".join(filter(None, (_write_trie(tags, _TAG_DEPTH), _write_trie(others, _DEPTH))))


def _write_trie(literals: Iterable[str], depth: int) -> str:
    """A pattern of the first `depth` characters of any literal, or fewer at the end of the text.

    A `/` does not count: closing tags of HTML are frequent, and few markers begin with `</`.
    """
    return "|".join(
        re.escape(first)
        + ("" if "" in rests or depth == 1 else rf"(?:\Z|{_write_trie(rests, depth - (first != '/'))})")
        for first, rests in group_by_first(literals)
    )
