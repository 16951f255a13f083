"""Prose costs with all dialects armed at most 1.5 times what it costs with one; a long call what a short one does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dialects import TOOLS, armed_ratio, call_costs
from texts import KIB, MIB

import streamparse as sp

PROMISED = 1.5
GROWTH = 3.0


@pytest.mark.parametrize("tools", [None, TOOLS], ids=["without tools", "with tools"])
def test_prose_with_every_dialect_armed_costs_little_more_than_with_one(
    tools: Any, tell: Callable[[str], None]
) -> None:
    ratio = armed_ratio(tools)
    tell(f"prose, all dialects armed over one{' (tools declared)' if tools else ''}: {ratio:.2f}")
    assert ratio <= PROMISED


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_call_of_a_megabyte_costs_for_each_character_what_a_short_one_does(
    name: str, tell: Callable[[str], None]
) -> None:
    short, long = call_costs(name, (4 * KIB, MIB))
    tell(f"{name:24} {short:6.3f} µs a character at 4 KB, {long:6.3f} at 1 MB")
    assert long <= short * GROWTH
