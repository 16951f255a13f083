"""One call's state.

    call_start ─▶ PENDING ─▶ OPEN ─▶ CLOSED
                     │  └────▶ ODD ──▲
                     └───────────────┘

PENDING: nothing that counts has come (blanks, or `{` `}` that may be a placeholder); nothing was streamed.
OPEN: the root object has begun; each fragment is a delta at once.
ODD: the text begins with something else than `{` (`null`, a string that holds the object); it is kept
until the call is over.  CLOSED: complete, or given up with an error; what follows may add nothing.

The text is kept in pieces, some 60 bytes each besides their characters, until they are joined.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any, Final

from streamparse.events import Source
from streamparse.jsonread import JSONError, Mode, read
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits

__all__ = ["CLOSED", "ODD", "OPEN", "PENDING", "CallState"]

PENDING: Final = 0
OPEN: Final = 1
ODD: Final = 2
CLOSED: Final = 3


class CallState:
    """A call from its start to its end; only the assembler changes it."""

    __slots__ = (
        "head",
        "id",
        "index",
        "name",
        "pieces",
        "pour",
        "repaired",
        "repairs",
        "room",
        "scanner",
        "source",
        "state",
        "text",
        "write",
    )

    def __init__(self, index: int, id: str, name: str, source: Source, limits: Limits) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.source = source
        self.state = PENDING if source == "native" else OPEN
        self.head = ""  # what came while PENDING
        self.text = StringIO()
        self.pieces: list[str] = []  # of the text, not joined yet
        self.write = self.pieces.append
        self.room = 0  # characters that fit without a look at the limits
        self.pour: Callable[[str], None]  # makes a delta of a fragment
        # For a call found in text it is the grammar that watches for the end.
        self.scanner = Scanner(limits.max_depth) if source == "native" else None
        self.repaired = False
        self.repairs: tuple[str, ...] = ()  # what reading the arguments took

    @property
    def closed(self) -> bool:
        return self.state == CLOSED

    @property
    def pending(self) -> bool:
        return self.state == PENDING

    @property
    def raw(self) -> str:
        """The argument text as it came."""
        self.join()
        return self.head + self.text.getvalue()

    @property
    def size(self) -> int:
        """How many characters of argument text are held."""
        self.join()
        return self.text.tell()

    def join(self) -> None:
        """Make one piece of those that came since the last time."""
        if self.pieces:
            self.text.write("".join(self.pieces))
            self.pieces.clear()

    def restart(self) -> None:
        """Forget the argument text."""
        self.head = ""
        self.text = StringIO()
        self.pieces.clear()

    def arguments(self, raw: str, mode: Mode, limits: Limits) -> tuple[dict[str, Any], Source]:
        """Read the whole argument text; a value in a string (encoded twice) counts as a repair.

        Raises JSONError if it is no object.
        """
        try:
            reading = read(raw, mode, limits)
        except JSONError:
            if self.source == "native" or mode == "strict":
                raise
            reading = read(raw, "heal", limits)
        value, self.repairs = reading.value, (*reading.repairs, *(("markup",) if self.repaired else ()))
        if isinstance(value, str) and mode != "strict":
            value, self.repairs = read(value, mode, limits).value, (*self.repairs, "encoded_twice")
        if not isinstance(value, dict):
            raise JSONError("invalid_arguments", f"found {type(value).__name__}", 0)
        return value, "recovered" if self.repairs else self.source
