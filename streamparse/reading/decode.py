"""From a frame's bytes to the Struct that a wire reads.

The fast path is one typed msgspec decode.  What it refuses is read again, slowly: a frame with one field of an
unexpected type keeps its other fields; NaN, raw control characters and broken UTF-8 are tolerated; the rest becomes an
`Error` with its offset, and the stream goes on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar

import msgspec

from streamparse.frames import Frame
from streamparse.json import JSONError, read
from streamparse.limits import Limits
from streamparse.patterns import plain
from streamparse.sink import Sink

# -- ----------------------------------------------------------------------------------------------------
# A character whose halves are in two messages: a surrogate pair of JSON escapes, cut in the middle.
#
# Some servers cut text by UTF-16 units and escape what is not ASCII.  A message that ends in half of a pair waits for
# the next one, which may begin with the other half.  A half that stays alone becomes U+FFFD, as elsewhere in JSON.

_HIGH_AT_END: Final = plain(rb'(?<!\\)((?:\\\\)*+\\u[dD][89abAB][0-9a-fA-F]{2})"')
_LOW_AT_START: Final = plain(rb'(?<!\\)"(\\u[dD][c-fC-F][0-9a-fA-F]{2})')
_LOST: Final = rb"\ufffd"
_UNIT: Final = len(_LOST)


def ends_in_half(data: bytes) -> bool:
    """Whether a string of a message ends in the first half of a pair."""
    return _HIGH_AT_END.search(data) is not None


def rejoin_pairs(data: bytes, following: bytes) -> tuple[bytes, bytes]:
    """Return two messages with whole pairs: each half has moved from the second to the first, or is replaced."""
    lows = iter(_LOW_AT_START.findall(following))

    def whole(match: re.Match[bytes]) -> bytes:
        low = next(lows, None)
        return match[1] + low + b'"' if low is not None else match[1][:-_UNIT] + _LOST + b'"'

    joined, halves = _HIGH_AT_END.subn(whole, data)
    return joined, _LOW_AT_START.sub(b'"', following, count=halves)


# -- ----------------------------------------------------------------------------------------------------
# JSON that a wire passes on as it came, and arguments that came as a value instead of as text.

_EXCERPT: Final = 200


def decode_lenient(data: bytes) -> Any:
    """Decode JSON that may hold NaN, raw control characters, broken UTF-8 or half of a surrogate pair.

    Raises ValueError or RecursionError for anything else.
    """
    try:
        return msgspec.json.decode(data)
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


def decode_frame(frame: Frame) -> Any:
    """Return the JSON that a frame holds; None for a frame that is not data, or not JSON."""
    if frame.field != b"data":
        return None
    try:
        return decode_lenient(frame.data)
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


def objects_at(value: Any, *path: str) -> list[dict[str, Any]]:
    """The objects at a path of decoded JSON; on the way, a list stands for each of its elements."""
    found = value if isinstance(value, list) else [value]
    for key in path:
        inner = [each.get(key) for each in found if isinstance(each, dict)]
        found = [one for each in inner for one in (each if isinstance(each, list) else [each])]
    return [each for each in found if isinstance(each, dict)]


def read_str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def fields_of(message: msgspec.Struct, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The fields of a message that are there, decoded: all, or those of these names."""
    given = ((name, getattr(message, name)) for name in names or message.__struct_fields__)
    decoded = ((name, read_value(value) if isinstance(value, msgspec.Raw) else value) for name, value in given)
    return {name: value for name, value in decoded if value is not None}


# -- ----------------------------------------------------------------------------------------------------

T = TypeVar("T", bound=msgspec.Struct)

_PATH = plain(r"`\$((?:\.[\w-]+|\[\d+\]|\[\.\.\.\])+)`")
_STEP = plain(r"\.([\w-]+)|\[(\d+|\.\.\.)\]")
_MOST_PRUNINGS: Final = 8


class FrameDecoder(Generic[T]):
    """Decodes frames into one Struct type, and reports what cannot be decoded."""

    def __init__(self, shape: type[T], sink: Sink, limits: Limits, mend: Callable[[dict[str, Any]], None]) -> None:
        self._mend = mend
        self._sink = sink
        self._limits = limits
        self._lenient = msgspec.json.Decoder(shape, strict=False).decode
        self.fast = msgspec.json.Decoder(shape).decode
        """Raises ValueError (of msgspec or UTF-8) or RecursionError; then call `slow`."""

    def slow(self, frame: Frame) -> T | None:
        """Decode a frame that the fast path refused; None, after an `Error`, if it cannot be read."""
        value = self._read(frame)
        if value is None:
            return None
        self._mend(value)
        for _ in range(_MOST_PRUNINGS):
            try:
                return self._lenient(json.dumps(value, ensure_ascii=False))  # `convert` makes no `Raw`
            except msgspec.ValidationError as error:
                reason = str(error)
            path = _PATH.search(reason)
            if path is None or not _prune(value, _STEP.findall(path[1])):
                break
            self._sink.error("frame", "unexpected_shape", f"a field was ignored: {reason}", frame.offset)
        self._sink.error("frame", "unexpected_shape", reason, frame.offset)
        return None

    def _read(self, frame: Frame) -> dict[str, Any] | None:
        """The object that a frame holds; None, after an `Error`, if it holds none."""
        text = frame.data.decode("utf-8", "replace")
        limit = self._limits.max_depth
        if limit is not None and text.count("{") + text.count("[") > limit:
            # `json` would raise RecursionError far beyond the limit; the tolerant reader finds out what is at it.
            error = self._find_error(text)
            if error is not None and error.code == "json_depth":
                return self._refuse(frame, error)
        try:
            value = loads_lenient(text)
        except ValueError:
            return self._refuse(frame, self._find_error(text))
        if isinstance(value, dict):
            return value
        self._sink.error("frame", "unexpected_shape", f"a frame holds {_name_kind(value)}", frame.offset)
        return None

    def _find_error(self, text: str) -> JSONError | None:
        try:
            read(text, "lenient", self._limits)
        except JSONError as error:
            return error
        return None

    def _refuse(self, frame: Frame, error: JSONError | None) -> None:
        if error is None:
            self._sink.error("frame", "json_syntax", "a frame is not JSON", frame.offset)
            return
        within = min(error.offset, len(frame.data))  # replacement characters made the text longer than its bytes
        self._sink.error("frame", error.code, f"{error.message}: {read_excerpt(frame)!r}", frame.offset + within)


def _prune(value: Any, path: list[tuple[str, str]]) -> bool:
    """Remove the field at a path that msgspec complains of; whether anything was removed."""
    (name, index), *deeper = path
    if isinstance(value, list):
        place = slice(None) if index == "..." else slice(int(index), int(index) + 1)
        if deeper:
            removed = [_prune(each, deeper) for each in value[place]]
            return any(removed)
        del value[place]
        return True
    if not (isinstance(value, dict) and name and name in value):
        return False
    if deeper:
        return _prune(value[name], deeper)
    del value[name]
    return True


def _name_kind(value: Any) -> str:
    if value is None:
        return "null"
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number") + ", not an object"
