"""What dialects cost, counted: no function more is called for a piece of prose when all of them are armed."""

from __future__ import annotations

from typing import Any

import pytest
from call_counts import count_calls
from dialects import TOOLS, call_text, prose
from texts import fragments

import streamparse as sp

pytestmark = pytest.mark.usefixtures("uncollected")


def _calls(dialects: Any, pieces: list[str], tools: Any) -> int:
    """Functions that are called while the pieces are fed, those of C too; patterns are compiled before."""
    warm = sp.TextParser(dialects, tools=tools).feed
    for piece in pieces:
        warm(piece)
    feed = sp.TextParser(dialects, tools=tools).feed
    return count_calls(lambda: [feed(piece) for piece in pieces])


@pytest.mark.parametrize("tools", [None, TOOLS], ids=["without tools", "with tools"])
def test_prose_takes_hardly_more_calls_with_every_dialect_armed_than_with_one(tools: Any) -> None:
    pieces = prose(2000)
    assert _calls("auto", pieces, tools) <= 1.5 * _calls(["hermes"], pieces, tools)


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_call_in_pieces_of_a_token_takes_a_handful_of_calls_for_each(name: str) -> None:
    text = call_text(name, 2048)
    pieces = list(fragments(text))
    # A bare call may have to be given back, so each piece of it is kept, and none goes the short way.
    is_bare = any(opener.bare for opener in sp.DIALECTS[name].openers)
    assert _calls([name], pieces, TOOLS) <= (45 if is_bare else 30) * len(pieces)
