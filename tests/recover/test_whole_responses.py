"""Whole responses: one path with the stream, in every form a body may have, and never a guess."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cuts import calls_of, events_of, text_of
from pydantic import BaseModel

import streamparse as sp

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
INDEX: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
TOOLS = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
ENVELOPE = f'{{"tool_calls": [{CALL}]}}'


def _choice(**message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice]}


@pytest.mark.parametrize("name", [name for name, row in INDEX.items() if "choice" not in row])
def test_a_body_parsed_whole_is_what_was_fed(name: str) -> None:
    row, body = INDEX[name], (FOLDER / name).read_bytes()
    tools = [tool for tool in TOOLS if tool["name"] in row.get("tools", [])]
    parser = sp.StreamParser(row["wire"], tools=tools)
    events_of(parser, [body])
    fed, whole = parser.response, sp.parse_response(body, row["wire"], tools=tools)
    for field in ("tool_calls", "broken_calls", "reasoning", "refusal", "finish_reason", "usage", "ok"):
        if row["wire"] != "auto":
            assert getattr(whole, field) == getattr(fed, field), field
    assert whole.raw_response == body


def test_an_interaction_whose_first_output_is_text_is_read_whole() -> None:
    call = {"type": "function_call", "id": "c", "name": "now", "arguments": {}}
    body = {"object": "interaction", "status": "requires_action", "outputs": [{"type": "text", "text": "Look."}, call]}
    for thing in (body, json.dumps(body)):
        for wire in ("gemini", "auto"):
            response = sp.parse_response(thing, wire)
            assert (response.content, response.finish_reason, response.ok) == ("Look.", "requires_action", True)
            assert [call.name for call in response.tool_calls] == ["now"]


FORMS: dict[str, Any] = {
    "a dict": lambda message: message,
    "bytes": lambda message: json.dumps(message).encode(),
    "a text": json.dumps,
    "a pretty text": lambda message: json.dumps(message, indent=2),
    "a view": lambda message: memoryview(json.dumps(message).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_response_may_be(form: str) -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}]
    parsed = sp.parse_response(FORMS[form](_choice(content="See:", tool_calls=calls)))
    assert (parsed.content, parsed.finish_reason, parsed.ok) == ("See:", "stop", True)
    assert [(call.name, call.arguments, call.id, call.source) for call in parsed.tool_calls] == [
        ("get_weather", {"city": "Paris"}, "a", "native")
    ]


def test_native_calls_come_before_markup_and_markup_before_json() -> None:
    marked = f"<tool_call>{CALL}</tool_call>"
    sources = [
        {call.source for call in sp.parse_response(_choice(content=text), tools=TOOLS).tool_calls}
        for text in (marked, f"I call:\n{ENVELOPE}", f"{marked}\n{ENVELOPE}", f"I call:\n{CALL}")
    ]
    assert sources == [{"inband"}, {"recovered"}, {"inband"}, set()]


@pytest.mark.parametrize(
    "text",
    [
        f"I call:\n{ENVELOPE}",
        f"{ENVELOPE}\nI wait.",
        f'I call:\n{{"toolCalls": [{CALL}]}}\n',
        'I call:\n{"tool_calls": [{"function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}]}',
        "I call:\n{'tool_calls': [{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]}",
    ],
)
def test_an_envelope_at_an_end_of_the_text_that_names_a_declared_tool_is_recovered(text: str) -> None:
    events = events_of(sp.TextParser(tools=TOOLS), [text])
    assert calls_of(events) == [("get_weather", {"city": "Paris"})]
    told = [(event.source, event.place) for event in events if isinstance(event, sp.ToolCallComplete)]
    assert told == [("repaired" if "'" in text else "recovered", "bare")]
    assert text_of(events) == text, "text that was delivered is not taken back"
    parser = sp.TextParser(tools=TOOLS)
    assert calls_of(parser.feed(text) + parser.close()) == [], "a cut makes no call"


@pytest.mark.parametrize(
    "text",
    [
        f"Write\n{CALL}\nand wait.",
        f"Write\n{ENVELOPE}\nand wait.",
        f"I call:\n{CALL}",
        f"I call:\n[{CALL}]",
        f"I call:\n```json\n{CALL}\n```",
        f"I call:\n```\n{CALL}\n```\n",
        f"I call:\n```json\n{ENVELOPE}\n```",
        "I call:\n{'name': 'get_weather', 'arguments': {'city': 'Paris'}}",
        f"I call:\n{ENVELOPE[:-1]}",
        f"I call:\n{CALL[:-1]}",
        f"I call:\n{CALL[:-8]}",
        f"I call:\n```json\n{CALL[:-2]}\n```",
        f"I call {CALL}",
        'I call:\n{"name": "unknown", "arguments": {}}',
        'The record:\n{"city": "Paris"}',
        "I'll use the get_weather tool.",
    ],
)
def test_what_stands_beside_prose_or_is_not_whole_or_not_a_call_is_never_guessed(text: str) -> None:
    parser = sp.TextParser(tools=TOOLS)
    events = events_of(parser, [text])
    assert calls_of(events) == []
    assert text_of(events) == text
    assert parser.response.broken_calls == []


def test_nothing_is_recovered_without_tools_or_with_dialects_off() -> None:
    text = f"I call:\n{ENVELOPE}"
    assert calls_of(events_of(sp.TextParser(), [text])) == []
    assert calls_of(events_of(sp.TextParser((), tools=TOOLS), [text])) == []
    assert sp.parse_response(_choice(content=text), dialects=(), tools=TOOLS).tool_calls == []


def test_nothing_is_recovered_from_a_stream_that_was_cut() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": f"I call:\n{ENVELOPE}"}}]}
    body = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    assert calls_of(events_of(sp.StreamParser("openai-chat", tools=TOOLS), [body])) == []
    for reason, calls in (("stop", 1), ("length", 0), ("content_filter", 0)):
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        end = b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n"
        assert len(calls_of(events_of(sp.StreamParser("openai-chat", tools=TOOLS), [body, end]))) == calls
    cut = sp.parse_response(body, "openai-chat", tools=TOOLS)
    assert (cut.tool_calls, cut.ok) == ([], False)
    assert [error.code for error in cut.errors] == ["stream_truncated"]


def test_thoughts_are_not_looked_for_with_dialects_off() -> None:
    text = "<think>hm</think>So."
    assert sp.parse_response(_choice(content=text), dialects=()).content == text
    assert sp.parse_response(_choice(content=text)).reasoning == "hm"


@pytest.mark.parametrize("body", [b"", b" \r\n", []])
def test_a_body_of_nothing_is_no_answer(body: Any) -> None:
    parsed = sp.parse_response(body)
    assert ([error.code for error in parsed.errors], parsed.content, parsed.ok) == (["empty_body"], "", False)


@pytest.mark.parametrize("body", [None, "", " \n"])
@pytest.mark.parametrize("wire", ["auto", *sp.WIRES])
def test_a_text_of_nothing_is_an_answer_that_says_nothing(body: str | None, wire: str) -> None:
    parsed = sp.parse_response(body, wire)
    assert (parsed.errors, parsed.content, parsed.ok) == ([], body or "", True)


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b'{"foo": 1}', b'[{"foo": 1}]', b'{"foo": ', b": wait\n\n", b"\0\0\2\0"]
)
def test_a_body_of_json_that_is_no_answer_is_none(body: bytes) -> None:
    parsed = sp.parse_response(body)
    assert (parsed.content, parsed.ok) == ("", False)
    assert parsed.errors


@pytest.mark.parametrize("text", ["null", "[]", '{"foo": 1}', '{"foo": '])
def test_text_in_json_may_be_the_answer_itself(text: str) -> None:
    parsed = sp.parse_response(text)
    assert (parsed.content, parsed.ok, parsed.errors) == (text, True, [])


def test_a_body_that_was_cut_is_an_error_wherever_the_cut_is() -> None:
    body = json.dumps(_choice(content="So.")).encode()
    for end in range(len(body)):
        parsed = sp.parse_response(body[:end])
        assert (parsed.content, parsed.ok) == ("", False), end
        assert parsed.errors, end


def test_a_body_that_was_cut_and_given_as_text_is_an_error_once_its_wire_shows() -> None:
    body = json.dumps(_choice(content="So."))
    for end in range(body.index("choices") + len('choices": '), len(body)):
        assert not sp.parse_response(body[:end]).ok, end


@pytest.mark.parametrize("text", [CALL, f"[{CALL}]", f"[TOOL_CALLS][{CALL}]", '[get_weather(city="Paris")]'])
def test_bytes_in_which_calls_are_written_are_text(text: str) -> None:
    parsed = sp.CompositeParser(tools=TOOLS).parse(text.encode())
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == [("get_weather", {"city": "Paris"})]
    assert parsed.ok


@pytest.mark.parametrize("body", [None, [7], [], {}, {"x": 1}, "", b"", b"\xff", "{", "[" * 3000, {"choices": [None]}])
@pytest.mark.parametrize("wire", ["auto", *sp.WIRES])
def test_no_body_raises(body: Any, wire: str) -> None:
    parsed = sp.parse_response(body, wire)
    assert parsed.tool_calls == []
    assert parsed.raw_response is body


@pytest.mark.parametrize("body", [{"usage": {"total_tokens": 1}}, b'data: {"usage":{"total_tokens":1}}\n\n'])
def test_token_counts_alone_are_no_answer(body: Any) -> None:
    parsed = sp.parse_response(body)
    assert (parsed.ok, [error.code for error in parsed.errors]) == (False, ["not_a_stream"])
    assert "total_tokens" in parsed.errors[0].message


def test_a_whole_body_has_the_limits_of_one_that_is_fed() -> None:
    body = b'data: {"choices":[{"index":0,"delta":{"content":"Yes."}}]}\n\n'
    parsed = sp.parse_response(body, limits=sp.Limits(max_total=len(body) - 1))
    assert (parsed.ok, [(error.code, error.offset) for error in parsed.errors]) == (
        False,
        [("limit_total", len(body) - 1)],
    )
    assert sp.parse_response(body, limits=sp.Limits(max_total=len(body))).content == "Yes."


def test_json_in_the_field_of_an_error_is_one() -> None:
    text = 'error: {"code": 500, "message": "out of memory"}\n\n'
    response = sp.parse_response(text.encode())
    assert [error.code for error in response.errors] == ["provider_error"]
    assert (response.ok, response.content) == (False, "")
    assert sp.parse_response(text).content == text  # an answer may well say so


def test_an_event_of_words_is_text_though_it_speaks_of_an_error() -> None:
    text = 'event: note\ndata: the "error" is here\n\n'
    assert sp.parse_response(text).content == text


def test_bytes_within_an_answer_are_read_as_the_wire_had_them() -> None:
    content = [{"reasoningContent": {"redactedContent": b"\x01\x02"}}, {"text": "Yes."}]
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"}
    parsed = sp.parse_response(body)
    assert (parsed.content, parsed.items[0]["data"]) == ("Yes.", "AQI=")


def test_an_answer_that_was_not_awaited_for_is_refused() -> None:
    async def answer() -> str:
        return "Yes."

    waiting = answer()
    with pytest.raises(TypeError, match="await this coroutine first"):
        sp.parse_response(waiting)
    waiting.close()


@pytest.mark.parametrize(("lines", "calls"), [(63, 1), (64, 0)])
def test_json_is_looked_for_in_64_places_at_most(lines: int, calls: int) -> None:
    assert len(sp.parse_response("[x]\n" * lines + ENVELOPE, tools=TOOLS).tool_calls) == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('get_weather(city="Paris")', 1),
        ('get_weather("Paris")', 0),
        ('```tool_code\nget_weather(city="Paris")\n```', 1),
        ('```tool_code\nprint(get_weather(city="Paris"))\n```', 1),
        ('```tool_code\nprint(get_weather(city="Paris"))\nx = 1\n```', 0),
    ],
)
def test_code_that_is_nothing_but_a_call_of_a_declared_tool_is_repaired(text: str, calls: int) -> None:
    found = sp.parse_response(text, tools=TOOLS).tool_calls
    assert [(call.arguments, call.source) for call in found] == [({"city": "Paris"}, "repaired")] * calls
    assert sp.parse_response(text).tool_calls == []


@pytest.mark.parametrize("arguments", ['{"city": "Paris"}', '{"city": "Paris",}'])
def test_a_call_that_came_natively_and_in_the_text_has_its_native_id_in_any_order(arguments: str) -> None:
    native = {"index": 0, "id": "c", "function": {"name": "get_weather", "arguments": arguments}}
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    deltas: list[dict[str, Any]] = [{"tool_calls": [native]}, {"content": text}]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    for order in (deltas, deltas[::-1]):
        body = [*({"choices": [{"index": 0, "delta": delta}]} for delta in order), end]
        parsed = sp.parse_response(body, dialects=["hermes"])
        assert [(call.id, call.raw) for call in parsed.tool_calls] == [("c", arguments)]
        assert [call.code for call in parsed.broken_calls] == ["duplicate_call"]


def test_arguments_of_a_whole_body_stay_as_they_were_written() -> None:
    part = b'{"functionCall":{"name":"f","args":{"a":1e2}}}'
    body = b'{"candidates":[{"content":{"role":"model","parts":[%b]},"finishReason":"STOP"}]}' % part
    (call,) = sp.parse_response(body).tool_calls
    assert (call.arguments, call.raw) == ({"a": 100.0}, '{"a":1e2}')


def test_an_error_in_a_list_of_messages_is_where_its_message_begins() -> None:
    text = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    error = {"error": {"message": "no"}}
    for messages in ([error], [text, error], [text, text, error]):
        (told,) = sp.parse_response(messages).errors
        assert (told.code, told.offset) == ("provider_error", sum(len(json.dumps(each)) for each in messages[:-1]))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b" \n\n"])
def test_a_message_is_an_answer_whether_or_not_its_line_ends(end: bytes) -> None:
    parsed = sp.parse_response(b'{"role":"assistant","content":"hi"}' + end)
    assert (parsed.content, parsed.ok, parsed.errors) == ("hi", True, [])


@pytest.mark.parametrize(
    "kind", ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"]
)
def test_one_event_of_a_stream_is_a_cut_stream_and_no_whole_answer(kind: str) -> None:
    parsed = sp.parse_response({kind: {"contentBlockIndex": 0}})
    assert (parsed.ok, [error.code for error in parsed.errors]) == (False, ["stream_truncated"])


def test_what_an_object_of_an_sdk_raises_when_it_is_read_is_an_error() -> None:
    class Broken(BaseModel):
        content: bytes

    parsed = sp.parse_response(Broken(content=b"\xff"))
    assert (parsed.ok, [error.code for error in parsed.errors]) == (False, ["unexpected_shape"])


def test_an_error_of_a_gateway_is_read_though_the_message_after_it_is_cut() -> None:
    parsed = sp.parse_response(b'[{"errors":[{"message":"no"}]},{"choices":[{"index":0')
    assert [(error.code, error.offset) for error in parsed.errors] == [("provider_error", 1), ("json_truncated", 53)]
