"""Arguments are checked as JSON Schema says, in time and room that the model cannot choose, and nothing is fetched."""

from __future__ import annotations

import json
import math
import socket
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamparse as sp
from streamparse.repair import PathGuard, Preflight, preflight
from streamparse.schema.rewriting import FORMATS
from streamparse.schema.validation import compile_schema

pytest.importorskip("jsonschema_rs")

INTEGER = {"type": "integer"}
BOOLEAN = {"type": "boolean"}


def _checked(schema: dict[str, Any], arguments: dict[str, Any], **options: Any) -> Preflight:
    return preflight(sp.ToolCall("f", arguments), [sp.Tool("f", parameters=schema)], **options)


def _value(schema: dict[str, Any], value: Any) -> Preflight:
    return _checked({"type": "object", "properties": {"a": schema}}, {"a": value})


def _codes(result: Preflight) -> list[str]:
    return [finding.code for finding in result.findings]


def _deep(levels: int, wrap: Any) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


# -- conversions


@pytest.mark.parametrize(
    ("schema", "came", "became"),
    [
        (INTEGER, "3", 3),
        (INTEGER, "-3.0", -3),
        (INTEGER, "1e3", 1000),
        (INTEGER, "9007199254740993", 9007199254740993),
        ({"type": "number"}, "1.50", 1.5),
        ({"type": "number"}, "9007199254740993", 9007199254740993),
        (BOOLEAN, "true", True),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "string"}, 2.5, "2.5"),
        ({"type": "string"}, 10**400, "1" + 400 * "0"),
        ({"enum": [1, 2, 3]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"enum": [None, True]}, "true", True),
        ({"const": 5}, "5", 5),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "3", 3),
        ({"oneOf": [{"enum": [1]}, {"enum": [2]}]}, "2", 2),
        ({"anyOf": [{"type": "array", "items": INTEGER}, BOOLEAN]}, '["1"]', [1]),
    ],
)
def test_a_value_is_read_as_what_is_wanted_where_nothing_is_lost(schema: Any, came: Any, became: Any) -> None:
    result = _value(schema, came)
    assert result.ok
    assert result.call.arguments == {"a": became}
    assert type(result.call.arguments["a"]) is type(became)
    assert set(_codes(result)) == {"coerced"}


@pytest.mark.parametrize(
    ("came", "became"),
    [
        ({"1": "5", "0": "6"}, {"1": 5, "0": 6}),
        ({"1": "x"}, None),
        ({"01": "5"}, None),
        ({"": "5"}, None),
        ({"1": 5, "+1": "5"}, None),
    ],
)
def test_keys_that_look_like_numbers_are_keys(came: dict[str, Any], became: dict[str, Any] | None) -> None:
    result = _value({"type": "object", "additionalProperties": INTEGER}, came)
    assert result.ok == (became is not None)
    assert result.call.arguments == {"a": became or came}


def test_a_value_is_converted_at_its_own_place_alone() -> None:
    inner = {"type": "object", "properties": {"a": INTEGER}}
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": inner}
    assert _checked(schema, {"a": "5", "": {"a": "7"}}).call.arguments == {"a": "5", "": {"a": "7"}}
    assert _checked(schema, {"": {"b": 1, "a": "7"}, "1": {"a": "7"}}).call.arguments["1"] == {"a": 7}


@pytest.mark.parametrize(
    ("written", "text"),
    [("2.5", "2.5"), ("-0.5", "-0.5"), ("3.10", None), ("10.00", None), ("1e2", None), ("1234567890123456.78", None)],
)
def test_a_number_is_no_text_that_was_not_written_so(written: str, text: str | None) -> None:
    raw = f'{{"a": {written}}}'
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    result = preflight(sp.ToolCall("tool", json.loads(raw), raw=raw), [sp.Tool("tool", parameters=schema)])
    assert result.ok == (text is not None)
    assert result.call.arguments == (json.loads(raw) if text is None else {"a": text})


