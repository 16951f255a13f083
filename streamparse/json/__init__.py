"""JSON: one whole text is read by `read`, one that still grows by `PartialReader`.

`read` has three modes:

- `strict` is RFC 8259 and what it leaves open settled: no duplicate keys, no lone surrogates, no byte order mark.
- `lenient`, for arguments that models write, accepts what has one reading only: `bom`, `utf8`,
  `lone_surrogate` (both become U+FFFD), `control_char`, `bad_escape` (kept as they are), `trailing_comma`,
  `duplicate_key` (the last one counts).
- `heal`, for whole responses, also accepts `single_quotes`, `unquoted_key`, `python_literal`, `comment`, `fence`.

Deviations from RFC 8259 that were accepted are named in `Reading.repairs`.  In no mode is a truncated value closed, a
number that is not finite read, or a name, a call or a tuple looked at.

Clean text is read by msgspec or by the standard library's C scanner.  Whenever that is not certain to be exact, the
tolerant reader of this room reads the text again, without recursion, and finds the value or the fault.
"""

from __future__ import annotations

from streamparse.json.partial import PartialReader, snapshot
from streamparse.json.tolerant import JSONError, Mode, Reading
from streamparse.json.whole_text import read

__all__ = ["JSONError", "Mode", "PartialReader", "Reading", "read", "snapshot"]
