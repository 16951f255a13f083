"""Answers that speak of calls make none: nothing runs, nothing stands, and the text is what the model wrote.

The answers are those of `fixtures/echoes`; `corpus.py` says how they are written.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from bodies import NATIVE, WIRES, make_body, make_parser, read_pieces, read_text
from corpus import FOLDER, Answer, read_answers, read_changed, read_samples, read_tools, read_undecidable
from cuts import calls_of, cut_at, in_pieces, offsets_of, reasoning_of, text_of
from verdicts import HARMFUL, begun_calls, complete_calls, standing_calls

import streamparse as sp

ANSWERS = read_answers()
SHARE = 0.98
"""How many of the answers come out unchanged at least."""


def wires_of(answer: Answer) -> tuple[str, ...]:
    """The wires that an answer is read on."""
    return (answer.wire,) if answer.wire else WIRES


@cache
def read_echo(id: str, wire: str) -> list[sp.Event]:
    """The events of an answer as its model ended it."""
    answer = ANSWERS[id]
    return read_text(wire, answer.text, answer.tools, end=answer.end)


def test_there_are_answers_enough_and_each_says_why_it_is_no_call() -> None:
    assert len(ANSWERS) >= 300
    assert len({answer.text for answer in ANSWERS.values()}) == len(ANSWERS)
    assert [answer.id for answer in ANSWERS.values() if not answer.why.endswith(".")] == []


def test_every_dialect_occurs_in_several_answers() -> None:
    counted = Counter(name for answer in ANSWERS.values() for name in answer.formats)
    assert {name: counted[name] for name in sp.DIALECTS if counted[name] < 3} == {}
    assert set(read_samples()) == set(sp.DIALECTS)


def test_no_id_is_given_twice() -> None:
    ids = Counter(line for file in FOLDER.glob("answers/*.toml") for line in _ids(file.stem, file.read_text("utf-8")))
    assert [id for id, count in ids.items() if count > 1] == []


def _ids(stem: str, text: str) -> list[str]:
    return [f"{stem}/{line}" for line in text.splitlines() if line.startswith("id = ")]


@pytest.mark.parametrize("wire", WIRES)
def test_no_answer_makes_the_default_runner_run_a_tool_with_effects(wire: str) -> None:
    ids = [id for id, answer in ANSWERS.items() if wire in wires_of(answer)]
    begun: Counter[str] = Counter()
    for tools in {tuple(tool.name for tool in answer.tools): answer.tools for answer in ANSWERS.values()}.values():
        mine = [id for id in ids if ANSWERS[id].tools == tools]
        for id, runs in zip(mine, begun_calls([read_echo(id, wire) for id in mine], tools, HARMFUL), strict=True):
            begun[id] += sum(map(len, runs.values()))
    assert sorted(id for id, count in begun.items() if count) == []


@pytest.mark.parametrize("id", ANSWERS)
def test_no_call_stands_that_would_run(id: str) -> None:
    answer = ANSWERS[id]
    for wire in wires_of(answer):
        standing = [
            call for call in standing_calls(read_echo(id, wire)) if call.source not in ("recovered", "repaired")
        ]
        assert standing == [] or id in read_changed(), (wire, standing)


@pytest.mark.parametrize("wire", WIRES)
def test_the_text_is_unchanged_but_for_the_answers_that_are_listed(wire: str) -> None:
    changed = {
        id
        for id, answer in ANSWERS.items()
        if wire in wires_of(answer) and text_of(read_echo(id, wire)) != answer.shown
    }
    expected = set() if wire in NATIVE else set(read_changed())
    assert sorted(changed ^ expected) == []


def test_few_answers_are_listed_as_changed_and_each_with_a_reason() -> None:
    changed = read_changed()
    assert set(changed) <= set(ANSWERS)
    assert len(changed) <= (1 - SHARE) * len(ANSWERS)
    assert [id for id, reason in changed.items() if not reason.endswith(".")] == []


@pytest.mark.parametrize("id", [id for id, answer in ANSWERS.items() if answer.thought])
def test_what_was_drafted_in_a_thought_comes_out_as_thought(id: str) -> None:
    answer = ANSWERS[id]
    for wire in wires_of(answer):
        assert reasoning_of(read_echo(id, wire)) == answer.thought, wire


@pytest.mark.parametrize("id", ANSWERS)
def test_an_answer_is_the_same_in_every_cut(id: str) -> None:
    answer = ANSWERS[id]
    whole = read_echo(id, "text")
    expected = (text_of(whole), reasoning_of(whole), complete_calls(whole), standing_calls(whole))
    for pieces in (in_pieces(answer.text, 1), *(cut_at(answer.text, [at]) for at in offsets_of(answer.text, 8))):
        events = read_pieces("text", pieces, answer.tools, end=answer.end)
        assert (text_of(events), reasoning_of(events), complete_calls(events), standing_calls(events)) == expected


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "text"])
def test_a_body_is_the_same_byte_by_byte(wire: str) -> None:
    for id, answer in list(ANSWERS.items())[::10]:
        body = make_body(wire, [answer.text], answer.end)
        parser = make_parser(wire, answer.tools)
        events = [event for byte in in_pieces(body, 1) for event in parser.feed(byte)] + parser.close()
        whole = read_text(wire, answer.text, answer.tools, end=answer.end)
        assert (text_of(events), calls_of(events)) == (text_of(whole), calls_of(whole)), id


UNDECIDABLE = read_undecidable()


@pytest.mark.parametrize("id", UNDECIDABLE)
def test_what_no_rule_tells_from_a_call_says_why_and_never_runs_where_servers_read_calls(id: str) -> None:
    answer = UNDECIDABLE[id]
    assert answer.why.endswith(".")
    answers = [read_text(wire, answer.text, read_tools(), end=answer.end) for wire in NATIVE]
    assert [begun for begun in begun_calls(answers, read_tools(), HARMFUL) if any(begun.values())] == []
