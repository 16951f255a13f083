"""What tools return, as JSON values of a bounded size."""

import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import uuid

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS
from streamparse.response import ToolCall
from streamparse.runtime.values import UnusableResult, cut_text, reduce_value
from streamparse.tools import ToolResult
from streamparse.writing.parts import Message, Text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
INF = float("inf")


@dataclasses.dataclass
class Point:
    x: float
    tags: set[str]


class Model(pydantic.BaseModel):
    when: datetime.date
    ratio: float = 1.0


class Color(enum.Enum):
    RED = "red"


class Array:
    """Of the shape of numpy's."""

    def tolist(self):
        return [1.0, [INF]]


CYCLE: list = []
CYCLE.append(CYCLE)

READ = {
    "text": ("a", "a"),
    "nothing": (None, None),
    "dataclass": (Point(1.5, {"a"}), {"x": 1.5, "tags": ["a"]}),
    "pydantic": ([Model(when=datetime.date(2026, 1, 2))], [{"when": "2026-01-02", "ratio": 1.0}]),
    "decimal": (decimal.Decimal("1.50"), "1.50"),
    "datetime": (datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.UTC), "2026-01-02T03:00:00Z"),
    "uuid": (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "enum": ({Color.RED: Color.RED}, {"red": "red"}),
    "path": (pathlib.PurePosixPath("a/b"), "a/b"),
    "bytes": ({b"ab": b"ab"}, {"YWI=": "YWI="}),
    "set": (frozenset({1}), [1]),
    "deque": (collections.deque([1]), [1]),
    "range": (range(3), [0, 1, 2]),
    "mapping": (types.MappingProxyType({"a": 1}), {"a": 1}),
    "keys of a dict": ({"a": 1}.keys(), ["a"]),
    "array": (Array(), [1.0, ["Infinity"]]),
    "keys that are numbers": ({1: 2, 1.5: 3, False: 4}, {"1": 2, "1.5": 3, "false": 4}),
    "no number": (float("nan"), "NaN"),
    "infinite numbers": ({"a": (INF, -INF, None)}, {"a": ["Infinity", "-Infinity", None]}),
    "no number in a dataclass": (Point(float("nan"), set()), {"x": "NaN", "tags": []}),
    "null alone": ({"a": None, "b": "null"}, {"a": None, "b": "null"}),
}
REFUSED = {
    "object": (object(), "an object of type object"),
    "cycle": (CYCLE, "recursion"),
    "keys that are lists": ({(1, 2): 3}, "not JSON"),
    "half a surrogate pair": ({"a": "\ud800"}, "not JSON"),
    "a picture in an object": ({"shot": sp.Image(PNG)}, "in a list"),
}


@pytest.mark.parametrize("value, result", READ.values(), ids=READ)
def test_python_values_become_json_values(value, result):
    reduced = reduce_value(value, 10_000)
    assert reduced == (result, False)
    assert msgspec.json.decode(msgspec.json.encode(reduced.value)) == result


@pytest.mark.parametrize("value, told", REFUSED.values(), ids=REFUSED)
def test_what_json_cannot_hold_is_refused(value, told):
    with pytest.raises(UnusableResult, match=told):
        reduce_value(value, 10_000)


# -- bounds --------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.text(max_size=20).map(lambda text: text * 400),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=5),
    max_leaves=8,
)


@given(JSON, st.integers(1, 4000))
def test_a_result_is_never_longer_than_was_asked_for_and_says_what_is_missing(value, most):
    reduced = reduce_value(value, most)
    if isinstance(reduced.value, str):
        assert len(reduced.value) <= max(most, len('"-Infinity"'))
    else:
        assert len(msgspec.json.encode(reduced.value).decode()) <= most
    if reduced.is_cut and most >= 400:
        assert "Ask for the rest in parts" in str(reduced.value)
    if not reduced.is_cut:
        assert reduced.value == reduce_value(value, 10**9).value


@given(st.text(max_size=3000), st.integers(1, 3000))
def test_a_cut_text_is_no_longer_than_was_asked_for(text, most):
    assert len(cut_text(text, most)) <= most