@pytest.mark.parametrize(
    ("schema", "came"),
    [
        *((INTEGER, text) for text in (" 3", "3 ", "03", "+3", "3.5", "1e-1", "0x10", "NaN", "Infinity", "", "1_000")),
        *((INTEGER, value) for value in (3.5, True, None, [3], "1" * 5000, "9" * 400 + ".5")),
        *(({"type": "number"}, text) for text in ("NaN", "1e400", "0.1000000000000000055511151231257827", "1.")),
        *((BOOLEAN, value) for value in ("True", "yes", "1", 1, 0, "null")),
        *(({"enum": [1, 2]}, value) for value in ("3", "1.5", True, "one")),
        ({"const": "true"}, "True"),
        ({"type": "array"}, "[1"),
        ({"type": "array"}, "1"),
    ],
)
def test_a_value_of_which_something_would_be_lost_or_guessed_stays_and_is_refused(schema: Any, came: Any) -> None:
    result = _value(schema, came)
    assert not result.ok
    assert result.call.arguments == {"a": came}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"b": float("-inf")}], [10**5000], {"b": -(10**1000)}])
@pytest.mark.parametrize("schema", [{}, INTEGER, {"type": "string"}, {"enum": [1]}, {"maximum": 3}])
def test_a_number_that_json_cannot_hold_or_nobody_can_write_is_refused(schema: Any, value: Any) -> None:
    assert _codes(_value(schema, value)) == ["invalid_value"]


SHAPES = {
    "oneOf": [
        {"properties": {"kind": {"const": "a"}, "size": {"type": "string"}}, "required": ["kind", "size"]},
        {"properties": {"kind": {"const": "b"}, "size": BOOLEAN, "count": INTEGER}, "required": ["kind", "count"]},
    ]
}


def test_of_a_choice_the_branch_is_taken_that_the_conversions_meet() -> None:
    result = _value(SHAPES, {"kind": "b", "size": True, "count": "3"})
    assert result.ok
    assert result.call.arguments["a"] == {"kind": "b", "size": True, "count": 3}
    assert [finding.path for finding in result.findings] == ["/a/count"]


def test_where_no_branch_of_a_choice_can_be_met_nothing_is_converted() -> None:
    came = {"kind": "b", "size": "no", "count": "3"}
    result = _value(SHAPES, came)
    assert not result.ok
    assert result.call.arguments["a"] == came


@pytest.mark.parametrize("value", ["3", 3])
def test_a_value_that_is_wanted_as_two_things_is_converted_once_and_refused(value: Any) -> None:
    result = _value({"allOf": [{"type": "string"}, INTEGER]}, value)
    assert not result.ok
    assert _codes(result) == ["coerced", "wrong_type"]
    assert result.call.arguments == {"a": {"3": 3, 3: "3"}[value]}


def test_what_is_wrong_with_a_name_changes_no_value() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "propertyNames": {"const": 1}}}}
    result = _checked(schema, {"a": {"1": 2}})
    assert result.call.arguments == {"a": {"1": 2}}
    assert not result.ok


# -- what is told


