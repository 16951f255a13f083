"""An error of a server, a gateway or a web framework, sent with status 200, in any shape and on every wire."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from cuts import assert_same_in_every_cut, events_of

import streamparse as sp
from streamparse.reading.errors import ErrorFields, describe_error, find_error, report_provider_error

SHAPES: dict[str, tuple[Any, str]] = {
    "wrapped": ({"error": {"message": "no luck", "type": "server_error", "code": "E42"}}, "E42: no luck"),
    "text": ({"error": "no luck"}, "no luck"),
    "text beside a code": ({"error": "no luck", "code": "E42"}, "E42: no luck"),
    "a code beside a message": ({"error": "E42", "message": "no luck"}, "E42: no luck"),
    "a message": ({"message": "no luck"}, "no luck"),
    "a code and a message": ({"code": "E42", "message": "no luck"}, "E42: no luck"),
    "a code and a msg": ({"code": 42, "msg": "no luck", "success": False}, "42: no luck"),
    "an object that says error": ({"object": "error", "message": "no luck", "code": 42}, "42: no luck"),
    "a type that says error": (
        {"type": "error", "error": {"type": "overloaded", "message": "no luck"}},
        "overloaded: no luck",
    ),
    "a type that says error and nothing else": ({"type": "error", "message": "no luck"}, "no luck"),
    "numbered": ({"type": "error", "sequence_number": 3, "code": "E42", "message": "no luck"}, "E42: no luck"),
    "a detail": ({"detail": "no luck"}, "no luck"),
    "details with places": (
        {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "no luck", "input": None}]},
        "missing: no luck (body.model)",
    ),
    "two details": ({"detail": [{"msg": "no luck"}, {"msg": "none"}]}, "no luck; none"),
    "a detail that is an object": ({"detail": {"code": "E42", "message": "no luck"}}, "E42: no luck"),
    "errors": ({"success": False, "errors": [{"code": 42, "message": "no luck"}], "result": None}, "42: no luck"),
    "errors of text": ({"errors": ["no luck"]}, "no luck"),
    "errors beside a message": ({"message": "no luck", "errors": {"model": ["is odd"]}}, "no luck"),
    "a status": ({"error": {"code": 503, "message": "no luck", "status": "UNAVAILABLE"}}, "503: no luck"),
    "a message of AWS": ({"Message": "no luck"}, "no luck"),
    "a message of a function": ({"errorMessage": "no luck", "errorType": "Timedout"}, "Timedout: no luck"),
    "a fault": ({"fault": {"faultstring": "no luck", "detail": {"errorcode": "E42"}}}, "no luck"),
    "a problem": ({"type": "about:blank", "title": "no luck", "status": 502}, "502: no luck"),
    "a problem with a detail": ({"title": "Not Found", "status": 404, "detail": "no luck"}, "404: no luck"),
    "a type that says error beside a code": (
        {"type": "error", "code": "E42"},
        'E42: {"type": "error", "code": "E42"}',
    ),
    "a type that says error alone": ({"type": "error"}, '{"type": "error"}'),
    "a type of AWS": ({"__type": "ThrottlingException", "message": "no luck"}, "ThrottlingException: no luck"),
    "a type of AWS alone": ({"__type": "Busy"}, 'Busy: {"__type": "Busy"}'),
    "an exception of AWS": ({"accessDeniedException": {"message": "no luck"}}, "no luck"),
    "a status code of Azure": ({"statusCode": 429, "message": "no luck"}, "429: no luck"),
    "a status and a msg": ({"status": "error", "msg": "no luck"}, "no luck"),
    "a status alone": ({"status": 500}, '500: {"status": 500}'),
    "no success": ({"success": False}, '{"success": false}'),
    "an error message": ({"error_message": "no luck"}, "no luck"),
    "an exception": ({"exception": "no luck"}, "no luck"),
    "a code that is an object": (
        {"error": {"message": "no luck", "code": {"a": 1}, "type": "busy"}},
        "busy: no luck",
    ),
    "in a list": ([{"error": {"code": 503, "message": "no luck", "status": "UNAVAILABLE"}}], "503: no luck"),
}
FORMS = {
    "a body": "{}",
    "a line": "{}\n",
    "data": "data: {}\n\n",
    "data before an end marker": "data: {}\n\ndata: [DONE]\n\n",
    "an event": "event: error\ndata: {}\n\n",
    "a field": "error: {}\n\n",
}
WIRES = ["auto", *sp.WIRES]
ANSWERS: dict[str, tuple[list[Any], Any]] = {
    "openai-chat": (
        [{"choices": [{"index": 0, "delta": {"content": "Yes."}}]}],
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ),
    "openai-completions": (
        [{"choices": [{"index": 0, "text": "Yes."}]}],
        {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]},
    ),
    "openai-responses": (
        [{"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "Yes."}],
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ),
    "anthropic": (
        [
            {"type": "message_start", "message": {"content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yes."}},
        ],
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ),
    "gemini": (
        [{"candidates": [{"content": {"parts": [{"text": "Yes."}]}}]}],
        {"candidates": [{"finishReason": "STOP"}]},
    ),
    "gemini, an interaction": (
        [{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Yes."}}],
        {"event_type": "interaction.completed", "interaction": {"status": "completed"}},
    ),
    "ollama-chat": ([{"message": {"content": "Yes."}, "done": False}], {"done": True, "done_reason": "stop"}),
    "ollama-generate": ([{"response": "Yes.", "done": False}], {"response": "", "done": True, "done_reason": "stop"}),
    "bedrock-converse": (
        [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Yes."}}}],
        {"messageStop": {"stopReason": "end_turn"}},
    ),
    "cohere": (
        [{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Yes."}}}}],
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    ),
}
"""The beginning and the end of an answer on each wire."""
PAGE = "<html><head><title>502 Bad Gateway</title></head></html>"


def _forms(wire: str) -> list[str]:
    """Bedrock's messages are binary: it has no events of the name `error`."""
    return [form for name, form in FORMS.items() if wire != "bedrock-converse" or name not in ("an event", "a field")]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("shape", SHAPES)
