"""What a checkpoint declares of its answers becomes a dialect, or is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, reasoning_of, text_of

import streamparse as sp
from streamparse.dialects import dialect_from_template

WHOLE = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
TAGS = {"tag_pattern": r"<arg=(?P<key>\w+)>\s*(?P<value>.*?)\s*</arg>"}
BRACES = {"unquoted_keys": True, "string_delims": [["<q>", "<q>"]]}


def _declared(calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"fields": {"tool_calls": calls, **fields}}


CASES = {
    "json": (
        {"open": "<call>", "close": "</call>", "repeats": True, "content": "json", "transform": WHOLE},
        '<call>{"name": "f", "arguments": {"a": "</call>"}}</call>',
        {"a": "</call>"},
    ),
    "json with keys of its own": (
        {
            "open": "<acts>",
            "close": "</acts>",
            "content": "json",
            "transform_each": True,
            "transform": {"type": "function", "function": {"name": "{tool}", "arguments": "{given}"}},
        },
        '<acts>[{"tool": "f", "given": {"a": 1}}]</acts>',
        {"a": 1},
    ),
    "json behind a name": (
        {"open_pattern": r"<to:(?P<name>\w+)>.*?<body>", "close": "<end>", "content": "json", "transform": NAMED},
        '<to:f> as json<body>{"a": 1}<end>',
        {"a": 1},
    ),
    "json of one tool": (
        {"open": "<do>", "close": "</do>", "content": "json",
         "transform": {"type": "function", "function": {"name": "f", "arguments": "{content}"}}},
        '<do>{"a": "</do>"}</do>',
        {"a": "</do>"},
    ),
    "braces": (
        {"open_pattern": r"<c>do:(?P<name>\w+)", "close": "</c>", "content": "json", "content_args": BRACES,
         "transform": NAMED},
        "<c>do:f{a:<q>}<q>}</c>",
        {"a": "}"},
    ),
    "inline tags": (
        {"open_pattern": r"<c>\s*<fn=(?P<name>\w+)>", "close": "</c>", "content": "xml-inline", "content_args": TAGS,
         "transform": NAMED},
        "<c>\n<fn=f>\n<arg=a>\nx\n</arg>\n</fn>\n</c>",
        {"a": "x"},
    ),
    "inline tags that end in other ways": (
        {"open_pattern": r"<c>\s*<fn=(?P<name>\w+)>", "close": "[/c]", "content": "xml-inline", "content_args": TAGS,
         "transform": NAMED},
        "<c>\n<fn=f>\n<arg=a>\nx [y] <z\n</arg>\n</fn>\n[/c]",
        {"a": "x [y] <z"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_declaration_is_read_by_the_grammar_that_it_describes(case: str) -> None:
    calls, text, arguments = CASES[case]
    thinking = {"open": "<muse>", "close": "</muse>", "content": "text"}
    declared = _declared(calls, thinking=thinking, content={"close": ["<done>"], "content": "text"})
    dialect = dialect_from_template(declared)
    events = assert_same_in_every_cut(
        lambda: sp.TextParser([dialect]),  # type: ignore[list-item]
        f"<muse>Hm.</muse>So. {text}<done>",
    )
    assert calls_of(events) == [("f", arguments)]
    assert (reasoning_of(events), text_of(events)) == ("Hm.", "So. ")


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ({"open_pattern": "(a+)+b", "content": "json"}, "piece by piece"),
        ({"open_pattern": "<c>x{2}(?P<name>.)", "content": "json"}, "repeats"),
        ({"open": "<c>", "content": "kv-lines"}, "no grammar"),
        (
            {
                "open": "<c>",
                "content": "json",
                "transform": {"function": {"name": "f_{kind}", "arguments": "{content}"}},
            },
            "name",
        ),
        ({"open_pattern": r"(?P<name>\w+)", "content": "json"}, "literal marker"),
        ({"content": "json"}, "neither"),
    ],
)
def test_a_declaration_that_no_grammar_reads_is_refused_with_the_reason(calls: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        dialect_from_template(_declared(calls))


def test_a_thought_may_be_declared_to_begin_with_the_text() -> None:
    thinking = {"open_pattern": "(?:^|<muse>)", "close": "</muse>"}
    dialect = dialect_from_template({"fields": {"thinking": thinking}})
    for text in ("<muse>Hm.</muse>So.", "Hm.</muse>So."):
        parser = sp.TextParser([dialect], reasoning="auto" if text[0] == "<" else "open")
        events = parser.feed(text)
        assert (reasoning_of(events), text_of(events)) == ("Hm.", "So.")
