"""Conversations that go on through the proxy: what a client was given comes back to the server in one piece."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import openai
import pytest
from emitting import stream_of
from serving import Upstream, proxied

Block = dict[str, Any]

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OPENAI_TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
ANTHROPIC_TOOLS: Any = [{"name": "get_weather", "input_schema": SCHEMA}]
MESSAGES: Any = [{"role": "user", "content": "Weather?"}]

BLOCKS: list[Block] = [
    {"type": "thinking", "thinking": "Where is it? ", "signature": "c2lnbmF0dXJlIG9uZQ=="},
    {"type": "redacted_thinking", "data": "aGlkZGVu"},
    {"type": "text", "text": "I look."},
    {"type": "thinking", "thinking": "In Zürich.", "signature": "c2lnbmF0dXJlIHR3bw=="},
    {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Zürich"}},
]
TURN = {"stop_reason": "tool_use", "stop_sequence": None}


def _message(blocks: list[Block]) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks, **TURN}
    return head | {"usage": {"input_tokens": 3, "output_tokens": 4}}


def _events(number: int, block: Block) -> list[dict[str, Any]]:
    """A block as the API streams it."""
    kind, start, deltas = block["type"], block, list[dict[str, Any]]()
    if kind == "thinking":
        start = block | {"thinking": "", "signature": ""}
        deltas.append({"type": "thinking_delta", "thinking": block["thinking"]})
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind == "text":
        start = block | {"text": ""}
        deltas.append({"type": "text_delta", "text": block["text"]})
    elif kind == "tool_use":
        start = block | {"input": {}}
        deltas.append({"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
    return [
        {"type": "content_block_start", "index": number, "content_block": start},
        *({"type": "content_block_delta", "index": number, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": number},
    ]


def _server(blocks: list[Block], *, streamed: bool) -> Upstream:
    if not streamed:
        return Upstream([json.dumps(_message(blocks)).encode()], headers=[("content-type", "application/json")])
    events = [
        {"type": "message_start", "message": _message([]) | {"stop_reason": None}},
        *(event for number, block in enumerate(blocks) for event in _events(number, block)),
        {"type": "message_delta", "delta": TURN, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    return Upstream([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


def _ask_anthropic(client: anthropic.Anthropic, messages: Any, *, streamed: bool) -> Any:
    wanted: Any = {"model": "m", "max_tokens": 9, "messages": messages, "tools": ANTHROPIC_TOOLS}
    if not streamed:
        return client.messages.create(**wanted)
    with client.messages.stream(**wanted) as events:
        return events.get_final_message()


def _ask_openai(client: openai.OpenAI, messages: Any, *, streamed: bool) -> Any:
    wanted: Any = {"model": "m", "messages": messages, "tools": OPENAI_TOOLS}
    if not streamed:
        return client.chat.completions.create(**wanted).choices[0].message
    with client.chat.completions.stream(**wanted) as chunks:
        for _ in chunks:
            pass
        return chunks.get_final_completion().choices[0].message


def _openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0)


each_way = pytest.mark.parametrize("streamed", [True, False])


@each_way
@pytest.mark.parametrize("hidden", [True, False])
def test_signed_thoughts_come_back_to_anthropic_from_its_own_client(streamed: bool, hidden: bool) -> None:
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call>'
    blocks = [*BLOCKS, {"type": "text", "text": call}] if hidden else BLOCKS
    upstream = _server(blocks, streamed=streamed)
    with (
        proxied(upstream, wire="anthropic", dialects=["hermes"]) as url,
        anthropic.Anthropic(base_url=url, api_key="k") as client,
    ):
        message = _ask_anthropic(client, MESSAGES, streamed=streamed)
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "22 degrees"}
        answer = [block.model_dump(exclude_none=True) for block in message.content]
        turns = [{"role": "assistant", "content": answer}, {"role": "user", "content": [result]}]
        _ask_anthropic(client, [*MESSAGES, *turns], streamed=streamed)
    sent = json.loads(upstream.asked[1][3])["messages"][1]["content"]
    assert [{key: block[key] for key in kept} for block, kept in zip(sent, BLOCKS, strict=False)] == BLOCKS
    assert [block["input"] for block in sent[len(BLOCKS) :]] == ([{"city": "Bern"}] if hidden else [])


@each_way
@pytest.mark.parametrize("dialects", ["auto", "all"])
def test_markup_behind_a_native_call_comes_back_to_anthropic_as_the_text_that_it_was(
    streamed: bool, dialects: str
) -> None:
    text = {"type": "text", "text": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call>'}
    upstream = _server([*BLOCKS, text], streamed=streamed)
    with (
        proxied(upstream, wire="anthropic", dialects=dialects) as url,
        anthropic.Anthropic(base_url=url, api_key="k") as client,
    ):
        message = _ask_anthropic(client, MESSAGES, streamed=streamed)
    assert [block.type for block in message.content] == [block["type"] for block in [*BLOCKS, text]]
    assert message.content[-1].text == text["text"]


@each_way
def test_signed_thoughts_come_back_to_anthropic_from_openais_client(streamed: bool) -> None:
    upstream = _server(BLOCKS, streamed=streamed)
    with proxied(upstream, wire="anthropic") as url, _openai(url) as client:
        message = _ask_openai(client, MESSAGES, streamed=streamed)
        assert message.reasoning_content == "Where is it? In Zürich."
        [call] = message.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": "22 degrees"}
        _ask_openai(client, [*MESSAGES, message.model_dump(exclude_none=True), result], streamed=streamed)
    _, answer, told = json.loads(upstream.asked[1][3])["messages"]
    assert [block for block in answer["content"] if block["type"] != "text"] == [
        block for block in BLOCKS if block["type"] != "text"
    ]
    assert told["content"] == [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "22 degrees"}]


def test_calls_from_text_have_other_ids_in_each_answer_and_their_results_come_back_under_them() -> None:
    content_type, chunks = stream_of("openai-chat")
    upstream = Upstream(chunks, headers=[("content-type", content_type)])
    messages: Any = list(MESSAGES)
    with proxied(upstream) as url, _openai(url) as client:
        for _ in range(3):
            message = _ask_openai(client, messages, streamed=True)
            messages.append(message.model_dump(exclude_none=True))
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "22"} for call in message.tool_calls]
    sent = json.loads(upstream.asked[2][3])["messages"]
    called = [call["id"] for turn in sent for call in turn.get("tool_calls", ())]
    assert len(set(called)) == len(called) == 4
    assert [turn["tool_call_id"] for turn in sent if turn["role"] == "tool"] == called


def _turns_of_a_call() -> list[dict[str, Any]]:
    function = {"name": "get_weather", "arguments": '{"city": "Bern"}'}
    call = {"id": "a", "type": "function", "function": function}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [*MESSAGES, answer, {"role": "tool", "tool_call_id": "a", "content": "22 degrees"}]


@pytest.mark.parametrize("options", [{}, {"tools": OPENAI_TOOLS, "tool_choice": "none"}])
def test_a_server_without_tools_never_hears_of_them_even_where_no_more_calls_are_wanted(
    options: dict[str, Any],
) -> None:
    content_type, chunks = stream_of("openai-chat")
    upstream = Upstream(chunks, headers=[("content-type", content_type)])
    request = {"model": "m", "stream": True, "messages": _turns_of_a_call()} | options
    with proxied(upstream, tools="prompt") as url:
        httpx.post(url + "/v1/chat/completions", json=request, timeout=60).raise_for_status()
    asked = json.loads(upstream.asked[0][3])
    assert {"tools", "tool_choice"} & asked.keys() == set()
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "user"]
    assert "<tool_call>" in asked["messages"][1]["content"]
    assert "22 degrees" in asked["messages"][2]["content"]


def test_what_a_prompt_cannot_make_sure_of_is_told() -> None:
    content_type, chunks = stream_of("openai-chat")
    request = {"model": "m", "stream": True, "messages": MESSAGES, "tools": OPENAI_TOOLS}
    request |= {"tool_choice": "required", "parallel_tool_calls": False}
    with proxied(Upstream(chunks, headers=[("content-type", content_type)]), tools="prompt") as url:
        answer = httpx.post(url + "/v1/chat/completions", json=request, timeout=60)
    assert answer.headers["streamparse-lost"] == "parallel_tool_calls, tool_choice"
