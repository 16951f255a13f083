"""The tools of a request, whatever they were given as, and what a parser asks of them."""

import pytest

from streamparse.tools import Tool, Toolset, tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BODY = {"name": "weather", "description": "Tell the weather."}
WEATHER = Tool("weather", "Tell the weather.", SCHEMA)


@pytest.mark.parametrize(
    "declared",
    [
        WEATHER,
        {"type": "function", "function": {**BODY, "parameters": SCHEMA}},
        {"type": "function", **BODY, "parameters": SCHEMA, "strict": False},
        {**BODY, "input_schema": SCHEMA},
        {"type": "custom", **BODY, "input_schema": SCHEMA},
        {**BODY, "inputSchema": SCHEMA},
        {**BODY, "parameters": SCHEMA},
        {"functionDeclarations": [{**BODY, "parameters": SCHEMA}]},
        {"function_declarations": [{**BODY, "parameters_json_schema": SCHEMA}], "google_search": {}},
        {**BODY, "parametersJsonSchema": SCHEMA},
        {"toolSpec": {**BODY, "inputSchema": {"json": SCHEMA}}},
    ],
    ids=["Tool", "OpenAI chat", "OpenAI Responses", "Anthropic", "Anthropic custom", "MCP", "bare", "Gemini",
         "Gemini, snake case", "Gemini, JSON Schema", "Bedrock"],
)  # fmt: skip
def test_a_tool_may_be_declared_in_any_providers_words(declared):
    assert list(Toolset.of([declared]).values()) == [WEATHER]


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "function", "function": {**BODY, "parameters": SCHEMA, "strict": True}},
        {"type": "function", **BODY, "parameters": SCHEMA, "strict": True},
        {**BODY, "input_schema": SCHEMA, "strict": True},
    ],
    ids=["OpenAI chat", "OpenAI Responses", "Anthropic"],
)
def test_a_schema_that_is_to_be_enforced_says_so(declared):
    assert list(Toolset.of([declared]).values()) == [Tool("weather", "Tell the weather.", SCHEMA, strict=True)]


def test_what_is_no_schema_of_openapi_stays_as_it_is():
    parameters = {"properties": {"a": {"type": "string", "nullable": True}, "b": {"any_of": [{"defs": 1}]}}}
    (read,) = Toolset.of([{"name": "x", "parameters": parameters}]).values()
    assert read.parameters == parameters


def test_null_is_one_more_of_any_of_what_gemini_lists():
    choice = {"anyOf": [{"type": "INTEGER"}, {"type": "BOOLEAN"}], "nullable": True}
    (read,) = Toolset.of([{"name": "x", "parameters": {"type": "OBJECT", "properties": {"a": choice}}}]).values()
    kinds = [{"type": "integer"}, {"type": "boolean"}, {"type": "null"}]
    assert read.parameters["properties"]["a"] == {"anyOf": kinds}


@pytest.mark.parametrize(
    "wrap", [lambda each: each, lambda each: {"functionDeclarations": [each]}], ids=["bare", "list"]
)
def test_gemini_types_become_json_schema_types(wrap):
    declared = {
        "name": "x",
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "type": {"type": "STRING", "nullable": True, "description": "TEXT"},
                "list": {"type": "ARRAY", "items": {"anyOf": [{"type": "INTEGER"}, {"type": "BOOLEAN"}]}},
            },
        },
    }
    assert Toolset.of([wrap(declared)])["x"].parameters == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"], "description": "TEXT"},
            "list": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}},
        },
    }


def test_counts_in_a_gemini_schema_may_be_texts() -> None:
    schema = {"type": "ARRAY", "items": {"type": "STRING", "minLength": "1"}, "maxItems": "5"}
    (read,) = Toolset.of([{"name": "x", "parameters": {"type": "OBJECT", "properties": {"a": schema}}}]).values()
    listed = read.parameters["properties"]["a"]
    assert (listed["maxItems"], listed["items"]["minLength"]) == (5, 1)


def test_a_definition_is_not_changed_by_reading_it():
    declared = {"name": "x", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}
    Toolset.of([declared])
    assert declared == {"name": "x", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}


def plain(city: str):
    """Plain."""


@tool(effect="read")
async def decorated(city: str):
    """Decorated."""


class Service:
    def method(self, city: str):
        """Plain method."""

    @tool(effect="idempotent")
    def declared(self, city: str):
        """Declared method."""
        return self, city


def test_functions_and_methods_are_tools():
    service = Service()
    tools = Toolset.of([plain, decorated, service.method, service.declared])
    assert {name: each.effect for name, each in tools.items()} == {
        "plain": "write",
        "decorated": "read",
        "method": "write",
        "declared": "idempotent",
    }
    assert all(list(each.parameters["properties"]) == ["city"] for each in tools.values())
    assert tools["declared"].function(city="x") == (service, "x")


@pytest.mark.parametrize(
    "own",
    [{"type": "web_search"}, {"type": "mcp", "server_label": "x"}, {"googleSearch": {}}, {"code_execution": {}}],
)
def test_tools_that_the_provider_runs_itself_are_passed_over(own):
    assert len(Toolset.of([own, WEATHER])) == 1


@pytest.mark.parametrize("definition", [{"type": "bash_20250124", "name": "bash"}, {"type": "custom", "name": "bash"}])
def test_a_providers_named_tool_has_an_unknown_schema(definition):
    assert Toolset.of([definition])["bash"].parameters == {}


