"""What annotations say beyond msgspec's own words reaches the model, and the function gets values of its own types."""

from __future__ import annotations

import functools
import inspect
import json
import math
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

import streamparse as sp
from streamparse.tools import Tool, bind, validate

pydantic = pytest.importorskip("pydantic")


class Place(pydantic.BaseModel):  # type: ignore[name-defined,misc]
    city: str
    near: list[Place] = []  # noqa: RUF012 - pydantic copies it


class Stay(pydantic.BaseModel):  # type: ignore[name-defined,misc]
    nights: int = pydantic.Field(ge=1)


@dataclass
class Point:
    """A point of a map."""

    x: int
    y: int = 0


def _properties(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = Tool("x", function=function).parameters["properties"]
    return found


# -- words beside a type -------------------------------------------------------------------------------


def test_a_text_beside_a_type_is_its_description() -> None:
    def function(city: Annotated[str, "where"], days: Annotated[int, msgspec.Meta(ge=1), "how long"]) -> None: ...

    assert _properties(function) == {
        "city": {"type": "string", "description": "where"},
        "days": {"type": "integer", "minimum": 1, "description": "how long"},
    }


def test_the_words_of_a_field_are_kept_wherever_it_stands() -> None:
    digit = pydantic.Field(ge=1, lt=10, description="a digit", examples=[7])

    def function(
        one: Annotated[int, digit],
        many: list[Annotated[int, digit]],
        word: Annotated[str, pydantic.Field(min_length=1, max_length=3, pattern="^a")] | None = None,
    ) -> None: ...

    said = {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "description": "a digit", "examples": [7]}
    text = {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^a"}
    assert _properties(function) == {
        "one": said,
        "many": {"type": "array", "items": said},
        "word": {"anyOf": [text, {"type": "null"}], "default": None},
    }


def test_the_words_of_annotated_types_are_kept_also_those_that_stand_for_several() -> None:
    words = pytest.importorskip("annotated_types")

    def function(
        n: Annotated[int, words.Interval(ge=1, le=9)], names: Annotated[list[str], words.Len(1, 3)]
    ) -> None: ...

    assert _properties(function) == {
        "n": {"type": "integer", "minimum": 1, "maximum": 9},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    }


def test_the_bounds_of_a_field_are_checked_before_the_function_runs() -> None:
    def function(n: Annotated[int, pydantic.Field(ge=1)]) -> None: ...

    assert "n" in (validate(Tool("x", function=function), {"n": 0}) or "")


@pytest.mark.parametrize(
    ("kind", "word", "schema"),
    [
        (Decimal, pydantic.Field(ge=0), {"type": "string", "format": "decimal"}),
        (Path, pydantic.Field(min_length=1), {"type": "string", "format": "path"}),
        (str, pydantic.Field(ge=1), {"type": "string"}),
        (Any, pydantic.Field(min_length=1), {}),
        (str, pydantic.Field(pattern="(?<only>here)"), {"type": "string"}),
        (int, pydantic.Field(ge=1, le=9, max_length=3), {"type": "integer", "minimum": 1, "maximum": 9}),
    ],
)
def test_a_bound_that_a_type_cannot_be_held_to_refuses_no_tool(kind: Any, word: Any, schema: dict[str, Any]) -> None:
    def function(x: Any) -> None: ...

    function.__annotations__ = {"x": Annotated[kind, word, "said"]}
    assert _properties(function) == {"x": {**schema, "description": "said"}}


def test_the_bounds_of_a_choice_are_those_of_its_members() -> None:
    def function(
        n: Annotated[int | None, pydantic.Field(ge=1)] = None,
        m: Annotated[int | str, pydantic.Field(ge=1, max_length=3)] = 1,
    ) -> None: ...

    number = {"type": "integer", "minimum": 1}
    assert _properties(function) == {
        "n": {"anyOf": [number, {"type": "null"}], "default": None},
        "m": {"anyOf": [number, {"type": "string", "maxLength": 3}], "default": 1},
    }
    assert "n" in (validate(Tool("x", function=function), {"n": 0}) or "")


def test_what_says_nothing_beside_a_type_changes_nothing() -> None:
    def function(n: Annotated[int, object(), pydantic.Field()]) -> None: ...

    assert _properties(function) == {"n": {"type": "integer"}}


# -- types of others -----------------------------------------------------------------------------------


def test_a_model_of_pydantic_has_its_own_schema_and_is_made_by_itself() -> None:
    def function(stay: Stay, more: list[Stay], last: Stay | None = None) -> None: ...

    tool = Tool("book", function=function)
    assert tool.parameters["properties"]["stay"] == Stay.model_json_schema()
    made = bind(tool, {"stay": {"nights": 2}, "more": [{"nights": "3"}]})
    assert made == {"stay": Stay(nights=2), "more": [Stay(nights=3)]}
    message = validate(tool, {"stay": {"nights": 0}, "more": []})
    assert message is not None
    assert "greater than or equal to 1" in message


def test_the_references_of_a_model_that_contains_itself_lead_to_the_root_of_the_schema() -> None:
    def function(place: Place, point: Point) -> None: ...

    tool = Tool("go", function=function)
    assert tool.parameters["properties"]["place"] == {"$ref": "#/$defs/Place"}
    assert tool.parameters["$defs"].keys() == {"Place", "Point"}
    arguments = {"place": {"city": "Bern", "near": [{"city": "Thun"}]}, "point": {"x": 1}}
    assert bind(tool, arguments)["place"].near == [Place(city="Thun")]


def test_a_model_that_has_no_schema_is_refused_as_any_type_that_has_none() -> None:
    def function(model: pydantic.BaseModel) -> None: ...

    with pytest.raises(TypeError, match="BaseModel has no schema"):
        Tool("x", function=function)


def test_two_types_of_one_name_are_refused_and_not_mixed() -> None:
    other = msgspec.defstruct("Place", [("street", str)])

    def function(one: Any, two: Any) -> None: ...

    function.__annotations__ = {"one": Place, "two": other}
    with pytest.raises(TypeError, match="two of its types have the name 'Place'"):
        Tool("x", function=function)


def test_a_path_is_a_string_to_the_model_and_a_path_to_the_function() -> None:
    def function(file: Path, to: Path = Path("out")) -> None: ...

    assert _properties(function) == {
        "file": {"type": "string", "format": "path"},
        "to": {"type": "string", "format": "path", "default": "out"},
    }
    tool = Tool("read", function=function)
    assert bind(tool, {"file": "a/b"}) == {"file": Path("a/b")}
    assert "file" in (validate(tool, {"file": 3}) or "")


def test_anything_to_iterate_over_is_an_array() -> None:
    def function(names: Iterable[str], all: typing.Iterable, rest: object = None) -> None: ...  # type: ignore[type-arg]

    assert _properties(function) == {
        "names": {"type": "array", "items": {"type": "string"}},
        "all": {"type": "array"},
        "rest": {"default": None},
    }


# -- defaults ------------------------------------------------------------------------------------------


def test_a_parameter_whose_default_is_none_may_be_null() -> None:
    def function(n: int = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013 - as people write it

    tool = Tool("x", function=function)
    assert tool.parameters["properties"]["n"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert bind(tool, {"n": None}) == {"n": None}


def test_a_default_that_is_no_number_to_json_is_not_shown() -> None:
    def function(most: float = math.inf, least: float = math.nan) -> None: ...

    json.dumps(_properties(function), allow_nan=False)
    assert _properties(function) == {"most": {"type": "number"}, "least": {"type": "number"}}


def test_a_default_that_is_a_model_is_shown_as_its_json() -> None:
    usual = Stay(nights=2)

    def function(stay: Stay = usual) -> None: ...

    assert _properties(function)["stay"]["default"] == {"nights": 2}


def test_a_parameter_that_no_name_reaches_keeps_its_default() -> None:
    def function(n: int = 1, /, *, m: int = 2) -> None: ...

    assert _properties(function) == {"m": {"type": "integer", "default": 2}}


# -- where the annotations are -------------------------------------------------------------------------


def test_a_class_is_read_by_what_it_is_made_of() -> None:
    tool = Tool("point", function=Point)
    assert tool.description == "A point of a map."
    assert tool.parameters["properties"] == {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}}


def test_annotations_that_are_text_may_name_what_is_defined_beside_the_function() -> None:
    class Here(msgspec.Struct):
        x: int

    def function(here: Here, all: list[Here]) -> None: ...

    tool = Tool("x", function=function)
    assert tool.parameters["$defs"]["Here"]["properties"] == {"x": {"type": "integer"}}
    assert bind(tool, {"here": {"x": 1}, "all": []})["here"] == Here(1)


def _made() -> Any:
    class There(msgspec.Struct):
        x: int

    def function(there: There) -> There:
        return There(there.x)

    return function


def test_annotations_that_are_text_may_name_what_the_function_took_along() -> None:
    assert Tool("x", function=_made()).parameters["$defs"].keys() == {"There"}


def test_a_function_that_calls_itself_or_what_comes_later_can_be_a_tool() -> None:
    @sp.tool(effect="read")
    def function(n: int) -> int:
        return function(n - 1) + later

    tool = Tool("x", function=function)
    later = 1
    assert tool.parameters["properties"] == {"n": {"type": "integer"}}


def _wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    return wrapper


def test_annotations_of_a_wrapped_function_may_name_what_is_beside_it() -> None:
    class Here(msgspec.Struct):
        x: int

    @_wrapped
    def function(here: Here) -> None: ...

    assert Tool("x", function=function).parameters["$defs"].keys() == {"Here"}


def test_a_wrapper_that_says_what_it_takes_is_read_by_itself() -> None:
    def function(city: str, secret: str) -> None:
        """Look the weather up."""

    wrapper = _wrapped(function)
    days = inspect.Parameter("days", inspect.Parameter.KEYWORD_ONLY, annotation=int)
    wrapper.__signature__ = inspect.Signature([days])
    wrapper.__annotations__ = {"days": int}
    wrapper.__doc__ = "Look days up."
    assert (Tool("x", function=wrapper).description, _properties(wrapper)) == (
        "Look days up.",
        {"days": {"type": "integer"}},
    )


def test_an_object_that_wraps_a_function_is_read_by_the_function() -> None:
    class Wrapped:
        def __init__(self, function: Any) -> None:
            functools.update_wrapper(self, function)

        def __call__(self, *arguments: Any, **named: Any) -> None: ...

    def function(city: str) -> None:
        """Look the weather up."""

    tool = Tool("x", function=Wrapped(function))
    assert (tool.description, _properties(Wrapped(function))) == ("Look the weather up.", {"city": {"type": "string"}})
