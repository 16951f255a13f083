"""Law 8: Complete is in the very batch whose bytes close the arguments, and text is held no longer than needed.

On the wires a plain reading of the body (`messages`) says with which byte each object closes that could be arguments;
in text the closing byte is found by the marker that closes a call in this format, or by matching braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from cuts import calls_of, text_of
from hypothesis import assume, given
from hypothesis import strategies as st
from messages import Closing, read_closings, read_messages
from samples import NAMED, calls_of_example
from samples import TOOLS as SAMPLE_TOOLS
from subjects import ROWS, TOOLS, WIRES, Input, examples, fixtures_of, texts_of
from text_bodies import write_text

import streamparse as sp
from streamparse.dialects import THOUGHTS
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


LATER = {
    "responses-items-without-an-index-are-known-by-their-ids.sse": "no message has an index: the "
    "deltas of the text and those of the arguments are one path",
    "responses-two-calls-that-share-an-index-are-told-apart-by-id.sse": "the deltas of two calls alternate on one path",
    "responses-a-stream-taken-up-in-the-middle-goes-on-from-there.sse": "the item, which has the name, comes last",
    "responses-done-arguments-with-a-name-are-a-call.sse": "until the end its item may come, and bring the id",
    "responses-done-arguments-with-a-name-wait-for-the-id-of-their-call.sse": "the item, which has the id, comes last",
    "the-same-id-on-another-index-continues-its-call.sse": "the index, and so the path, changes in the middle",
    "anthropic-an-input-in-the-start-is-the-arguments.sse": "deltas may replace it until its block is over: "
    "stopped, or followed by another block or the end of the turn",
    "anthropic-an-input-in-the-start-gives-way-to-deltas.sse": "deltas may replace it until the block stops",
    "gemini-arguments-in-pieces-stream-as-json-text.sse": "pieces with paths, no text of JSON",
    "gemini-two-calls-in-pieces-follow-each-other.sse": "pieces with paths, no text of JSON",
    "gemini-a-call-in-pieces-without-a-last-piece-is-complete-at-a-good-finish.sse": "pieces with paths",
    "gemini-messages-as-the-sdk-dumps-them-are-read.sse": "pieces with paths, no text of JSON",
    "gemini-a-piece-that-repeats-name-and-id-continues-its-call.sse": "pieces with paths, no text of JSON",
    "gemini-a-piece-that-repeats-the-name-inside-of-a-string-continues-its-call.sse": "pieces with paths",
}
"""Fixtures of which the plain reading does not know when a call may be complete, each with the reason."""

UNNAMED = {
    "a-second-object-with-a-new-id-on-one-index-is-a-new-call.sse",
    "arguments-before-their-name-wait-for-it.sse",
    "anthropic-deltas-before-their-start-wait-for-it.sse",
}
"""Fixtures in which the first fragments wait for the name of their call."""

WITHOUT_CALLS = {"openai-completions", "ollama-generate", "auto"}
"""Wires whose protocol has no calls, or that are another one's."""


def _read_byte_by_byte(each: Input) -> list[tuple[int, sp.Event]]:
    """The events, each with the place of the byte that was fed last; the length of the body for those of the end."""
    parser = each.parser()
    found = [(at, event) for at in range(len(each.data)) for event in parser.feed(each.data[at : at + 1])]
    return found + [(len(each.data), event) for event in parser.close()]


def _closings_of(each: Input, events: list[tuple[int, sp.Event]]) -> Iterator[tuple[int, sp.ToolCallComplete, Closing]]:
    """The native calls with arguments, where each was told, and where the plain reading finds it closed."""
    closings = list(read_closings(read_messages(each.data)))
    used: dict[str, int] = {}
    for at, event in events:
        if isinstance(event, sp.ToolCallComplete) and event.source == "native" and event.arguments:
            key = json.dumps(event.arguments)
            fitting = (one for one in closings if one.value == event.arguments and one.end > used.get(key, -1))
            closing = next(fitting, Closing(-1, {}, ()))
            used[key] = closing.end
            yield at, event, closing


@pytest.mark.parametrize("wire", WIRES)
def test_a_native_call_is_complete_at_the_very_byte_that_closes_it(wire: str) -> None:
    asked = 0
    for name, each in fixtures_of(wire).items():
        if name.endswith(".bin"):  # binary frames; the same messages stand as lines in other fixtures
            continue
        events = _read_byte_by_byte(each)
        found = list(_closings_of(each, events))
        if name in LATER:
            assert any(at != closing.end for at, _, closing in found), f"{name} is no exception"
            found = []
        for at, call, closing in found:
            assert at == closing.end, (name, call)
            deltas = [(at, one.arguments) for at, one in events if _is_delta_of(one, call.index)]
            for end, text in closing.stages if name not in UNNAMED else ():
                if text.strip() != "{":  # which may be the beginning of the placeholder `{}`
                    assert "".join(delta for at, delta in deltas if at <= end) == text.lstrip(), (name, end)
        asked += len(found)
    assert asked or wire in WITHOUT_CALLS


