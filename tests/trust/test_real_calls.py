"""The other half of the grid: the same markup at its proper place is a call, with its arguments, and it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from bodies import NATIVE, read_pieces, read_text
from corpus import read_samples, read_tools
from cuts import in_pieces
from samples import BARE, DOUBTFUL, TOOLS, calls_of_example
from verdicts import begun_calls, complete_calls, standing_calls

import streamparse as sp

AUTO_WIRES = ("text", "openai-chat", "ollama-chat")
"""Wires on which "auto" reads calls in the text."""

SENTENCE = "I look it up.\n\n"
THOUGHT = "<think>The tool knows.</think>\n"

_AT_THE_START = {
    *("muse-atem", "beam"),
    *("harmony",),
}
"""The header begins the message, so it is no header behind a sentence."""
_ONE_OBJECT = {
    "bare-json",
    "fenced-json",
    "react",
    "command-r-plus",
    "functools",
    "xlam",
    "guided-json-array",
    "pythonic",
}
"""Two of them in a row are two messages, or one list with two members; not two times the example."""
_NO_SENTENCE_BEFORE = _ONE_OBJECT
"""With "auto" these calls are the whole of the visible text."""


def expected_place(name: str) -> set[str]:
    """Where the calls of a dialect's example stand at their proper place."""
    return {"plain", "bare"} if name in DOUBTFUL else {"bare"} if name in BARE else {"plain"}


def _calls(events: list[sp.Event]) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in standing_calls(events)]


@pytest.mark.parametrize("wire", AUTO_WIRES)
@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_example_alone_is_its_call_and_says_where_it_stood(name: str, wire: str) -> None:
    for dialects in ("auto", [name]):
        events = read_text(wire, sp.DIALECTS[name].example, TOOLS, dialects)
        assert _calls(events) == calls_of_example(name), dialects
        assert {call.place for call in standing_calls(events)} <= expected_place(name), dialects


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in _AT_THE_START])
def test_the_example_behind_a_sentence_is_its_call(name: str) -> None:
    text = SENTENCE + sp.DIALECTS[name].example
    for wire in AUTO_WIRES:
        for dialects in ([name],) if name in _NO_SENTENCE_BEFORE else ("auto", [name]):
            events = read_text(wire, text, TOOLS, dialects)
            assert _calls(events) == calls_of_example(name), (wire, dialects)
            assert {call.place for call in standing_calls(events)} <= expected_place(name), (wire, dialects)


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in _ONE_OBJECT | _AT_THE_START])
def test_two_examples_are_two_calls(name: str) -> None:
    text = f"{sp.DIALECTS[name].example}\n{sp.DIALECTS[name].example}"
    for wire in AUTO_WIRES:
        assert _calls(read_text(wire, text, TOOLS)) == calls_of_example(name) * 2, wire


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_example_behind_a_closed_thought_is_its_call(name: str) -> None:
    for wire in AUTO_WIRES:
        for dialects in ("auto", [name]):
            events = read_text(wire, THOUGHT + sp.DIALECTS[name].example, TOOLS, dialects)
            assert _calls(events) == calls_of_example(name), (wire, dialects)


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_call_of_an_agent_is_read_as_it_was_meant(name: str) -> None:
    sample, tools = read_samples()[name], read_tools()
    for pieces in ([sample.text], in_pieces(sample.text, 1), in_pieces(sample.text, 5)):
        for dialects in ("auto", [name]):
            calls = complete_calls(read_pieces("openai-chat", pieces, tools, dialects))
            assert [(call.name, call.arguments) for call in calls] == [(sample.name, sample.arguments)], dialects
            assert sample.place in ("any", calls[0].place), dialects


WHOLE: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "behind a thought": lambda text: THOUGHT + text,
    "with blank lines behind": lambda text: text + "\n\n",
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_default_runner_runs_a_call_that_ends_the_answer_once(name: str, kind: str) -> None:
    sample, tools = read_samples()[name], read_tools()
    answers = [read_text(wire, WHOLE[kind](sample.text), tools) for wire in ("text", "openai-chat")]
    for begun in begun_calls(answers, tools):
        for effect, calls in begun.items():
            assert [(call.name, call.arguments) for call in calls] == [(sample.name, sample.arguments)], effect


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_bare_call_waits_for_the_end_and_no_tool_with_effects_starts_early(name: str) -> None:
    sample, tools = read_samples()[name], read_tools()
    for begun in begun_calls([read_text("openai-chat", sample.text, tools)], tools):
        early = {effect for effect, calls in begun.items() if any(call.early for call in calls)}
        assert early == ({"read"} if sample.place == "plain" else early & {"read"} if sample.place == "any" else set())


@pytest.mark.parametrize("wire", NATIVE)
@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_call_in_the_text_of_a_server_that_reads_calls_itself_does_not_run_unless_it_is_named(
    name: str, wire: str
) -> None:
    sample, tools = read_samples()[name], read_tools()
    events = read_text(wire, sample.text, tools)
    assert {call.source for call in complete_calls(events)} <= {"recovered"}
    assert [begun for begun in begun_calls([events], tools) if any(begun.values())] == []
    named = complete_calls(read_text(wire, sample.text, tools, [name]))
    assert [(call.name, call.arguments) for call in named] == [(sample.name, sample.arguments)]
