"""The work per byte does not grow: many times the input, at most 1.15 times the work for each byte of it.

Work is counted, not timed: the calls that the interpreter makes, and the characters of all text that the called
functions of the library were given or hold in a buffer.  A buffer that is searched again with each piece shows there.
Functions of `jsonread` count only as calls: they share one text, and are given the place where each of them goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from answers import TOOLS
from cuts import in_pieces
from hypothesis import settings

import streamparse as sp
from streamparse.dialects.reader import Reader

PACKAGE = str(Path(sp.__file__).parent)
SMALL, LARGE = (16 * 1024, 256 * 1024) if settings.default.max_examples > 1000 else (4 * 1024, 32 * 1024)
"""Bytes; the larger ones with `--hypothesis-profile nightly`."""
GROWTH = 1.15
LIMITS = sp.Limits(max_calls=None, max_pending=None)


def _held(frame: FrameType) -> int:
    """The text within reach of a function that is about to run."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    held = sum(len(value) for name in names if isinstance(value := frame.f_locals.get(name), (str, bytes, bytearray)))
    reader = frame.f_locals.get("self")
    return held + (len(reader.buffer) if isinstance(reader, Reader) and hasattr(reader, "buffer") else 0)


def _work(parser: Any, pieces: list[Any]) -> tuple[int, int]:
    """Feed and close; how many calls that took, and how many characters they were within reach of."""
    calls = reach = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls, reach
        if event == "call":
            calls += 1
            path = frame.f_code.co_filename
            if path.startswith(PACKAGE) and not path.endswith("jsonread.py"):
                reach += _held(frame)
        elif event == "c_call":
            calls += 1

    sys.setprofile(count)
    try:
        for piece in pieces:
            parser.feed(piece)
        parser.close()
    finally:
        sys.setprofile(None)
    return calls, reach


def _assert_linear(parser: Callable[[], Any], body: Callable[[int], Any], piece: int) -> None:
    per_byte = []
    _work(parser(), in_pieces(body(SMALL), piece))  # patterns are compiled when they are first used
    for size in (SMALL, LARGE):
        data = body(size)
        calls, reach = _work(parser(), in_pieces(data, piece))
        per_byte.append((calls / len(data), reach / len(data)))
    (few_calls, little), (many_calls, much) = per_byte
    assert many_calls <= few_calls * GROWTH, "calls"
    assert much <= little * GROWTH, "characters"


