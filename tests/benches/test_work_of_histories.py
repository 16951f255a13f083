"""A message of a history is written once: counted in functions that are called, not timed."""

from __future__ import annotations

import pytest
from counting import count_calls
from history_tables import make_history, write_body

from streamparse.providers.adapters import REQUEST_WRITERS

pytestmark = pytest.mark.usefixtures("uncollected")
ROUNDS = 20
MOST = 30
"""Functions that may be called for a message that was sent before; the first time they are 150 to 350."""


@pytest.mark.parametrize("provider", REQUEST_WRITERS)
def test_a_message_that_was_sent_before_costs_little_again(provider: str) -> None:
    write_body(make_history(1), provider)  # what is made once in a process, is made
    few, many = make_history(1), make_history(1 + ROUNDS)
    first = count_calls(lambda: write_body(many, provider)) - count_calls(lambda: write_body(few, provider))
    again = count_calls(lambda: write_body(many, provider)) - count_calls(lambda: write_body(few, provider))
    assert again <= first / 5
    assert again / (2 * ROUNDS) <= MOST


def test_so_it_is_when_old_rounds_leave() -> None:
    def truncate(rounds: int) -> int:
        return count_calls(lambda: write_body(history.truncated(rounds=rounds), "openai"))

    history = make_history(ROUNDS)
    write_body(history, "openai")
    assert truncate(ROUNDS - 1) - truncate(1) <= 2 * MOST * (ROUNDS - 2)
