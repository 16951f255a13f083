"""Parsers by the name of a provider: those that are known, and those of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

import streamparse as sp
from streamparse.negotiate import find_provider
from streamparse.parser import registry
from streamparse.parser.composite import CompositeParser
from streamparse.parser.registry import PROVIDERS, parser_for, register_parser
from streamparse.protocols import ToolCallParser

ASKED_FOR = (
    *("openai", "azure", "anthropic", "google", "gemini", "vertex", "xai", "deepseek", "ollama", "groq", "openrouter"),
    *("mistral", "cohere", "bedrock", "together", "fireworks", "cerebras", "vllm", "sglang", "llamacpp", "lmstudio"),
)
CALL = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'


class _Own:
    def __init__(self, tools: Iterable[Any] | None) -> None:
        self.tools = tools

    def can_parse(self, body: Any) -> bool:
        return body is not None

    def parse(self, body: Any) -> sp.ParsedResponse:
        return sp.ParsedResponse(content=str(body))


@pytest.fixture(autouse=True)
def _registered_only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_factories", {})


@pytest.mark.parametrize("provider", [*ASKED_FOR, *PROVIDERS, *sp.WIRES])
def test_every_provider_and_wire_has_a_parser(provider: str) -> None:
    parser = parser_for(provider, tools=[{"name": "look", "parameters": {}}])
    assert isinstance(parser, ToolCallParser)
    assert [call.name for call in parser.parse(CALL).tool_calls] == ["look"]


def test_what_shows_no_wire_is_read_by_the_one_of_the_provider() -> None:
    codes = [[error.code for error in parser_for(name).parse({"foo": 1}).errors] for name in ("anthropic", "openai")]
    assert codes == [["unexpected_shape", "not_a_stream"], ["not_a_stream"]]


@pytest.mark.parametrize("name", ["openai", "openai-chat", "composite", "auto", "json-content"])
def test_the_parser_of_a_provider_or_a_wire_knows_the_tools(name: str) -> None:
    text = '{"name": "look", "arguments": {}}'  # a call of a declared tool alone
    body = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    assert parser_for(name).parse(body).tool_calls == []
    assert [call.name for call in parser_for(name, tools=[{"name": "look"}]).parse(body).tool_calls] == ["look"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_providers_parser_reads_the_body_by_its_wire(provider: str) -> None:
    assert PROVIDERS[provider] in sp.WIRES
    bodies = (
        {"type": "message", "content": [{"type": "tool_use", "name": "look", "input": {"a": 1}}]},
        {"choices": [{"message": {"tool_calls": [{"function": {"name": "look", "arguments": '{"a": 1}'}}]}}]},
    )
    for body in bodies:
        for form in (body, json.dumps(body), json.dumps(body).encode()):
            assert [call.name for call in parser_for(provider).parse(form).tool_calls] == ["look"]


def test_a_provider_has_the_same_wire_here_and_among_the_capabilities() -> None:
    told = {name: row[1].wire for name in PROVIDERS if (row := find_provider(name)) is not None}
    assert len(told) > len(PROVIDERS) // 2
    assert told == {name: PROVIDERS[name] for name in told}


def test_a_name_counts_without_regard_to_case_and_marks() -> None:
    for name in ("llama.cpp", "LM Studio", "lm-studio", "OpenAI", "openai_chat", "x.ai"):
        assert isinstance(parser_for(name), CompositeParser)


def test_a_parser_of_ones_own_is_made_for_the_tools() -> None:
    register_parser("My Server", _Own)
    parser = parser_for("my-server", tools=["a tool"])
    assert isinstance(parser, _Own)
    assert parser.tools == ["a tool"]


def test_names_are_taken_once_and_unknown_ones_name_the_known() -> None:
    register_parser("mine", _Own)
    for name in ("MINE", "openai", "OpenAI-Chat", "", " "):
        with pytest.raises(ValueError):
            register_parser(name, _Own)
    with pytest.raises(TypeError, match="factory"):
        register_parser("other", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nope") as caught:
        parser_for("nope")
    assert all(name in str(caught.value) for name in (*PROVIDERS, *sp.WIRES, "mine"))


@pytest.mark.parametrize("name", ["", "-", " "])
def test_a_name_of_nothing_is_unknown(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown parser .*known are: "):
        sp.parser_for(name)


def test_a_factory_that_makes_no_parser_is_an_error() -> None:
    register_parser("broken", lambda _: object())  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="broken"):
        parser_for("broken")


@pytest.mark.parametrize("name", registry.STRATEGIES)
def test_every_strategy_has_a_name_that_nobody_else_can_take(name: str) -> None:
    parser = parser_for(name, tools=[{"name": "look", "parameters": {}}])
    assert isinstance(parser, ToolCallParser)
    assert parser.parse("Hello.").content == "Hello."
    with pytest.raises(ValueError, match="already"):
        register_parser(name, _Own)


STREAMS = {
    "openai-chat": b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    "ollama-chat": b'{"model":"m","created_at":"1","message":{"role":"assistant","content":"a"},"done":false}\n',
}


@pytest.mark.parametrize(("wire", "other"), [("openai-chat", "ollama-chat"), ("ollama-chat", "openai-chat")])
def test_the_parser_of_a_wire_says_that_a_stream_is_of_another(wire: str, other: str) -> None:
    assert "wrong_wire" not in [error.code for error in parser_for(wire).parse(STREAMS[wire]).errors]
    assert "wrong_wire" in [error.code for error in parser_for(wire).parse(STREAMS[other]).errors]


@pytest.mark.parametrize("name", ["openai", "openai-chat", *registry.STRATEGIES])
def test_every_parser_reads_the_arguments_by_the_schema_of_the_tool(name: str) -> None:
    parameters = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    body = {"choices": [{"message": {"tool_calls": [{"function": {"name": "look", "arguments": ""}}]}}]}
    text = "<tool_call><function=look><parameter=a>1</parameter></function></tool_call>"
    parser = parser_for(name, tools=[{"name": "look", "parameters": parameters}])
    assert all(call.arguments == {"a": "1"} for call in parser.parse(text).tool_calls)
    assert not parser.parse(body).tool_calls


def test_a_parser_of_another_distribution_is_looked_for_once_its_name_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(group: str, name: str) -> bool:
        assert group == "streamparse.parsers"
        register_parser(name, _Own)
        return True

    monkeypatch.setattr(registry, "load", load)
    assert isinstance(parser_for("theirs"), _Own)


@pytest.mark.parametrize("make", [*map(type, map(parser_for, registry.STRATEGIES))])
def test_every_parser_holds_to_the_limits(make: type[Any]) -> None:
    limits = sp.Limits(max_total=len(STREAMS["openai-chat"]) - 1)
    for each, is_held in ((limits, True), (sp.Limits(), False)):
        errors = make(limits=each).parse(STREAMS["openai-chat"]).errors
        assert ("limit_total" in [error.code for error in errors]) == is_held


def test_a_call_that_is_json_in_the_content_says_so() -> None:
    parser = parser_for("json-content", tools=[{"name": "look"}])
    assert parser.parse('{"tool_calls": [{"name": "look", "arguments": {}}]}').dialects == {0: "json-content"}
