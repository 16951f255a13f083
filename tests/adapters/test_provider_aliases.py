"""A provider has the same names in every door."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp
from streamparse.negotiate import FormatNegotiator, list_providers
from streamparse.parser.registry import parser_for
from streamparse.providers.adapters import ADAPTERS, adapter_for, translate_messages, translate_request, translate_tools
from streamparse.providers.names import PROVIDERS, find_provider, normalize_name

NAMES = [word for name, row in PROVIDERS.items() for word in (name, *row.aliases)]
SAID = [sp.Tool("look", "", {"type": "object", "properties": {"a": {"type": "string"}}})]


@pytest.mark.parametrize("name", [*NAMES, "Google", "X.AI", "lm-studio", "llama.cpp", "Azure OpenAI", "hugging_face"])
def test_a_provider_s_name_opens_every_door(name: str) -> None:
    adapter = adapter_for(name)
    assert FormatNegotiator().negotiate(name).definitions.format_tools(SAID) == adapter.format_tools(SAID)
    assert parser_for(name).parse("").tool_calls == []
    assert translate_tools(SAID, name).definitions == adapter.format_tools(SAID)
    assert sp.as_message(sp.ParsedResponse(content="hi"), name) == adapter.as_message(sp.ParsedResponse(content="hi"))
    assert translate_messages([], name, "generic").result == []


def test_every_row_has_a_wire_and_an_adapter_that_exist() -> None:
    for row in PROVIDERS.values():
        assert row.wire in sp.WIRES
        assert row.adapter in ADAPTERS


def test_no_name_is_that_of_two_providers() -> None:
    owners = {(normalize_name(word), name) for name, row in PROVIDERS.items() for word in (name, *row.aliases)}
    assert len({key for key, _ in owners}) == len(owners)


def test_what_is_known_of_a_provider_stands_under_a_name_of_the_one_table() -> None:
    for name, row in list_providers().items():
        assert find_provider(name) == name
        assert (row.wire, row.adapter) == (PROVIDERS[name].wire, PROVIDERS[name].adapter)


def test_a_request_and_its_tools_go_by_any_name_of_their_providers() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert translate_request(request, "Groq", "google") == translate_request(request, "openai", "gemini")
    own: dict[str, Any] = {"googleSearch": {}}
    assert translate_tools([own], "vertex", "Google").definitions == [own]


def test_messages_stay_as_they_are_between_two_names_of_one_adapter() -> None:
    messages = [{"role": "user", "content": [{"type": "odd"}]}]
    assert translate_messages(messages, "groq", "xai").result is messages


def test_a_name_that_nobody_has_raises_in_every_door() -> None:
    for door in (
        lambda: adapter_for("klingon"),
        lambda: translate_tools([], "klingon"),
        lambda: sp.as_message(sp.ParsedResponse(), "klingon"),
        lambda: translate_request({}, "klingon", "openai"),
        lambda: FormatNegotiator().negotiate("klingon"),
        lambda: parser_for("klingon"),
    ):
        with pytest.raises(ValueError, match="klingon"):
            door()
