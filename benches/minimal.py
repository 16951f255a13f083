"""The minimal floor: one split at the line break, and a msgspec Struct of only the fields that become events.

It is what a program would do that knows the server, the wire and the shape of each message, and trusts all of them: no
types of messages, no finish reasons, no usage, no ids, no checksums.  Nobody can parse for less with these parts.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec
from corpora import Corpus
from floor import decode_elements
from msgspec.json import Decoder

__all__ = ["find_minimal_floor"]

_LENGTHS = struct.Struct(">II")


class _Function(msgspec.Struct):
    arguments: str = ""


class _Call(msgspec.Struct):
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    text: str | None = None


class _Chat(msgspec.Struct):
    choices: list[_Choice] = []


class _Responses(msgspec.Struct):
    delta: str | None = None


class _BlockDelta(msgspec.Struct):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class _Anthropic(msgspec.Struct):
    delta: _BlockDelta | None = None


class _Part(msgspec.Struct):
    text: str | None = None
    functionCall: msgspec.Raw = msgspec.Raw()


class _Content(msgspec.Struct):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct):
    content: _Content | None = None


class _Gemini(msgspec.Struct):
    candidates: list[_Candidate] = []


class _CohereText(msgspec.Struct):
    text: str | None = None


class _CohereMessage(msgspec.Struct):
    content: _CohereText | None = None
    tool_calls: _Call | None = None


class _CohereDelta(msgspec.Struct):
    message: _CohereMessage | None = None


class _Cohere(msgspec.Struct):
    delta: _CohereDelta | None = None


class _ToolUse(msgspec.Struct):
    input: str | None = None


class _ConverseDelta(msgspec.Struct):
    text: str | None = None
    toolUse: _ToolUse | None = None


class _Converse(msgspec.Struct):
    delta: _ConverseDelta | None = None


class _OllamaMessage(msgspec.Struct):
    content: str | None = None


class _Ollama(msgspec.Struct):
    message: _OllamaMessage | None = None
    response: str | None = None


_SHAPES: dict[str, type[msgspec.Struct]] = {
    "openai-chat": _Chat,
    "openai-completions": _Chat,
    "openai-responses": _Responses,
    "anthropic": _Anthropic,
    "gemini": _Gemini,
    "cohere": _Cohere,
    "bedrock-converse": _Converse,
    "ollama-chat": _Ollama,
    "ollama-generate": _Ollama,
}


def find_minimal_floor(corpus: Corpus) -> Callable[[Iterable[bytes]], None]:
    """Return what cuts and decodes the reads of one corpus with the least work."""
    decode: Callable[[bytes], Any] = Decoder(_SHAPES[corpus.wire]).decode
    if corpus.between == b"\n":
        return partial(_decode_lines, decode)
    if corpus.between.startswith(b"\n,"):
        return partial(decode_elements, decode, corpus.between)
    return partial(_decode_data_lines if corpus.between else _decode_messages, decode)


def _decode_data_lines(decode: Callable[[bytes], Any], reads: Iterable[bytes]) -> None:
    carry = b""
    for read in reads:
        *lines, carry = (carry + read if carry else read).split(b"\n")
        for line in lines:
            if line[:6] == b"data: " and line[6:7] != b"[":
                decode(line[6:])


def _decode_lines(decode: Callable[[bytes], Any], reads: Iterable[bytes]) -> None:
    carry = b""
    for read in reads:
        *lines, carry = (carry + read if carry else read).split(b"\n")
        for line in lines:
            decode(line)


def _decode_messages(decode: Callable[[bytes], Any], reads: Iterable[bytes]) -> None:
    carry = b""
    for read in reads:
        carry = carry + read if carry else read
        while len(carry) >= 12:
            size, headers = _LENGTHS.unpack_from(carry)
            if len(carry) < size:
                break
            decode(carry[12 + headers : size - 4])
            carry = carry[size:]
