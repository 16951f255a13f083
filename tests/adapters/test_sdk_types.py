"""What is sent is what the official SDKs' own types say: every field known, none dropped."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PICTURE, calls, parsed, results, tools
from hypothesis import given
from hypothesis import strategies as st
from sdk_types import assert_taken, validator_of
from test_as_message import CONTENT, GEMINI_PARTS, REASONING, WEB, anthropic
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_request

pytest.importorskip("pydantic")

FEW = usual_examples(25)
SHOWN = [{"type": "text", "text": "a map"}, {"type": "image", "data": PICTURE, "mimeType": "image/png"}]
RESULTS = [
    sp.ToolResult("toolu_2", "now", error="no clock", index=1),
    sp.ToolResult("toolu_1", "get_weather", {"mild": True}, index=0),
    sp.ToolResult("toolu_3", "draw", SHOWN, index=2),
]


@pytest.fixture(scope="module")
def answer() -> sp.ParsedResponse:
    return parsed(anthropic(CONTENT), wire="anthropic")


@FEW
@given(st.lists(tools, min_size=1, max_size=2, unique_by=lambda tool: tool.name))
def test_definitions_are_what_the_sdks_take(declared: list[sp.Tool]) -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    messages = pytest.importorskip("anthropic.types")
    genai = pytest.importorskip("google.genai.types")
    assert_taken(list[chat.ChatCompletionToolParam], ADAPTERS["openai"].format_tools(declared))
    assert_taken(list[responses.FunctionToolParam], ADAPTERS["openai-responses"].format_tools(declared))
    assert_taken(list[messages.ToolParam], ADAPTERS["anthropic"].format_tools(declared))
    for name in ("gemini", "gemini-openapi"):
        for written in ADAPTERS[name].format_tools(declared):
            genai.Tool.model_validate(written)  # forbids what it does not know
    ollama = pytest.importorskip("ollama")
    for written in ADAPTERS["ollama"].format_tools(declared):
        ollama.Tool.model_validate(written)


@FEW
@given(calls)
def test_calls_are_what_the_sdks_take(call: sp.ToolCall) -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    messages = pytest.importorskip("anthropic.types")
    genai = pytest.importorskip("google.genai.types")
    ollama = pytest.importorskip("ollama")
    assert_taken(chat.ChatCompletionMessageFunctionToolCallParam, ADAPTERS["openai"].format_call(call))
    assert_taken(responses.ResponseFunctionToolCallParam, ADAPTERS["openai-responses"].format_call(call))
    assert_taken(messages.ToolUseBlockParam, ADAPTERS["anthropic"].format_call(call))
    genai.Part.model_validate(ADAPTERS["gemini"].format_call(call))
    ollama.Message.ToolCall.model_validate(ADAPTERS["ollama"].format_call(call))


@FEW
@given(st.lists(results, min_size=1, max_size=3))
def test_results_are_what_the_sdks_take(found: list[sp.ToolResult]) -> None:
    _check_results([*found, *RESULTS])


def test_results_with_pictures_and_errors_are_what_the_sdks_take() -> None:
    _check_results(RESULTS)


def _check_results(found: list[sp.ToolResult]) -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    messages = pytest.importorskip("anthropic.types")
    genai = pytest.importorskip("google.genai.types")
    ollama = pytest.importorskip("ollama")
    written = ADAPTERS["openai"].format_results(found)
    assert_taken(list[chat.ChatCompletionToolMessageParam], [each for each in written if each["role"] == "tool"])
    assert_taken(list[chat.ChatCompletionUserMessageParam], [each for each in written if each["role"] == "user"])
    assert_taken(
        list[responses.response_input_item_param.FunctionCallOutput], ADAPTERS["openai-responses"].format_results(found)
    )
    assert_taken(list[messages.MessageParam], ADAPTERS["anthropic"].format_results(found))
    for each in ADAPTERS["gemini"].format_results(found):
        genai.Content.model_validate(each)
    for each in ADAPTERS["ollama"].format_results(found):
        images = [ollama.Image(value=image) for image in each.get("images", ())]  # as its client does
        ollama.Message.model_validate({**each, "images": images})


def test_the_assistants_turn_is_what_anthropic_takes(answer: sp.ParsedResponse) -> None:
    messages = pytest.importorskip("anthropic.types")
    validator_of(messages.MessageParam).validate_python(sp.as_message(answer, "anthropic"))
    for block in sp.as_message(answer, "anthropic")["content"]:
        if block["type"] in ("thinking", "redacted_thinking", "tool_use"):
            assert_taken(messages.ContentBlockParam, block)


def test_the_assistants_turn_is_what_openai_takes(answer: sp.ParsedResponse) -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    assert_taken(chat.ChatCompletionAssistantMessageParam, sp.as_message(answer, "openai"))
    body = {"object": "response", "status": "completed", "output": [REASONING, WEB]}
    items = sp.as_message(parsed(body, wire="openai-responses"), "openai-responses")
    for item in [*items, *sp.as_message(answer, "openai-responses")]:
        validator_of(responses.ResponseInputItemParam).validate_python(item)
    assert_taken(responses.ResponseReasoningItemParam, items[0])


def test_the_assistants_turn_is_what_gemini_and_ollama_take(answer: sp.ParsedResponse) -> None:
    genai = pytest.importorskip("google.genai.types")
    ollama = pytest.importorskip("ollama")
    body = {"candidates": [{"content": {"parts": GEMINI_PARTS}, "finishReason": "STOP"}]}
    genai.Content.model_validate(sp.as_message(parsed(body, wire="gemini"), "gemini"))
    genai.Content.model_validate(sp.as_message(answer, "gemini"))
    ollama.Message.model_validate(sp.as_message(answer, "ollama"))


OLLAMA_REQUEST = {
    "model": "qwen3",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where is this?", "images": [PICTURE]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "now", "arguments": {"zone": "CET"}}}],
        },
        {"role": "tool", "tool_name": "now", "content": "noon"},
    ],
    "tools": ADAPTERS["ollama"].format_tools([sp.Tool("now", "The time.", {"type": "object", "properties": {}})]),
    "format": {"type": "object", "properties": {"place": {"type": "string"}}},
    "options": {"temperature": 0.5, "num_predict": 100, "stop": ["END"], "top_p": 0.9},
    "stream": True,
}


def test_a_translated_request_is_what_the_sdks_take() -> None:
    chat = pytest.importorskip("openai.types.chat")
    creation = pytest.importorskip("openai.types.chat.completion_create_params")
    written = translate_request(OLLAMA_REQUEST, "ollama", "openai").result
    roles = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
    for message in written["messages"]:
        assert_taken(getattr(chat, f"ChatCompletion{roles[message['role']]}MessageParam"), message)
    assert_taken(creation.CompletionCreateParamsStreaming, {**written, "messages": []})


def test_a_translated_request_is_what_anthropic_takes() -> None:
    messages = pytest.importorskip("anthropic.types")
    creation = pytest.importorskip("anthropic.types.message_create_params")
    written = translate_request(OLLAMA_REQUEST, "ollama", "anthropic").result
    blocks = {"tool_use": "ToolUse", "tool_result": "ToolResult", "text": "Text", "image": "Image"}
    for message in written["messages"]:
        validator_of(messages.MessageParam).validate_python(message)
        for block in message["content"]:
            assert_taken(getattr(messages, f"{blocks[block['type']]}BlockParam"), block)
    sampling = {"temperature", "top_p", "top_k"}  # the newest SDK leaves them out, servers that speak so take them
    said = {name: value for name, value in written.items() if name not in sampling}
    assert_taken(creation.MessageCreateParamsStreaming, {**said, "messages": []})


def test_a_request_translated_back_is_what_ollama_takes() -> None:
    request = pytest.importorskip("ollama._types").ChatRequest
    there = translate_request(OLLAMA_REQUEST, "ollama", "anthropic").result
    back = translate_request(there, "anthropic", "ollama").result
    request.model_validate({**back, "messages": [{**each, "images": None} for each in back["messages"]]})
    assert [each["role"] for each in back["messages"]] == ["system", "user", "assistant", "tool"]


EVERYTHING = {
    **OLLAMA_REQUEST,
    "messages": [
        *OLLAMA_REQUEST["messages"],  # type: ignore[misc]
        {"role": "user", "content": "Sure?"},
        {"role": "assistant", "content": "Yes.", "thinking": "Am I?"},
    ],
    "options": {"temperature": 0.5, "num_predict": 100, "stop": ["END"], "top_p": 0.9, "top_k": 40, "seed": 7},
}


def test_a_translated_request_is_what_openais_responses_take() -> None:
    responses = pytest.importorskip("openai.types.responses")
    creation = pytest.importorskip("openai.types.responses.response_create_params")
    written = translate_request(EVERYTHING, "ollama", "openai-responses").result
    kinds = {
        "function_call": responses.ResponseFunctionToolCallParam,
        "function_call_output": responses.response_input_item_param.FunctionCallOutput,
        "message": responses.EasyInputMessageParam,
    }
    for item in written["input"]:
        assert_taken(kinds[item.get("type", "message")], item)
    assert_taken(creation.ResponseCreateParamsStreaming, {**written, "input": []})


@pytest.mark.parametrize("choice", ["auto", "none", "required", {"type": "function", "function": {"name": "now"}}])
def test_a_translated_request_is_what_gemini_takes(choice: Any) -> None:
    genai = pytest.importorskip("google.genai.types")
    asked = translate_request(EVERYTHING, "ollama", "openai").result
    asked |= {"tool_choice": choice, "reasoning_effort": "high", "presence_penalty": 0.5}
    written = translate_request(asked, "openai", "gemini").result
    kinds = {
        "systemInstruction": genai.Content,
        "contents": list[genai.Content],
        "tools": list[genai.Tool],
        "toolConfig": genai.ToolConfig,
        "generationConfig": genai.GenerationConfig,
    }
    assert written.keys() == kinds.keys()
    for name, kind in kinds.items():
        assert_taken(kind, written[name])
