"""How a turn ends in which a call broke, or came twice: each code of a call's error, on every wire, in both forms."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from call_counts import count_calls
from cuts import calls_of, events_of, text_of
from emission import emitted, read_again

import streamparse as sp
from streamparse.providers.emitters import EMITTERS

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"name": "get_weather", "parameters": SCHEMA}]
ARGUMENTS = '{"city": "Zürich", "days": 3}'
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}\n</tool_call>'
ZURICH = ("get_weather", {"city": "Zürich", "days": 3})
CUT = {"openai-chat": "length", "openai-responses": "incomplete", "anthropic": "max_tokens", "ollama-chat": "length"}
_COUNTED = {
    "openai-chat": None,
    "openai-responses": None,
    "anthropic": {"input_tokens": 0, "output_tokens": 0},
    "ollama-chat": None,
}
CALLED = {"openai-chat": "tool_calls", "openai-responses": "completed", "anthropic": "tool_use", "ollama-chat": "stop"}

every_wire = pytest.mark.parametrize("wire", EMITTERS)


def _native(arguments: str, name: str = "get_weather", id: str = "n", index: int = 0) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}


def _piece(arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}


def _text(text: str) -> dict[str, Any]:
    return {"content": text}


def _parsed(*deltas: dict[str, Any], **options: Any) -> tuple[list[sp.Event], sp.ParsedResponse]:
    """The events of a chat stream whose server says that all went well."""
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    parser = sp.StreamParser("openai-chat", **({"tools": TOOLS} | options))
    return events_of(parser, [body]), parser.response


def _whole(wire: str, response: sp.ParsedResponse) -> sp.ParsedResponse:
    return sp.parse_response(EMITTERS[wire](model="m").whole(response), wire, dialects=())


class Fault(NamedTuple):
    """What breaks a call, and how it must be read to break."""

    delta: dict[str, Any]
    options: dict[str, Any]


INVOKE = '<function_calls>\n<invoke name="get_weather">\nnothing of the kind\n</invoke>\n</function_calls>'
BROKEN = {
    "truncated_call": Fault(_native('{"city": "Zü'), {}),
    "invalid_arguments": Fault(_native('["Zürich"]'), {}),
    "missing_arguments": Fault(_native(""), {}),
    "malformed_call": Fault(_text(INVOKE), {"dialects": ["anthropic-invoke"]}),
    "limit_args": Fault(_native('{"city": "' + "x" * 99 + '"}'), {"limits": sp.Limits(max_call_args=50)}),
    "name_characters": Fault(_native(ARGUMENTS, name="get\u202eweather"), {}),
    "limit_name": Fault(_native(ARGUMENTS, name="n" * 99), {"limits": sp.Limits(max_name=50)}),
    "limit_id": Fault(_native(ARGUMENTS, id="i" * 99), {"limits": sp.Limits(max_id=50)}),
    "json_syntax": Fault(_native('{"city": Zürich]}'), {}),
    "json_depth": Fault(_native('{"city": [[[[[[["x"]]]]]]]}'), {"limits": sp.Limits(max_depth=3)}),
}
"""By the code of the error."""


@every_wire
@pytest.mark.parametrize("code", BROKEN)
def test_a_turn_with_a_call_that_broke_ends_as_one_that_was_cut(wire: str, code: str) -> None:
    fault = BROKEN[code]
    events, response = _parsed(_native('{"city": "Bern"}', id="first"), fault.delta | {}, **fault.options)
    assert [event.code for event in events if isinstance(event, sp.Error)] == [code]
    assert events[-1] == sp.Done("stop", None, True)
    again = read_again(wire, emitted(wire, events))
    assert calls_of(again) == [("get_weather", {"city": "Bern"})]
    assert again[-1] == sp.Done(CUT[wire], _COUNTED[wire], True)
    whole = _whole(wire, response)
    assert [call.arguments for call in whole.tool_calls] == [{"city": "Bern"}]
    assert (whole.finish_reason, whole.broken_calls) == (CUT[wire], [])


DOUBLES: dict[str, list[dict[str, Any]]] = {
    "the text, then the call": [_text(CALL), _native(ARGUMENTS)],
    "in pieces": [_text(CALL), _native('{"city"'), *map(_piece, (': "Zür', 'ich", "da', 'ys": 3', "}"))],
    "without blanks": [_text(CALL), _native('{"city":"Zürich","days":3}')],
    "with blanks": [_text(CALL), _native('{ "city" :\n\t"Zürich" , "days" : 3 }')],
    "with escapes": [_text(CALL), _native('{"city": "Z\\u00fcrich", "days": 3}')],
    "with an escape in pieces": [_text(CALL), _native('{"city": "Z\\u0'), _piece('0fcrich", "days": 3}')],
}


@every_wire
@pytest.mark.parametrize("way", DOUBLES)
def test_a_call_that_came_twice_leaves_once_and_the_turn_ends_in_calls(wire: str, way: str) -> None:
    events, response = _parsed(*DOUBLES[way])
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["duplicate_call"]
    again = read_again(wire, emitted(wire, events))
    assert calls_of(again) == [ZURICH]
    assert sum(isinstance(event, sp.ToolCallStart) for event in again) == 1
    assert not [event for event in again if isinstance(event, sp.Error)]
    assert isinstance(again[-1], sp.Done)
    assert again[-1].finish_reason == CALLED[wire]
    whole = _whole(wire, response)
    assert [(call.name, call.arguments) for call in whole.tool_calls] == [ZURICH]
    assert whole.finish_reason == CALLED[wire]


@every_wire
def test_markup_behind_a_native_call_leaves_as_text(wire: str) -> None:
    events, response = _parsed(_native(ARGUMENTS), _text(CALL))
    assert (calls_of(events), text_of(events)) == ([ZURICH], CALL)
    assert response.broken_calls == []
    again = read_again(wire, emitted(wire, events))
    assert (calls_of(again), text_of(again)) == ([ZURICH], CALL)
    assert isinstance(again[-1], sp.Done)
    assert again[-1].finish_reason == CALLED[wire]


@every_wire
def test_calls_behind_one_that_came_twice_leave_without_a_gap(wire: str) -> None:
    events, _ = _parsed(_text(CALL), _native(ARGUMENTS), _native('{"city": "Bern"}', id="b", index=1))
    body = emitted(wire, events)
    assert [call for _, call in calls_of(read_again(wire, body))] == [ZURICH[1], {"city": "Bern"}]
    if wire == "openai-chat":
        chunks = [
            json.loads(line[6:]) for line in body.split(b"\n\n") if b"tool_calls" in line and b"[DONE]" not in line
        ]
        deltas = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
        assert sorted({call["index"] for call in deltas}) == [0, 1]


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_a_double_that_says_it_in_other_words_has_begun_and_ends_the_turn_as_cut(wire: str) -> None:
    events, _ = _parsed(_text(CALL), _native('{"days": 3, "city": "Zürich"}'))
    again = read_again(wire, emitted(wire, events))
    assert calls_of(again) == [ZURICH]  # no client may run it twice
    assert isinstance(again[-1], sp.Done)
    assert again[-1].finish_reason == CUT[wire]


@every_wire
def test_the_same_call_twice_in_one_way_is_two_calls(wire: str) -> None:
    for deltas in ([_text(CALL + CALL)], [_native(ARGUMENTS, id="a"), _native(ARGUMENTS, id="b", index=1)]):
        events, _ = _parsed(*deltas)
        assert calls_of(read_again(wire, emitted(wire, events))) == [ZURICH, ZURICH]


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_a_call_of_a_name_that_came_before_leaves_with_its_first_word_that_differs(wire: str) -> None:
    emitter = EMITTERS[wire](model="m")
    client = sp.StreamParser(wire, dialects=())
    first, _ = _parsed(_native('{"city": "Zug", "days": 3}'))
    client.feed(b"".join([emitter.emit(event) for event in first[:-1]]))
    held = [sp.ToolCallStart(1, "b", "get_weather"), sp.ToolCallDelta(1, '{"city": '), sp.ToolCallDelta(1, '"Z')]
    assert [emitter.emit(event) for event in held] == [b"", b"", b""]
    assert client.feed(emitter.emit(sp.ToolCallDelta(1, "ür"))) == [held[0], sp.ToolCallDelta(1, '{"city": "Zür')]
    assert client.feed(emitter.emit(sp.ToolCallDelta(1, "ich"))) == [sp.ToolCallDelta(1, "ich")]


def test_what_a_provider_wants_back_with_a_call_leaves_with_it_though_it_may_be_a_double() -> None:
    emitter, client = EMITTERS["openai-chat"](model="m"), sp.StreamParser("openai-chat", dialects=())
    first, _ = _parsed(_native(ARGUMENTS))
    again: list[sp.Event] = [
        sp.ToolCallStart(1, "b", "get_weather"),
        sp.ProviderItem("thought_signature", "c2ln", 1),
        sp.ToolCallDelta(1, ARGUMENTS),
        sp.ToolCallComplete(1, "b", "get_weather", ZURICH[1], "native", ARGUMENTS),
    ]
    events = client.feed(b"".join([emitter.emit(event) for event in [*first[:-1], *again, first[-1]]])) + client.close()
    assert calls_of(events) == [ZURICH, ZURICH]
    [item] = [event for event in events if isinstance(event, sp.ProviderItem)]
    assert (item.data, item.index) == ({"google": {"thought_signature": "c2ln"}}, 1)


@every_wire
def test_a_turn_whose_calls_are_in_doubt_fails_with_the_doubt_as_its_reason(wire: str) -> None:
    before, after = sp.DIALECTS["anthropic-invoke"].example.split("Paris")
    events, response = _parsed(_text(f"{before}A page:{after}\n{before}Rome{after} it says.{after}"))
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["ambiguous_markup"]
    emitter = EMITTERS[wire](model="m")
    for body in (emitted(wire, events), emitter.whole(response)):
        assert b"ambiguous_markup" in body
        assert b"close nothing" in body
        assert b"[DONE]" not in body
    assert emitter.find_failure(response) is not None


def _steps(number: int) -> int:
    """How many functions run while so many calls leave that all say the same, in pieces."""
    raw = json.dumps({"city": "x" * 400})
    pieces = [raw[start : start + 4] for start in range(0, len(raw), 4)]
    emitter = EMITTERS["openai-chat"](model="m")

    def emit_all() -> None:
        for index in range(number):
            emitter.emit(sp.ToolCallStart(index, f"c{index}", "get_weather"))
            for piece in pieces:
                emitter.emit(sp.ToolCallDelta(index, piece))
            emitter.emit(sp.ToolCallComplete(index, f"c{index}", "get_weather", {"city": "x" * 400}, "native", raw))

    return count_calls(emit_all)


@pytest.mark.usefixtures("uncollected")
def test_the_work_on_a_call_hardly_grows_with_the_calls_before_it() -> None:
    assert _steps(128) < 4 * _steps(32) * 1.5  # each is looked up among those before, which takes a logarithm
