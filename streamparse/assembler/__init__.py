"""The assembler: the only author of events, indexes, ids and completeness."""

from streamparse.assembler.assembler import Assembler
from streamparse.assembler.event_log import HasOffset, Offset, ParseHalted

__all__ = ["Assembler", "HasOffset", "Offset", "ParseHalted"]
