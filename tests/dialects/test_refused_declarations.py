"""What a dialect cannot be made of is refused with the reason, and what a word of an option may be is said."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import calls_of, events_of, reasoning_of

import streamparse as sp
from streamparse.dialects import dialect_from_template, register_dialect

CALLED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
OTHERS = {"type": "function", "function": {"name": "{name}", "arguments": "{rest}"}}
NAMED = r"<c>(?P<name>\w+)<b>"

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no literal, and no name": ({"open_pattern": r"<c>\s*x", "content": "json"}, "is no literal, and names no call"),
    "arguments beside the content": (
        {"open_pattern": NAMED, "content": "json", "transform": OTHERS},
        "must have its content as arguments",
    ),
    "tags without a value": (
        {"open_pattern": NAMED, "close": "</c>", "content": "xml-inline", "transform": CALLED,
         "content_args": {"tag_pattern": r"<a=(?P<key>\w+)>"}},
        "holds no .*value",
    ),
    "tags without a key": (
        {"open_pattern": NAMED, "close": "</c>", "content": "xml-inline", "transform": CALLED,
         "content_args": {"tag_pattern": r"<a>(?P<value>.*?)</a>"}},
        "holds no group 'key'",
    ),
    "two delimiters of a string": (
        {"open_pattern": NAMED, "content": "json", "transform": CALLED,
         "content_args": {"string_delims": [["<q>", "</q>"]]}},
        "one pair of equal delimiters",
    ),
    "an end that is no literal": (
        {"open": "<c>", "close_pattern": r"</\w+>", "content": "json"},
        "cannot be read piece by piece",
    ),
    "an end that is nothing": ({"open": "<c>", "close_pattern": r"\s*", "content": "json"}, "is no literal"),
    "an end of white space": ({"open": "<c>", "close_pattern": r"</c>\s*x", "content": "json"}, "is no literal"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_declaration_that_no_grammar_reads_is_refused_with_the_reason(case: str) -> None:
    calls, reason = REFUSED[case]
    with pytest.raises(ValueError, match=reason):
        dialect_from_template({"fields": {"tool_calls": calls}})


@pytest.mark.parametrize("declaration", [{}, {"fields": {}}, {"fields": []}, {"fields": {"content": {}}}])
def test_a_declaration_without_calls_and_thoughts_is_refused(declaration: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="neither of the fields"):
        dialect_from_template(declaration)


def test_a_thought_may_be_delimited_by_patterns_of_literals() -> None:
    thinking = {"open_pattern": r"<muse>\n", "close_pattern": r"\s*(?:</muse>|<over>)", "content": "text"}
    calls = {"open": "<call>", "close": "</call>", "content": "json"}
    dialect = dialect_from_template({"fields": {"thinking": thinking, "tool_calls": calls}})
    for close in ("</muse>", "<over>"):
        text = f'<muse>\nHm.{close}<call>{{"name": "f", "arguments": {{}}}}</call>'
        events = events_of(sp.TextParser([dialect]), [text])
        assert (reasoning_of(events), calls_of(events)) == ("Hm.", [("f", {})])


def test_what_is_no_dialect_or_opens_no_call_is_not_registered() -> None:
    with pytest.raises(TypeError, match="must be a Dialect, got 'hermes'"):
        register_dialect("mine", "hermes")  # type: ignore[arg-type]
    thoughts_alone = dialect_from_template({"fields": {"thinking": {"open": "<muse>", "close": "</muse>"}}}, "mine")
    with pytest.raises(ValueError, match="'mine' has no openers"):
        register_dialect("mine", thoughts_alone)


@pytest.mark.parametrize("make", [sp.TextParser, lambda **options: sp.StreamParser("openai-chat", **options)])
def test_an_unknown_word_of_an_option_lists_the_known_ones(make: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown quoted 'call'; did you mean 'calls'\? known are: text, calls"):
        make(quoted="call")
    with pytest.raises(ValueError, match=r"unknown reasoning 'on'; .*known are: auto, open, closed"):
        make(reasoning="on")
