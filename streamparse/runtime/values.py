"""Makes what tools return fit for the model: JSON values, and no more of them than was asked for.

| a tool returns | the result is |
|---|---|
| text, JSON values | the same |
| `sp.Image`, `sp.Document`, or a list that holds one, and texts | a list of content blocks, which the adapters write in the format of each provider |
| a dataclass, `msgspec.Struct`, a model of pydantic, a mapping | an object |
| a tuple, a set, an array of numpy | a list |
| a date, `Decimal`, `UUID`, `Enum`, path | its usual text or value |
| bytes | their base64 |
| `nan`, `inf`, `-inf` | the texts `"NaN"`, `"Infinity"`, `"-Infinity"`: JSON has no such numbers |
| anything else, or a value that holds itself | an error |

A text that is too long keeps its beginning and its end, and says how much is missing and how to get it.  Of an object the
longest texts are cut so, each with another member `…_truncated`.  Other JSON that is too large becomes such a text.
Bytes, pictures and documents make no sense in parts: too large, they are refused.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

import msgspec

from streamparse.schema.annotations import encode_value as encode_known
from streamparse.writing.content import write_block
from streamparse.writing.parts import Document, Image, Text

_TAIL: Final = 4  # source: most of what matters stands first; one character in four is kept for the end
_MEDIA: Final = frozenset(
    ("image", "image_url", "input_image", "document", "file", "input_file", "audio", "input_audio", "video", "resource")
)
_MEDIA_TYPES: Final = frozenset(("mimeType", "mime_type", "media_type"))
_BYTES: Final = (bytes, bytearray, memoryview)
_PARTS: Final = (Text, Image, Document)
_DEPTH: Final = 8  # bound: how deep pictures are looked for
_LEAST: Final = 400  # source: bytes; a shorter piece of an object tells a model nothing
_MOST_ITEMS: Final = 1_000_000  # bound: the items of a sequence of the user's own, such as a range
_FAILURES: Final = (TypeError, ValueError, OverflowError, RecursionError)


class UnusableResult(ValueError):
    """A value that cannot be handed to the model; the message is written for the model."""


class Reduced(NamedTuple):
    """JSON values, and whether something of them is missing."""

    value: Any
    is_cut: bool = False


def reduce_value(value: Any, most: int) -> Reduced:
    """Reduce a value to what JSON has, and to `most` characters of text or of other JSON.

    Raises UnusableResult if that cannot be done.
    """
    is_cut = False
    if isinstance(value, _BYTES) and len(value) > most:  # before anything copies it
        raise UnusableResult(f"the tool's result is too large: {len(value)} bytes, at most {most} are allowed")
    if isinstance(value, str) and len(value) > most:
        value, is_cut = cut_text(value, most), True
    value = _write_parts(value)
    encoded = _encode(value)
    if isinstance(value, str):
        return Reduced(value, is_cut)
    decoded = msgspec.json.decode(encoded)
    if len(encoded) <= most or len(text := encoded.decode()) <= most:
        return Reduced(decoded)
    if _has_media(value, _DEPTH) or _has_media(decoded, _DEPTH):
        size = f"{len(encoded)} bytes of a file, a picture or a document, at most {most} are allowed"
        raise UnusableResult(f"the tool's result is too large: {size}")
    if isinstance(decoded, dict) and (shorter := _cut_members(decoded, most)) is not None:
        return Reduced(shorter, True)
    return Reduced(cut_text(text, most), True)


def cut_text(text: str, most: int) -> str:
    """Return a text of at most `most` characters: the beginning, the end, and a note about the gap."""
    if len(text) <= most:
        return text
    note = (
        f"\n[… {len(text) - most} or more of {len(text)} characters are left out here. "
        "Ask for the rest in parts: a range, a filter, a smaller page. …]\n"
    )
    kept = max(most - len(note), 0)
    tail = kept // _TAIL
    return f"{text[: kept - tail]}{note}{text[len(text) - tail :]}"[:most]


# -- JSON ----------------------------------------------------------------------------------------------------


def _encode(value: Any) -> bytes:
    try:
        encoded = msgspec.json.encode(value, enc_hook=_convert)
        if b"null" not in encoded:
            return encoded
        # msgspec writes null for a number that JSON does not have; the reader must see that it is a number.
        return msgspec.json.encode(_name_numbers(msgspec.to_builtins(value, enc_hook=_convert, str_keys=True)))
    except _FAILURES as error:
        raise UnusableResult(f"the tool's result is not JSON: {error}") from error


def _convert(value: Any) -> Any:
    """Convert a value that msgspec does not know; it asks for keys, too, which must be texts or numbers."""
    if value is None or isinstance(value, bool):  # as a key: values of these are written without asking
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (Mapping, Sequence, Set)) and len(value) > _MOST_ITEMS:  # they may be made only now
        raise ValueError(f"it holds {len(value)} items, at most {_MOST_ITEMS} are allowed")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (Sequence, Set)):
        return list(value)
    if callable(to_list := getattr(value, "tolist", None)):  # numpy's arrays and scalars
        return to_list()
    try:
        return encode_known(value)
    except NotImplementedError:
        raise TypeError(f"it holds an object of type {type(value).__name__}") from None


def _name_numbers(value: Any) -> Any:
    """Replace the numbers that JSON does not have by their names in JavaScript."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _name_numbers(each) for key, each in value.items()}
    return list(map(_name_numbers, value)) if isinstance(value, (list, tuple)) else value


