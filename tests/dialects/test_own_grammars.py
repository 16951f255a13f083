"""A grammar of one's own may report anything in any order: what counts depends on where its marker is."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from cuts import (
    assert_same_in_every_cut,
    calls_of,
    events_of,
    in_pieces,
    places_of,
    reasoning_of,
    revoked_of,
    text_of,
)

import streamparse as sp
from streamparse.dialects import DIALECTS
from streamparse.dialects.engine.grammar import Context, Dialect, Opener
from streamparse.dialects.engine.reader import Reader, Step

TOOLS = [
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}},
    {"name": "r", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
]


def read_script(reader: Reader, context: Context) -> Step[bool]:
    """Report what each letter stands for, up to `>`.

    `f` and `r` begin a call of that name without arguments, `.` ends it, `t` is text, `h` a thought, `d` a doubt, `x`
    an error.
    """
    sink, call = context.sink, None
    while (letter := (yield from reader.peek())) not in (">", ""):
        reader.take(1)
        if letter not in "dx":
            reader.commit()
        match letter:
            case "f" | "r":
                call = sink.call_start(letter)
                sink.call_arguments(call, "{}")
            case "." if call is not None:
                sink.call_end(call)
            case "t":
                sink.text("t")
            case "h":
                sink.reasoning("h")
            case "d":
                sink.calls_doubted("ambiguous_markup", "these calls may be data")
            case "x":
                sink.error("call", "malformed_call", "this is no call")
    if not letter:
        return False
    reader.take(1)
    reader.commit()
    return True


MARKERS = {
    "plain": Opener("<do "),
    "word": Opener("<do ", word=True),
    "bare": Opener("<do ", bare=True),
}


class Given(NamedTuple):
    """What a script gives; the calls are the places of all that were complete."""

    calls: str = ""
    text: str = ""
    reasoning: str = ""
    revoked: str = ""
    errors: str = ""


CASES: dict[tuple[str, str], Given] = {
    # Behind a marker of its own all is reported as it comes.
    ("plain", "f.tf.h"): Given("plain plain", "t", "h"),
    ("plain", "f.d"): Given("plain", revoked="ambiguous_markup", errors="ambiguous_markup"),
    # Behind a plain word likewise, once the first call is believed by its name.
    ("word", "f.tf."): Given("plain plain", "t"),
    ("word", "f.h"): Given("plain", reasoning="h"),
    ("word", "f.d"): Given("plain", revoked="ambiguous_markup", errors="ambiguous_markup"),
    ("word", "f.x"): Given("plain", errors="malformed_call"),
    ("word", "tf."): Given("plain", "t"),
    ("word", "r.tf."): Given(text="<do r.tf.>"),
    # What has no marker of its own is held until the call is whole, with text and thoughts before it.
    ("bare", "tf."): Given("bare", "t"),
    ("bare", "hf."): Given("bare", reasoning="h"),
    ("bare", "f.hf."): Given("bare bare", reasoning="h"),
    ("bare", "fhf."): Given(text="<do fhf.>"),
    ("bare", "f.tf."): Given("bare", "<do f.tf.>", revoked="text_follows"),
    ("bare", "f.df."): Given("bare", "<do f.df.>", revoked="text_follows"),
    ("bare", "f.xf."): Given("bare", "<do f.xf.>", revoked="text_follows"),
    ("bare", "r.hf."): Given(text="<do r.hf.>"),
    ("bare", "xtr."): Given(text="<do xtr.>"),
}


@pytest.mark.parametrize(("marker", "script"), CASES)
def test_what_a_grammar_reports_counts_as_its_marker_says(marker: str, script: str) -> None:
    dialect = Dialect("own", (MARKERS[marker],), read_script, follows="[a-z]")
    events = assert_same_in_every_cut(lambda: sp.TextParser([dialect], tools=TOOLS), f"<do {script}>")
    codes = " ".join(event.code for event in events if isinstance(event, sp.Error))
    revoked = " ".join(reason for _, reason in revoked_of(events))
    assert (
        Given(" ".join(places_of(events)), text_of(events), reasoning_of(events), revoked, codes)
        == CASES[marker, script]
    )


@pytest.mark.parametrize("script", ["f.hf.", "f.tf.", "tf.", "hf."])
def test_what_a_grammar_reads_in_quotes_is_text(script: str) -> None:
    dialect = Dialect("own", (MARKERS["plain"],), read_script, follows="[a-z]")
    text = f"`<do {script}>`"
    events = assert_same_in_every_cut(lambda: sp.TextParser([dialect], tools=TOOLS), text)
    assert (text_of(events), reasoning_of(events), places_of(events)) == (text, "", [])


def test_a_dialect_must_say_what_follows_its_marker() -> None:
    dialect = Dialect("own", (MARKERS["plain"],), read_script)
    with pytest.raises(ValueError, match=r"says what follows the openers: .*read_script"):
        _ = dialect.probe


def test_blanks_may_stand_between_a_marker_of_ones_own_and_the_tags_of_a_known_grammar() -> None:
    row = DIALECTS["qwen3-coder"]
    own = Dialect("own", (Opener("CALL:"),), row.body, follows=r"\s*<function=")
    text = "CALL:\n <function=f><parameter=a>1</parameter></function>"
    calls = calls_of(assert_same_in_every_cut(lambda: sp.TextParser([own], tools=TOOLS), text))
    assert calls == [("f", {"a": 1})]


def test_a_flood_of_thoughts_before_what_is_no_call_is_told_whole() -> None:
    own = Dialect("own", (MARKERS["bare"],), read_script, follows="[a-z]")
    for size in (7, 500):
        parser = sp.TextParser([own], tools=TOOLS)
        events = events_of(parser, in_pieces("<do hr.>" * 120, size))
        assert (reasoning_of(events), text_of(events)) == ("h" * 120, "r.>" * 120)


class Unhashable:
    """A grammar that cannot be the key of a dict."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        return read_script(reader, context)


def test_a_grammar_need_not_be_hashable() -> None:
    own = Dialect("own", (MARKERS["plain"],), Unhashable(), follows="[a-z]")
    assert calls_of(sp.TextParser([own], tools=TOOLS).feed("<do f.>")) == [("f", {})]
