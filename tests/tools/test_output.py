"""The tool that is made of an output type, and the way back from its arguments."""

import dataclasses
import enum
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

import jsonschema
import msgspec
import pydantic
import pytest

from streamparse.providers.adapters import ADAPTERS
from streamparse.repair import Gate
from streamparse.response import ToolCall
from streamparse.tools import InvalidArguments, Tool, make_output_tool, read_output

T = TypeVar("T")


@dataclasses.dataclass
class Line:
    text: str
    price: float = 0.0


@dataclasses.dataclass
class Invoice:
    """What is to be paid.

    Attributes:
        number: as printed at the top
    """

    number: str
    total: Annotated[float, "in euros"]
    lines: list[Line] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Refund:
    number: str


@dataclasses.dataclass
class LongRefund:
    number: str
    reason: str


class Node(msgspec.Struct, rename="camel"):
    node_name: Annotated[str, "how it is called"]
    next_node: "Node | None" = None


class Person(TypedDict):
    """Somebody."""

    name: str
    age: NotRequired[Annotated[int, "in years"]]


class Point(NamedTuple):
    x: int
    y: int = 0
    marks: list[str] = ["a"]  # noqa: RUF012 - what somebody may write


class Model(pydantic.BaseModel):
    """A model."""

    name: str = pydantic.Field(alias="fullName", min_length=2)
    children: "list[Model]" = []


class Open(pydantic.BaseModel, extra="allow"):
    name: str


@dataclasses.dataclass
class Page(Generic[T]):
    items: list[T]


class Color(enum.Enum):
    RED = "red"


GIVEN = {
    "dataclass": (Invoice, {"number": "1", "total": 2, "lines": [{"text": "a"}]}, Invoice("1", 2.0, [Line("a")])),
    "struct": (Node, {"nodeName": "a", "nextNode": {"nodeName": "b"}}, Node("a", Node("b"))),
    "typed dict": (Person, {"name": "a"}, {"name": "a"}),
    "named tuple": (Point, {"x": 1}, Point(1)),
    "pydantic": (
        Model,
        {"fullName": "ab", "children": [{"fullName": "cd"}]},
        Model(fullName="ab", children=[Model(fullName="cd")]),
    ),
    "open pydantic": (Open, {"name": "a", "more": 1}, Open(name="a", more=1)),
    "generic": (Page[Line], {"items": [{"text": "a"}]}, Page([Line("a")])),
    "list": (list[int], {"answer": [1]}, [1]),
    "list of dataclasses": (list[Line], {"answer": [{"text": "a"}]}, [Line("a")]),
    "literal": (Literal["yes", "no"], {"answer": "yes"}, "yes"),
    "enum": (Color, {"answer": "red"}, Color.RED),
    "union": (int | str, {"answer": "a"}, "a"),
    "optional": (Line | None, {"answer": None}, None),
    "union of dataclasses": (Refund | LongRefund, {"answer": {"number": "1", "reason": "b"}}, LongRefund("1", "b")),
    "union of kinds": (Point | Model | Line, {"answer": {"fullName": "ab"}}, Model(fullName="ab")),
    "str": (str, {"answer": "a"}, "a"),
    "int": (int, {"answer": 1}, 1),
    "annotated": (Annotated[int, msgspec.Meta(ge=1)], {"answer": 1}, 1),
    "map": (dict[str, int], {"answer": {"a": 1}}, {"a": 1}),
    "anything": (Any, {"answer": [None]}, [None]),
}
WRONG = {
    "a field is missing": (Invoice, {"number": "1"}),
    "a field is of another type": (Invoice, {"number": "1", "total": "a lot"}),
    "a field is unknown": (Invoice, {"number": "1", "total": 1, "tax": 1}),
    "a field within is wrong": (Invoice, {"number": "1", "total": 1, "lines": [{"price": 1}]}),
    "a field of a named tuple is wrong": (Point, {"x": "a"}),
    "a bound of pydantic": (Model, {"fullName": "a"}),
    "no answer": (int, {}),
    "another answer": (int, {"answer": "a"}),
    "more than an answer": (int, {"answer": 1, "why": "b"}),
    "a bound": (Annotated[int, msgspec.Meta(ge=1)], {"answer": 0}),
    "none of a choice": (Refund | LongRefund, {"answer": {"number": "1", "cause": "b"}}),
}


@pytest.mark.parametrize("output_type, arguments, value", GIVEN.values(), ids=GIVEN)
def test_arguments_become_a_value_of_the_output_type(output_type, arguments, value):
    tool = make_output_tool(output_type)
    found = read_output(tool, arguments)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("output_type, arguments", [(kind, given) for kind, given, _ in GIVEN.values()], ids=GIVEN)
def test_the_schema_is_a_valid_one_of_an_object_and_takes_what_is_read(output_type, arguments):
    schema = make_output_tool(output_type).parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(arguments)
    assert (schema["type"], bool(schema["properties"])) == ("object", True)


