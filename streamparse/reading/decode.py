"""Decoding that tolerates what servers send: broken text, arguments as values, fields that may be missing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from streamparse.frames import Frame
from streamparse.patterns import lazy_re

# -- ----------------------------------------------------------------------------------------------------
# A character whose halves are in two messages: a surrogate pair of JSON escapes, cut in the middle.
#
# Some servers cut text by UTF-16 units and escape what is not ASCII.  A message that ends in half of a pair waits for
# the next one, which may begin with the other half.  A half that stays alone becomes U+FFFD, as elsewhere in JSON.

_HIGH_AT_END: Final = lazy_re(rb'(?<!\\)((?:\\\\)*+\\u[dD][89abAB][0-9a-fA-F]{2})"')
_LOW_AT_START: Final = lazy_re(rb'(?<!\\)"(\\u[dD][c-fC-F][0-9a-fA-F]{2})')
_LOST: Final = rb"\ufffd"
_UNIT: Final = len(_LOST)


def has_half_at_end(data: bytes) -> bool:
    """Whether a string of a message ends in the first half of a pair."""
    return _HIGH_AT_END.search(data) is not None


def rejoin_pairs(data: bytes, following: bytes) -> tuple[bytes, bytes]:
    """Return two messages with whole pairs: each half has moved from the second to the first, or is replaced."""
    lows = iter(_LOW_AT_START.findall(following))

    def rejoin(match: re.Match[bytes]) -> bytes:
        low = next(lows, None)
        return match[1] + low + b'"' if low is not None else match[1][:-_UNIT] + _LOST + b'"'

    joined, halves = _HIGH_AT_END.subn(rejoin, data)
    return joined, _LOW_AT_START.sub(b'"', following, count=halves)


# -- ----------------------------------------------------------------------------------------------------
# JSON that a wire passes on as it came, and arguments that came as a value instead of as text.

_EXCERPT: Final = 200  # bound: bytes of a frame in the message of an error
_decode: Final = msgspec.json.Decoder().decode


def decode_lenient(data: bytes) -> Any:
    """Decode JSON that may hold NaN, raw control characters, broken UTF-8 or half of a surrogate pair.

    Raises ValueError or RecursionError for anything else.
    """
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return loads_lenient(data.decode("utf-8", "replace"))


def loads_lenient(text: str) -> Any:
    """Decode JSON that may hold all of these; NaN and infinities become null.  Raises as `decode_lenient` does."""
    # Infinities and NaN come in fields like `logprobs`, which no wire reads.
    value = json.loads(text, strict=False, parse_constant=lambda _: None, parse_float=_read_finite)
    try:
        sound = json.dumps(value, ensure_ascii=False)
        sound.encode()
    except UnicodeEncodeError:
        return json.loads(sound.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return value


def strip_prefix(data: bytes) -> bytes:
    """Take away a `data:` that a relay has written into the data of an event: it framed what was framed already."""
    return data.lstrip(b"dat: \t")  # JSON begins with none of these, nor does the end marker


def decode_frame(frame: Frame) -> Any:
    """Return the JSON that a frame holds; None for a frame that is not data, or not JSON."""
    if frame.field != b"data":
        return None
    data = frame.data
    try:
        return decode_lenient(strip_prefix(data) if data[:5] == b"data:" else data)
    except (ValueError, RecursionError):
        return None


def decode_untyped(data: bytes) -> dict[str, Any]:
    """Return all that a frame holds, for fields that no Struct names; nothing if only the slow path can read it."""
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_excerpt(frame: Frame) -> str:
    """Return the beginning of a frame, for people."""
    return frame.data[:_EXCERPT].decode("utf-8", "replace")


def _read_finite(literal: str) -> float | None:
    number = float(literal)
    return number if math.isfinite(number) else None


def read_value(raw: msgspec.Raw) -> Any:
    """Decode a value; None for none.  What cannot be read is its text, for decoding the frame did not look at it."""
    data = bytes(raw)
    try:
        return decode_lenient(data) if data else None
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def read_argument_text(raw: msgspec.Raw) -> str:
    """The text of a call's arguments: a JSON string that holds it, or, from some relays, the object itself."""
    text = bytes(raw).decode("utf-8", "replace")
    if text == '""':
        return ""
    if text.startswith('"'):
        value = read_value(raw)
        return value if isinstance(value, str) else text
    return "" if text == "null" else text


def write_argument_text(input: Any) -> str:
    """The text of an input that came as a value."""
    return input if isinstance(input, str) else json.dumps(input, ensure_ascii=False)


def write_initial_arguments(input: Any) -> str:
    """The text of the input in the start of a call; "" if it is only a placeholder."""
    return write_argument_text(input) if input else ""


def find_objects(value: Any, *path: str) -> list[dict[str, Any]]:
    """The objects at a path of decoded JSON; on the way, a list means each of its elements."""
    found = value if isinstance(value, list) else [value]
    for key in path:
        inner = [each.get(key) for each in found if isinstance(each, dict)]
        found = [one for each in inner for one in (each if isinstance(each, list) else [each])]
    return [each for each in found if isinstance(each, dict)]


def read_str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def get_fields(message: msgspec.Struct, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The fields of a message that are there, decoded: all, or those of these names."""
    fields = {}
    for name in message.__struct_fields__ if names is None else names:
        value = getattr(message, name)
        if isinstance(value, msgspec.Raw):
            value = read_value(value)
        if value is not None:
            fields[name] = value
    return fields
