"""What a provider cannot say of a tool is told: where, what, and what became of it."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, translate_tools


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _openapi(schema: dict[str, Any]) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    """The subset that is written for a schema, and the places and keywords that are lost."""
    written = translate_tools([sp.Tool("t", "", schema)], "gemini-openapi")
    (declaration,) = written.definitions[0]["functionDeclarations"]
    lost = {(loss.path, loss.keyword) for loss in written.lost if not loss.warning}
    return declaration["parameters"]["properties"], lost


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string"}, {"type": "STRING"}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "INTEGER", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"type": "string", "enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        ({"type": "array", "items": {"type": "number"}}, {"type": "ARRAY", "items": {"type": "NUMBER"}}),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, {"type": "STRING", "maxLength": 3}),
        ({"$ref": "#/$defs/n", "description": "d"}, {"type": "INTEGER", "description": "d"}),
        ({"type": "object", "additionalProperties": True}, {"type": "OBJECT"}),
        ({"type": ["string", "null"], "enum": ["a"]}, {"type": "STRING", "enum": ["a"]}),
        ({"type": ["string", "null"], "enum": [None]}, {"type": "NULL"}),
        ({"const": None}, {"type": "NULL"}),
        ({"anyOf": [{"type": "null"}]}, {"type": "NULL"}),
        ({"oneOf": [{"type": "string"}]}, {"type": "STRING"}),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        ),
        (
            {"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]},
            {"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "STRING", "enum": ["b", "c"]}]},
        ),
        (
            {"type": "string", "anyOf": [{"type": "integer"}, {"type": "null"}]},
            {"type": "STRING", "anyOf": [{"type": "INTEGER"}]},
        ),
        ({"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 2}]}, {"type": "INTEGER", "minimum": 2}),
        (
            {"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}], "maxLength": 3},
            {"type": "STRING", "enum": ["b"], "maxLength": 3},
        ),
        ({"allOf": [{"type": "string"}, True]}, {"type": "STRING"}),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": False, "minItems": 2},
            {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": 2, "maxItems": 2},
        ),
        ({"type": "array", "items": False}, {"type": "ARRAY", "items": {}, "maxItems": 0}),
        (
            {"anyOf": [{"type": "string", "title": "T", "description": "one"}, {"type": "null"}], "description": "two"},
            {"type": "STRING", "title": "T", "description": "two", "nullable": True},
        ),
        (
            {"oneOf": [{"enum": ["a", "a"]}, {"const": "b"}, {"type": "null"}, {"type": "integer"}]},
            {
                "nullable": True,
                "anyOf": [
                    {"type": "STRING", "enum": ["a", "a"]},
                    {"type": "STRING", "enum": ["b"]},
                    {"type": "INTEGER"},
                ],
            },
        ),
    ],
)
def test_what_the_subset_can_say_is_said_without_loss(schema: dict[str, Any], written: dict[str, Any]) -> None:
    assert _openapi(_schema(x=schema) | {"$defs": {"n": {"type": "integer"}}}) == ({"x": written}, set())


@pytest.mark.parametrize(
    ("schema", "written", "lost"),
    [
        (
            {"oneOf": [{"type": "number"}, {"type": "integer"}]},
            {"anyOf": [{"type": "NUMBER"}, {"type": "INTEGER"}]},
            "oneOf",
        ),
        (
            {"oneOf": [{"const": "a"}, {"type": "string"}]},
            {"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "STRING"}]},
            "oneOf",
        ),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER"}, "enum"),
        ({"const": 7}, {"type": "INTEGER"}, "const"),
        ({"enum": [1, 2.5, None]}, {"type": "NUMBER"}, "enum"),
        ({"enum": [1, "a"]}, {}, "enum"),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "maxItems": 2},
            {"type": "ARRAY", "items": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]}, "maxItems": 2},
            "prefixItems",
        ),
        ({"type": "array", "prefixItems": [{"type": "integer"}]}, {"type": "ARRAY", "items": {}}, "prefixItems"),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "INTEGER"}, "exclusiveMinimum"),
        ({"type": "string", "format": "uri"}, {"type": "STRING"}, "format"),
        ({"type": "object", "additionalProperties": False}, {"type": "OBJECT"}, "additionalProperties"),
        ({"not": {"type": "string"}}, {}, "not"),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, {"pattern": "a"}, "allOf"),
        ({"$ref": "#/$defs/nowhere"}, {}, "$ref"),
        ({"$ref": "https://example.org/schema"}, {}, "$ref"),
    ],
)
def test_what_the_subset_cannot_say_is_told(schema: dict[str, Any], written: dict[str, Any], lost: str) -> None:
    assert _openapi(_schema(x=schema)) == ({"x": written}, {("/properties/x", lost)})


TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}


def test_values_that_exclude_each_other_are_told_apart_however_many_they_are() -> None:
    values = [{"const": f"v{number}"} for number in range(3000)]
    written, lost = _openapi(_schema(x={"oneOf": values}))
    assert (len(written["x"]["anyOf"]), lost) == (3000, set())
    assert _openapi(_schema(x={"oneOf": [*values, values[0]]}))[1] == {("/properties/x", "oneOf")}


def test_a_schema_that_contains_itself_is_cut_where_it_does() -> None:
    written, lost = _openapi(TREE)
    children = written["root"]["properties"]["children"]
    assert children == {"type": "ARRAY", "items": {}}
    assert lost == {("/properties/root/properties/children/items", "$ref")}


@pytest.mark.parametrize("provider", ADAPTERS)
@pytest.mark.parametrize("depth", [70, 300, 900])
def test_a_schema_that_nests_too_deeply_raises_nothing(provider: str, depth: int) -> None:
    nested: dict[str, Any] = {"type": "string"}
    chain: dict[str, Any] = {f"d{depth}": {"type": "string"}}
    for number in range(depth):
        nested = _schema(k=nested)
        chain[f"d{number}"] = _schema(k={"$ref": f"#/$defs/d{number + 1}"})
    for schema in (nested, _schema(k={"$ref": "#/$defs/d0"}) | {"$defs": chain}):
        translated = translate_tools([{"name": "t", "input_schema": schema}], provider)
        if provider in ("ollama", "gemini-openapi"):
            assert any("nests too deeply" in loss.outcome for loss in translated.lost)


@pytest.mark.parametrize("provider", ADAPTERS)
def test_parameters_behind_a_reference_at_the_top_are_not_lost(provider: str) -> None:
    node = _schema(x={"type": "integer"}, next={"$ref": "#/$defs/Node"})
    tool = sp.Tool("t", "", {"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    (back,) = ADAPTERS[provider].read_tools(translate_tools([tool], provider).definitions)
    assert back.parameters["properties"]["x"] == {"type": "integer"}


def test_what_is_said_beside_a_reference_holds_with_what_it_names() -> None:
    named = _schema(x={"type": "integer"}) | {"required": ["x"]}
    schema = _schema(p={"$ref": "#/$defs/P", **_schema(y={"type": "string"})}) | {"$defs": {"P": named}}
    written, lost = _openapi(schema)
    both = {"x": {"type": "INTEGER"}, "y": {"type": "STRING"}}
    assert (written["p"], lost) == ({"type": "OBJECT", "properties": both, "required": ["x"]}, set())
    top = {"$ref": "#/$defs/P", "properties": {"y": {"type": "string"}}, "$defs": {"P": named}}
    assert _openapi(top) == (both, set())


def test_a_parameter_that_may_be_one_of_some_texts_or_null_comes_back_as_that() -> None:
    schema = {"type": ["string", "null"], "enum": ["a", "b", None]}
    tool = sp.Tool("t", "", _schema(x=schema))
    for provider in ("gemini", "gemini-openapi"):
        written = ADAPTERS[provider].format_tools([tool])
        assert "parameters" in written[0]["functionDeclarations"][0]
        assert ADAPTERS[provider].read_tools(written)[0].parameters["properties"]["x"] == schema


def test_a_reference_at_the_top_that_leads_in_circles_or_nowhere_is_told() -> None:
    for schema in ({"$ref": "#"}, {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, {"$ref": "#/no"}):
        lost = translate_tools([sp.Tool("t", "", schema)], "gemini-openapi").lost
        assert [loss.keyword for loss in lost] == ["$ref"]


@pytest.mark.parametrize("reference", ["#city", "#$defs/City"])
def test_the_name_of_an_anchor_is_not_taken_for_the_whole_schema(reference: str) -> None:
    named = {"$anchor": "city", "type": "string"}
    schema = {**_schema(city={"$ref": reference}), "required": ["city"], "$defs": {"City": named}}
    written, lost = _openapi(schema)
    assert written == {"city": {}}
    assert lost == {("/properties/city", "$ref")}


def test_of_two_schemas_of_one_parameter_the_second_is_told() -> None:
    schema = {"allOf": [_schema(a={"type": "string"}), _schema(a={"type": "integer"})]}
    written, lost = _openapi(schema)
    assert written == {"a": {"type": "STRING"}}
    assert lost == {("/properties/a", "allOf")}


def test_references_that_multiply_are_cut_before_they_grow() -> None:
    doubling = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(40)}
    schema = _schema(x={"$ref": "#/$defs/d0"}) | {"$defs": doubling | {"d40": {"type": "string"}}}
    written = translate_tools([sp.Tool("t", "", schema)], "gemini-openapi")
    assert any("grows too large" in loss.outcome for loss in written.lost)


def test_gemini_gets_openapi_where_it_says_the_same_and_json_schema_where_not() -> None:
    plain = ADAPTERS["gemini"].format_tools([sp.Tool("t", "", _schema(x={"type": ["string", "null"]}))])
    assert plain[0]["functionDeclarations"][0]["parameters"]["properties"] == {
        "x": {"type": "STRING", "nullable": True}
    }
    written = translate_tools([sp.Tool("t", "", TREE)], "gemini")
    assert written.definitions == [{"functionDeclarations": [{"name": "t", "parametersJsonSchema": TREE}]}]
    assert not written.lost


def test_a_function_without_parameters_has_no_schema_at_gemini() -> None:
    assert ADAPTERS["gemini"].format_tools([sp.Tool("t")]) == [{"functionDeclarations": [{"name": "t"}]}]


def test_ollama_is_sent_all_and_told_what_its_server_does_not_read() -> None:
    schema = _schema(x={"type": "integer", "minimum": 1}, y={"$ref": "#/$defs/n"}) | {
        "$defs": {"n": {"type": "string"}}
    }
    written = translate_tools([sp.Tool("t", "", schema)], "ollama")
    parameters = written.definitions[0]["function"]["parameters"]
    assert parameters == _schema(x={"type": "integer", "minimum": 1}, y={"type": "string"})
    assert [(loss.path, loss.keyword) for loss in written.lost] == [("/properties/x", "minimum")]


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_name_of_a_parameter_that_claude_refuses_is_told_and_kept(provider: str) -> None:
    names = {"filter[id]": {"type": "string"}, "a/b": {"type": "string"}, "x" * 65: {"type": "string"}}
    fine = {"at.most-64_x": {"type": "object", "properties": {"in[side]": {"type": "string"}}}}
    schema = _schema(**names, **fine)
    written = translate_tools([sp.Tool("t", "", schema)], provider)
    assert ADAPTERS[provider].read_tools(written.definitions)[0].parameters["properties"].keys() == {*names, *fine}
    told = [(loss.place, loss.path, loss.warning) for loss in written.lost if loss.keyword == "name"]
    paths = ["/properties/filter[id]", "/properties/a~1b", f"/properties/{'x' * 65}"]
    is_refused = provider in ("anthropic", "bedrock")
    assert told == ([("t", path, True) for path in paths] if is_refused else [])


def test_anthropic_takes_longer_names_of_tools_than_bedrock() -> None:
    tools = [sp.Tool("x" * 128)]
    assert translate_tools(tools, "anthropic").lost == []
    assert [loss.keyword for loss in translate_tools(tools, "bedrock").lost] == ["name"]
    assert [loss.keyword for loss in translate_tools([sp.Tool("x" * 129)], "anthropic").lost] == ["name"]


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "gemini", "cohere", "bedrock"])
def test_a_name_that_a_provider_refuses_is_told_and_kept(provider: str) -> None:
    written = translate_tools([sp.Tool("the weather"), sp.Tool("fine")], provider)
    assert [(loss.place, loss.keyword) for loss in written.lost] == [("the weather", "name")]
    assert [tool.name for tool in ADAPTERS[provider].read_tools(written.definitions)] == ["the weather", "fine"]


def test_a_choice_at_the_top_of_a_schema_is_refused_by_anthropic() -> None:
    schema = {"type": "object", "properties": {}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    written = translate_tools([sp.Tool("t", "", schema)], "anthropic")
    assert written.lost == [Loss("t", "", "oneOf", "kept, but refused at the top of a schema", warning=True)]


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_a_choice_at_the_top_of_a_schema_is_refused_by_openai_and_not_by_those_who_speak_like_it(provider: str) -> None:
    schema = {"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert [loss.keyword for loss in translate_tools([sp.Tool("t", "", schema)], provider).lost] == ["anyOf"]
    assert translate_tools([sp.Tool("t", "", schema)], "deepseek").lost == []


@pytest.mark.parametrize(
    ("provider", "schema", "told"),
    [
        ("openai", {"allOf": [{"type": "string"}]}, "allOf"),
        ("openai-responses", {"oneOf": [{"type": "string"}]}, "oneOf"),
        ("anthropic", {"type": "integer", "minimum": 1}, "minimum"),
    ],
)
def test_a_keyword_that_is_not_known_where_a_schema_is_enforced_is_a_warning(
    provider: str, schema: dict[str, Any], told: str
) -> None:
    closed = _schema(x=schema) | {"required": ["x"], "additionalProperties": False}
    lost = translate_tools([sp.Tool("t", "", closed, strict=True)], provider).lost
    assert [(loss.path, loss.keyword, loss.warning) for loss in lost] == [("/properties/x", told, True)]
    assert translate_tools([sp.Tool("t", "", closed)], provider).lost == []


def test_what_a_definition_says_beyond_the_tool_is_told() -> None:
    cached = {"name": "t", "input_schema": _schema(), "cache_control": {"type": "ephemeral"}}
    search = {"type": "web_search_20250305", "name": "web_search"}
    google = {"functionDeclarations": [{"name": "u", "behavior": "BLOCKING"}], "googleSearch": {}}
    found = {
        loss.keyword for loss in translate_tools([cached, search, google, {"type": "code_interpreter"}], "openai").lost
    }
    assert found == {"cache_control", "behavior", "googleSearch", "code_interpreter", "web_search_20250305"}


@pytest.mark.parametrize("kind", ["web_search_20250305", "bash_20250124", "code_interpreter"])
def test_a_tool_that_only_its_provider_knows_is_no_function_elsewhere(kind: str) -> None:
    written = translate_tools([{"type": kind, "name": "t"}], "openai")
    assert written.definitions == []
    assert written.lost == [Loss("tools[0]", "", kind, "dropped: the provider's own tool")]
    assert ADAPTERS["openai"].format_tools([{"type": kind, "name": "t"}]) == []


def test_a_definition_that_cannot_be_read_is_a_loss() -> None:
    broken = [{"no": "tool"}, 5, {"name": "t", "parameters": "?"}, {"functionDeclarations": [3]}]
    written = translate_tools([*broken, sp.Tool("fine")], "openai")
    assert [each["function"]["name"] for each in written.definitions] == ["fine"]
    assert [loss.place for loss in written.lost] == [f"tools[{number}]" for number in range(4)]


def test_strictness_goes_where_it_is_known() -> None:
    strict = ADAPTERS["openai"].format_tools([sp.Tool("t")])[0]
    strict["function"]["strict"] = True
    assert translate_tools([strict], "openai-responses").definitions[0]["strict"] is True
    assert translate_tools([strict], "anthropic").definitions[0]["strict"] is True
    assert translate_tools([strict], "ollama").lost[0].keyword == "strict"


def test_responses_are_always_told_of_strictness() -> None:
    assert ADAPTERS["openai-responses"].format_tools([sp.Tool("t")])[0]["strict"] is False


def test_an_unknown_provider_raises_and_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"unknown provider 'klingon'; .*known are: openai"):
        translate_tools([], "klingon")