def _is_delta_of(event: sp.Event, index: int) -> bool:
    return isinstance(event, sp.ToolCallDelta) and event.index == index


@pytest.mark.parametrize("wire", WIRES)
def test_a_native_call_is_complete_with_its_last_fragment(wire: str) -> None:
    for name, each in fixtures_of(wire).items():
        seen: dict[int, int] = {}
        for at, event in _read_byte_by_byte(each):
            if isinstance(event, sp.ToolCallDelta):
                seen[event.index] = at
            elif isinstance(event, sp.ToolCallComplete):
                assert seen[event.index] == at, name


@pytest.mark.parametrize("wire", sp.WIRES)
@examples(0.5)
@given(st.lists(st.text("ab .é\n", min_size=1, max_size=9), min_size=1, max_size=6))
def test_text_on_a_wire_is_told_in_the_very_byte_that_ends_its_message(wire: str, pieces: list[str]) -> None:
    pieces[0] = f"x{pieces[0]}"
    body, ends = write_text(wire, pieces)
    parser = sp.StreamParser(wire)
    told = [(at, text_of(parser.feed(body[at : at + 1]))) for at in range(len(body))]
    parser.close()
    assert [(at, text) for at, text in told if text] == list(zip(ends, pieces, strict=True))


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

PROVEN_BY = {
    "pythonic": r"\]",
    "llama4-pythonic": r"\]|<\|python_end\|>",
    "lfm2": r"\]",
    "olmo3": r"</function_calls>",
    "llama3-builtin": r"<\|eom_id\|>",
}
"""Of formats in Python's syntax, in which a `)` proves nothing: what ends the calls; or the next call's head does."""


def _opener_of_example(name: str) -> Opener:
    """The marker that opens the example of a format: of those in it the first, and the longest there."""
    row = sp.DIALECTS[name]
    tools = {tool.name for tool in SAMPLE_TOOLS}
    spelled = [(each, each.text + tool) for each in row.openers for tool in (tools if each.each_tool else [""])]
    found = [(row.example.find(text), -len(text), each) for each, text in spelled if text and text in row.example]
    return min(found, key=lambda each: each[:2])[2]


WHOLE = {name for name in sp.DIALECTS if (opener := _opener_of_example(name)).bare or opener.word}
"""Formats whose examples have no marker of their own, or one that is a plain word (their tools require arguments): a
call is told at its closing byte, and nothing of it before."""


def test_formats_of_both_kinds_are_tried() -> None:
    assert {"bare-json", "fenced-json", "pythonic", "react", "tool-name-tag", "tools-tag-json"} <= WHOLE
    assert {"hermes", "qwen3-coder", "mistral-v11", "functionary-v3.2", "harmony", "lfm2"}.isdisjoint(WHOLE)


CLOSES_ALSO = {
    **{name: rf"(?<=\))(?:\s*(?:{end})|(?:,|;|\n)\s*[\w.]+\((?:\)|\w+=.))" for name, end in PROVEN_BY.items()},
    "apertus": r"\}(?=\}[\],])",
    "beam": r"<\|call\|>|<\|end\|>(?=<\|start\|>assistant to=)",
    "functiongemma": r"\}(?=<end_function_call>)",
    "tool-name-tag": "|".join(f"</{tool.name}>" for tool in TOOLS),
    "tool-text-tag": "|".join(f"</{tool.name}>" for tool in TOOLS),
}
"""Patterns of what closes a call where it depends on the call, or on what follows."""

CASES = (
    *("example", "single", "parallel", "same_tool_twice", "zero_arguments", "zero_arguments_then_call", "unicode"),
    *("text_before", "text_between", "text_after", "nested_values", "quotes_and_backslashes", "brackets_in_string"),
    "own_close_marker_in_string",
)
"""The texts of a row in which the plain search finds where calls close; a fixture may have no such case."""

UNREAD = {
    ("sarashina", "quotes_and_backslashes"): "the strings of Python hold quotes of JSON",
    ("sarashina", "brackets_in_string"): "the strings of Python hold brackets",
    ("beam", "text_between"): "a text ends as a call does",
}


def _ends_of_objects(text: str) -> list[int]:
    """Where objects end that stand in no other; strings of JSON are stepped over."""
    ends, depth = [], 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}]', text):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}" and depth:
            depth -= 1
            ends += [found.start()] if not depth else []
    return ends


def _closing_places(name: str, text: str, count: int) -> list[int]:
    """Where the last characters stand that close the calls of a text; what a string holds closes no call."""
    pattern = CLOSES_ALSO.get(name) or re.escape(CLOSED_BY.get(name, ""))
    places = [found.end() - 1 for found in re.finditer(pattern, text)] if pattern else []
    places = places or _ends_of_objects(text) or [found.start() for found in re.finditer("}", text)]
    return places[-1:] if count == 1 else places


