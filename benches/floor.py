"""The floor: what no parser of these bytes can do without.

The smallest splitter that is right for bytes cut anywhere (a carry, and lines that end in LF), and a msgspec decoder
into the very Structs that the wire reads.  No events, no calls, no limits, no errors, nothing of CR or comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from rooms import Deaf

import streamparse as sp
from streamparse.tools import Toolset

__all__ = ["decoder", "floor"]

Decode = Callable[[bytes], Any]


def decoder(wire: str) -> Decode:
    """The decoder that a wire itself uses."""
    return cast(Decode, sp.WIRES[wire](Deaf(), Toolset.of(None), sp.Limits()).decode)


def floor(wire: str) -> Callable[[Iterable[bytes]], None]:
    """What cuts and decodes the reads of one wire."""
    decode = decoder(wire)
    cut = _lines if wire.startswith("ollama") else _events
    return lambda reads: cut(reads, decode)


def _events(reads: Iterable[bytes], decode: Decode) -> None:
    carry = b""
    for read in reads:
        *events, carry = (carry + read).split(b"\n\n")
        for event in events:
            for line in event.split(b"\n"):
                if line.startswith(b"data: ") and line != b"data: [DONE]":
                    decode(line[6:])


def _lines(reads: Iterable[bytes], decode: Decode) -> None:
    carry = b""
    for read in reads:
        *lines, carry = (carry + read).split(b"\n")
        for line in lines:
            if line:
                decode(line)
