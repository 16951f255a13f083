"""Brace literals with a string delimiter of their own become JSON while they come."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp

FORMATS = {
    "gemma4": ('<|"|>', "<|tool_call>", "<tool_call|>"),
    "functiongemma": ("<escape>", "<start_function_call>", "<end_function_call>"),
}
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


def _literal(value: Any, mark: str) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_literal(each, mark)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_literal(each, mark) for each in value) + "]"
    if isinstance(value, str):
        return mark + value + mark
    return {None: "null", True: "true", False: "false"}.get(value, str(value))


@pytest.mark.parametrize("name", FORMATS)
@given(
    arguments=st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
        TEXT | st.none() | st.integers(2, 10**20) | st.lists(TEXT, max_size=3) | st.dictionaries(st.just("k"), TEXT),
        max_size=4,
    )
)
def test_any_text_is_data_in_a_string(name: str, arguments: dict[str, Any]) -> None:
    mark, opens, closes = FORMATS[name]
    events = sp.TextParser([name]).feed(f"{opens}call:f{_literal(arguments, mark)}{closes}")
    assert calls_of(events) == [("f", arguments)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_string_streams_and_the_closing_brace_completes_the_call(name: str) -> None:
    mark, opens, _ = FORMATS[name]
    parser = sp.TextParser([name])
    parser.feed(f"{opens}call:f{{a:{mark}")
    assert parser.feed("x") == [sp.ToolCallDelta(0, "x")]
    assert not calls_of(parser.feed(mark))
    assert calls_of(parser.feed("}")) == [("f", {"a": "x"})]


def test_a_call_in_a_thought_is_held_only_so_long_as_text_may_be() -> None:
    most = sp.Limits().max_held_text or 0
    for size, expected in ((most // 2, 1), (most * 2, 0)):
        text = f'<|channel>Hm. <|tool_call>call:f{{a:<|"|>{"x" * size}<|"|>}}<tool_call|> So.<channel|>'
        events = assert_same_in_every_cut(lambda: sp.TextParser(["gemma4"], tools=[{"name": "f"}]), text)
        assert len(calls_of(events)) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_a_key_may_be_as_long_as_its_limit_and_no_longer(name: str) -> None:
    limits = sp.Limits(max_key=8)
    for length, found in ((8, 1), (9, 0)):
        text = f'{FORMATS[name][1]}call:f{{a:{{"{"k" * length}":1}}}}'
        events = assert_same_in_every_cut(lambda: sp.TextParser([name], tools=[{"name": "f"}], limits=limits), text)
        assert len(calls_of(events)) == found
        assert [error.code for error in events if isinstance(error, sp.Error)] == ["malformed_call"] * (1 - found)


@pytest.mark.parametrize("name", FORMATS)
def test_a_string_between_plain_quotes_that_the_text_cuts_off_is_not_lost(name: str) -> None:
    text = f'{FORMATS[name][1]}call:f{{a:"abc'
    parser = sp.TextParser([name], tools=[{"name": "f"}])
    events = assert_same_in_every_cut(lambda: sp.TextParser([name], tools=[{"name": "f"}]), text)
    parser.feed(text)
    parser.close()
    assert [error.code for error in events if isinstance(error, sp.Error)] == ["truncated_call"]
    assert [call.raw for call in parser.response.broken_calls] == ['{"a": "abc']
