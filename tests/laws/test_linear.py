"""The work per byte does not grow: many times the input, at most 1.15 times the work for each byte of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from answers import TOOLS
from thoroughness import is_nightly
from work import assert_linear, repeated

import streamparse as sp

pytestmark = pytest.mark.usefixtures("uncollected")

LARGE = (16 * 1024, 256 * 1024) if is_nightly() else (4 * 1024, 16 * 1024)
SMALL = (16 * 1024, 256 * 1024) if is_nightly() else (1024, 6 * 1024)
"""Bytes of a body in large pieces, and of one in small pieces: as many reads; more with the nightly profile."""
BLANK = {"line-ends", "line-feeds", "blank-lines"}
"""Bodies that say nothing of their wire: the first 4 KB wait for a word."""
LIMITS = sp.Limits(max_calls=None, max_pending=None, max_markers=None)

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>\n'
TEXTS = {
    "prose": repeated("Some words, and a few more of them.\n"),
    "one-long-string-in-a-call": repeated(
        'line of text {"x": 1} <b>\\n', '<tool_call>{"name": "f", "arguments": {"a": "', '"}}</tool_call>'
    ),
    "one-long-list-in-a-call": repeated(
        "[1, 2], ", '<tool_call>{"name": "f", "arguments": {"a": [', "0]}}</tool_call>"
    ),
    "one-long-string-before-the-name": repeated(
        "x y ", '<tool_call>{"arguments": {"a": "', '"}, "name": "f"}</tool_call>'
    ),
    "arguments-in-one-long-string": repeated(
        "x y ", '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"', '\\"}"}</tool_call>'
    ),
    "one-long-parameter": repeated(
        "a line\n</b> < ", "<tool_call>\n<function=f>\n<parameter=a>\n", "\n</parameter>\n</function>\n</tool_call>"
    ),
    "one-long-parameter-of-a-schema": repeated(
        "a line\n",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "many-parameters": repeated(
        "<parameter=a>\n1\n</parameter>\n", "<tool_call>\n<function=f>\n", "</function>\n</tool_call>"
    ),
    "many-calls": repeated(CALL),
    "many-calls-in-one-block": repeated('{"name": "f", "arguments": {}}\n', "<tool_call>", "</tool_call>"),
    "unclosed-openers": repeated("<tool_call>"),
    "unclosed-openers-of-objects": repeated('<tool_call>{"a": '),
    "unclosed-calls": repeated('<tool_call>{"name": "f", "arguments": {"a": '),
    "unclosed-functions": repeated("<tool_call>\n<function=f>\n<parameter=a>\n"),
    "unclosed-invocations": repeated('<invoke name="f">\n<parameter name="a">'),
    "a-long-object-that-is-no-call": repeated('"word": "more", ', '<tool_call>{"a": {', "}}</tool_call>"),
    "flood-of-brackets": repeated("<[{"),
    "flood-of-angles": repeated("<"),
    "flood-of-braces-in-a-call": repeated("{", '<tool_call>{"name": "f", "arguments": '),
    "flood-of-quotes": repeated('"', "<tool_call>{"),
    "flood-of-backslashes": repeated("\\", '<tool_call>{"name": "f", "arguments": {"a": "'),
    "false-starts": repeated("<tool_cal "),
    "false-starts-in-a-thought": repeated("</thin ", "<think>"),
    "false-starts-in-a-parameter": repeated("</param ", "<tool_call>\n<function=f>\n<parameter=a>\n"),
    "closing-tags-in-a-parameter": repeated("</parameter> ", "<tool_call>\n<function=f>\n<parameter=a>\n"),
    "fences": repeated("```json\n{\n```\n"),
    "lines-that-look-like-calls": repeated('{"name": "x", "arguments": {}}\nword\n'),
    "openers-of-lists": repeated("[", "x\n"),
    "blanks-after-a-call": repeated(" \n", CALL, "."),
    "blanks-after-an-opener": repeated(" ", "<tool_call>", "."),
    "thoughts": repeated("<think>a</think>\n"),
}


SILENT = ("arguments-without-a-name", "a-name-in-pieces-without-end")
"""Of these nothing is understood, so the first sixteen messages take another way: most must come behind them."""


def sizes_of(name: str, piece: int) -> tuple[int, int]:
    if name in SILENT:
        return 16 * 1024, 64 * 1024
    return LARGE if piece > 1000 or name in BLANK else SMALL


@pytest.mark.parametrize("piece", [4, 1460])
@pytest.mark.parametrize("name", TEXTS)
def test_the_work_on_text_is_linear(name: str, piece: int) -> None:
    assert_linear(lambda: sp.TextParser(tools=TOOLS, limits=LIMITS), TEXTS[name], piece, sizes_of(name, piece))


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
    assert_linear(lambda: sp.StreamParser("openai-chat", limits=LIMITS), BODIES[name], piece, sizes_of(name, piece))


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
    assert_linear(lambda: sp.StreamParser("ollama-chat", limits=LIMITS), LINES[name], piece, sizes_of(name, piece))