@pytest.mark.parametrize("name", ROWS)
def test_each_call_of_a_fixture_is_complete_at_the_character_that_closes_it(name: str) -> None:
    asked = []
    for case in CASES:
        each = texts_of(name).get(case)
        if each is None or (name, case) in UNREAD:
            continue
        parser = each.parser()
        told = [at for at, character in enumerate(each.data) for event in parser.feed(character) if _is_complete(event)]
        assert told == (_closing_places(name, each.data, len(told)) if told else []), case
        asked += [case] if told else []
    assert len(asked) > 1


def _places_of_example(name: str) -> list[int]:
    return _closing_places(name, sp.DIALECTS[name].example, len(calls_of_example(name)))


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_call_in_text_is_complete_at_the_character_that_closes_it(name: str) -> None:
    places = _places_of_example(name)
    assert len(places) == len(calls_of_example(name))
    for dialects in ([name], "auto") if name not in NAMED else ([name],):
        batches = list(map(sp.TextParser(dialects, tools=SAMPLE_TOOLS).feed, sp.DIALECTS[name].example))
        completes = [(at, event) for at, batch in enumerate(batches) for event in batch if _is_complete(event)]
        assert [at for at, _ in completes] == places
        assert calls_of(event for _, event in completes) == calls_of_example(name)


def _is_complete(event: sp.Event) -> bool:
    return isinstance(event, sp.ToolCallComplete)


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in WHOLE])
def test_a_call_in_text_with_a_marker_of_its_own_starts_before_it_is_complete(name: str) -> None:
    text, places = sp.DIALECTS[name].example, _places_of_example(name)
    for dialects in ([name], "auto") if name not in NAMED else ([name],):
        starts = _batch_of(sp.TextParser(dialects, tools=SAMPLE_TOOLS), list(text), sp.ToolCallStart)
        assert len(starts) == len(places)
        assert starts[0] <= text.index("Paris")


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in WHOLE])
def test_a_string_of_a_call_in_text_streams(name: str) -> None:
    text = sp.DIALECTS[name].example
    at = text.index("Paris")
    deltas = _batch_of(sp.TextParser([name], tools=SAMPLE_TOOLS), list(text), sp.ToolCallDelta)
    assert {*range(at, at + 4)} <= {*deltas}


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_call_without_a_marker_of_its_own_is_told_whole_in_the_batch_of_its_closing_byte(name: str) -> None:
    parser = sp.TextParser([name], tools=SAMPLE_TOOLS)
    places = _places_of_example(name)
    for at, character in enumerate(sp.DIALECTS[name].example):
        kinds = [type(event) for event in parser.feed(character) if not isinstance(event, sp.TextDelta)]
        assert kinds == ([sp.ToolCallStart, sp.ToolCallDelta, sp.ToolCallComplete] if at in places else [])


# -- text: only what may still become a marker is held ----------------------------------------------------------


def _markers_of(name: str) -> list[str]:
    """What a row looks for: its openers (with the names of tools), its marks of thought, and what it drops."""
    row = sp.DIALECTS[name]
    found = [*row.drops, *row.opens_text, *row.settles]
    for opener in (*row.openers, *(each for one in row.companions for each in one.openers)):
        found += [opener.text + tool.name for tool in TOOLS] if opener.each_tool else [opener.text]
    for thought in row.thoughts:
        mark = THOUGHTS[thought] if isinstance(thought, str) else thought
        found += [*mark.opens, *mark.closes]
    return [text for text in found if text]


MARKERS = {name: _markers_of(name) for name in ROWS}
USUAL = ["<think>", "</think>", "<thinking>", "</thinking>"]
EVERY = sorted({marker for name in ROWS for marker in MARKERS[name]}) + USUAL


@st.composite
def _beginnings(draw: st.DrawFn, name: str) -> list[str]:
    """Words, and beginnings of markers that are broken off."""
    cut = st.builds(
        lambda text, share: text[: int(len(text) * share)], st.sampled_from(MARKERS[name]), st.floats(0, 0.99)
    )
    words = st.sampled_from(["word ", "a. ", "\n", "é ", " ", "- "])
    return draw(st.lists(st.one_of(words, cut), min_size=1, max_size=7))


@pytest.mark.parametrize("name", ROWS)
@examples()
@given(data=st.data())
def test_a_row_holds_only_text_that_may_become_a_marker(name: str, data: st.DataObject) -> None:
    pieces = data.draw(_beginnings(name))
    text = "".join(pieces)
    is_named = data.draw(st.booleans())
    looked_for = MARKERS[name] + USUAL if is_named else EVERY
    assume(not any(marker in text for marker in looked_for))
    parser = sp.TextParser([name] if is_named else "auto", tools=TOOLS)
    begun = "See this: "
    told = text_of(parser.feed(begun))
    for count, character in enumerate(text, start=1):
        told += text_of(parser.feed(character))
        read = begun + text[:count]
        assert read.startswith(told)
        held = read[len(told) :].lower()
        assert not held or any(marker.lower().startswith(held) for marker in looked_for), held


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
