"""What the proxy adds to passing a chunk through.

The kernel's share of a chunk is most of it and varies with the machine's load, so the bound is wider than the promise.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy import measured

PROMISED = 1.10
MARGIN = 1.15


def test_reading_and_writing_anew_adds_little_to_a_chunk(tell: Callable[[str], None]) -> None:
    found = measured()
    tell(found.row() + f"   promised {PROMISED}")
    assert found.ratio <= PROMISED * MARGIN
