"""The quickest way reads what the tolerant reader reads without a repair, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.json import JSONError
from streamparse.json.tolerant import TolerantReader
from streamparse.json.whole_text import read_clean, read_flat_object
from streamparse.limits import Limits

LIMITS = Limits(max_depth=3, max_number=4, max_key=6)
KEYS = st.sampled_from(["a", "\\u0061", "b", "", ":", "\\u003a", "long key", "é", "\\b"])
SCALARS = st.sampled_from(
    ["1", "-0", "1e5", "1e-9", "12345", "0.5", "null", "true", '"x"', '":"', '"\\u003A"', '"\\ud83d\\ude00"', '"\\b"']
)
OTHERS = st.sampled_from(
    ['"\\ud83d"', "NaN", "1e999", "[]", "{}", '{"a":1,"a":2}', "[[[[1]]]]", '"\n"', '"\ud800"', '"', "01"]
)
VALUES = SCALARS | SCALARS | OTHERS
GAPS = st.sampled_from(["", "", "", " ", "\n\t"])
MEMBERS = st.tuples(KEYS, VALUES, GAPS, GAPS).map(lambda part: f'{part[2]}"{part[0]}"{part[3]}:{part[2]}{part[1]}')
OBJECTS = st.lists(MEMBERS, max_size=6).map(",".join).map("{{{}}}".format)


def _read_tolerantly(text: str, limits: Limits) -> Any:
    """What the tolerant reader reads; None if it refuses or repairs."""
    reader = TolerantReader(text, "lenient", limits)
    try:
        value = reader.read_document()
    except JSONError:
        return None
    return None if reader.repairs else value


@given(OBJECTS | st.text(max_size=9), st.sampled_from([Limits(), LIMITS]))
def test_what_the_quickest_way_reads_is_clean_and_the_same_to_every_reader(text: str, limits: Limits) -> None:
    quick = read_flat_object(text, limits)
    if quick is not None:
        assert repr(quick) == repr(_read_tolerantly(text, limits))


@pytest.mark.parametrize("first", ["a", "\\u0061"])
@pytest.mark.parametrize("other", ["", '"b":":",', '"b":":","c":"::::",', '"b": "\\u003a:", '])
@pytest.mark.parametrize("gap", ["", " "])
def test_a_key_that_comes_twice_is_never_read_the_quickest_way(first: str, other: str, gap: str) -> None:
    assert read_flat_object(f'{{{gap}"{first}":{gap}"", {other}"a":{gap}0}}', Limits()) is None


@pytest.mark.parametrize(
    "arguments", [{}, {"city": "Paris", "days": 3}, {"path": "a.py", "content": 'f(":", "\\")\n' * 99}, {"é": None}]
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_plain_arguments_are_read_the_quickest_way(arguments: dict[str, Any], separators: tuple[str, str]) -> None:
    text = json.dumps(arguments, ensure_ascii=False, separators=separators)
    assert read_flat_object(text, Limits()) == arguments


def test_a_blank_object_beyond_the_limit_of_a_key_is_still_empty() -> None:
    assert read_flat_object("{" + " " * 9 + "}", LIMITS) == {}


def _nest(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("make, name", [
    (lambda size: "1" * size, "max_number"),
    (lambda size: f'[{"1" * (size - 2)}.5]', "max_number"),
    (lambda size: f'{{"{"k" * size}": [null]}}', "max_key"),
    (lambda size: f'[{{"a": 1, "{"é" * size}": 2}}, 12345678901]', "max_key"),
    (_nest, "max_depth"),
    (lambda size: f'["]]", "[[[[[[[[[[{{", "\\"[", {_nest(size - 1)}, {{}}]', "max_depth"),
])  # fmt: skip
def test_what_a_limit_just_permits_is_read_the_quick_way(make: Callable[[int], str], name: str) -> None:
    limits = Limits(**{name: 9})
    for size in (3, 8, 9):
        assert read_clean(make(size), limits) == read_clean(make(size).encode(), limits) == json.loads(make(size))
    with pytest.raises(ValueError, match=r"long|deep"):
        read_clean(make(10), limits)
    none = Limits(max_number=None, max_key=None, max_depth=None)
    assert read_clean(make(99), none) == read_clean(make(99), Limits()) == json.loads(make(99))


@pytest.mark.parametrize("make, name", [
    (lambda size: f'{{"a":{"1" * size}}}', "max_number"),
    (lambda size: f'{{"a":"x","{"k" * size}":null}}', "max_key"),
])  # fmt: skip
def test_a_flat_object_is_read_only_where_no_limit_can_be_hit(make: Callable[[int], str], name: str) -> None:
    limits = Limits(**{name: 9})
    short = json.loads(make(1))
    assert read_flat_object(make(1), limits) == (short if name == "max_key" or len(make(1)) <= 9 else None)
    assert read_flat_object(make(9), Limits(**{name: None})) == json.loads(make(9))
    assert read_flat_object(make(10), limits) is None
    assert read_flat_object('{"a":1}', Limits(max_depth=0)) is None
    assert read_flat_object('{"a":1}', Limits(max_depth=1)) == {"a": 1}


@pytest.mark.parametrize("text", [
    '{"a": 1, "a": 1}', "[1] 2", "1 2", '"\\ud83d"', '["\ud83d"]', "[1e999]", "[NaN]", "[-Infinity]", "", "{",
    "[01]", "nul",
])  # fmt: skip
def test_what_some_reader_must_repair_or_refuse_is_not_read_the_quick_way(text: str) -> None:
    with pytest.raises((ValueError, StopIteration)):
        read_clean(text, Limits())


@pytest.mark.parametrize(
    "text", ["\t[1]\r\n ", '"\\ud83d\\ude00"', '{"a": {"a": [{"a": -0.5e3}]}}', "12345678901234567890"]
)
def test_blanks_pairs_and_nested_keys_are_read_the_quick_way(text: str) -> None:
    assert repr(read_clean(text, Limits())) == repr(read_clean(text.encode(), Limits())) == repr(json.loads(text))
