"""The rules of thoughts that hold for every way to mark them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from cuts import (
    assert_same_in_every_cut,
    calls_of,
    events_of,
    merged,
    places_of,
    reasoning_of,
    revoked_of,
    text_of,
)

import streamparse as sp
from streamparse.dialects import DIALECTS, THOUGHTS, Thought

SPANS = [thought for thought in THOUGHTS.values() if thought.opens]
ids = [thought.name for thought in SPANS]


@pytest.mark.parametrize("thought", SPANS, ids=ids)
def test_every_pair_of_markers_delimits_a_thought(thought) -> None:  # type: ignore[no-untyped-def]
    for opens in thought.opens:
        for closes in thought.closes:
            events = assert_same_in_every_cut(sp.TextParser, f"{opens}Hm.{closes}So.")
            assert (reasoning_of(events), text_of(events)) == ("Hm.", "So.")


@pytest.mark.parametrize("thought", THOUGHTS.values(), ids=THOUGHTS)
def test_every_thought_may_be_open_from_the_start_and_be_opened_again(thought) -> None:  # type: ignore[no-untyped-def]
    for again in ("", *thought.opens, *thought.echoes):
        for closes in thought.closes:
            events = assert_same_in_every_cut(lambda: sp.TextParser(reasoning="open"), f"{again}Hm.{closes}So.")
            assert (reasoning_of(events), text_of(events)) == ("Hm.", "So.")


@pytest.mark.parametrize("thought", SPANS, ids=ids)
def test_a_text_that_starts_outside_of_a_thought_for_certain_has_none(thought) -> None:  # type: ignore[no-untyped-def]
    text = f"{thought.opens[0]}Hm.{thought.closes[0]}So."
    events = assert_same_in_every_cut(lambda: sp.TextParser(reasoning="closed"), text)
    assert (reasoning_of(events), text_of(events)) == ("", text)


@pytest.mark.parametrize("thought", SPANS, ids=ids)
def test_a_thought_that_never_ends_stays_a_thought(thought) -> None:  # type: ignore[no-untyped-def]
    events = assert_same_in_every_cut(sp.TextParser, f"{thought.opens[0]}Hm. {thought.closes[0][:-1]}")
    assert text_of(events) == ""
    assert reasoning_of(events) == f"Hm. {thought.closes[0][:-1]}"


@pytest.mark.parametrize("thought", SPANS, ids=ids)
def test_behind_text_only_tokens_of_a_model_open_a_thought(thought) -> None:  # type: ignore[no-untyped-def]
    for before in ("So.", "So.\n"):
        text = f"{before}{thought.opens[0]}Hm.{thought.closes[0]} There."
        events = assert_same_in_every_cut(sp.TextParser, text)
        told = ("Hm.", f"{before} There.") if thought.token else ("", text)
        assert (reasoning_of(events), text_of(events)) == told


@pytest.mark.parametrize("thought", SPANS, ids=ids)
def test_a_marker_behind_a_blank_is_a_mention_that_opens_no_thought(thought) -> None:  # type: ignore[no-untyped-def]
    for blank in " \t":
        text = f"So{blank}{thought.opens[0]} and {thought.closes[0]} are the marks."
        assert text_of(assert_same_in_every_cut(sp.TextParser, text, most=6)) == text


@pytest.mark.parametrize("thought", [thought for thought in SPANS if thought.token], ids=lambda thought: thought.name)
def test_a_token_that_is_quoted_opens_no_thought(thought) -> None:  # type: ignore[no-untyped-def]
    text = f"So `{thought.opens[-1]}` opens a thought."
    assert text_of(assert_same_in_every_cut(sp.TextParser, text)) == text


@pytest.mark.parametrize("thought", [thought for thought in SPANS if thought.token], ids=lambda thought: thought.name)
def test_a_token_in_an_indented_line_opens_a_thought(thought) -> None:  # type: ignore[no-untyped-def]
    text = f"So:\n\n    x{thought.opens[-1]}Hm.{thought.closes[0]}y"
    events = assert_same_in_every_cut(sp.TextParser, text, most=4)
    assert (reasoning_of(events), text_of(events)) == ("Hm.", "So:\n\n    xy")


@pytest.mark.parametrize("name", DIALECTS)
def test_a_named_dialect_knows_the_usual_tags_and_its_own_only(name: str) -> None:
    own = {thought for thought in DIALECTS[name].thoughts if isinstance(thought, str)}
    assert own <= THOUGHTS.keys()
    for thought in SPANS:
        events = sp.TextParser([name]).feed(f"{thought.opens[0]}Hm.")
        foreign = thought.name not in own | {"think"}
        if not any(thought.opens[0].startswith(opener.text) for opener in DIALECTS[name].openers if opener.text):
            assert reasoning_of(events) == ("" if foreign else "Hm.")


def test_a_thought_streams() -> None:
    parser = sp.TextParser()
    parser.feed("<think>")
    assert [parser.feed(piece) for piece in ("H", "m. <", "/", "b>")] == [
        [sp.ReasoningDelta("H")],
        [sp.ReasoningDelta("m. ")],
        [],
        [sp.ReasoningDelta("</b>")],
    ]


POLICIES = {
    "ends": ("<think>", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', "</think>"),
    "text": ("<think>", "<|tool_call_start|>[f()]<|tool_call_end|>", "</think>"),
    "resumes": ("<|channel>", "<|tool_call>call:f{}<tool_call|>", "<channel|>"),
}


@pytest.mark.parametrize(
    ("policy", "behind", "places", "revoked"),
    [
        ("ends", "", ["thought"], []),
        ("ends", " b", ["thought"], [(0, "thought_goes_on")]),
        ("ends", "</>", ["thought"], [(0, "thought_closed")]),
        ("text", "", [], []),
        ("text", " b", [], []),
        ("text", "</>", [], []),
        ("resumes", "", ["thought"], []),
        ("resumes", " b", ["thought"], []),
        ("resumes", "</>", ["thought"], []),
    ],
)
def test_a_call_in_an_open_thought_is_what_its_dialect_says(
    policy: str, behind: str, places: list[str], revoked: list[tuple[int, str]]
) -> None:
    opens, call, closes = POLICIES[policy]
    text = f"{opens}a {call}{behind.replace('</>', closes)}"
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=[{"name": "f"}]), text)
    assert (places_of(events), revoked_of(events), text_of(events)) == (places, revoked, "")
    stands = bool(places) and not revoked
    assert reasoning_of(events) == f"a {'' if stands else call}{behind.replace('</>', '')}"


@pytest.mark.parametrize("policy", ["ends", "resumes"])
def test_a_call_in_a_thought_that_is_cut_is_revoked(policy: str) -> None:
    opens, call, _ = POLICIES[policy]
    parser = sp.TextParser(tools=[{"name": "f"}])
    events = parser.feed(f"{opens}a {call}") + parser.close()
    assert (places_of(events), revoked_of(events), text_of(events)) == (["thought"], [(0, "cut")], "")


def test_calls_one_after_the_other_in_a_thought_are_revoked_together() -> None:
    _, call, _ = POLICIES["ends"]
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=[{"name": "f"}]), f"<think>a {call}\n{call} b")
    assert (places_of(events), revoked_of(events)) == (["thought"] * 2, [(n, "thought_goes_on") for n in (0, 1)])
    assert reasoning_of(events) == f"a {call}\n{call} b"


CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


@pytest.mark.parametrize("thought", SPANS, ids=ids)
def test_reasoning_alone_is_found_and_calls_stay_in_the_text(thought: Thought) -> None:
    events = assert_same_in_every_cut(
        lambda: sp.TextParser("reasoning", tools=[{"name": "f"}]),
        f"{thought.opens[0]}Hm.{thought.closes[0]}So: {CALL} ",
    )
    assert (reasoning_of(events), text_of(events), calls_of(events)) == ("Hm.", f"So: {CALL} ", [])


@pytest.mark.parametrize(
    "call", [CALL, "<function=f>\n</function>", "<|tool_call_begin|>functions.f:0<|tool_call_end|>"]
)
def test_with_reasoning_alone_a_call_in_an_open_thought_is_thought(call: str) -> None:
    for dialects in ("reasoning", ["reasoning"]):
        events = assert_same_in_every_cut(partial(sp.TextParser, dialects), f"<think>Hm. {call}")
        assert (reasoning_of(events), text_of(events), calls_of(events)) == (f"Hm. {call}", "", [])


def test_reasoning_alone_is_not_ended_by_a_mention_of_a_marker() -> None:
    events = assert_same_in_every_cut(lambda: sp.TextParser("reasoning"), "<think>a <tool_call> is wanted</think>So.")
    assert (reasoning_of(events), text_of(events)) == ("a <tool_call> is wanted", "So.")


_CHANNEL_THOUGHT = "<|channel|>analysis<|message|>Hm.<|end|>"
_CHANNEL_CALL = (
    "<|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
    '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>'
)
_MUSE_THOUGHT = " to=self<|message|>Hm.<|eom|>"
_MUSE_CALL = (
    '<|start|>assistant to=f<|message|><atem:invoke name="f">\n<atem:parameter name="a">1</atem:parameter>\n'
    "</atem:invoke><|eom|>"
)


@pytest.mark.parametrize(
    ("dialect", "thought", "call"),
    [("harmony", _CHANNEL_THOUGHT, _CHANNEL_CALL), ("muse-atem", _MUSE_THOUGHT, _MUSE_CALL)],
)
def test_thoughts_alone_are_read_from_channels_and_the_calls_are_left_to_the_next_reader(
    dialect: str, thought: str, call: str
) -> None:
    events = assert_same_in_every_cut(lambda: sp.TextParser("reasoning"), thought + call)
    assert (reasoning_of(events), text_of(events), calls_of(events)) == ("Hm.", call, [])
    assert calls_of(sp.TextParser([dialect]).feed(text_of(events))) == [("f", {"a": 1})]


@pytest.mark.parametrize(
    "text",
    [
        _CHANNEL_THOUGHT + "<|start|>assistant<|channel|>final<|message|>So.<|return|>",
        _MUSE_THOUGHT + "<|start|>assistant to=user<|message|>So.<|eot|>",
    ],
)
def test_thoughts_alone_leave_nothing_of_the_channels_around_an_answer(text: str) -> None:
    events = assert_same_in_every_cut(lambda: sp.TextParser("reasoning"), text)
    assert (reasoning_of(events), text_of(events)) == ("Hm.", "So.")


CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


@pytest.mark.parametrize("tools", [None, [{"name": "f"}]])
def test_what_is_drafted_behind_a_mark_of_thought_that_stands_in_the_text_is_text(tools: Any) -> None:
    text = f"Let me see.\n\n<think>\nI could {CALL} but no.\n</think>\n\nNo."
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=tools), text)
    assert (calls_of(events), text_of(events)) == ([], text)


def test_a_mark_that_closes_a_thought_which_the_prompt_opened_revokes_the_calls_right_before_it() -> None:
    for between, expected in (("\n", ["thought_closed"]), (" but no.\n", [])):
        events = assert_same_in_every_cut(sp.TextParser, f"I could {CALL}{between}</think>\n\nNo.")
        revoked = [event.reason for event in events if isinstance(event, sp.ToolCallRevoked)]
        assert (len(calls_of(events)), revoked) == (1, expected)


def test_a_call_behind_a_mark_that_is_mentioned_within_a_line_is_a_call() -> None:
    events = assert_same_in_every_cut(sp.TextParser, f"Use <think> tags.\n{CALL}")
    assert calls_of(events) == [("f", {})]


def test_a_long_thought_that_comes_at_once_is_told_at_once() -> None:
    parser = sp.TextParser()
    assert parser.feed("<think>" + "x" * 3000) == [sp.ReasoningDelta("x" * 3000)]


def _as_message(delta: dict[str, str]) -> bytes:
    return b"data: %b\n\n" % json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode()


def test_thoughts_that_come_at_once_in_their_own_field_are_all_told_behind_what_is_held() -> None:
    thoughts = [{"reasoning_content": f"{number} "} for number in range(80)]
    for held in ("<tool_c", '<tool_call>{"name": "f", "arguments": {"a": 1', "<think>Well."):
        deltas = [*thoughts, {"content": held}, *thoughts]
        lines = [_as_message(delta) for delta in deltas]
        told = [merged(events_of(sp.StreamParser("openai-chat"), pieces)) for pieces in (lines, [b"".join(lines)])]
        assert told[0] == told[1]
        assert reasoning_of(told[0]).count("79 ") == 2


def test_every_way_to_mark_thoughts_says_whose_it_is() -> None:
    assert all(thought.models for thought in THOUGHTS.values())


INSIDE = {
    "inkling": ("<|message_model|><|content_thinking|>", "<|end_message|>"),
    "mistral-array": ("[THINK]", "[/THINK]"),
    "cohere-action": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "solar-open": ("<|begin|>assistant<|think|>", "<|end|>"),
    "plamo3": ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    "seed-oss": ("<seed:think>", "</seed:think>"),
    "kimi-k3": ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    "solar-open-2": ("<|think:start|>", "<|think:end|>"),
    "hunyuan-v3": ("<think:opensource>", "</think:opensource>"),
    "k2-horizon": ("<ifm|think_faster>", "</ifm|think_faster>"),
    "minimax-m3": ("<mm:think>", "</mm:think>"),
    "gemma4": ("<|channel>thought\n", "<channel|>"),
}


@pytest.mark.parametrize("name", [*INSIDE, "k2-horizon, fast"])
def test_where_a_dialect_is_named_its_own_tokens_open_a_thought_behind_a_blank_too(name: str) -> None:
    opens, closes = INSIDE.get(name, ("<ifm|think_fast>", "</ifm|think_fast>"))
    parser = sp.TextParser([name.split(",", maxsplit=1)[0]])
    events = events_of(parser, [f"So. {opens}Hm.{closes}There."])
    assert (reasoning_of(events), text_of(events)) == ("Hm.", "So. There.")


AT_START = {
    "hyperclova-x": ("/think\n", "<|im_end|>\n<|im_start|>assistant\n"),
    "tool_calls-array": ("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]"),
    "granite-array": ("Here is my thought process:", "Here is my response:"),
    "kimi-k2": ("◁think▷", "◁/think▷"),
    "anthropic-invoke": ("<thinking>", "</thinking>"),
    "tool-name-tag": ("<thinking>", "</thinking>"),
}


@pytest.mark.parametrize("name", AT_START)
def test_where_a_dialect_is_named_a_text_may_begin_with_a_thought_as_it_marks_it(name: str) -> None:
    opens, closes = AT_START[name]
    events = events_of(sp.TextParser([name]), [f"{opens}Hm.{closes}There."])
    assert (reasoning_of(events), text_of(events)) == ("Hm.", "There.")


@pytest.mark.parametrize("dialects", ["auto", "all", "reasoning", ["hermes"], ["qwen3-coder", "all"]])
def test_where_no_reasoning_is_looked_for_its_markers_are_text(dialects: Any) -> None:
    text = "<think>Hm.</think>So."
    assert text_of(assert_same_in_every_cut(lambda: sp.TextParser(dialects, reasoning="closed"), text)) == text