@pytest.mark.parametrize("sign", ["x", '"', "\x01", "é", "😀"])
def test_the_long_texts_of_an_object_are_cut_and_the_rest_of_it_stays(sign):
    value = {"stdout": sign * 5000, "stderr": "oops", "exit_code": 3, "total_output_bytes": 5004}
    reduced = reduce_value(value, 2000)
    assert reduced.is_cut
    assert len(msgspec.json.encode(reduced.value)) <= 2000
    assert {**reduced.value, "stdout": ""} == {**value, "stdout": "", "stdout_truncated": True}
    assert reduced.value["stdout"].startswith(sign * 50)
    assert reduced.value["stdout"].endswith(sign * 20)
    assert "of 5000 characters are left out here. Ask for the rest in parts" in reduced.value["stdout"]
    result = ToolResult("1", "bash", reduced.value, truncated=reduced.is_cut)
    assert (result.exit_code, result.metadata["stdout_truncated"]) == (3, True)
    assert (result.metadata["stderr_truncated"], result.metadata["total_output_bytes"]) == (False, 5004)


def test_an_object_of_many_texts_is_cut_as_one_text():
    reduced = reduce_value({str(number): "x" * 300 for number in range(20)}, 2000)
    assert reduced.value.startswith('{"0":"xxx')
    assert len(reduced.value) == 2000


# -- content -------------------------------------------------------------------------------------------------

PARTS = {
    "a picture": (sp.Image(PNG), sp.Image(PNG)),
    "a picture at an address": (sp.Image(url="https://a.b/c.png"), sp.Image(url="https://a.b/c.png")),
    "a document": (sp.Document(b"%PDF-1.4", name="a.pdf"), sp.Document(b"%PDF-1.4", name="a.pdf")),
    "a picture between texts": (["before", sp.Image(PNG), {"n": 1}], sp.Image(PNG)),
    "a picture behind a block": ([{"type": "text", "text": "before"}, sp.Image(PNG)], sp.Image(PNG)),
}


def conversation(value):
    call = ToolCall("shoot", {}, "call_1", raw="{}")
    result = ToolResult("call_1", "shoot", reduce_value(value, 10_000).value)
    return [Message("user", [Text("?")]), Message("assistant", [call]), Message("user", [result])]


@pytest.mark.parametrize("provider", ADAPTERS)
@pytest.mark.parametrize("value, part", PARTS.values(), ids=PARTS)
def test_what_a_tool_shows_arrives_at_each_provider_or_is_told_as_lost(provider, value, part):
    lost = []
    written = ADAPTERS[provider].write_messages(conversation(value), lost)
    kind = "image" if isinstance(part, sp.Image) else "document"
    told = [each.outcome for each in lost if each.keyword == kind]
    arrives = (part.data or part.url) in msgspec.json.encode(written).decode()
    is_text = any("written as text" in each for each in told)
    assert arrives or is_text
    if part.data:
        assert is_text != arrives
    read = [each for turn in ADAPTERS[provider].read_messages(written) for each in turn.parts]
    parts = [*read, *(each for result in read if isinstance(result, ToolResult) for each in content_of(result))]
    assert any(isinstance(each, type(part)) for each in parts) != is_text


def content_of(result):
    from streamparse.writing.results import show_result

    return show_result(result)


@pytest.mark.parametrize("provider", ["anthropic", "openai-responses", "bedrock", "gemini"])
def test_a_picture_stands_within_its_result_where_the_provider_has_that(provider):
    lost = []
    written = ADAPTERS[provider].write_messages(conversation(sp.Image(PNG)), lost)
    assert lost == []
    assert sp.Image(PNG).data in msgspec.json.encode(written[-1]).decode()


@pytest.mark.parametrize("value", [sp.Image(PNG * 100), ["a", sp.Image(PNG * 100)], sp.Document(b"%PDF-1.4" * 200)])
def test_a_picture_that_is_too_large_is_refused_whole(value):
    with pytest.raises(UnusableResult, match="too large"):
        reduce_value(value, 1000)
