"""Whatever an answer was, its message and the results of its calls are a history that each provider accepts."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sdk_types import validator_of
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS
from streamparse.repair import answer_broken

pytest.importorskip("pydantic")

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}


def weather(**arguments: Any) -> Any:
    """Look the weather up."""
    return arguments


TOOLS = [sp.Tool("weather", "", CITY, weather), sp.Tool("look", "", CITY, weather, effect="read")]


def _chunk(finish: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def _call(index: int, name: str, arguments: str, id: str | None = None) -> bytes:
    call = {
        "index": index,
        "id": id or f"c{index}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    return _chunk(tool_calls=[call])


IN_TEXT = '<tool_call>{"name": "weather", "arguments": {"city": "Bern"}}</tool_call>'
STREAMS = {
    "whole": [_call(0, "weather", '{"city": "Bern", "days": "3"}'), _call(1, "look", '{"city": "Basel"}')],
    "no JSON": [_call(0, "weather", "city=Bern"), _call(1, "look", '{"city": "Basel"}')],
    "no object": [_call(0, "weather", "[1]"), _call(1, "look", "3")],
    "nothing": [_call(0, "weather", "")],
    "unknown, then wrong": [_call(0, "wether", "{}"), _call(1, "look", "{}"), _call(2, "look", '{"city": []}')],
    "natively and in the text": [_chunk(content=f"So: {IN_TEXT}"), _call(0, "weather", '{"city": "Bern"}')],
    "in the text": [_chunk(content=f"So: {IN_TEXT}\n<tool_call>{{broken</tool_call>\n{IN_TEXT}")],
    "in a thought and in the text": [_chunk(reasoning_content="Hm."), _chunk(content=IN_TEXT), _chunk(content=" well")],
    "one id twice": [_call(0, "weather", '{"city": "Bern"}', "x"), _call(1, "weather", '{"city": "Bern"}', "x")],
}
ENDS = {
    "tools": [_chunk("tool_calls"), b"data: [DONE]\n\n"],
    "length": [_chunk("length"), b"data: [DONE]\n\n"],
    "filter": [_chunk("content_filter"), b"data: [DONE]\n\n"],
    "cut": [],
}


async def _run(body: bytes) -> tuple[sp.ParsedResponse, list[sp.ToolResult]]:
    parser = sp.StreamParser("openai-chat", tools=TOOLS)
    async with sp.ToolRunner(TOOLS) as runner:
        async for _ in runner.run([parser.feed(body), parser.close()]):
            pass
    return parser.response, runner.results


def _check_history(response: sp.ParsedResponse, results: list[sp.ToolResult]) -> None:
    """Assert that calls and answers are equal in number and order for each provider, and legal for its SDK."""
    standing = [call.index for call in response.tool_calls if not call.revoked]
    standing += [call.index for call in response.broken_calls]
    assert [result.index for result in results if not result.revoked] == sorted(standing)
    for provider, adapter in ADAPTERS.items():
        message = sp.as_message(response, provider)
        turns = adapter.read_messages(message if isinstance(message, list) else [message])
        calls = [call for turn in turns for call in turn.calls]
        answers = adapter.read_results(adapter.format_results(results), calls)
        assert len(answers) == len(calls) == len(standing)
        assert len({call.id for call in calls}) == len(calls)
        assert [each.call_id for each in answers] == [call.id for call in calls] or adapter.name in WITHOUT_IDS
        _check_types(adapter.name, message, adapter.format_results(results))


WITHOUT_IDS = {"gemini", "gemini-openapi", "ollama"}


def _check_types(name: str, message: Any, results: Any) -> None:
    if name == "openai":
        chat = pytest.importorskip("openai.types.chat")
        validator_of(chat.ChatCompletionAssistantMessageParam).validate_python(message)
        validator_of(list[chat.ChatCompletionMessageParam]).validate_python(results)
    elif name == "openai-responses":
        responses = pytest.importorskip("openai.types.responses")
        validator_of(list[responses.ResponseInputItemParam]).validate_python([*message, *results])
    elif name == "anthropic":
        messages = pytest.importorskip("anthropic.types")
        validator_of(list[messages.MessageParam]).validate_python([message, *results])
    elif name == "gemini":
        genai = pytest.importorskip("google.genai.types")
        for each in (message, *results):
            genai.Content.model_validate(each)
    elif name == "ollama":
        ollama = pytest.importorskip("ollama")
        for each in (message, *results):
            ollama.Message.model_validate(each)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", STREAMS)
def test_each_call_of_an_answer_has_one_answer_in_the_words_of_each_provider(name: str, end: str) -> None:
    _check_history(*anyio.run(_run, b"".join([*STREAMS[name], *ENDS[end]])))


@usual_examples(40)
@given(st.sampled_from([*STREAMS]), st.floats(0, 1))
def test_so_it_is_wherever_the_answer_was_cut(name: str, place: float) -> None:
    body = b"".join([*STREAMS[name], *ENDS["tools"]])
    _check_history(*anyio.run(_run, body[: int(len(body) * place)]))


def test_a_broken_call_stands_in_the_message_and_its_answer_says_what_was_wrong() -> None:
    response, results = anyio.run(_run, b"".join([_call(0, "weather", '{"city": "Be')]))
    (call,) = sp.as_message(response, "openai")["tool_calls"]
    assert call["function"] == {"name": "weather", "arguments": "{}"}
    assert (results[0].call_id, results[0].success) == (call["id"], False)
    assert "the stream ended inside the call" in (results[0].error or "")


def test_without_a_runner_broken_calls_are_answered_by_one_function() -> None:
    response, results = anyio.run(_run, b"".join([*STREAMS["no JSON"], *ENDS["tools"]]))
    (broken,) = response.broken_calls
    answer = answer_broken(broken)
    assert (answer.call_id, answer.index, answer.success) == (broken.id, broken.index, False)
    assert answer.call_id == results[0].call_id


def test_results_of_calls_that_were_taken_back_leave_with_them() -> None:
    response, results = anyio.run(_run, b"".join([*STREAMS["whole"], *ENDS["filter"]]))
    assert all(call.revoked for call in response.tool_calls)
    assert all(result.revoked for result in results)
    assert all(adapter.format_results(results) == [] for adapter in ADAPTERS.values())
