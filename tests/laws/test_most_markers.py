"""Behind `Limits.max_markers` markers in open text that opened no call, text is read for reasoning alone."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import in_pieces, merged
from msgspec.structs import replace
from subjects import ROWS, TOOLS

import streamparse as sp

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
VAIN = "<tool_call>x "
FEW = sp.Limits(max_markers=3)
MARKERS = list(dict.fromkeys(opener.text for row in ROWS for opener in sp.DIALECTS[row].openers if opener.text))


def read(pieces: list[str], limits: sp.Limits = FEW, **options: Any) -> tuple[list[sp.Event], sp.TextParser]:
    parser = sp.TextParser(tools=TOOLS, limits=limits, **options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return merged([*events, *parser.close()]), parser


def codes_of(parser: sp.TextParser) -> list[str]:
    return [error.code for error in parser.response.errors]


@pytest.mark.parametrize("limit", [0, 3, 1024])
def test_behind_as_many_markers_as_may_be_a_call_is_read_and_behind_one_more_it_is_text(limit: int) -> None:
    limits = sp.Limits(max_markers=limit)
    _, parser = read([VAIN * limit + CALL], limits)
    assert (len(parser.response.tool_calls), codes_of(parser)) == (1, [])
    text = VAIN * (limit + 1) + CALL + CALL
    events, parser = read([text], limits)
    assert (parser.response.content, parser.response.tool_calls) == (text, [])
    assert codes_of(parser) == ["limit_markers"]
    assert isinstance(events[-1], sp.Done)
    assert events[-1].ok
    assert parser.stats.unread_calls == {"plain": 2}


def test_without_a_limit_a_call_is_read_behind_any_number_of_markers() -> None:
    _, parser = read([VAIN * 3000 + CALL], sp.Limits(max_markers=None))
    assert (len(parser.response.tool_calls), codes_of(parser)) == (1, [])


def test_the_error_is_at_the_marker_that_is_one_too_many() -> None:
    for size in (1, 5, 1000):
        events, parser = read(list(in_pieces("Words. " + VAIN * 9, size)))
        at = len("Words. " + VAIN * 3)
        assert [error.offset for error in parser.response.errors] == [at]
        told = next(at for at, event in enumerate(events) if isinstance(event, sp.Error))
        assert [event.text for event in events[:told]] == ["Words. " + VAIN * 3 + "<tool_call>"]  # type: ignore[union-attr]


def test_a_call_begins_the_count_again() -> None:
    _, parser = read([(VAIN * 3 + CALL) * 4])
    assert (len(parser.response.tool_calls), codes_of(parser)) == (4, [])


@pytest.mark.parametrize(
    "vain",
    [
        *("`<tool_call>` ", "> <tool_call>\n", '"<tool_call>" ', "```\n<tool_call>\n```\n", f"`{CALL}`\n"),
        *("</tool_call> ", "</think> ", "<|im_end|> ", "</bash> ", "Action: ", '{"name": '),
    ],
)
def test_quoted_markers_closing_ones_and_those_of_bare_formats_behind_text_do_not_count(vain: str) -> None:
    _, parser = read(["Words.\n" + vain * 20 + "\n\nNow:\n" + CALL])
    assert codes_of(parser) == []
    assert len(parser.response.tool_calls) == 1


def test_behind_the_limit_thoughts_are_read() -> None:
    _, parser = read([f"<think>{VAIN * 9}</think>" + VAIN * 9 + "So:<|channel>thought\nWell.<channel|>So."])
    assert codes_of(parser) == ["limit_markers"]
    assert parser.response.reasoning == VAIN * 9 + "\nWell."
    assert parser.response.content == VAIN * 9 + "So:So."


@pytest.mark.parametrize("marker", MARKERS)
def test_every_cut_gives_the_same_events(marker: str) -> None:
    text = "Words.\n" + marker * 12 + "\n<think>x</think>" + marker + " y " + CALL
    whole, _ = read([text])
    for size in (1, 3, 16):
        events, _ = read(list(in_pieces(text, size)))
        assert events == whole


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_messages_of_a_stream_are_read_as_one_text(size: int) -> None:
    text = VAIN * 9 + CALL
    messages = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in in_pieces(text, size)]
    messages.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    parser = sp.StreamParser("openai-chat", tools=TOOLS, limits=FEW)
    events = merged([event for message in messages for event in parser.feed(message)] + parser.close())
    texts, _ = read([text])
    places = [replace(event, offset=None) if isinstance(event, sp.Error) else event for event in events]
    expected = [replace(event, offset=None) if isinstance(event, sp.Error) else event for event in texts]
    assert places[:-1] == expected[:-1]
    assert parser.stats.unread_calls == {"plain": 1}
