"""One call: its name and id, and its life until it is closed.

    call_start ─▶ PENDING ──▶ OPEN ───────────┬──▶ COMPLETE ──▶ revoked
                     │  └◀──▶ NOT_AN_OBJECT ──┤
                     └────────────────────────┴──▶ BROKEN

- PENDING: nothing that counts has come (blanks, or a `{` `}` that may be a placeholder); no delta was made.
- OPEN: the root object has begun; each fragment is a delta at once.  Calls in the text begin here.
- NOT_AN_OBJECT: the text begins with something else than `{` (`null`, a string that holds the object); it is kept
  until the call is over, or the server gives another text as the whole.
- COMPLETE and BROKEN: what follows may add nothing.  Only a complete call can be revoked: `event_log`.
"""

from __future__ import annotations

from io import StringIO
from typing import Any, Final

from streamparse.events import Place, Source
from streamparse.json import JSONError, Mode, PartialReader, read
from streamparse.json.scan import Scanner
from streamparse.limits import Limits
from streamparse.patterns import BLANKS


class State:
    """The states of a call, numbered so that the closed ones come last."""

    PENDING: Final = 0
    OPEN: Final = 1
    NOT_AN_OBJECT: Final = 2
    COMPLETE: Final = 3
    BROKEN: Final = 4


NEXT_STATES: Final[dict[int, tuple[int, ...]]] = {
    State.PENDING: (State.OPEN, State.NOT_AN_OBJECT, State.COMPLETE, State.BROKEN),
    State.OPEN: (State.COMPLETE, State.BROKEN),
    State.NOT_AN_OBJECT: (State.PENDING, State.COMPLETE, State.BROKEN),
    State.COMPLETE: (),
    State.BROKEN: (),
}
"""The states that may follow each state."""


class CallState:
    """A call from its start to its end; only the assembler changes it.

    The text comes in chunks, each of which costs some 60 bytes besides its characters until they are joined.
    It is no Struct, for each fragment changes it, and to assign to a field of one takes several times as long.
    """

    # What most calls never change, or not at once, is not set in each of them.
    state: int = State.PENDING
    source: Source = "native"
    place: Place = "field"
    room: int = 0
    """Characters that fit before the limits must be looked at again; -1 once the call is closed."""
    closed: bool = False
    """Whether the call is complete or broken."""
    scanner: Scanner | None = None
    """Finds the end of a native call; of a call in the text the grammar does."""
    prefix: str = ""
    """What came while PENDING, or the whole text of a call that came in one piece."""
    text: StringIO | None = None
    """The text after the prefix, as far as it is joined."""
    reason = ""
    """Why the call was found only at the end, if it was: `wire`, `too_long` or `unnamed`."""
    repairs: tuple[str, ...] = ()
    """What had to be mended so that the call could be read, by name; its markup first."""
    has_late_error = False
    """Whether text after the end is not an error any more: one was made, or it belongs to the error that ended it."""
    reader: PartialReader | None = None
    """Reads the arguments so far, once they were asked for."""
    characters_read: int = 0
    """How many characters of `text` the reader has."""

    def __init__(self, index: int, id: str, name: str) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.chunks: list[str] = []
        """The text after `text`, not joined yet."""

    @property
    def pending(self) -> bool:
        return self.state == State.PENDING and not self.has_begun

    @property
    def has_begun(self) -> bool:
        """Whether the root object is open: only its own brace closes it, or the end of the stream cuts it."""
        return self.state == State.OPEN or self.prefix.strip(BLANKS) == "{"

    @property
    def raw(self) -> str:
        """The argument text as it came."""
        return self.prefix + self._join().getvalue() if self.chunks or self.text else self.prefix

    @property
    def size(self) -> int:
        """How many characters of argument text are held after the prefix."""
        return self._join().tell() if self.chunks or self.text else 0

    def enter(self, state: int) -> None:
        """Go on to another state."""
        assert state in NEXT_STATES[self.state], (self.state, state)
        self.state = state
        if state >= State.COMPLETE:
            self.closed = True
            self.room = -1

    def read_so_far(self, limits: Limits) -> dict[str, Any]:
        """Return the arguments so far; another time costs only what came since."""
        if self.reader is None:
            self.reader = PartialReader(limits)
            self.reader.feed(self.prefix)
        text = self._join()
        text.seek(self.characters_read)
        self.reader.feed(text.read())
        self.characters_read = text.tell()
        value = self.reader.value
        return value if isinstance(value, dict) else {}

    def restart(self) -> None:
        """Forget the argument text."""
        self.prefix = ""
        self.text = self.reader = None
        self.characters_read = 0
        self.chunks.clear()

    def mend_markup(self) -> None:
        """Note that the markup around the arguments had to be mended."""
        if "markup" not in self.repairs:
            self.repairs = ("markup", *self.repairs)

    def read_arguments(self, raw: str, mode: Mode, limits: Limits) -> dict[str, Any]:
        """Read the whole argument text, and note what had to be mended; an object in a string is `encoded_twice`.

        Raises JSONError if it is not an object.
        """
        try:
            reading = read(raw, mode, limits)
        except JSONError:
            if mode == "strict":
                raise
            reading = read(raw, "heal", limits)
        value = reading.value
        if reading.repairs:
            self.repairs += reading.repairs
        if isinstance(value, str) and mode != "strict":
            value = read(value, mode, limits).value
            self.repairs += ("encoded_twice",)
        if not isinstance(value, dict):
            raise JSONError("invalid_arguments", f"found {type(value).__name__}", 0)
        return value

    def _join(self) -> StringIO:
        if self.text is None:
            self.text = StringIO()
        self.text.write("".join(self.chunks))
        self.chunks.clear()
        return self.text
