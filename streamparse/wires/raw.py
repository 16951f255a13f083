"""JSON that a wire passes on as it came: what a `msgspec.Raw` says."""

from __future__ import annotations

import json
from typing import Any

import msgspec

__all__ = ["argument_text", "value_of"]


def value_of(raw: msgspec.Raw) -> Any:
    """Decode a value; None for none.  Broken UTF-8 is replaced, since decoding the frame did not look at it."""
    data = bytes(raw)
    try:
        return msgspec.json.decode(data) if data else None
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def argument_text(raw: msgspec.Raw) -> str:
    """The text of a call's arguments: a JSON string that holds it, or, from some relays, the object itself."""
    text = bytes(raw).decode("utf-8", "replace")
    if text.startswith('"'):
        value = value_of(raw)
        return value if isinstance(value, str) else text
    return "" if text == "null" else text
