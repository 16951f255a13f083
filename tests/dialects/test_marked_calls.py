"""Calls that are a name and then arguments: what the first one of a block says of the others."""

from __future__ import annotations

import pytest
from cuts import calls_of, events_of, text_of

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Reader
from streamparse.dialects.grammars.name_then_json import MarkedCalls
from streamparse.tools import Toolset

TOOLS = [{"name": "listed", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
CALLS = {
    "kimi-k2": "<|tool_call_begin|>functions.{}:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    "deepseek-v3": "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}\n```json\n{}\n```<｜tool▁call▁end｜>\n",
}


def _read(name: str, text: str) -> tuple[list[sp.Event], str]:
    """What a grammar that believes declared names alone tells of a text, and what it leaves."""
    body = sp.DIALECTS[name].body
    assert isinstance(body, MarkedCalls)
    tools = Toolset.of(TOOLS)
    assembler, reader = Assembler(tools, sp.Limits()), Reader()
    reader.push(text)
    reader.final = True
    reader.checkpoint()
    for _ in body(reader, Context(assembler, tools, sp.Limits(), declared=True)):
        raise AssertionError("nothing is to come")
    return assembler.record.take(), reader.take_rest()


@pytest.mark.parametrize("name", CALLS)
def test_the_first_call_of_a_block_vouches_for_the_names_of_the_others(name: str) -> None:
    text = "".join(CALLS[name].format(tool, '{"a": 1}') for tool in ("listed", "unlisted", "listed"))
    events, left = _read(name, text)
    assert calls_of(events) == [(tool, {"a": 1}) for tool in ("listed", "unlisted", "listed")]
    assert left.strip() == ""


@pytest.mark.parametrize("name", CALLS)
def test_a_first_call_that_is_not_declared_is_none(name: str) -> None:
    assert calls_of(_read(name, CALLS[name].format("unlisted", '{"a": 1}'))[0]) == []


@pytest.mark.parametrize("name", CALLS)
def test_behind_its_own_marker_a_block_may_name_what_is_not_declared(name: str) -> None:
    text = "".join(CALLS[name].format(tool, '{"a": 1}') for tool in ("listed", "unlisted"))
    events = events_of(sp.TextParser([name], tools=TOOLS), [text])
    assert calls_of(events) == [("listed", {"a": 1}), ("unlisted", {"a": 1})]
    assert text_of(events) == ""


@pytest.mark.parametrize(("given", "name"), [("{}", "free"), ('{"a": 1}', "7")])
def test_a_counter_names_the_only_tool_whose_required_parameters_are_given(given: str, name: str) -> None:
    tools = [
        {"name": name, "parameters": {"type": "object", "properties": {"a": {}}, "required": required}}
        for name, required in (("free", []), ("strict", ["a"]))
    ]
    text = f"<|tool_call_begin|>7<|tool_call_argument_begin|>{given}<|tool_call_end|>"
    parser = sp.TextParser(["kimi-k2"], tools=tools)
    parser.feed(text)
    parser.close(stopped=True)
    assert [call.name for call in parser.response.tool_calls] == [name]


@pytest.mark.parametrize(("before", "is_call"), [("", True), ("See ", False), ("See\n", False)])
def test_an_id_of_kimi_without_its_marker_is_a_call_only_at_the_start(before: str, is_call: bool) -> None:
    text = before + 'functions.listed:0{"a": 1}'
    parser = sp.TextParser(["kimi-k2"], tools=TOOLS)
    events = parser.feed(text) + parser.close(stopped=True)
    assert (calls_of(events), text_of(events)) == (([("listed", {"a": 1})], "") if is_call else ([], text))