def test_an_error_in_any_shape_is_one_error_on_every_wire(wire: str, shape: str) -> None:
    error, says = SHAPES[shape]
    text = json.dumps(error)
    for form in [*_forms(wire), "pretty"]:
        body = json.dumps(error, indent=1) if form == "pretty" else form.replace("{}", text)
        events = assert_same_in_every_cut(lambda: sp.StreamParser(wire), body.encode(), most=8)
        assert [(event.scope, event.code, event.message) for event in events if isinstance(event, sp.Error)] == [
            ("stream", "provider_error", says)
        ], form
        assert events[1:] == [sp.Done(None, None, ok=False)], form


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("shape", [shape for shape, (error, _) in SHAPES.items() if isinstance(error, dict)])
def test_an_error_in_any_shape_behind_text_is_told_though_a_good_end_follows(answer: str, shape: str) -> None:
    error, says = SHAPES[shape]
    begin, end = ANSWERS[answer]
    wire = answer.partition(",")[0]
    form = "{}\n" if wire.startswith("ollama") else "data: {}\n\n"
    for messages in ([*begin, error], [*begin, begin[-1], error, end]):
        body = "".join(form.replace("{}", json.dumps(message)) for message in messages)
        body += "" if wire.startswith("ollama") else "data: [DONE]\n\n"
        events = assert_same_in_every_cut(lambda: sp.StreamParser(wire), body.encode(), most=8)
        assert [(event.code, event.message) for event in events if isinstance(event, sp.Error)] == [
            ("provider_error", says)
        ]
        assert isinstance(events[-1], sp.Done)
        assert not events[-1].ok


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize(
    "message",
    [
        *({"code": 0, "message": "success"}, {"code": 200, "msg": "OK"}, {"status": "ok", "message": "connected"}),
        *({"success": True, "message": "done"}, {"event": "heartbeat"}, {"type": "ping"}, {"status": "processing"}),
        {"base_resp": {"status_code": 0, "status_msg": "success"}},
        {"success": True, "errors": [], "messages": [], "result": None},
    ],
)
def test_a_message_in_the_middle_that_says_that_all_is_well_fails_no_answer(answer: str, message: Any) -> None:
    begin, end = ANSWERS[answer]
    wire = answer.partition(",")[0]
    form = "{}\n" if wire.startswith("ollama") else "data: {}\n\n"
    body = "".join(form.replace("{}", json.dumps(each)) for each in (*begin, message, end))
    events = assert_same_in_every_cut(lambda: sp.StreamParser(wire), body.encode(), most=8)
    assert isinstance(events[-1], sp.Done)
    assert events[-1].ok
    assert "provider_error" not in [event.code for event in events if isinstance(event, sp.Error)]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("shape", [shape for shape, (error, _) in SHAPES.items() if isinstance(error, dict)])
def test_a_whole_response_that_is_an_error_is_one_error_on_every_wire(wire: str, shape: str) -> None:
    error, says = SHAPES[shape]
    text = json.dumps(error)
    bodies = (error, text.encode(), text) if wire != "auto" else (error, text.encode())  # text may be an answer in JSON
    for body in bodies:
        parsed = sp.parse_response(body, wire)
        assert [(each.code, each.message) for each in parsed.errors] == [("provider_error", says)]
        assert (parsed.ok, parsed.content, parsed.tool_calls) == (False, "", [])


