"""An answer of any type, as JSON values: mappings, records, lists of chunks, bytes, responses of HTTP clients.

The object's own code runs here and nowhere else, so whatever it raises is caught here, too.
"""

from __future__ import annotations

import base64
import enum
import types
from collections import UserString
from collections.abc import Mapping, Sequence, Set, ValuesView
from os import PathLike
from typing import Any, Final

from streamparse.parser.chunks import is_chunk, message_of
from streamparse.parser.http_responses import (
    NoAnswer,
    body_at_hand,
    http_response_of,
    is_http_response,
    refusal,
    stream_in,
)
from streamparse.parser.records import fields_of, is_answer, is_record
from streamparse.patterns import plain as plain_pattern

__all__ = ["Unreadable", "plain"]

_MOST_DEPTH: Final = 256
_MOST_VALUES: Final = 1_000_000
_TEXT: Final = (str, UserString)
_RAW: Final = (*_TEXT, bytes, bytearray, memoryview)
_SCALARS: Final = (bool, int, float, type(None))
_MANY: Final = (list, tuple, Sequence, Set, ValuesView)
_LINE: Final = plain_pattern(rb"[ \t]*|(?:data|event|id|retry):[^\r\n]*|:[^\r\n\"{}\[\]]*")
_JSON_LINE: Final = plain_pattern(rb"data:[ \t]*\{")


class Unreadable(ValueError):
    """The code of an object raised, or what it holds has no end."""


def plain(thing: Any) -> Any:
    """Return a text as `str`, a body as `bytes`, anything else as JSON values; None for None.

    Pieces of text or of a body, in a list, are joined.  Raises NoAnswer, which is a TypeError, and Unreadable.
    """
    try:
        return _read(thing)
    except NoAnswer:
        raise
    except Exception as error:  # whatever a foreign object's own code raises
        raise Unreadable(f"{type(error).__name__} while reading {type(thing).__name__}") from error


def _read(thing: Any) -> Any:
    thing = http_response_of(_sent_with(thing) if isinstance(thing, BaseException) else thing)
    if is_http_response(thing):
        return body_at_hand(thing)
    if not _is_readable(thing):
        raise NoAnswer(refusal(thing))
    if thing is None or isinstance(thing, _RAW):
        return thing if thing is None else _raw(thing)
    if isinstance(thing, Mapping):
        return _Values().of(thing, 0)
    if not _is_list(thing):
        return _Values().of(fields_of(thing), 0)
    pieces = [piece for chunk in thing if (piece := _piece(chunk)) is not None or chunk is None]
    if pieces and all(isinstance(piece, _RAW) for piece in pieces):
        return _joined(pieces)
    return _Values().of(pieces, 0)


def _is_readable(thing: Any) -> bool:
    if isinstance(thing, Mapping):
        return stream_in(thing) is None
    if is_record(thing):
        return is_answer(thing)
    return thing is None or isinstance(thing, _RAW) or (_is_list(thing) and all(map(_is_piece, thing)))


def _is_piece(thing: Any) -> bool:
    return isinstance(thing, (*_RAW, *_SCALARS)) or _is_list(thing) or is_chunk(thing)


def _piece(chunk: Any) -> Any:
    """What a piece of a list holds: the message, if it is a chunk of a stream."""
    return chunk if isinstance(chunk, (*_RAW, *_SCALARS)) or _is_list(chunk) else message_of(chunk)


def _sent_with(error: BaseException) -> Any:
    """What a server sent, of which an SDK or an HTTP client made an exception; the exception itself for others."""
    sent = next((sent for name in ("response", "body") if (sent := getattr(error, name, None)) is not None), None)
    return error if sent is None or isinstance(sent, BaseException) else sent


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
    return isinstance(thing, _MANY) and not (is_record(thing) or isinstance(thing, UserString))


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
    """The fields of a value inside of an answer; None if it has none."""
    if is_record(thing):
        return fields_of(thing)
    if isinstance(thing, (BaseException, PathLike, type, types.ModuleType, types.FunctionType)):
        return None
    return (
        {name: value for name, value in vars(thing).items() if name[:1] != "_"} if hasattr(thing, "__dict__") else None
    )
