"""What may leave of a call's arguments before it is complete."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.emitting.json_prefix import ArgumentWriter

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_objects = st.dictionaries(_texts, _values, max_size=4)


def _complete(raw: str, arguments: dict[str, Any], source: Any = "native") -> sp.ToolCallComplete:
    return sp.ToolCallComplete(0, "i", "n", arguments, source, raw)


def _left(arguments: ArgumentWriter, raw: str, size: int) -> str:
    return "".join(arguments.feed(raw[start : start + size]) for start in range(0, len(raw), size))


@given(_objects, st.integers(1, 5), st.booleans())
def test_sound_arguments_leave_as_they_came(value: dict[str, Any], size: int, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only)
    arguments = ArgumentWriter()
    left = _left(arguments, raw, size)
    assert raw.startswith(left)
    assert len(left) < len(raw)
    assert left + (arguments.finish(_complete(raw, value)) or "") == raw


@given(_objects, st.integers(1, 5), st.integers(0, 200))
def test_a_beginning_that_was_cut_anywhere_can_be_finished(value: dict[str, Any], size: int, cut: int) -> None:
    raw = json.dumps(value)[:cut]
    arguments = ArgumentWriter()
    left = _left(arguments, raw, size)
    rest = arguments.finish(_complete(raw, value, "repaired"))
    assert rest is not None
    assert json.loads(left + rest) == value


@given(
    st.text(st.sampled_from("{}[]\",:\\ \n019.eE+-truefalsnu'xd8") | st.characters(), max_size=30), st.integers(1, 4)
)
def test_what_leaves_is_never_a_whole_value_and_does_not_depend_on_the_cut(raw: str, size: int) -> None:
    left = _left(ArgumentWriter(), raw, size)
    assert left == _left(ArgumentWriter(), raw, 1 << 20)
    broken = ArgumentWriter()
    whole = _left(broken, raw, size) + broken.abort()
    with pytest.raises(ValueError):
        json.loads(whole)


MALFORMED: dict[str, dict[str, Any]] = {
    "{'a': 1, 'b': True}": {"a": 1, "b": True},
    '{"a": 1,}': {"a": 1},
    '{"a": "x\ny", "b": [1,2,]}': {"a": "x\ny", "b": [1, 2]},
    '"{\\"a\\":1}"': {"a": 1},
    "{a: 1}": {"a": 1},
    '{"a":1}}': {"a": 1},
    '{"a": 1, "a": 2,}': {"a": 2},
    '{"a": "x", "b": [1], "a": "y", }': {"a": "y", "b": [1]},
    '{"a": 01}': {"a": 1},
    '{"a": "\\x"}': {"a": "x"},
    '{"a": {"b": [1, {"c": tru': {"a": {"b": [1, {"c": True}]}},
}


@pytest.mark.parametrize("size", [1, 3, 99])
@pytest.mark.parametrize("raw", MALFORMED)
def test_what_was_repaired_leaves_as_json(raw: str, size: int) -> None:
    arguments = ArgumentWriter()
    left = _left(arguments, raw, size)
    rest = arguments.finish(_complete(raw, MALFORMED[raw], "repaired"))
    assert rest is not None
    assert json.loads(left + rest) == MALFORMED[raw]


def test_a_beginning_that_says_something_else_cannot_be_finished() -> None:
    arguments = ArgumentWriter()
    raw = '{"a": 1, "a": 2'
    arguments.feed(raw)
    assert arguments.finish(_complete(raw, {"b": 1}, "repaired")) is None


def test_text_inside_of_a_string_does_not_wait() -> None:
    arguments = ArgumentWriter()
    arguments.feed('{"a": "')
    assert [arguments.feed(piece) for piece in ("one ", "two", "é🎉")] == ["one ", "two", "é🎉"]