def test_the_schema_of_a_choice_between_types_takes_each_of_them_and_nothing_else():
    validator = jsonschema.Draft202012Validator(make_output_tool(Refund | Point).parameters)
    assert all(validator.is_valid({"answer": each}) for each in ({"number": "1"}, {"x": 1}))
    assert not any(validator.is_valid({"answer": each}) for each in (7, "a", {}, {"number": 1}, {"y": 1}))


@pytest.mark.parametrize("output_type, arguments", WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused_by_the_gate_and_cannot_be_read(output_type, arguments):
    tool = make_output_tool(output_type)
    found = Gate([tool]).look(ToolCall("final_answer", arguments, "1")).findings
    assert {each.code for each in found if each.fatal} <= {
        "missing_parameter", "wrong_type", "extra_parameter", "invalid_value",
    }  # fmt: skip
    assert any(each.fatal for each in found)
    with pytest.raises(InvalidArguments, match="final_answer"):
        read_output(tool, arguments)


@pytest.mark.parametrize("output_type, arguments", [(kind, given) for kind, given, _ in GIVEN.values()], ids=GIVEN)
def test_what_fits_passes_the_gate(output_type, arguments):
    gate = Gate([make_output_tool(output_type)])
    gate.require_validator()
    assert gate.look(ToolCall("final_answer", arguments, "1")).ok


@pytest.mark.parametrize("provider", ADAPTERS)
@pytest.mark.parametrize("output_type", [kind for kind, *_ in GIVEN.values()], ids=GIVEN)
def test_every_provider_can_be_told_of_it(provider, output_type):
    (written,) = ADAPTERS[provider].format_tools([make_output_tool(output_type)])
    assert b"final_answer" in msgspec.json.encode(written)


def test_the_docstring_describes_the_tool_and_its_fields():
    tool = make_output_tool(Invoice)
    assert tool.description == "What is to be paid.\n\nGive the final answer. This ends the task."
    assert tool.parameters["properties"]["number"] == {"type": "string", "description": "as printed at the top"}
    assert tool.parameters["properties"]["total"] == {"type": "number", "description": "in euros"}
    assert make_output_tool(Person).parameters["properties"]["age"]["description"] == "in years"
    assert make_output_tool(Node).parameters["properties"]["nodeName"]["description"] == "how it is called"


@pytest.mark.parametrize("output_type", [Line, Point, str, Refund | LongRefund, Page[int]])
def test_a_type_without_a_text_of_its_own_has_no_other(output_type):
    assert make_output_tool(output_type).description == "Give the final answer. This ends the task."


def test_what_is_said_by_hand_stands():
    tool = make_output_tool(Invoice, "pay", "By hand.")
    assert (tool.name, tool.description) == ("pay", "By hand.")


def test_it_ends_the_run_and_has_no_effect():
    tool = make_output_tool(Invoice)
    assert (tool.ends, tool.effect) == (True, "read")


def test_a_copy_of_the_tool_reads_as_the_tool_does():
    copied = msgspec.structs.replace(make_output_tool(Point), name="other")
    assert read_output(copied, {"x": 1}) == Point(1)
    assert Gate([copied]).look(ToolCall("other", {"x": 1}, "1")).ok


def test_a_type_that_refers_to_itself_keeps_its_definition():
    schema = make_output_tool(Node).parameters
    assert schema["properties"]["nextNode"]["anyOf"][0] == {"$ref": "#/$defs/Node"}
    assert list(schema["$defs"]) == ["Node"]
    assert list(make_output_tool(Invoice).parameters["$defs"]) == ["Line"]


class Bare:
    pass


@pytest.mark.parametrize(
    "output_type", [Callable[[], int], 3, "Invoice", Bare, print, lambda: 1, list[Bare], int | Bare]
)
def test_what_has_no_schema_is_no_output_type(output_type):
    with pytest.raises(TypeError, match="cannot be an output type"):
        make_output_tool(output_type)


def test_another_tool_has_no_output():
    with pytest.raises(TypeError, match="was not made of an output type"):
        read_output(Tool("look"), {})


def test_an_answer_that_is_no_object_is_the_only_member_of_one():
    assert make_output_tool(int).parameters == {
        "type": "object",
        "properties": {"answer": {"type": "integer"}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def test_the_keys_of_an_answer_are_read_as_their_type():
    assert read_output(make_output_tool(dict[int, str]), {"answer": {"1": "a"}}) == {1: "a"}


def test_the_model_is_told_the_plain_defaults_of_a_named_tuple() -> None:
    class Place(NamedTuple):
        city: str
        country: str | None = None
        days: int = 2
        marks: list[str] = ["a"]  # noqa: RUF012 - as above

    properties = make_output_tool(Place).parameters["properties"]
    defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    assert defaults == {"country": None, "days": 2}
    assert read_output(make_output_tool(Place), {"city": "Paris"}) == Place("Paris")
