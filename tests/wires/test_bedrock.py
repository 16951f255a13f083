"""Bedrock: what Converse's events, its exceptions and the wrapped events of `invoke` tell, in every cut."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from aws_messages import events, header, invoked, message
from cuts import assert_same_in_every_cut, calls_of, events_of, in_pieces, merged, reasoning_of, text_of

import streamparse as sp
from streamparse.providers.wires import UNDECIDED_FRAMES

SHARED = Path(__file__).parents[2].parent / "shared" / "streams"
WEATHER = {"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}
NOW = {"name": "now", "parameters": {"type": "object", "properties": {}}}

BEGIN = ("messageStart", {"role": "assistant", "p": "abc"})
USAGE = ("metadata", {"usage": {"inputTokens": 5, "outputTokens": 9, "totalTokens": 14}, "metrics": {"latencyMs": 5}})


def _text(index: int, text: str) -> tuple[str, Any]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": {"text": text}, "p": "abcdef"}


def _call(index: int, id: str, name: str, *pieces: str) -> list[tuple[str, Any]]:
    start = {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id, "name": name}}}
    deltas = [_piece(index, {"toolUse": {"input": piece}}) for piece in pieces]
    return [("contentBlockStart", start), *deltas, _stop(index)]


def _piece(index: int, delta: dict[str, Any]) -> tuple[str, Any]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": delta}


def _stop(index: int) -> tuple[str, Any]:
    return "contentBlockStop", {"contentBlockIndex": index}


def _end(reason: str) -> tuple[str, Any]:
    return "messageStop", {"stopReason": reason}


def _parser(wire: str = "bedrock-converse", **options: Any) -> sp.StreamParser:
    return sp.StreamParser(wire, **({"tools": [WEATHER, NOW]} | options))


def _parse(*pairs: tuple[str, Any]) -> list[sp.Event]:
    body = events(BEGIN, *pairs)
    found = assert_same_in_every_cut(_parser, body)
    assert merged(events_of(_parser("auto"), [body])) == found
    return found


def _items(found: list[sp.Event]) -> list[tuple[str, Any, int | None]]:
    return [(event.kind, event.data, event.index) for event in found if isinstance(event, sp.ProviderItem)]


def _codes(found: list[sp.Event]) -> list[str]:
    return [event.code for event in found if isinstance(event, sp.Error)]


def test_text_call_finish_and_usage_come_out() -> None:
    call = _call(1, "tooluse_1", "get_weather", '{"city": "Zür', 'ich"}')
    found = _parse(_text(0, "I will "), _text(0, "look."), _stop(0), *call, _end("tool_use"), USAGE)
    assert text_of(found) == "I will look."
    assert calls_of(found) == [("get_weather", {"city": "Zürich"})]
    assert _items(found) == [("metrics", {"latencyMs": 5}, None)]
    assert found[-1] == sp.Done("tool_use", {"inputTokens": 5, "outputTokens": 9, "totalTokens": 14}, True)


def test_a_call_is_complete_in_the_message_that_carries_its_closing_brace() -> None:
    parser = _parser()
    start, *pieces, _ = _call(0, "a", "get_weather", '{"city"', ': "Paris"}')
    seen = [calls_of(parser.feed(events(pair))) for pair in (BEGIN, start, *pieces)]
    assert seen == [[], [], [], [("get_weather", {"city": "Paris"})]]


def test_a_thought_its_signature_and_its_redacted_part_come_out() -> None:
    thought = [
        _piece(0, {"reasoningContent": part}) for part in ({"text": "1 < 2"}, {"text": "."}, {"signature": "Eq"})
    ]
    hidden = _piece(1, {"reasoningContent": {"redactedContent": "AAEC"}})
    found = _parse(*thought, _stop(0), hidden, _stop(1), _text(2, "Yes."), _end("end_turn"))
    assert reasoning_of(found) == "1 < 2."
    assert _items(found) == [("signature", "Eq", 0), ("redactedContent", "AAEC", 1)]


@pytest.mark.parametrize("signature", ["", 5, None])
def test_a_signature_that_is_none_makes_no_item(signature: Any) -> None:
    thought = {"reasoningText": {"text": "So.", "signature": signature}}
    found = _parse(_piece(0, {"reasoningContent": thought}), _stop(0), _text(1, "Yes."), _end("end_turn"))
    assert (reasoning_of(found), _items(found)) == ("So.", [])


def test_content_of_any_other_kind_is_an_item() -> None:
    server = {"toolUse": {"toolUseId": "s", "name": "web", "type": "server_tool_use"}}
    found = _parse(
        ("contentBlockStart", {"contentBlockIndex": 0, "start": server}),
        _piece(0, {"toolUse": {"input": '{"query": "x"}'}}),
        _stop(0),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "s"}}}),
        _piece(1, {"toolResult": [{"text": "found"}]}),
        _stop(1),
        _piece(2, {"citation": {"title": "A"}}),
        _text(2, "Yes."),
        _end("end_turn"),
    )
    data = {"name": "web", "toolUseId": "s", "type": "server_tool_use", "input": {"query": "x"}}
    assert _items(found) == [
        ("server_tool_use", data, 0),
        ("toolResult", {"toolUseId": "s", "content": [{"text": "found"}]}, 1),
        ("citation", {"title": "A"}, 2),
    ]


def test_the_pieces_of_a_block_of_another_kind_are_put_together() -> None:
    parser = sp.StreamParser("bedrock-converse")
    messages: list[dict[str, Any]] = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"image": {"format": "p"}}}},
        {
            "contentBlockDelta": {
                "contentBlockIndex": 0,
                "delta": {"image": {"format": "ng", "source": {"bytes": "AA"}}},
            }
        },
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    events = [event for message in messages for event in parser.feed(message)] + parser.close()
    assert events == [
        sp.ProviderItem("image", {"format": "png", "source": {"bytes": "AA"}}, 0),
        sp.Done("end_turn", None, ok=True),
    ]


def test_a_call_without_input_has_empty_arguments_and_one_cut_before_them_has_none() -> None:
    assert calls_of(_parse(*_call(0, "a", "now"), _end("tool_use"))) == [("now", {})]
    cut = _parse(*_call(0, "a", "now"), _end("max_tokens"))
    assert (calls_of(cut), _codes(cut)) == ([], ["truncated_call"])


@pytest.mark.parametrize("reason", ["guardrail_intervened", "content_filtered", "malformed_tool_use"])
def test_a_turn_that_the_server_takes_back_revokes_its_calls(reason: str) -> None:
    found = _parse(*_call(0, "a", "get_weather", '{"city": "Paris"}'), _end(reason))
    assert [event.reason for event in found if isinstance(event, sp.ToolCallRevoked)] == [reason]
    assert found[-1] == sp.Done(reason, None, False)


def test_an_exception_is_an_error_that_takes_calls_back() -> None:
    exception = ("throttlingException", {"message": "Too many requests"})
    found = _parse(*_call(0, "a", "get_weather", '{"city": "Paris"}'), exception)
    (error,) = [event for event in found if isinstance(event, sp.Error)]
    assert (error.code, error.message) == ("provider_error", "throttlingException: Too many requests")
    assert any(isinstance(event, sp.ToolCallRevoked) for event in found)
    assert found[-1] == sp.Done(None, None, False)


@pytest.mark.parametrize("first", [True, False])
def test_an_exception_without_a_payload_and_an_error_in_the_headers_are_errors(first: bool) -> None:
    before = b"" if first else events(BEGIN)
    unsaid = message(header(":exception-type", "modelStreamErrorException") + header(":message-type", "exception"))
    coded = message(header(":error-code", "InternalError") + header(":error-message", "No"))
    for body, code in ((unsaid, "modelStreamErrorException"), (coded, "InternalError")):
        found = assert_same_in_every_cut(_parser, before + body)
        (error,) = [event for event in found if isinstance(event, sp.Error)]
        assert error.code == "provider_error"
        assert error.message.startswith(code)


@pytest.mark.parametrize("name", ["throttlingException", "InternalError", "message"])
def test_an_event_in_server_sent_events_is_what_its_name_says_however_it_is_cut(name: str) -> None:
    first = b'event: message\ndata: {"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"A"}}}\n\n'
    second = f'event: {name}\ndata: {{"message":"slow down"}}\n\n'.encode()
    by_events = events_of(_parser(), [first, second])
    assert by_events == assert_same_in_every_cut(_parser, first + second)
    (error,) = [event for event in by_events if isinstance(event, sp.Error)]
    assert error.message == ("slow down" if name == "message" else f"{name}: slow down")


def test_a_body_that_is_one_error_is_an_error() -> None:
    found = assert_same_in_every_cut(_parser, b'{"message": "The security token is expired"}')
    assert [(event.code, event.message) for event in found if isinstance(event, sp.Error)] == [
        ("provider_error", "The security token is expired")
    ]


def test_damage_in_the_middle_keeps_what_came_before_and_ends_the_stream() -> None:
    sound = events(BEGIN, _text(0, "Hi."))
    damaged = bytearray(events(*_call(1, "a", "get_weather", '{"city": "Paris"}'), _end("tool_use")))
    damaged[len(damaged) // 3] ^= 1
    found = assert_same_in_every_cut(_parser, sound + bytes(damaged))
    assert text_of(found) == "Hi."
    assert not calls_of(found)
    assert "frame_checksum" in _codes(found)
    assert found[-1] == sp.Done(None, None, False)


def test_no_cut_at_any_byte_makes_a_call_that_is_not_there() -> None:
    call = _call(0, "a", "get_weather", '{"city": ', '"Paris"}')
    body = events(BEGIN, *call, _end("tool_use"))
    closed = len(events(BEGIN, *call[:-1]))
    for end in range(1, len(body)):
        found = events_of(_parser(), [body[:end]])
        assert calls_of(found) == ([("get_weather", {"city": "Paris"})] if end >= closed else [])
        assert found[-1] == sp.Done(None, None, False)


INNER: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hé"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "now"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 5}},
]


def test_invoke_gives_what_the_wrapped_events_of_anthropic_give() -> None:
    body = invoked(*INNER)
    found = assert_same_in_every_cut(_parser, body)
    assert merged(events_of(_parser("auto"), [body])) == found
    plain_body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in INNER)
    assert merged(events_of(_parser("anthropic"), [plain_body])) == found
    assert _items(found) == [("amazon-bedrock-invocationMetrics", {"inputTokenCount": 5}, None)]
    assert calls_of(found) == [("now", {})]


def test_invoke_of_nova_wraps_events_of_converse() -> None:
    pairs = [BEGIN, _text(0, "Hi."), _stop(0), *_call(1, "a", "get_weather", '{"city": "Paris"}'), _end("tool_use")]
    found = assert_same_in_every_cut(_parser, invoked(*({name: value} for name, value in pairs)))
    assert found == assert_same_in_every_cut(_parser, events(*pairs))


def test_messages_that_boto3_has_decoded_are_read_too() -> None:
    pairs = [BEGIN, _text(0, "Hi."), *_call(1, "a", "get_weather", '{"city": "Paris"}'), _end("tool_use"), USAGE]
    parser = _parser("auto")
    found = [event for name, value in pairs for event in parser.feed({name: value})] + parser.close()
    assert merged(found) == assert_same_in_every_cut(_parser, events(*pairs))
    wrapped = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in INNER]
    parser = _parser("auto")
    found = [event for one in wrapped for event in parser.feed(one)] + parser.close()
    assert merged(found) == merged(events_of(_parser(), [invoked(*INNER)]))


def test_a_whole_body_is_read_like_a_stream() -> None:
    content = [
        {"reasoningContent": {"reasoningText": {"text": "So.", "signature": "Eq"}}},
        {"reasoningContent": {"redactedContent": "AAEC"}},
        {"text": "I will look."},
        {"toolUse": {"toolUseId": "a", "name": "get_weather", "input": {"city": "Zürich"}}},
        {"toolUse": {"toolUseId": "b", "name": "now", "input": {}}},
    ]
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use", **USAGE[1]}
    data = json.dumps(body).encode()
    found = assert_same_in_every_cut(_parser, data)
    assert merged(events_of(_parser("auto"), [data])) == found
    assert (reasoning_of(found), text_of(found)) == ("So.", "I will look.")
    assert calls_of(found) == [("get_weather", {"city": "Zürich"}), ("now", {})]
    assert _items(found) == [
        ("signature", "Eq", 0),
        ("redactedContent", "AAEC", 1),
        ("metrics", {"latencyMs": 5}, None),
    ]
    assert found[-1] == sp.Done("tool_use", USAGE[1]["usage"], True)
    assert sp.parse_response(body, tools=[WEATHER, NOW]).tool_calls == sp.parse_response(data).tool_calls


@pytest.mark.parametrize(
    ("name", "junk"),
    [
        ("chunk", {"bytes": "%%"}),
        ("chunk", {"bytes": base64.b64encode(b"[1]").decode()}),
        ("chunk", {}),
        ("contentBlockDelta", {"contentBlockIndex": [], "delta": {"toolUse": {"input": 5}}}),
        ("contentBlockDelta", {"delta": {}}),
        ("contentBlockDelta", [1]),
        ("contentBlockStart", {"start": {"toolUse": {"name": 5}}}),
        ("contentBlockStart", {"contentBlockIndex": 9, "start": {}}),
        ("contentBlockStop", {}),
        ("metadata", {"usage": 5}),
    ],
)
def test_events_of_any_shape_raise_nothing_and_the_stream_goes_on(name: str, junk: Any) -> None:
    body = events(BEGIN, (name, junk), _text(0, "Hi."), *_call(1, "a", "get_weather", '{"city": "Paris"}'))
    found = events_of(_parser(), in_pieces(body, 50))
    assert text_of(found) == "Hi."
    assert calls_of(found) == [("get_weather", {"city": "Paris"})]


INDEX = SHARED / "index.jsonl"
ROWS = [json.loads(line) for line in INDEX.read_text(encoding="utf-8").splitlines()] if INDEX.is_file() else []
RECORDED = {row["id"]: row for row in ROWS if row["family"] == "bedrock-eventstream" and row["fidelity"] != "edited"}


@pytest.mark.parametrize("id", RECORDED)
def test_a_recorded_stream_holds_what_was_written_down_in_every_cut(id: str) -> None:
    row, expect = RECORDED[id], RECORDED[id]["expect"]
    body = (SHARED / row["file"]).read_bytes()
    tools = row.get("tools") or None
    found = merged(events_of(_parser(tools=tools), [body]))
    for wire, size in (("bedrock-converse", 7), ("auto", 1400), ("auto", 1), ("auto", len(body))):
        assert merged(events_of(_parser(wire, tools=tools), in_pieces(body, size))) == found, (wire, size)
    found = events_of(_parser(tools=tools, dialects=()), [body])
    assert (text_of(found), reasoning_of(found)) == (expect["text"] or "", expect["reasoning"] or "")
    assert calls_of(found) == [(call["name"], json.loads(call["arguments"] or "{}")) for call in expect["calls"]]
    assert found[-1] == sp.Done(expect["finish_reason"], expect["usage"], True)


def test_messages_of_no_wire_are_counted_once_it_is_sure_that_they_are() -> None:
    parser = _parser()
    counts = []
    for _ in range(UNDECIDED_FRAMES + 2):
        parser.feed(invoked({"x": 1}))
        counts.append(parser.stats.ignored_frames)
    most = UNDECIDED_FRAMES
    assert counts == [*[0] * (most - 1), most, most + 1, most + 2]


def test_an_error_between_the_chunks_of_a_text_model_is_an_error() -> None:
    chunks = ({"generation": "Hi"}, {"error": "no luck"}, {"generation": "", "stop_reason": "stop"})
    body = invoked(*chunks)
    found = assert_same_in_every_cut(_parser, body)
    assert [event.message for event in found if isinstance(event, sp.Error)] == ["no luck"]
    assert found[-1] == sp.Done("stop", None, ok=False)
