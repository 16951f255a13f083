"""JSON that a wire passes on as it came, and arguments that came as a value instead of as text."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

__all__ = ["argument_text", "forgiven", "given_text", "lenient", "value_of", "whole_text"]


def lenient(data: bytes) -> Any:
    """Decode JSON that may hold NaN, raw control characters, broken UTF-8 or half of a surrogate pair.

    Raises ValueError or RecursionError for what is none.
    """
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return forgiven(data.decode("utf-8", "replace"))


def forgiven(text: str) -> Any:
    """Decode JSON that may hold all of these; numbers that are none become null.  Raises as `lenient` does."""
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


def value_of(raw: msgspec.Raw) -> Any:
    """Decode a value; None for none.  What cannot be read is its text, for decoding the frame did not look at it."""
    data = bytes(raw)
    try:
        return lenient(data) if data else None
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def argument_text(raw: msgspec.Raw) -> str:
    """The text of a call's arguments: a JSON string that holds it, or, from some relays, the object itself."""
    text = bytes(raw).decode("utf-8", "replace")
    if text.startswith('"'):
        value = value_of(raw)
        return value if isinstance(value, str) else text
    return "" if text == "null" else text


def whole_text(input: Any) -> str:
    """The text of an input that came as a value."""
    return input if isinstance(input, str) else json.dumps(input, ensure_ascii=False)


def given_text(input: Any) -> str:
    """The text of the input that stands in the start of a call; nothing if it only keeps the place."""
    return whole_text(input) if input else ""
