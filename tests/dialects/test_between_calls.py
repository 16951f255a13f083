"""What is kept from one line, one look and one call of a text to the next."""

from __future__ import annotations

import json

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, in_pieces, places_of, revoked_of, text_of

import streamparse as sp
from streamparse.dialects.engine.markers import Markers
from streamparse.dialects.engine.reader import Reader, RescanBudget

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def _read(text: str) -> tuple[int, str]:
    """How many calls, and what is text, in every cut."""
    events = assert_same_in_every_cut(lambda: sp.TextParser(["hermes"], tools=TOOLS), text, most=20)
    return len(calls_of(events)), text_of(events)


def test_a_code_span_that_no_run_closes_ends_with_its_line() -> None:
    for line in ("a `b\n", "a `b <tool_call> c\n"):
        assert _read(f"{line}{CALL}") == (1, line)
    assert _read(f"a `b {CALL}") == (0, f"a `b {CALL}")


@pytest.mark.parametrize(("size", "kept"), [(256, False), (257, True)])
def test_at_most_256_blanks_belong_to_the_calls_around_them(size: int, kept: bool) -> None:
    assert _read(f"{CALL}{' ' * size}{CALL}") == (2, " " * size if kept else "")


def test_a_read_that_ends_with_very_many_blanks_leaves_what_follows_them_as_it_is_in_one_read() -> None:
    before, quoted = f"a\n{CALL}\n\n{' ' * 1100}", CALL.replace("\n", "")
    for pieces in ([before + quoted], [before, quoted]):
        events = events_of(sp.TextParser(["hermes"], tools=TOOLS), pieces)
        assert calls_of(events) == [("f", {"a": 1})]
        assert text_of(events).endswith(quoted)


def test_a_text_is_not_searched_again_for_what_was_found_in_it() -> None:
    markers = Markers(["<a>"])
    reader = Reader()
    reader.push("x" * 600 + "<a>y<a>" + "x" * 600)
    found = reader.find(markers)
    assert found is not None
    assert found.start() == 600
    reader.take(600)
    assert reader.find(markers) is found
    reader.take(1)
    second = reader.find(markers)
    assert second is not None
    assert second.start() == 604
    reader.take(4)
    assert reader.find(markers) is None
    reader.push("<a>")
    assert reader.find(markers) is not None


def test_an_opener_of_the_start_counts_beside_its_calls_and_not_in_prose_behind_them() -> None:
    call = "<function=f>\n<parameter=a>\n1\n</parameter>\n</function>"
    for between, calls in (("\n", 2), ("\nand then\n", 1)):
        parser = sp.TextParser("auto", tools=TOOLS)
        events = [*parser.feed(call + between + call), *parser.close(stopped=True)]
        assert len(calls_of(events)) == calls
        assert (call in text_of(events)) is (calls == 1)


def test_what_was_looked_at_again_and_again_is_passed_over() -> None:
    budget = RescanBudget()
    passed = 0
    for _ in range(100):
        if passed := budget.spend(1000):
            break
        budget.ahead -= 1
    assert passed >= 999


def test_a_call_makes_an_end_of_what_was_looked_at() -> None:
    budget = RescanBudget()
    for _ in range(100):
        assert budget.spend(1000) == 0
        budget.ahead = 0
    budget.again = 9
    budget.spend(1000)
    assert budget.again == 0


@pytest.mark.parametrize(("text", "told"), [("ab<|", "ab<|"), ("ab<|e", "ab"), ("ab<|en", "ab")])
def test_of_a_marker_that_the_end_cuts_its_least_size_and_more_is_no_text(text: str, told: str) -> None:
    reader, pieces = Reader(), []
    reader.push(text)
    reader.final = True
    assert list(reader.read_until(Markers(("<|end|>",)), pieces.append, least=3)) == []
    assert "".join(pieces) == told


def test_an_item_of_a_list_is_no_quotation_but_may_hold_one() -> None:
    assert _read(f"- {CALL}") == (1, "- ")
    assert _read(f"- > {CALL}") == (0, f"- > {CALL}")


def test_an_item_of_a_list_that_holds_nothing_indents_nothing() -> None:
    assert _read(f"- a\n\n    {CALL}") == (1, "- a\n\n    ")
    assert _read(f"-\n\n    {CALL}") == (0, f"-\n\n    {CALL}")


def test_a_line_end_of_two_characters_is_one_wherever_they_are_parted() -> None:
    for size in range(120, 136):  # what has come is looked at now and then: the second must not end another line
        text = f"{'x' * size}\r\n    "
        parser = sp.TextParser(["hermes"], tools=TOOLS)
        events = events_of(parser, [*text, CALL])
        assert (len(calls_of(events)), text_of(events)) == (1, text)


@pytest.mark.parametrize("before", ["", "Hm. <tool_"])
def test_behind_a_native_call_a_call_in_the_text_is_text(before: str) -> None:
    native = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    parser = sp.StreamParser("openai-chat", tools=TOOLS)
    for delta in ({"content": before}, native, {"content": CALL}):
        parser.feed(f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode())
    parser.close()
    assert (len(parser.response.tool_calls), parser.response.content) == (1, before + CALL)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_what_may_follow_a_bare_call_may_follow_it_behind_a_native_call_too(size: int) -> None:
    def say(**delta: object) -> dict[str, object]:
        return {"choices": [{"index": 0, "delta": delta}]}

    native = [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "g", "arguments": "{}"}}]
    text = 'Action: f\nAction Input: {"a": 1}\nObservation: it is late.'
    parser = sp.StreamParser("openai-chat", tools=[*TOOLS, {"name": "g"}], dialects=["auto", "react"])
    messages = [say(content="Thought: I look.\n"), say(tool_calls=native)]
    messages += [say(content=piece) for piece in in_pieces(text, size)]
    messages += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
    events = [event for message in messages for event in parser.feed(message)] + parser.close()
    assert (calls_of(events), revoked_of(events)) == ([("g", {}), ("f", {"a": 1})], [])
    assert places_of(events) == ["field", "bare"]
    assert text_of(events) == "Thought: I look.\n\nObservation: it is late."
