"""Whole requests in another provider's words: what is said there is what was said here."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from conversations import PICTURE, objects, values
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, READERS, translate_messages, translate_request

NOW = sp.Tool("now", "The time.", {"type": "object", "properties": {"zone": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"time": {"type": "string"}}}
OPENAI: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What does the clock say?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
            ],
        },
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "now", "arguments": '{"zone":"CET"}'}},
                {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "one"},
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "user", "content": "Sure?"},
    ],
    "tools": ADAPTERS["openai"].format_tools([NOW]),
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_completion_tokens": 50,
    "stop": "END",
    "temperature": 0.5,
    "seed": 7,
    "stream": True,
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
}


def test_a_request_of_openai_in_anthropics_words() -> None:
    written = translate_request(OPENAI, "openai", "anthropic")
    assert written.result == {
        "model": "m",
        "max_tokens": 50,
        "system": "Be brief.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What does the clock say?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "now", "input": {"zone": "CET"}},
                    {"type": "tool_use", "id": "c2", "name": "now", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "noon"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "one"},
                ],
            },
            {"role": "user", "content": "Sure?"},
        ],
        "tools": ADAPTERS["anthropic"].format_tools([NOW]),
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "stream": True,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    assert {loss.keyword for loss in written.lost} == {"seed", "temperature", "additionalProperties"}


def test_a_request_of_openai_in_ollamas_words() -> None:
    written = translate_request(OPENAI, "openai", "ollama")
    assert written.result["options"] == {"num_predict": 50, "stop": ["END"], "temperature": 0.5, "seed": 7}
    assert written.result["format"] == SCHEMA
    assert written.result["stream"] is True
    assert [message["role"] for message in written.result["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert written.result["messages"][1]["images"] == [PICTURE]
    assert {loss.keyword for loss in written.lost} == {"tool_choice", "parallel_tool_calls"}


UNSAID = {"openai-responses": {"stop"}, "gemini": {"model", "stream"}}
"""What a provider's body does not say; Gemini's path does."""


@pytest.mark.parametrize(("there", "back"), list(permutations(READERS, 2)))
def test_a_request_comes_back_as_it_was(there: str, back: str) -> None:
    kept = {key: value for key, value in OPENAI.items() if key not in ("seed", "tool_choice", "parallel_tool_calls")}
    first = translate_request(kept, "openai", there).result
    second = translate_request(first, there, back).result
    third = translate_request(second, back, "openai").result
    expected = translate_request(translate_request(kept, "openai", "ollama").result, "ollama", "openai").result
    if "ollama" not in (there, back):  # whose images and options say the same in other words
        assert third["response_format"] == OPENAI["response_format"]
    assert third["messages"] == expected["messages"]
    assert third["tools"] == OPENAI["tools"]
    settings = {"model", "max_tokens", "stop", "temperature", "stream", "response_format"}
    settings -= UNSAID.get(there, set()) | UNSAID.get(back, set())
    assert {name: third[name] for name in settings} == {name: expected[name] for name in settings}


@pytest.mark.parametrize(
    ("openai", "anthropic"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "now"}}, {"type": "tool", "name": "now"}),
    ],
)
def test_the_choice_of_tools_is_the_same_in_both_words(openai: Any, anthropic: Any) -> None:
    request = {"model": "m", "messages": [], "tools": OPENAI["tools"], "tool_choice": openai, "max_tokens": 9}
    there = translate_request(request, "openai", "anthropic").result
    assert there["tool_choice"] == anthropic
    assert translate_request(there, "anthropic", "openai").result["tool_choice"] == openai


def test_ollama_is_sent_no_tools_where_none_may_be_called() -> None:
    request = {"model": "m", "messages": [], "tools": OPENAI["tools"], "tool_choice": "none"}
    assert "tools" not in translate_request(request, "openai", "ollama").result


def test_a_request_for_ollama_is_one_for_a_stream_unless_it_says_not() -> None:
    request = {"model": "m", "messages": []}
    assert translate_request(request, "ollama", "openai").result["stream"] is True
    assert "stream" not in translate_request({**request, "stream": False}, "ollama", "openai").result
    assert translate_request(request, "openai", "ollama").result["stream"] is False


def test_what_anthropic_requires_and_was_not_said_is_told() -> None:
    written = translate_request({"model": "m", "messages": [], "temperature": 1.5}, "openai", "anthropic")
    assert written.result["max_tokens"] == 4096
    assert written.result["temperature"] == 1
    assert {loss.keyword for loss in written.lost} == {"max_tokens", "temperature", "messages"}


def test_a_system_message_in_the_middle_moves_to_the_front_of_anthropics() -> None:
    messages = [{"role": "user", "content": "Hi."}, {"role": "system", "content": "Be brief."}]
    written = translate_request({"model": "m", "messages": messages, "max_tokens": 9}, "openai", "anthropic")
    assert written.result["system"] == "Be brief."
    assert [loss.place for loss in written.lost] == ["messages[1]"]


def test_settings_without_a_counterpart_are_told() -> None:
    request = {"model": "m", "messages": [], "logprobs": True, "user": "u", "n": None, "reasoning_effort": "high"}
    written = translate_request(request, "openai", "anthropic")
    assert {"logprobs", "user", "thinking"} <= {loss.keyword for loss in written.lost}
    system = [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]
    cached = {"model": "m", "max_tokens": 9, "messages": [], "system": system}
    assert [loss.keyword for loss in translate_request(cached, "anthropic", "openai").lost] == ["cache_control"]


def test_thought_goes_where_it_has_a_place_and_is_told_where_not() -> None:
    turn = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    assert translate_messages([turn], "deepseek", "ollama").result[0]["thinking"] == "Hm."
    for target in ("openai", "anthropic", "openai-responses"):
        assert [loss.keyword for loss in translate_messages([turn], "deepseek", target).lost] == ["thought"]


def test_a_turn_of_which_nothing_is_left_is_no_message() -> None:
    turn = {"role": "assistant", "content": None, "reasoning_content": "Hm."}
    assert translate_messages([turn], "deepseek", "anthropic").result == []


def test_arguments_that_are_no_object_are_told() -> None:
    def turn(arguments: str) -> dict[str, Any]:
        call = {"id": "c", "type": "function", "function": {"name": "now", "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    for arguments in ('{"zone": ', "noon", "[1]"):
        written = translate_messages([turn(arguments)], "openai", "anthropic")
        assert written.result[0]["content"][0]["input"] == {}
        assert [(loss.place, loss.keyword) for loss in written.lost] == [("messages[0]", "arguments")]
    for arguments in ("{}", "", "null", '{"zone": "CET"}'):
        assert not translate_messages([turn(arguments)], "openai", "anthropic").lost


def test_pictures_of_results_move_behind_them_where_tools_send_none_and_that_is_told() -> None:
    shown = sp.ToolResult("c", "draw", [{"type": "image", "data": PICTURE, "mimeType": "image/png"}])
    written = translate_messages(ADAPTERS["anthropic"].format_results([shown]), "anthropic", "openai")
    assert [message["role"] for message in written.result] == ["tool", "user"]
    assert [loss.keyword for loss in written.lost] == ["image"]


def test_a_request_to_its_own_provider_stays_as_it_is() -> None:
    for provider in READERS:
        assert translate_request(OPENAI, provider, provider).result == OPENAI


def test_requests_of_an_unknown_provider_raise_and_list_the_known() -> None:
    known = "openai, openai-responses, anthropic"
    with pytest.raises(ValueError, match=rf"requests of 'klingon' are not known; .*known are: {known}"):
        translate_request(OPENAI, "openai", "klingon")


KEYS = (
    *("model", "messages", "system", "tools", "tool_choice", "stop", "stop_sequences", "options", "format", "think"),
    *("input", "instructions", "text", "reasoning", "contents", "systemInstruction", "generationConfig", "toolConfig"),
    *("response_format", "output_config", "thinking", "p", "k", "temperature", "metadata"),
)
CONFIGS = (
    "responseSchema",
    "responseJsonSchema",
    "thinkingConfig",
    "functionCallingConfig",
    "topP",
    "json_schema",
    "format",
)
ROLES = st.sampled_from(["system", "user", "assistant", "tool", "model"])
FIELDS = st.sampled_from(
    ["content", "tool_calls", "reasoning_details", "images", "type", "parts", "output", "tool_plan"]
)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "image_url", "function"])},
    optional=dict.fromkeys(("text", "input", "content", "source", "function", "image_url", "citations"), values),
)
MESSAGES = st.builds(
    lambda role, fields: {"role": role, **fields}, ROLES, st.dictionaries(FIELDS, values | st.lists(BLOCKS, max_size=3))
)


@usual_examples(60)
@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        values
        | st.lists(MESSAGES | objects | BLOCKS, max_size=3)
        | st.dictionaries(st.sampled_from(CONFIGS), values | objects),
    )
)
def test_no_request_raises(request: dict[str, Any]) -> None:
    for source, target in permutations(READERS, 2):
        translate_request(request, source, target)


@usual_examples(60)
@given(st.lists(MESSAGES | values, max_size=3))
def test_no_message_raises(messages: list[Any]) -> None:
    for adapter in ADAPTERS.values():
        turns = adapter.read_messages(messages)
        for other in ADAPTERS.values():
            other.write_messages(turns, [])


@pytest.mark.parametrize(
    ("source", "choice"), [("openai", {"type": "allowed_tools", "allowed_tools": {}}), ("anthropic", {"type": "new"})]
)
def test_a_choice_of_tools_that_nobody_else_has_is_told(source: str, choice: Any) -> None:
    translated = translate_request({"model": "m", "messages": [], "tool_choice": choice}, source, "ollama")
    assert "tool_choice" in [loss.keyword for loss in translated.lost]


def _called(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "now", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "cohere", "bedrock", "mistral"])
def test_a_call_without_its_result_and_a_result_without_its_call_are_told(target: str) -> None:
    asked = {"role": "user", "content": "When?"}
    answered = {"role": "tool", "tool_call_id": "a", "content": "noon"}
    for messages, places in (
        ([asked, _called("a"), answered], []),
        ([asked, _called("b"), _called("a"), answered, {**answered, "tool_call_id": "b"}], []),
        ([asked, _called("a", "b"), answered, asked], [("messages[1]", "call")]),
        ([asked, _called("a"), asked, answered], [("messages[1]", "call"), ("messages[3]", "result")]),
        ([asked, answered], [("messages[1]", "result")]),
        ([asked, _called("a")], [("messages[1]", "call")]),
    ):
        lost = translate_request({"model": "m", "messages": messages}, "openai", target).lost
        told = [loss for loss in lost if loss.keyword in ("call", "result")]
        assert sorted((loss.place, loss.keyword) for loss in told) == places
        assert all(loss.warning for loss in told)
    assert translate_request({"model": "m", "messages": [asked, _called("a")]}, "openai", "ollama").lost == []


@pytest.mark.parametrize("target", ["openai", "openai-responses", "gemini", "cohere", "bedrock", "mistral"])
def test_a_tool_that_is_not_sent_is_not_one_that_must_be_called(target: str) -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    tools = [*ADAPTERS["anthropic"].format_tools([NOW]), search]
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "When?"}], "tools": tools}
    choice = {"type": "tool", "name": "web_search", "disable_parallel_tool_use": True}
    written = translate_request({**asked, "tool_choice": choice}, "anthropic", target)
    assert "web_search" not in str(written.result)
    assert ("tool_choice", "dropped: 'web_search' is not among the tools") in [
        (loss.keyword, loss.outcome) for loss in written.lost
    ]
    serial = False if target in ("openai", "openai-responses", "mistral") else None
    assert written.result.get("parallel_tool_calls") == serial
    assert not written.result.get("tool_choice")


def test_bedrock_is_declared_the_tools_of_a_conversation_that_declares_none() -> None:
    history = [
        {"role": "user", "content": "When?"},
        _called("a"),
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ]
    written = translate_request({"model": "m", "messages": history}, "openai", "bedrock")
    declared = ADAPTERS["bedrock"].read_tools(written.result["toolConfig"]["tools"])
    assert [(tool.name, tool.parameters) for tool in declared] == [("now", {"type": "object", "properties": {}})]
    assert [(loss.keyword, loss.warning) for loss in written.lost] == [("tools", True)]
    results = translate_request({"model": "m", "messages": history[::2]}, "openai", "bedrock").result
    assert len(results["toolConfig"]["tools"]) == 1
    nameless = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "", "arguments": "{}"}}]}
    assert "toolConfig" in translate_request({"model": "m", "messages": [nameless]}, "openai", "bedrock").result
    assert "toolConfig" not in translate_request({"model": "m", "messages": history[:1]}, "openai", "bedrock").result
    with_tools = {"model": "m", "messages": history, "tools": ADAPTERS["openai"].format_tools([sp.Tool("other")])}
    (tool,) = translate_request(with_tools, "openai", "bedrock").result["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == "other"


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "models/gemini-2.0-flash", "gemini-3-pro", "gemini-flash-latest"])
def test_pictures_of_results_come_after_them_for_models_of_gemini_that_take_only_text_there(model: str) -> None:
    shown = [{"type": "text", "text": "a map"}, {"type": "image", "data": PICTURE, "mimeType": "image/png"}]
    calls = [sp.ToolCall("draw", {}, "a"), sp.ToolCall("now", {}, "b", index=1)]
    answer = sp.ParsedResponse(tool_calls=calls, finish_reason="STOP", ok=True)
    results = [sp.ToolResult("a", "draw", shown), sp.ToolResult("b", "now", error="no clock", index=1)]
    history = sp.History().with_prompt("Draw.").with_round(answer, results).with_prompt("And?")
    request = {"model": model, "messages": history.messages("openai-responses")}
    asked = {**request, "input": request["messages"]}
    picture = {"inlineData": {"mimeType": "image/png", "data": PICTURE}}
    for contents in (
        history.messages("gemini", model),
        sp.Request(history).body("gemini", model)["contents"],
        translate_request(asked, "openai-responses", "gemini").result["contents"],
    ):
        _, _, told, *after = contents
        first, second = (part["functionResponse"] for part in told["parts"] if "functionResponse" in part)
        assert second["response"] == {"error": "no clock"}
        if model in ("gemini-3-pro", "gemini-flash-latest"):
            assert (first["response"], first["parts"]) == ({"output": "a map"}, [picture])
        else:
            assert (first["response"], "parts" in first) == ({"output": "a map[image: image/png]"}, False)
            assert len(told["parts"]) == 2
            assert after[0] == {"role": "model", "parts": [{"text": "(no answer)"}]}
            assert after[1]["parts"][0] == picture
    lost = [(loss.place, loss.keyword) for loss in translate_request(asked, "openai-responses", "gemini").lost]
    assert (("tool", "image") in lost) == (model not in ("gemini-3-pro", "gemini-flash-latest"))


@pytest.mark.parametrize(("model", "is_told"), [("gemini-2.5-pro", True), ("gemini-3-pro", False)])
def test_tools_with_a_form_of_the_answer_are_told_of_older_models_of_gemini(model: str, is_told: bool) -> None:
    told = ("response_format", True)
    lost = translate_request({**OPENAI, "model": model}, "openai", "gemini").lost
    assert (told in [(loss.keyword, loss.warning) for loss in lost]) == is_told
    alone = {**OPENAI, "model": model, "tools": None, "tool_choice": None}
    assert told not in [(loss.keyword, loss.warning) for loss in translate_request(alone, "openai", "gemini").lost]
