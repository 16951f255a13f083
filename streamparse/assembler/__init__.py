"""The assembler: the only author of events, indexes, ids and completeness."""

from streamparse.assembler.assembler import Assembler
from streamparse.assembler.names import mint_ids
from streamparse.assembler.record import At, Halt, Place

__all__ = ["Assembler", "At", "Halt", "Place", "mint_ids"]
