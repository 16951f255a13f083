"""What is no call among calls, nests too deep, or bears a name that is not what it seems: an error says so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, places_of, revoked_of, text_of

import streamparse as sp

TOOLS = [{"name": name, "parameters": {"type": "object", "properties": {"a": {}}}} for name in ("f", "g")]
CALL, NO_CALL, OTHER = (
    '{"name": "f", "arguments": {}}',
    '{"name": "x", "foo": [1, "}"]}',
    '{"name": "g", "arguments": {}}',
)
BLOCKS = {
    "mistral-array": "[TOOL_CALLS][{}]",
    "hermes": "<tool_call>[{}]</tool_call>",
    "granite-array": "<|tool_call|>[{}]",
}


def _errors(events: list[sp.Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, sp.Error)]


@pytest.mark.parametrize("name", BLOCKS)
def test_an_object_among_calls_that_is_none_is_text_and_an_error_and_the_calls_behind_it_are_read(name: str) -> None:
    text = BLOCKS[name].replace("{}", f"{CALL}, {NO_CALL}, {OTHER}")
    for dialects in ([name], "auto"):
        events = assert_same_in_every_cut(partial(sp.TextParser, dialects, tools=TOOLS), text)
        assert calls_of(events) == [("f", {}), ("g", {})]
        assert (text_of(events), _errors(events)) == (NO_CALL, ["malformed_call"])


@pytest.mark.parametrize("dialects", ["auto", ["bare-json"]], ids=["auto", "named"])
def test_an_object_among_bare_calls_that_is_none_shows_that_they_are_text(dialects: Any) -> None:
    text = f"[{CALL}, {NO_CALL}, {OTHER}]"
    events = assert_same_in_every_cut(partial(sp.TextParser, dialects, tools=TOOLS), text)
    assert (calls_of(events), places_of(events)) == ([("f", {})], ["bare"])
    assert (revoked_of(events), text_of(events), _errors(events)) == ([(0, "text_follows")], text, [])


def test_an_object_among_calls_that_is_none_does_not_hide_the_end_of_the_list() -> None:
    text = f"[TOOL_CALLS][{CALL}, {NO_CALL}] Done."
    events = assert_same_in_every_cut(lambda: sp.TextParser(["mistral-array"], tools=TOOLS), text)
    assert (calls_of(events), text_of(events)) == ([("f", {})], NO_CALL + " Done.")


DEEP = {
    "hermes": '<tool_call>{"name": "f", "arguments": {"a": %s}}</tool_call>',
    "kimi-k2": '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": %s}<|tool_call_end|>',
    "qwen3-coder": '<tool_call>\n<function=f>\n{"a": %s}\n</function>\n</tool_call>',
    "llama4-pythonic": "<|python_start|>[f(a=%s)]<|python_end|>",
    "gemma4": "<|tool_call>call:f{a:%s}<tool_call|>",
    "harmony": '<|channel|>commentary to=functions.f<|message|>{"a": %s}<|call|>',
}


@pytest.mark.parametrize("name", DEEP)
def test_arguments_that_nest_too_deep_are_an_error_that_says_so(name: str) -> None:
    limits = sp.Limits(max_depth=8)
    for depth, errors in ((7, []), (8, ["json_depth"]), (9, ["json_depth"])):
        text = DEEP[name] % ("[" * depth + "]" * depth)
        events = assert_same_in_every_cut(lambda: sp.TextParser([name], tools=TOOLS, limits=limits), text)
        assert (_errors(events), len(calls_of(events))) == (errors, 0 if errors else 1)


BROKEN = {
    "pythonic": "[f(a=[[[[[[[[[]]]]]]]]])]",
    "bare-json": '{"name": "f", "arguments": {"a": [[[[[[[[[]]]]]]]]]}}',
    "functools": 'functools[{"name": "f", "arguments": {"a": [1, }}]',
    "react": 'Action: f\nAction Input: {"a": [[[[[[[[[]]]]]]]]]}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_bare_call_that_is_broken_is_text(name: str) -> None:
    limits, whole = sp.Limits(max_depth=8), BROKEN[name]
    events = assert_same_in_every_cut(lambda: sp.TextParser([name], tools=TOOLS, limits=limits), whole)
    assert events == [sp.TextDelta(whole), sp.Done(finish_reason=None, usage=None, ok=True)]


def test_a_bare_call_is_text_at_the_very_character_that_breaks_it() -> None:
    parser = sp.TextParser(["functools"], tools=TOOLS)
    broken = BROKEN["functools"].index("[1, }") + 4
    told = [text_of(parser.feed(character)) for character in BROKEN["functools"][: broken + 1]]
    assert told == [""] * broken + [BROKEN["functools"][: broken + 1]]


HIDDEN = {
    "a direction turned": "get\u202edata",
    "a space without width": "get_\u200bdata",
    "a joiner": "get\u200ddata",
    "a control character": "get\x07data",
    "a mark of the byte order": "\ufeffget_data",
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_a_name_with_characters_that_nobody_sees_is_refused_unless_a_tool_is_called_just_so(kind: str) -> None:
    name = HIDDEN[kind]
    native = sp.StreamParser("openai-chat")
    text = f"<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    for tools, errors in ((None, ["name_characters"]), (TOOLS, ["name_characters"]), ([{"name": name}], [])):
        parser = sp.TextParser(["kimi-k2"], tools=tools)
        events = parser.feed(text) + parser.close()
        assert (_errors(events), calls_of(events)) == (errors, [] if errors else [(name, {})])
        assert [call.name for call in parser.response.broken_calls] == ([name] if errors else [])
    frame = f'data: {{"choices": [{{"delta": {{"tool_calls": [{{"index": 0, "id": "a", "function": {{"name": "{name}", '
    events = native.feed(frame.replace("\x07", "\\u0007").encode() + b'"arguments": "{}"}}]}}]}\n\n')
    assert _errors(events) == ["name_characters"]


@pytest.mark.parametrize("name", ["suche_für_mich", "検索", "поиск", "بحث", "a b", "get.data-1", "mcp:files/read"])
def test_a_name_of_letters_of_any_script_is_a_name(name: str) -> None:
    text = f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>'
    parser = sp.TextParser(["hermes"])
    assert calls_of(parser.feed(text) + parser.close()) == [(name, {})]


def test_a_quoted_block_that_is_cut_behind_a_call_stays_text() -> None:
    text = '`<function_call>{"name": "now", "arguments": {}}{"name": "'
    parser = sp.TextParser(tools=[sp.Tool("now", parameters={"type": "object", "properties": {}})])
    parser.feed(text)
    parser.close()
    assert parser.response.content == text
    assert parser.response.tool_calls == []
