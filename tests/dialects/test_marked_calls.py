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
