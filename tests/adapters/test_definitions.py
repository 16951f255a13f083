"""What a definition says is sent in words that its provider takes, comes back equal, or is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, translate_tools
from streamparse.tools import Toolset

FEW = settings(max_examples=60, deadline=None)


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _declaration(provider: str, schema: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The declaration that is written for a schema, and the places and keywords that are lost, not only warned of."""
    written = translate_tools([{"name": "t", "input_schema": schema}], provider)
    (declaration,) = written.definitions[0]["functionDeclarations"]
    return declaration, [(loss.path, loss.keyword) for loss in written.lost if not loss.warning]


REFUSED = [
    _schema(x={"type": "array"}),
    _schema(x={"type": "array", "items": {}}),
    _schema(x={"type": "object"}),
    _schema(x={"type": "object", "properties": {}}),
    _schema(x={}),
    _schema(x={"description": "anything"}),
    _schema(x={"type": "date"}),
    _schema(x={"description": "a or b", "anyOf": [{"type": "string"}, {"type": "integer"}]}),
    _schema(x={"type": "string", "enum": ["", "a"]}),
    _schema(x={"type": "array", "items": {"type": "array"}}),
    {**_schema(x={"type": "string"}), "required": ["y"]},
    _schema(x={**_schema(y={"type": "string"}), "required": ["z"]}),
]


@pytest.mark.parametrize("schema", REFUSED)
def test_what_the_subset_s_servers_refuse_goes_to_gemini_as_json_schema(schema: dict[str, Any]) -> None:
    assert _declaration("gemini", schema) == ({"name": "t", "parametersJsonSchema": schema}, [])


@pytest.mark.parametrize("schema", REFUSED)
def test_what_a_server_of_the_subset_may_refuse_is_told(schema: dict[str, Any]) -> None:
    assert translate_tools([sp.Tool("t", "", schema)], "gemini-openapi").lost


def test_what_every_server_takes_is_said_in_the_subset() -> None:
    inner = _schema(k={"type": "array", "items": {"type": "string"}})
    schema = {**_schema(a={"type": "string", "enum": ["x"]}, b={**inner, "required": ["k"]}), "required": ["a", "b"]}
    assert "parametersJsonSchema" not in _declaration("gemini", schema)[0]
    assert translate_tools([sp.Tool("t", "", schema)], "gemini-openapi").lost == []


def test_what_stands_beside_a_reference_is_told_of_gemini_where_it_is_refused() -> None:
    def schema(**beside: Any) -> dict[str, Any]:
        return _schema(x={"type": "array", "items": {"$ref": "#/$defs/n", **beside}}) | {
            "$defs": {"n": {"type": "null"}}
        }

    fine = translate_tools([sp.Tool("t", "", schema(description="d", default=None))], "gemini")
    assert fine.lost == []
    told = translate_tools([sp.Tool("t", "", schema(title="T"))], "gemini")
    assert [(loss.path, loss.keyword, loss.warning) for loss in told.lost] == [("/properties/x/items", "$ref", True)]


def test_names_that_are_required_but_not_declared_are_dropped_from_the_subset_and_told() -> None:
    written, lost = _declaration("gemini-openapi", {**_schema(x={"type": "string"}), "required": ["x", "y"]})
    assert written["parameters"]["required"] == ["x"]
    assert lost == [("", "required")]


def test_an_empty_text_cannot_be_listed_in_the_subset() -> None:
    written, lost = _declaration("gemini-openapi", _schema(x={"type": "string", "enum": ["", "a"]}))
    assert written["parameters"]["properties"]["x"] == {"type": "STRING", "enum": ["a"]}
    assert lost == [("/properties/x", "enum")]


@pytest.mark.parametrize(
    ("schema", "choices"),
    [
        (
            {"type": ["array", "string"], "items": {"type": "string"}, "maxLength": 3},
            [{"type": "ARRAY", "items": {"type": "STRING"}}, {"type": "STRING", "maxLength": 3}],
        ),
        (
            {"type": ["object", "integer"], "properties": {"a": {"type": "string"}}, "required": ["a"], "minimum": 1},
            [
                {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
                {"type": "INTEGER", "minimum": 1},
            ],
        ),
        ({"type": ["string", "boolean", "null"]}, [{"type": "STRING"}, {"type": "BOOLEAN"}]),
    ],
)
def test_each_of_several_types_takes_its_own_keywords_with_it(
    schema: dict[str, Any], choices: list[dict[str, Any]]
) -> None:
    written, lost = _declaration("gemini-openapi", _schema(x=schema))
    found = written["parameters"]["properties"]["x"]
    assert found.pop("nullable", False) is ("null" in schema["type"])
    assert found == {"anyOf": choices}
    assert lost == []


def test_of_several_types_those_remain_whose_values_are_listed() -> None:
    written, lost = _declaration("gemini-openapi", _schema(x={"type": ["string", "integer"], "enum": ["a", "b"]}))
    assert written["parameters"]["properties"]["x"] == {"type": "STRING", "enum": ["a", "b"]}
    assert lost == []


def test_a_list_of_texts_for_values_that_are_none_is_told() -> None:
    written, lost = _declaration("gemini-openapi", _schema(x={"enum": ["1"], "type": "integer"}))
    assert written["parameters"]["properties"]["x"] == {"type": "INTEGER"}
    assert lost == [("/properties/x", "enum")]


def test_what_a_function_without_parameters_says_in_its_schema_is_told() -> None:
    written, lost = _declaration("gemini-openapi", {**_schema(), "description": "nothing", "title": "None"})
    assert written == {"name": "t"}
    assert lost == [("", "description"), ("", "title")]


def test_a_choice_between_sets_of_parameters_is_not_lost_from_the_subset() -> None:
    choice = {"type": "object", "anyOf": [_schema(a={"type": "string"}), _schema(b={"type": "string"})]}
    written, lost = _declaration("gemini-openapi", choice)
    assert [list(each["properties"]) for each in written["parameters"]["anyOf"]] == [["a"], ["b"]]
    assert lost == []


NULLABLE = _schema(a={"type": "string", "nullable": True})


@pytest.mark.parametrize("provider", [name for name in ADAPTERS if name != "gemini-openapi"])
def test_a_word_that_json_schema_does_not_know_comes_back_as_it_is(provider: str) -> None:
    (back,) = ADAPTERS[provider].read_tools(ADAPTERS[provider].format_tools([sp.Tool("t", "", NULLABLE)]))
    assert back.parameters == NULLABLE


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "t", "parameters": NULLABLE},
        {"name": "t", "inputSchema": NULLABLE},
        {"name": "t", "input_schema": NULLABLE},
        {"functionDeclarations": [{"name": "t", "parametersJsonSchema": NULLABLE}]},
        {"type": "function", "function": {"name": "t", "parameters": NULLABLE}},
    ],
)
def test_only_gemini_s_parameters_are_read_as_openapi(definition: dict[str, Any]) -> None:
    assert Toolset.of([definition])["t"].parameters == NULLABLE