@pytest.mark.parametrize("wire", WIRES)
def test_a_page_of_html_is_no_stream_on_any_wire(wire: str) -> None:
    events = assert_same_in_every_cut(lambda: sp.StreamParser(wire), PAGE.encode())
    assert [(event.scope, event.code) for event in events if isinstance(event, sp.Error)] == [
        ("stream", "not_a_stream")
    ]
    assert "502 Bad Gateway" in next(event.message for event in events if isinstance(event, sp.Error))


@pytest.mark.parametrize("wire", [wire for wire in sp.WIRES if wire != "bedrock-converse"])
@pytest.mark.parametrize("form", ["event: error\ndata: {}\n\n", "error: {}\n\n"])
def test_an_error_of_any_words_is_the_providers_error(wire: str, form: str) -> None:
    for words in ("upstream died", PAGE):
        events = events_of(sp.StreamParser(wire), [form.replace("{}", words).encode()])
        assert [(event.code, event.message) for event in events if isinstance(event, sp.Error)] == [
            ("provider_error", words)
        ]


@pytest.mark.parametrize("wire", WIRES)
def test_an_error_that_is_nothing_is_none(wire: str) -> None:
    for nothing in ({"error": None}, {"error": ""}, {"error": {}}, {"detail": None, "errors": []}):
        parser = sp.StreamParser(wire)
        events_of(parser, [f"data: {json.dumps(nothing)}\n\n".encode()])
        assert "provider_error" not in [error.code for error in parser.response.errors]