@pytest.mark.parametrize(
    ("schema", "value", "code", "path", "message"),
    [
        (
            {"anyOf": [INTEGER, {"type": "null"}]},
            "x",
            "wrong_type",
            "/a",
            'a: "x" is not of type "integer"; or "x" is not of type "null"',
        ),
        (SHAPES, {"kind": "b", "count": []}, "wrong_type", "/a/count", 'a.count: [] is not of type "integer"'),
        (SHAPES, {"kind": "b"}, "missing_parameter", "/a", 'a: "count" is a required property'),
        (
            {"anyOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}}}]},
            {"k": 3},
            "invalid_value",
            "/a",
            "a: k: 1 was expected; or k: 2 was expected",
        ),
        ({"format": "date"}, "tomorrow", "invalid_value", "/a", 'a: "tomorrow" is not a "date"'),
    ],
)
def test_what_is_wrong_in_a_choice_is_told_so_that_it_can_be_put_right(
    schema: Any, value: Any, code: str, path: str, message: str
) -> None:
    (finding,) = _value(schema, value).findings
    assert (finding.code, finding.path, finding.message) == (code, path, message)


def test_a_schema_is_read_as_it_stands_at_each_call() -> None:
    parameters: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = sp.Tool("f", parameters=parameters)
    assert not preflight(sp.ToolCall("f", {"a": "x"}), [tool]).ok
    parameters["properties"]["a"]["type"] = "string"
    assert preflight(sp.ToolCall("f", {"a": "x"}), [tool]).findings == ()


@pytest.mark.parametrize("limit", [{"maximum": math.inf}, {"multipleOf": Decimal("0.5")}])
def test_a_limit_may_be_a_number_that_json_cannot_hold(limit: Any) -> None:
    assert _value({"type": "number", **limit}, 3).ok
    assert _codes(_value({"type": "number", **limit}, "x")) == ["wrong_type"]


@pytest.mark.parametrize("default", [object(), {1, 2}, "\ud800", _deep(5000, lambda value: [value])])
def test_a_schema_may_hold_beside_it_what_json_cannot(default: Any) -> None:
    assert _value({"type": "integer", "default": default}, 3).ok
    assert _codes(_value({"enum": [default]}, "3")) in (["invalid_value"], ["invalid_schema"])


def test_the_same_is_told_once() -> None:
    schema = {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"required": ["x"]}}}
    assert _codes(_checked(schema, {})) == ["missing_parameter"]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "description": None, "enum": None, "format": None, "minimum": None}, 1, "x"),
        ({"type": "string", "title": 5}, "x", None),
        ({"type": "int"}, 1, "x"),
        ({"type": ["str", None]}, None, [1]),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, 1, 0),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": False}, 0, -1),
        ({"type": "integer", "exclusiveMaximum": True}, 9, "x"),
        ({"type": "object", "required": ["b", "b"], "properties": {"b": {"const": None}}}, {"b": None}, {"b": 1}),
    ],
)
def test_a_schema_that_programs_or_people_write_otherwise_is_read_as_it_is_meant(
    schema: Any, good: Any, bad: Any
) -> None:
    assert _value(schema, good).findings == ()
    assert [finding.code for finding in _value(schema, bad).findings if finding.fatal] in (
        ["wrong_type"],
        ["invalid_value"],
    )


def test_a_draft_4_schema_keeps_its_words() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"minimum": 0}}}
    schema["properties"]["a"]["exclusiveMinimum"] = True  # type: ignore[index]
    assert [_checked(schema, {"a": number}).ok for number in (0, 1)] == [False, True]


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a": {"type": "integer", "required": True}}}, "$.properties.a.required"),
        ({"properties": {"a": {"type": "INTEGER"}}}, "$.properties.a.type"),
        ({"required": "a"}, "$.required"),
        ({"pattern": ["a"]}, "$.pattern"),
    ],
)
def test_a_schema_that_is_none_is_told_with_the_place(schema: Any, place: str) -> None:
    (finding,) = _checked(schema, {"a": 1}).findings
    assert finding.code == "invalid_schema"
    assert finding.message.endswith(f"(at {place})")


@pytest.mark.parametrize(
    "schema", [{"anyOf": [False]}, {"oneOf": [False, False]}, {"anyOf": [False, {"type": "integer"}]}]
)
def test_a_choice_may_have_branches_that_nothing_meets(schema: Any) -> None:
    assert not _value(schema, []).ok
    assert _value({"anyOf": [False, INTEGER]}, "3").call.arguments == {"a": 3}


# -- what jsonschema says

VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 1.0, 0.5, "", "1", "1.0", "true", "null", "[1]", "{}", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)
TYPES = st.sampled_from(["integer", "number", "string", "boolean", "null", "array", "object"])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    one_of = [
        *(st.fixed_dictionaries({key: inner}) for key in ("items", "not", "contains", "propertyNames")),
        *(st.fixed_dictionaries({key: several}) for key in ("anyOf", "oneOf", "allOf", "prefixItems")),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner, "dependentSchemas": by_name}),
        st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=3), "uniqueItems": st.booleans()}),
        st.fixed_dictionaries({"type": TYPES, "const": VALUES}),
        st.fixed_dictionaries(
            {"properties": by_name},
            optional={
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=1),
                "additionalProperties": inner,
                "unevaluatedProperties": inner,
                "allOf": several,
                "required": st.lists(st.sampled_from("abc"), max_size=1),
            },
        ),
    ]
    return st.one_of(one_of)


SCHEMAS = _schemas(st.recursive(st.booleans() | st.fixed_dictionaries({"type": TYPES}), _schemas, max_leaves=5))


@given(SCHEMAS, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_call_may_be_run_just_where_jsonschema_says_so_of_what_it_became(schema: Any, arguments: Any) -> None:
    from jsonschema import Draft202012Validator

    judge = Draft202012Validator(schema)
    as_it_came = _checked(schema, arguments, coerce=False)
    assert as_it_came.ok is judge.is_valid(arguments)
    converted = _checked(schema, arguments)
    assert converted.ok is judge.is_valid(converted.call.arguments)
    assert converted.call.arguments == arguments or not as_it_came.ok, "what fits stays as it is"


# -- formats


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", ["2025-01-31"], ["tomorrow", "2025-02-30", "20250131", "2025-1-5", "٢٠٢٥-01-31", ""]),
        (
            "date-time",
            [
                "2025-01-31T10:00:00Z",
                "2025-01-31t10:00:00z",
                "2025-01-31 10:00",
                "2025-01-31T10:00:00.5+02:00",
                "1990-12-31T23:59:60Z",
            ],
            ["2025-01-31", "2025-01-31T25:00", "now", "2025-01-31T", "2025-01-31T10:60:00Z"],
        ),
        ("time", ["10:00", "10:00:00Z", "10:00:00+02:00", "23:59:60Z"], ["10am", "25:00", "10", "10:60"]),
        ("email", ["a@b.c"], ["a", "a b@c", "@"]),
        ("ipv4", ["127.0.0.1"], ["1.2.3", "256.0.0.1", "::1"]),
        ("ipv6", ["::1", "2001:db8::"], ["1.2.3.4", "x", ":::"]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567", "{123e4567-e89b-12d3-a456-426614174000}"]),
    ],
)
def test_a_text_must_have_the_format_that_its_schema_names(name: str, good: list[str], bad: list[str]) -> None:
    assert all(_value({"type": "string", "format": name}, text).ok for text in good)
    assert [_codes(_value({"type": "string", "format": name}, text)) for text in bad] == [["invalid_value"]] * len(bad)
    assert _value({"format": name}, 5).ok, "a format says nothing of what is no text"


@given(st.text())
@pytest.mark.parametrize("name", FORMATS)
def test_any_text_has_a_format_or_has_it_not(name: str, text: str) -> None:
    assert _codes(_value({"format": name}, text)) in ([], ["invalid_value"])


def test_a_format_that_is_not_known_binds_nothing() -> None:
    assert _value({"type": "string", "format": "colour"}, "x").ok


# -- references