def _repeated(text: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + text * (size // len(text)) + after


CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>\n'
TEXTS = {
    "prose": _repeated("Some words, and a few more of them.\n"),
    "one-long-string-in-a-call": _repeated(
        'line of text {"x": 1} <b>\\n', '<tool_call>{"name": "f", "arguments": {"a": "', '"}}</tool_call>'
    ),
    "one-long-list-in-a-call": _repeated(
        "[1, 2], ", '<tool_call>{"name": "f", "arguments": {"a": [', "0]}}</tool_call>"
    ),
    "one-long-string-before-the-name": _repeated(
        "x y ", '<tool_call>{"arguments": {"a": "', '"}, "name": "f"}</tool_call>'
    ),
    "arguments-in-one-long-string": _repeated(
        "x y ", '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"', '\\"}"}</tool_call>'
    ),
    "one-long-parameter": _repeated(
        "a line\n</b> < ", "<tool_call>\n<function=f>\n<parameter=a>\n", "\n</parameter>\n</function>\n</tool_call>"
    ),
    "one-long-parameter-of-a-schema": _repeated(
        "a line\n",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "many-parameters": _repeated(
        "<parameter=a>\n1\n</parameter>\n", "<tool_call>\n<function=f>\n", "</function>\n</tool_call>"
    ),
    "many-calls": _repeated(CALL),
    "many-calls-in-one-block": _repeated('{"name": "f", "arguments": {}}\n', "<tool_call>", "</tool_call>"),
    "unclosed-openers": _repeated("<tool_call>"),
    "unclosed-openers-of-objects": _repeated('<tool_call>{"a": '),
    "unclosed-calls": _repeated('<tool_call>{"name": "f", "arguments": {"a": '),
    "unclosed-functions": _repeated("<tool_call>\n<function=f>\n<parameter=a>\n"),
    "unclosed-invocations": _repeated('<invoke name="f">\n<parameter name="a">'),
    "a-long-object-that-is-no-call": _repeated('"word": "more", ', '<tool_call>{"a": {', "}}</tool_call>"),
    "flood-of-brackets": _repeated("<[{"),
    "flood-of-angles": _repeated("<"),
    "flood-of-braces-in-a-call": _repeated("{", '<tool_call>{"name": "f", "arguments": '),
    "flood-of-quotes": _repeated('"', "<tool_call>{"),
    "flood-of-backslashes": _repeated("\\", '<tool_call>{"name": "f", "arguments": {"a": "'),
    "false-starts": _repeated("<tool_cal "),
    "false-starts-in-a-thought": _repeated("</thin ", "<think>"),
    "false-starts-in-a-parameter": _repeated("</param ", "<tool_call>\n<function=f>\n<parameter=a>\n"),
    "closing-tags-in-a-parameter": _repeated("</parameter> ", "<tool_call>\n<function=f>\n<parameter=a>\n"),
    "fences": _repeated("```json\n{\n```\n"),
    "lines-that-look-like-calls": _repeated('{"name": "x", "arguments": {}}\nword\n'),
    "openers-of-lists": _repeated("[", "x\n"),
    "blanks-after-a-call": _repeated(" \n", CALL, "."),
    "blanks-after-an-opener": _repeated(" ", "<tool_call>", "."),
    "thoughts": _repeated("<think>a</think>\n"),
}


@pytest.mark.parametrize("piece", [4, 1460])
@pytest.mark.parametrize("name", TEXTS)
def test_the_work_on_text_is_linear(name: str, piece: int) -> None:
    _assert_linear(lambda: sp.TextParser(tools=TOOLS, limits=LIMITS), TEXTS[name], piece)


def _fragment(arguments: str, index: int = 0, name: str | None = None) -> bytes:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    call = {"index": index, "id": f"i{index}", "function": function}
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode() + b"\n\n"


def _frames(frame: bytes, before: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: before + frame * (size // len(frame))


def _content(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


BODIES = {
    "one-long-argument": _frames(_fragment("word"), _fragment('{"a": "', name="f")),
    "one-long-list": _frames(_fragment("[1],"), _fragment('{"a": [', name="f")),
    "one-long-odd-argument": _frames(_fragment("word"), _fragment('"', name="f")),
    "blanks-before-the-arguments": _frames(_fragment("    "), _fragment("", name="f")),
    "arguments-without-a-name": _frames(_fragment("word"), _fragment("{")),
    "a-name-in-pieces-without-end": _frames(_fragment("", name="fun")),
    "many-calls": lambda size: b"".join(_fragment('{"a": 1}', index, "f") for index in range(size // 130)),
    "calls-that-stay-open": lambda size: b"".join(
        _fragment('{"a": "' if turn < 30 else "word", turn % 30, "f" if turn < 30 else None)
        for turn in range(size // 120)
    ),
    "text": _frames(_content("word ")),
    "text-like-markers": _frames(_content("<tool_call")),
    "comments": _frames(b": ping\n\n"),
    "line-ends": _frames(b"\r"),
    "line-feeds": _frames(b"\n\n"),
    "one-long-line": _frames(b"x", b"data: {"),
    "data-lines-without-end": _frames(b"data: 1\n"),
    "unknown-fields": _frames(b"field: value\n"),
    "frames-that-are-not-json": _frames(b"data: {\n\n"),
    "one-long-string": _frames(b"word ", b'data: {"choices":[{"index":0,"delta":{"content":"'),
    "one-json-value": _frames(b'{"a": [1]},\n', b'{"choices": [\n'),
}


@pytest.mark.parametrize("piece", [16, 1460])
@pytest.mark.parametrize("name", BODIES)
def test_the_work_on_bytes_is_linear(name: str, piece: int) -> None:
    _assert_linear(lambda: sp.StreamParser("openai-chat", limits=LIMITS), BODIES[name], piece)


LINES = {
    "text": _frames(b'{"message":{"content":"word "},"done":false}\n'),
    "calls": _frames(b'{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}\n'),
    "one-long-line": _frames(b"word ", b'{"message":{"content":"'),
    "blank-lines": _frames(b" \n"),
    "lines-that-are-not-json": _frames(b"{\n"),
}


@pytest.mark.parametrize("piece", [16, 1460])
@pytest.mark.parametrize("name", LINES)
def test_the_work_on_lines_is_linear(name: str, piece: int) -> None:
    _assert_linear(lambda: sp.StreamParser("ollama-chat", limits=LIMITS), LINES[name], piece)
