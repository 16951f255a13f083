"""How long a native call waits for its arguments, and what is reported of one that is over."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from aws_messages import events as aws_events
from cuts import assert_same_in_every_cut, calls_of, merged

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.tools import Toolset

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["a"]}}]


def _assembler() -> Assembler:
    return Assembler(Toolset.of(TOOLS), sp.Limits())


def _codes(events: list[sp.Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, sp.Error)]


@pytest.mark.parametrize(("size", "told"), [(1, False), (64, False), (65, True), (1000, True)])
def test_an_opening_brace_waits_for_64_characters_at_most(size: int, told: bool) -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    assembler.call_arguments(call, "{" + " " * (size - 1))
    text = "".join(event.arguments for event in assembler.record.take() if isinstance(event, sp.ToolCallDelta))
    assert len(text) == (size if told else 0)


def test_arguments_that_a_tool_requires_may_come_after_the_end_of_the_turn() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    assembler.finish("tool_calls", "tools")
    assembler.call_arguments(call, '{"a": 1}')
    assembler.close()
    events = assembler.record.take()
    assert calls_of(events) == [("f", {"a": 1})]
    assert _codes(events) == []


def test_arguments_that_a_tool_requires_and_that_never_come_are_missing() -> None:
    assembler = _assembler()
    assembler.call_start("f")
    assembler.finish("tool_calls", "tools")
    assert _codes(assembler.record.take()) == []
    assembler.close()
    assert _codes(assembler.record.take()) == ["missing_arguments"]


def test_what_follows_in_a_call_that_was_given_up_is_part_of_its_error() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    for fragment in ('{"a": 1]', ', "b": 2', "}"):
        assembler.call_arguments(call, fragment)
    events = assembler.record.take()
    assert len(_codes(events)) == 1
    assert "late_arguments" not in _codes(events)


def test_what_follows_a_complete_call_is_reported_once() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    for fragment in ('{"a": 1}', " ", "x", "y"):
        assembler.call_arguments(call, fragment)
    assert _codes(assembler.record.take()) == ["late_arguments"]


def _read(*deltas: dict[str, Any], reason: str = "tool_calls", **options: Any) -> list[sp.Event]:
    """The events of a chat that ends for this reason."""
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    messages = [*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), end]
    body = "".join(f"data: {json.dumps(message)}\n\n" for message in messages)
    return assert_same_in_every_cut(lambda: sp.StreamParser("openai-chat", **options), body.encode())


def _call(arguments: str, index: int = 0) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": f"c{index}", "function": {"name": "g", "arguments": arguments}}]}


def test_a_call_that_waits_with_an_empty_object_is_complete_before_the_thought_that_follows_it() -> None:
    events = _read(_call("{}"), {"reasoning_content": "So."}, {"content": "Yes."})
    assert calls_of(events) == [("g", {})]
    assert [type(event) for event in events[2:]] == [sp.ToolCallComplete, sp.ReasoningDelta, sp.TextDelta, sp.Done]


def test_a_call_that_waits_with_an_empty_object_is_complete_and_revoked_before_the_refusal_that_follows_it() -> None:
    events = _read(_call("{}"), {"refusal": "No."}, reason="stop")
    revoked = sp.ToolCallRevoked(0, "c0", "refusal")
    assert (calls_of(events), events[3:-1]) == ([("g", {})], [revoked, sp.RefusalDelta("No.")])


def test_a_call_in_one_piece_has_the_limits_of_one_in_many() -> None:
    message = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "g" * 9, "args": {"a": "x" * 9}}}]}}]}
    for limits, code in ((sp.Limits(max_name=8), "limit_name"), (sp.Limits(max_call_args=8), "limit_args")):
        parser = sp.StreamParser("gemini", limits=limits)
        assert _codes(parser.feed(message)) == [code]
        assert [call.code for call in parser.response.broken_calls] == [code]
        assert calls_of(parser.close()) == []


def test_what_is_looked_at_twice_of_a_call_that_is_open_is_all_that_came_so_far() -> None:
    parser = sp.StreamParser("openai-chat")
    looks = []
    for arguments in ('{"a": "x', 'y", "b": [1, 2', "3, "):
        parser.feed({"choices": [{"index": 0, "delta": _call(arguments)}]})
        looks.append(parser.partial(0))
    assert looks == [{"a": "x"}, {"a": "xy", "b": [1]}, {"a": "xy", "b": [1, 23]}]


def test_arguments_that_need_a_repair_are_an_error_for_a_strict_parser() -> None:
    assert calls_of(_read(_call('{"a": [1,]}'))) == [("g", {"a": [1]})]
    events = _read(_call('{"a": [1,]}'), strict=True)
    assert (calls_of(events), _codes(events)) == ([], ["json_syntax"])


@pytest.mark.parametrize("reason", ["stop", "tool_calls"])
def test_an_answer_ends_though_there_is_no_room_for_the_arguments_of_a_call_without_any(reason: str) -> None:
    events = _read(_call(""), reason=reason, limits=sp.Limits(max_pending=1))
    assert {*_codes(events)} == {"limit_pending", "truncated_call"}
    assert [event for event in events if isinstance(event, sp.Done)] == [sp.Done(reason, None, ok=False)] == events[-1:]


def test_an_answer_ends_though_an_open_call_leaves_no_room_for_one_without_arguments() -> None:
    parser = sp.StreamParser("openai-chat", limits=sp.Limits(max_pending=8))
    for delta in (_call('{"a": 12', 0), _call("", 1)):
        parser.feed({"choices": [{"index": 0, "delta": delta}]})
    events = [*parser.feed("data: [DONE]\n\n"), *parser.close()]
    assert [isinstance(event, sp.Done) for event in events].count(True) == 1
    assert events[-1] == sp.Done(None, None, ok=False)


@pytest.mark.parametrize(
    ("fragments", "raw"), [(("{}", "x"), "{}"), (("{", "}x"), "{}"), (("{", " }", "x"), "{ }"), (("{}", "{}x"), "{}")]
)
@pytest.mark.parametrize("tools", [TOOLS, [{"name": "f", "parameters": {"type": "object"}}]], ids=["some", "none"])
def test_what_was_held_of_an_empty_object_is_in_the_arguments_once(
    fragments: tuple[str, ...], raw: str, tools: Any
) -> None:
    assembler = Assembler(Toolset.of(tools), sp.Limits())
    call = assembler.call_start("f")
    for fragment in fragments:
        assembler.call_arguments(call, fragment)
    assembler.close()
    assert [(each.arguments, each.raw) for each in assembler.response.tool_calls] == [({}, raw)]
    assert "late_arguments" in _codes(assembler.record.take())


def test_a_signature_in_the_block_of_a_call_is_no_item_and_does_not_end_it() -> None:
    deltas = [
        {"type": "input_json_delta", "partial_json": '{"a":'},
        {"type": "signature_delta", "signature": "s"},
        {"type": "input_json_delta", "partial_json": "1}"},
    ]
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    messages: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    parser = sp.StreamParser("anthropic", tools=TOOLS)
    events = [event for message in messages for event in parser.feed(message)] + parser.close()
    assert calls_of(events) == [("f", {"a": 1})]
    assert parser.response.items == []
    assert parser.response.ok


def _sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)


def _block(**block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": 0, "content_block": block}


def _delta(**delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _item(kind: str, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": 0, "item": {"type": kind, "id": "i", **item}}


def _piece(name: str, delta: str) -> dict[str, Any]:
    return {"type": f"response.{name}.delta", "item_id": "i", "output_index": 0, "delta": delta}


_START = {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}
_FIRST = {"contentBlockIndex": 0}
_AGAIN = {
    "anthropic": _sse(_START, _block(type="text", text="So."), {"type": "message_stop"}),
    "bedrock-converse": aws_events(
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "So."}}),
    ),
    "openai-responses": _sse(
        {"type": "response.created", "response": {"output": []}}, _item("message"), _piece("output_text", "So.")
    ),
}
_CALL = {"id": "c", "name": "now"}
_THOUGHT = {"reasoningContent": {"signature": "sealed"}}
_WEB = _block(type="server_tool_use", id="s", name="web", input={})
_OPEN: dict[str, tuple[str, bytes, list[str]]] = {  # the wire, what is open, and what is told of it besides the text
    "a call": ("anthropic", _sse(_START, _block(type="tool_use", **_CALL)), ["complete {} late"]),
    "a call that is whole": (
        "anthropic", _sse(_START, _block(type="tool_use", **_CALL, input={"a": 1})), ['complete {"a": 1}'],
    ),
    "a part of a call": (
        "anthropic",
        _sse(_START, _block(type="tool_use", **_CALL), _delta(type="input_json_delta", partial_json='{"a"')),
        ["truncated_call late"],
    ),
    "a call of the server": (
        "anthropic", _sse(_START, _WEB, _delta(type="input_json_delta", partial_json='{"q": 1}')), ["server_tool_use"],
    ),
    "a signature": (
        "anthropic",
        _sse(_START, _block(type="thinking", thinking=""), _delta(type="signature_delta", signature="sealed")),
        ["signature"],
    ),
    "a call of Bedrock": (
        "bedrock-converse",
        aws_events(("contentBlockStart", {**_FIRST, "start": {"toolUse": {"toolUseId": "c", "name": "now"}}})),
        ["truncated_call late"],
    ),
    "a signature of Bedrock": (
        "bedrock-converse", aws_events(("contentBlockDelta", {**_FIRST, "delta": _THOUGHT})), ["signature"],
    ),
    "a call of Responses": (
        "openai-responses",
        _sse(_item("function_call", name="now", call_id="c"), _piece("function_call_arguments", '{"a"')),
        ["truncated_call late"],
    ),
    "a call of Responses that takes text": (
        "openai-responses",
        _sse(_item("custom_tool_call", name="now", call_id="c"), _piece("custom_tool_call_input", "x")),
        ["truncated_call"],
    ),
}  # fmt: skip


def _tell_order(parser: sp.StreamParser, body: bytes) -> list[str]:
    """What comes of a body besides text, starts and deltas; `late`: after the text."""
    told, late = [], ""
    for event in (*parser.feed(body), *parser.close()):
        match event:
            case sp.TextDelta():
                late = " late"
            case sp.ToolCallComplete(raw=raw):
                told.append(f"complete {raw}{late}")
            case sp.ProviderItem(kind=kind):
                told.append(kind + late)
            case sp.Error(scope="call" | "frame", code=code):
                told.append(code + late)
    return told


@pytest.mark.parametrize("name", _OPEN)
def test_what_is_open_where_another_message_begins_is_not_lost(name: str) -> None:
    wire, body, told = _OPEN[name]
    assert _tell_order(sp.StreamParser(wire), body + _AGAIN[wire]) == told


_WRITTEN = (
    *('{"a": 1}', '  {"a": 1}  ', '{"a": 1,}', '{"a": 1} x', "{} {}", "[]", '"a"', "null", "{]", "[1}", "]", "}"),
    *('{"a": ]}', '{"a": 1]', '{"a": {"b": [}}', '{"a": [[[]]]}', '{"a": "\\"]}"}', "{\"a\": '}'}", "{'a': ']'}"),
    *('x{"a": 1}', '{"a" 1}', '{"a\\'),
)


def _write_arguments(pieces: list[str], way: str, limits: sp.Limits) -> list[sp.Event]:
    assembler = Assembler(Toolset.of(TOOLS), limits)
    call = assembler.call_start("f")
    tell = assembler.call_teller(call) if way == "call_teller" else partial(assembler.call_arguments, call)
    for piece in pieces:
        tell(piece)
    assembler.call_end(call)
    assembler.finish("tool_calls", "tools")
    assembler.close()
    return merged(assembler.record.take())


@pytest.mark.parametrize("way", ["call_arguments", "call_teller"])
@pytest.mark.parametrize("limits", [sp.Limits(), sp.Limits(max_depth=3, max_call_args=10)], ids=["none", "small"])
@pytest.mark.parametrize("text", _WRITTEN)
def test_arguments_come_to_the_same_in_any_pieces_however_wrong_they_are(
    way: str, limits: sp.Limits, text: str
) -> None:
    whole = _write_arguments([text], "call_arguments", limits)
    for pieces in ([*text], *([text[:at], text[at:]] for at in range(1, len(text)))):
        assert _write_arguments(pieces, way, limits) == whole
