"""What any object says, as JSON values: dicts, SDK objects by duck typing, lists of chunks, bytes.

The object's own code runs here and nowhere else, so whatever it raises is caught here, too.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

__all__ = ["Unreadable", "plain"]

_MOST_DEPTH: Final = 256
_MOST_VALUES: Final = 1_000_000
_RAW: Final = (str, bytes, bytearray, memoryview)
_DUMPS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    # By alias and as JSON: google-genai's fields have other names in Python, and hold bytes and enums.
    ("model_dump", {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}),
    ("model_dump", {}),
    ("to_dict", {}),
    ("dict", {}),
    ("_asdict", {}),
)
_NO_RECORDS: Final = (
    int,
    float,
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
)


class Unreadable(ValueError):
    """An object's own code raised, or what it holds has no end."""


def plain(thing: Any) -> Any:
    """Return a text as `str`, a body as `bytes`, anything else as JSON values; None for what says nothing.

    Pieces of text or of a body, in a list, are joined.  Raises Unreadable.
    """
    try:
        return _read(thing)
    except Exception as error:  # whatever a foreign object's own code raises
        raise Unreadable(f"{type(error).__name__} while reading {type(thing).__name__}") from error


def _read(thing: Any) -> Any:
    if isinstance(thing, _RAW):
        return _raw(thing)
    if isinstance(content := getattr(thing, "content", None), bytes):
        return content  # of an HTTP client's response
    if isinstance(thing, (list, tuple)) and thing and all(isinstance(piece, _RAW) for piece in thing):
        if all(isinstance(piece, str) for piece in thing):
            return "".join(thing)
        return b"".join(piece.encode() if isinstance(piece, str) else bytes(piece) for piece in thing)
    values = _Values()
    if isinstance(thing, (Mapping, list, tuple)) and not hasattr(thing, "_asdict"):
        return values.of(thing, 0)
    fields = _fields(thing)
    return values.of(fields, 0) if fields else None


def _raw(thing: Any) -> str | bytes:
    return str.__str__(thing) if isinstance(thing, str) else bytes(thing)


class _Values:
    """Reads values of any type into JSON values, up to a bound."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def of(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if depth > _MOST_DEPTH or self._left < 0:
            raise RecursionError("too deep, or without end")
        if isinstance(value, enum.Enum):
            value = value.value
        if isinstance(value, str):
            return str.__str__(value)
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return base64.b64encode(value).decode()  # as the wire had it
        if isinstance(value, Mapping):
            return {str(key): self.of(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_asdict"):
            return [self.of(inner, depth + 1) for inner in value]
        fields = _fields(value)
        return str(value) if fields is None else self.of(fields, depth + 1)


def _fields(thing: Any) -> Mapping[str, Any] | None:
    """The fields of a record of any library; None if it is no record."""
    if isinstance(thing, _NO_RECORDS) or thing is None:
        return None
    for name, options in _DUMPS:
        made = _called(getattr(thing, name, None), options)
        if isinstance(made, Mapping):
            return made
    if isinstance(thing, msgspec.Struct):
        return msgspec.structs.asdict(thing)
    if dataclasses.is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    if not hasattr(thing, "__dict__"):
        return None
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}


def _called(method: Callable[..., Any] | None, options: dict[str, Any]) -> Any:
    if not callable(method):
        return None
    try:
        return method(**options)
    except TypeError:  # another library's method of that name
        return None
