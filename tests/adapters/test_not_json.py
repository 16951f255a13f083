"""Messages and calls that a program put together, with values that JSON cannot hold."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_messages, translate_request


def _deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(5000):
        value = {"a": value}
    return value


def _of_itself() -> dict[str, Any]:
    value: dict[str, Any] = {"b": 1}
    value["a"] = value
    return value


VALUES: dict[str, tuple[Any, str, str]] = {
    "bytes": ({"a": b"x"}, "/a", "bytes"),
    "a date in a list": ({"a": [1, datetime.date(2020, 1, 1)]}, "/a/1", "date"),
    "a set": ({"a/b": {1}}, "/a~1b", "set"),
    "a key": ({"a": {(1, 2): 3}}, "/a/(1, 2)", "a key of tuple"),
    "a value of itself": (_of_itself(), "/a", "part of itself"),
    "a value without end": (_deep(), "/a" * 128, "nested too deeply"),
    "a number": ({"a": 10**5000}, "/a", "a number of too many digits"),
}


def _messages(provider: str, value: Any) -> Any:
    """A call with these arguments, and this as its result, in a provider's words."""
    function = {"id": "1", "type": "function", "function": {"name": "f", "arguments": value}}
    return {
        "openai": [
            {"role": "assistant", "content": None, "tool_calls": [function]},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "odd", "it": value}]},
        ],
        "anthropic": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": value}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"it": value}]}]},
        ],
        "gemini": [
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": value}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": value}}]},
        ],
        "ollama": [
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": value}}]},
            {"role": "tool", "tool_name": "f", "content": "x"},
        ],
        "bedrock": [
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": value}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"json": value}]}}]},
        ],
        "openai-responses": [
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": value},
            {"type": "function_call_output", "call_id": "1", "output": [{"type": "odd", "it": value}]},
        ],
        "generic": [
            {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "f", "arguments": value}]},
            {"role": "tool", "call_id": "1", "name": "f", "result": value},
        ],
    }[provider]


SOURCES = ("openai", "anthropic", "gemini", "ollama", "bedrock", "openai-responses", "generic")


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("source", SOURCES)
def test_what_json_cannot_hold_is_lost_from_messages_with_its_path_and_nothing_raises(source: str, name: str) -> None:
    value, _, what = VALUES[name]
    for target in ADAPTERS:
        if target != source:
            written = translate_messages(_messages(source, value), source, target)
            json.dumps(written.result)
            told = [loss for loss in written.lost if loss.keyword == what]
            assert [loss.place for loss in told][:1] == ["messages[0]"]
            assert all(loss.outcome == "dropped: JSON cannot hold it" for loss in told)


def test_the_path_of_a_loss_leads_through_the_message_and_what_is_beside_it_stays() -> None:
    messages = _messages("anthropic", {"a": [1, b"x", 2], "b": {"c": b"y", "d": 3}})[:1]
    written = translate_messages(messages, "anthropic", "generic")
    assert [(loss.place, loss.path, loss.keyword) for loss in written.lost] == [
        ("messages[0]", "/content/0/input/a/1", "bytes"),
        ("messages[0]", "/content/0/input/b/c", "bytes"),
    ]
    (call,) = written.result[0]["tool_calls"]
    assert call["arguments"] == {"a": [1, None, 2], "b": {"d": 3}}


def test_messages_that_json_can_hold_lose_nothing() -> None:
    messages = _messages("generic", {"a": [None, True, 1.5, "é"], "b": {}})
    assert translate_messages(messages, "generic", "openai").lost == []


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("provider", ["openai", "openai-responses", "mistral"])
def test_a_call_or_result_that_the_program_gives_raises_an_error_that_names_the_path(provider: str, name: str) -> None:
    value, path, what = VALUES[name]
    adapter = ADAPTERS[provider]
    call = sp.ToolCall("f", value, "1")
    for write in (
        lambda: adapter.format_call(call),
        lambda: adapter.format_call(sp.ToolCall("f", value, "1", raw="{}")),
        lambda: adapter.format_result(sp.ToolResult("1", "f", value)),
        lambda: sp.as_message(sp.ParsedResponse(tool_calls=[call]), provider),
    ):
        with pytest.raises(ValueError) as caught:
            write()
        assert str(caught.value) == f"not JSON: {path} is {what}"


@pytest.mark.parametrize("source", ["openai", "anthropic", "ollama", "openai-responses", "gemini"])
def test_a_whole_request_tells_what_of_its_messages_json_cannot_hold(source: str) -> None:
    key = {"gemini": "contents", "openai-responses": "input"}.get(source, "messages")
    target = "ollama" if source != "ollama" else "openai"
    written = translate_request({"model": "m", key: _messages(source, {"a": b"x"})}, source, target)
    json.dumps(written.result)
    assert "bytes" in [loss.keyword for loss in written.lost]
