"""The parser costs at most so many times the floor; each bound is the promise, and 10 % for the noise of a machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from corpora import CORPORA
from ratios import HEAD, ratio_of

MARGIN = 1.1
PROMISED = {
    "openai-chat, text": 1.8,
    "openai-chat, call of 1 MB": 2.0,
    "ollama-chat, hermes call of 64 KB": 3.0,
}


@pytest.mark.parametrize("name", CORPORA)
def test_a_parser_with_every_dialect_armed_costs_little_more_than_the_floor(
    name: str, tell: Callable[[str], None]
) -> None:
    found = ratio_of(CORPORA[name], dialects="auto")
    tell(HEAD)
    tell(found.row(name) + (f"   promised {PROMISED[name]}" if name in PROMISED else ""))
    assert found.ratio <= PROMISED.get(name, 4.0) * MARGIN
