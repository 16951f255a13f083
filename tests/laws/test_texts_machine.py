"""Texts with any number of calls of one format, with words between them, split into any pieces.

The calls are those of `fixtures/dialects`: one, several in one block, none with arguments.  What a text of several of
them must give is what each of them gives alone, in order, and the words between.  A second parser is fed the same text
character by character.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cuts import calls_of, merged, text_of
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ledger import Ledger, settings_of

import streamparse as sp

FOLDER = Path(__file__).parents[2] / "fixtures" / "dialects"
STRING = {"type": "string"}
PARAMETERS: dict[str, dict[str, Any]] = {
    "get_weather": {"city": STRING, "days": {"type": "integer"}},
    "note": {"text": STRING},
    "now": {},
    "bash": {"command": STRING},
}
TOOLS = [{"name": name, "parameters": {"type": "object", "properties": of}} for name, of in PARAMETERS.items()]
WORDS = ("And Rome:", "So it is 1 < 2.", "Done", "I look it up.", "é 🎉", "It's fine {or not}.")
HEADED = ("muse-atem", "harmony", "beam")
"""Formats of messages with headers: words between calls are a message of their own, and so is each call."""
BLOCKS = ("single", "parallel", "same_tool_twice")

Calls = list[tuple[str, dict[str, Any]]]


@cache
def fixture_of(row: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{row}.toml").read_text(encoding="utf-8"))


def calls_of_case(row: str, case: str) -> Calls:
    return [(call["name"], call["arguments"]) for call in fixture_of(row)[case].get("calls", ())]


def blocks_of(row: str) -> list[str]:
    """The cases of a format that hold calls and nothing else."""
    cases = fixture_of(row)
    return [case for case in BLOCKS if "calls" in cases[case] and not {"content", "revoked"} & set(cases[case])]


def stands_between_words(row: str) -> bool:
    """Whether the calls of a format stand with lines of words before, between and behind them, and no headers."""
    cases = [fixture_of(row)[case] for case in ("text_before", "text_between", "text_after")]
    if not all("content" in case and case.get("calls") and not {"revoked", "broken"} & set(case) for case in cases):
        return False
    return row not in HEADED


@cache
def is_reserved(row: str) -> bool:
    """Whether the calls of a format begin with a marker that is nothing else: then their names need no declaration.

    Behind one that is a plain word, or no marker of the format's own, each name must be declared.
    """
    text = fixture_of(row)["single"]["text"].lstrip()
    openers = [opener for opener in sp.DIALECTS[row].openers if opener.text and text.startswith(opener.text)]
    opener = max(openers, key=lambda each: len(each.text), default=None)
    return opener is not None and not (opener.bare or opener.word or opener.each_tool)


@cache
def is_read_by_auto(row: str) -> bool:
    """Whether a format is read without its name, if all tools are declared; some are so only at the very start."""
    for case in blocks_of(row):
        text = fixture_of(row)[case]["text"]
        parser = sp.TextParser("auto", tools=TOOLS)
        events = [*parser.feed(f"{text}\nAnd\n{text}{text}"), *parser.close(stopped=True)]
        if calls_of(events) != calls_of_case(row, case) * 3 or text_of(events).strip() != "And":
            return False
    return True


ROWS = [row for row in sp.DIALECTS if (FOLDER / f"{row}.toml").exists() and blocks_of(row)]


@pytest.mark.parametrize("row", [row for row in ROWS if is_reserved(row)])
@pytest.mark.parametrize("is_named", [True, False], ids=["named", "auto"])
def test_the_first_call_of_a_block_vouches_for_tools_that_nobody_declared(row: str, is_named: bool) -> None:
    for case in blocks_of(row):
        parser = sp.TextParser([row] if is_named else "auto", tools=TOOLS[:1])
        events = [*parser.feed(fixture_of(row)[case]["text"]), *parser.close(stopped=True)]
        assert calls_of(events) == calls_of_case(row, case)
        assert not text_of(events).strip()


class Texts(RuleBasedStateMachine):
    """One text, with calls of one format."""

    @initialize(
        row=st.sampled_from(ROWS),
        has_few_tools=st.booleans(),
        is_named=st.booleans(),
        quoted=st.sampled_from(("text", "text", "calls")),
    )
    def begin(self, row: str, has_few_tools: bool, is_named: bool, quoted: Any) -> None:
        self.row = row
        self.has_words = stands_between_words(row)
        # The first tool is that of the first call of each block, and that one vouches for the others.
        tools = TOOLS[:1] if has_few_tools and is_reserved(row) else TOOLS
        dialects: Any = [row] if is_named or not is_read_by_auto(row) else "auto"
        self.make: Callable[[], sp.TextParser] = lambda: sp.TextParser(dialects, tools=tools, quoted=quoted)
        self.fast, self.slow = self.make(), self.make()
        self.fast_ledger, self.slow_ledger = Ledger(), Ledger()
        self.whole = ""
        self.words = ""
        self.calls: Calls = []
        self.is_certain = True

    def feed(self, text: str, cuts: list[int]) -> None:
        places = sorted({0, len(text), *(cut % len(text) for cut in cuts)})
        for start, end in pairwise(places):
            self.fast_ledger.take(self.fast.feed(text[start:end]))
        for character in text:
            self.slow_ledger.take(self.slow.feed(character))
        self.whole += text

    @rule(words=st.sampled_from(WORDS), cuts=st.lists(st.integers(0, 99), max_size=2))
    def write_words(self, words: str, cuts: list[int]) -> None:
        self.feed(f"\n{words}\n", cuts)
        self.words += words
        self.is_certain = self.is_certain and self.has_words

    @precondition(lambda self: len(self.calls) < 12)
    @rule(case=st.integers(0, 9), cuts=st.lists(st.integers(0, 400), max_size=5))
    def write_calls(self, case: int, cuts: list[int]) -> None:
        """A block of calls; of those of a format that stands alone, a second block is another text."""
        cases = blocks_of(self.row)
        chosen = cases[case % len(cases)]
        self.is_certain = self.is_certain and (self.has_words or not self.calls)
        self.feed(fixture_of(self.row)[chosen]["text"], cuts)
        self.calls += calls_of_case(self.row, chosen)

    @precondition(lambda self: self.calls or self.words)
    @rule(case=st.integers(0, 9), cuts=st.lists(st.integers(0, 400), max_size=3))
    def write_quoted_calls(self, case: int, cuts: list[int]) -> None:
        """A fence with the text of calls: none of them, unless the caller wants them."""
        self.is_certain = False
        cases = blocks_of(self.row)
        self.feed(f"\nFor example:\n~~~~\n{fixture_of(self.row)[cases[case % len(cases)]]['text']}\n~~~~\n", cuts)

    @invariant()
    def both_tell_the_same(self) -> None:
        if not hasattr(self, "fast"):
            return
        fast, slow = self.fast_ledger, self.slow_ledger
        assert (fast.text, fast.reasoning, fast.deltas) == (slow.text, slow.reasoning, slow.deltas)
        if self.is_certain and self.has_words:
            complete = [(call.name, call.arguments) for call in fast.completes.values()]
            assert complete == self.calls

    def teardown(self) -> None:
        if not hasattr(self, "fast"):
            return
        self.fast_ledger.take(self.fast.close(stopped=True))
        self.slow_ledger.take(self.slow.close(stopped=True))
        assert merged(self.fast_ledger.events) == merged(self.slow_ledger.events)
        assert self.fast.response == self.slow.response
        ledger = self.fast_ledger
        ledger.end(self.fast.response)
        if self.is_certain:
            assert [(call.name, call.arguments) for call in ledger.standing] == self.calls
            assert "".join(ledger.text.split()) == "".join(self.words.split())
            assert not ledger.errors


TestTexts = Texts.TestCase
TestTexts.settings = settings_of(examples=150, steps=8)
