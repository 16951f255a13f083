"""What a user chooses for a parser, in one record."""

from __future__ import annotations

import msgspec

from streamparse.dialects import Dialects, Quoted, Reasoning, check_quoted, check_reasoning
from streamparse.limits import Limits
from streamparse.providers.wires import DEFAULT_WIRE, WIRES, find_wire_name
from streamparse.tools import Toolset


class ParserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user chooses for a parser; `StreamParser` says what each option means.

    `otherwise` is the wire of a whole body that shows none.  Raises ValueError for an unknown wire or word.
    """

    wire: str = "auto"
    otherwise: str = DEFAULT_WIRE
    dialects: Dialects = "auto"
    tools: Toolset
    reasoning: Reasoning = "auto"
    limits: Limits = Limits()
    strict: bool = False
    choice: int = 0
    quoted: Quoted = "text"

    def __post_init__(self) -> None:
        if self.reasoning != "auto":
            check_reasoning(self.reasoning)
        if self.quoted != "text":
            check_quoted(self.quoted)
        for field in ("wire", "otherwise"):
            name = getattr(self, field)
            if name not in ("auto", DEFAULT_WIRE) and name not in WIRES:
                msgspec.structs.force_setattr(self, field, find_wire_name(name))
        if not isinstance(self.dialects, str):  # an iterator can be read only once
            msgspec.structs.force_setattr(self, "dialects", tuple(self.dialects))
