"""What the text of an untyped parameter means under a schema, as JSON text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamparse.schema.kinds import ANY, JSON, STRING, SchemaView, is_string, read_type_attribute, to_json_text

DEFINITIONS: dict[str, Any] = {
    "$defs": {
        "a b": {"type": "integer"},
        "c/d~e": {"type": "boolean"},
        "list": [{"type": "string"}, {"type": "null"}],
        "tree": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]},
    }
}


def _read(text: str, schema: Any) -> str:
    return to_json_text(text, SchemaView([schema], DEFINITIONS).kinds)


@pytest.mark.parametrize(
    ("schema", "text", "said"),
    [
        ({"type": "string"}, "3", '"3"'),
        ({"type": "string"}, "null", '"null"'),
        ({"type": "string"}, '{"a": 1}', '"{\\"a\\": 1}"'),
        ({"type": "string"}, "  a\n", '"  a\\n"'),
        ({"type": "integer"}, " 3\n", "3"),
        ({"type": "integer"}, "42.0", "42.0"),
        ({"type": "integer"}, "42.5", '"42.5"'),
        ({"type": "integer"}, "018956", "18956"),
        ({"type": "number"}, "9007199254740993.1", "9007199254740993.1"),
        ({"type": "number"}, "-1e400", "-1e400"),
        ({"type": "number"}, "+5", "5"),
        ({"type": "number"}, "NaN", '"NaN"'),
        ({"type": "boolean"}, "True", "true"),
        ({"type": "boolean"}, "false", "false"),
        ({"type": "boolean"}, "1", '"1"'),
        ({"type": "object"}, "{'a': None, 'b': True,}", '{"a":null,"b":true}'),
        ({"type": "object"}, "[1]", '"[1]"'),
        ({"type": "array"}, "[1, 9007199254740993.1]", "[1, 9007199254740993.1]"),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "null"]}, "None", "null"),
        ({"type": ["string", "null"]}, "nullable", '"nullable"'),
        ({"type": ["integer", "string"]}, "42", "42"),
        ({"type": ["integer", "string"]}, "007", '"007"'),
        ({"type": "string", "nullable": True}, "null", "null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", "null"),
        ({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", "true"),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, "null", '"null"'),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, "7", "7"),
        ({"type": ["string", "null"], "enum": ["a", "b"]}, "null", '"null"'),
        ({"enum": [1, 2, "auto"]}, "2", "2"),
        ({"enum": ["1", "2"]}, "2", '"2"'),
        ({"enum": [1, 2, "3"]}, "3", '"3"'),
        ({"enum": [1, 2, "3"]}, "2", "2"),
        ({"enum": [None, "null", "[]", []]}, "[]", '"[]"'),
        ({"enum": [["a"], "b"]}, '["a"]', '["a"]'),
        ({"const": {"a": 1}}, '{"a": 1}', '{"a": 1}'),
        ({"anyOf": [{"type": "integer"}, {"const": "0"}]}, "0", '"0"'),
        ({"anyOf": [{"type": "integer"}, {"const": "0"}]}, "10", "10"),
        ({"const": None}, "null", "null"),
        ({"$ref": "#/$defs/a%20b"}, "3", "3"),
        ({"$ref": "#/$defs/c~1d~0e"}, "true", "true"),
        ({"$ref": "#/$defs/list/0"}, "3", '"3"'),
        ({"anyOf": [{"$ref": "#/$defs/a%20b"}, {"type": "null"}]}, "null", "null"),
        ({"$ref": "#/$defs/tree"}, '["a"]', '["a"]'),
        ({"$ref": "#/nowhere"}, "3", "3"),
        ({"$ref": "https://example.org/other"}, "3", "3"),
        ({"type": "STRING"}, "3", '"3"'),
        ({"type": "int"}, "3", "3"),
        ({"type": "string", "const": 3}, "3", "3"),
    ],
)
def test_a_text_is_what_its_schema_permits(schema: dict[str, Any], text: str, said: str) -> None:
    assert _read(text, schema) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3", "3"),
        ("-0.50", "-0.50"),
        ("007", '"007"'),
        ("true", "true"),
        ("True", '"True"'),
        ("null", "null"),
        ("None", '"None"'),
        ("[1, 2]", "[1, 2]"),
        ('{"a": "b"}', '{"a": "b"}'),
        ("{not json}", '"{not json}"'),
        ('"q"', '"\\"q\\""'),
        ("3 apples", '"3 apples"'),
        ("", '""'),
        (" \n", '" \\n"'),
    ],
)
def test_without_a_schema_a_text_is_the_json_it_looks_like_else_a_string(text: str, said: str) -> None:
    assert to_json_text(text, SchemaView([], None).kinds) == said
    assert to_json_text(text, SchemaView([{}], {}).kinds) == said


@pytest.mark.parametrize(
    ("word", "text", "said"),
    [
        ("true", "3", '"3"'),
        ("string", "null", '"null"'),
        ("false", "3", "3"),
        ("false", '"q"', '"q"'),
        ("false", "not json", '"not json"'),
        ("number", "3", "3"),
        ("object", "{'a': 1}", '{"a":1}'),
    ],
)
def test_a_type_in_the_markup_says_how_to_read(word: str, text: str, said: str) -> None:
    kinds = read_type_attribute(word)
    assert kinds is not None
    assert to_json_text(text, kinds) == said


def test_an_unknown_type_in_the_markup_says_nothing() -> None:
    assert read_type_attribute("hidden") is None


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema: dict[str, Any] = {"anyOf": [{"type": "integer"}]}
    schema["anyOf"].append(schema)
    assert SchemaView([schema], schema).kinds == {"integer"}
    wide: dict[str, Any] = {"anyOf": [{"$ref": "#"} for _ in range(50)]}
    assert SchemaView([wide], wide).kinds == ANY


def test_members_are_found_in_branches_and_references() -> None:
    root = {
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"type": "integer"}}}],
        "$defs": {"base": {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "boolean"}}},
    }
    typed = SchemaView([root], root)
    assert typed.members == {"a", "b"}
    assert typed.view_member("a").kinds == STRING
    assert typed.view_member("b").kinds == {"integer"}
    assert typed.view_member("c").kinds == {"boolean"}
    assert SchemaView([{"items": {"type": "string"}}], {}).view_item().kinds == STRING


@pytest.mark.parametrize("kinds", [ANY, JSON, STRING, frozenset({"string", "null"}), frozenset({"integer"})])
@pytest.mark.parametrize("text", ["null", "nul", "-12.5e3", "12 a", '{"a": 1}', "[", '"a"', "  true ", "import os", ""])
def test_a_text_that_is_known_to_be_a_string_stays_one(kinds: frozenset[str], text: str) -> None:
    said = [is_string(text[:size], kinds) for size in range(len(text) + 1)]
    decided = next((number for number, one in enumerate(said) if one is not None), len(said))
    assert all(one == said[decided] for one in said[decided:])
    if True in said:
        assert json.loads(to_json_text(text, kinds)) == text


def test_half_a_character_becomes_a_replacement() -> None:
    assert json.loads(to_json_text("a\ud83d", STRING)) == "a�"
