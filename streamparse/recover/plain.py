"""What any object says, as JSON values: dicts, SDK objects by duck typing, lists of chunks, bytes.

The object's own code runs here and nowhere else, so whatever it raises is caught here, too.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import types
from collections import UserString
from collections.abc import Callable, Mapping, Sequence, Set, ValuesView
from os import PathLike
from typing import Any, Final

import msgspec

from streamparse.patterns import plain as plain_pattern

__all__ = ["Unreadable", "plain"]

_MOST_DEPTH: Final = 256
_MOST_VALUES: Final = 1_000_000
_TEXT: Final = (str, UserString)
_RAW: Final = (*_TEXT, bytes, bytearray, memoryview)
_MANY: Final = (list, tuple, Sequence, Set, ValuesView)
_DUMPS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    # By alias and as JSON: google-genai's fields have other names in Python, and hold bytes and enums.
    ("model_dump", {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}),
    ("model_dump", {}),
    ("to_dict", {}),
    ("dict", {}),
    ("_asdict", {}),
)
_LINE: Final = plain_pattern(rb"[ \t]*|(?:data|event|id|retry):[^\r\n]*|:[^\r\n\"{}\[\]]*")
_JSON_LINE: Final = plain_pattern(rb"data:[ \t]*\{")
_NO_RECORDS: Final = (
    BaseException,
    PathLike,
    int,
    float,
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
)


_TELLING: Final = frozenset(
    {"choices", "message", "content", "delta", "text", "tool_calls", "function", "function_call", "arguments", "output"}
    | {"input", "thinking", "candidates", "parts", "args", "response", "error"}
)
_FIELDS: Final = _TELLING | frozenset(
    {"id", "type", "object", "index", "role", "name", "call_id", "status", "usage", "finish_reason", "stop_reason"}
    | {"refusal", "reasoning", "reasoning_content", "signature", "usage_metadata", "thought", "thought_signature"}
    | {"done", "done_reason", "incomplete_details", "summary", "encrypted_content", "data"}
)
"""What an object of an SDK may have in its class (slots, properties, defaults), if it has one of `_TELLING`."""


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
    if isinstance(thing, BaseException):
        thing = _sent_with(thing)
    if isinstance(thing, _RAW):
        return _raw(thing)
    if isinstance(content := getattr(thing, "content", None), bytes):
        return content  # of an HTTP client's response
    if _is_list(thing) and thing and all(isinstance(piece, _RAW) for piece in thing):
        return _joined(thing)
    if isinstance(thing, Mapping) or _is_list(thing):
        return _Values().of(thing, 0)
    fields = _fields(thing)
    return _Values().of(fields, 0) if fields else None


def _sent_with(error: BaseException) -> Any:
    """What a server sent, of which an SDK or an HTTP client made an exception; None for others."""
    sent = next((sent for name in ("response", "body") if (sent := getattr(error, name, None)) is not None), None)
    return None if isinstance(sent, BaseException) else sent


def _joined(pieces: Any) -> str | bytes:
    """Pieces cut anywhere, or the lines of an event stream without their ends, as HTTP clients iterate them."""
    if all(isinstance(piece, _TEXT) for piece in pieces):
        texts = list(map(_text, pieces))
        return _sound(_between([text.encode("utf-8", "replace") for text in texts]).join(texts))
    parts = [_sound(_text(piece)).encode() if isinstance(piece, _TEXT) else bytes(piece) for piece in pieces]
    return _between(parts).encode().join(parts)


def _between(parts: list[bytes]) -> str:
    """What ended each piece: nothing, unless all are lines; those of an event each, where the blank ones are left out.

    Of lines, one at least has JSON: a text may begin like a field, too.
    """
    if not (any(map(_JSON_LINE.match, parts)) and all(map(_LINE.fullmatch, parts))):
        return ""
    return "\n" if any(not part.strip() for part in parts) else "\n\n"


def _is_list(thing: Any) -> bool:
    return isinstance(thing, _MANY) and not (hasattr(thing, "_asdict") or isinstance(thing, UserString))


def _raw(thing: Any) -> Any:
    return _sound(_text(thing)) if isinstance(thing, _TEXT) else bytes(thing)


def _text(thing: str | UserString) -> str:
    """The characters, whatever a type of one's own makes of them."""
    return str.__str__(thing) if isinstance(thing, str) else thing.data


def _sound(text: str) -> str:
    """Join surrogate pairs, and replace halves that stay alone."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
            return _sound(_text(value))
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return base64.b64encode(value).decode()  # as the wire had it
        if isinstance(value, Mapping):
            return {_sound(str(key)): self.of(inner, depth + 1) for key, inner in value.items()}
        if _is_list(value):
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
    own = {name: value for name, value in getattr(thing, "__dict__", {}).items() if not name.startswith("_")}
    found = own if not _TELLING.isdisjoint(own) else _declared(thing) | own
    return found if found or hasattr(thing, "__dict__") else None


def _declared(thing: Any) -> dict[str, Any]:
    """The fields of an answer that an object's class declares; none, if it answers to every name, as mocks do."""
    if hasattr(thing, "_no_field_of_any_object_"):
        return {}
    found = {name: getattr(thing, name) for name in _FIELDS if hasattr(thing, name)}
    fields = {name: value for name, value in found.items() if not callable(value)}
    return {} if _TELLING.isdisjoint(fields) else fields


def _called(method: Callable[..., Any] | None, options: dict[str, Any]) -> Any:
    if not callable(method):
        return None
    try:
        return method(**options)
    except TypeError:  # another library's method of that name
        return None
