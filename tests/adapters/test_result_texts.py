"""The text of a result stays that text: it never becomes a picture, a value, or an error that nobody told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import PICTURE

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_messages

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
IMAGE = {"type": "image", "source": {"type": "url", "url": "http://example.org/x.png"}}


def _from_openai(content: Any, target: str) -> Any:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]
    return translate_messages(messages, "openai", target)


def _from_anthropic(content: Any, target: str, **flag: bool) -> sp.ToolResult:
    """The result that a target's messages hold, which came as a block of Anthropic's."""
    messages = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": content, **flag}]},
    ]
    written = translate_messages(messages, "anthropic", target).result
    (result,) = ADAPTERS[target].read_results(written)
    return result


TARGETS = [name for name in ADAPTERS if name != "openai"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "text",
    [
        json.dumps([IMAGE]),
        json.dumps([{"type": "image_url", "image_url": {"url": "http://example.org/x.png"}}]),
        json.dumps([{"type": "image", "data": PICTURE, "mimeType": "image/png"}]),
        '[{"type":"text","text":"hi"}]',
        json.dumps([IMAGE], separators=(",", ":")),
        '{"a":1}',
        "[1]",
        "null",
        "true",
        "3",
        '"quoted"',
        '{"error":"\\u0061"}',
        '{"error": "x"}',
        '{"error":"x","error":"y"}',
        '{"output":{"error":"\\u0061"}}',
    ],
)
def test_the_text_of_a_result_is_the_same_text_in_every_translation(text: str, target: str) -> None:
    written = _from_openai(text, target)
    assert [loss for loss in written.lost if not loss.warning] == []
    (result,) = ADAPTERS[target].read_results(written.result)
    assert result == sp.ToolResult("c1" if target != "mistral" else result.call_id, result.tool_name, text)


def test_a_picture_that_a_page_names_is_not_loaded_by_the_provider() -> None:
    (_, answer) = _from_openai(json.dumps([IMAGE]), "anthropic").result
    assert [block["type"] for block in answer["content"]] == ["tool_result"]
    assert answer["content"][0]["content"] == json.dumps([IMAGE])


@pytest.mark.parametrize("target", [name for name in ADAPTERS if name != "anthropic"])
@pytest.mark.parametrize("text", ['{"error":"none"}', '{"error": "none"}', '{"output":{"error":"none"}}'])
def test_a_result_that_its_provider_calls_a_success_stays_one(text: str, target: str) -> None:
    for flag in ({}, {"is_error": False}):
        result = _from_anthropic(text, target, **flag)
        assert (result.result, result.error) == (text, None)


@pytest.mark.parametrize("target", [name for name in ADAPTERS if name != "anthropic"])
def test_an_error_that_is_json_stays_the_error_that_it_is(target: str) -> None:
    result = _from_anthropic('{"error":"boom"}', target, is_error=True)
    assert (result.result, result.error) == (None, '{"error":"boom"}')


@pytest.mark.parametrize("target", [name for name in ADAPTERS if name != "bedrock"])
def test_the_status_of_bedrock_decides_and_not_the_text(target: str) -> None:
    for status, content in (("success", [{"text": '{"error":"boom"}'}]), ("success", [{"json": {"error": "boom"}}])):
        result = {"toolResult": {"toolUseId": "c1", "content": content, "status": status}}
        written = translate_messages([{"role": "user", "content": [result]}], "bedrock", target).result
        (back,) = ADAPTERS[target].read_results(written)
        assert back.success


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_value_that_looks_like_an_error_comes_back_as_no_error(provider: str) -> None:
    adapter = ADAPTERS[provider]
    value = {"error": "x"}
    (back,) = adapter.read_results(adapter.format_results([sp.ToolResult("c", "f", value)]))
    assert back.success
    assert back.result in (value, '{"error":"x"}')


def test_a_success_that_reads_like_an_error_is_told_apart_where_there_is_text_alone() -> None:
    success = ADAPTERS["openai"].format_result(sp.ToolResult("c", "f", '{"error":"x"}'))
    failure = ADAPTERS["openai"].format_result(sp.ToolResult("c", "f", error="x"))
    assert success["content"] == '{"output":{"error":"x"}}'
    assert failure["content"] == '{"error":"x"}'


def test_a_text_in_a_million_shields_is_read_in_one_pass() -> None:
    text = '{"output":' * 1_000_000 + '{"error":"x"}' + "}" * 1_000_000
    adapter = ADAPTERS["openai"]
    assert adapter.read_result(adapter.format_result(sp.ToolResult("c", "f", text))).result == text


def test_a_picture_beside_a_failure_leaves_its_name_in_the_error() -> None:
    shown = [{"type": "text", "text": "no map "}, {"type": "image", "data": PICTURE, "mimeType": "image/png"}]
    assert _from_anthropic(shown, "openai", is_error=True).error == "no map [image: image/png]"


def test_the_value_beside_a_picture_at_gemini_is_not_lost() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": PICTURE}}
    response = {"id": "c1", "name": "f", "response": {"output": {"a": 1}}, "parts": [picture]}
    result = ADAPTERS["gemini"].read_result({"functionResponse": response})
    assert result.result[0] == {"type": "text", "text": '{"a":1}'}
