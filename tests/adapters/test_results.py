"""Results stand where each provider wants them, with errors and pictures said in its way."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PICTURE

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_messages

MAP = [{"type": "text", "text": "a map"}, {"type": "image", "data": PICTURE, "mimeType": "image/png"}]
SAME_MAP = [
    [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}],
    [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}],
    [{"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}],
    [{"type": "image", "data": PICTURE, "mimeType": "image/png"}],
]
FIRST = sp.ToolResult("a", "look", "mild", index=0)
SECOND = sp.ToolResult("b", "now", error="no clock", index=1)
THIRD = sp.ToolResult("c", "draw", MAP, index=2)
PARALLEL = [THIRD, FIRST, SECOND]
TAKES_PICTURES = ["openai-responses", "anthropic", "gemini", "ollama", "bedrock", "generic"]


def test_anthropic_gets_all_results_first_in_one_message_of_the_user() -> None:
    (message,) = ADAPTERS["anthropic"].format_results(PARALLEL)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    assert message == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "mild"},
            {"type": "tool_result", "tool_use_id": "b", "content": "no clock", "is_error": True},
            {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "a map"}, image]},
        ],
    }


def test_openai_gets_a_message_for_each_and_pictures_behind_them_all() -> None:
    assert ADAPTERS["openai"].format_results(PARALLEL) == [
        {"role": "tool", "tool_call_id": "a", "content": "mild"},
        {"role": "tool", "tool_call_id": "b", "content": '{"error":"no clock"}'},
        {"role": "tool", "tool_call_id": "c", "content": "a map[image: image/png]"},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}],
        },
    ]


def test_responses_get_an_item_for_each() -> None:
    first, second, third = ADAPTERS["openai-responses"].format_results(PARALLEL)
    assert first == {"type": "function_call_output", "call_id": "a", "output": "mild"}
    assert second["output"] == '{"error":"no clock"}'
    assert [block["type"] for block in third["output"]] == ["input_text", "input_image"]


def test_gemini_gets_one_content_with_ids_and_names() -> None:
    (content,) = ADAPTERS["gemini"].format_results(PARALLEL)
    assert content["role"] == "user"
    first, second, third = (part["functionResponse"] for part in content["parts"])
    assert first == {"id": "a", "name": "look", "response": {"output": "mild"}}
    assert second == {"id": "b", "name": "now", "response": {"error": "no clock"}}
    assert third["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}]


def test_ollama_gets_a_message_for_each_that_names_its_tool() -> None:
    first, _second, third = ADAPTERS["ollama"].format_results(PARALLEL)
    assert first == {"role": "tool", "content": "mild", "tool_name": "look", "tool_call_id": "a"}
    assert third["images"] == [PICTURE]


def test_cohere_gets_a_document_for_each() -> None:
    first, second, _third, _pictures = ADAPTERS["cohere"].format_results(PARALLEL)
    document = {"type": "document", "document": {"data": {"output": "mild"}}}
    assert first == {"role": "tool", "tool_call_id": "a", "content": [document]}
    assert second["content"][0]["document"]["data"] == {"error": "no clock"}


def test_bedrock_gets_one_message_with_the_status_of_each() -> None:
    (message,) = ADAPTERS["bedrock"].format_results([*PARALLEL, sp.ToolResult("d", "sum", {"n": 1}, index=3)])
    first, second, third, fourth = (block["toolResult"] for block in message["content"])
    assert first == {"toolUseId": "a", "content": [{"text": "mild"}], "status": "success"}
    assert second == {"toolUseId": "b", "content": [{"text": "no clock"}], "status": "error"}
    assert third["content"][1] == {"image": {"format": "png", "source": {"bytes": PICTURE}}}
    assert fourth["content"] == [{"json": {"n": 1}}]


@pytest.mark.parametrize("provider", TAKES_PICTURES)
@pytest.mark.parametrize("shown", SAME_MAP)
def test_a_picture_in_any_shape_is_the_same_picture(provider: str, shown: list[object]) -> None:
    adapter = ADAPTERS[provider]
    written = adapter.format_results([sp.ToolResult("a", "draw", shown)])
    (back,) = adapter.read_results(adapter.format_results(adapter.read_results(written)))
    if provider == "generic":  # says a result as it is
        assert back.result == shown
    else:
        assert back.result == [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]


def test_text_blocks_of_mcp_are_the_text_they_show() -> None:
    shown = sp.ToolResult("a", "look", [{"type": "text", "text": "mild"}])
    assert ADAPTERS["openai"].format_result(shown)["content"] == "mild"


def test_an_empty_result_is_no_blank_text_at_bedrock() -> None:
    assert ADAPTERS["bedrock"].format_result(sp.ToolResult("a", "look", ""))["toolResult"]["content"] == []


def test_a_result_that_has_gemini_s_own_keys_is_not_misread() -> None:
    odd = sp.ToolResult("a", "look", {"error": "is data here", "output": 1})
    assert ADAPTERS["gemini"].read_result(ADAPTERS["gemini"].format_result(odd)) == odd


@pytest.mark.parametrize("provider", ["mistral", "anthropic", "bedrock", "openai"])
def test_an_id_that_a_provider_refuses_is_replaced_alike_in_call_and_result(provider: str) -> None:
    adapter = ADAPTERS[provider]
    for id in ("functions.get_weather:0", "x" * 200, "ünï"):
        call = adapter.read_call(adapter.format_call(sp.ToolCall("t", {}, id)))
        result = adapter.read_result(adapter.format_result(sp.ToolResult(id, "t", "r")))
        assert call.id == result.call_id == adapter.traits.ids.normalize(id)
        assert adapter.traits.ids.normalize(call.id) == call.id


OLLAMA = [
    {"role": "user", "content": "What time is it, here and in Rome?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"function": {"name": "now", "arguments": {"zone": "here"}}},
            {"function": {"name": "look", "arguments": {}}},
            {"function": {"name": "now", "arguments": {"zone": "Rome"}}},
        ],
    },
    {"role": "tool", "tool_name": "look", "content": "mild"},
    {"role": "tool", "tool_name": "now", "content": "noon"},
    {"role": "tool", "tool_name": "now", "content": "one"},
]


def test_results_without_ids_are_tied_to_the_calls_of_their_tools() -> None:
    _user, assistant, results = translate_messages(OLLAMA, "ollama", "anthropic").result
    ids = [block["id"] for block in assistant["content"]]
    assert len(set(ids)) == 3
    assert [(block["tool_use_id"], block["content"]) for block in results["content"]] == [
        (ids[0], "noon"),
        (ids[1], "mild"),
        (ids[2], "one"),
    ]


def test_results_without_names_get_those_of_their_calls() -> None:
    there = translate_messages(OLLAMA, "ollama", "openai").result
    back = translate_messages(there, "openai", "ollama").result
    assert [(message["tool_name"], message["content"]) for message in back[2:]] == [
        ("now", "noon"),
        ("look", "mild"),
        ("now", "one"),
    ]


def _openai_turn(id: str, city: str) -> list[dict[str, Any]]:
    function = {"name": "look", "arguments": f'{{"city":"{city}"}}'}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": f"mild in {city}"},
    ]


def test_ids_that_begin_anew_in_each_turn_are_told_apart_and_stay_with_their_results() -> None:
    turns = [*_openai_turn("call_0", "Rome"), *_openai_turn("call_0", "Paris"), *_openai_turn("call_1", "Oslo")]
    messages = translate_messages(turns, "openai", "anthropic").result
    called = {message["content"][0]["id"]: message["content"][0]["input"]["city"] for message in messages[::2]}
    answered = [(message["content"][0]["tool_use_id"], message["content"][0]["content"]) for message in messages[1::2]]
    assert list(called.values()) == ["Rome", "Paris", "Oslo"]
    assert answered == [(id, f"mild in {city}") for id, city in called.items()]


def test_turns_alternate_at_bedrock() -> None:
    more = [{"role": "user", "content": "And now?"}, {"role": "user", "content": " "}]
    messages = translate_messages([*_openai_turn("c1", "Rome"), *more], "openai", "bedrock").result
    assert [message["role"] for message in messages] == ["assistant", "user"]
    result, text = messages[1]["content"]
    assert result["toolResult"]["toolUseId"] == "c1"
    assert text == {"text": "And now?"}


def test_a_block_of_a_result_that_only_its_provider_knows_is_not_lost() -> None:
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "the weather"}}
    scan = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": [document, scan]}
    messages = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
        {"role": "user", "content": [answer]},
    ]
    content = translate_messages(messages, "anthropic", "openai").result[1]["content"]
    assert "the weather" in content
    assert content.endswith("[document: application/pdf]")


def test_a_call_from_before_there_were_tools_keeps_its_result() -> None:
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"city":"Rome"}'}},
        {"role": "function", "name": "look", "content": "mild"},
    ]
    assistant, user = translate_messages(messages, "openai", "anthropic").result
    (call,) = assistant["content"]
    assert (call["name"], call["input"]) == ("look", {"city": "Rome"})
    assert user["content"] == [{"type": "tool_result", "tool_use_id": call["id"], "content": "mild"}]


def test_messages_of_gemini_may_be_spelled_as_its_python_libraries_do() -> None:
    image = {"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}
    messages = [
        {"role": "user", "parts": [{"text": "Look."}, image]},
        {"role": "model", "parts": [{"function_call": {"name": "look", "args": {"some_key": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "look", "response": {"output": "mild"}}}]},
    ]
    question, assistant, results = translate_messages(messages, "gemini", "anthropic").result
    assert [block["type"] for block in question["content"]] == ["text", "image"]
    assert assistant["content"][0]["input"] == {"some_key": 1}
    assert results["content"][0]["content"] == "mild"


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_picture_in_an_answer_goes_back_or_is_told(provider: str) -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    messages = [{"role": "model", "parts": [{"text": "Here."}, part]}]
    translated = translate_messages(messages, "gemini", provider)
    told = any(loss.keyword == "image" for loss in translated.lost)
    assert told is ("iVBORw0KGgo=" not in str(translated.result))
