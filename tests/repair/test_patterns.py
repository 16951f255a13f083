"""Patterns of schemas are ECMA-262's, not anchored; one that cannot be read is told and keeps no call from running."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.repair import Preflight, preflight
from streamparse.schema.ecma_regex import make_engine_options, read_pattern, translate

pytest.importorskip("jsonschema_rs")

DIALECTS = [
    None,
    "http://json-schema.org/draft-03/schema#",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]

FITS = [
    ("b", "abc", True),
    ("", "", True),
    (r"^\p{L}+$", "été", True),
    (r"^\p{L}+$", "1", False),
    (r"^\p{Script=Greek}$", "α", True),
    (r"^[\p{Lu}\p{Nd}_-]+$", "É1_-", True),
    (r"^[\P{L}]$", "a", False),
    ("^a$", "a\n", False),
    ("^.$", "\r", False),
    ("^.$", "\u2028", False),
    (r"^\d$", "١", False),
    (r"^[\d]$", "١", False),
    (r"^[^\D]+$", "12", True),
    (r"^[^\D]+$", "1a", False),
    (r"^[\W]+$", "é-", True),
    (r"^[\w-.]+$", "a-.", True),
    (r"^[\w-.]+$", "a+", False),
    (r"^[a-\d]+$", "a-1", True),
    (r"^[a-\d]+$", "b", False),
    (r"^[\p{L}-z]+$", "é-", True),
    (r"\bé", "aé", True),
    (r"\Bé", "aé", False),
    (r"^[\b]$", "\b", True),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\x1c", False),
    (r"^\S$", "\x1c", True),
    ("^[^]$", "\n", True),
    ("[]", "x", False),
    (r"^[\]$.]$", "$", True),
    (r"^[\]$.]$", "x", False),
    ("^[[a]+$", "[a", True),
    ("^[a&&b]+$", "a&b", True),
    ("^/{id}$", "/{id}", True),
    ("^a{,2}$", "a{,2}", True),
    ("^a{1,2}$", "aa", True),
    ("^a{2,}$", "a", False),
    (r"^\$\.\{\[$", "$.{[", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^\ud83d\ude00$", "😀", True),
    (r"^[\ud83d\ude00-\ud83d\ude4f]$", "😁", True),
    (r"^\u00e9\x41$", "éA", True),
    (r"^(?<one>a|b)\k<one>$", "bb", True),
    (r"^(?<one>a|b)\k<one>$", "ba", False),
    ("(?<!a)b", "ab", False),
    (r"^\cJ$", "\n", True),
    (r"^\0$", "\0", True),
    ("^[+--]+$", "+,-", True),
    ("^[+--]+$", ".", False),
    (r"^(a)(?<x>b)\k<x>$", "abb", True),
    (r"^(?=.*\d)(?!.*--).{3,}$", "ab1", True),
    (r"^(?=.*\d)(?!.*--).{3,}$", "a--1", False),
]


def _fits(source: str, text: str) -> set[bool]:
    """What the engines that can read a pattern say of a text."""
    import jsonschema_rs

    pattern = read_pattern(source)
    assert pattern is not None
    engines = [(pattern.linear, True), (pattern.backtracking, False)]
    return {
        jsonschema_rs.Draft202012Validator({"pattern": written}, pattern_options=make_engine_options(linear)).is_valid(
            text
        )
        for written, linear in engines
        if written is not None
    }


@pytest.mark.parametrize(("pattern", "text", "fits"), FITS)
def test_a_pattern_fits_what_it_fits_in_ecma_262(pattern: str, text: str, fits: bool) -> None:
    assert _fits(pattern, text) == {fits}


UNREADABLE = [
    "[",
    "(",
    "\\",
    "(?R)?a",
    r"(?<one>a)\k<two>",
    r"\p{Nonsense}",
    r"\u{110000}",
    "a{99999999999999999999}",
    "(" * 5000 + ")" * 5000,
    "((a{1000}){1000}){1000}",
]


@pytest.mark.parametrize("pattern", UNREADABLE)
def test_a_pattern_that_cannot_be_read_says_nothing(pattern: str) -> None:
    assert read_pattern(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["^[a-z{}]{2000}$", "(a{100}){100,}", r"\(a{1000}\){1000}", r"^[\p{L}\d_ -]{1,200}$", "^[^/]{1,255}$"]
)
def test_counts_that_the_engine_can_hold_are_no_hindrance(pattern: str) -> None:
    assert read_pattern(pattern) is not None


@given(st.text(st.sampled_from(list(r"ab\\\[]^-{}(),.$|&~*+?dDwWsSpPbBcukx<>019:=!#")) | st.characters(), max_size=30))
def test_any_text_is_a_pattern_or_none(text: str) -> None:
    assert read_pattern(text) is None or isinstance(translate(text), str)


@given(st.text())
def test_text_that_is_escaped_fits_itself(text: str) -> None:
    escaped = "".join(f"\\u{{{ord(character):x}}}" for character in text)
    assert _fits(f"^{escaped}$", text) == {True}
    assert not text or _fits(f"^[{escaped}]+$", text) == {True}


def _checked(schema: dict[str, Any], dialect: str | None = None, **arguments: Any) -> Preflight:
    whole = {"type": "object", **schema} if dialect is None else {"$schema": dialect, "type": "object", **schema}
    return preflight(sp.ToolCall("f", arguments), [sp.Tool("f", parameters=whole)])


def _codes(result: Preflight) -> list[str]:
    return [finding.code for finding in result.findings]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_are_checked_against_patterns_that_only_ecma_262_knows(dialect: str | None) -> None:
    schema = {"properties": {"name": {"type": "string", "pattern": r"\p{L}$"}, "more": {"$ref": "#"}}}
    assert _checked(schema, dialect, name="1é", more={"name": "é"}).ok
    assert _codes(_checked(schema, dialect, name="é1")) == ["invalid_value"]
    assert _codes(_checked(schema, dialect, name="é", more={"name": "1"})) == ["invalid_value"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("pattern", UNREADABLE)
def test_a_pattern_that_cannot_be_read_is_told_once_and_keeps_no_call_from_running(
    pattern: str, dialect: str | None
) -> None:
    name = {"type": "string", "pattern": pattern}
    schema = {"properties": {"name": name, "names": {"type": "array", "items": name}, "days": {"type": "integer"}}}
    result = _checked(schema, dialect, name="x", names=["y", "z"], days=1)
    assert result.ok
    assert _codes(result) == ["unreadable_pattern"]
    assert not _checked(schema, dialect, name="x", days="many").ok


def test_a_parameter_that_is_named_pattern_is_no_pattern() -> None:
    assert _checked({"properties": {"pattern": {"type": "string", "enum": ["["]}}}, pattern="[").findings == ()


def test_names_of_parameters_fit_patterns_too() -> None:
    schema = {"patternProperties": {r"^\p{Lu}": {"type": "integer"}}, "additionalProperties": False}
    assert _checked(schema, É=1).findings == ()
    assert _codes(_checked(schema, É="1")) == ["coerced"]
    assert _codes(_checked(schema, É="x")) == ["wrong_type"]
    assert _codes(_checked(schema, é=1)) == ["extra_parameter"]
    others = {**schema, "properties": {"a": {}}, "additionalProperties": {"type": "boolean"}}
    assert _codes(_checked(others, É=1, a=1, b=True)) == []
    assert _codes(_checked(others, b=[])) == ["wrong_type"]


def test_parameters_that_an_unreadable_pattern_may_mean_are_not_refused() -> None:
    assert _codes(_checked({"patternProperties": {"[": {}}, "additionalProperties": False}, a=1)) == [
        "unreadable_pattern"
    ]
    evaluated = {"patternProperties": {r"\p{L}": {}}, "unevaluatedProperties": False}
    assert _checked(evaluated, a=1).ok


CARELESS = r"^(a|b|ab)*\1c$"


@pytest.mark.parametrize("schema", [{"pattern": CARELESS}, {"not": {"pattern": CARELESS}}])
def test_a_text_that_takes_too_long_to_compare_is_refused_whatever_the_schema_makes_of_it(schema: Any) -> None:
    assert _codes(_checked({"properties": {"name": schema}}, name="ab" * 60)) == ["too_costly"]
    assert not _checked({"properties": {"name": {"pattern": CARELESS}}}, name="x").ok


def test_a_pattern_whose_work_is_linear_may_be_as_careless_as_it_likes() -> None:
    schema = {"properties": {"name": {"pattern": "^(a|a)*$"}}}
    assert _codes(_checked(schema, name="a" * 100_000 + "b")) == ["invalid_value"]
    assert _checked(schema, name="a" * 100_000).ok