@pytest.mark.parametrize(
    "reference", ["http://{}/x", "http://{}/x#/$defs/a", "//{}/x", "file:///etc/hosts", "other.json"]
)
def test_a_reference_to_elsewhere_is_told_and_never_fetched(reference: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        host = f"127.0.0.1:{server.getsockname()[1]}"
        (finding,) = _value({"$ref": reference.format(host)}, 1).findings
        assert finding.code == "invalid_schema"
        assert reference.format(host).partition("#")[0] in finding.message
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://example.com/a", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": INTEGER}},
        {
            "$id": "https://example.com/a",
            "properties": {"a": {"$ref": "q"}},
            "$defs": {"x": {"$id": "q", "type": "integer"}},
        },
        {"properties": {"a": {"$ref": "#x"}}, "$defs": {"x": {"$anchor": "x", "type": "integer"}}},
        {"properties": {"a": {"$dynamicRef": "#x"}}, "$defs": {"x": {"$dynamicAnchor": "x", "type": "integer"}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"$ref": "#/definitions/x"}},
            "definitions": {"x": INTEGER},
        },
        {"$schema": "https://example.com/nobody-knows", "properties": {"a": INTEGER}},
    ],
)
def test_references_within_the_schema_are_followed(schema: Any) -> None:
    assert _checked({"type": "object", **schema}, {"a": "3"}).call.arguments == {"a": 3}
    assert _codes(_checked({"type": "object", **schema}, {"a": "x"})) == ["wrong_type"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_a_schema_that_leads_round_in_a_circle_is_the_schemas_fault(schema: Any) -> None:
    assert _codes(_checked(schema, {"a": 1})) == ["invalid_schema"]


# -- draft by draft


def test_what_openapi_calls_nullable_may_be_null() -> None:
    schema = {"type": "integer", "nullable": True}
    assert _value(schema, None).findings == ()
    assert _codes(_value(schema, "x")) == ["wrong_type"]
    assert _codes(_value({**schema, "nullable": False}, None)) == ["wrong_type"]


UNIQUE: list[tuple[list[Any], bool]] = [
    ([1, True, 0, False, "1", None], True),
    ([1, 1.0], False),
    ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
    ([{"a": 1}, {"a": True}], True),
    ([[1], [[1]]], True),
    ([None, None], False),
]


@pytest.mark.parametrize(("values", "unique"), UNIQUE)
def test_elements_are_unique_by_their_values(values: list[Any], unique: bool) -> None:
    assert _value({"uniqueItems": True}, values).ok is unique
    assert _value({"uniqueItems": False}, values).ok


def test_many_objects_are_compared_without_comparing_each_with_each() -> None:
    values: list[Any] = [{"number": number} for number in range(30_000)]
    assert _value({"uniqueItems": True}, values).ok
    assert not _value({"uniqueItems": True}, [*values, {"number": 0}]).ok


EVALUATED = {
    "type": "object",
    "unevaluatedProperties": False,
    "$ref": "#/$defs/named",
    "$defs": {"named": {"patternProperties": {r"^\p{Lu}": {}}}},
    "allOf": [{"properties": {"x": INTEGER}}],
    "anyOf": [{"properties": {"y": {}}, "required": ["y"]}, {"properties": {"z": {}}, "required": ["z"]}],
    "if": {"properties": {"x": {"const": 1}}, "required": ["x"]},
    "then": {"properties": {"one": {}}},
    "else": {"properties": {"other": {}}},
    "dependentSchemas": {"y": {"properties": {"beside": {}}}},
}


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ({"x": 1, "y": 0, "É": 0, "one": 0, "beside": 0}, None),
        ({"x": 2, "y": 0, "z": 0, "other": 0}, None),
        ({"x": 2, "y": 0, "one": 0}, "'one'"),
        ({"x": 1, "y": 0, "other": 0}, "'other'"),
        ({"z": 0, "beside": 0}, "'beside'"),
        ({"y": 0, "é": 0, "w": 0}, "'é', 'w'"),
    ],
)
def test_a_member_that_no_schema_in_force_speaks_of_is_unevaluated(arguments: Any, left: str | None) -> None:
    result = _checked(EVALUATED, arguments)
    assert result.ok is (left is None)
    assert left is None or f"({left} w" in result.message  # was, were


