"""What an answer says of the formats that its calls came in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import end_of

import streamparse as sp
from streamparse.negotiate import CapabilityLearner, FormatNegotiator, count_outcomes
from streamparse.parser.composite import MarkupParser, NativeParser
from streamparse.response import BrokenCall
from streamparse.stats import Stats

TOOL = {
    "name": "search",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


def test_what_turned_out_to_be_no_call_is_not_counted() -> None:
    parser = sp.TextParser("auto", tools=[TOOL])
    parser.feed('{"name": "search", "arguments": {"query": "tea"}} is how it looks.')
    parser.close()
    assert [call.revoked for call in parser.response.tool_calls] == [True]
    assert not count_outcomes(parser.response, parser.stats)


def test_answers_are_counted_by_format_and_outcome() -> None:
    body = (
        '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call>'
        '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>'
        '<tool_call>\n{"name": "search", "arguments": {"a": [}}\n</tool_call>'
    )
    parser = sp.TextParser(["hermes"])
    parser.feed(body)
    parser.close()
    counts = count_outcomes(parser.response, parser.stats, frozenset({"search"}))
    assert counts == {("hermes", "parsed"): 1, ("hermes", "unknown_tool"): 1, ("hermes", "malformed"): 1}
    learner = CapabilityLearner()
    learner.observe("m", parser.response, parser.stats, frozenset({"search"}))
    assert learner.get_figures("m")["hermes"].calls == 3
    assert learner.get_figures("m")["hermes"].rate == pytest.approx(1 / 3)
    assert learner.get_figures("other") == {}


def test_a_call_that_came_natively_too_is_not_malformed() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    text = '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call>'
    message = {"role": "assistant", "content": text, "tool_calls": [call]}
    parser = sp.StreamParser("openai-chat")
    parser.feed(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode())
    parser.close()
    assert [broken.code for broken in parser.response.broken_calls] == ["duplicate_call"]
    assert count_outcomes(parser.response, parser.stats) == {("hermes", "parsed"): 1}


CASES: dict[str, tuple[str, dict[tuple[str, str], int]]] = {
    "two dialects, calls that are written badly, and one that the end cuts off": (
        '<tool_call>{"name": "search", "arguments": {}}</tool_call> or [TOOL_CALLS]search{"a": 1} or '
        '<tool_use>{"name": "search", "input": {"a": [}}</tool_use> or <tool_call>{"name": "search", "arguments": {"a',
        {("hermes", "parsed"): 1, ("mistral-v11", "parsed"): 1, ("tool-use-json", "malformed"): 1},
    ),
    "a text that ends inside of its first call": (
        '<tool_call>{"name": "search", "arguments": {"a',
        {},
    ),
    "markup that must be mended": (
        "<tool_call>{'name': 'search', 'arguments': {}}</tool_call>",
        {("hermes", "repaired"): 1},
    ),
    "JSON at the end of prose": ('So I call:\n```json\n{"name": "search", "arguments": {"query": "a"}}\n```', {}),
    "an envelope of calls at the end of prose": (
        'So I call:\n{"tool_calls": [{"name": "search", "arguments": {"query": "a"}}]}',
        {("json-content", "parsed"): 1},
    ),
    "an envelope of a call that lacks what its tool requires": (
        'So I call:\n{"tool_calls": [{"name": "search", "arguments": {}}]}',
        {},
    ),
    "JSON that is all of the answer": ('{"name": "search", "arguments": {"query": "a"}}', {("bare-json", "parsed"): 1}),
    "an unknown tool": ('<tool_call>{"name": "serch", "arguments": {}}</tool_call>', {("hermes", "unknown_tool"): 1}),
    "no call": ("Hello.", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_whole_answer_and_a_stream_give_the_same_figures_by_the_dialect_of_each_call(name: str) -> None:
    text, figures = CASES[name]
    parser = sp.TextParser(tools=[TOOL])
    for character in text:
        parser.feed(character)
    end_of(parser)
    message = {"role": "assistant", "content": text}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    for answer in (
        parser,
        parser.response,
        sp.parse_response(text, tools=[TOOL]),
        sp.parse_response(body, tools=[TOOL]),
    ):
        assert count_outcomes(answer, tool_names={"search"}) == figures
        learner = CapabilityLearner()
        learner.observe("m", answer, tool_names=["search"])
        counted = learner.get_figures("m")
        assert {(each, word): getattr(counted[each], word) for each, word in figures} == figures


def _native(*calls: tuple[str, str], content: str = "") -> dict[str, Any]:
    told = [{"id": f"c{n}", "function": {"name": name, "arguments": text}} for n, (name, text) in enumerate(calls)]
    message = {"role": "assistant", "content": content, "tool_calls": told}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize("parsers", [None, (NativeParser(), MarkupParser())])
def test_native_calls_that_must_be_mended_or_break_count_as_native_beside_a_call_in_the_text(parsers: Any) -> None:
    text = '<tool_call>{"name": "search", "arguments": {"b": 1}}</tool_call>'
    body = _native(("search", '"{\\"a\\": 1}"'), ("search", '{"a": x}'), content=text)
    counts = count_outcomes(sp.CompositeParser(parsers).parse(body))
    assert counts == {("native", "repaired"): 1, ("native", "malformed"): 1, ("hermes", "parsed"): 1}


@pytest.mark.parametrize("code", ["truncated_call", "duplicate_call", "limit_args", "locked_tool", "missing_parameter"])
def test_a_call_that_was_not_written_badly_is_not_malformed(code: str) -> None:
    assert count_outcomes(sp.ParsedResponse(broken_calls=[BrokenCall("f", "{", "", code)])) == {}


@pytest.mark.parametrize("arguments", ['{"a": x}', "[1]", "{a: x}"])
def test_native_arguments_that_cannot_be_read_are_malformed(arguments: str) -> None:
    assert count_outcomes(sp.parse_response(_native(("f", arguments)))) == {("native", "malformed"): 1}


def test_a_stream_that_was_left_early_counts_what_came() -> None:
    parser = sp.TextParser(tools=[TOOL])
    parser.feed('<tool_call>{"name": "search", "arguments": {}}</tool_call> and <tool_call>{"name": "search", "arg')
    assert count_outcomes(parser) == {("hermes", "parsed"): 1}
    parser.close()


def test_a_generation_that_the_server_refused_is_a_malformed_native_call() -> None:
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<search>"}
    assert count_outcomes(sp.parse_response({"error": error})) == {("native", "malformed"): 1}


@pytest.mark.parametrize(
    "message",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        "No endpoints found that support tool use.",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "`tool calling` is not supported with this model",
        "This model doesn't support tool use.",
        "Unsupported parameter: 'tools' is not supported with this model.",
        "Function calling is not enabled for models/gemma-3-27b-it",
        "m does not support Function Calling",
    ],
)
def test_a_model_whose_server_refuses_tools_is_told_of_them_in_the_prompt(message: str) -> None:
    learner = CapabilityLearner()
    negotiator = FormatNegotiator(learner=learner)
    assert negotiator.negotiate("vllm", "m").tools_in == "request"
    learner.observe("m", sp.parse_response({"error": {"message": "overloaded", "code": 503}}))
    assert learner.get_figures("m") == {}
    learner.observe("m", sp.parse_response({"error": {"message": message, "code": 400}}))
    assert (learner.get_figures("m")["native"].refused, learner.get_figures("m")["native"].rate) == (1, None)
    assert negotiator.negotiate("vllm", "m").tools_in == "prompt"
    learner.record("m", "native", "parsed")
    assert negotiator.negotiate("vllm", "m").tools_in == "request"


@pytest.mark.parametrize(
    "message",
    [
        "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        "tool_choice is not supported",
        "deepseek-reasoner does not support tool_choice",
        "This model does not support tool choice 'required'",
        "Parallel function calling is not supported with this model",
        "Custom tools are not supported with this model",
        "Built-in tools are not enabled for this account",
        "overloaded",
        "messages: tool_use ids were found without tool_result blocks",
        "Function name is not valid; it is not supported",
    ],
)
def test_what_a_server_says_against_something_else_takes_no_model_off_native_tools(message: str) -> None:
    assert count_outcomes(sp.parse_response({"error": {"message": message, "code": 400}})) == {}


def test_an_answer_that_no_parser_of_ours_read_is_counted_by_what_its_calls_and_stats_say() -> None:
    response = sp.ParsedResponse(tool_calls=[sp.ToolCall("a", {}), sp.ToolCall("b", {}, source="inband")])
    assert count_outcomes(response) == {("native", "parsed"): 1, ("inband", "parsed"): 1}
    assert count_outcomes(response, Stats(dialect="hermes")) == {("native", "parsed"): 1, ("hermes", "parsed"): 1}
