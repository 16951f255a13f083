"""What the proxy adds to passing a chunk through.

The kernel's share of a chunk is most of it and varies with the load of the machine, so the bound is wider than the
promise.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy import measured

PROMISED = 1.10
MARGIN = 1.15


def test_reading_and_writing_anew_adds_little_to_a_chunk(tell: Callable[[str], None]) -> None:
    under_way, cpu = measured()
    tell(under_way.row("a chunk under way") + f"   promised {PROMISED}")
    tell(cpu.row("CPU time of a chunk"))
    assert under_way.ratio <= PROMISED * MARGIN
