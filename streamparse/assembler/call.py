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

import msgspec

from streamparse.events import Place, Source
from streamparse.jsonread import JSONError, Mode, PartialReader, read
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits

__all__ = ["BLANK", "CLOSED", "ODD", "OPEN", "PENDING", "CallState"]

PENDING: Final = 0
OPEN: Final = 1
ODD: Final = 2
CLOSED: Final = 3

BLANK: Final = " \t\r\n"
"""What counts for nothing around an argument value."""


def _unheard(_: str) -> None:
    """Stands for `pour` in a call that came whole."""


class CallState(msgspec.Struct, eq=False):
    """A call from its start to its end; only the assembler changes it."""

    index: int
    id: str
    name: str
    source: Source
    state: int
    place: Place = "field"
    head: str = ""
    """What came while PENDING, or the whole text of a call that came in one piece."""
    text: StringIO | None = None
    """What follows, as far as it is joined."""
    pieces: list[str] = []
    """And what is not."""
    room: int = 0
    """Characters that fit without a look at the limits."""
    pour: Callable[[str], None] = _unheard
    """Makes a delta of a fragment."""
    scanner: Scanner | None = None
    """Watches for the end.  Of a call found in text the grammar does."""
    repaired: bool = False
    repairs: tuple[str, ...] = ()
    """What reading the arguments took."""
    reader: PartialReader | None = None
    """Reads the arguments so far, once somebody has asked for them."""
    read: int = 0
    """Characters of the text that it has read."""

    @property
    def closed(self) -> bool:
        return self.state == CLOSED

    @property
    def pending(self) -> bool:
        return self.state == PENDING and not self.has_begun

    @property
    def has_begun(self) -> bool:
        """Whether the root object is open: only its own brace closes it, or the end of the stream cuts it."""
        return self.state == OPEN or self.head.strip(BLANK) == "{"

    @property
    def raw(self) -> str:
        """The argument text as it came."""
        return self.head + self._joined().getvalue() if self.pieces or self.text else self.head

    @property
    def size(self) -> int:
        """How many characters of argument text are held."""
        return self._joined().tell()

    def _joined(self) -> StringIO:
        """Make one piece of those that came since the last time."""
        if self.text is None:
            self.text = StringIO()
        self.text.write("".join(self.pieces))
        self.pieces.clear()
        return self.text

    def look(self, limits: Limits) -> dict[str, Any]:
        """Return the arguments so far; looked at again, it costs what came since."""
        if self.reader is None:
            self.reader = PartialReader(limits)
            self.reader.feed(self.head)
        text = self._joined()
        text.seek(self.read)
        self.reader.feed(text.read())
        self.read = text.tell()
        value = self.reader.value
        return value if isinstance(value, dict) else {}

    def restart(self) -> None:
        """Forget the argument text."""
        self.head = ""
        self.text = self.reader = None
        self.read = 0
        self.pieces.clear()

    def arguments(self, raw: str, mode: Mode, limits: Limits) -> tuple[dict[str, Any], Source]:
        """Read the whole argument text; a value in a string (encoded twice) counts as a repair.

        Raises JSONError if it is no object.
        """
        try:
            reading = read(raw, mode, limits)
        except JSONError:
            if mode == "strict":
                raise
            reading = read(raw, "heal", limits)
        if reading.value.__class__ is dict and not (reading.repairs or self.repaired):
            return reading.value, self.source
        value, self.repairs = reading.value, (*reading.repairs, *(("markup",) if self.repaired else ()))
        if isinstance(value, str) and mode != "strict":
            value, self.repairs = read(value, mode, limits).value, (*self.repairs, "encoded_twice")
        if not isinstance(value, dict):
            raise JSONError("invalid_arguments", f"found {type(value).__name__}", 0)
        return value, "recovered" if self.repairs else self.source
