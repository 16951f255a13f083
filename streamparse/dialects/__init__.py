"""Calls and reasoning written in text: turns text into verbs."""

from streamparse.dialects.engine.grammar import Dialect, Thought
from streamparse.dialects.engine.inband import InBand
from streamparse.dialects.engine.options import (
    Dialects,
    Quoted,
    Reasoning,
    check_quoted,
    check_reasoning,
    without_calls,
)
from streamparse.dialects.registry import register_dialect
from streamparse.dialects.table import DIALECTS, THOUGHTS
from streamparse.dialects.template import dialect_from_template

__all__ = [
    "DIALECTS",
    "THOUGHTS",
    "Dialect",
    "Dialects",
    "InBand",
    "Quoted",
    "Reasoning",
    "Thought",
    "check_quoted",
    "check_reasoning",
    "dialect_from_template",
    "register_dialect",
    "without_calls",
]
