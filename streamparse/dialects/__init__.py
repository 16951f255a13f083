"""Calls and reasoning written in text: turns text into verbs."""

from streamparse.dialects.grammar import Dialect, Thought
from streamparse.dialects.inband import InBand
from streamparse.dialects.table import DIALECTS, THOUGHTS

__all__ = ["DIALECTS", "THOUGHTS", "Dialect", "InBand", "Thought"]
