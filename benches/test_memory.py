"""While a call is open, the parser holds one copy of its text and a constant; measured with tracemalloc."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from run_tables import OPEN_CALLS, find_peak_of_open_call
from texts import MIB

CONSTANT = MIB // 4


@pytest.mark.parametrize("name", OPEN_CALLS)
def test_an_open_call_is_held_once(name: str, tell: Callable[[str], None]) -> None:
    small, length = find_peak_of_open_call(name, MIB)
    large, longer = find_peak_of_open_call(name, 2 * MIB)
    more = (large - small) / (longer - length)
    tell(f"{name + ', 1 MB':40} peak {small / MIB:5.2f} MiB; for each character more {more:.2f} bytes")
    assert small <= length + CONSTANT
    assert large - small <= 1.1 * (longer - length)
