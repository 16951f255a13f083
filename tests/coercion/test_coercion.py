"""What the text of an untyped parameter means under a schema, as JSON text."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import combinations
from typing import Any, TypeAlias

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


Meanings: TypeAlias = dict[tuple[str, ...], dict[str, str]]

_PLAIN: Meanings = {  # what texts are where one of these kinds is permitted, whatever else is
    ("null", " null\n"): {"null": "null"},
    ("true",): {"boolean": "true"},
    ("false",): {"boolean": "false"},
    ("3",): {"integer": "3", "number": "3"},
    ("-0",): {"integer": "-0", "number": "-0"},
    (" 42.00 ",): {"integer": "42.00", "number": "42.00"},
    ("-0.5",): {"number": "-0.5"},
    ("10E-2",): {"number": "10E-2"},
    ("1.5e+7",): {"number": "1.5e+7"},
    ("[1, 2]",): {"array": "[1, 2]"},
    (' {"a": "b"}',): {"object": '{"a": "b"}'},
    ("", " ", "word", "nul", "nulls", "tru", "tRUE", "1 2", "3,5", "1.", ".5", "1e", "--1", "NaN", "0x1f", "1_000"): {},
    ("{not json}", "[1", "]", "}", '"q"', "null true", "Infinity"): {},
}
_NATIVE: Meanings = {  # the same, where something is known
    ("None", "NULL"): {"null": "null"},
    ("True", "TRUE"): {"boolean": "true"},
    ("False", " FALSE"): {"boolean": "false"},
    ("{'a': None}",): {"object": '{"a":null}'},
    ("['a', True,]",): {"array": '["a",true]'},
}
_ADORNED: Meanings = {  # the same, where no text may be meant
    ("+5", "005", "+05"): {"integer": "5", "number": "5"},
    ("-007.0",): {"integer": "-7.0", "number": "-7.0"},
    ("+1.5",): {"number": "1.5"},
    ("00",): {"integer": "0", "number": "0"},
}
TYPES = sorted(ANY)


@pytest.mark.parametrize("types", [{*subset} for size in range(1, 8) for subset in combinations(TYPES, size)])
def test_a_text_is_what_it_looks_like_of_the_kinds_that_are_permitted(types: set[str]) -> None:
    kinds = SchemaView([{"type": [*types]}], {}).kinds
    assert kinds == types | ({"integer"} if "number" in types else set())
    for table, counts in ((_PLAIN, True), (_NATIVE, kinds != ANY), (_ADORNED, "string" not in kinds)):
        for texts, meanings in table.items():
            said = next((meanings[kind] for kind in TYPES if counts and kind in meanings.keys() & types), None)
            for text in texts:
                assert to_json_text(text, kinds) == (json.dumps(text) if said is None else said)


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("string", "str", "text"), {"string"}),
        (("integer", "int", "long"), {"integer"}),
        (("number", "float", "double"), {"number", "integer"}),
        (("boolean", "bool"), {"boolean"}),
        (("object", "dict"), {"object"}),
        (("array", "list"), {"array"}),
        (("null",), {"null"}),
        (("any", "date", ""), ANY),
    ],
)
def test_the_types_of_a_schema_have_names_of_their_own_and_of_languages(
    words: tuple[str, ...], kinds: set[str]
) -> None:
    for word in words:
        for spelling in (word, word.upper(), word.title()):
            assert (
                SchemaView([{"type": spelling}], {}).kinds == SchemaView([{"type": [spelling, 3]}], {}).kinds == kinds
            )
        named = {"string": STRING}.get(word, JSON if kinds != ANY else None)
        assert read_type_attribute(word) == named or word == "string"
    assert [read_type_attribute(word) for word in ("true", "string", "false")] == [STRING, STRING, JSON]


@pytest.mark.parametrize("kind, value", [
    ("null", None), ("boolean", False), ("integer", 0), ("number", 0.5), ("string", ""), ("object", {}), ("array", []),
    ("string", Decimal(1)),
])  # fmt: skip
def test_a_value_that_a_schema_lists_has_its_kind(kind: str, value: Any) -> None:
    assert SchemaView([{"const": value}], {}).kinds == {kind}
    assert SchemaView([{"const": value, "enum": [value, 7]}], {}).kinds == {kind}
    assert SchemaView([{"enum": [value, 7]}], {}).kinds == {kind, "integer"}
    assert SchemaView([{"enum": value}], {}).kinds == ({kind} if value not in (None, []) else ANY)  # no list


@pytest.mark.parametrize(("schema", "kinds"), [
    (True, ANY), ({}, ANY), (None, ANY), ("string", ANY),
    ({"allOf": [{"type": "integer"}, {"type": "string"}]}, ANY),
    ({"allOf": {"type": ["integer", "string"]}, "anyOf": {"type": ["string", "null"]}}, {"string"}),
    ({"anyOf": [], "type": "null"}, {"null"}),
    ({"anyOf": [{"type": "null"}], "oneOf": [{"type": ["null", "array"]}]}, {"null"}),
    ({"oneOf": [{"type": "integer"}, {"type": "array"}], "type": ["array", "object"]}, {"array"}),
    ({"anyOf": [{"type": "integer"}, True]}, ANY),
    ({"type": "integer", "nullable": True}, {"integer", "null"}),
    ({"type": "integer", "nullable": "true"}, {"integer"}),
    ({"type": "integer", "nullable": False}, {"integer"}),
    ({"type": "integer", "const": "a", "nullable": True}, ANY),
    ({"$ref": "#/$defs/a%20b", "type": ["integer", "null"]}, {"integer"}),
    ({"$ref": "#/nowhere", "type": "null"}, {"null"}),
    ({"allOf": [{"$ref": "#/$defs/a%20b"}, {"type": ["integer", "boolean"]}]}, {"integer"}),
    ({"$ref": "#/$defs/tree"}, {"string", "array"}),
    ({"enum": ["a", "1", "null", "x"], "type": ["string", "integer"]}, {"string"}),
    ({"anyOf": [{"const": "1"}, {"enum": ["2", "b", 3]}]}, {"string", "integer", "=1", "=2"}),
    ({"type": "integer", "enum": ["1", 2]}, {"integer"}),
])  # fmt: skip
def test_all_that_a_schema_says_holds_together(schema: Any, kinds: set[str]) -> None:
    assert SchemaView([schema], DEFINITIONS).kinds == kinds


def test_a_member_is_what_all_branches_that_declare_it_say() -> None:
    branches = {"oneOf": [{"properties": {"a": {"type": "string"}, "b": {}}}, {"properties": {"a": {"type": "null"}}}]}
    odd = {"properties": ["c"], "additionalProperties": True, "items": {"type": "null"}}
    view = SchemaView([{"properties": {"a": {"type": "boolean"}}, **branches}, odd], {})
    assert view.members == {"a", "b"}
    assert view.view_member("a").kinds == {"boolean", "string", "null"}
    assert view.view_member("a") is view.view_member("a")
    assert view.view_member("b").kinds == view.view_member("c").kinds == ANY
    assert view.view_item().kinds == {"null"}
    others = SchemaView([{"additionalProperties": {"type": "null"}, "items": False}, {"properties": {"a": None}}], {})
    assert others.view_member("a").kinds == others.view_member("x").kinds == {"null"}
    assert others.view_item().kinds == ANY
    inner = SchemaView([{"properties": {"a": {"$ref": "#/$defs/list/0"}}}], DEFINITIONS).view_member("a")
    assert inner.kinds == STRING


def test_a_number_of_so_many_digits_is_a_text() -> None:
    assert is_string("1" * 1000, ANY) is None
    assert is_string("1" * 1001, ANY) is True
    assert to_json_text("1" * 1000, ANY) == "1" * 1000
    assert to_json_text("1" * 1001, ANY) == f'"{"1" * 1001}"'
    assert is_string(" ", ANY) is None
    assert [is_string(head, JSON) for head in (" {", "[x", '"', "x")] == [False, False, False, True]
