"""An answer of any type, as JSON values: mappings, records, lists of chunks, bytes, responses of HTTP clients.

The object's own code runs here and nowhere else, so whatever it raises is caught here, too.
Responses of HTTP clients and SDKs are known by their classes and methods; none is imported.

| what | known by | its answer |
|---|---|---|
| an SDK's raw response | its class, `APIResponse` or the like, in a module `_response` | that of its `http_response` |
| a response of httpx, httpx2 or requests | methods `iter_bytes` or `iter_content`, and `content` | its `content` |
| an event stream or a body of boto3 | its class, of botocore or aiobotocore | to be read by the caller |
"""

from __future__ import annotations

import binascii
import enum
import inspect
import json
import types
from collections import UserString
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence, Set, ValuesView
from functools import lru_cache
from os import PathLike
from typing import Any, Final

from streamparse.parser.chunks import NoAnswer, declares_fields, has_base, is_answer, read_fields, read_message
from streamparse.patterns import lazy_re

_API_RESPONSES: Final = ("BaseAPIResponse", "APIResponse", "AsyncAPIResponse", "LegacyAPIResponse")
_MOST_DEPTH: Final = 256  # bound: an object that holds itself has no end
_MOST_VALUES: Final = 1_000_000  # bound: nor has one whose fields are made when they are asked for
_TEXT: Final = (str, UserString)
_RAW: Final = (*_TEXT, bytes, bytearray, memoryview)
_SCALARS: Final = (bool, int, float, type(None))
_MANY: Final = (list, tuple, Sequence, Set, ValuesView)
_LINE: Final = lazy_re(rb"[ \t]*|(?:data|event|id|retry):[^\r\n]*|:[^\r\n\"{}\[\]]*")
_JSON_LINE: Final = lazy_re(rb"data:[ \t]*\{")


class Unreadable(ValueError):
    """The code of an object raised, or what it holds has no end."""


def to_builtins(thing: Any) -> Any:
    """Return a text as `str`, a body as `bytes`, anything else as JSON values.

    Pieces of text or of a body, in a list, are joined.  Raises NoAnswer, which is a TypeError, and Unreadable.
    """
    kind = type(thing)  # not `__class__`, which may be the object's own code
    if kind is bytes or (kind is str and thing.isascii()):
        return thing
    try:
        return _read(thing)
    except NoAnswer:
        raise
    except Exception as error:  # whatever a foreign object's own code raises
        raise Unreadable(f"{type(error).__name__} while reading {type(thing).__name__}") from error


def _read(thing: Any) -> Any:
    if isinstance(thing, BaseException):  # which an SDK or an HTTP client made of what a server sent
        sent = next((sent for name in ("response", "body") if (sent := getattr(thing, name, None)) is not None), None)
        thing = thing if isinstance(sent, BaseException | None) else sent
    thing = unwrap_http_response(thing)
    if is_http_response(thing):
        return read_http_body(thing)
    if type(thing) in _SCALARS:
        return thing
    if isinstance(thing, _RAW):
        return _repair_surrogates(_read_text(thing)) if isinstance(thing, _TEXT) else bytes(thing)
    is_mapping = isinstance(thing, Mapping) and find_stream(thing) is None
    if is_mapping or is_answer(thing):
        return _Values().read(thing if is_mapping else read_fields(thing), 0)
    if not _is_list(thing):
        raise NoAnswer(explain_refusal(thing))
    pieces = []
    for chunk in thing:
        is_value = isinstance(chunk, (*_RAW, *_SCALARS)) or _is_list(chunk)
        try:
            piece = chunk if is_value else read_message(chunk)
        except NoAnswer:
            raise NoAnswer(explain_refusal(thing)) from None
        if is_value or piece is not None:  # an event that an SDK's helper made up is None
            pieces.append(piece)
    if pieces and all(isinstance(piece, _RAW) for piece in pieces):
        return _join(pieces)
    return _Values().read(pieces, 0)


def _join(pieces: Any) -> str | bytes:
    """Join pieces cut anywhere, or the lines of an event stream, which HTTP clients yield without their ends."""
    if all(isinstance(piece, _TEXT) for piece in pieces):
        texts = list(map(_read_text, pieces))
        return _repair_surrogates(_find_separator([text.encode("utf-8", "replace") for text in texts]).join(texts))
    parts = [
        _repair_surrogates(_read_text(piece)).encode() if isinstance(piece, _TEXT) else bytes(piece) for piece in pieces
    ]
    return _find_separator(parts).encode().join(parts)


def _find_separator(parts: list[bytes]) -> str:
    """Find what ended each piece: nothing, unless all are lines; two line ends where the blank lines were left out.

    Of lines, one at least has JSON: a text may begin like a field, too.
    """
    if not (any(map(_JSON_LINE.match, parts)) and all(map(_LINE.fullmatch, parts))):
        return ""
    return "\n" if any(not part.strip() for part in parts) else "\n\n"


def _is_list(thing: Any) -> bool:
    is_many = isinstance(thing, _MANY) and not isinstance(thing, UserString)
    return thing.__class__ is list or (is_many and not declares_fields(thing.__class__))


