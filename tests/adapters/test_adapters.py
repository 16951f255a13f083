"""Every adapter is what the protocols ask for, and the manual tells of each."""

from __future__ import annotations

from pathlib import Path

import pytest

import streamparse as sp
from streamparse.protocols import ToolDefinitionAdapter, ToolResultAdapter
from streamparse.providers.adapters import (
    ADAPTERS,
    adapter_for,
    to_anthropic,
    to_gemini,
    to_generic,
    to_ollama,
    to_openai,
)
from streamparse.writing.prompts import PROMPTS

MANUAL = Path(__file__).parents[2] / "docs" / "providers"
CALL = sp.ToolCall("now", {"zone": "CET"}, "c1", raw='{ "zone": "CET" }')


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_what_the_protocols_ask_for(name: str) -> None:
    assert ADAPTERS[name].name == name
    assert isinstance(ADAPTERS[name], ToolDefinitionAdapter)
    assert isinstance(ADAPTERS[name], ToolResultAdapter)
    assert adapter_for(name) is ADAPTERS[name]


def test_a_call_in_everybodys_words() -> None:
    arguments = {"zone": "CET"}
    function = {"name": "now", "arguments": '{ "zone": "CET" }'}
    assert to_openai(CALL) == {"id": "c1", "type": "function", "function": function}
    assert to_anthropic(CALL) == {"type": "tool_use", "id": "c1", "name": "now", "input": arguments}
    assert to_gemini(CALL) == {"functionCall": {"id": "c1", "name": "now", "args": arguments}}
    assert to_ollama(CALL) == {"id": "c1", "function": {"name": "now", "arguments": arguments}}
    assert to_generic(CALL) == {"id": "c1", "name": "now", "arguments": arguments}


@pytest.mark.parametrize("raw", ["", "{", '{"zone": "GMT"}', '"{}"', '{"zone": "CET"} and more'])
def test_text_that_is_not_exactly_the_arguments_is_written_anew(raw: str) -> None:
    call = sp.ToolCall("now", {"zone": "CET"}, "c1", "repaired", raw)
    assert to_openai(call)["function"]["arguments"] == '{"zone":"CET"}'


def test_true_and_one_are_not_the_same_argument() -> None:
    call = sp.ToolCall("t", {"a": True}, "c1", raw='{"a": 1}')
    assert to_openai(call)["function"]["arguments"] == '{"a":true}'


def test_the_manual_tells_of_every_provider_and_every_prompt() -> None:
    manual = "".join((MANUAL / name).read_text(encoding="utf-8") for name in ("adapters.md", "prompts.md"))
    assert not [name for name in (*ADAPTERS, *PROMPTS) if f"`{name}`" not in manual]
