"""Definitions, calls and results go through every pair of providers and come back equal."""

from __future__ import annotations

from itertools import product

import pytest
from conversations import calls, results, tools, value_results
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_messages, translate_tools

PAIRS = list(product(ADAPTERS, ADAPTERS))
KEEP_VALUES = ["gemini", "gemini-openapi", "cohere", "generic"]
"""The providers whose results have a place for any value, and not for a text alone."""
LOSSLESS = [name for name in ADAPTERS if name != "gemini-openapi"]
FEW = usual_examples(20)


@FEW
@given(tools)
def test_a_definition_comes_back_equal_through_every_pair(tool: sp.Tool) -> None:
    for first, second in product(LOSSLESS, LOSSLESS):
        written = translate_tools(ADAPTERS[first].format_tools([tool]), second)
        (read,) = ADAPTERS[second].read_tools(written.definitions)
        assert read == tool, (first, second, written.definitions)


@FEW
@given(tools)
def test_a_definition_loses_in_the_openapi_subset_only_what_is_told(tool: sp.Tool) -> None:
    written = translate_tools([tool], "gemini-openapi")
    (read,) = ADAPTERS["gemini-openapi"].read_tools(written.definitions)
    assert (read.name, read.description) == (tool.name, tool.description)
    again = translate_tools([read], "gemini-openapi")
    assert again.definitions == written.definitions
    assert all(loss.warning for loss in again.lost), "what is left is all sayable"


@FEW
@given(calls)
def test_a_call_comes_back_equal_through_every_pair(call: sp.ToolCall) -> None:
    for first, second in PAIRS:
        there = ADAPTERS[first].read_call(ADAPTERS[first].format_call(call))
        back = ADAPTERS[second].read_call(ADAPTERS[second].format_call(there))
        assert (back.name, back.arguments, back.id) == (call.name, call.arguments, call.id), (first, second)


@FEW
@given(results)
def test_a_text_or_an_error_comes_back_equal_through_every_pair(result: sp.ToolResult) -> None:
    called = [sp.ToolCall(result.tool_name, {}, result.call_id)]
    for first, second in PAIRS:
        (there,) = ADAPTERS[first].read_results(ADAPTERS[first].format_results([result]), called)
        (back,) = ADAPTERS[second].read_results(ADAPTERS[second].format_results([there]), called)
        assert back == result, (first, second)


@FEW
@given(value_results)
def test_a_value_comes_back_equal_where_there_is_a_place_for_values(result: sp.ToolResult) -> None:
    for first, second in product(KEEP_VALUES, KEEP_VALUES):
        (there,) = ADAPTERS[first].read_results(ADAPTERS[first].format_results([result]))
        (back,) = ADAPTERS[second].read_results(ADAPTERS[second].format_results([there]))
        assert (back.result, back.error) == (result.result, None), (first, second)


@FEW
@given(value_results)
def test_a_value_comes_back_as_the_text_of_it_where_there_is_a_place_for_text_alone(result: sp.ToolResult) -> None:
    told = ADAPTERS["openai"].format_result(result)["content"]
    for first, second in PAIRS:
        (there,) = ADAPTERS[first].read_results(ADAPTERS[first].format_results([result]))
        (back,) = ADAPTERS[second].read_results(ADAPTERS[second].format_results([there]))
        assert back.success
        if told.strip():
            assert ADAPTERS["openai"].format_result(back)["content"] == told, (first, second)


@FEW
@given(st.lists(calls, min_size=1, max_size=4, unique_by=lambda call: call.id), st.data())
def test_a_turn_of_calls_and_results_comes_back_equal_through_every_pair(
    made: list[sp.ToolCall], data: st.DataObject
) -> None:
    made = [sp.ToolCall(call.name, call.arguments, call.id, index=number) for number, call in enumerate(made)]
    answers = [sp.ToolResult(call.id, call.name, f"the answer of {call.id}", index=call.index) for call in made]
    shuffled = data.draw(st.permutations(answers))
    response = sp.ParsedResponse(content="One moment.", tool_calls=made)
    for first, second in PAIRS:
        turn = sp.as_message(response, first)
        conversation = [*(turn if isinstance(turn, list) else [turn]), *ADAPTERS[first].format_results(shuffled)]
        written = translate_messages(conversation, first, second).result
        back, replied = ADAPTERS[second].read_messages(written)
        assert [(call.name, call.arguments, call.id) for call in back.calls] == [
            (call.name, call.arguments, call.id) for call in made
        ]
        assert replied.results == answers, (first, second)
        # Cohere's plan takes the place of the text only where there is one.
        assert back.text == "One moment."


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_function_is_declared_like_the_tool_that_it_is(provider: str) -> None:
    def lookup(city: str, days: int = 3) -> str:
        """Look the weather up.

        Args:
            city: where
        """
        return city * days

    adapter = ADAPTERS[provider]
    assert adapter.format_tools([lookup]) == adapter.format_tools([sp.Tool("lookup", function=lookup)])
    (read,) = adapter.read_tools(adapter.format_tools([lookup]))
    assert read.parameters["properties"]["city"] == {"type": "string", "description": "where"}
