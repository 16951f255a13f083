"""The dialects, as data: which markers open a call, and which grammar reads it.

The facts of each dialect are in `docs/internals/dialects.md`: who writes it, and which variants
were seen in the wild.
"""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect
from streamparse.dialects.table import (
    channel_rows,
    child_rows,
    json_rows,
    literal_rows,
    marker_rows,
    tag_rows,
)
from streamparse.dialects.table.endings import ENDINGS, OTHER_TURNS, OWN_ENDS, TURN_ENDS
from streamparse.dialects.table.reasoning_markers import THOUGHTS

__all__ = ["DIALECTS", "ENDINGS", "GROUPS", "OTHER_TURNS", "OWN_ENDS", "REASONING", "THOUGHTS", "TURN_ENDS"]

_ROWS = (
    *(*json_rows.OBJECTS, *child_rows.XAI_ROWS, *json_rows.ARRAYS, *marker_rows.ROWS, *tag_rows.ROWS),
    *(*child_rows.ROWS, *literal_rows.ROWS, *channel_rows.ROWS),
)

DIALECTS: dict[str, Dialect] = {row.name: row for row in _ROWS}
"""Every dialect by name.  Where two share an opener and both could read what follows, the first does."""

REASONING = channel_rows.REASONING
"""The rows that `dialects="reasoning"` names: thoughts, and no calls."""

GROUPS: dict[str, tuple[str, ...]] = {
    "anthropic_xml": ("anthropic-invoke",),
    "qwen_xml": ("qwen3-coder", "hermes"),
}
"""Dialects that go by one name in configurations: names of `DIALECTS`, the most likely first."""
