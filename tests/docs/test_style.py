"""The pages for users are short: words of a page and of all, words of a sentence, columns of tables and of code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest
from programs import ROOT

DOCS = ROOT / "docs"
PAGES = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
FOR_USERS = [name for name in PAGES if name.split("/")[0] not in {"internals", "reference"}]
INTERNALS = [name for name in PAGES if name.startswith("internals/")]
MOST_WORDS, MOST_WORDS_OF_A_PAGE, MOST_WORDS_OF_INTERNALS = 24_000, 1_500, 28_000
MOST_WORDS_OF_A_SENTENCE = 30
WIDEST_CODE, MOST_COLUMNS = 84, 4
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def _count_words(text: str) -> int:
    """Words are what has a letter or a digit; a rule of a table has none."""
    return sum(any(character.isalnum() for character in word) for word in text.split())


def _sentences(page: str) -> Iterator[str]:
    """The sentences of a page: those of paragraphs, items of lists and cells; code in a line counts as one word."""
    text = re.sub(r"<!--.*?-->", "", FENCE.sub("\n\n", page), flags=re.DOTALL)
    text = re.sub(r"``.+?``|`[^`]+`", "Code", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.) ?)", text):
        for cell in block.split(" | "):
            yield from re.split(r"(?<=[.!?])[\"”)*_]*\s", " ".join(cell.split()))


@pytest.mark.parametrize("name", FOR_USERS)
def test_a_page_for_users_is_short(name: str) -> None:
    page = PAGES[name]
    assert _count_words(page) <= MOST_WORDS_OF_A_PAGE
    assert [each for each in _sentences(page) if _count_words(each) > MOST_WORDS_OF_A_SENTENCE] == []
    code = [line for block in FENCE.findall(page) for line in block.splitlines()]
    assert [line for line in code if len(line) > WIDEST_CODE] == []
    rules = re.findall(r"^\|[ :|-]+\|$", page, re.MULTILINE)
    assert max((rule.count("|") - 1 for rule in rules), default=0) <= MOST_COLUMNS


def test_all_pages_together_are_short() -> None:
    assert sum(_count_words(PAGES[name]) for name in FOR_USERS) <= MOST_WORDS
    assert sum(_count_words(PAGES[name]) for name in INTERNALS) <= MOST_WORDS_OF_INTERNALS


def _pages(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for each in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _pages(each)


def test_every_page_stands_in_the_navigation() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert sorted(_pages(site["project"]["nav"])) == sorted(PAGES)
