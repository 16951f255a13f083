"""What a prompt asks for is what is parsed."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import streamparse as sp
from streamparse.adapters import ADAPTERS, PROMPTS, example_call, format_calls_as_text, format_system_prompt

Unit = Literal["metric", "imperial"]


def get_weather(city: str, unit: Unit, days: int, hourly: bool) -> str:
    """Look the weather up."""
    return city * days + unit * hourly


def mark(tags: list[str], weights: dict[str, float], note: str | None) -> str:
    """Mark something."""
    return note or str(tags) + str(weights)


NOW = sp.Tool("now", "What time it is.", {"type": "object", "properties": {}})
POINT = sp.Tool(
    "go_to",
    "Go somewhere.",
    {
        "type": "object",
        "properties": {"place": {"$ref": "#/$defs/place"}, "fast": {"type": "boolean"}},
        "required": ["place"],
        "$defs": {
            "place": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "floor": {"type": "integer"}},
                "required": ["name", "floor"],
            }
        },
    },
)
TOOLS: list[Any] = [get_weather, mark, NOW, POINT]
ONE_BY_ONE = [(dialect, tool) for dialect in PROMPTS for tool in TOOLS]


def _found(text: str, dialect: str) -> sp.ParsedResponse:
    parser = sp.TextParser([dialect], tools=TOOLS)
    parser.feed(text)
    parser.close()
    return parser.response


@pytest.mark.parametrize(("dialect", "tool"), ONE_BY_ONE)
def test_the_example_of_a_prompt_is_parsed_to_the_call_that_it_shows(dialect: str, tool: Any) -> None:
    (declared,) = ADAPTERS["generic"].read_tools(ADAPTERS["generic"].format_tools([tool]))
    shown = example_call(declared)
    example = format_calls_as_text([shown], dialect)
    assert example in format_system_prompt([tool], dialect)
    found = _found(example, dialect)
    assert [(call.name, call.arguments, call.source) for call in found.tool_calls] == [
        (shown.name, shown.arguments, "inband")
    ]
    assert not found.content.strip()
    assert not found.errors


@pytest.mark.parametrize("dialect", [dialect for dialect in PROMPTS if dialect != "react"])
def test_several_calls_are_written_as_the_dialect_reads_them(dialect: str) -> None:
    made = [
        sp.ToolCall("get_weather", {"city": "Zürich", "unit": "metric", "days": 3, "hourly": False}),
        sp.ToolCall("go_to", {"place": {"name": 'the "old" town', "floor": -1}, "fast": True}),
    ]
    found = _found(format_calls_as_text(made, dialect), dialect)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [(call.name, call.arguments) for call in made]


def test_a_prompt_lists_every_tool_with_its_schema() -> None:
    prompt = format_system_prompt(TOOLS)
    for tool in ADAPTERS["generic"].read_tools(ADAPTERS["generic"].format_tools(TOOLS)):
        assert f'"name":"{tool.name}"' in prompt


def test_without_tools_there_is_no_prompt() -> None:
    assert format_system_prompt([]) == ""


def test_every_provider_falls_back_on_a_dialect_that_has_a_prompt() -> None:
    for adapter in ADAPTERS.values():
        assert adapter.format_system_prompt([NOW]) == format_system_prompt([NOW], adapter.dialect)


def test_every_prompt_is_for_a_dialect_that_is_read() -> None:
    assert set(PROMPTS) <= set(sp.DIALECTS)


def test_an_unknown_dialect_raises_and_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"no prompt for the dialect 'klingon'; known are: hermes, "):
        format_system_prompt([NOW], "klingon")