def test_what_is_unevaluated_may_have_a_schema_of_its_own() -> None:
    schema = {"properties": {"a": {}}, "unevaluatedProperties": INTEGER}
    assert _checked(schema, {"a": "x", "b": 2}).ok
    assert _codes(_checked(schema, {"b": "x"})) == ["extra_parameter"]
    old = {"$schema": "https://json-schema.org/draft/2019-09/schema", **schema, "unevaluatedProperties": False}
    assert _codes(_checked(old, {"a": 1, "b": 2})) == ["extra_parameter"]


# -- what a model could make endless


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"path": value}])
@pytest.mark.parametrize("options", [{}, {"sanitise": True}, {"guards": [PathGuard("path")]}, {"coerce": False}])
@pytest.mark.parametrize("schema", [{}, INTEGER, {"enum": [1]}, {"uniqueItems": True}])
def test_arguments_that_nest_too_deeply_are_looked_at_no_further(schema: Any, options: Any, wrap: Any) -> None:
    whole = {"type": "object", "properties": {"a": schema, "b": INTEGER}}
    result = _checked(whole, {"a": _deep(20_000, wrap), "b": "3"}, **options)
    assert [(finding.code, finding.message) for finding in result.findings] == [
        ("invalid_value", "the arguments nest too deeply")
    ]


def test_arguments_may_nest_as_deeply_as_a_stream_lets_them() -> None:
    schema = {"type": "object", "properties": {"path": {"anyOf": [{"$ref": "#"}, INTEGER]}}}
    deep = _deep(sp.Limits().max_depth or 0, lambda value: {"path": value})
    assert _checked({**schema, "additionalProperties": False}, deep, guards=[PathGuard("path")], sanitise=True).ok


CARELESS = r"^((?=a)a|a)*$"
LONG = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {f"p{n}": {"pattern": CARELESS} for n in range(50)}}, {f"p{n}": LONG for n in range(50)}),
        ({"properties": {"a": {"items": {"pattern": CARELESS}}}}, {"a": [LONG] * 1000}),
        ({"properties": {"a": {"pattern": CARELESS}}}, {"a": "a" * 100_000}),
        ({"properties": {"a": {"not": {"pattern": CARELESS}}}}, {"a": LONG}),
        ({"patternProperties": {CARELESS: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"unevaluatedProperties": False, "patternProperties": {CARELESS: {}}}, {LONG: 1}),
        ({"unevaluatedProperties": False, "allOf": [{"patternProperties": {CARELESS: {}}}]}, {LONG: 1}),
        ({"propertyNames": {"pattern": CARELESS}}, {LONG: 1}),
    ],
)
def test_patterns_that_would_step_back_without_end_are_told_before_anything_is_decided_by_them(
    schema: Any, arguments: Any
) -> None:
    assert [finding.code for finding in _checked(schema, arguments).findings if finding.fatal] == ["too_costly"]
    assert _checked({"properties": {"a": {"pattern": "^a$"}}}, {"a": "a"}).ok


def _doubling(levels: int, last: Any = INTEGER) -> dict[str, Any]:
    """A schema of a line for each level, of which each asks twice for the next."""
    steps = {f"s{level}": {"allOf": [{"$ref": f"#/$defs/s{level + 1}"}] * 2} for level in range(levels)}
    return {"properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": {**steps, f"s{levels}": last}}