@pytest.mark.parametrize("wrong", ["weather", 3, None, object(), Service, print])
def test_what_is_no_tool_is_a_type_error(wrong):
    with pytest.raises(TypeError, match="a tool must be"):
        Toolset.of([wrong])


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"description": "x"},
        {"function": "x"},
        {"function": {}},
        {"name": ""},
        {"type": "function", "function": "x"},
    ],
)
def test_a_definition_of_no_known_shape_is_a_value_error(wrong):
    with pytest.raises(ValueError):
        Toolset.of([wrong])


@pytest.mark.parametrize("wrong", ["weather", WEATHER, {"name": "weather"}, plain, 3])
def test_one_tool_instead_of_several_is_a_type_error(wrong):
    with pytest.raises(TypeError, match="iterable"):
        Toolset.of(wrong)


def test_two_tools_of_one_name_are_a_value_error():
    with pytest.raises(ValueError, match="weather"):
        Toolset.of([WEATHER, WEATHER])


def test_a_toolset_is_a_mapping_by_exact_name():
    tools = Toolset.of(iter([WEATHER, plain]))
    assert (len(tools), bool(tools), list(tools)) == (2, True, ["weather", "plain"])
    assert "weather" in tools
    assert "Weather" not in tools
    assert "weather " not in tools
    assert (tools.get("weather"), tools.get("none")) == (WEATHER, None)
    assert tools.names == {"weather", "plain"}
    assert Toolset.of(tools) is tools


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_no_tools_are_an_empty_toolset(nothing):
    tools = Toolset.of(nothing)
    assert (bool(tools), tools.names, tools.begins("")) == (False, frozenset(), False)


def test_a_name_begins_with_what_it_goes_on_after():
    tools = Toolset.of([Tool("get_weather"), Tool("get")])
    assert [tools.begins(prefix) for prefix in ("", "get", "get_", "get_weather", "weather")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "parameters, answer",
    [
        (SCHEMA, True),
        ({"type": "object", "minProperties": 1}, True),
        ({"type": "object", "properties": {"city": {}}}, False),
        ({"type": "object", "required": []}, False),
        ({"allOf": [SCHEMA]}, None),
        ({"$ref": "#/$defs/x"}, None),
        ({}, None),
    ],
)
def test_a_schema_tells_whether_a_call_needs_arguments(parameters, answer):
    assert Toolset.of([Tool("x", "", parameters)]).requires_arguments("x") is answer


def test_of_an_unknown_tool_nothing_is_known():
    tools = Toolset.of([WEATHER])
    assert (tools.requires_arguments("x"), tools.parameter_schema("x", "city")) == (None, None)


def test_a_declaration_without_parameters_takes_none():
    assert Toolset.of([{"type": "function", "function": {"name": "now"}}]).requires_arguments("now") is False


@pytest.mark.parametrize(
    "key, schema",
    [
        ("city", {"type": "string"}),
        ("place", {"type": "object"}),
        ("far", {"type": "object"}),
        ("lost", {"$ref": "#/$defs/nowhere"}),
        ("elsewhere", {"$ref": "https://example.org/x"}),
        ("circle", {"$ref": "#/$defs/circle"}),
        ("other", {"type": "number"}),
    ],
)
def test_a_parameters_schema_is_found(key, schema):
    parameters = {
        "properties": {
            "city": {"type": "string"},
            "place": {"$ref": "#/$defs/a~1b"},
            "far": {"$ref": "#/$defs/far"},
            "lost": {"$ref": "#/$defs/nowhere"},
            "elsewhere": {"$ref": "https://example.org/x"},
            "circle": {"$ref": "#/$defs/circle"},
        },
        "additionalProperties": {"type": "number"},
        "$defs": {
            "a/b": {"type": "object"},
            "far": {"$ref": "#/$defs/a~1b"},
            "circle": {"$ref": "#/$defs/circle"},
        },
    }
    assert Toolset.of([Tool("x", "", parameters)]).parameter_schema("x", key) == schema


def test_a_schema_whose_root_is_a_reference_is_followed():
    parameters = {"$ref": "#/$defs/Args", "$defs": {"Args": SCHEMA}}
    assert Toolset.of([Tool("x", "", parameters)]).parameter_schema("x", "city") == {"type": "string"}


def test_a_parameter_that_is_not_declared_has_no_schema():
    assert Toolset.of([WEATHER]).parameter_schema("weather", "town") is None


def test_reading_tools_does_not_load_anyio():
    import subprocess
    import sys

    code = "import sys, streamparse.tools; sys.exit('anyio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("parameters", "requires"),
    [
        ({}, None),
        ({"type": "object"}, False),
        ({"type": "object", "required": []}, False),
        (SCHEMA, True),
        ({"type": "object", "minProperties": 1}, True),
        *(({"type": "object", word: [SCHEMA]}, None) for word in ("allOf", "anyOf", "oneOf")),
        *(({"type": "object", word: SCHEMA}, None) for word in ("not", "if")),
        ({"$ref": "#/$defs/a", "$defs": {"a": SCHEMA}}, None),
    ],
)
def test_whether_a_tool_requires_arguments_is_said_only_where_it_is_certain(parameters, requires):
    assert Toolset([Tool("f", parameters=parameters)]).requires_arguments("f") is requires
    assert Toolset().requires_arguments("f") is None


def test_a_toolset_shows_the_names_of_its_tools():
    assert repr(Toolset.of([{"name": "b"}, {"name": "a"}])) == "Toolset(['a', 'b'])"


def test_null_is_one_more_value_of_an_enumeration_of_gemini():
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "enum": ["x"], "nullable": True}}}
    (read,) = Toolset.of([{"name": "x", "parameters": schema}]).values()
    assert read.parameters["properties"]["a"] == {"type": ["string", "null"], "enum": ["x", None]}
