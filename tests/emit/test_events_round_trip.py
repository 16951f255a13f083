"""Events that are emitted and read again are the same events, on every wire."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, events_of
from emission import Told, answers, emitted, read_again, told, until_failure
from hypothesis import given
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.emitters import EMITTERS

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
TOOLS: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
INDEX: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))

every_wire = pytest.mark.parametrize("wire", EMITTERS)


def _shape(wire: str) -> dict[str, bool]:
    return {"starts": wire != "ollama-chat", "refusals": wire.startswith("openai-")}


def _counting(answer: Told, empty: set[str]) -> Told:
    """Without what does not count: calls of a turn that failed, and calls of one that was cut which may be more."""
    if answer.meaning in ("error", "content_filter"):
        return answer._replace(started=[], calls=[], broken=set())
    if answer.meaning == "length":
        return answer._replace(calls=[call for call in answer.calls if call[2]], broken=answer.broken - empty)
    return answer


def _assert_survives(wire: str, events: list[sp.Event]) -> None:
    kept = until_failure(events)
    ended = [*kept, events[-1]] if kept[-1] is not events[-1] else kept
    again = read_again(wire, emitted(wire, events))
    expected, found = told(ended, **_shape(wire)), told(again, **_shape(wire))
    refused = any(isinstance(event, sp.RefusalDelta) for event in kept)
    if wire == "anthropic" and refused and expected.meaning != "error":
        expected = expected._replace(meaning="content_filter")
    if wire == "ollama-chat" and expected.meaning == "content_filter":
        expected = expected._replace(meaning="error")  # it has no other word
    if not found.flow and not found.calls and found.meaning == "error":
        expected = expected._replace(meaning="error")  # without the items that the wire lacks, it is an empty answer
    empty = {id for id, _, arguments in expected.calls if not arguments}
    assert _counting(found, empty) == _counting(expected, empty)


@every_wire
@usual_examples(40)
@given(events=answers())
def test_what_is_emitted_and_read_again_tells_the_same(wire: str, events: list[sp.Event]) -> None:
    _assert_survives(wire, events)


@every_wire
@pytest.mark.parametrize("name", INDEX)
def test_every_fixture_survives_every_wire(name: str, wire: str) -> None:
    row = INDEX[name]
    options: dict[str, Any] = {"tools": TOOLS} if row.get("tools") else {}
    parser = sp.StreamParser(row["wire"], choice=row.get("choice", 0), **options)
    _assert_survives(wire, events_of(parser, [(FOLDER / name).read_bytes()]))


@usual_examples(40)
@given(events=answers())
def test_argument_text_survives_to_the_letter(events: list[sp.Event]) -> None:
    whole = {event.id: event.raw for event in events if isinstance(event, sp.ToolCallComplete)}
    repaired = {e.id for e in events if isinstance(e, sp.ToolCallComplete) and e.source == "repaired"}
    for wire in ("openai-chat", "openai-responses", "anthropic"):
        again = read_again(wire, emitted(wire, until_failure(events)))
        for event in again:
            if isinstance(event, sp.ToolCallComplete) and event.id not in repaired:
                assert event.raw == whole[event.id]


@usual_examples(40)
@given(events=answers())
def test_a_whole_body_tells_what_the_stream_tells(events: list[sp.Event]) -> None:
    if isinstance(events[-1], sp.Done) and not events[-1].ok:
        return
    body = emitted("openai-chat", events)
    parser = sp.StreamParser("openai-chat", dialects=())
    events_of(parser, [body])
    response = parser.response
    if response.finish_reason == "length" and not all(call.arguments for call in response.tool_calls):
        return  # a call without arguments may have been cut
    for wire, emitter in EMITTERS.items():
        whole = sp.StreamParser(wire, dialects=())
        events_of(whole, [emitter(model="m").whole(response)])
        found = whole.response
        assert {call.id: (call.name, call.arguments) for call in found.tool_calls} == {
            call.id: (call.name, call.arguments) for call in response.tool_calls
        }
        assert found.reasoning == response.reasoning
        assert found.content + found.refusal == response.content + response.refusal
        assert found.broken_calls == []  # the body holds complete calls only


@every_wire
@usual_examples(40)
@given(events=answers())
def test_the_same_events_cut_otherwise_are_read_the_same(wire: str, events: list[sp.Event]) -> None:
    halved: list[sp.Event] = []
    for event in events:
        if isinstance(event, sp.ToolCallDelta) and len(event.arguments) > 1:
            halved += [sp.ToolCallDelta(event.index, character) for character in event.arguments]
        else:
            halved.append(event)
    assert told(read_again(wire, emitted(wire, halved))) == told(read_again(wire, emitted(wire, events)))


@every_wire
def test_an_emitted_stream_is_read_the_same_in_every_cut(wire: str) -> None:
    events: list[sp.Event] = [
        sp.ReasoningDelta("Hm.\n"),
        sp.TextDelta("Zürich 🎉"),
        sp.ToolCallStart(0, "a", "search"),
        sp.ToolCallDelta(0, '{"query": "\\u00e9 '),
        sp.TextDelta("meanwhile"),
        sp.ToolCallDelta(0, 'é"}'),
        sp.ToolCallComplete(0, "a", "search", {"query": "é é"}, "inband", '{"query": "\\u00e9 é"}'),
        sp.Done("stop", {"prompt_tokens": 1, "completion_tokens": 2}, True),
    ]
    assert_same_in_every_cut(lambda: sp.StreamParser(wire, dialects=()), emitted(wire, events))


@every_wire
def test_markup_that_was_cut_before_its_call_began_ends_the_turn_as_cut(wire: str) -> None:
    cut = sp.Error("call", "truncated_call", "the text ended inside a call's markup")
    again = read_again(wire, emitted(wire, [sp.TextDelta("I look."), cut, sp.Done("stop", None, True)]))
    assert told(again).meaning == "length"


def test_calls_of_tools_that_take_text_leave_under_the_same_ids_in_pieces_and_whole() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    pieces = [{"choices": [{"index": 0, "delta": {"tool_calls": [call | {"index": n}]}}]} for n in range(3)]
    pieces.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    parser = sp.StreamParser("openai-chat")
    events = events_of(parser, [b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces])
    whole = EMITTERS["openai-chat"]().whole(parser.response)
    for read in (read_again("openai-chat", emitted("openai-chat", events)), read_again("openai-chat", whole)):
        items = [event.data["id"] for event in read if isinstance(event, sp.ProviderItem)]
        assert items == ["c", "c_1", "c_2"]
