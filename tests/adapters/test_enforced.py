"""What a request asks for that its provider refuses, or does in another way, is told."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_request, translate_tools

CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPTIONAL = {**CLOSED, "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
OPEN = {key: value for key, value in CLOSED.items() if key != "additionalProperties"}
HI = [{"role": "user", "content": "hi"}]


def _told(request: dict[str, Any], source: str, target: str) -> set[str]:
    return {loss.keyword for loss in translate_request({"model": "m", **request}, source, target).lost}


def test_a_stop_of_blanks_alone_is_left_out_for_anthropic_and_told() -> None:
    request = {"model": "m", "max_tokens": 9, "messages": HI, "stop": ["\n\n", "END"]}
    written = translate_request(request, "openai", "anthropic")
    assert written.result["stop_sequences"] == ["END"]
    assert [loss.keyword for loss in written.lost] == ["stop"]
    assert "stop_sequences" not in translate_request({**request, "stop": " "}, "openai", "anthropic").result


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_a_request_in_which_only_the_system_speaks_is_told(target: str) -> None:
    request = {"max_tokens": 9, "messages": [{"role": "system", "content": "Be brief."}]}
    assert _told(request, "openai", target) == {"messages"}
    assert _told({**request, "messages": HI}, "openai", target) == set()


def _asked(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    described = {"name": "city", "schema": schema, **more}
    return {"max_tokens": 9, "messages": HI, "response_format": {"type": "json_schema", "json_schema": described}}


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama", "cohere"])
def test_the_name_of_an_answer_s_schema_is_told_where_it_has_none(target: str) -> None:
    assert _told(_asked(CLOSED), "openai", target) == {"response_format"}


def test_an_open_schema_of_an_answer_is_told_of_anthropic_which_enforces_it() -> None:
    lost = translate_request({"model": "m", **_asked(OPEN, name="answer")}, "openai", "anthropic").lost
    assert [(loss.path, loss.keyword, loss.warning) for loss in lost] == [("", "additionalProperties", True)]


def test_the_name_and_the_strictness_of_an_answer_s_schema_go_between_openai_s_two_ways_to_be_asked() -> None:
    request = {"model": "m", **_asked(CLOSED, strict=True)}
    there = translate_request(request, "openai", "openai-responses")
    assert there.result["text"]["format"] == {"type": "json_schema", "name": "city", "schema": CLOSED, "strict": True}
    back = translate_request(there.result, "openai-responses", "openai")
    assert back.result["response_format"] == request["response_format"]
    assert there.lost == back.lost == []


@pytest.mark.parametrize("target", ["openai", "openai-responses"])
def test_a_schema_that_anthropic_enforces_is_enforced_elsewhere_or_it_is_told(target: str) -> None:
    def translated(schema: dict[str, Any]) -> tuple[bool, list[str]]:
        config = {"format": {"type": "json_schema", "schema": schema}}
        request = {"model": "m", "max_tokens": 9, "messages": HI, "output_config": config}
        written = translate_request(request, "anthropic", target)
        form = (
            written.result["response_format"]["json_schema"] if target == "openai" else written.result["text"]["format"]
        )
        return form.get("strict", False), [loss.keyword for loss in written.lost]

    assert translated(CLOSED) == (True, [])
    assert translated(OPTIONAL) == (False, ["strict"])
    assert translated(OPEN) == (False, ["strict"])


@pytest.mark.parametrize(
    ("provider", "schema", "told"),
    [
        ("openai", CLOSED, []),
        ("openai", OPTIONAL, [("", "required")]),
        ("openai-responses", {**CLOSED, "properties": {"a": OPTIONAL}}, [("/properties/a", "required")]),
        ("openai", OPEN, [("", "additionalProperties")]),
        ("anthropic", OPTIONAL, []),
        (
            "anthropic",
            {**CLOSED, "properties": {"a": {"type": "array", "items": OPEN}}},
            [
                ("/properties/a/items", "additionalProperties"),
            ],
        ),
        ("mistral", {**CLOSED, "$defs": {"n": {"anyOf": [OPTIONAL]}}}, [("/$defs/n/anyOf/0", "required")]),
    ],
)
def test_a_strict_tool_whose_schema_cannot_be_enforced_is_told(
    provider: str, schema: dict[str, Any], told: list[tuple[str, str]]
) -> None:
    written = translate_tools([sp.Tool("t", "", schema, strict=True)], provider)
    assert [(loss.path, loss.keyword) for loss in written.lost] == told
    assert all(loss.warning for loss in written.lost)
    assert ADAPTERS[provider].read_tools(written.definitions) == [sp.Tool("t", "", schema, strict=True)]
    assert translate_tools([sp.Tool("t", "", schema)], provider).lost == []
