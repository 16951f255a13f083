"""Functions declared as tools: what their annotations, defaults and docstrings become."""

import datetime
import enum
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
import pytest

from streamparse.tools import Streamed, Tool, tool, validate


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


class Place(msgspec.Struct):
    city: str
    country: str = "FR"


def forecast(city: str, days: int = 3, *, unit: Unit = Unit.C, at: Place | None = None):
    """Tell the weather of the coming days.

    Args:
        city: where
        days: how many
    """
    return city, days, unit, at


def test_a_schema_is_read_from_annotations_defaults_and_docstring():
    assert Tool("forecast", function=forecast).parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "where"},
            "days": {"type": "integer", "description": "how many", "default": 3},
            "unit": {"$ref": "#/$defs/Unit", "default": "celsius"},
            "at": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}], "default": None},
        },
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {
            "Unit": {"title": "Unit", "enum": ["celsius", "fahrenheit"]},
            "Place": {
                "title": "Place",
                "type": "object",
                "properties": {"city": {"type": "string"}, "country": {"type": "string", "default": "FR"}},
                "required": ["city"],
            },
        },
    }


def test_the_description_is_the_docstrings_prose():
    assert Tool("forecast", function=forecast).description == "Tell the weather of the coming days."


def test_what_is_said_by_hand_is_not_replaced():
    declared = Tool("forecast", "By hand.", {"type": "object"}, forecast)
    assert (declared.description, declared.parameters) == ("By hand.", {"type": "object"})


def schema_of(function):
    return Tool("x", function=function).parameters


def test_constraints_in_annotations_are_honoured():
    def function(n: Annotated[int, msgspec.Meta(ge=1, le=9, description="a digit")], kind: Literal["a", "b"]): ...

    assert schema_of(function)["properties"] == {
        "n": {"type": "integer", "minimum": 1, "maximum": 9, "description": "a digit"},
        "kind": {"enum": ["a", "b"]},
    }


def test_a_parameter_without_annotation_has_no_constraint():
    def function(anything, other=None): ...

    assert schema_of(function)["properties"] == {"anything": {}, "other": {"default": None}}


def test_a_function_without_parameters_takes_none():
    def function(): ...

    assert schema_of(function) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_function_that_takes_any_keyword_allows_any_parameter():
    def function(known: str, *ignored: int, **more: Any): ...

    schema = schema_of(function)
    assert "additionalProperties" not in schema
    assert list(schema["properties"]) == ["known"]


def test_a_default_that_json_cannot_hold_is_not_shown():
    def function(n: int = object()): ...

    assert schema_of(function)["properties"] == {"n": {"type": "integer"}}


def test_annotations_may_be_text():
    def function(when: "datetime.date", names: "list[str]"): ...

    assert schema_of(function)["properties"]["when"] == {"type": "string", "format": "date"}


def test_what_a_partial_has_bound_is_not_for_the_model():
    def function(user: str, text: str): ...

    assert list(schema_of(partial(function, user="me"))["properties"]) == ["text"]
    assert list(schema_of(partial(function, "me"))["properties"]) == ["text"]


def test_what_a_partial_has_bound_cannot_be_given_though_the_function_takes_every_name():
    def function(text: str, user: str = "anyone", **more): ...

    declared = Tool("say", function=partial(function, user="me"))
    assert validate(declared, {"text": "a", "tone": "low"}) is None
    assert "`user`" in validate(declared, {"text": "a", "user": "root"})


def test_an_object_that_can_be_called_is_read_by_its_call_method():
    class Searcher:
        def __call__(self, query: str):
            """Search."""

    declared = Tool("search", function=Searcher())
    assert (list(declared.parameters["properties"]), declared.description) == (["query"], "Search.")


def positional_only(x, /): ...


def not_json(x: Callable[[], int]): ...


def unresolved(x: "Nowhere"): ...  # noqa: F821


def mangled(__x): ...


@pytest.mark.parametrize("function", [positional_only, not_json, unresolved, mangled, len])
def test_a_function_that_no_call_by_name_can_reach_is_refused(function):
    with pytest.raises(TypeError, match=function.__name__):
        Tool("x", function=function)


def test_a_default_that_no_request_can_hold_is_left_out():
    def look(path: str = "\udcff", zone: str = "CET"): ...

    assert Tool("look", function=look).parameters["properties"]["path"] == {"type": "string"}
    assert Tool("look", function=look).parameters["properties"]["zone"]["default"] == "CET"


def test_a_function_that_cannot_be_read_may_have_a_schema_by_hand():
    assert Tool("x", "", {"type": "object"}, not_json).signature is None


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"name": ""}, ValueError),
        ({"name": "  "}, ValueError),
        ({"name": None}, ValueError),
        ({"name": "x", "parameters": "city"}, TypeError),
        ({"name": "x", "effect": "soon"}, ValueError),
        ({"name": "x", "function": "print"}, TypeError),
        ({"name": "x", "category": ["files"]}, TypeError),
    ],
)
def test_what_cannot_be_a_tool_is_refused(arguments, error):
    with pytest.raises(error):
        Tool(**arguments)


def test_a_tool_is_frozen():
    with pytest.raises(AttributeError):
        Tool("x").name = "y"


def test_a_decorated_function_stays_what_it_was_and_carries_its_tool():
    @tool
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    assert add(2) == 3
    assert add.tool == Tool("add", "Add.", add.tool.parameters, add)
    assert add.tool.effect == "write"


def test_the_decorator_takes_what_a_tool_takes():
    @tool(name="sum", description="By hand.", effect="read", timeout=2.5, tier=1, category="maths", ends=True)
    async def add(a: int) -> int:
        return a

    declared = add.tool
    assert (declared.name, declared.description, declared.effect) == ("sum", "By hand.", "read")
    assert (declared.timeout, declared.tier, declared.function) == (2.5, 1, add)
    assert (declared.category, declared.ends) == ("maths", True)


def test_what_a_tool_is_unless_it_says_otherwise():
    plain = Tool("f")
    assert (plain.effect, plain.retries, plain.timeout, plain.lock, plain.tier) == ("write", 3, None, None, 0)
    assert (plain.strict, plain.needs_approval, plain.ends, plain.category) == (False, False, False, "")


@pytest.mark.parametrize(("old", "new"), [("none", "read"), ("once", "write")])
def test_an_old_word_for_an_effect_is_refused_with_the_new_one(old, new):
    with pytest.raises(ValueError, match=f"'{new}' .which was '{old}'.*got '{old}'"):
        tool(effect=old)(lambda: None)


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}, {"properties": None}, {"$ref": "#/$defs/A"}])
def test_a_lock_may_name_any_parameter_of_a_schema_that_lists_none(parameters):
    assert Tool("write", parameters=parameters, lock="path").lock == "path"


def test_what_is_said_of_a_streamed_text_is_in_its_schema():
    async def write(content: Annotated[Streamed[str], msgspec.Meta(description="all of it", max_length=9)]): ...

    schema = {"type": "string", "description": "all of it", "maxLength": 9}
    assert schema_of(write)["properties"] == {"content": schema}


def test_the_first_of_several_streamed_parameters_that_cannot_be_is_named():
    def write(b: Streamed[str], a: Streamed[str]): ...

    with pytest.raises(TypeError, match="parameter 'a' is streamed"):
        Tool("write", function=write)
