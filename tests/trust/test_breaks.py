"""An echo that something follows runs no tool with effects, alone or before what the model does mean.

Each marked format in each context, followed by nothing more, by a call of the text, a native call or a thought; in the
usual run each format in a third of the contexts, with one of the four, and at night all.
"""

from __future__ import annotations

from typing import Any

import pytest
from contexts import BEFORE, CONTEXTS
from corpus import read_samples, read_tools
from places import flatten
from running import make_frames, note_begun
from samples import BARE
from thoroughness import is_nightly

import streamparse as sp


def do_nothing(**arguments: Any) -> None:
    """Do nothing."""


MARKED = [name for name in sp.DIALECTS if name not in BARE]
NATIVE = "send_report"
FOLLOWERS: dict[str, Any] = {
    "nothing": lambda _: [],
    "a call": lambda call: [f"\n{call}"],
    "a native call": lambda _: [{"native": (NATIVE, {})}],
    "a thought": lambda _: [{"reasoning_content": "No, that was only an example."}],
}


def show(context: str, name: str) -> str:
    """The markup of a format in its context."""
    call = read_samples()[name].text
    return context.replace("CALL", call.strip("\n")).replace("LINE", flatten(call.strip("\n")))


def find_harm(text: str, name: str, follower: str) -> list[str]:
    """The tools in the text that run of an answer with an echo; one that is no call keeps no call behind it back."""
    sample = read_samples()[name]
    meant = f"{sample.name}_now"
    echoed = next(tool for tool in read_tools() if tool.name == sample.name)
    tools = [
        *(sp.Tool(each, "", echoed.parameters, do_nothing, "idempotent") for each in (sample.name, meant)),
        sp.Tool(NATIVE, "", {"type": "object", "properties": {}}, do_nothing),
    ]
    frames = make_frames([text, *FOLLOWERS[follower](sample.text.replace(sample.name, meant))])
    begun, told = note_begun(frames, tools)
    assert begun.count(NATIVE) == (follower == "a native call")
    return [each for each in begun if each == sample.name or (each == meant and sample.name in told)]


@pytest.mark.parametrize("name", MARKED)
def test_an_echo_that_goes_on_runs_nothing_whatever_follows(name: str) -> None:
    shift = MARKED.index(name)
    for row, (context, text) in enumerate(CONTEXTS.items()):
        for column, follower in enumerate(FOLLOWERS):
            if not is_nightly() and (row + column * 3 + shift) % 12:
                continue
            assert find_harm(show(text, name), name, follower) == [], (context, follower)


@pytest.mark.parametrize("name", MARKED)
def test_a_native_call_or_a_thought_behind_an_echo_is_a_break_though_no_text_is(name: str) -> None:
    for before, text in BEFORE.items():
        for follower in ("a native call", "a thought"):
            assert find_harm(show(text, name), name, follower) == [], (before, follower)


@pytest.mark.parametrize("name", MARKED)
def test_the_same_markup_at_the_end_of_an_answer_is_a_call_that_runs(name: str) -> None:
    assert find_harm(show("CALL", name), name, "nothing") == [read_samples()[name].name]


def test_there_are_contexts_enough() -> None:
    assert len(CONTEXTS) >= 60
    assert len(MARKED) >= 50
