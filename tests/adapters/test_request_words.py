"""What a request is in the words of OpenAI Responses, of Gemini and of Cohere, and what it is not."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PICTURE, parsed
from test_requests import NOW, OPENAI, SCHEMA

import streamparse as sp
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, READERS, REQUEST_WRITERS, translate_messages, translate_request

ADDRESS = f"data:image/png;base64,{PICTURE}"
TARGETS = ("openai-responses", "gemini", "cohere")
HI = [{"role": "user", "content": "Hi."}]


def _told(lost: list[Loss], *, warnings: bool = False) -> set[str]:
    return {loss.keyword for loss in lost if loss.warning == warnings}


def _written(target: str, **settings: Any) -> tuple[dict[str, Any], set[str]]:
    """A small request of OpenAI's in another's words, and what it lost."""
    translated = translate_request({"model": "m", "messages": HI, **settings}, "openai", target)
    return translated.result, _told(translated.lost)


def test_a_request_of_openai_in_the_words_of_responses() -> None:
    written = translate_request(OPENAI, "openai", "openai-responses")
    assert written.result == {
        "model": "m",
        "input": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What does the clock say?"},
                    {"type": "input_image", "image_url": ADDRESS, "detail": "auto"},
                ],
            },
            {"type": "message", "role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "c1", "name": "now", "arguments": '{"zone":"CET"}'},
            {"type": "function_call", "call_id": "c2", "name": "now", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "noon"},
            {"type": "function_call_output", "call_id": "c2", "output": "one"},
            {"role": "user", "content": "Sure?"},
        ],
        "tools": ADAPTERS["openai-responses"].format_tools([NOW]),
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_output_tokens": 50,
        "temperature": 0.5,
        "stream": True,
        "store": False,
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": False}},
    }
    assert _told(written.lost) == {"stop", "seed"}


def test_a_request_of_openai_in_geminis_words() -> None:
    written = translate_request(OPENAI, "openai", "gemini")
    assert written.result == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "What does the clock say?"},
                    {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {"functionCall": {"id": "c1", "name": "now", "args": {"zone": "CET"}}},
                    {"functionCall": {"id": "c2", "name": "now", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "now", "response": {"output": "noon"}}},
                    {"functionResponse": {"id": "c2", "name": "now", "response": {"output": "one"}}},
                ],
            },
            {"role": "user", "parts": [{"text": "Sure?"}]},
        ],
        "tools": ADAPTERS["gemini"].format_tools([NOW]),
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {
            "temperature": 0.5,
            "seed": 7,
            "maxOutputTokens": 50,
            "stopSequences": ["END"],
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
    }
    assert _told(written.lost) == {"parallel_tool_calls"}


def test_a_request_of_openai_in_coheres_words() -> None:
    written = translate_request(OPENAI, "openai", "cohere")
    messages = written.result.pop("messages")
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert messages[3]["content"] == [{"type": "document", "document": {"data": {"output": "noon"}}}]
    assert written.result == {
        "model": "m",
        "stream": True,
        "tools": ADAPTERS["cohere"].format_tools([NOW]),
        "tool_choice": "REQUIRED",
        "max_tokens": 50,
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "seed": 7,
        "response_format": {"type": "json_object", "json_schema": SCHEMA},
    }
    assert _told(written.lost) == {"parallel_tool_calls"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_the_choice_of_tools_comes_back_from_each(target: str, choice: str) -> None:
    written, _ = _written(target, tools=OPENAI["tools"], tool_choice=choice)
    back = translate_request(written, target, "openai").result
    assert back.get("tool_choice", "auto") == choice
    assert back["tools"] == OPENAI["tools"]


@pytest.mark.parametrize("target", TARGETS)
def test_the_one_tool_that_must_be_called_can_be_named_to_each(target: str) -> None:
    tools = [*OPENAI["tools"], {"type": "function", "function": {"name": "later", "parameters": {"type": "object"}}}]
    named = {"type": "function", "function": {"name": "now"}}
    written, lost = _written(target, tools=tools, tool_choice=named)
    said = {
        "openai-responses": {"type": "function", "name": "now"},
        "gemini": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["now"]}},
        "cohere": "REQUIRED",
    }
    assert written.get("tool_choice", written.get("toolConfig")) == said[target]
    assert lost == set()
    if target == "cohere":
        assert [tool["function"]["name"] for tool in written["tools"]] == ["now"]
    else:
        assert translate_request(written, target, "openai").result["tool_choice"] == named


def test_the_two_ways_to_ask_openai_share_the_settings_that_nobody_else_has() -> None:
    account = {"metadata": {"run": "1"}, "user": "u", "service_tier": "flex", "store": True, "prompt_cache_key": "k"}
    closed = {**SCHEMA, "required": ["time"], "additionalProperties": False}
    strict = {"type": "json_schema", "json_schema": {"name": "answer", "schema": closed, "strict": True}}
    settings = {**account, "reasoning_effort": "high", "response_format": strict}
    written, lost = _written("openai-responses", **settings)
    assert lost == set()
    assert written["reasoning"] == {"effort": "high"}
    assert written.items() >= account.items()
    back = translate_request(written, "openai-responses", "openai")
    assert back.result == {"model": "m", "messages": HI, **settings}
    assert back.lost == []
    assert _written("gemini", **account)[1] == account.keys()


def test_whether_a_model_thinks_is_said_where_it_can_be() -> None:
    def config(effort: str) -> Any:
        return _written("gemini", reasoning_effort=effort)[0]["generationConfig"]["thinkingConfig"]

    assert config("high") == {"includeThoughts": True}
    assert config("none") == {"thinkingBudget": 0}
    assert _written("cohere", reasoning_effort="high")[0]["thinking"] == {"type": "enabled"}
    assert _written("cohere", reasoning_effort="none") == (
        {"model": "m", "messages": HI, "stream": False, "thinking": {"type": "disabled"}},
        set(),
    )
    for target in ("gemini", "cohere", "ollama"):
        assert _written(target, reasoning_effort="high")[1] == {"reasoning_effort"}
    wished = {"model": "m", "messages": HI, "max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 9}}
    assert _told(translate_request(wished, "anthropic", "openai-responses").lost) == {"thinking", "budget_tokens"}
    leveled = translate_request({"model": "m", "messages": HI, "think": "high"}, "ollama", "openai")
    assert (leveled.result["reasoning_effort"], leveled.lost) == ("high", [])


@pytest.mark.parametrize(("config", "thinks"), [({"thinkingBudget": 0}, False), ({"includeThoughts": True}, True)])
def test_whether_gemini_is_to_think_is_said_to_others(config: dict[str, Any], thinks: bool) -> None:
    asked = {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"thinkingConfig": config}}
    translated = translate_request(asked, "gemini", "ollama")
    assert (translated.result["think"], translated.lost) == (thinks, [])


@pytest.mark.parametrize(
    ("source", "settings", "told"),
    [
        ("openai", {"response_format": {"type": "json_schema", "json_schema": {"description": "d"}}}, "description"),
        ("openai-responses", {"text": {"format": {"type": "json_object", "description": "d"}}}, "description"),
        ("openai-responses", {"reasoning": {"summary": "auto"}}, "summary"),
        ("anthropic", {"output_config": {"effort": "high"}}, "effort"),
        ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}}, "thinkingLevel"),
        (
            "gemini",
            {"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["a", "b"]}}},
            "allowedFunctionNames",
        ),
        ("cohere", {"thinking": {"type": "enabled", "token_budget": 9}}, "token_budget"),
        ("ollama", {"options": {"num_ctx": 9}}, "num_ctx"),
    ],
)
def test_what_stands_deeper_in_a_request_is_told_too(source: str, settings: dict[str, Any], told: str) -> None:
    for target in REQUEST_WRITERS:
        if target != source:
            assert told in _told(translate_request({"model": "m", **settings}, source, target).lost)


def test_sampling_that_cohere_refuses_is_brought_within_its_bounds_and_that_is_told() -> None:
    written, lost = _written("cohere", top_p=1, presence_penalty=-1, frequency_penalty=0.5, temperature=1.5)
    sampling = {key: written[key] for key in written.keys() - {"model", "messages", "stream"}}
    assert sampling == {"p": 0.99, "presence_penalty": 0, "frequency_penalty": 0.5, "temperature": 1.5}
    assert lost == {"top_p", "presence_penalty"}


@pytest.mark.parametrize("target", ["anthropic", "ollama", *TARGETS])
def test_settings_that_say_what_is_so_anyway_are_not_lost(target: str) -> None:
    defaults = {"n": 1, "logprobs": False, "store": False, "presence_penalty": 0, "frequency_penalty": 0.0}
    streaming = {"stream": True, "stream_options": {"include_usage": True}}
    tools = {"tools": OPENAI["tools"], "tool_choice": "auto", "parallel_tool_calls": True}
    _, lost = _written(target, max_tokens=9, user=None, **defaults, **streaming, **tools)
    assert lost == set()
    _, lost = _written(target, max_tokens=9, n=2, logprobs=True, stream_options={"include_obfuscation": True})
    assert lost == {"n", "logprobs", "stream_options"}


def test_what_is_sent_and_may_be_refused_is_a_warning_and_no_loss() -> None:
    translated = translate_request({"model": "m", "messages": HI, "max_tokens": 9, "top_p": 1}, "openai", "anthropic")
    assert translated.result["top_p"] == 1
    assert (_told(translated.lost), _told(translated.lost, warnings=True)) == (set(), {"top_p"})


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses", "cohere", "ollama"])
def test_the_name_of_a_speaker_is_told_where_it_has_no_place(target: str) -> None:
    named = {"role": "user", "name": "ann", "content": "Hi."}
    system = {"role": "system", "name": "host", "content": "Be brief."}
    _, lost = _written(target, messages=[named], max_tokens=9)
    assert lost == {"name"}
    _, lost = _written(target, messages=[system, *HI], max_tokens=9)
    assert lost == {"name"}


def test_the_name_of_a_speaker_goes_on_where_it_has_a_place() -> None:
    messages = [
        {"role": "user", "name": "ann", "content": "Hi."},
        {"role": "assistant", "content": "Ho.", "name": "bob"},
    ]
    written = translate_messages(messages, "openai", "deepseek")
    assert (written.result, written.lost) == (messages, [])
    assert _told(translate_messages(messages, "openai", "mistral").lost) == {"name"}


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
def test_how_closely_to_look_at_a_picture_is_told_where_it_has_no_place(target: str) -> None:
    def lost(detail: str) -> set[str]:
        picture = {"type": "image_url", "image_url": {"url": ADDRESS, "detail": detail}}
        return _written(target, messages=[{"role": "user", "content": [picture]}], max_tokens=9)[1]

    assert lost("low") == {"detail"}
    assert lost("auto") == set()


@pytest.mark.parametrize("target", ["openai-responses", "cohere", "deepseek", "mistral"])
def test_how_closely_to_look_at_a_picture_goes_on_where_it_has_a_place(target: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": ADDRESS, "detail": "low"}}
    messages = [{"role": "user", "content": [picture]}]
    there = translate_messages(messages, "openai", target)
    assert there.lost == []
    assert translate_messages(there.result, target, "openai").result == messages


def test_sound_and_files_are_told_where_they_have_no_place() -> None:
    blocks = [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}, {"type": "file", "file": {}}]
    messages = [{"role": "user", "content": [{"type": "text", "text": "Hi."}, *blocks]}]
    assert translate_messages(messages, "openai", "mistral").result == messages
    for target in TARGETS:
        assert _written(target, messages=messages)[1] == {"input_audio", "file"}


CALLED: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "now", "arguments": "{}"}} for id in ("c1", "c2")
    ],
}
ANSWERED = [{"role": "tool", "tool_call_id": id, "content": "noon"} for id in ("c1", "c2")]
WORD = "skip_thought_signature_validator"


def _signatures(model: str, messages: list[Any]) -> list[str | None]:
    request = {"model": model, "messages": messages, "tools": OPENAI["tools"]}
    contents = translate_request(request, "openai", "gemini").result["contents"]
    parts = [part for content in contents for part in content["parts"]]
    return [part.get("thoughtSignature") for part in parts if "functionCall" in part]


def test_calls_whose_signature_is_lost_are_sent_to_gemini_with_the_word_for_that() -> None:
    present = [*HI, CALLED, *ANSWERED]
    assert _signatures("gemini-3-pro", present) == [WORD, None]
    assert _signatures("models/gemini-flash-latest", present) == [WORD, None]
    for model in ("gemini-2.5-flash", "gemini-1.5-pro", "gemma-3-27b-it"):
        assert _signatures(model, present) == [None, None]
    assert _signatures("gemini-3-pro", [*present, *HI]) == [None, None], "a turn that is over is not looked at"
    assert _signatures("gemini-3-pro", [*present, CALLED, *ANSWERED]) == [WORD, None, WORD, None]


def test_a_signature_beside_a_call_goes_back_as_it_came_and_to_gemini_in_its_own_words() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    first, second = CALLED["tool_calls"]
    turn = {**CALLED, "tool_calls": [{**first, "extra_content": extra}, second]}
    assert translate_messages([turn], "openai", "deepseek").result == [turn]
    assert _signatures("gemini-3-pro", [*HI, turn, *ANSWERED]) == ["c2ln", None]
    translated = translate_messages([turn], "openai", "anthropic")
    assert [loss.keyword for loss in translated.lost] == ["extra_content"]


def test_an_answer_of_googles_own_server_for_openais_words_goes_back_with_its_signatures() -> None:
    call = {**CALLED["tool_calls"][0], "index": 0, "extra_content": {"google": {"thought_signature": "c2ln"}}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    message = sp.as_message(parsed(chunk, wire="openai-chat"), "openai")
    assert message["tool_calls"] == [{key: value for key, value in call.items() if key != "index"}]


def test_a_gemini_body_in_the_spelling_of_googles_examples_is_read() -> None:
    body = {
        "model": "models/m",
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"text": "Hi."}]}],
        "tools": [{"function_declarations": [{"name": "now", "parameters": {"type": "OBJECT", "properties": {}}}]}],
        "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["now"]}},
        "generation_config": {
            "max_output_tokens": 9,
            "response_mime_type": "application/json",
            "response_schema": {"type": "OBJECT", "properties": {"time": {"type": "STRING"}}},
            "candidate_count": 1,
        },
        "safety_settings": [],
    }
    read = translate_request(body, "gemini", "openai")
    assert read.result["messages"] == [{"role": "system", "content": "Be brief."}, *HI]
    assert read.result["model"] == "m"
    assert read.result["max_tokens"] == 9
    assert read.result["tool_choice"] == {"type": "function", "function": {"name": "now"}}
    assert read.result["response_format"]["json_schema"]["schema"] == SCHEMA
    assert _told(read.lost) == {"safetySettings"}


def test_what_a_stored_response_held_is_told_to_be_lost() -> None:
    request = {"model": "m", "input": "Hi.", "instructions": "Be brief.", "previous_response_id": "resp_1"}
    read = translate_request(request, "openai-responses", "openai")
    assert read.result["messages"] == [{"role": "system", "content": "Be brief."}, *HI]
    assert _told(read.lost) == {"previous_response_id"}


@pytest.mark.parametrize("source", READERS)
def test_what_json_cannot_hold_is_told_and_never_raises(source: str) -> None:
    result = {"role": "tool", "tool_call_id": "c", "tool_name": "now", "content": [{"type": "text", "text": b"noon"}]}
    content = {"role": "user", "parts": [{"functionResponse": {"name": "now", "response": {"output": b"noon"}}}]}
    output = {"type": "function_call_output", "call_id": "c", "output": [{"type": "x", "x": b"noon"}]}
    request = {"model": "m", "messages": [result], "contents": [content], "input": [output]}
    for target in REQUEST_WRITERS:
        if target != source:
            translate_request(request, source, target)
    gemini = translate_request({"contents": [content]}, "gemini", "openai")
    assert [loss.place for loss in gemini.lost] != []
