"""The quickest way reads what the tolerant reader reads without a repair, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.json import JSONError
from streamparse.json.tolerant import TolerantReader
from streamparse.json.whole_text import read_flat_object
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
