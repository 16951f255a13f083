"""Gemini: few large chunks of 400 to 800 bytes, each with token counts; lines end in CR LF.

Without `alt=sse` the chunks are pretty printed elements of one array.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from texts import Reads, arguments, fragments, source, words

__all__ = ["gemini_array", "gemini_calls", "gemini_partial_call", "gemini_text"]

_WORDS_A_CHUNK = 20
_SIGNATURE = "CiQBDDnW" * 100
_COUNTS = {
    "promptTokenCount": 11,
    "candidatesTokenCount": 22,
    "totalTokenCount": 304,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 11}],
    "thoughtsTokenCount": 271,
}


def gemini_text(count: int, line_end: str = "\r\n") -> Reads:
    """Prose, a line of it in each chunk."""
    return (_event(chunk, line_end) for chunk in _text(count))


def gemini_array(count: int) -> Reads:
    """The same as one growing array."""
    start = "["
    for chunk in _text(count):
        yield (start + json.dumps(chunk, indent=2) + "\n").encode()
        start = ",\r\n"
    yield b"]"


def gemini_calls(size: int, count: int) -> Reads:
    """Whole calls with `size` characters of arguments, each in a chunk of its own and signed."""
    for _ in range(count):
        call = {"name": "write_file", "args": json.loads(arguments(size))}
        yield _event(_chunk([{"functionCall": call, "thoughtSignature": _SIGNATURE}]))
    yield _event(_chunk([{"text": ""}], "STOP"))


def gemini_partial_call(size: int) -> Reads:
    """A call whose arguments come in pieces."""
    yield _piece({"name": "write_file", "willContinue": True})
    yield _piece(_argument("$.path", "a.py"))
    for piece in fragments(source(size)):
        yield _piece(_argument("$.content", piece, goes_on=True))
    yield _piece(_argument("$.content", ""))
    yield _piece({})
    yield _event(_chunk([{"text": ""}], "STOP"))


def _text(count: int) -> Iterator[dict[str, Any]]:
    for text in words(count, _WORDS_A_CHUNK):
        yield _chunk([{"text": text}])
    yield _chunk([{"text": ""}], "STOP")


def _argument(path: str, text: str, goes_on: bool = False) -> dict[str, Any]:
    part = {"jsonPath": path, "stringValue": text, **({"willContinue": True} if goes_on else {})}
    return {"partialArgs": [part], "willContinue": True}


def _piece(call: dict[str, Any]) -> bytes:
    chunk = _chunk([{"functionCall": call}])
    return _event({**chunk, "usageMetadata": {"trafficType": "ON_DEMAND"}, "createTime": "2026-04-02T17:03:50.3995Z"})


def _chunk(parts: list[dict[str, Any]], reason: str | None = None) -> dict[str, Any]:
    end = {} if reason is None else {"finishReason": reason}
    candidate = {"content": {"parts": parts, "role": "model"}, **end, "index": 0}
    tail = {"modelVersion": "gemini-2.5-flash", "responseId": "xQzpaZ3ALPqu_uMPlru3-Qk"}
    return {"candidates": [candidate], "usageMetadata": _COUNTS, **tail}


def _event(chunk: dict[str, Any], line_end: str = "\r\n") -> bytes:
    return f"data: {json.dumps(chunk)}{line_end}{line_end}".encode()
