"""The assembler: the only author of events, indexes, ids and completeness."""

from streamparse.assembler.assembler import Assembler
from streamparse.assembler.event_log import At, Halt, Place
from streamparse.assembler.names import mint_ids

__all__ = ["Assembler", "At", "Halt", "Place", "mint_ids"]
