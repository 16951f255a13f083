"""Calls, choices and settings that a target refuses are written in its words or told, in work that is linear."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from openai.types.chat import ChatCompletionCustomToolParam, ChatCompletionMessageCustomToolCall
from openai.types.responses import CustomToolParam, ResponseCustomToolCall
from sdk_types import validator_of

import streamparse as sp
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, translate_messages, translate_request, translate_tools
from streamparse.writing.prompts import format_system_prompt

U = {"role": "user", "content": "q"}
FUNCTION = {"type": "function", "id": "c1", "function": {"name": "f", "arguments": "{}"}}
CUSTOM = {"type": "custom", "id": "c2", "custom": {"name": "run", "input": "ls -l"}}
ITEM = {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "ls -l"}
CHAT = [
    U,
    {"role": "assistant", "content": None, "tool_calls": [FUNCTION, CUSTOM]},
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "content": "two"},
    {"role": "user", "content": "and?"},
]
ITEMS = [
    U,
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
    ITEM,
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
    {"role": "user", "content": "and?"},
]
ELSEWHERE = ["anthropic", "gemini", "ollama", "cohere", "bedrock", "mistral"]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in "fg"]
DECLARED = [{"functionDeclarations": [{"name": name} for name in "fg"]}]
PACKAGE = str(Path(sp.__file__).parent)


# -- calls of tools that take text -------------------------------------------------------------------------


def test_custom_calls_and_their_results_pass_between_chat_and_responses_without_a_loss() -> None:
    there = translate_messages(CHAT, "openai", "openai-responses")
    back = translate_messages(ITEMS, "openai-responses", "openai")
    assert (there.result, there.lost) == (ITEMS, [])
    assert (back.result, back.lost) == (CHAT, [])


def test_a_custom_call_that_is_written_is_what_the_sdk_knows() -> None:
    (written,) = translate_messages([ITEM], "openai-responses", "openai").result[0]["tool_calls"]
    read = ChatCompletionMessageCustomToolCall.model_validate(written, strict=True)
    assert (read.id, read.custom.name, read.custom.input) == ("c2", "run", "ls -l")
    (item,) = translate_messages([{"role": "assistant", "tool_calls": [CUSTOM]}], "openai", "openai-responses").result
    assert ResponseCustomToolCall.model_validate(item, strict=True).input == "ls -l"


@pytest.mark.parametrize(("source", "messages"), [("openai", CHAT), ("openai-responses", ITEMS)])
@pytest.mark.parametrize("target", ELSEWHERE)
def test_who_knows_no_custom_calls_is_sent_neither_them_nor_their_results(
    target: str, source: str, messages: list[Any]
) -> None:
    written = translate_messages(messages, source, target)
    assert "c2" not in str(written.result)
    assert "two" not in str(written.result)
    assert "one" in str(written.result)
    told = [loss.keyword for loss in written.lost]
    assert told.count("custom_tool_call") == told.count("custom_tool_call_output") == 1


@pytest.mark.parametrize("target", ELSEWHERE)
def test_an_answer_of_a_custom_call_alone_leaves_nothing_behind(target: str) -> None:
    messages = [U, {"role": "assistant", "content": None, "tool_calls": [CUSTOM]}, CHAT[3], CHAT[4]]
    written = translate_messages(messages, "openai", target)
    assert "two" not in str(written.result)
    assert {loss.keyword for loss in written.lost} == {"custom_tool_call", "custom_tool_call_output"}


def test_ids_that_come_again_in_a_later_turn_tell_functions_and_custom_calls_apart() -> None:
    function, custom = {**FUNCTION, "id": "call_0"}, {**CUSTOM, "id": "call_0"}
    told = {"role": "tool", "tool_call_id": "call_0", "content": "r"}
    turns = [m for call in (custom, function, custom) for m in ({"role": "assistant", "tool_calls": [call]}, told)]
    kinds = [item["type"] for item in translate_messages(turns, "openai", "openai-responses").result]
    custom_pair = ["custom_tool_call", "custom_tool_call_output"]
    assert kinds == [*custom_pair, "function_call", "function_call_output", *custom_pair]


def test_the_pictures_of_a_custom_result_stand_behind_all_results_in_chat() -> None:
    picture = {"type": "input_image", "image_url": "https://x/y.png", "detail": "auto"}
    output = {"type": "custom_tool_call_output", "call_id": "c2", "output": [picture]}
    written = translate_messages([ITEM, output], "openai-responses", "openai")
    assert [message["role"] for message in written.result] == ["assistant", "tool", "user"]
    assert written.result[1]["tool_call_id"] == "c2"
    assert [loss.keyword for loss in written.lost] == ["image"]


def test_a_long_id_is_shortened_alike_in_a_custom_call_and_in_its_result() -> None:
    long = "c" * 60
    items = [{**ITEM, "call_id": long}, {"type": "custom_tool_call_output", "call_id": long, "output": "r"}]
    answer, result = translate_messages(items, "openai-responses", "openai").result
    assert len(answer["tool_calls"][0]["id"]) == 40
    assert result["tool_call_id"] == answer["tool_calls"][0]["id"]


def test_the_custom_call_of_an_answer_goes_back_in_the_words_of_either_way() -> None:
    chat: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **CUSTOM}]}
    response = sp.parse_response({"choices": [{"index": 0, "message": chat, "finish_reason": "tool_calls"}]})
    assert sp.as_message(response, "openai-responses") == [ITEM]
    answer = {"object": "response", "id": "r", "status": "completed", "output": [{**ITEM, "id": "i"}]}
    assert sp.as_message(sp.parse_response(answer), "openai")["tool_calls"] == [CUSTOM]


LARK = {"syntax": "lark", "definition": "start: /a+/"}
OF_CHAT = [
    {
        "type": "custom",
        "custom": {"name": "run", "description": "Run.", "format": {"type": "grammar", "grammar": LARK}},
    },
    {"type": "custom", "custom": {"name": "say", "format": {"type": "text"}}},
    {"type": "custom", "custom": {"name": "ask"}},
]
OF_RESPONSES = [
    {"type": "custom", "name": "run", "description": "Run.", "format": {"type": "grammar", **LARK}},
    {"type": "custom", "name": "say", "format": {"type": "text"}},
    {"type": "custom", "name": "ask"},
]


def test_tools_that_take_text_are_declared_to_either_way_of_asking_openai_with_their_grammars() -> None:
    there = translate_tools(OF_CHAT, "openai-responses")
    back = translate_tools(OF_RESPONSES, "openai")
    assert (there.result, there.lost) == (OF_RESPONSES, [])
    assert (back.result, back.lost) == (OF_CHAT, [])
    for written in back.result:
        assert validator_of(ChatCompletionCustomToolParam).validate_python(written) == written
    for written in there.result:
        assert validator_of(CustomToolParam).validate_python(written) == written


@pytest.mark.parametrize("target", [*ELSEWHERE, "deepseek"])
@pytest.mark.parametrize("declared", [OF_CHAT, OF_RESPONSES])
def test_tools_that_take_text_are_told_where_tools_take_json(declared: list[dict[str, Any]], target: str) -> None:
    written = translate_tools([*declared, *TOOLS[:1]], target)
    assert len(written.result) == 1
    assert [(loss.place, loss.keyword) for loss in written.lost] == [(name, "custom") for name in ("run", "say", "ask")]
    assert ADAPTERS[target].format_tools(TOOLS[:1]) == written.result


def test_a_request_keeps_its_tools_that_take_text_or_is_one_without_tools() -> None:
    request = {"model": "m", "input": "q", "tools": OF_RESPONSES, "tool_choice": "required"}
    assert translate_request(request, "openai-responses", "openai").result["tools"] == OF_CHAT
    written = translate_request(request, "openai-responses", "anthropic").result
    assert written.keys() == {"model", "messages", "max_tokens"}


def test_a_prompt_of_tools_has_none_that_take_text() -> None:
    assert "say" not in format_system_prompt([*OF_CHAT, *TOOLS])
    assert ADAPTERS["openai"].read_tools(OF_CHAT) == []


# -- choices -----------------------------------------------------------------------------------------------


def _gemini(target: str, **config: Any) -> tuple[dict[str, Any], list[Loss]]:
    body: dict[str, Any] = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "q"}]}], "tools": DECLARED}
    body["toolConfig"] = {"functionCallingConfig": config}
    written = translate_request(body, "gemini", target)
    return written.result, [loss for loss in written.lost if loss.keyword != "max_tokens"]


@pytest.mark.parametrize("mode", [{"mode": "VALIDATED"}, {"mode": "AUTO"}, {"mode": "MODE_UNSPECIFIED"}, {}])
@pytest.mark.parametrize("target", ["openai", "openai-responses", "anthropic", "ollama", "cohere"])
def test_a_tool_that_gemini_merely_allows_is_not_forced_and_it_is_told(target: str, mode: dict[str, str]) -> None:
    written, lost = _gemini(target, **mode, allowedFunctionNames=["f"])
    assert written.get("tool_choice") in (None, "auto", {"type": "auto"})
    assert len(written["tools"]) == 2
    assert "allowedFunctionNames" in [loss.keyword for loss in lost]


def test_a_mode_that_nobody_else_has_is_told() -> None:
    assert [loss.keyword for loss in _gemini("openai", mode="VALIDATED")[1]] == ["tool_choice"]
    assert _gemini("openai", mode="AUTO")[1] == _gemini("openai", mode="MODE_UNSPECIFIED")[1] == []


def test_the_only_tool_that_gemini_must_call_is_forced() -> None:
    written, lost = _gemini("openai", mode="ANY", allowedFunctionNames=["f"])
    assert written["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert lost == []


# -- settings ----------------------------------------------------------------------------------------------


def _limits(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key.startswith("max_")}


@pytest.mark.parametrize("through", ["openai-responses", "gemini"])
def test_a_limit_is_sent_under_the_word_that_every_chat_server_knows(through: str) -> None:
    body = {"model": "m", "messages": [U], "max_completion_tokens": 9}
    between = {"model": "m", **translate_request(body, "openai", through).result}
    assert _limits(translate_request(between, through, "openai").result) == {"max_tokens": 9}


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ("o1", "max_completion_tokens"),
        ("o4-mini", "max_completion_tokens"),
        ("openai/o3", "max_completion_tokens"),
        ("gpt-5-mini", "max_completion_tokens"),
        ("gpt-4o", "max_tokens"),
        ("gpt-oss-20b", "max_tokens"),
        ("olmo-3", "max_tokens"),
    ],
)
def test_models_that_refuse_the_older_word_for_the_limit_are_sent_the_other(model: str, word: str) -> None:
    body = {"model": model, "messages": [U], "max_tokens": 9}
    assert _limits(translate_request(body, "anthropic", "openai").result) == {word: 9}


@pytest.mark.parametrize(("target", "most"), [("openai", 4), ("gemini", 5), ("cohere", 5)])
def test_more_stops_than_a_target_takes_are_a_warning(target: str, most: int) -> None:
    for count in (most, most + 1):
        body = {"model": "m", "messages": [U], "max_tokens": 9, "stop_sequences": [str(n) for n in range(count)]}
        lost = translate_request(body, "anthropic", target).lost
        assert [(loss.keyword, loss.warning) for loss in lost] == [("stop", True)] * (count - most)


@pytest.mark.parametrize("form", [{"type": "json_schema", "json_schema": {"name": "n"}}, {"type": "grammar"}])
def test_a_form_of_the_answer_without_a_schema_is_told(form: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [U], "max_tokens": 9}
    lost = translate_request({**body, "response_format": form}, "openai", "anthropic").lost
    assert [loss.keyword for loss in lost] == ["response_format"]
    request = {"model": "m", "input": "q", "max_output_tokens": 9, "text": {"format": {"type": "json_schema"}}}
    assert [loss.keyword for loss in translate_request(request, "openai-responses", "anthropic").lost] == [
        "response_format"
    ]


def test_a_form_that_is_text_says_nothing() -> None:
    body = {"model": "m", "messages": [U], "max_tokens": 9, "response_format": {"type": "text"}}
    assert translate_request(body, "openai", "anthropic").lost == []


@pytest.mark.parametrize("target", ["openai", "anthropic", "ollama"])
def test_a_refusal_in_a_history_is_text(target: str) -> None:
    refused = {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}
    for source in ("openai-responses", "deepseek"):
        written = translate_messages([U, refused], source, target)
        assert "I will not." in str(written.result[1])
        assert written.lost == []


# -- work --------------------------------------------------------------------------------------------------


def _call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def _result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


def _reversed(size: int) -> dict[str, Any]:
    ids = [f"c{n}" for n in range(size)]
    answer = {"role": "assistant", "tool_calls": [_call(id) for id in ids]}
    return {"model": "m", "messages": [U, answer, *(_result(id) for id in reversed(ids))]}


def _same_ids(size: int) -> dict[str, Any]:
    turn = [{"role": "assistant", "tool_calls": [_call("call_0")]}, _result("call_0")]
    return {"model": "m", "messages": [U, *turn * size]}


def _ids_in_the_way(size: int) -> dict[str, Any]:
    calls = [_call(f"call_{size + n}") for n in range(size)]
    return {"model": "m", "messages": [U, {"role": "assistant", "tool_calls": calls + [_call("call_1")] * size}]}


def _items(size: int) -> dict[str, Any]:
    calls = [{"type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": "{}"} for n in range(size)]
    results = [{"type": "function_call_output", "call_id": f"c{n}", "output": "x"} for n in range(size)]
    return {"model": "m", "input": [U, *calls, *results]}


def _without_ids(size: int) -> dict[str, Any]:
    call = {"functionCall": {"name": "f", "args": {}}}
    result = {"functionResponse": {"name": "f", "response": {"output": 1}}}
    return {"contents": [{"role": "model", "parts": [call] * size}, {"role": "user", "parts": [result] * size}]}


def _work(translate: Callable[[], object]) -> int:
    """The steps that the interpreter takes in the library, comprehensions and generators too."""
    steps = 0

    def count(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal steps
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        steps += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        translate()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize(
    ("body", "source", "target"),
    [
        (_reversed, "openai", "anthropic"),
        (_same_ids, "openai", "anthropic"),
        (_ids_in_the_way, "openai", "anthropic"),
        (_items, "openai-responses", "anthropic"),
        (_without_ids, "gemini", "openai"),
    ],
)
def test_the_work_on_a_conversation_is_linear(body: Callable[[int], dict[str, Any]], source: str, target: str) -> None:
    few, many = 20, 160
    translate_request(body(few), source, target)
    little = _work(lambda: translate_request(body(few), source, target))
    much = _work(lambda: translate_request(body(many), source, target))
    assert much <= little * (many // few) * 1.15