def _read_text(thing: str | UserString) -> str:
    """Return the characters, also of a subclass with a `__str__` of its own."""
    return str.__str__(thing) if isinstance(thing, str) else thing.data


def _repair_surrogates(text: str) -> str:
    """Join surrogate pairs, and replace halves that stay alone."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encode_message(message: Mapping[str, Any]) -> bytes:
    """Return the JSON of a decoded message, which may hold what an SDK puts into one besides JSON.

    Raises ValueError or RecursionError for a number or a depth beyond every bound.
    """
    try:
        text = json.dumps(message)
    except TypeError:
        text = json.dumps(_Values().read(message, 0))
    return text.encode()


class _Values:
    """Reads values of any type into JSON values, up to a bound."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def read(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if depth > _MOST_DEPTH or self._left < 0:
            raise RecursionError("too deep, or without end")
        kind = type(value)  # what JSON is decoded to, nearly always
        if kind in _SCALARS or (kind is str and value.isascii()):
            return value
        if kind is dict:
            read = self.read
            return {
                key if type(key) is str and key.isascii() else _repair_surrogates(str(key)): read(inner, depth + 1)
                for key, inner in value.items()
            }
        if kind is list:
            return [self.read(inner, depth + 1) for inner in value]
        return self._read_other(value, depth)

    def _read_other(self, value: Any, depth: int) -> Any:
        if isinstance(value, enum.Enum):
            value = value.value
        if isinstance(value, str):
            return _repair_surrogates(_read_text(value))
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return binascii.b2a_base64(value, newline=False).decode()  # as the wire had it
        if isinstance(value, Mapping):
            return {_repair_surrogates(str(key)): self.read(inner, depth + 1) for key, inner in value.items()}
        if _is_list(value):
            return [self.read(inner, depth + 1) for inner in value]
        fields = _find_fields(value)
        return str(value) if fields is None else self.read(fields, depth + 1)


def _find_fields(thing: Any) -> Mapping[str, Any] | None:
    """Return the fields of a value within an answer; None if it has no fields."""
    if declares_fields(thing.__class__):
        return read_fields(thing)
    if isinstance(thing, (BaseException, PathLike, type, types.ModuleType, types.FunctionType)):
        return None
    return (
        {name: value for name, value in vars(thing).items() if name[:1] != "_"} if hasattr(thing, "__dict__") else None
    )


# -- responses of HTTP clients -----------------------------------------------------------------------------------------


def has_method(thing: object, name: str) -> bool:
    """Whether the class of a thing has a method: an object that answers to every name has none."""
    return callable(getattr(thing.__class__, name, None))


def unwrap_http_response(thing: Any) -> Any:
    """Return the HTTP client's response that an SDK has wrapped; anything else as it is."""
    return thing.http_response if is_sdk_response_class(thing.__class__) else thing


@lru_cache(256)
def is_sdk_response_class(kind: type) -> bool:
    """Whether a class is that of an SDK's raw responses."""
    modules = ("_response", "_legacy_response")
    return any(
        base.__name__ in _API_RESPONSES and base.__module__.rpartition(".")[2] in modules for base in kind.__mro__
    )


def is_http_response(thing: object) -> bool:
    """Whether a thing is the response of an HTTP client that has its body at hand once it was read."""
    return hasattr(thing.__class__, "content") and (
        has_method(thing, "iter_bytes") or has_method(thing, "iter_content")
    )


def read_http_body(response: Any) -> bytes:
    """Return the bytes of a response; raise NoAnswer if they have not been read."""
    try:
        content = response.content
    except RuntimeError as error:  # httpx.ResponseNotRead, and requests' word for a body that was taken
        name = response.__class__.__name__
        raise NoAnswer(f"this {name} has not been read: read it, or pass it to iter_events or aiter_events") from error
    return bytes(content)


def find_stream(body: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the key and the stream, or body, that a response of boto3 holds; None if it holds none."""
    for key, value in body.items():
        if _is_boto_class(value.__class__):
            return key, value
    return None


@lru_cache(256)
def _is_boto_class(kind: type) -> bool:
    streams = ("EventStream", "AioEventStream", "StreamingBody", "AioStreamingBody")
    return any(has_base(kind, package, *streams) for package in ("botocore", "aiobotocore"))


def explain_refusal(thing: object) -> str:
    """Say in a sentence why a thing is no answer, and what to pass instead."""
    name = thing.__class__.__name__
    if inspect.isawaitable(thing):
        return f"a response must not be awaited for: await this {name} first"
    if isinstance(thing, Mapping) and (found := find_stream(thing)) is not None:
        key, stream = found
        if has_method(stream, "read"):
            return f"the body of this answer has not been read: pass what its {key!r} reads"
        return f"this answer is a stream: pass its {key!r} to iter_events or aiter_events"
    if isinstance(thing, Sequence):
        kinds = ", ".join(sorted({each.__class__.__name__ for each in thing}))
        return f"a response must be a list of its chunks, and not all of these are: {kinds}"
    if isinstance(thing, (Iterable, AsyncIterable)):
        return f"a response must be whole: pass this {name} to iter_events or aiter_events, or a list of its chunks"
    return f"a response must be bytes, str, a mapping, a list of chunks or an SDK's object, not {name}"
