"""A call is handed over in the very batch whose bytes close it; text is held only while a marker may be forming."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from answers import FIXTURES
from cuts import calls_of
from hypothesis import given
from hypothesis import strategies as st
from samples import NAMED, TOOLS, calls_of_example

import streamparse as sp
from streamparse.dialects.engine.grammar import Opener

MARKER = 64
"""No marker is longer; see `Limits` and the tables of dialects."""


def _batch_of(parser: Any, pieces: list[Any], kind: type[sp.Event]) -> list[int]:
    """In the batches of which pieces the events of a kind come; the end is one batch more."""
    batches = [parser.feed(piece) for piece in pieces] + [parser.close()]
    return [number for number, batch in enumerate(batches) for event in batch if isinstance(event, kind)]


# -- native: the frame that closes the value ----------------------------------------------------------------

objects = st.dictionaries(
    st.text(max_size=5),
    st.one_of(st.text(st.sampled_from('{}[]"\\,:x '), max_size=12), st.integers(), st.lists(st.booleans(), max_size=3)),
    min_size=1,
    max_size=3,
)


def _frame(index: int, arguments: str, name: str | None = None) -> bytes:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    call = {"index": index, "function": function} | ({"id": f"id{index}"} if name else {})
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode() + b"\n\n"


@given(st.lists(objects, min_size=1, max_size=2), st.integers(3, 9), st.booleans())
def test_a_native_call_is_complete_at_the_frame_that_closes_it(
    arguments: list[dict[str, Any]], size: int, by_byte: bool
) -> None:
    frames: list[bytes] = []
    closing = []
    for index, value in enumerate(arguments):
        text = json.dumps(value)
        frames.append(_frame(index, "", "f"))
        frames += [_frame(index, text[start : start + size]) for start in range(0, len(text), size)]
        closing.append(len(frames) - 1)
    if by_byte:
        ends = [sum(map(len, frames[: frame + 1])) for frame in closing]
        body = b"".join(frames)
        pieces, closing = [body[at : at + 1] for at in range(len(body))], [end - 1 for end in ends]
    else:
        pieces = frames
    assert _batch_of(sp.StreamParser("openai-chat"), pieces, sp.ToolCallComplete) == closing


@pytest.mark.parametrize("name", FIXTURES)
def test_a_native_call_of_a_fixture_is_complete_with_its_last_fragment(name: str) -> None:
    answer = FIXTURES[name]
    parser = answer.parser()
    seen: dict[int, int] = {}
    batches = [parser.feed(answer.body[at : at + 1]) for at in range(len(answer.body))] + [parser.close()]
    for number, batch in enumerate(batches):
        for event in batch:
            if isinstance(event, sp.ToolCallDelta):
                seen[event.index] = number
            elif isinstance(event, sp.ToolCallComplete):
                assert seen[event.index] == number


@given(st.lists(st.text(st.sampled_from('ab{}"\\ é'), min_size=1, max_size=9), min_size=1, max_size=6))
def test_every_fragment_of_the_arguments_is_a_delta_at_once(pieces: list[str]) -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(_frame(0, '{"a": "', "f"))
    for piece in pieces:
        events = parser.feed(_frame(0, json.dumps(piece)[1:-1].replace('"', "")))
        assert [type(event) for event in events] == [sp.ToolCallDelta]


# -- in the text: the character that closes the call ----------------------------------------------------------

CLOSED_BY = {
    **dict.fromkeys(("qwen3-coder", "mimo", "seed-oss"), "</function>"),
    **dict.fromkeys(("anthropic-invoke", "minimax-m2", "dots"), "</invoke>"),
    **dict.fromkeys(("dsml-v3.2", "dsml-v4"), "</｜DSML｜invoke>"),
    **dict.fromkeys(("glm-4.5", "glm-4.7", "spark2.5", "hunyuan-v3", "hunyuan-v4"), "</tool_call>"),
    **dict.fromkeys(("pythonic", "llama4-pythonic", "lfm2", "olmo3", "llama3-builtin"), ")"),
    "dsml-v4.1": "</｜DSML｜ invoke>",
    "gcml": "</｜GCML｜invoke>",
    "muse-atem": "</atem:invoke>",
    "step3": "</steptml:invoke>",
    "minicpm5": "</function>",
    "kimi-k3": "<|close|>call<|sep|>",
    "iquest-q1": "</iquest_tool_call>",
    "iquest-coder-v2": "</iquestcoder_tool_call>",
    "xai-tool-call": "</xai:function_call>",
    "solar-open-2": "<|tool_call:end|>",
    "k2-horizon": "</ifm|tool_call>",
    "minimax-m3": "]<]minimax[>[</invoke>",
    "tool-name-tag": "</get_weather>",
    "tool-text-tag": "</bash>",
    "tool-tag": "</tool>",
    "apertus": "}",
    "beam": "<|call|>",
}
"""What closes each call in the example of a format; in all others it is the last `}` of a JSON object or a brace
literal."""


def _opener_of_example(name: str) -> Opener:
    """The marker that opens the example of a format: of those in it the first, and the longest there."""
    row = sp.DIALECTS[name]
    tools = {tool.name for tool in TOOLS}
    spelled = [(each, each.text + tool) for each in row.openers for tool in (tools if each.each_tool else [""])]
    found = [(row.example.find(text), -len(text), each) for each, text in spelled if text and text in row.example]
    return min(found, key=lambda each: each[:2])[2]


WHOLE = {name for name in sp.DIALECTS if (opener := _opener_of_example(name)).bare or opener.word}
"""Formats whose examples have no marker of their own, or one that is a plain word (their tools require arguments): a
call is told at its closing byte, and nothing of it before."""


def test_formats_of_both_kinds_are_tried() -> None:
    assert {"bare-json", "fenced-json", "pythonic", "react", "tool-name-tag", "tools-tag-json"} <= WHOLE
    assert {"hermes", "qwen3-coder", "mistral-v11", "functionary-v3.2", "harmony", "lfm2"}.isdisjoint(WHOLE)


def _closing_places(name: str) -> list[int]:
    """Where the last characters stand that close the calls in the example of a format."""
    text, closing = sp.DIALECTS[name].example, CLOSED_BY.get(name)
    if closing is None:
        return [text.rindex("}")]
    places = [found.end() - 1 for found in re.finditer(re.escape(closing), text)]
    return places[:1] if closing == "}" else places


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_call_in_text_is_complete_at_the_character_that_closes_it(name: str) -> None:
    places = _closing_places(name)
    assert len(places) == len(calls_of_example(name))
    for dialects in ([name], "auto") if name not in NAMED else ([name],):
        batches = list(map(sp.TextParser(dialects, tools=TOOLS).feed, sp.DIALECTS[name].example))
        completes = [(at, event) for at, batch in enumerate(batches) for event in batch if _is_complete(event)]
        assert [at for at, _ in completes] == places
        assert calls_of(event for _, event in completes) == calls_of_example(name)


def _is_complete(event: sp.Event) -> bool:
    return isinstance(event, sp.ToolCallComplete)


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in WHOLE])
def test_a_call_in_text_with_a_marker_of_its_own_starts_before_it_is_complete(name: str) -> None:
    text, places = sp.DIALECTS[name].example, _closing_places(name)
    for dialects in ([name], "auto") if name not in NAMED else ([name],):
        starts = _batch_of(sp.TextParser(dialects, tools=TOOLS), list(text), sp.ToolCallStart)
        assert len(starts) == len(places)
        assert starts[0] <= text.index("Paris")


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in WHOLE])
def test_a_string_of_a_call_in_text_streams(name: str) -> None:
    text = sp.DIALECTS[name].example
    at = text.index("Paris")
    deltas = _batch_of(sp.TextParser([name], tools=TOOLS), list(text), sp.ToolCallDelta)
    assert {*range(at, at + 4)} <= {*deltas}


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_call_without_a_marker_of_its_own_is_told_whole_in_the_batch_of_its_closing_byte(name: str) -> None:
    parser = sp.TextParser([name], tools=TOOLS)
    places = _closing_places(name)
    for at, character in enumerate(sp.DIALECTS[name].example):
        kinds = [type(event) for event in parser.feed(character) if not isinstance(event, sp.TextDelta)]
        assert kinds == ([sp.ToolCallStart, sp.ToolCallDelta, sp.ToolCallComplete] if at in places else [])


prose = st.lists(
    st.sampled_from(["word ", "<", "<tool_", "</", "`", "\n", "{", "é", "<think", "<|", "[", '"', "<function"]),
    max_size=30,
).map("".join)


@given(prose)
def test_prose_is_not_held_longer_than_a_marker_may_be_forming(text: str) -> None:
    parser = sp.TextParser()
    told = 0
    for count, character in enumerate("x" + text, start=1):
        told += sum(len(event.text) for event in parser.feed(character) if isinstance(event, sp.TextDelta))
        assert count - told < MARKER


@given(prose)
def test_text_that_cannot_become_a_marker_is_told_at_once(text: str) -> None:
    parser = sp.TextParser()
    held = "".join(event.text for event in parser.feed("x" + text) if isinstance(event, sp.TextDelta))
    after = "".join(event.text for event in parser.feed(" so ") if isinstance(event, sp.TextDelta))
    assert held + after == "x" + text + " so "
