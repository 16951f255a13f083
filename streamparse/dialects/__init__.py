"""Calls and reasoning written in text: turns text into verbs."""

from streamparse.dialects.grammar import Dialect, Thought
from streamparse.dialects.inband import InBand
from streamparse.dialects.registry import register_dialect
from streamparse.dialects.table import DIALECTS, THOUGHTS
from streamparse.dialects.template import dialect_from_template

__all__ = ["DIALECTS", "THOUGHTS", "Dialect", "InBand", "Thought", "dialect_from_template", "register_dialect"]
