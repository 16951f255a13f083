"""The types of the unified protocol: their fields, and the protocols that the library's own pieces keep."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import streamparse as sp
from streamparse.parser.registry import PROVIDERS, parser_for
from streamparse.protocols import ToolCallParser, ToolDefinitionAdapter, ToolFormat, ToolResultAdapter
from streamparse.providers.adapters import ADAPTERS


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_writes_definitions_and_results(name: str) -> None:
    assert isinstance(ADAPTERS[name], ToolDefinitionAdapter)
    assert isinstance(ADAPTERS[name], ToolResultAdapter)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_providers_parser_is_one(provider: str) -> None:
    assert isinstance(parser_for(provider), ToolCallParser)


def test_what_lacks_a_member_keeps_no_protocol() -> None:
    for protocol in (ToolCallParser, ToolDefinitionAdapter, ToolResultAdapter, ToolFormat):
        assert not isinstance(object(), protocol)
    members: dict[str, Any] = dict.fromkeys(("name", "wire", "dialects", "definitions", "results", "capabilities"))
    assert isinstance(SimpleNamespace(**members), ToolFormat)
    for member in members:
        rest = {name: value for name, value in members.items() if name != member}
        assert not isinstance(SimpleNamespace(**rest), ToolFormat)


def test_calls_results_and_responses_have_the_fields_of_the_protocol() -> None:
    assert sp.ToolCall.__struct_fields__[:5] == ("name", "arguments", "id", "source", "raw")
    assert sp.ToolResult.__struct_fields__[:4] == ("call_id", "tool_name", "result", "error")
    assert sp.ToolResult("i", "n").success
    assert not sp.ToolResult("i", "n", error="no").success
    fields = {"content", "reasoning", "tool_calls", "intents", "finish_reason", "usage", "raw_response"}
    assert fields <= set(sp.ParsedResponse.__struct_fields__)
