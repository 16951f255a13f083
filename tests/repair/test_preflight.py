"""A call is looked at before it runs: by its tool, its schema, its tier, and the user's own guards."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.repair import GuardFailed, PathGuard, preflight
from streamparse.repair.gate import Gate
from streamparse.repair.review import judge
from streamparse.schema.conversions import NO_CONVERSION, convert
from streamparse.schema.validation import has_validator

pytest.importorskip("jsonschema_rs")


def book(city: str, days: int = 1, unit: Literal["c", "f"] = "c", tags: list[str] | None = None) -> str:
    """Book a stay."""
    return f"{city} {days} {unit} {tags}"


@sp.tool(effect="read")
def read_file(path: str) -> str:
    """Read a file."""
    return path


def _call(name: str, **arguments: Any) -> sp.ToolCall:
    return sp.ToolCall(name, arguments, raw=json.dumps(arguments))


def _codes(result: Any, fatal: bool) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in result.findings if each.fatal is fatal]


def test_a_call_that_fits_is_as_it_was() -> None:
    call = _call("book", city="Paris", days=2, tags=["a"])
    result = preflight(call, [book])
    assert result.ok
    assert result.call == call
    assert (result.findings, result.message) == ((), "")


def test_an_unknown_tool_is_named_with_what_was_perhaps_meant() -> None:
    result = preflight(_call("boook", city="Paris"), [book, read_file])
    assert _codes(result, True) == [("unknown_tool", "")]
    assert result.message == (
        "invalid call of 'boook': there is no tool 'boook'; did you mean 'book'? The tools are: book, read_file"
    )


def test_of_many_tools_the_nearest_come_first_and_what_is_left_out_is_said() -> None:
    tools = [sp.Tool(f"tool_{number:03}") for number in range(100)]
    (finding,) = preflight(_call("tol_050"), tools).findings
    assert finding.message.startswith("there is no tool 'tol_050'; did you mean 'tool_050'? The tools are: tool_050, ")
    assert finding.message.endswith(", … (100 in all)")
    (finding,) = preflight(_call("tol_050"), tools[:60]).findings
    assert all(tool.name in finding.message for tool in tools[:60])


def test_a_locked_tool_is_not_offered_in_place_of_an_unknown_one() -> None:
    tools = [book, sp.Tool("books", tier=1)]
    assert preflight(_call("bookz"), tools).message.endswith("did you mean 'book'? The tools are: book")
    assert preflight(_call("x"), []).message == "invalid call of 'x': there is no tool 'x'"


def test_a_tool_above_its_tier_is_locked() -> None:
    tool = sp.Tool("wipe", tier=2)
    assert _codes(preflight(_call("wipe"), [tool], tier=1), True) == [("locked_tool", "")]
    assert preflight(_call("wipe"), [tool], tier=2).ok


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, [("missing_parameter", "")]),
        ({"city": ["Paris"]}, [("wrong_type", "/city")]),
        ({"city": "Paris", "days": "three"}, [("wrong_type", "/days")]),
        ({"city": "Paris", "days": 2.5}, [("wrong_type", "/days")]),
        ({"city": "Paris", "nights": 3}, [("extra_parameter", "")]),
    ],
)
def test_arguments_that_do_not_fit_are_found_where_they_are(arguments: dict[str, Any], found: list[Any]) -> None:
    schema = book_schema()
    result = preflight(sp.ToolCall("book", arguments), [sp.Tool("book", parameters=schema)])
    assert not result.ok
    assert _codes(result, True) == found


def book_schema() -> dict[str, Any]:
    """The schema of a booking, as one would write it by hand."""
    return {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "at": {"$ref": "#/$defs/place"}},
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
    }


def test_values_are_coerced_where_nothing_is_lost_and_it_is_said() -> None:
    tool = sp.Tool("book", parameters=book_schema())
    call = sp.ToolCall("book", {"city": 75, "days": "3", "at": '{"lat": "48.85"}'})
    result = preflight(call, [tool])
    assert result.ok
    assert result.call.arguments == {"city": "75", "days": 3, "at": {"lat": 48.85}}
    assert sorted(_codes(result, False)) == [("coerced", path) for path in ("/at", "/at/lat", "/city", "/days")]
    assert call.arguments == {"city": 75, "days": "3", "at": '{"lat": "48.85"}'}, "what was given stays as it is"
    assert not preflight(call, [tool], coerce=False).ok


@dataclass
class Stay:
    nights: int
    price: float = 0.0


def test_a_whole_number_with_a_point_is_an_integer_as_it_is_to_json_schema() -> None:
    def reserve(stays: list[Stay], rooms: int, lat: float = 0.0) -> str:
        return f"{rooms} {stays} {lat}"

    call = _call("reserve", stays=[{"nights": 3.0, "price": 2.5}], rooms=2.0, lat=48.0)
    result = preflight(call, [reserve])
    assert result.ok
    arguments = result.call.arguments
    assert [type(each) for each in (arguments["stays"][0]["nights"], arguments["rooms"], arguments["lat"])] == [
        int, int, float,
    ]  # fmt: skip
    assert _codes(result, False) == [("coerced", "/stays/0/nights"), ("coerced", "/rooms")]
    assert result.findings[1].message == "rooms: 2.0 was read as 2"
    assert call.arguments["rooms"] == 2.0
    for wrong in (2.5, 1e300):  # a float of this size may not be the integer that was written
        assert not preflight(_call("reserve", stays=[], rooms=wrong), [reserve]).ok
    assert not preflight(call, [reserve], coerce=False).ok


def test_an_unexpected_parameter_that_the_schema_permits_is_said_and_not_fatal() -> None:
    tool = sp.Tool("f", parameters={"type": "object", "properties": {"a": {}}})
    result = preflight(_call("f", a=1, b=2), [tool])
    assert result.ok
    assert _codes(result, False) == [("extra_parameter", "/b")]


def test_control_characters_are_taken_out_only_when_asked_for() -> None:
    call = _call("book", city="Pa\x00ris\n", tags=["\x1b[31m"])
    assert preflight(call, [book]).call == call
    result = preflight(call, [book], sanitise=True)
    assert result.call.arguments == {"city": "Paris\n", "tags": ["[31m"]}
    assert _codes(result, False) == [("sanitised", "/city"), ("sanitised", "/tags/0")]


@pytest.mark.parametrize(
    "path",
    [
        *("../x", "a/../../x", "/etc/passwd", "\\x", "C:\\x", "c:x", "~/x", "a\\..\\..\\x", "a/./../../b"),
        *("..%2fx", "%2e%2e/x", " ../x", " /x", "a\0b", "..", "%2fetc", "%252e%252e%252fx", "file:///etc/passwd"),
    ],
)
def test_a_path_that_leads_out_of_its_folder_is_refused(path: str) -> None:
    result = preflight(_call("read_file", path=path), [read_file], guards=[PathGuard("path")])
    assert _codes(result, True) == [("path_traversal", "/path")]


def test_a_path_is_refused_however_often_its_steps_are_escaped_up_to_four_times() -> None:
    step = ".."
    for times in range(6):
        result = preflight(_call("read_file", path=f"{step}/x"), [read_file], guards=[PathGuard("path")])
        assert result.ok is (times > 4)
        step = "%2e%2e" if step == ".." else step.replace("%", "%25")


def test_a_guard_of_paths_must_know_which_parameters_are_paths() -> None:
    with pytest.raises(ValueError, match="name the parameters"):
        PathGuard()


@pytest.mark.parametrize("path", ["x", "a/b.txt", "a/../b", "./a", "", "..a/b", "a%20b", "a..b/c", "é/日本"])
def test_a_path_inside_its_folder_passes(path: str) -> None:
    assert preflight(_call("read_file", path=path), [read_file], guards=[PathGuard("path")]).ok


def test_paths_in_a_list_are_guarded_one_by_one() -> None:
    tool = sp.Tool("f", parameters={"type": "object", "properties": {"paths": {"type": "array"}}})
    result = preflight(_call("f", paths=["a", "../b"]), [tool], guards=[PathGuard("paths")])
    assert _codes(result, True) == [("path_traversal", "/paths/1")]


def test_names_of_files_are_paths_too() -> None:
    tool = sp.Tool("f", parameters={"type": "object", "properties": {"files": {"type": "object"}}})
    result = preflight(_call("f", files={"a/b": "x", "../c": "y"}), [tool], guards=[PathGuard("files")])
    assert _codes(result, True) == [("path_traversal", "/files/..~1c")]


def test_a_path_is_guarded_wherever_in_the_arguments_it_stands() -> None:
    tool = sp.Tool("f", parameters={"type": "object", "properties": {"edits": {"type": "array"}}})
    edits = [{"path": "a", "text": "/b"}, {"path": "../b", "text": ""}]
    result = preflight(_call("f", edits=edits), [tool], guards=[PathGuard("path")])
    assert _codes(result, True) == [("path_traversal", "/edits/1/path")]


def test_a_number_of_any_size_is_divided_exactly() -> None:
    tool = sp.Tool("f", parameters={"type": "object", "properties": {"a": {"type": "number", "multipleOf": 0.1}}})
    assert preflight(sp.ToolCall("f", {"a": 10**400}), [tool]).ok
    assert not preflight(sp.ToolCall("f", {"a": 0.25}), [tool]).ok


@pytest.mark.parametrize("number", [float("inf"), float("-inf")])
def test_a_number_that_cannot_be_divided_is_a_finding(number: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 0.1}}}
    result = preflight(sp.ToolCall("f", {"a": number}), [sp.Tool("f", parameters=schema)])
    assert _codes(result, True) == [("invalid_value", "")]


@pytest.mark.parametrize("text", ['{"k": 1, "k": 2}', '{"k": 0.10000000000000000001}', '{"k": 1e400}'])
def test_text_of_which_something_would_be_lost_is_not_converted(text: str) -> None:
    assert convert(text, "object") is NO_CONVERSION


@pytest.mark.parametrize(
    "schema",
    [{"type": "nonsense"}, {"properties": 3}, {"$ref": "https://example.com/schema"}, {"$schema": ["no", "text"]}],
)
def test_a_schema_that_cannot_be_read_is_a_finding_and_nothing_is_fetched(schema: dict[str, Any]) -> None:
    assert _codes(preflight(_call("f", a=1), [sp.Tool("f", parameters=schema)]), True) == [("invalid_schema", "")]


def test_arguments_that_nest_without_end_are_a_finding() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert _codes(preflight(sp.ToolCall("f", deep), [sp.Tool("f", parameters=schema)]), True) == [("invalid_value", "")]


@pytest.mark.parametrize("given", [["no"], [True], [None], "no"], ids=["text", "truth", "nothing", "letters"])
def test_what_a_guard_gives_that_is_no_finding_is_no_verdict(given: Any) -> None:
    with pytest.raises(GuardFailed, match="something else than findings"):
        preflight(_call("read_file", path="a"), [{"name": "read_file"}], guards=[lambda _call: given])


def test_a_guard_cannot_change_what_was_checked() -> None:
    def lead_out(call: Any) -> Any:
        call.arguments["paths"].append("../b")
        return []

    result = preflight(_call("read", paths=["a"]), [{"name": "read"}], guards=[lead_out, PathGuard("paths")])
    assert result.ok
    assert result.call.arguments == {"paths": ["a"]}


def test_what_a_guard_raises_is_no_verdict() -> None:
    def broken(call: sp.ToolCall) -> Any:
        raise OSError("gone")

    with pytest.raises(GuardFailed, match="a guard failed on the call of 'read_file': OSError") as caught:
        preflight(_call("read_file", path="x"), [read_file], guards=[broken])
    assert isinstance(caught.value.__cause__, OSError)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
NAMES = {int: "integer", float: "number", bool: "boolean", type(None): "null", dict: "object", list: "array"}


@pytest.mark.parametrize(
    ("kind", "text"), [("integer", "9" * 100 + "e999"), ("array", "[" * 200 + "]" * 200)], ids=["number", "depth"]
)
def test_what_a_text_is_read_as_goes_no_further_than_what_is_given(kind: str, text: str) -> None:
    tool = {"name": "take", "parameters": {"properties": {"value": {"type": kind}}}}
    assert not preflight(_call("take", value=text), [tool]).ok


@given(JSON_VALUES)
def test_a_value_written_as_text_comes_back_whole_or_not_at_all(value: Any) -> None:
    if isinstance(value, str):
        return
    back = convert(json.dumps(value), NAMES[type(value)])
    assert back is NO_CONVERSION or (back == value and isinstance(back, bool) == isinstance(value, bool))


@given(st.text(), st.sampled_from(sorted(NAMES.values())))
def test_text_that_is_converted_says_the_same_as_the_value(text: str, name: str) -> None:
    back = convert(text, name)
    assert back is NO_CONVERSION or json.loads(text) == back


def test_nothing_runs() -> None:
    ran: list[str] = []

    def wipe(path: str) -> None:
        ran.append(path)

    tools = [wipe, sp.Tool("late", function=wipe, effect="read")]
    results = [preflight(_call(name, path="x"), tools, tier=9) for name in ("wipe", "late", "wip")]
    assert [result.ok for result in results] == [True, True, False]
    assert ran == []


def test_an_answer_whose_calls_may_all_run_has_no_error_results() -> None:
    look = judge([read_file])
    fit, unfit = _call("read_file", path="a"), _call("read_file", paths="a")
    assert look(sp.ParsedResponse(tool_calls=[fit])).results == []
    (refused,) = look(sp.ParsedResponse(tool_calls=[unfit])).results
    assert "path" in (refused.error or "")


def test_an_unknown_tool_like_no_other_is_told_which_there_are() -> None:
    message = preflight(_call("xyz"), [book, read_file]).message
    assert message == "invalid call of 'xyz': there is no tool 'xyz'; the tools are: book, read_file"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"n": "x"}, "wrong_type"), ({}, "missing_parameter"), ({"n": 1, "m": 2}, "extra_parameter")],
)
def test_what_the_schema_refuses_is_found_once(arguments: dict[str, Any], code: str) -> None:
    def double(n: int) -> int:
        return 2 * n

    found = Gate([sp.Tool("double", function=double)]).look(sp.ToolCall("double", arguments, "c")).findings
    assert [each.code for each in found] == [code]


@pytest.fixture
def no_validator(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the extra was not installed."""
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    has_validator.cache_clear()
    yield
    has_validator.cache_clear()


