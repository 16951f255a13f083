"""What a parser reads of declared tools: never anything but what they are when it is made."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import streamparse as sp
from streamparse.tools import Toolset
from streamparse.tools.definitions import read_sdk_object
from streamparse.tools.toolset import read_toolset


def _declare(name: str) -> list[dict[str, Any]]:
    properties = {"city": {"type": "string"}}
    return [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
    ]


def _parse_call(tools: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    text = "<get_weather><city>7</city></get_weather>"
    parser = sp.TextParser(["tool-name-tag"], tools=tools)
    return [(each.name, each.arguments) for each in parser.feed(text) if isinstance(each, sp.ToolCallComplete)]


def test_definitions_that_are_as_they_were_are_read_once() -> None:
    tools = _declare("get_weather")
    assert read_toolset(tools) is read_toolset(tools)


def test_a_definition_that_was_changed_is_read_again() -> None:
    tools = _declare("other")
    assert _parse_call(tools) == []
    tools[0]["function"]["name"] = "get_weather"
    assert _parse_call(tools) == [("get_weather", {"city": "7"})]
    tools[0]["function"]["parameters"]["properties"]["city"]["type"] = "integer"
    assert _parse_call(tools) == [("get_weather", {"city": 7})]
    tools.append(_declare("another")[0])
    assert [*read_toolset(tools)] == ["get_weather", "another"]


def test_what_was_read_does_not_change_with_the_definition() -> None:
    tools = _declare("get_weather")
    before = deepcopy(tools)
    known = read_toolset(tools)
    tools[0]["function"]["parameters"]["properties"].clear()
    assert known["get_weather"].parameters == before[0]["function"]["parameters"]
    assert read_toolset(before)["get_weather"].parameters == before[0]["function"]["parameters"]


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(None, id="none"),
        pytest.param([], id="no tools"),
        pytest.param([sp.Tool("a")], id="a Tool"),
        pytest.param([*_declare("a"), sp.Tool("b")], id="a definition and a Tool"),
        pytest.param((*_declare("a"), *_declare("b")), id="a tuple"),
        pytest.param([{"name": "a", "input_schema": {"maximum": 1.5, "enum": (1, None)}}], id="values"),
        pytest.param([{"name": "a", "description": "x" * 400_000}], id="long"),
    ],
)
def test_it_is_what_a_toolset_reads(tools: Any) -> None:
    for _ in range(2):
        assert dict(read_toolset(tools)) == dict(Toolset.of(tools))


def test_a_generator_is_read() -> None:
    assert [*read_toolset(each for each in _declare("a"))] == ["a"]


@pytest.mark.parametrize("tools", [["a"], [{"a": 1}], "a", {"name": "a"}, 7, [*_declare("a"), *_declare("a")]])
def test_what_is_no_tool_raises_each_time(tools: Any) -> None:
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)) as raised:
            read_toolset(tools)
        with pytest.raises(raised.type, match="tool"):
            Toolset.of(tools)


class _OfSDK:
    """An object that an SDK made of a definition; the models of pydantic among them leave out what is None."""

    def model_dump(self, **options: Any) -> Any:
        (definition,) = _declare("a")
        return definition if options else definition | {"strict": None}


class _OfPydantic(_OfSDK):
    __pydantic_serializer__ = None


@pytest.mark.parametrize("made", [_OfSDK, _OfPydantic])
def test_the_object_of_an_sdk_is_the_definition_that_it_holds(made: Any) -> None:
    (definition,) = _declare("a")
    assert read_sdk_object(made()) == (definition if made is _OfPydantic else definition | {"strict": None})
    assert dict(read_toolset([made()])) == dict(Toolset.of(_declare("a")))


def test_what_no_definition_can_be_dumped_from_stays_as_it_is() -> None:
    class Other(_OfSDK):
        def model_dump(self, **_options: Any) -> Any:
            return {"name": "a"}

    class Text(_OfSDK):
        def model_dump(self, **_options: Any) -> Any:
            return "a"

    for thing in (_OfSDK, Other(), Text(), {"name": "a"}, 7):
        assert read_sdk_object(thing) is thing


KEYWORDS = (
    "type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "$defs", "properties", "additionalProperties", "items",
    "required", "nullable", "default",
)  # fmt: skip
ODD = (None, 5, -1.5, False, True, "x", "#", "#/properties/a", [], [5], ["a"], [["a"]], [None], {}, {"a": 5}, {"": []})
CALLS = {
    "qwen3-coder": "<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>",
    "hermes": '<tool_call>{"name": "f", "arguments": {"a": "5", "b": [1]}}</tool_call>',
    "tool-name-tag": "<f><a>5</a><b><c>1</c><c>2</c></b></f>",
    "python": '[f(a="5", b=[1])]',
}


@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_no_schema_of_a_tool_makes_a_parser_raise(keyword: str, odd: Any) -> None:
    inside = {keyword: odd, "items": {keyword: odd}}
    for schema in ({keyword: odd}, {"type": "object", "properties": {"a": {"anyOf": [inside]}, "b": inside}}):
        tools = [sp.Tool("f", parameters=schema)]
        for text in CALLS.values():
            sp.parse_response({"choices": [{"message": {"content": text}}]}, tools=tools)
