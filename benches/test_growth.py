"""A read costs the same in a stream of a megabyte as in one of 64 kilobytes: counted, not timed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from counting import STREAMS, work
from texts import KIB, MIB


@pytest.mark.parametrize("name", STREAMS)
def test_the_work_for_each_read_does_not_grow(name: str, tell: Callable[[str], None]) -> None:
    short, long = work(name, 64 * KIB), work(name, MIB)
    tell(f"{name:40} {short:6.2f} function calls a read at 64 KB, {long:6.2f} at 1 MB")
    assert long <= short * 1.05