# -- content -------------------------------------------------------------------------------------------------


def _write_parts(value: Any) -> Any:
    """Write the blocks of a picture or document, or of a list that holds one; anything else stays as it is."""
    if isinstance(value, _PARTS):
        return [write_block(value)]
    if isinstance(value, (list, tuple)) and any(isinstance(each, _PARTS) for each in value):
        return [_write_part(each) for each in value]
    if isinstance(value, Mapping) and any(isinstance(each, (Image, Document)) for each in value.values()):
        raise UnusableResult("the tool's result holds a picture inside an object: it must be in a list, with texts")
    return value


def _write_part(value: Any) -> Any:
    """Write a block for one value of a list of content; a block stays as it is."""
    if isinstance(value, _PARTS):
        return write_block(value)
    if isinstance(value, Mapping) and isinstance(value.get("type"), str):
        return value
    return write_block(Text(value if isinstance(value, str) else _encode(value).decode()))


def _has_media(value: Any, depth: int) -> bool:
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
    return any(_has_media(each, depth - 1) for each in value)


# -- cutting -------------------------------------------------------------------------------------------------


def _cut_members(value: dict[str, Any], most: int) -> dict[str, Any] | None:
    """Cut the longest texts of an object of more than `most` bytes; None if little would be left of them."""
    sizes = sorted((_count_bytes(each), key) for key, each in value.items() if isinstance(each, str))
    room = most - _count_bytes(value) + sum(size for size, _ in sizes)
    shorter = dict(value)
    for number, (size, key) in enumerate(sizes):
        share = room // (len(sizes) - number)  # of what those that are shorter have left
        if size <= share:
            room -= size
            continue
        flag = f"{key}_truncated"
        share -= _count_bytes({flag: True})
        if share < _LEAST:
            return None
        shorter[key], shorter[flag] = _cut_to_bytes(value[key], share), True
        room -= _count_bytes(shorter[key]) + _count_bytes({flag: True})
    return shorter if _count_bytes(shorter) <= most else None


def _cut_to_bytes(text: str, most: int) -> str:
    """Cut a text so that it takes at most `most` bytes as JSON, where some characters take six."""
    count = min(len(text), most)
    while (size := _count_bytes(cut := cut_text(text, count))) > most:
        count = min(count - 1, count * most // size)
    return cut


def _count_bytes(value: Any) -> int:
    return len(msgspec.json.encode(value))
