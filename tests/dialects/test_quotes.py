"""Quotation marks and apostrophes of a line that is looked at while it comes: each place gives what the whole gives."""

from __future__ import annotations

import pytest

from streamparse.dialects.engine.quotes import Quotes

TEXTS = {
    "‘It isn’t so’": False,
    "‘It is so’ and ’": True,
    "‘It is so’": False,
    "‘": True,
    "‘the users’ ": False,
    "‘a’ b’": True,
    "‘a’b’": False,
    "'a'b' ": False,
    "users' '": True,
    "users’": True,
    "it's 'a' ": False,
    "it's": False,
    "a\\' b": False,
    "“‘a’t’”": False,
}


def _ask(pieces: list[str]) -> list[bool]:
    """Whether the next character is quoted, after each piece."""
    quotes = Quotes()
    answers = []
    for piece in pieces:
        quotes.pieces.append(piece)
        answers.append(quotes.is_open())
    return answers


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_asked_within_a_line_changes_nothing_for_the_rest_of_it(text: str) -> None:
    assert _ask([text]) == [TEXTS[text]]
    for at in range(1, len(text)):
        assert _ask([text[:at], text[at:]])[-1] == TEXTS[text], at
    assert _ask([*text]) == [_ask([text[: at + 1]])[0] for at in range(len(text))]


def test_a_line_end_of_two_characters_is_one_also_where_nothing_comes_between_them() -> None:
    assert _ask(["a\r", "", "\n    "]) == [False, False, False]
    assert _ask(["a\r", "\n\n    "]) == [False, True]  # here a blank line is before the indented code
