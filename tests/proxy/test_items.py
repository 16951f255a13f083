"""What an answer holds besides text and calls of functions reaches the clients that have a place for it."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import openai
import pytest
from serving import Upstream, proxied

SSE = [("content-type", "text/event-stream")]
JSON = [("content-type", "application/json")]
PATHS = {"openai-chat": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama-chat": "/api/chat"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
OWN_TOOLS: Any = [{"name": "get_weather", "input_schema": SCHEMA}]
MESSAGES: Any = [{"role": "user", "content": "Weather?"}]
EACH_WAY = pytest.mark.parametrize("streamed", [True, False])
HIDDEN_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call>'
"""A call in the text makes sure that also a whole answer is written anew."""


def _chat(deltas: list[dict[str, Any]], *, streamed: bool, **beside: Any) -> Upstream:
    """A chat server's answer that ends with a call in its text; whole, it is the last delta."""
    last = {"content": HIDDEN_CALL}
    if not streamed:
        choice = {"index": 0, "message": {"role": "assistant", **deltas[-1], **last}, "finish_reason": "stop"}
        return Upstream([json.dumps({"choices": [choice], **beside}).encode()], headers=JSON)
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in [*deltas, last]]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **beside})
    return Upstream([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"])


def _openai_message(url: str, *, streamed: bool, **options: Any) -> Any:
    wanted: Any = {"model": "m", "messages": MESSAGES, "tools": TOOLS, **options}
    with openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client:
        if not streamed:
            return client.chat.completions.create(**wanted)
        with client.chat.completions.stream(**wanted) as chunks:
            for _ in chunks:
                pass
            return chunks.get_final_completion()


def _anthropic_message(url: str, *, streamed: bool) -> Any:
    wanted: Any = {"model": "m", "max_tokens": 9, "messages": MESSAGES, "tools": OWN_TOOLS}
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        if not streamed:
            return client.messages.create(**wanted)
        with client.messages.stream(**wanted) as events:
            return events.get_final_message()


# -- signed thoughts of those who pass them on ---------------------------------------------------------------

SIGNED = {"type": "thinking", "thinking": "Where is it?", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "aGlk"}
DETAILS = [
    {"type": "reasoning.text", "text": SIGNED["thinking"], "signature": "c2ln", "format": "anthropic-claude-v1"},
    {"type": "reasoning.encrypted", "data": "aGlk", "format": "anthropic-claude-v1"},
]


def _litellm(*, streamed: bool) -> Upstream:
    pieces = [{"reasoning_content": each, "thinking_blocks": [{**SIGNED, "thinking": each, "signature": ""}]}
              for each in ("Where ", "is it?")]  # fmt: skip
    ends: list[dict[str, Any]] = [{"thinking_blocks": [{**SIGNED, "thinking": ""}]}, {"thinking_blocks": [REDACTED]}]
    whole = {"reasoning_content": SIGNED["thinking"], "thinking_blocks": [SIGNED, REDACTED]}
    return _chat([*pieces, *ends] if streamed else [whole], streamed=streamed)


def _openrouter(*, streamed: bool) -> Upstream:
    whole = {"reasoning": SIGNED["thinking"], "reasoning_details": DETAILS}
    return _chat([whole], streamed=streamed)


@EACH_WAY
def test_the_signed_blocks_of_litellm_reach_openais_client_whole(streamed: bool) -> None:
    with proxied(_litellm(streamed=streamed)) as url:
        message = _openai_message(url, streamed=streamed).choices[0].message
    assert message.thinking_blocks == [SIGNED, REDACTED]
    assert message.reasoning_content == SIGNED["thinking"]
    assert [call.function.name for call in message.tool_calls] == ["get_weather"]


@EACH_WAY
@pytest.mark.parametrize("server", [_litellm, _openrouter])
def test_a_thought_that_anthropic_signed_reaches_its_client_signed_through_a_relay(server: Any, streamed: bool) -> None:
    with proxied(server(streamed=streamed)) as url:
        message = _anthropic_message(url, streamed=streamed)
    thoughts = [block.model_dump() for block in message.content if "thinking" in block.type]
    assert thoughts == [SIGNED, REDACTED]


@EACH_WAY
def test_the_sealed_thought_of_copilot_reaches_openais_client(streamed: bool) -> None:
    pieces = [{"reasoning_text": "Where "}, {"reasoning_text": "is it?"}, {"reasoning_opaque": "c2VhbA=="}]
    whole = {"reasoning_text": "Where is it?", "reasoning_opaque": "c2VhbA=="}
    with proxied(_chat(pieces if streamed else [whole], streamed=streamed)) as url:
        message = _openai_message(url, streamed=streamed).choices[0].message
    assert (message.reasoning_content, message.reasoning_opaque) == ("Where is it?", "c2VhbA==")


# -- items of chat servers -----------------------------------------------------------------------------------

IMAGES = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
CUSTOM = {"id": "call_text", "type": "custom", "custom": {"name": "shell", "input": "ls"}}


@EACH_WAY
def test_pictures_and_speech_of_an_answer_reach_openais_client(streamed: bool) -> None:
    pieces: list[dict[str, Any]] = [{"audio": {"id": "a1", "data": "AA"}}, {"audio": {"data": "BB"}, "images": IMAGES}]
    deltas = pieces if streamed else [{"audio": {"id": "a1", "data": "AABB"}, "images": IMAGES}]
    with proxied(_chat(deltas, streamed=streamed)) as url:
        message = _openai_message(url, streamed=streamed).choices[0].message
    audio = message.audio if isinstance(message.audio, dict) else message.audio.model_dump(exclude_unset=True)
    assert (audio["id"], audio["data"]) == ("a1", "AABB")
    assert message.images == IMAGES


def _calls_and_end(url: str, *, streamed: bool) -> tuple[list[dict[str, Any]], str | None]:
    """The pieces of the calls, and the finish reason; the client's sum of a stream knows no calls that take text."""
    wanted: Any = {"model": "m", "messages": MESSAGES, "tools": TOOLS}
    with openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client:
        if not streamed:
            choice = client.chat.completions.create(**wanted).choices[0]
            return [
                call.model_dump(exclude_none=True) for call in choice.message.tool_calls or ()
            ], choice.finish_reason
        choices = [chunk.choices[0] for chunk in client.chat.completions.create(**wanted, stream=True)]
    pieces = [piece for choice in choices for piece in choice.delta.tool_calls or ()]
    return [piece.model_dump(exclude_none=True) for piece in pieces], choices[-1].finish_reason


@EACH_WAY
def test_a_call_that_takes_text_reaches_openais_client_beside_the_others(streamed: bool) -> None:
    deltas = [{"tool_calls": [{"index": 0, **CUSTOM}]}]
    if streamed:
        started = CUSTOM | {"custom": {"name": "shell", "input": ""}}
        deltas = [{"tool_calls": [{"index": 0, **started}]}, {"tool_calls": [{"index": 0, "custom": {"input": "ls"}}]}]
    with proxied(_chat(deltas, streamed=streamed)) as url:
        calls, reason = _calls_and_end(url, streamed=streamed)
    [text] = [call for call in calls if call.get("type") == "custom"]
    assert {key: text[key] for key in CUSTOM} == CUSTOM
    assert [call["function"]["name"] for call in calls if call.get("type") == "function"] == ["get_weather"]
    assert reason == "tool_calls"


@EACH_WAY
def test_a_turn_of_nothing_but_a_call_that_takes_text_ends_in_calls(streamed: bool) -> None:
    choice = {"index": 0, "delta": {"tool_calls": [{"index": 0, **CUSTOM}]}, "finish_reason": "tool_calls"}
    body = json.dumps({"choices": [choice]}).encode()
    upstream = Upstream([b"data: " + body + b"\n\ndata: [DONE]\n\n"], headers=SSE)  # also where none was asked for
    with proxied(upstream) as url:
        assert _calls_and_end(url, streamed=streamed)[1] == "tool_calls"


@EACH_WAY
def test_the_sources_of_an_answer_stand_beside_its_choices(streamed: bool) -> None:
    with proxied(_chat([{"content": "So."}], streamed=streamed, citations=["https://a.example"])) as url:
        request = {"model": "m", "messages": MESSAGES, "tools": TOOLS, "stream": streamed}
        answer = httpx.post(url + PATHS["openai-chat"], json=request, timeout=60)
    assert '"citations":["https://a.example"]' in answer.text


# -- why a filter ended the turn -----------------------------------------------------------------------------

WHY = "It was unsafe."


def _gemini(*, streamed: bool) -> Upstream:
    candidate = {"content": {"role": "model", "parts": []}, "finishReason": "SAFETY", "finishMessage": WHY}
    body = json.dumps({"candidates": [candidate]}).encode()
    return Upstream([b"data: " + body + b"\n\n"], headers=SSE) if streamed else Upstream([body], headers=JSON)


def _claude(*, streamed: bool) -> Upstream:
    details = {"type": "refusal", "category": "bio", "explanation": WHY}
    turn = {"stop_reason": "refusal", "stop_sequence": None, "stop_details": details}
    usage = {"input_tokens": 3, "output_tokens": 4}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], **turn, "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_details": None}},
        {"type": "message_delta", "delta": turn, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    stream = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    return Upstream(stream) if streamed else Upstream([json.dumps(message).encode()], headers=JSON)


def _responses(*, streamed: bool) -> Upstream:
    """An answer that a filter of OpenAI's cut behind a call in its text."""
    part = {"type": "output_text", "text": HIDDEN_CALL, "annotations": []}
    item = {"id": "msg_a", "type": "message", "status": "incomplete", "role": "assistant", "content": [part]}
    why = {"reason": "content_filter"}
    whole = {"id": "r", "object": "response", "status": "incomplete", "incomplete_details": why, "output": [item]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.incomplete", "response": whole},
    ]
    stream = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    return Upstream(stream) if streamed else Upstream([json.dumps(whole).encode()], headers=JSON)


@EACH_WAY
@pytest.mark.parametrize(
    ("client", "told"),
    [
        ("openai-chat", '"finish_reason":"content_filter"'),
        ("anthropic", '"stop_reason":"refusal"'),
        ("ollama-chat", '"error":"content_filter: '),
    ],
)
def test_a_filter_that_responses_name_in_their_details_ends_the_turn_as_any_other(
    client: str, told: str, streamed: bool
) -> None:
    tools = OWN_TOOLS if client == "anthropic" else TOOLS
    request = {"model": "m", "max_tokens": 9, "messages": MESSAGES, "tools": tools, "stream": streamed}
    with proxied(_responses(streamed=streamed), wire="openai-responses") as url:
        answer = httpx.post(url + PATHS[client], json=request, timeout=60)
    assert told in answer.text
    assert answer.status_code == (502 if client == "ollama-chat" and not streamed else 200)


FILTERS = pytest.mark.parametrize(("wire", "server"), [("gemini", _gemini), ("anthropic", _claude)])


@FILTERS
@EACH_WAY
def test_why_a_filter_ended_the_turn_reaches_openais_client_as_the_refusal(
    wire: str, server: Any, streamed: bool
) -> None:
    with proxied(server(streamed=streamed), wire=wire) as url:
        request = {"model": "m", "messages": MESSAGES, "stream": streamed}
        answer = httpx.post(url + PATHS["openai-chat"], json=request, timeout=60)
        with openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client:
            whole: Any = client.chat.completions.create(model="m", messages=MESSAGES) if not streamed else None
    assert f'"refusal":"{WHY}"' in answer.text
    assert '"finish_reason":"content_filter"' in answer.text
    assert whole is None or whole.choices[0].message.refusal == WHY


@FILTERS
@EACH_WAY
def test_why_a_filter_ended_the_turn_reaches_anthropics_client_in_its_details(
    wire: str, server: Any, streamed: bool
) -> None:
    with proxied(server(streamed=streamed), wire=wire) as url:
        message = _anthropic_message(url, streamed=streamed)
    assert message.stop_reason == "refusal"
    assert message.stop_details.explanation == WHY
    type(message).model_validate(message.model_dump(), strict=True)


@FILTERS
@EACH_WAY
def test_why_a_filter_ended_the_turn_reaches_ollamas_client_in_the_error(
    wire: str, server: Any, streamed: bool
) -> None:
    with proxied(server(streamed=streamed), wire=wire) as url:
        request = {"model": "m", "messages": MESSAGES, "stream": streamed}
        answer = httpx.post(url + PATHS["ollama-chat"], json=request, timeout=60)
    assert json.loads(answer.text.splitlines()[-1]) == {"error": f"content_filter: {WHY}"}


@EACH_WAY
@pytest.mark.parametrize("detail", [{"type": "reasoning.summary", "index": 0}, None])
def test_a_block_of_thought_has_its_thought_also_where_thoughts_are_signed_one_by_one(
    streamed: bool, detail: dict[str, Any] | None
) -> None:
    begun: dict[str, Any] = {"reasoning_details": [detail]} if detail else {}
    signed = {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "c2ln"}]}
    deltas = [{**begun, "reasoning_content": "hm"}, signed]
    answer = _chat(deltas if streamed else [deltas[0] | signed], streamed=streamed)
    with proxied(answer) as url:
        message = _openai_message(url, streamed=streamed).choices[0].message
    assert message.thinking_blocks == [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]
