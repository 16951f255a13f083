"""A request writes a body that each provider takes, whatever stands in the history, and tells what it could not say."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from sdk_types import assert_taken, validator_of

import streamparse as sp
from streamparse.providers.adapters import REQUEST_WRITERS
from streamparse.providers.names import PROVIDERS

pytest.importorskip("pydantic")

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4)
CALL = sp.ToolCall("now", {"zone": "CET"}, "call_123456789", raw='{"zone": "CET"}')
ANSWER = sp.ParsedResponse(content="Let me look.", tool_calls=[CALL], finish_reason="tool_calls", ok=True)
HISTORY = (
    sp.History(system="Be brief.")
    .with_prompt(["Where and when is this?", sp.Image(PNG)])
    .with_round(ANSWER, [sp.ToolResult("call_123456789", "now", "noon")])
    .with_prompt("Sure?")
)


@sp.tool(effect="read")
def now(zone: str) -> str:
    """The time in a zone."""
    return zone


def request(**settings: Any) -> sp.Request:
    return sp.Request(HISTORY, [now], settings)


@pytest.mark.parametrize("name", [key for name, row in PROVIDERS.items() for key in (name, *row.aliases)])
def test_every_name_of_a_provider_is_asked_and_its_answer_read_by_its_wire(name: str) -> None:
    asked = request()
    body = asked.body(name, "some-model")
    row = next(row for key, row in PROVIDERS.items() if name in (key, *row.aliases))
    assert (asked.provider, asked.wire, asked.model) == (row.adapter, row.wire, "some-model")
    sent = json.dumps(body)
    for said in ("Be brief.", "Where and when is this?", "Let me look.", "CET", "noon", "Sure?", "The time in a zone."):
        assert said in sent
    assert base64.b64encode(PNG).decode() in sent


def test_an_unknown_provider_is_refused_with_the_known_names() -> None:
    with pytest.raises(ValueError, match=r"requests of 'acme' are not known; .*known are: openai, .*bedrock.*groq"):
        request().body("acme", "m")


@pytest.mark.parametrize("provider", ["openai", "deepseek", "openrouter", "mistral"])
def test_a_body_is_what_openais_sdk_takes(provider: str) -> None:
    chat = pytest.importorskip("openai.types.chat")
    creation = pytest.importorskip("openai.types.chat.completion_create_params")
    body = request().body(provider, "m", max_tokens=9, temperature=0.5, tool_choice="now", stop="END")
    roles = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
    for message in body["messages"]:
        message.pop("reasoning_content", None)  # DeepSeek's own
        assert_taken(getattr(chat, f"ChatCompletion{roles[message['role']]}MessageParam"), message)
    assert_taken(creation.CompletionCreateParamsStreaming, {**body, "messages": []})
    assert body["stream"] is True
    assert body.get("stream_options") == (None if provider == "mistral" else {"include_usage": True})


def test_a_body_is_what_openais_responses_take() -> None:
    responses = pytest.importorskip("openai.types.responses")
    creation = pytest.importorskip("openai.types.responses.response_create_params")
    body = request().body("openai-responses", "gpt-5", max_tokens=9, tool_choice="required", parallel_tool_calls=False)
    for item in body["input"]:
        validator_of(responses.ResponseInputItemParam).validate_python(item)
    assert_taken(creation.ResponseCreateParamsStreaming, {**body, "input": []})
    assert (body["stream"], body["store"], body["parallel_tool_calls"]) == (True, False, False)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "cohere", "bedrock"])
def test_a_name_that_is_declared_is_the_same_in_the_history_and_in_the_definition(provider: str) -> None:
    calls = [
        sp.ToolCall(name, {}, f"call_12345678{number}", index=number) for number, name in enumerate(("fs.read", "no.t"))
    ]
    answer = sp.ParsedResponse(tool_calls=calls, finish_reason="tool_calls", ok=True)
    history = sp.History().with_prompt("Look.").with_round(answer)
    declared = sp.Tool("fs.read", parameters={"type": "object", "properties": {}})
    sent = json.dumps(sp.Request(history, [declared]).body(provider, "m"))
    assert sent.count('"name": "fs.read"') == 2
    assert '"name": "no_t"' in sent  # the model made it up
    assert "no.t" not in sent


@pytest.mark.parametrize(("model", "asked"), [("gpt-5-mini", True), ("o3", True), ("gpt-4o", False), ("qwen3", False)])
def test_responses_are_asked_for_the_thought_that_must_be_sent_back(model: str, asked: bool) -> None:
    body = request().body("openai-responses", model)
    assert body.get("include") == (["reasoning.encrypted_content"] if asked else None)


def test_a_body_is_what_anthropics_sdk_takes() -> None:
    messages = pytest.importorskip("anthropic.types")
    creation = pytest.importorskip("anthropic.types.message_create_params")
    asked = request(max_tokens=9)
    body = asked.body("anthropic", "claude", tool_choice="now", stop=["END"])
    validator_of(list[messages.MessageParam]).validate_python(body["messages"])
    assert_taken(creation.MessageCreateParamsStreaming, {**body, "messages": []})
    assert body["max_tokens"] == 9
    assert asked.lost == []


def test_a_body_is_what_gemini_takes_and_names_no_model() -> None:
    genai = pytest.importorskip("google.genai.types")
    body = request().body("gemini", "gemini-3-pro", max_tokens=9, temperature=0.5, tool_choice="now")
    kinds = {
        "systemInstruction": genai.Content,
        "contents": list[genai.Content],
        "tools": list[genai.Tool],
        "toolConfig": genai.ToolConfig,
        "generationConfig": genai.GenerationConfig,
    }
    assert body.keys() == kinds.keys()
    for name, kind in kinds.items():
        assert_taken(kind, body[name])


def test_a_body_is_what_ollama_takes() -> None:
    kind = pytest.importorskip("ollama._types").ChatRequest
    body = request(temperature=0.5).body("ollama", "qwen3", max_tokens=9)
    images = [message.get("images") for message in body["messages"]]
    kind.model_validate({**body, "messages": [{**each, "images": None} for each in body["messages"]]})
    assert [each for each in images if each] == [[base64.b64encode(PNG).decode()]]
    assert (body["stream"], body["options"]) == (True, {"num_predict": 9, "temperature": 0.5})


def test_a_body_is_what_cohere_documents() -> None:
    body = request().body("cohere", "command-a", tool_choice="required", top_p=0.5)
    assert body.keys() == {"model", "messages", "stream", "tools", "tool_choice", "p"}
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert body["messages"][1]["content"][1]["type"] == "image_url"


def test_a_body_is_what_converse_documents() -> None:
    asked = request(top_k=5, parallel_tool_calls=False)
    body = asked.body("bedrock", "amazon.nova-pro", max_tokens=9, temperature=1.5, stop="END", tool_choice="required")
    assert body.keys() == {"messages", "system", "inferenceConfig", "toolConfig"}
    assert body["inferenceConfig"] == {"maxTokens": 9, "temperature": 1, "stopSequences": ["END"]}
    assert body["toolConfig"]["toolChoice"] == {"any": {}}
    assert body["toolConfig"]["tools"][0]["toolSpec"]["name"] == "now"
    picture = {"image": {"format": "png", "source": {"bytes": base64.b64encode(PNG).decode()}}}
    assert body["messages"][0]["content"] == [{"text": "Where and when is this?"}, picture]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert {loss.keyword for loss in asked.lost} == {"top_k", "temperature", "parallel_tool_calls"}


@pytest.mark.parametrize(
    ("settings", "written"),
    [
        ({"tool_choice": "now"}, {"tool": {"name": "now"}}),
        ({"tool_choice": "auto"}, {"auto": {}}),
        ({"tool_choice": "none"}, None),
        ({}, None),
    ],
)
def test_converse_is_told_which_tool_to_call(settings: dict[str, Any], written: Any) -> None:
    asked = request(**settings)
    body = asked.body("bedrock", "m", schema={}, think=True)
    assert body["toolConfig"].get("toolChoice") == written
    untold = {"tool_choice"} if settings.get("tool_choice") == "none" else set()
    assert {loss.keyword for loss in asked.lost} == {"response_format", "thinking"} | untold


def test_a_conversation_without_tools_declares_none_to_converse() -> None:
    assert "toolConfig" not in sp.Request(sp.History().with_prompt("Hi.")).body("bedrock", "m")


def test_settings_of_a_body_go_over_those_of_the_request_and_none_takes_one_back() -> None:
    asked = request(temperature=0.1, max_tokens=5)
    body = asked.body("openai", "m", temperature=0.9, max_tokens=None)
    assert (body["temperature"], "max_tokens" in body) == (0.9, False)
    assert asked.body("openai", "m")["temperature"] == 0.1


def test_an_extra_body_is_laid_over_what_is_written() -> None:
    asked = request(extra_body={"options": {"num_ctx": 9}, "keep_alive": "5m"})
    body = asked.body("ollama", "m", max_tokens=3)
    assert body["options"] == {"num_predict": 3, "num_ctx": 9}
    assert body["keep_alive"] == "5m"


def test_a_setting_that_is_none_is_refused_wherever_it_is_said() -> None:
    with pytest.raises(TypeError, match=r"\['temprature'\]; did you mean 'temperature'\? .*extra_body"):
        request(temprature=1)
    with pytest.raises(TypeError, match="unknown settings"):
        request().body("openai", "m", max_token=1)
    with pytest.raises(ValueError, match=r"tool_choice 'later' is no tool of this request; .*known are: auto, none"):
        request().body("openai", "m", tool_choice="later")


def test_what_a_provider_cannot_be_told_is_lost_and_said_so_for_the_last_body_alone() -> None:
    asked = request(seed=7)
    asked.body("anthropic", "claude")
    assert {loss.keyword for loss in asked.lost if not loss.warning} == {"seed", "max_tokens"}
    asked.body("openai", "m")
    assert asked.lost == []


def test_a_request_that_is_no_stream_says_so() -> None:
    body = request().body("openai", "m", stream=False)
    assert "stream" not in body
    assert "stream_options" not in body
    assert request().body("ollama", "m", stream=False)["stream"] is False


@pytest.mark.parametrize("provider", REQUEST_WRITERS)
def test_tools_in_the_prompt_leave_the_request_and_are_read_from_the_text(provider: str) -> None:
    asked = request(tool_choice="required")
    body = asked.body(provider, "m", tools_in="prompt", dialect="hermes", instructions="Paths are absolute.")
    sent = json.dumps(body)
    assert not {"tools", "toolConfig", "tool_choice"} & body.keys()
    assert "Paths are absolute." in sent
    assert sent.count("<tools>") == 1
    assert "<tool_call>" in sent.split("<tools>")[1]
    assert '"toolUse' not in sent
    assert asked.dialects == ("hermes", "auto")
    assert ("request", "tool_choice") in {(loss.place, loss.keyword) for loss in asked.lost}


def test_a_dialect_without_a_prompt_cannot_be_taught() -> None:
    with pytest.raises(ValueError, match=r"no prompt for the dialect 'nobodys'; .*known are: .*hermes"):
        request().body("ollama", "m", tools_in="prompt", dialect="nobodys")


def test_how_an_answer_is_read_stays_as_the_model_said_it() -> None:
    asked = request()
    asked.read_as("ollama-generate", dialects=("hermes",), reasoning="open", provider="vllm")
    asked.body("anthropic", "claude")
    assert (asked.wire, asked.dialects, asked.reasoning) == ("ollama-generate", ("hermes",), "open")
    other = request()
    other.read_as("openai-chat", provider="vllm")
    assert other.provider == "openai"


def test_no_wire_is_known_before_anybody_said_one() -> None:
    asked = sp.Request(HISTORY, number=3, run_id="r")
    assert (asked.wire, asked.dialects, asked.reasoning, asked.provider) == ("auto", "auto", "auto", "")
    assert (asked.number, asked.run_id, len(asked.tools)) == (3, "r", 0)
