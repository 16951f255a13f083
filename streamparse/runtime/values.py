"""What tools return, made fit for the model: JSON values, and no more of them than was asked for.

A text that is too long keeps its beginning and its end, and says what is missing and how to get it.  Other JSON that
is too large becomes such a text.  Bytes, pictures and documents make no sense in parts: too large, they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

__all__ = ["Reduced", "UnusableResult", "cut_text", "reduce_value"]

_TAIL: Final = 4
"""The end of a text that is cut gets one character of so many."""
_MEDIA: Final = frozenset(
    ("image", "image_url", "input_image", "document", "file", "input_file", "audio", "input_audio", "video", "resource")
)
_MEDIA_TYPES: Final = frozenset(("mimeType", "mime_type", "media_type"))
_BYTES: Final = (bytes, bytearray, memoryview)
_DEPTH: Final = 8
"""How deep pictures are looked for."""


class UnusableResult(ValueError):
    """A value that cannot be handed to the model; the message is written for the model."""


class Reduced(NamedTuple):
    """JSON values, and whether something of them is missing."""

    value: Any
    is_cut: bool = False


def reduce_value(value: Any, most: int) -> Reduced:
    """Reduce a value to what JSON has, and to `most` characters of text or bytes of other JSON.

    Raises UnusableResult if that cannot be done.
    """
    is_cut = False
    if isinstance(value, _BYTES) and len(value) > most:  # before anything copies it
        raise UnusableResult(f"the tool's result is too large: {len(value)} bytes, at most {most} are allowed")
    if isinstance(value, str) and len(value) > most:
        value, is_cut = cut_text(value, most), True
    try:
        encoded = msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UnusableResult(f"the tool's result is not JSON: {error}") from error
    if isinstance(value, str):
        return Reduced(value, is_cut)
    decoded = msgspec.json.decode(encoded)
    if len(encoded) <= most:
        return Reduced(decoded)
    if _holds_media(value, _DEPTH) or _holds_media(decoded, _DEPTH):
        told = f"{len(encoded)} bytes of a file, a picture or a document, at most {most} are allowed"
        raise UnusableResult(f"the tool's result is too large: {told}")
    return Reduced(cut_text(encoded.decode(), most), True)


def cut_text(text: str, most: int) -> str:
    """Return a text of at most `most` characters: the beginning, the end, and what is missing between them."""
    if len(text) <= most:
        return text
    note = (
        f"\n[… {len(text) - most} or more of {len(text)} characters are left out here. "
        "Ask for the rest in parts: a range, a filter, a smaller page. …]\n"
    )
    kept = max(most - len(note), 0)
    tail = kept // _TAIL
    return f"{text[: kept - tail]}{note}{text[len(text) - tail :]}"[:most]


def _holds_media(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return value.startswith("data:") and ";base64," in value[:200]
    if isinstance(value, _BYTES):
        return True
    if depth == 0 or not isinstance(value, (list, tuple, Mapping)):
        return False
    if isinstance(value, Mapping):
        kind = value.get("type")
        if (isinstance(kind, str) and kind in _MEDIA) or ("data" in value and not _MEDIA_TYPES.isdisjoint(value)):
            return True
        value = list(value.values())
    return any(_holds_media(each, depth - 1) for each in value)
