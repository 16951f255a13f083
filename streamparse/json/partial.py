"""The partial reader: reads a JSON value while it is written, and shows what no further text can change.

Containers are shown as they fill, strings as far as they came, numbers and literals once a delimiter has closed them, a
key with its value.  Half an escape, and half a surrogate pair, is held back.  Reads as `lenient` does, up to the first
fault.

Every character is looked at once, however the text is cut.  Looking at the value costs a copy of the containers that
are still open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from streamparse.json.tolerant import BLANK, LITERALS, LONE_SURROGATE, decode_body, match_end, parse_scalar, put_member
from streamparse.limits import Limits, most
from streamparse.patterns import lazy_re

_INSIDE = lazy_re(r'[^"\\]*+(?:\\[\s\S][^"\\]*+)*+')
_SCALAR = lazy_re(r"[^,\]} \t\n\r]*+")
_NOTHING: Final = object()


class PartialReader:
    """One value that arrives in pieces.

    `streamed` are members of the root object whose texts are not kept, but handed to `on_text(key, piece)` as they
    come; `begun` holds those that have begun.  `is_odd` says that something was repaired, or is at fault.
    """

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        streamed: Collection[str] = (),
        on_text: Callable[[str, str], None] = lambda _key, _text: None,
    ) -> None:
        self.begun: set[str] = set()
        self.is_odd: bool = False
        self.is_whole: bool = False
        self._streamed = streamed
        self._on_text = on_text
        self._max_depth = most(limits.max_depth)
        self._max_number = most(limits.max_number)
        self._max_key = most(limits.max_key)
        self._root: Any = _NOTHING
        self._open: list[Any] = []
        self._keys: list[str] = []  # of each open container; "" in a list
        self._step: Callable[[PartialReader], None] = PartialReader._read_start  # not bound, which would be a cycle
        self._text = ""
        self._at = 0
        self._rest = ""  # half an escape
        self._grown = ""  # the string, number or literal that is open
        self._is_after_comma = False

    def feed(self, piece: str) -> None:
        """Take the next piece of the text; what follows the value, or a fault, is not looked at."""
        self._text, self._at, self._rest = self._rest + piece, 0, ""
        while self._at < len(self._text):
            self._step(self)
        self._text = ""

    def end_literal(self) -> None:
        """Take a literal whose last letter was the last of the text as closed."""
        if self._step is PartialReader._read_scalar and self._grown in LITERALS:
            self.feed(" ")

    @property
    def members(self) -> dict[str, Any]:
        """The closed members of the root object, except those that are streamed; not to be changed."""
        root = self._open[0] if self._open else self._root
        return root if isinstance(root, dict) else {}

    @property
    def value(self) -> Any:
        """The value so far, None if there is nothing to show yet; its closed parts must not be changed."""
        is_text = self._step is PartialReader._read_string and not self._is_streaming
        shown = self._grown if is_text else self._root
        for container, key in zip(reversed(self._open), reversed(self._keys), strict=True):
            copy = container.copy()
            if shown is not _NOTHING:
                put_member(copy, key, shown)
            shown = copy
        return None if shown is _NOTHING else shown

    # -- states: each reads on from the current position -----------------------------------------------

    def _read_start(self) -> None:
        if self._text[self._at] == "\ufeff":
            self.is_odd = True
            self._at += 1
        self._step = PartialReader._read_value

    def _read_value(self) -> None:
        char = self._skip_to_next()
        if char in ("{", "["):
            self._open_container({} if char == "{" else [])
        elif char == '"':
            self._at += 1
            self._step = PartialReader._read_string
            if self._is_streaming:
                self.begun.add(self._keys[-1])
        elif char:
            self._step = PartialReader._read_scalar

    def _read_item(self) -> None:
        """In an array, at its start or after a comma."""
        char = self._skip_to_next()
        if char == "]":
            self._close_container()
        elif char:
            self._step = PartialReader._read_value

    def _read_member(self) -> None:
        """In an object, at its start or after a comma."""
        char = self._skip_to_next()
        if char == "}":
            self._close_container()
        elif char == '"':
            self._at += 1
            self._step = PartialReader._read_key
        elif char:
            self._fail()

    def _read_key(self) -> None:
        is_closed = self._read_inside()
        if len(self._grown) > self._max_key:
            self._fail()
        elif is_closed:
            key, self._grown = self._grown, ""
            self.is_odd = self.is_odd or key in self._open[-1] or (len(self._open) == 1 and key in self.begun)
            self._keys[-1] = key
            self._step = PartialReader._read_colon

    def _read_colon(self) -> None:
        char = self._skip_to_next()
        if char == ":":
            self._at += 1
            self._step = PartialReader._read_value
        elif char:
            self._fail()

    def _read_string(self) -> None:
        is_closed = self._read_inside()
        if self._is_streaming:
            self._on_text(self._keys[-1], self._grown)
            self._grown = ""
        if not is_closed:
            return
        value, self._grown = self._grown, ""
        if self._is_streaming:
            self._is_after_comma, self._step = False, PartialReader._read_more
        else:
            self._close_value(value)

    def _read_scalar(self) -> None:
        end = match_end(_SCALAR, self._text, self._at)
        self._grow(self._text[self._at : end])
        self._at = end
        if len(self._grown) > max(self._max_number, len("false")):
            self._fail()
        elif end < len(self._text):
            token, self._grown = self._grown, ""
            try:
                value = parse_scalar(token)
            except ValueError:
                self._fail()
            else:
                self._close_value(value)

    def _read_more(self) -> None:
        """After a value in a container."""
        char = self._skip_to_next()
        is_object = isinstance(self._open[-1], dict)
        if char == ("}" if is_object else "]"):
            self._close_container()
        elif char == ",":
            self._at += 1
            self._is_after_comma = True
            self._step = PartialReader._read_member if is_object else PartialReader._read_item
        elif char:
            self._fail()

    def _skip_all(self) -> None:
        self._at = len(self._text)

    # -- steps -----------------------------------------------------------------------------------------

    @property
    def _is_streaming(self) -> bool:
        return len(self._open) == 1 and self._keys[0] in self._streamed

    def _skip_to_next(self) -> str:
        """Go past blanks; return the character there, "" at the end of the piece."""
        self._at = match_end(BLANK, self._text, self._at)
        return self._text[self._at] if self._at < len(self._text) else ""

    def _fail(self) -> None:
        self.is_odd = True
        self._step = PartialReader._skip_all

    def _read_inside(self) -> bool:
        """Read on in the string that is open; return whether its closing quote has come."""
        match = _INSIDE.match(self._text, self._at)
        assert match is not None, "the pattern matches any text"
        end = match.end()
        is_closed = end < len(self._text) and self._text[end] == '"'
        body = match.group()
        if not body.isascii() and LONE_SURROGATE.search(body):
            body, self.is_odd = LONE_SURROGATE.sub("\ufffd", body), True
        text, half = decode_body(body, '"', self._note_repair, is_cut=not is_closed)
        if is_closed:
            self._at = end + 1
        else:
            self._rest = half + self._text[end:]  # a lone backslash, perhaps
            self._at = len(self._text)
        self._grow(text)
        return is_closed

    def _grow(self, text: str) -> None:
        # CPython extends a str in place if nobody else holds it; so this object must not while it grows.
        grown = self._grown
        self._grown = ""
        grown += text
        self._grown = grown

    def _note_repair(self, _name: str, _at: int) -> None:
        self.is_odd = True

    def _open_container(self, container: Any) -> None:
        if len(self._open) == self._max_depth:
            self._fail()
            return
        self._at += 1
        self._open.append(container)
        self._keys.append("")
        self._is_after_comma = False
        self._step = PartialReader._read_member if isinstance(container, dict) else PartialReader._read_item

    def _close_container(self) -> None:
        self._at += 1
        self.is_odd = self.is_odd or self._is_after_comma
        self._keys.pop()
        self._close_value(self._open.pop())

    def _close_value(self, value: Any) -> None:
        """A value is whole: put it where it belongs."""
        self._is_after_comma = False
        if self._open:
            put_member(self._open[-1], self._keys[-1], value)
            self._step = PartialReader._read_more
        else:
            self._root, self.is_whole = value, True
            self._step = PartialReader._skip_all


def snapshot(text: str) -> Any:
    """Return the part of a growing value that no further text can change, None while there is nothing to show.

    Unlike a reader's `value` it shows a literal with its last letter.  Reads up to the first fault, and never raises.
    """
    reader = PartialReader()
    reader.feed(text)
    reader.end_literal()
    return reader.value
