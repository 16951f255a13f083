"""Calls and reasoning that models write in text: dialects as data, and the parser that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.dialects.engine.catalogue import Catalogue
from streamparse.dialects.engine.grammar import (
    Dialect,
    Dialects,
    Quoted,
    Reasoning,
    Thought,
    check_quoted,
    check_reasoning,
)
from streamparse.dialects.engine.inband import InBandParser
from streamparse.dialects.names import DialectName
from streamparse.dialects.registry import CATALOGUE, register_dialect
from streamparse.dialects.table import DIALECTS, GROUPS, THOUGHTS
from streamparse.lazy import export_lazily

if TYPE_CHECKING:
    from streamparse.dialects.template import dialect_from_template

__all__ = [
    "CATALOGUE",
    "DIALECTS",
    "GROUPS",
    "THOUGHTS",
    "Catalogue",
    "Dialect",
    "DialectName",
    "Dialects",
    "InBandParser",
    "Quoted",
    "Reasoning",
    "Thought",
    "check_quoted",
    "check_reasoning",
    "dialect_from_template",
    "register_dialect",
]

if not TYPE_CHECKING:  # few programs have a template
    __getattr__ = export_lazily(globals(), {"template": ("dialect_from_template",)})
