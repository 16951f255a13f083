"""A call that the model means ends the answer: it runs, unless a rule of quotation or a sign of doubt is against it."""

from __future__ import annotations

import pytest
from contexts import CONTEXTS
from genuine import FORMATS, GENUINE, name_contexts
from quotation import RULES, does_run, fill_in, switch_off

import streamparse as sp

KEPT_AS_TEXT = {
    *("in an open fence", "in an open code span", "in a block quotation", "indented by four columns"),
    *("right behind a mark", 'behind an odd "'),
}
"""Kinds in which the call is quoted by what stands before it: the price of the rules."""


@pytest.mark.parametrize("kind", GENUINE)
def test_a_call_that_ends_the_answer_runs_unless_it_is_quoted(kind: str) -> None:
    lost = [
        (context, name)
        for context, text in GENUINE[kind].items()
        for name in FORMATS
        if not does_run(fill_in(text, name), name)
    ]
    if kind in KEPT_AS_TEXT:
        assert lost
    else:
        assert lost == []


def test_most_calls_that_end_an_answer_run() -> None:
    counts = {kind: len(texts) for kind, texts in GENUINE.items()}
    quoted = sum(count for kind, count in counts.items() if kind in KEPT_AS_TEXT)
    assert quoted >= 10
    assert (sum(counts.values()) - quoted) / sum(counts.values()) >= 0.8


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "none of them"])
def test_each_rule_of_quotation_decides_some_of_them(rule: str) -> None:
    def list_run() -> list[tuple[str, str]]:
        return [key for key, text in name_contexts().items() if does_run(fill_in(text, "hermes"), "hermes")]

    with_it = list_run()
    with switch_off(rule):
        without = list_run()
    assert with_it != without
    assert list_run() == with_it


def test_there_are_contexts_enough_and_they_are_not_those_of_echoes() -> None:
    assert len(name_contexts()) == 96
    assert len(set(FORMATS)) == 22
    assert set(FORMATS) <= set(sp.DIALECTS)
    assert not set(name_contexts().values()) & set(CONTEXTS.values())
