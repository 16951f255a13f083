"""From a frame's bytes to the Struct that a wire reads.

The fast path is one typed msgspec decode.  What it refuses is read again, slowly: a frame with one field of an
unexpected type keeps its other fields; NaN, raw control characters and broken UTF-8 are tolerated; the rest becomes an
`Error` with its offset, and the stream goes on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
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


def lenient(data: bytes) -> Any:
    """Decode JSON that may hold NaN, raw control characters, broken UTF-8 or half of a surrogate pair.

    Raises ValueError or RecursionError for anything else.
    """
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return loads_lenient(data.decode("utf-8", "replace"))


def loads_lenient(text: str) -> Any:
    """Decode JSON that may hold all of these; NaN and infinities become null.  Raises as `lenient` does."""
    value = json.loads(text, strict=False, parse_constant=lambda _: None, parse_float=_finite)
    try:
        sound = json.dumps(value, ensure_ascii=False)
        sound.encode()
    except UnicodeEncodeError:
        return json.loads(sound.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return value


def _finite(literal: str) -> float | None:
    number = float(literal)
    return number if math.isfinite(number) else None


def read_value(raw: msgspec.Raw) -> Any:
    """Decode a value; None for none.  What cannot be read is its text, for decoding the frame did not look at it."""
    data = bytes(raw)
    try:
        return lenient(data) if data else None
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


def initial_arguments(input: Any) -> str:
    """The text of the input in the start of a call; "" if it is only a placeholder."""
    return write_argument_text(input) if input else ""


# -- ----------------------------------------------------------------------------------------------------

T = TypeVar("T", bound=msgspec.Struct)

_PATH = plain(r"`\$((?:\.[\w-]+|\[\d+\]|\[\.\.\.\])+)`")
_STEP = plain(r"\.([\w-]+)|\[(\d+|\.\.\.)\]")
_PRUNINGS = 8


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
        value = self._value(frame)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._sink.error("frame", "unexpected_shape", f"a frame holds {_kind(value)}, not an object", frame.offset)
            return None
        self._mend(value)
        for _ in range(_PRUNINGS):
            try:
                return self._lenient(json.dumps(value, ensure_ascii=False))  # `convert` makes no `Raw`
            except msgspec.ValidationError as error:
                reason = str(error)
            path = _PATH.search(reason)
            if path is None or not _prune(value, path[1]):
                break
            self._sink.error("frame", "unexpected_shape", f"a field was ignored: {reason}", frame.offset)
        self._sink.error("frame", "unexpected_shape", reason, frame.offset)
        return None

    def _value(self, frame: Frame) -> Any:
        text = frame.data.decode("utf-8", "replace")
        try:
            self._check_depth(text)
            # Infinities and NaN are dropped: they come in fields like `logprobs`, which no wire reads.
            value = loads_lenient(text)
        except JSONError as error:
            self._refuse(frame, error)
        except ValueError:
            self._explain(frame, text)
        else:
            if value is None:
                self._sink.error("frame", "unexpected_shape", "a frame holds null", frame.offset)
            return value
        return None

    def _check_depth(self, text: str) -> None:
        """`json` would raise RecursionError far beyond the limit; the tolerant reader raises at it."""
        if self._limits.max_depth is not None and text.count("{") + text.count("[") > self._limits.max_depth:
            try:
                read(text, "lenient", self._limits)
            except JSONError as error:
                if error.code == "json_depth":
                    raise

    def _explain(self, frame: Frame, text: str) -> None:
        try:
            read(text, "lenient", self._limits)
        except JSONError as error:
            self._refuse(frame, error)
        else:
            self._sink.error("frame", "json_syntax", "a frame is not JSON", frame.offset)

    def _refuse(self, frame: Frame, error: JSONError) -> None:
        excerpt = frame.data[:200].decode("utf-8", "replace")
        within = min(error.offset, len(frame.data))  # replacement characters made the text longer than its bytes
        self._sink.error("frame", error.code, f"{error.message}: {excerpt!r}", frame.offset + within)


def decode_untyped(data: bytes) -> dict[str, Any]:
    """Return all that a frame holds, for fields that no Struct names; nothing if only `slow` can read it."""
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _prune(value: Any, path: str) -> bool:
    """Remove the field at a path that msgspec complains of; whether anything was removed."""
    steps = [name or (index if index == "..." else int(index)) for name, index in _STEP.findall(path)]
    nodes = [value]
    for step in steps[:-1]:
        nodes = [child for node in nodes for child in _children(node, step)]
    last = steps[-1]
    removed = False
    for node in nodes:
        if isinstance(node, dict) and last in node:
            del node[last]
            removed = True
        elif isinstance(node, list):
            removed = bool(node)
            del node[slice(last, last + 1) if isinstance(last, int) else slice(None)]
    return removed


def _children(node: Any, step: str | int) -> list[Any]:
    if isinstance(node, list):
        return node if step == "..." else node[step : step + 1] if isinstance(step, int) else []
    return [node[step]] if isinstance(node, dict) and step in node else []


def _kind(value: Any) -> str:
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
