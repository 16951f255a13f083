"""Names of tools as servers hand them over: with white space around them, or with markup of their model behind them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import streamparse as sp

TOOLS = [{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}, "required": ["city"]}}]
PARIS = {"city": "Paris"}
TEXT = json.dumps(PARIS)

BODIES: dict[str, Any] = {
    "openai-chat": lambda name: {
        "choices": [
            {
                "message": {"tool_calls": [{"id": "a", "function": {"name": name, "arguments": TEXT}}]},
                "finish_reason": "tool_calls",
            }
        ]
    },
    "openai-responses": lambda name: {
        "object": "response",
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "a", "name": name, "arguments": TEXT}],
    },
    "anthropic": lambda name: {
        "type": "message",
        "content": [{"type": "tool_use", "id": "a", "name": name, "input": PARIS}],
        "stop_reason": "tool_use",
    },
    "gemini": lambda name: {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"name": name, "args": PARIS}}]}, "finishReason": "STOP"}
        ]
    },
    "cohere": lambda name: {
        "message": {"tool_calls": [{"id": "a", "type": "function", "function": {"name": name, "arguments": TEXT}}]},
        "finish_reason": "TOOL_CALL",
    },
    "ollama-chat": lambda name: {
        "message": {"tool_calls": [{"function": {"name": name, "arguments": PARIS}}]},
        "done": True,
        "done_reason": "stop",
    },
}


def _read(wire: str, name: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The calls, as names and sources, and the codes of the errors of an answer with one call."""
    parsed = sp.parse_response(BODIES[wire](name), wire, tools=TOOLS)
    return [(call.name, call.source) for call in parsed.tool_calls], [error.code for error in parsed.errors]


@pytest.mark.parametrize("wire", BODIES)
def test_white_space_around_a_name_is_no_part_of_it(wire: str) -> None:
    for name in ("get_weather\n", "\n get_weather", "get_weather \r\n\n"):
        assert _read(wire, name) == ([("get_weather", "native")], [])


@pytest.mark.parametrize("wire", BODIES)
def test_a_namespace_that_no_request_has_is_no_part_of_a_name(wire: str) -> None:
    for name in (
        "functions.get_weather",
        "default_api.get_weather",
        "default_api:get_weather",
        " functions.get_weather",
    ):
        assert _read(wire, name) == ([("get_weather", "native")], [])


def test_a_namespace_before_the_name_of_no_tool_stays() -> None:
    for name in ("functions.forget", "other.get_weather", "functions:get_weather"):
        assert _read("anthropic", name) == ([(name, "native")], [])


@pytest.mark.parametrize("wire", BODIES)
def test_a_call_with_markup_behind_the_name_of_a_tool_is_repaired(wire: str) -> None:
    for name in (
        "get_weather<|channel|>commentary",
        "get_weather\n</arg_value>",
        "functions.get_weather<|constrain|>json",
    ):
        assert _read(wire, name) == ([("get_weather", "repaired")], [])


def test_what_stands_before_markup_is_no_name_if_no_tool_has_it() -> None:
    assert _read("anthropic", "weather<|channel|>commentary") == ([("weather<|channel|>commentary", "native")], [])
    assert _read("anthropic", "get_weather_of<x>") == ([("get_weather_of<x>", "native")], [])


def test_a_tool_that_is_declared_with_such_a_name_is_called_by_it() -> None:
    for name in (" now ", "now<1>", "now\n", "functions.now"):
        parsed = sp.parse_response(BODIES["anthropic"](name), "anthropic", tools=[{"name": name}, {"name": "now"}])
        assert [(call.name, call.source) for call in parsed.tool_calls] == [(name, "native")]
