"""A plain reading of the bodies of servers: their messages, where each ends, and where arguments close in them.

It reads a whole body at once, knows no wire by name, and shares no code with the library.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Closing", "Message", "read_closings", "read_messages", "write_message"]

_FIELD = re.compile(rb"\A(?:data|event|id|retry)?:|[\r\n](?:data|event|id|retry)?:")
_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_DECODER = json.JSONDecoder()


class Message(NamedTuple):
    """One decoded message (None if it is no JSON) and the place of the byte that ends it; the length if none does."""

    end: int
    value: Any
    raw: bytes


class Closing(NamedTuple):
    """Where an object that may be arguments is closed, and what had been written of it at the end of each message."""

    end: int
    value: dict[str, Any]
    stages: tuple[tuple[int, str], ...]


def read_messages(body: bytes) -> list[Message]:
    """The messages of a body: server-sent events, one JSON value, or lines of JSON."""
    if _FIELD.search(body.removeprefix(b"\xef\xbb\xbf")):
        return [Message(end, _decode(_data_of(raw)), raw) for end, raw in _split(body, _BLANK_LINE)]
    whole = _decode(body)
    if whole is not None:
        return [Message(len(body), whole, body)] if not body.endswith(b"\n") else [Message(len(body) - 1, whole, body)]
    return [Message(end, _decode(raw), raw) for end, raw in _split(body, _LINE_END)]


def write_message(like: Message, value: Any) -> bytes:
    """The bytes of a message with another value in it."""
    text = json.dumps(value).encode()
    data = _data_of(like.raw)
    return like.raw.replace(data, text) if data in like.raw else text + b"\n"


def _split(body: bytes, ends: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """Pieces of a body, each with the place of the byte that ends it: a line ends with the first of two characters."""
    at = 0
    for found in ends.finditer(body):
        late = 2 if found[0] in (b"\r\n\r\n", b"\r\n") else 1
        yield found.end() - late, body[at : found.end()]
        at = found.end()
    if body[at:].strip():
        yield len(body), body[at:]


def _data_of(event: bytes) -> bytes:
    lines = _LINE_END.split(event.removeprefix(b"\xef\xbb\xbf"))
    data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    return b"\n".join(data) if data else event.strip()


def _decode(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


Path = tuple[str, ...]


def _walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The objects and strings of a message, each with its path; an index beside it is a part of the path."""
    if isinstance(value, dict):
        yield path, value
        marks = tuple(f"{key} {each}" for key, each in value.items() if "index" in key and isinstance(each, int))
        for key, each in value.items():
            yield from _walk(_unpack(each) if key == "bytes" else each, (*path, *marks, key))
    elif isinstance(value, list):
        for each in value:
            yield from _walk(each, (*path, "*"))
    elif isinstance(value, str):
        yield path, value


def _unpack(value: Any) -> Any:
    """A message in base64, as AWS wraps those of other providers."""
    try:
        return json.loads(base64.b64decode(value))
    except (TypeError, ValueError, binascii.Error):
        return value


def read_closings(messages: list[Message]) -> Iterator[Closing]:
    """Each object that is closed in a body: one that stands in a message, or one that strings of one path make."""
    written: dict[Path, list[tuple[int, str]]] = {}
    for message in messages:
        for path, value in _walk(message.value):
            if isinstance(value, dict):
                yield Closing(message.end, value, ())
            else:
                yield from _read_string(message.end, value, written.setdefault(path, []))


def _read_string(end: int, piece: str, stages: list[tuple[int, str]]) -> Iterator[Closing]:
    text = (stages[-1][1] if stages else "") + piece
    stages.append((end, text))
    while True:
        try:
            value, size = _DECODER.raw_decode(text.lstrip())
        except (ValueError, RecursionError):
            return
        rest = text.lstrip()[size:]
        if isinstance(value, dict):
            yield Closing(end, value, (*stages[:-1], (end, text[: len(text) - len(rest)])))
        text = rest
        stages[:] = [(end, text)] if text.strip() else []