def test_gemini_s_parameters_are_read_as_openapi_in_and_out_of_their_list() -> None:
    declaration = {"name": "t", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}
    for definition in (declaration, {"functionDeclarations": [declaration]}):
        assert Toolset.of([definition])["t"].parameters == _schema(a={"type": "string"})


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"type": "ARRAY", "items": True}, {"type": "array", "items": True}),
        ({"description": "any", "nullable": True}, {"description": "any"}),
        (
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
    ],
)
def test_what_openapi_says_of_a_parameter_is_said_in_json_schema(written: dict[str, Any], read: dict[str, Any]) -> None:
    declaration = {"name": "t", "parameters": {"type": "OBJECT", "properties": {"a": written}}}
    assert Toolset.of([declaration])["t"].parameters == _schema(a=read)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["x", "", "string", "null", "date"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=4,
)
_KEYWORDS = [
    "type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "format", "required", "nullable", "$ref",
    "$defs", "description", "title", "default", "minimum", "maxLength", "additionalProperties", "not", "prefixItems",
    "patternProperties", "propertyOrdering", "definitions",
]  # fmt: skip
_odd = st.recursive(
    st.dictionaries(st.sampled_from(_KEYWORDS), _values, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(_KEYWORDS),
        _values | inner | st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
        max_size=4,
    ),
    max_leaves=6,
)


@FEW
@given(_odd)
def test_a_schema_of_any_shape_raises_nothing(schema: dict[str, Any]) -> None:
    for definition in (
        {"name": "t", "input_schema": schema},
        {"functionDeclarations": [{"name": "t", "parameters": schema}]},
    ):
        for provider in ADAPTERS:
            translate_tools([definition, sp.Tool("fine")], provider)


@pytest.mark.parametrize("provider", ["gemini", "gemini-openapi"])
@pytest.mark.parametrize("odd", [{"allOf": 5}, {"properties": {"x": {"format": ["x"]}}}, {"allOf": [5]}])
def test_a_keyword_of_the_wrong_kind_is_no_error(odd: dict[str, Any], provider: str) -> None:
    written = translate_tools([{"name": "t", "input_schema": {"type": "object", **odd}}], provider)
    if provider == "gemini-openapi":
        assert written.lost
    else:
        assert written.definitions[0]["functionDeclarations"][0]["parametersJsonSchema"]["type"] == "object"


def test_an_sdk_s_object_is_the_definition_that_it_says() -> None:
    genai = pytest.importorskip("google.genai.types")
    ollama = pytest.importorskip("ollama")
    properties = {"a": genai.Schema(type="STRING", nullable=True)}
    function = genai.FunctionDeclaration(name="t", parameters=genai.Schema(type="OBJECT", properties=properties))
    google = genai.Tool(function_declarations=[function], google_search=genai.GoogleSearch())
    local = ollama.Tool.model_validate({"type": "function", "function": {"name": "u", "parameters": _schema()}})
    written = translate_tools([google, local], "openai")
    assert [each["function"]["name"] for each in written.definitions] == ["t", "u"]
    assert [(loss.place, loss.keyword) for loss in written.lost] == [("tools[0]", "googleSearch")]
    assert {"googleSearch": {}} in translate_tools([google], "gemini").definitions
    assert Toolset.of([function])["t"].parameters == _schema(a={"type": ["string", "null"]})
    assert sp.StreamParser("ollama-chat", tools=[google, local]).close()


def test_an_object_that_is_no_definition_is_none_though_it_can_be_dumped() -> None:
    class Agent:
        def model_dump(self) -> dict[str, Any]:
            return {"name": "agent", "args_schema": {}}

    class Names:
        def model_dump(self) -> list[str]:
            return ["name"]

    for thing in (Agent(), Names()):
        with pytest.raises(TypeError, match="a tool must be a Tool"):
            Toolset.of([thing])