class _Told:
    """A sink that takes errors and items."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def error(self, scope: str, code: str, message: str) -> None:
        self.told.append((f"{scope} {code}", message))

    def item(self, kind: str, data: Any) -> None:
        self.told.append((kind, data))


def test_an_error_wrapped_without_end_is_told_and_bounded() -> None:
    error: Any = "no luck"
    for _ in range(900):
        error = {"error": error}
    sink = _Told()
    report_provider_error(sink, error)  # type: ignore[arg-type]
    ((code, message),) = sink.told
    assert code == "stream provider_error"
    assert len(message) <= 2000


@pytest.mark.parametrize("wire", WIRES)
def test_half_a_surrogate_pair_in_an_error_is_replaced(wire: str) -> None:
    events = events_of(sp.StreamParser(wire), [b'data: {"error": "no \\ud83d luck"}\n\n'])
    assert [event.message for event in events if isinstance(event, sp.Error)] == ["no \N{REPLACEMENT CHARACTER} luck"]


def test_what_the_model_wrote_before_the_server_refused_it_is_an_item() -> None:
    refused = {"error": {"message": "no such tool", "code": "tool_use_failed", "failed_generation": "<function=x>"}}
    parser = sp.StreamParser("openai-chat")
    events = events_of(parser, [b"event: error\ndata: " + json.dumps(refused).encode() + b"\n\n"])
    assert events[0] == sp.ProviderItem("failed_generation", "<function=x>")
    assert [error.message for error in parser.response.errors] == ["tool_use_failed: no such tool"]


@pytest.mark.parametrize("error", [{"error": 5}, {"detail": True}, {"error": True, "code": 42}])
def test_an_error_without_words_shows_what_the_server_sent_and_nothing_else(error: dict[str, Any]) -> None:
    shown = describe_error(find_error(msgspec.convert(error, ErrorFields))).partition("{")
    assert json.loads(shown[1] + shown[2]) == error


@pytest.mark.parametrize("message", [[], [{"error": "a"}, {"error": "b"}], ["error"], {}, None])
def test_a_list_of_none_or_several_is_no_error(message: Any) -> None:
    assert find_error(message) is None


@pytest.mark.parametrize(
    "message",
    [
        {"code": 0, "message": "success"},
        {"error_code": 0, "error_msg": "ok"},
        {"code": "0", "msg": "ok", "data": None},
        {"code": None, "msg": "ok"},
        {"code": 200, "msg": "OK", "data": None},
        {"code": "success", "message": "done"},
        {"code": 10000, "msg": "well", "success": True},
        {"choices": [], "usage": {"prompt_tokens": 1}, "code": 200, "msg": "success"},
        {"choices": [], "errors": [{"code": "W1", "message": "an old field"}]},
        {"title": "A page", "status": 200},
        {"title": "A page"},
        {"event": "heartbeat", "msg": "alive"},
        {"type": "ping", "msg": "alive"},
    ],
)
def test_a_message_between_chunks_that_says_that_all_is_well_is_no_error(message: dict[str, Any]) -> None:
    assert "choices" in message or find_error(message) is None
    chunk = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in (chunk, message))
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-chat"), body.encode(), most=8)
    assert events == [sp.TextDelta("a"), sp.Done("stop", message.get("usage"), True)]


@pytest.mark.parametrize(
    "first",
    [
        {"choices": [{"index": 0, "delta": {"content": "a"}}]},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "a"},
        {"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
    ],
)
def test_an_error_in_a_list_in_the_middle_of_a_stream_is_the_providers_error(first: dict[str, Any]) -> None:
    error = [{"error": {"code": 503, "message": "no luck", "status": "UNAVAILABLE"}}]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in (first, error)) + "data: [DONE]\n\n"
    events = assert_same_in_every_cut(lambda: sp.StreamParser("auto"), body.encode(), most=8)
    assert [event.message for event in events if isinstance(event, sp.Error)] == ["503: no luck"]
    assert events[0] == sp.TextDelta("a")
    assert isinstance(events[-1], sp.Done)
    assert not events[-1].ok


def test_characters_of_any_script_in_an_error_without_words_are_shown_as_they_are() -> None:
    assert describe_error({"detail": {"é": 1}}) == '{"é": 1}'


@pytest.mark.parametrize(("error", "says"), [
    ({"code": 7, "error": {"message": "no"}}, "7: no"),
    ({"code": 7, "error": {"code": 8, "message": "no"}}, "8: no"),
    ({"code": 7, "detail": [{"msg": "a", "loc": ["body", 0]}, {"msg": "b"}]}, "7: a (body.0); b"),
    ({"message": "out", "error": {"code": 9, "detail": "in"}}, "9: in"),
    ({"message": "out", "errors": [{"message": "in"}]}, "out"),
    ({"message": "out", "error": ["a", "b"]}, "a; b"),
    ({"errors": [{"message": "one", "code": 1}]}, "1: one"),
    ({"error": "bad", "message": "m"}, "bad: m"),
    ({"error": "bad"}, "bad"),
    ({"type": "error", "message": "m"}, "m"),
    ({"code": "error", "status": 5, "message": "m"}, "5: m"),
    ({"code": 0, "message": "m"}, "m"),
    ({"code": ["x"], "status": "S", "message": "m"}, "S: m"),
    ({"message": "", "detail": "d"}, "d"),
    ({"faultstring": "f", "detail": {"errorcode": "c"}}, "f"),
    ({"type": "urn:x", "title": "t", "detail": "d", "status": 404}, "404: d"),
    (["x", "y"], "x; y"), (["x"], "x"), ("s", "s"), (5, "5"), (None, "null"),
])  # fmt: skip
def test_an_error_says_its_innermost_words_behind_the_nearest_code(error: Any, says: str) -> None:
    assert describe_error(error) == says


ALONE = {"message", "detail", "error", "error_msg", "status_msg", "Message", "errorMessage", "faultstring"}
ALONE |= {"error_message", "errmsg", "exception"}
ANY = {*ALONE, "msg", "title", "other"}


@pytest.mark.parametrize(("beside", "words"), [
    *((beside, ALONE) for beside in ({}, {"code": None}, {"status": 399})),
    *((beside, ANY) for beside in ({"success": False}, {"status": "400"}, {"status": 404}, {"status_code": 500})),
    ({"code": 7}, ALONE | {"msg"}), ({"error_code": "7"}, ALONE | {"msg"}),
    *(({key: 204}, {"detail", "error"}) for key in ("code", "error_code", "status_code")),
    *(({"code": good}, {"detail", "error"}) for good in (0, "00", "OK", "success", "Succeeded")),
    ({"code": 200, "error_code": 5}, {"detail", "error"}), ({"success": True}, {"detail", "error"}),
])  # fmt: skip
def test_which_words_are_an_error_depends_on_what_stands_beside_them(beside: dict[str, Any], words: set[str]) -> None:
    for word in ANY:
        assert (find_error({word: "x", **beside}) is not None) == (word in words)
        assert (find_error({word: "", **beside}) is not None) == (words == ANY)


EVENTS_OF_TOMORROW = [
    {"type": "tool.progress", "status": "error", "tool": "web_search"},
    {"type": "heartbeat", "status": "failed"},
    {"type": "web_search_status", "code": 404, "url": "https://example.org"},
    {"type": "progress", "success": False},
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("event", EVENTS_OF_TOMORROW, ids=lambda event: event["type"])
def test_an_event_that_reports_a_failure_of_something_else_is_no_error_of_the_answer(
    event: dict[str, Any], wire: str
) -> None:
    assert find_error(event) is None
    parser = sp.StreamParser(wire)
    line = json.dumps(event) + "\n"
    events = parser.feed(line if wire.startswith("ollama") else f"event: {event['type']}\ndata: {line}\n")
    events += parser.close()
    assert [each.message for each in events if isinstance(each, sp.Error) and each.code == "provider_error"] == []
