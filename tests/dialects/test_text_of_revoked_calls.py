"""What follows a call may show that it was none: it is revoked, and its text is given back where it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, reasoning_of, revoked_of, text_of

import streamparse as sp

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}]
BARE = '{"name": "f", "arguments": {"a": 1}}'
CALL = f"<tool_call>{BARE}</tool_call>"


def _read(text: str, dialects: Any = "auto", **options: Any) -> list[sp.Event]:
    return assert_same_in_every_cut(lambda: sp.TextParser(dialects, tools=TOOLS, **options), text)


def _chat(*deltas: dict[str, Any], **options: Any) -> list[sp.Event]:
    """The events of a chat of these deltas that ends well."""
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    messages = [*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), ended]
    body = "".join(f"data: {json.dumps(message)}\n\n" for message in messages)
    return assert_same_in_every_cut(lambda: sp.StreamParser("openai-chat", tools=TOOLS, **options), body.encode())


def test_a_bare_call_before_the_final_answer_of_a_channel_is_text() -> None:
    events = _read(f"{BARE}\n<|channel|>final<|message|>Yes.", ["bare-json", "harmony"])
    assert (revoked_of(events), text_of(events)) == ([(0, "text_follows")], f"{BARE}Yes.")


def test_a_list_of_bare_calls_of_which_one_grows_too_long_is_text() -> None:
    text = f'[{BARE}, {{"name": "{"x" * 60}'
    events = _read(text, ["bare-json"], limits=sp.Limits(max_held_text=40))
    assert (calls_of(events), revoked_of(events), text_of(events)) == ([("f", {"a": 1})], [(0, "text_follows")], text)


@pytest.mark.parametrize("size", [1, 300])
def test_a_bare_call_stands_with_any_number_of_blanks_behind_it(size: int) -> None:
    events = _read(BARE + "\n" * size)
    assert (calls_of(events), revoked_of(events), text_of(events)) == ([("f", {"a": 1})], [], "")


def test_a_thought_in_its_own_field_shows_that_a_call_in_an_open_thought_was_none() -> None:
    events = _chat({"content": CALL}, {"reasoning_content": " Or so."}, dialects=["hermes"], reasoning="open")
    assert (revoked_of(events), reasoning_of(events)) == ([(0, "thought_goes_on")], f"{CALL} Or so.")


def test_a_thought_in_its_own_field_leaves_a_call_in_the_text_as_it_is() -> None:
    events = _chat({"content": CALL[:40]}, {"reasoning_content": "So."}, {"content": CALL[40:]})
    assert (calls_of(events), text_of(events), reasoning_of(events)) == ([("f", {"a": 1})], "", "So.")


def test_a_call_that_text_follows_is_not_given_back_behind_that_text() -> None:
    for text in (f"So {CALL} and [ <x> {CALL} or [ </think>Yes.", f"Let me look. {CALL} And then.\n</think>\nYes."):
        events = _read(text)
        assert (revoked_of(events), text_of(events)) == ([], text.replace(CALL, ""))


def test_of_two_calls_with_text_between_them_only_the_last_is_given_back() -> None:
    events = _read(f"So {CALL} and [ <x> {CALL}\n</think>Yes.")
    assert (revoked_of(events), text_of(events)) == ([(1, "thought_closed")], f"So  and [ <x> {CALL}\nYes.")


@pytest.mark.parametrize(("most", "given"), [(20, '{"a": 1}'), (1000, CALL)])
def test_of_a_call_that_is_too_long_to_be_kept_its_arguments_are_given_back(most: int, given: str) -> None:
    events = _read(f"{CALL}</think>\nYes.", limits=sp.Limits(max_held_text=most))
    assert (revoked_of(events), text_of(events)) == ([(0, "thought_closed")], f"{given}\nYes.")


def test_of_a_long_call_in_many_pieces_no_more_is_kept_than_may_be_held() -> None:
    arguments = json.dumps({"a": "x" * 9000})
    text = f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call></think>\nYes.'
    parser = sp.TextParser(tools=TOOLS, limits=sp.Limits(max_held_text=20))
    events = events_of(parser, [text[at : at + 20] for at in range(0, len(text), 20)])
    assert (revoked_of(events), text_of(events)) == ([(0, "thought_closed")], f"{arguments}\nYes.")


@pytest.mark.parametrize(("opened", "other"), [("think", "thinking"), ("thinking", "think")])
def test_another_mark_does_not_end_a_thought_that_stands_in_the_text(opened: str, other: str) -> None:
    text = f"So:\n<{opened}>\nfoo </{other}>\n{CALL}\n</{opened}>\nYes."
    events = _read(text)
    assert (calls_of(events), text_of(events)) == ([], text)


def test_of_a_call_in_many_pieces_all_is_given_back() -> None:
    text = CALL.replace("1", f'"{"x" * 400}"')
    assert text_of(_read(f"{text}</think>Yes.")) == f"{text}Yes."
