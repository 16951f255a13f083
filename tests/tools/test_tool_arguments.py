"""Arguments made into the values that a tool's function takes."""

import datetime
from typing import Annotated, Any, ParamSpec, TypedDict, Unpack

import msgspec
import pytest

from streamparse.tools import InvalidArguments, Tool, bind, validate


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


def test_arguments_for_any_keyword_are_checked_and_converted_by_its_annotation():
    def plan_all(known: int, **days: datetime.date): ...

    tool = Tool("x", function=plan_all)
    assert tool.parameters["additionalProperties"] == {"type": "string", "format": "date"}
    assert bind(tool, {"known": 1, "first": "2026-02-03"}) == {"known": 1, "first": datetime.date(2026, 2, 3)}
    assert "$.first" in validate(tool, {"known": 1, "first": "soon"})


class Options(TypedDict):
    n: int


P = ParamSpec("P")


@pytest.mark.parametrize("kind", [Any, object, Unpack[Options], P.kwargs, complex, "Nothing"])
def test_a_keywords_annotation_that_is_no_type_of_one_value_checks_nothing(kind):
    def function(known: int, **more): ...

    function.__annotations__["more"] = kind
    if kind == "Nothing":
        with pytest.raises(TypeError, match="Nothing"):
            Tool("x", function=function)
        return
    tool = Tool("x", function=function)
    assert "additionalProperties" not in tool.parameters
    assert bind(tool, {"known": 1, "other": [2]}) == {"known": 1, "other": [2]}


def test_binding_raises_what_validate_says():
    with pytest.raises(InvalidArguments, match=r"invalid arguments for 'plan': .*day"):
        bind(PLAN, {"names": [], "times": {}})


def test_without_a_function_whose_annotations_can_be_read_arguments_stay_as_they_are():
    assert bind(Tool("x", "", {"required": ["city"]}), {"days": "3"}) == {"days": "3"}
