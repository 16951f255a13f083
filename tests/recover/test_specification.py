"""Whole bodies as users write them down: messages without a role or a body around them, markup in them, nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from thoroughness import spread

import streamparse as sp
from streamparse.detection import detect_format
from streamparse.parser.composite import MarkupParser, NativeParser
from streamparse.parser.registry import parser_for
from streamparse.protocols import ToolCallParser


def _tool(name: str, *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in required}, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


FORMS: dict[str, Callable[[Any], Any]] = {
    "a dict": lambda body: body,
    "a text": json.dumps,
    "an indented text": lambda body: json.dumps(body, indent=2),
    "bytes": lambda body: json.dumps(body).encode(),
}
PARSERS = ["composite", "auto", "native", "openai", "ollama", "openai-chat", "ollama-chat", "vllm", "openai_native"]
TOOLS = [None, [_tool("search"), _tool("read")]]


def _calls(response: sp.ParsedResponse) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in response.tool_calls]


def _is_clean(response: sp.ParsedResponse) -> bool:
    return response.ok and not response.errors and not response.broken_calls


# -- native calls


def _messages() -> Iterator[tuple[dict[str, Any], list[tuple[str, Any]]]]:
    """Messages with calls, and what they call."""
    given: list[tuple[dict[str, Any], Any]] = [
        ({"arguments": "{}"}, {}),
        ({"arguments": {}}, {}),
        ({"arguments": '{"query": "tea"}'}, {"query": "tea"}),
        ({"arguments": {"query": "tea"}}, {"query": "tea"}),
        ({}, {}),
    ]
    around: list[dict[str, Any]] = [{}, {"id": "call_a"}, {"id": "call_a", "type": "function"}]
    said: list[dict[str, Any]] = [{}, {"role": "assistant"}, {"content": None}, {"role": "assistant", "content": ""}]
    for (arguments, decoded), call, message in product(given, around, said):
        one = {**call, "function": {"name": "search", **arguments}}
        two = {**call, **({"id": "call_b"} if call else {}), "function": {"name": "read", **arguments}}
        yield {**message, "tool_calls": [one]}, [("search", decoded)]
        yield {**message, "tool_calls": [one, two]}, [("search", decoded), ("read", decoded)]


AROUND: list[dict[str, Any]] = [
    {},
    {"done": True},
    {"done": True, "done_reason": "stop", "model": "m"},
    {"model": "m"},
    {"finish_reason": "tool_calls"},
    {"index": 0},
]


WAYS = [*product(PARSERS, TOOLS, FORMS)]


@pytest.mark.parametrize(("name", "tools", "form"), WAYS)
def test_the_calls_of_a_message_count_with_or_without_role_ids_arguments_and_done(
    name: str, tools: Any, form: str
) -> None:
    parser = parser_for(name, tools=tools)
    start = WAYS.index((name, tools, form))
    for number, (message, calls) in enumerate(_messages()):
        # What stands around a message takes turns: each message is in each of them, by one of six ways.
        for around in spread(AROUND, start + number, len(AROUND)):
            body = FORMS[form]({"message": message, **around})
            response = parser.parse(body)
            assert (_calls(response), _is_clean(response)) == (calls, True), body
            assert {call.source for call in response.tool_calls} == {"native"}
            assert len({call.id for call in response.tool_calls}) == len(calls)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PARSERS)
def test_such_a_message_can_be_parsed(name: str, form: str) -> None:
    call = {"function": {"name": "search", "arguments": "{}"}}
    for message in ({"tool_calls": [call]}, {"role": "assistant", "tool_calls": [call]}):
        for around in AROUND:
            assert parser_for(name).can_parse(FORMS[form]({"message": message, **around}))


def test_a_required_argument_that_is_missing_is_an_error_of_the_call() -> None:
    body = {"message": {"tool_calls": [{"function": {"name": "search"}}]}}
    response = sp.parse_response(body, tools=[_tool("search", "query")])
    assert [broken.code for broken in response.broken_calls] == ["missing_arguments"]


@pytest.mark.parametrize("form", FORMS)
def test_a_message_of_the_user_is_no_answer(form: str) -> None:
    body = {"message": {"role": "user", "content": "hi", "tool_calls": [{"function": {"name": "search"}}]}}
    assert sp.parse_response(FORMS[form](body)).tool_calls == []


def test_json_that_only_has_a_message_in_it_may_be_the_answer_itself() -> None:
    for value in ({"message": "hi"}, {"message": {"text": "hi"}}, {"message": {"content": "hi", "score": 1}}):
        text = json.dumps(value)
        assert sp.parse_response(text).content == text


# -- markup in the content


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["composite", "markup", "openai", "ollama", "openai-chat", "ollama-chat"])
def test_the_markup_of_a_message_counts_with_or_without_role_and_done(name: str, form: str) -> None:
    parser = parser_for(name)
    text = 'I look.\n<tools>{"name": "search", "arguments": {"query": "tea"}}</tools>'
    for message, around in product(({"content": text}, {"role": "assistant", "content": text}), AROUND):
        body = FORMS[form]({"message": message, **around})
        response = parser.parse(body)
        assert (_calls(response), _is_clean(response)) == ([("search", {"query": "tea"})], True), body
        assert (response.content.strip(), response.tool_calls[0].source) == ("I look.", "inband")
        assert parser.can_parse(body)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("around", AROUND)
def test_the_text_of_a_message_without_a_role_is_its_text(around: dict[str, Any], form: str) -> None:
    response = sp.parse_response(FORMS[form]({"message": {"content": "Hello."}, **around}))
    assert (response.content, response.tool_calls) == ("Hello.", [])
    codes = ["missing_call"] if around.get("finish_reason") == "tool_calls" else []
    assert ([error.code for error in response.errors], response.ok) == (codes, not codes)


def _both(markup: str, *names: str) -> dict[str, Any]:
    calls = [{"function": {"name": name, "arguments": '{"query": "tea"}'}} for name in names]
    return {"message": {"content": markup, "tool_calls": calls}}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "parser",
    [
        sp.CompositeParser(),
        sp.CompositeParser([NativeParser(), MarkupParser()]),
        sp.CompositeParser([MarkupParser(), NativeParser()]),
    ],
)
def test_native_calls_and_markup_of_one_body_both_count(parser: sp.CompositeParser, form: str) -> None:
    markup = 'So: <tools>{"name": "read", "arguments": {"query": "tea"}}</tools>'
    response = parser.parse(FORMS[form](_both(markup, "search")))
    found = [(call.name, call.source) for call in response.tool_calls]
    assert sorted(found) == [("read", "inband"), ("search", "native")]
    assert response.content.strip() == "So:"
    assert response.ok


def test_the_calls_of_the_content_stand_before_the_native_ones() -> None:
    markup = '<tools>{"name": "read", "arguments": {"query": "tea"}}</tools>'
    response = sp.parse_response(_both(markup, "search"))
    assert [(call.index, call.name) for call in response.tool_calls] == [(0, "read"), (1, "search")]


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_is_told_natively_and_in_the_text_counts_once(form: str) -> None:
    markup = '<tools>{"name": "search", "arguments": {"query": "tea"}}</tools>'
    response = sp.parse_response(FORMS[form](_both(markup, "search", "read")))
    assert [(call.name, call.source) for call in response.tool_calls] == [("search", "native"), ("read", "native")]
    twice = sp.parse_response(FORMS[form](_both(markup * 2, "search")))
    assert [(call.name, call.source) for call in twice.tool_calls] == [("search", "native"), ("search", "inband")]


# -- a name alone


@pytest.mark.parametrize("text", ['<tools>{"name": "x"}</tools>', '<tools>\n{"name": "x"}\n</tools>'])
@pytest.mark.parametrize("tools", [None, [_tool("x")], [{"name": "x"}]])
def test_an_object_with_a_name_and_nothing_else_is_a_call_without_arguments(text: str, tools: Any) -> None:
    for body in (text, {"message": {"content": text}}):
        response = sp.parse_response(body, tools=tools)
        assert (_calls(response), response.content, _is_clean(response)) == ([("x", {})], "", True)


@pytest.mark.parametrize(
    "inside",
    [
        '{"name": "x", "description": "Does it."}',
        '{"name": "x", "parameters": {"type": "object", "properties": {}}}',
        '{"name": "x", "parameters": {}}',
        '{"name": "x", "input_schema": {"type": "object"}}',
        '{"type": "function", "function": {"name": "x"}}',
        '{"type": "function", "function": {"name": "x", "description": "Does it.", "parameters": {}}}',
        '[{"name": "x"}, {"name": "y"}]',
        '{"name": ""}',
        '{"name": 1}',
        '{"name": "x"',
    ],
)
@pytest.mark.parametrize("tools", [None, [_tool("x")]])
def test_the_definition_of_a_tool_is_no_call(inside: str, tools: Any) -> None:
    text = f"<tools>{inside}</tools>"
    response = sp.parse_response(text, tools=tools)
    assert (response.tool_calls, response.content) == ([], text)


@pytest.mark.parametrize("tools", [[_tool("y")], [_tool("x", "query")]])
def test_where_tools_are_declared_a_name_alone_must_be_of_one_that_needs_nothing(tools: Any) -> None:
    text = '<tools>{"name": "x"}</tools>'
    response = sp.parse_response(text, tools=tools)
    assert (response.tool_calls, response.content) == ([], text)


# -- Anthropic


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["composite", "native", "anthropic", "anthropic_xml", "bedrock", "openai"])
@pytest.mark.parametrize("around", [{}, {"stop_reason": "tool_use"}, {"type": "message"}, {"role": "assistant"}])
def test_content_blocks_alone_are_anthropics(around: dict[str, Any], name: str, form: str) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "tea"}}
    for blocks, content in (([use], ""), ([{"type": "text", "text": "I look."}, use], "I look.")):
        body = FORMS[form]({"content": blocks, **around})
        response = parser_for(name).parse(body)
        assert (_calls(response), response.content) == ([("search", {"query": "tea"})], content)
        assert (response.tool_calls[0].id, _is_clean(response)) == ("toolu_1", True)
        assert parser_for(name).can_parse(body)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("around", [{}, {"stop_reason": "tool_use"}, {"type": "message"}, {"role": "assistant"}])
def test_content_blocks_alone_show_the_wire_of_anthropic(around: dict[str, Any], form: str) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "tea"}}
    for blocks in ([use], [{"type": "text", "text": "I look."}, use]):
        assert detect_format(FORMS[form]({"content": blocks, **around})).wire == "anthropic"


def test_blocks_of_text_alone_are_an_answer_once_they_are_decoded() -> None:
    body = {"content": [{"type": "text", "text": "Hello."}]}
    assert (sp.parse_response(body).content, detect_format(body).wire) == ("Hello.", "anthropic")
    assert sp.parse_response(json.dumps(body)).content == json.dumps(body), "it may be the answer itself"
    assert not sp.parse_response({"content": [], "role": "user"}).ok


# -- what is broken


BROKEN = [
    "<tools>{broken}</tools>",
    '<tools>{"name": "search", "arguments": {</tools>',
    '<tools>{"name": "search", "arguments": {"query": </tools>',
    "<tool_call>not json</tool_call>",
    '<tool_call>{"name": search}</tool_call>',
    '<tool_call>{"name": "search", "arguments": {"query": "tea"</tool_call>',
    "<tool_call></tool_call>",
    "<tools>",
]


@pytest.mark.parametrize(
    "name", ["composite", "markup", "native", "json-content", "heuristic", "anthropic", "qwen_xml"]
)
@pytest.mark.parametrize("text", BROKEN)
def test_broken_json_in_markup_is_no_call_and_no_exception(text: str, name: str) -> None:
    parser = parser_for(name)
    for body in (text, text.encode(), {"message": {"content": text}}, {"message": {"content": text}, "done": True}):
        response = parser.parse(body)
        assert response.tool_calls == []
        assert response.content or response.broken_calls, "nothing is lost"
        assert isinstance(parser.can_parse(body), bool)


# -- nothing


@pytest.mark.parametrize("nothing", [None, ""])
@pytest.mark.parametrize("name", [*PARSERS, "markup", "json-content", "heuristic", "anthropic", "gemini", "qwen_xml"])
def test_nothing_is_an_empty_answer(name: str, nothing: Any) -> None:
    parser: ToolCallParser = parser_for(name)
    response = parser.parse(nothing)
    assert (response.content, response.tool_calls, response.broken_calls) == ("", [], [])
    assert _is_clean(response)
    assert parser.can_parse(nothing) is False
    assert response.raw_response is nothing


@pytest.mark.parametrize("form", FORMS)
def test_a_message_of_nothing_is_an_empty_answer(form: str) -> None:
    for content in (None, ""):
        response = sp.parse_response(FORMS[form]({"message": {"role": "assistant", "content": content}}))
        assert (response.content, response.tool_calls, _is_clean(response)) == ("", [], True)


# -- detection


@pytest.mark.parametrize("form", FORMS)
def test_a_message_of_openai_is_detected_with_an_example_and_the_style_of_its_schemas(form: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    for body in (message, {"message": message}, {"choices": [{"message": message}]}):
        found = detect_format(FORMS[form](body))
        assert (found.wire, found.schema_style, found.errors) == ("openai-chat", "openai", [])
        assert json.loads(found.example or "")["function"]["name"] == "get_weather"
        assert [call.name for call in found.calls] == ["search"]
