"""The parser costs at most so many times the floor; each bound is the promise, and 10 % for the noise of a machine.

A line of Ollama is so short that cutting and decoding it is next to nothing: there it is three times, else two.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from corpora import CORPORA
from ratios import HEAD, ratio_of

MARGIN = 1.1
PROMISED = {
    "openai-chat, text": 1.2,  # as good as all messages are alike, and not decoded; so in the calls
    "openai-chat, call of 64 KB": 1.3,
    "gemini, 512 whole calls of 1 KB": 2.3,  # a quarter of it reads the arguments, which the floor does not
    "ollama-chat, qwen3-coder call of 64 KB": 3.4,  # half of the pieces are escaped as JSON, or may end the value
}
"""Exceptions from what holds for the wire."""


@pytest.mark.parametrize("name", CORPORA)
def test_a_parser_with_every_dialect_armed_costs_little_more_than_the_floor(
    name: str, tell: Callable[[str], None]
) -> None:
    found = ratio_of(CORPORA[name], dialects="auto")
    tell(HEAD)
    promised = PROMISED.get(name, 3.0 if name.startswith("ollama") else 2.0)
    tell(f"{found.row(name)}   promised {promised}")
    assert found.ratio <= promised * MARGIN
