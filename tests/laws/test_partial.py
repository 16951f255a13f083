"""What `partial` shows of an open call is in the whole one, on every wire and in every dialect; and it costs little."""

from __future__ import annotations

import json
import sys
import tomllib
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp

STREAMS = Path(__file__).parents[2] / "fixtures" / "streams"
OPTIONS = tomllib.loads((STREAMS / "index.toml").read_text(encoding="utf-8"))
TOOLS = {tool["name"]: tool for tool in json.loads((STREAMS / "tools.json").read_bytes())}
LARGEST = 20_000


def is_part(shown: Any, whole: Any) -> bool:
    """Whether a value can grow into another by text that follows it."""
    if isinstance(shown, str):
        return isinstance(whole, str) and whole.startswith(shown)
    if isinstance(shown, list):
        return isinstance(whole, list) and len(shown) <= len(whole) and all(map(is_part, shown, whole))
    if isinstance(shown, dict):
        return isinstance(whole, dict) and all(key in whole and is_part(shown[key], whole[key]) for key in shown)
    return type(shown) is type(whole) and shown == whole


def looks(parser: sp.StreamParser | sp.TextParser, pieces: Any) -> dict[int, list[dict[str, Any]]]:
    """Feed the pieces; return what was shown of each open call after each of them, then its arguments."""
    shown: dict[int, list[dict[str, Any]]] = {}
    open_calls: set[int] = set()
    for step in (*(partial(parser.feed, piece) for piece in pieces), parser.close):
        for event in step():
            if isinstance(event, sp.ToolCallStart):
                open_calls.add(event.index)
            elif isinstance(event, sp.ToolCallComplete):
                open_calls.discard(event.index)
                assert parser.partial(event.index) == event.arguments
                if event.source != "repaired":
                    shown.setdefault(event.index, []).append(event.arguments)
            elif isinstance(event, sp.Error) and event.scope == "call":
                open_calls.discard(event.index)
        for index in open_calls:
            shown.setdefault(index, []).append(parser.partial(index))
    return shown


def assert_each_is_part_of_the_next(shown: dict[int, list[dict[str, Any]]]) -> None:
    for values in shown.values():
        for earlier, later in pairwise(values):
            assert is_part(earlier, later)


@pytest.mark.parametrize("name", [name for name in OPTIONS if (STREAMS / name).stat().st_size < LARGEST])
def test_on_every_wire_it_only_shows_what_the_whole_call_says(name: str) -> None:
    options = {key: value for key, value in OPTIONS[name].items() if key in ("wire", "dialects", "reasoning")}
    tools = [TOOLS[tool] for tool in OPTIONS[name].get("tools", ()) if tool in TOOLS]
    body = (STREAMS / name).read_bytes()
    parser = sp.StreamParser(**options, tools=tools)
    assert_each_is_part_of_the_next(looks(parser, (body[at : at + 1] for at in range(len(body)))))


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_in_every_dialect_it_only_shows_what_the_whole_call_says(name: str) -> None:
    shown = looks(sp.TextParser((name,)), sp.DIALECTS[name].example)
    assert_each_is_part_of_the_next(shown)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES), st.booleans())
def test_a_call_in_a_text_is_shown_as_it_is_written(arguments: dict[str, Any], ascii_only: bool) -> None:
    call = json.dumps({"name": "f", "arguments": arguments}, ensure_ascii=ascii_only)
    shown = looks(sp.TextParser(("hermes",)), f"<tool_call>{call}</tool_call>")
    assert_each_is_part_of_the_next(shown)
    if arguments:
        assert shown[0][-1] == arguments


def test_a_parameter_in_a_tag_is_shown_while_it_is_written() -> None:
    tools = [sp.Tool("write", parameters={"type": "object", "properties": {"text": {"type": "string"}}})]
    parser = sp.TextParser(("qwen3-coder",), tools=tools)
    parser.feed("<tool_call>\n<function=write>\n<parameter=text>\nOnce upon a")
    assert parser.partial(0) == {"text": "Once upon a"}


def test_there_is_nothing_of_a_call_that_did_not_begin_or_broke() -> None:
    parser = sp.TextParser(("hermes",))
    with pytest.raises(KeyError):
        parser.partial(0)
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "b')
    assert parser.partial(0) == {"a": "b"}
    parser.close()
    with pytest.raises(KeyError):
        parser.partial(0)


def lines_run(size: int) -> int:
    """How many lines of ours run while a call of so many pieces is fed, and looked at after each."""
    parser = sp.StreamParser("openai-chat")
    count = 0

    def trace(_frame: object, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    def message(**call: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]}

    pieces = ['{"content": "', *["some words\\n"] * size]
    parser.feed(message(id="a", function={"name": "write", "arguments": ""}))
    sys.settrace(trace)
    try:
        for piece in pieces:
            parser.feed(message(function={"arguments": piece}))
            parser.partial(0)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.usefixtures("uncollected")
def test_looking_after_each_piece_costs_the_same_in_a_call_of_any_length() -> None:
    assert lines_run(4_000) <= lines_run(500) * 8 * 1.1
