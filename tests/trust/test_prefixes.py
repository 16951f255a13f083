"""The prefix law: a cut makes no call.

What stands at the end of a prefix that is then cut, or ended by length, is among the calls of the whole, with the same
arguments.  A call of the whole may have been revoked as `ambiguous_markup`: what casts doubt on it comes behind it.
Calls in the answers of `fixtures/echoes`, real calls, and real calls behind prose and thoughts are cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from bodies import End, Tools, read_text
from corpus import read_answers, read_samples, read_tools
from thoroughness import is_nightly
from verdicts import standing_calls

import streamparse as sp

ANSWERS = read_answers()
CUTS = 8 if is_nightly() else 3
"""How many prefixes of each text are read, besides the three longest."""

_EDGE = re.compile(r"[<>{}\[\]()|`\"'\n:=]|[^\x00-\x7f]")


def prefixes_of(text: str, most: int = CUTS) -> Sequence[str]:
    """Prefixes that end where something happens: in front of signs of markup and behind them."""
    edges = sorted({at for match in _EDGE.finditer(text) for at in (match.start(), match.end())} - {0, len(text)})
    places = edges or list(range(1, len(text)))
    step = max(1, len(places) // most)
    return [text[:at] for at in (*places[::step], *places[-3:])]


def _calls(text: str, tools: Tools | None, dialects: Any, end: End) -> Counter[tuple[str, str]]:
    standing = standing_calls(read_text("openai-chat", text, tools, dialects, end))
    return Counter((call.name, repr(call.arguments)) for call in standing)


def _doubted(text: str, tools: Tools | None, dialects: Any) -> Counter[tuple[str, str]]:
    """The calls of the whole that closing tags behind them cast doubt on."""
    events = read_text("openai-chat", text, tools, dialects, "stop")
    revoked = {
        event.index for event in events if isinstance(event, sp.ToolCallRevoked) and event.reason == "ambiguous_markup"
    }
    found = [event for event in events if isinstance(event, sp.ToolCallComplete) and event.index in revoked]
    return Counter((call.name, repr(call.arguments)) for call in found)


def wrong_prefixes(text: str, tools: Tools | None, dialects: Any = "auto", most: int = CUTS) -> list[str]:
    """The prefixes after which a call stands that the whole does not make."""
    whole = _calls(text, tools, dialects, "stop") + _doubted(text, tools, dialects)
    ends: tuple[End, ...] = ("cut", "length")
    return [
        f"{end}: {prefix[-60:]!r}"
        for number, prefix in enumerate(prefixes_of(text, most))
        for end in ends[number % 2 : number % 2 + 1]
        if not _calls(prefix, tools, dialects, end) <= whole
    ]


@pytest.mark.parametrize("id", ANSWERS)
def test_no_prefix_of_an_answer_without_a_call_makes_one_that_the_whole_does_not(id: str) -> None:
    assert wrong_prefixes(ANSWERS[id].text, ANSWERS[id].tools) == []


FRAMES: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "behind prose": lambda text: f"First a look.\n\n{text}",
    "twice": lambda text: f"{text}\n{text}",
    "behind a thought": lambda text: f"<think>Hm.</think>{text}",
    "in an open thought": lambda text: f"<think>Hm.\n{text}",
    "in a thought that closes": lambda text: f"<think>Hm.\n{text}\n</think>\nNo.",
    "before prose": lambda text: f"{text}\n\nis the sample.",
    "in a fence": lambda text: f"So:\n\n````\n{text}\n````\n\nNot run.",
    "in a string": lambda text: f'"{text}"',
    "in a list": lambda text: f"- {text}\n- b\n",
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", sp.DIALECTS)
def test_no_prefix_of_a_call_makes_one_that_the_whole_does_not(name: str, frame: str) -> None:
    text = FRAMES[frame](read_samples()[name].text)
    for dialects in ("auto", [name]) if frame in ("alone", "twice", "in a string") else ("auto",):
        assert wrong_prefixes(text, read_tools(), dialects) == [], dialects


@pytest.mark.parametrize("end", ["cut", "length"])
@pytest.mark.parametrize("name", [name for name, sample in read_samples().items() if sample.place == "bare"])
def test_a_bare_call_before_a_cut_does_not_stand(name: str, end: End) -> None:
    assert _calls(read_samples()[name].text, read_tools(), "auto", end) == Counter()


@pytest.mark.parametrize("end", ["cut", "length"])
def test_json_at_the_end_of_prose_is_no_call_after_a_cut(end: End) -> None:
    sample = read_samples()["bare-json"].text
    for text in (f"Never send this:\n{sample}", f"```json\n{sample}\n```", f'So:\n{{"tool_calls": [{sample}]}}'):
        assert _calls(text, read_tools(), "auto", end) == Counter()
