"""Arguments checked against a tool before it runs, and made into the values that its function takes."""

import datetime
from typing import Annotated

import msgspec
import pytest

from streamparse.tools import InvalidArguments, Tool, bind, validate

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "share": {"type": "number"},
        "flag": {"type": "boolean"},
        "list": {"type": "array"},
        "map": {"type": "object"},
        "maybe": {"type": ["string", "null"]},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "free": {},
    },
    "required": ["city"],
    "additionalProperties": False,
}
BY_SCHEMA = Tool("weather", "", SCHEMA)


@pytest.mark.parametrize(
    "more",
    [
        {"days": 3}, {"days": 3.0}, {"share": 1}, {"share": 0.5}, {"flag": False}, {"list": []}, {"map": {}},
        {"maybe": None}, {"maybe": ""}, {"unit": "C"}, {"free": [None]},
    ],
)  # fmt: skip
def test_arguments_that_fit_the_schema_have_no_message(more):
    assert validate(BY_SCHEMA, {"city": "Paris", **more}) is None


@pytest.mark.parametrize(
    "more, message",
    [
        ({"days": "3"}, "'days' must be of type integer, not string"),
        ({"days": 3.5}, "'days' must be of type integer, not number"),
        ({"days": float("inf")}, "'days' must be of type integer, not number"),
        ({"days": True}, "'days' must be of type integer, not boolean"),
        ({"share": False}, "'share' must be of type number, not boolean"),
        ({"flag": 0}, "'flag' must be of type boolean, not integer"),
        ({"list": {}}, "'list' must be of type array, not object"),
        ({"map": []}, "'map' must be of type object, not array"),
        ({"maybe": 1}, "'maybe' must be of type string or null, not integer"),
        ({"unit": "K"}, "'unit' must be one of 'C', 'F', not 'K'"),
        ({"town": "x"}, "there is no parameter 'town'"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_explained(more, message):
    assert validate(BY_SCHEMA, {"city": "Paris", **more}) == f"invalid arguments for 'weather': {message}"


def test_all_problems_are_told_at_once():
    assert validate(BY_SCHEMA, {"days": "3", "town": "x"}) == (
        "invalid arguments for 'weather': the required parameter 'city' is missing; "
        "'days' must be of type integer, not string; there is no parameter 'town'"
    )


def test_a_message_repeats_little_of_the_stream():
    assert len(validate(BY_SCHEMA, {"city": "x", "y" * 10_000: 1, "unit": "z" * 10_000})) < 400


@pytest.mark.parametrize(
    "schema",
    [{}, {"type": "object"}, {"properties": None}, {"additionalProperties": False, "patternProperties": {"^x": {}}},
     {"required": True}, {"properties": {"x": True}}, {"properties": {"x": {"type": "file"}}}],
)  # fmt: skip
def test_what_the_schema_does_not_say_is_not_checked(schema):
    assert validate(Tool("x", "", schema), {"x": 1}) is None


def plan(
    day: datetime.date, names: list[Annotated[str, msgspec.Meta(min_length=1)]], times: dict[int, float], n: int = 1
):
    return day, names, times, n


PLAN = Tool("plan", function=plan)


def test_a_function_gets_values_of_its_own_types():
    assert bind(PLAN, {"day": "2026-02-03", "names": ["a"], "times": {"1": 2}}) == {
        "day": datetime.date(2026, 2, 3),
        "names": ["a"],
        "times": {1: 2.0},
    }


@pytest.mark.parametrize(
    "wrong, place",
    [({"day": "soon"}, "$.day"), ({"names": ["a", ""]}, "$.names[1]"), ({"times": {"1": "x"}}, "$.times")],
)
def test_a_functions_annotations_are_checked_to_the_bottom(wrong, place):
    message = validate(PLAN, {"day": "2026-02-03", "names": ["a"], "times": {}} | wrong)
    assert message.startswith("invalid arguments for 'plan'")
    assert place in message


def test_arguments_for_any_keyword_are_handed_on():
    def function(known: int, **more): ...

    assert bind(Tool("x", function=function), {"known": 1, "other": [2]}) == {"known": 1, "other": [2]}


def test_binding_raises_what_validate_says():
    with pytest.raises(InvalidArguments, match=r"city.*missing"):
        bind(BY_SCHEMA, {})
