"""JSON: one whole text is read by `read`, one that still grows by `PartialReader`.

`read` has three modes:

- `strict` is RFC 8259 and what it leaves open settled: no duplicate keys, no lone surrogates, no byte order mark.
- `lenient`, for arguments that models write, accepts what has one reading only: `bom`, `utf8`,
  `lone_surrogate` (both become U+FFFD), `control_char`, `bad_escape` (kept as they are), `trailing_comma`,
  `duplicate_key` (the last one counts).
- `heal`, for whole responses, also accepts `single_quotes`, `unquoted_key`, `python_literal`, `comment`, `fence`.

What was accepted beyond RFC 8259 is named in `Reading.repairs`.  In no mode is a truncated value closed, a
number that is not finite read, or a name, a call or a tuple looked at.

Clean text is read by msgspec or by the standard library's C scanner.  Whenever that is not certain to be exact, the
tolerant reader of this room reads the text again, without recursion, and finds the value or the fault.
"""

from __future__ import annotations

from typing import Any

from streamparse.json.c_readers import read_clean, read_flat_object
from streamparse.json.partial import PartialReader
from streamparse.json.tolerant import JSONError, Mode, Reading, TolerantReader
from streamparse.limits import Limits

__all__ = ["JSONError", "Mode", "PartialReader", "Reading", "read", "snapshot"]

_DEFAULT_LIMITS = Limits()


def read(text: str | bytes, mode: Mode = "lenient", limits: Limits = _DEFAULT_LIMITS) -> Reading:
    """Read a text that holds one JSON value and nothing else.

    Of the limits, `max_depth`, `max_number` and `max_key` count here.  Integers are exact.
    Raises JSONError, and nothing else for any text.
    """
    flat = read_flat_object(text, limits) if text.__class__ is str else None
    if flat is not None:
        return Reading(flat)
    try:
        return Reading(read_clean(text, limits))
    except (ValueError, RecursionError):
        reader = TolerantReader(text, mode, limits)
        return Reading(reader.read_document(), tuple(reader.repairs))


def snapshot(text: str) -> Any:
    """Return the part of a growing value that no further text can change.

    Containers are shown as they fill, strings as far as they came, a number or a literal once it
    is whole, a key with its value; None while there is nothing to show.  Reads as `lenient`, up to
    the first fault, and never raises.
    """
    reader = TolerantReader(text, "lenient", _DEFAULT_LIMITS, is_growing=True)
    try:
        reader.read_document()
    except JSONError:
        pass
    return reader.root[0] if reader.root else None
