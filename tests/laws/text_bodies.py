"""Answers of text on any wire, made of that wire's own fixtures: another text takes the place of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from cuts import text_of
from messages import Message, read_messages, write_message
from subjects import fixtures_of

import streamparse as sp

__all__ = ["write_text"]


class _Mould(NamedTuple):
    """The messages of a fixture before its first message of text, that message, those behind it that tell no text."""

    before: list[Message]
    message: Message
    piece: str
    behind: list[Message]
    whole: str


def write_text(wire: str, pieces: Sequence[str]) -> tuple[bytes, list[int]]:
    """A body whose text comes in these pieces, and the places of the bytes that end their messages."""
    return _fill(_find_mould(wire), pieces)


def _fill(mould: _Mould, pieces: Sequence[str]) -> tuple[bytes, list[int]]:
    body = b"".join(message.raw for message in mould.before)
    ends = []
    for piece in pieces:
        body += write_message(mould.message, _replace(mould.message.value, mould.piece, piece))
        ends.append(len(body) - (2 if body.endswith(b"\r\n") else 1))  # the first of two characters ends a line
    whole = "".join(pieces)
    for message in mould.behind:
        is_same = message.value is None or not _holds(message.value, mould.whole)
        body += message.raw if is_same else write_message(message, _replace(message.value, mould.whole, whole))
    return body, ends


@cache
def _find_mould(wire: str) -> _Mould:
    """The smallest fixture that takes another text."""
    for each in sorted(fixtures_of(wire).values(), key=lambda one: len(one.data)):
        mould = _make_mould(wire, read_messages(each.data))
        if mould is not None and _is_good(wire, mould):
            return mould
    raise LookupError(f"no fixture of {wire} takes another text")


def _make_mould(wire: str, messages: list[Message]) -> _Mould | None:
    parser = sp.StreamParser(wire)
    texts = [text_of(parser.feed(message.raw)) for message in messages]
    telling = [number for number, text in enumerate(texts) if text]
    if not telling or not _holds(messages[telling[0]].value, texts[telling[0]]):
        return None
    at = telling[0]
    behind = [message for message, text in zip(messages[at + 1 :], texts[at + 1 :], strict=True) if not text]
    return _Mould(messages[:at], messages[at], texts[at], behind, "".join(texts))


def _is_good(wire: str, mould: _Mould) -> bool:
    pieces = ["One", " two <b> ", "three."]
    parser = sp.StreamParser(wire)
    body, ends = _fill(mould, pieces)
    parser.feed(body)
    parser.close()
    response = parser.response
    is_plain = not (response.tool_calls or response.reasoning or response.errors)
    return response.ok and is_plain and response.content == "".join(pieces) and ends[-1] + 1 < len(body)


def _holds(value: Any, text: str) -> bool:
    return bool(_replace(value, text, text + "!") != value)


def _replace(value: Any, old: str, new: str) -> Any:
    """A JSON value in which one string is another wherever it stands."""
    if isinstance(value, dict):
        return {key: _replace(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace(each, old, new) for each in value]
    return new if value == old else value
