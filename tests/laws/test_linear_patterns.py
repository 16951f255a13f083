"""What a pattern may try at one place of the text is bounded: it is tried again whenever more text has come.

All patterns are found where they are made, when the example of every dialect is read.  Two things are proved of each by
its parse tree: its length is bounded, and what it takes of a flood of blanks it does not give back piece by piece, for
two such repeats in a row would try every way to share the flood between them.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as grammar  # type: ignore[attr-defined]
from typing import Any

import pytest

import streamparse as sp
from streamparse.patterns import _LazyPattern as _Later

TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    for name in ("get_weather", "brave_search", "bash")
]
LONGEST = 64 * 1024
RUNS = {r"[ \t\r\n]*", r'[^"\\]*+(?:\\.[^"\\]*+)*+'}
"""Patterns that take all of what has come, so that nothing of it is matched again."""
WHOLE = re.compile(r"\\s\*.*\\s\*|.*\\W\*.*\\w\*\)", re.DOTALL)
"""Patterns that read a value or a header that has come to its end, once."""
FLOOD = 64
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
ALL_REPEATS = (*REPEATS, codes.POSSESSIVE_REPEAT)
BLANKS = {(codes.LITERAL, ord(blank)) for blank in " \t\r\n"} | {(codes.CATEGORY, codes.CATEGORY_SPACE)}


def _gradual() -> list[str]:
    for name, row in sp.DIALECTS.items():
        for tools in (TOOLS, None):
            for text in (row.example, f"{row.example} x", row.example[:-5]):
                parser = sp.TextParser([name], tools=tools)
                parser.feed(text)
                parser.close()
    made = {each._wanted for each in gc.get_objects() if type(each) is _Later}
    return sorted({source for module, source, _ in made if module == "regex" and source not in RUNS})


GRADUAL = _gradual()


def _tree(source: str) -> Any:
    """The parse tree; names of groups, which `regex` may give twice, and references to them are left out.

    So is what stands before a `\\K`: it matches the name of a tool, and nothing of the text.
    """
    source = source.rpartition(r"\K")[2]
    return grammar.parse(re.sub(r"\(\?P=\w+\)", "", re.sub(r"\(\?P<\w+>", "(", source)))


def _sequences(tree: Any) -> Iterator[list[Any]]:
    """Each row of items that follow one another; groups count as what is in them."""
    row: list[Any] = []
    for code, value in tree:
        if code is codes.SUBPATTERN:
            first, *others = reversed(list(_sequences(value[3])))
            row += first
            yield from others
        else:
            row.append((code, value))
            for inner in _within(code, value):
                yield from _sequences(inner)
    yield row


def _within(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    return [value[2]] if code in REPEATS else []


def _is_flood(item: Any) -> bool:
    """Whether it takes many blanks, and nothing else, and may give them back."""
    code, value = item
    return (
        code in REPEATS
        and value[1] >= FLOOD
        and all(inner is codes.IN and set(what) <= BLANKS for inner, what in value[2])
    )


def _may_be_missing(item: Any) -> bool:
    code, value = item
    return code in (codes.ASSERT, codes.ASSERT_NOT, codes.AT) or (code in ALL_REPEATS and value[0] == 0)


def _shared(row: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of repeats with nothing between them that must be there, and may tell them apart."""
    for place, item in enumerate(row):
        if _is_flood(item):
            for later in row[place + 1 :]:
                if _is_flood(later):
                    yield item, later
                if not _may_be_missing(later):
                    break


def test_there_are_patterns_enough() -> None:
    assert len(GRADUAL) > 200


@pytest.mark.parametrize("source", GRADUAL)
def test_what_is_matched_again_has_a_bounded_length(source: str) -> None:
    assert _tree(source).getwidth()[1] <= LONGEST or WHOLE.fullmatch(source)


@pytest.mark.parametrize("source", GRADUAL)
def test_no_two_repeats_share_a_flood_of_blanks(source: str) -> None:
    assert [pair for row in _sequences(_tree(source)) for pair in _shared(row)] == []


def test_two_repeats_that_share_a_flood_of_blanks_are_found() -> None:
    for source in (r"\s{0,64}a?\s{0,64}b", r"x|(?:[ \n]{0,64})(?:[ \n]{0,64})"):
        assert [pair for row in _sequences(_tree(source)) for pair in _shared(row)]
