"""From a frame's bytes to the Struct that a wire reads.

The fast path is one typed msgspec decode.  What it refuses is looked at again: a frame whose JSON is sound but for
one field of an unexpected type keeps its other fields; NaN, raw control characters and broken UTF-8 in a
frame are tolerated; the rest becomes an `Error` with the offset, and the stream goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from streamparse.frames import Frame
from streamparse.json import JSONError, read
from streamparse.limits import Limits
from streamparse.patterns import plain
from streamparse.reading.lenient_json import forgiven
from streamparse.sink import Sink

__all__ = ["FrameDecoder", "untyped"]

T = TypeVar("T", bound=msgspec.Struct)

_PATH = plain(r"`\$((?:\.[\w-]+|\[\d+\]|\[\.\.\.\])+)`")
_STEP = plain(r"\.([\w-]+)|\[(\d+|\.\.\.)\]")
_PRUNINGS = 8


class FrameDecoder(Generic[T]):
    """Decodes frames into one Struct type; what it refuses it tells the sink."""

    def __init__(
        self, shape: type[T], sink: Sink, limits: Limits, reshape: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        self._reshape = reshape  # mends known deviations, in place, before the second attempt
        self._sink = sink
        self._limits = limits
        self._lenient = msgspec.json.Decoder(shape, strict=False).decode
        self.fast = msgspec.json.Decoder(shape).decode
        """Raises ValueError (of msgspec or UTF-8) or RecursionError; then call `slow`."""

    def slow(self, frame: Frame) -> T | None:
        """Decode a frame that the fast path refused; None, and an `Error` was told, if it cannot be read."""
        value = self._value(frame)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._sink.error("frame", "unexpected_shape", f"a frame holds {_kind(value)}, not an object", frame.offset)
            return None
        if self._reshape is not None:
            self._reshape(value)
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
            # Infinities and NaN are dropped: they stand in fields like `logprobs`, which nobody reads.
            value = forgiven(text)
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
        """`json` would raise RecursionError far beyond the limit; the reader says it in time."""
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


def untyped(data: bytes) -> dict[str, Any]:
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