OWN = {"type": "object", "properties": {"city": {"maxLength": 9}}}


@pytest.mark.usefixtures("no_validator")
def test_without_the_extra_a_tool_that_can_run_needs_no_schema_but_its_functions() -> None:
    fine = [book, sp.Tool("a", parameters=OWN), sp.Tool("b", function=lambda: None), sp.tool(read_file)]
    Gate(fine).require_validator()
    Gate([]).require_validator()
    for tools in (
        [sp.Tool("own", parameters=OWN, function=book)],
        [*fine, sp.Tool("own", parameters=OWN, function=book)],
    ):
        with pytest.raises(ModuleNotFoundError, match="'own'"):
            Gate(tools).require_validator()


def test_with_the_extra_every_schema_can_be_checked() -> None:
    Gate([sp.Tool("own", parameters=OWN, function=book)]).require_validator()


@pytest.mark.usefixtures("no_validator")
def test_without_the_extra_a_call_is_checked_by_the_annotations_and_nothing_is_converted() -> None:
    def codes(**arguments: Any) -> list[str]:
        result = preflight(_call("book", **arguments), [book])
        assert result.call.arguments == arguments
        return [each.code for each in result.findings]

    assert codes(city="Paris", days=2, unit="f", tags=["a"]) == []
    for wrong in (
        {},
        {"city": 1},
        {"city": "Paris", "days": "2"},
        {"city": "Paris", "days": 2.0},
        {"city": "Paris", "x": 1},
    ):
        assert codes(**wrong) == ["invalid_value"]
    assert preflight(_call("free", a=1), [sp.Tool("free")]).ok
    with pytest.raises(ModuleNotFoundError):
        preflight(_call("own", city="Paris"), [sp.Tool("own", parameters=OWN)])


@pytest.mark.parametrize(("raised", "seen"), [(KeyboardInterrupt, KeyboardInterrupt), (SystemExit, GuardFailed)])
def test_of_what_a_guard_raises_only_the_users_own_interrupt_goes_through(
    raised: type[BaseException], seen: type[BaseException]
) -> None:
    def guard(_call: sp.ToolCall) -> Iterator[Any]:
        raise raised
        yield

    with pytest.raises(seen):
        preflight(_call("book", city="Paris"), [book], guards=[guard])
