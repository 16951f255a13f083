"""The floor: what a parser costs at least that decodes each message.

The smallest splitter that is right for bytes cut anywhere (a carry, and the bytes that this server writes between two
messages, or their lengths and checksums), and a msgspec decoder into the very Structs that the wire reads.
No events, no calls, no limits, no errors, nothing of other line ends or comments.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast
from zlib import crc32

import msgspec
from corpora import Corpus
from rooms import Deaf

import streamparse as sp
from streamparse.tools import Toolset

__all__ = ["decode_elements", "decoder", "floor"]

Decode = Callable[[bytes], Any]

_LENGTHS = struct.Struct(">III")


def decoder(wire: str) -> Decode:
    """The decoder that a wire itself uses, without anything around it."""
    reader: Any = sp.WIRES[wire](Deaf(), Toolset.of(None), sp.Limits())
    return cast(Decode, reader.decode)


def floor(corpus: Corpus) -> Callable[[Iterable[bytes]], None]:
    """What cuts and decodes the reads of one corpus."""
    decode = decoder(corpus.wire)
    if corpus.between == b"\n":
        return partial(_lines, decode)
    if corpus.between.startswith(b"\n,"):
        return partial(decode_elements, decode, corpus.between)
    return partial(_events, decode, corpus.between) if corpus.between else partial(_binary, decode)


def _events(decode: Decode, between: bytes, reads: Iterable[bytes]) -> None:
    line_end = between[: len(between) // 2]
    carry = b""
    for read in reads:
        *events, carry = (carry + read).split(between)
        for event in events:
            for line in event.split(line_end):
                if line.startswith(b"data: ") and line != b"data: [DONE]":
                    try:
                        decode(line[6:])
                    except msgspec.ValidationError:  # an error, which is no message of the wire
                        continue


def _lines(decode: Decode, reads: Iterable[bytes]) -> None:
    carry = b""
    for read in reads:
        *lines, carry = (carry + read).split(b"\n")
        for line in lines:
            if line:
                decode(line)


def decode_elements(decode: Decode, between: bytes, reads: Iterable[bytes]) -> None:
    """An element is whole once what stands behind it has come; the brackets stand at the ends of the body."""
    carry = b""
    first = 1
    for read in reads:
        *elements, carry = (carry + read).split(between)
        for element in elements:
            decode(element[first:])
            first = 0
    decode(carry[first:].removesuffix(b"]"))


def _binary(decode: Decode, reads: Iterable[bytes]) -> None:
    carry = b""
    for read in reads:
        carry += read
        while len(carry) >= 12:
            size, headers, checksum = _LENGTHS.unpack_from(carry)
            if crc32(carry[:8]) != checksum or len(carry) < size:
                break
            message, carry = carry[:size], carry[size:]
            if crc32(message[:-4]) == int.from_bytes(message[-4:], "big"):
                decode(message[12 + headers : -4])
