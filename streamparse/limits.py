"""How much a stream may ask of its reader.

Every buffer in the library is bounded by a field of `Limits`.  The defaults are far above what real
servers send (a legal event of 2.1 MB has been recorded) and far below what hurts a process.
"""

from __future__ import annotations

import sys

import msgspec

__all__ = ["Limits", "most"]

KIB = 1024  # source: bytes
MIB = 1024 * KIB  # source: bytes


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one parser; each may be raised, or set to None for no bound.

    Sizes of wire data are bytes; sizes of text, names and arguments are characters.
    A stream limit ends the parse with `Error(scope="stream")` and `Done(ok=False)`;
    a call limit drops that call with `Error(scope="call")`, and the stream goes on.
    """

    max_line: int | None = 16 * MIB
    """Bytes of one line on the wire: `limit_line`."""
    max_event: int | None = 16 * MIB
    """Bytes of one event's data: `limit_event`."""
    max_pending: int | None = 32 * MIB
    """Bytes that may wait for more input, all buffers together: `limit_pending`."""
    max_total: int | None = 256 * MIB
    """Bytes of one response: `limit_total`."""
    max_held_text: int | None = 64 * KIB
    """Characters of text that may be withheld while they might still become a call without a marker."""
    max_markers: int | None = 1024
    """Markers in open text, since the last call in it, that opened none: the rest is no call, `limit_markers`."""
    max_call_args: int | None = 4 * MIB
    """Characters of one call's arguments: `limit_args`."""
    max_open_calls: int | None = 128
    """Calls that are open at one time: `limit_open_calls`."""
    max_calls: int | None = 1024
    """Calls of one response: `limit_calls`."""
    max_depth: int | None = 128
    """Brackets that are open at one time in a JSON value: `json_depth`."""
    max_number: int | None = 1000
    """Characters of one JSON number: `json_number_too_long`."""
    max_key: int | None = 64 * KIB
    """Characters of one JSON key: `json_key_too_long`."""
    max_name: int | None = 256
    """Characters of a tool's name: `limit_name`."""
    max_id: int | None = 512
    """Characters of a call's id: `limit_id`."""


def most(limit: int | None) -> int:
    """Return a limit as a number to compare with; no limit is the largest."""
    return sys.maxsize if limit is None else limit
