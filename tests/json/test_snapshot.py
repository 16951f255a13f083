"""The stable part of a value that is still being written."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.json import read, snapshot
from streamparse.json.json_safety import NotJSON, compact, make_jsonable
from streamparse.loss import Loss

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=10
)


def extends(later: Any, earlier: Any) -> bool:
    """Whether `later` shows all that `earlier` showed, and contradicts nothing of it."""
    if isinstance(earlier, str):
        return isinstance(later, str) and later.startswith(earlier)
    if isinstance(earlier, list):
        return isinstance(later, list) and len(later) >= len(earlier) and all(map(extends, later, earlier))
    if isinstance(earlier, dict):
        return isinstance(later, dict) and all(key in later and extends(later[key], earlier[key]) for key in earlier)
    return type(later) is type(earlier) and later == earlier


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_a_snapshot_shows_is_never_contradicted(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    shown = snapshot("")
    for end in range(1, len(text) + 1):
        later = snapshot(text[:end])
        assert shown is None or extends(later, shown)
        assert later is None or extends(value, later)
        shown = later


@given(VALUES)
def test_the_snapshot_of_a_whole_text_is_its_value(value: object) -> None:
    assert snapshot(json.dumps(value) + "\n") == value


@given(st.text(alphabet="{}[]\"\\u0d8c,: -1eEtrue'\n\ufeff\ud800"))
def test_a_snapshot_never_raises_and_shows_what_reading_shows(text: str) -> None:
    shown = snapshot(text)
    try:
        value = read(text).value
    except ValueError:
        return
    assert shown is None or repr(shown) == repr(value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", None),
        ("  ", None),
        ('"a\\u00e', "a"),
        ('"a\\ud83d\\', "a"),
        ('"a\\ud83d\\u', "a"),
        ('"a\\ud83dx', "a\ufffdx"),
        ('"a\\\\', "a\\"),
        ('"a\\\\u00', "a\\u00"),
        ('"a\\q', "a\\q"),
        ('"a\nb', "a\nb"),
        ("nul", None),
        ("[nul", []),
        ("[null", [None]),
        ("[1.", []),
        ("[1 ", [1]),
        ("12 ", 12),
        ("-", None),
        ('{"a": {"b": [', {"a": {"b": []}}),
        ('{"a": 1, "a": 2,', {"a": 2}),
        ('{"a": 1, "b" 2', {"a": 1}),
        ("[1, ?", [1]),
        ("{'a'", {}),
        ("nonsense", None),
        ("[1, NaN", [1]),
    ],
)
def test_a_snapshot_shows_the_part_before_what_is_open_or_wrong(text: str, shown: object) -> None:
    assert repr(snapshot(text)) == repr(shown)


def calls_made(text: str) -> int:
    """How many calls a snapshot of the text makes, its own and those of builtins."""
    snapshot(text)  # patterns are compiled when they are first used
    count = 0

    def counting(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counting)
    try:
        snapshot(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    ("head", "flood"),
    [("[", '{"a": 1}, '), ('["', "\\n"), ('["', "x"), ("[", '"a", '), ('["', "\\ud83d"), ("{", '"a": [], ')],
)
def test_the_work_of_a_snapshot_grows_no_faster_than_the_text(head: str, flood: str) -> None:
    assert calls_made(head + flood * 2_000) <= 2.1 * calls_made(head + flood * 1_000)


def test_json_is_written_without_blanks_and_what_it_cannot_hold_is_named_by_its_place() -> None:
    assert compact({"a": [1, 2], "b": "é"}) == '{"a":[1,2],"b":"é"}'
    with pytest.raises(NotJSON, match=r"^not JSON: /a~1b~0c/0 is object$"):
        compact({"a/b~c": [object()]})
    lost: list[Loss] = []
    assert make_jsonable(object(), "x", lost) is None
    assert make_jsonable({"a": object(), "b": [object()]}, "x", lost) == {"b": [None]}
    assert [(each.place, each.path, each.keyword) for each in lost] == [
        ("x", "", "object"),
        ("x", "/a", "object"),
        ("x", "/b/0", "object"),
    ]
