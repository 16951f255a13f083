"""Every gate of `docs/internals/performance.md`, asserted; `python benches/performance.py` writes the figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from measuring import Table
from performance import TABLES

GATED = [table for table in (make() for make in TABLES.values()) if table.gates]
ROWS = [(table, name) for table in GATED for name in table.cases]


@pytest.mark.parametrize(("table", "name"), ROWS, ids=[f"{table.name}: {name}" for table, name in ROWS])
def test_a_row_keeps_its_gates(table: Table, name: str, tell: Callable[[str], None]) -> None:
    row = table.measure_row(name)
    tell(f"{table.name}: {' | '.join(table.columns)}")
    tell(f"    {row}")
    assert not row.fails, f"{row}   gates: {table.gates}"