def _nested_unevaluated(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


TWICE_BY_LEVEL = {"allOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (_doubling(30), {"a": 1}),
        (_doubling(30), {"a": "x"}),
        (_doubling(300, {"not": {}}), {"a": "x"}),
        (_nested_unevaluated(30), {"a": 1}),
        (TWICE_BY_LEVEL, _deep(100, lambda value: {"a": value})),
        ({"properties": {"a": {"pattern": "(a{100}){90}"}}}, {"a": "a" * 100_000}),
        ({"properties": {"a": {"items": {"enum": [*range(9000)]}}}}, {"a": [*range(9000)]}),
    ],
    ids=["doubling", "doubling, wrong", "300 levels", "unevaluated", "by the arguments", "pattern", "enum"],
)
def test_a_schema_that_would_take_for_ever_is_told_by_counting(schema: Any, arguments: Any) -> None:
    assert _codes(_checked(schema, arguments)) == ["too_costly"]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (_doubling(12), {"a": 1}),
        (_nested_unevaluated(6), {"a": 1}),
        (TWICE_BY_LEVEL, _deep(10, lambda value: {"a": value})),
        ({"properties": {"a": {"items": {"enum": [*range(100)]}}}}, {"a": [*range(100)]}),
    ],
)
def test_what_takes_some_steps_is_looked_at(schema: Any, arguments: Any) -> None:
    assert _checked(schema, arguments).ok


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {f"^a{number}$": {} for number in range(900)}},
        {"allOf": [{"additionalProperties": {"type": "integer"}}] * 900},
    ],
    ids=["patterns", "members"],
)
def test_what_is_too_much_to_count_is_too_costly(schema: Any) -> None:
    arguments = {f"a{number}": number for number in range(200_000)}
    assert _codes(_checked({"allOf": [schema, schema]}, arguments)) == ["too_costly"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"const": "a" * 1_000_000}}, ["b"] * 2_000),
        ({"items": {"enum": ["a" * 1_000_000]}}, ["b"] * 2_000),
        ({"items": {"not": {"enum": ["b", "a" * 1_000_000]}}}, ["b"] * 2_000),
        ({"allOf": [INTEGER] * 2_000}, "b" * 1_000_000),
        ({"required": [str(number) for number in range(2_000)]}, {"b": "b" * 1_000_000}),
    ],
    ids=["const", "enum", "not", "allOf", "required"],
)
def test_errors_that_would_fill_the_memory_are_not_told_one_by_one(schema: Any, value: Any) -> None:
    (finding,) = [each for each in _value(schema, value).findings if each.fatal]
    assert "too large to say where" in finding.message


def test_of_arguments_with_very_many_errors_it_is_told_that_there_are_some() -> None:
    (finding,) = _value({"items": INTEGER}, ["x"] * 50_000).findings
    assert (finding.code, finding.fatal) == ("invalid_value", True)
    assert "too large to say where" in finding.message


@pytest.mark.parametrize(
    "schema",
    [
        _deep(300, lambda inner: {"not": inner} if isinstance(inner, dict) else {"not": {}}),
        {"enum": ["x" * 5_000_000]},
        {"properties": {f"p{number}": {} for number in range(20_000)}},
    ],
    ids=["deep", "long", "many"],
)
def test_a_schema_that_is_too_large_is_told(schema: Any) -> None:
    assert _codes(_value(schema, 1)) == ["invalid_schema"]


def test_a_member_may_be_called_as_a_keyword_is() -> None:
    schema = {"type": "object", "properties": {"propertyNames": {"type": "integer"}}}
    found = _checked(schema, {"propertyNames": "3"})
    assert found.ok
    assert found.call.arguments == {"propertyNames": 3}


def test_numbers_with_one_hash_are_compared_without_comparing_each_with_each() -> None:
    alike = [number * (2**61 - 1) for number in range(200_000)]
    assert _value({"uniqueItems": True}, alike).ok
    assert _codes(_value({"uniqueItems": True}, [*alike, float(2**61)])) == []
    assert _codes(_value({"uniqueItems": True}, [2**52, float(2**52)])) == ["invalid_value"]
    assert _value({"uniqueItems": True}, [1, "1", True, [1]]).ok


@pytest.mark.parametrize("member", [True, False, 5, 1.5, None, [1], {"k": 1}])
def test_the_text_of_a_listed_value_of_any_type_is_read_as_that_value(member: Any) -> None:
    schema = compile_schema({"type": "object", "properties": {"a": {"enum": [member]}}})
    arguments, (finding,) = schema.check({"a": json.dumps(member)}, coerce=True)
    assert repr(arguments) == repr({"a": member})
    assert (finding.code, finding.path, finding.fatal) == ("coerced", "/a", False)
