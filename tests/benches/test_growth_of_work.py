"""What a stream costs grows with its length and no faster: counted, not timed.  `make bench` counts longer ones."""

from __future__ import annotations

import pytest
from counting import STREAMS, work
from texts import KIB

pytestmark = pytest.mark.usefixtures("uncollected")


@pytest.mark.parametrize("name", STREAMS)
def test_a_read_costs_the_same_in_a_stream_of_any_length(name: str) -> None:
    assert work(name, 128 * KIB) <= work(name, 16 * KIB) * 1.1


@pytest.mark.parametrize("name", STREAMS)
def test_a_read_costs_a_handful_of_function_calls(name: str) -> None:
    assert work(name, 16 * KIB) <= 30
