"""One body is one answer: in whatever form it is given, and whichever wire is named for what is kept of it."""

from __future__ import annotations

import json
from collections import UserString, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple

import httpx
import openai
import pytest
from fixture_streams import NAMES, make_parser, read_body, read_index, read_tools
from ollama import Message

import streamparse as sp
from streamparse.parser.composite import CompositeParser, MarkupParser, NativeParser

FORMS: dict[str, Callable[[Any], Any]] = {
    "a dict": lambda body: body,
    "a text": json.dumps,
    "bytes": lambda body: json.dumps(body).encode(),
    "a memoryview": lambda body: memoryview(json.dumps(body, indent=2).encode()),
}

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
SAID = {"role": "assistant", "content": "So.", "tool_calls": [CALL]}
BLOCKS = [{"type": "text", "text": "So."}, {"type": "tool_use", "id": "c", "name": "look", "input": {"a": 1}}]
PARTS = [{"text": "So."}, {"functionCall": {"id": "c", "name": "look", "args": {"a": 1}}}]
CONVERSE = [{"text": "So."}, {"toolUse": {"toolUseId": "c", "name": "look", "input": {"a": 1}}}]
ITEMS = [
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a": 1}'},
]

UNENDED: dict[str, Any] = {
    "openai-chat": {"choices": [{"index": 0, "message": SAID}]},
    "openai-chat, of no finish reason": {"choices": [{"index": 0, "message": SAID, "finish_reason": None}]},
    "openai-responses": {"object": "response", "output": ITEMS},
    "anthropic": {"type": "message", "role": "assistant", "content": BLOCKS, "stop_reason": None},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": PARTS}}]},
    "cohere": {"finish_reason": None, "message": {**SAID, "content": [{"type": "text", "text": "So."}]}},
    "bedrock-converse": {"output": {"message": {"role": "assistant", "content": CONVERSE}}, "stopReason": None},
}


def _what(parsed: sp.ParsedResponse) -> tuple[Any, ...]:
    calls = [(call.name, call.arguments, call.id, call.source) for call in parsed.tool_calls]
    errors = [error.code for error in parsed.errors]
    return parsed.content, calls, parsed.finish_reason, parsed.usage, parsed.ok, errors


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", UNENDED)
def test_a_whole_body_needs_no_reason_to_end(name: str, form: str) -> None:
    content, calls, reason, _, ok, errors = _what(sp.parse_response(FORMS[form](UNENDED[name])))
    assert (content, calls) == ("So.", [("look", {"a": 1}, "c", "native")])
    assert (reason in (None, "completed"), ok, errors) == (True, True, [])


@pytest.mark.parametrize("form", FORMS)
def test_a_call_without_arguments_in_a_whole_body_has_none(form: str) -> None:
    calls = [{**CALL, "function": {"name": "look", "arguments": "{}"}}]
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": calls}}]}
    assert [call.arguments for call in sp.parse_response(FORMS[form](body)).tool_calls] == [{}]


PIECES: dict[str, Any] = {
    "openai-chat": {"choices": [{"index": 0, "delta": {"content": "So."}, "finish_reason": None}]},
    "ollama-chat": {"model": "m", "message": {"role": "assistant", "content": "So."}, "done": False},
    "ollama-generate": {"model": "m", "response": "So.", "done": False},
    "anthropic": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So."}},
    "openai-responses": {"type": "response.output_text.delta", "output_index": 0, "item_id": "i", "delta": "So."},
    "cohere": {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "So."}}}},
    "bedrock-converse": {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "So."}}},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", PIECES)
def test_one_message_of_a_stream_is_a_stream_that_was_cut(wire: str, form: str) -> None:
    content, _, _, _, ok, errors = _what(sp.parse_response(FORMS[form](PIECES[wire])))
    assert (content, ok, errors) == ("So.", False, ["stream_truncated"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", ["auto", "anthropic"])
def test_the_content_of_a_message_of_anthropic_may_be_a_text(wire: str, form: str) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    body = {"type": "message", "role": "assistant", "content": "Hi.", "stop_reason": "end_turn", "usage": usage}
    assert _what(sp.parse_response(FORMS[form](body), wire)) == ("Hi.", [], "end_turn", usage, True, [])
    message = {"role": "assistant", "content": "Hi."}
    assert _what(sp.parse_response(FORMS[form](message), wire)) == ("Hi.", [], None, None, True, [])


@pytest.mark.parametrize("form", FORMS)
def test_a_message_with_calls_is_read_by_them_whatever_else_stands_beside(form: str) -> None:
    content, calls, *_ = _what(sp.parse_response(FORMS[form]({**SAID, "stop_reason": None})))
    assert (content, calls) == ("So.", [("look", {"a": 1}, "c", "native")])


@pytest.mark.parametrize("form", FORMS)
def test_the_last_message_of_a_stream_is_no_answer_by_itself(form: str) -> None:
    counts = {"prompt_tokens": 1}
    parsed = sp.parse_response(FORMS[form]({"object": "chat.completion.chunk", "choices": [], "usage": counts}))
    assert (parsed.usage, parsed.ok, [error.code for error in parsed.errors]) == (counts, False, ["stream_truncated"])


KEPT: dict[str, Any] = {
    "a message of OpenAI": SAID,
    "blocks": BLOCKS,
    "Gemini's content": {"role": "model", "parts": PARTS},
    "Converse's message": {"role": "assistant", "content": CONVERSE},
    "items": ITEMS,
    "a whole body": UNENDED["openai-chat"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", sp.WIRES)
@pytest.mark.parametrize("name", KEPT)
def test_what_says_nothing_to_the_wire_that_is_named_is_read_as_what_it_shows(name: str, wire: str, form: str) -> None:
    for parser in (CompositeParser(wire=wire), NativeParser(wire)):
        content, calls, _, _, ok, errors = _what(parser.parse(FORMS[form](KEPT[name])))
        assert (content, [call[:2] for call in calls], ok, errors) == ("So.", [("look", {"a": 1})], True, [])


def test_an_error_is_an_error_whichever_wire_is_named() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    for wire in ("auto", *sp.WIRES):
        parsed = sp.parse_response(body, wire)
        assert ([error.code for error in parsed.errors], parsed.ok) == (["provider_error"], False)


ALONE: dict[str, Any] = {
    "the calls of a message": [CALL],
    "a call": CALL,
    "an item of the Responses API": ITEMS[1],
    "a block": BLOCKS[1],
    "a part of Gemini": PARTS[1],
    "a part of Converse": CONVERSE[1],
}


@pytest.mark.parametrize("name", ALONE)
def test_a_call_that_was_kept_alone_is_one_and_as_text_may_be_the_answer(name: str) -> None:
    parsed = sp.parse_response(ALONE[name])
    assert (parsed.content, [(call.name, call.arguments, call.source) for call in parsed.tool_calls]) == (
        "",
        [("look", {"a": 1}, "native")],
    )
    assert not NativeParser().parse(json.dumps(CALL)).tool_calls


def test_the_definition_of_a_tool_is_no_call() -> None:
    for definition in ({"name": "look", "parameters": {}}, {"name": "look"}):
        assert sp.parse_response({"type": "function", "function": definition}).tool_calls == []


@pytest.mark.parametrize("content", ["So.", [{"type": "text", "text": "So."}], ["So", {"type": "text", "text": "."}]])
def test_a_message_of_langchain_keeps_what_it_holds(content: Any) -> None:
    counts = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    made = {"name": "look", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    about = {"response_metadata": {"finish_reason": "tool_calls"}, "usage_metadata": counts, "additional_kwargs": {}}
    thing = {"type": "ai", "content": content, "tool_calls": [made], **about}
    for given in (thing, SimpleNamespace(**thing), json.dumps(thing), {**thing, "type": "AIMessageChunk"}):
        found = [("look", {"a": 1}, "c", "native")]
        assert _what(sp.parse_response(given)) == ("So.", found, "tool_calls", counts, True, [])


@pytest.mark.parametrize("word", ["finish_reason", "stop_reason", "stopReason", "done_reason"])
def test_a_message_of_langchain_has_its_calls_once_and_the_reason_in_the_word_of_its_server(word: str) -> None:
    made = {"name": "look", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    parsed = sp.parse_response(
        {"type": "ai", "content": BLOCKS, "tool_calls": [made], "response_metadata": {word: "x"}}
    )
    assert _what(parsed) == ("So.", [("look", {"a": 1}, "c", "native")], "x", None, True, [])
    assert parsed.items == []


@pytest.mark.parametrize("text", [BLOCKS[:1], BLOCKS[0], PARTS[:1], PARTS[0], ITEMS[:1], ITEMS[0]])
def test_a_text_that_was_kept_alone_is_the_content(text: Any) -> None:
    parsed = sp.parse_response(text)
    assert (parsed.content, parsed.tool_calls, parsed.ok) == ("So.", [], True)


def test_the_thought_of_a_message_of_ollama_and_the_plan_of_one_of_cohere_are_kept() -> None:
    thought = Message(role="assistant", content="So.", thinking="Hm.")
    for message in (thought, thought.model_dump(), thought.model_dump_json()):
        parsed = sp.parse_response(message)
        assert (parsed.content, parsed.reasoning) == ("So.", "Hm.")
    planned = sp.parse_response({"role": "assistant", "tool_plan": "I look.", "tool_calls": [CALL]})
    assert [(item["kind"], item["data"]) for item in planned.items] == [("tool_plan", "I look.")]
    assert [call.id for call in planned.tool_calls] == ["c"]


@pytest.mark.parametrize("plan", [None, "I look."])
@pytest.mark.parametrize("content", ["So.", [{"type": "text", "text": "So."}]])
def test_the_text_beside_a_plan_is_kept(plan: str | None, content: Any) -> None:
    message = {"role": "assistant", "tool_plan": plan, "content": content}
    assert _what(sp.parse_response(message)) == ("So.", [], None, None, True, [])


@dataclass(slots=True)
class _Slots:
    role: str = "assistant"
    content: str = "So."


class _Tuple(NamedTuple):
    role: str = "assistant"
    content: str = "So."


@pytest.mark.parametrize(
    "thing",
    [
        _Slots(),
        _Tuple(),
        SimpleNamespace(choices=[SimpleNamespace(message=_Slots(), finish_reason="stop")]),
        deque(["S", "o."]),
        {"only": "So."}.values(),
        UserString("So."),
        [UserString("S"), "o."],
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_a_record_or_what_holds_pieces_is_read_however_it_has_them(thing: Any) -> None:
    parsed = sp.parse_response(thing)
    assert (parsed.content, parsed.ok) == ("So.", True)


def test_values_of_other_types_in_arguments_are_the_text_that_they_have() -> None:
    call = {"name": "look", "arguments": {"at": PurePosixPath("/x"), "many": {1}}}
    parsed = sp.parse_response(
        {"choices": [{"message": {"tool_calls": [{"function": call}]}, "finish_reason": "stop"}]}
    )
    assert [call.arguments for call in parsed.tool_calls] == [{"at": "/x", "many": [1]}]


@pytest.mark.parametrize("page", [b"<html>502</html>", b"\n<!DOCTYPE html>\n<title>x", b'<?xml version="1.0"?><e/>'])
def test_a_page_is_no_answer_but_a_text_may_begin_so(page: bytes) -> None:
    for parser in (CompositeParser(), MarkupParser(), NativeParser()):
        parsed = parser.parse(page)
        assert (parsed.content, parsed.ok) == ("", False)
        assert parsed.errors
    assert sp.parse_response(page.decode()).content == page.decode()


def test_the_lines_of_a_stream_without_their_ends_are_the_stream() -> None:
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "So."}, "finish_reason": "stop"}]})
    lines = ["event: message", f"data: {chunk}", "", "data: [DONE]", ""]
    for given in (lines, [line.encode() for line in lines], [*lines[:2], b"", *lines[3:]]):
        assert _what(sp.parse_response(given)) == ("So.", [], "stop", None, True, [])
    data = lines[1]
    for given in (["id: 1", data], [": alive", data, ""], [data, "data: [DONE]"], ["retry: 1", "event: message", data]):
        assert sp.parse_response(given).content == "So."
    assert sp.parse_response([data, data, "data: [DONE]"]).content == "So.So.", "the blank lines may be left out"


@pytest.mark.parametrize("pieces", [["data: a", " data: b"], ["data: a", "data: b"], ["id: ", "data: ", "x"]])
def test_the_pieces_of_a_text_are_the_text_though_they_begin_as_lines_of_a_stream_do(pieces: list[str]) -> None:
    assert sp.parse_response(pieces).content == "".join(pieces)


def test_the_exception_that_a_client_made_of_an_answer_is_the_answer() -> None:
    body = {"error": {"message": "no", "code": "tool_use_failed", "failed_generation": "<x>"}}
    response = httpx.Response(400, json=body, request=httpx.Request("POST", "http://localhost"))
    made = openai.BadRequestError("no", response=response, body=body["error"])  # type: ignore[arg-type]
    for error in (made, httpx.HTTPStatusError("no", request=response.request, response=response)):
        parsed = sp.parse_response(error)
        assert ([each.code for each in parsed.errors], [item["data"] for item in parsed.items]) == (
            ["provider_error"],
            ["<x>"],
        )
        assert parsed.raw_response is error


@pytest.mark.parametrize("body", [{"message": "no", "code": "E42"}, "no", b'{"error": {"message": "no"}}'])
def test_an_exception_that_a_client_made_within_a_stream_is_the_body_that_it_holds(body: Any) -> None:
    error = openai.APIError("other words", request=httpx.Request("POST", "http://localhost"), body=body)
    assert _what(sp.parse_response(error)) == _what(sp.parse_response(body))


def test_half_a_surrogate_is_replaced_and_a_pair_in_two_pieces_joined() -> None:
    call = {"function": {"name": "look", "arguments": {"k\udc00": "\ud800"}}}
    body = {"choices": [{"message": {"content": "a\ud800", "tool_calls": [call]}, "finish_reason": "stop"}]}
    parsed = sp.parse_response(body)
    assert (parsed.content, parsed.tool_calls[0].arguments) == ("a\ufffd", {"k\ufffd": "\ufffd"})
    assert sp.parse_response(["a\ud83d", "\ude00b"]).content == "a\U0001f600b"
    assert sp.parse_response(["a\ud83d", b"b"]).content == "a\ufffdb"


@pytest.mark.parametrize("body", [b"{}", b"[{}]", b" { }\n", b'{"a": 1}', {}, [{}], {"a": 1}])
def test_json_that_says_nothing_is_no_answer(body: Any) -> None:
    parsed = sp.parse_response(body)
    assert (parsed.content, parsed.ok) == ("", False)
    assert parsed.errors


def test_a_brace_before_many_blanks_is_looked_at_once() -> None:
    body = b"{" + b" " * 1_000_000 + b"x"
    assert sp.parse_response(body).content == body.decode()


@pytest.mark.parametrize("value", [float("inf"), float("nan"), None, 7, [None], "x"])
@pytest.mark.parametrize("key", ["choices", "usage", "id", "error"])
def test_a_body_with_a_field_that_is_no_json_is_one_answer_in_every_form(key: str, value: Any) -> None:
    body = {"object": "chat.completion", "choices": [{"message": {"content": "So."}}], key: value}
    first, *others = [sp.parse_response(form(body)) for form in FORMS.values()]
    assert [_what(other) for other in others] == [_what(first)] * len(others)


def test_what_shows_no_wire_is_read_by_the_one_that_is_named_alone() -> None:
    errors = sp.parse_response({"foo": 1}, "anthropic").errors
    assert [error.code for error in errors] == ["unexpected_shape", "not_a_stream"]


_SHOWN = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "shown"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("wire", "told", "part"),
    [
        ("anthropic", {"type": "message", "content": [{"type": "text", "text": "a"}]}, "content"),
        ("anthropic", {"type": "message", "content": [{"type": "thinking", "thinking": "a"}]}, "reasoning"),
        (
            "openai-responses",
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "a"}]}], "status": "completed"},
            "refusal",
        ),
        ("openai-responses", {"output": [{"type": "web_search_call", "id": "a"}], "status": "completed"}, "items"),
    ],
)
def test_what_says_something_to_the_wire_that_is_named_is_read_by_no_other(
    wire: str, told: dict[str, Any], part: str
) -> None:
    assert sp.parse_response(told | _SHOWN, "auto").content == "shown"
    parsed = sp.parse_response(told | _SHOWN, wire)
    assert [name for name in ("content", "reasoning", "refusal", "items") if getattr(parsed, name)] == [part]
    assert parsed.content != "shown"


class _Fields:
    def __init__(self, value: Any) -> None:
        self.args = value
        self._kept = self


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (_Fields(1), {"args": 1}),
        (ValueError("no"), "no"),
        (PurePosixPath("/a"), "/a"),
        (_Fields, str(_Fields)),
        (json, str(json)),
        (_what, str(_what)),
        (len, str(len)),
    ],
)
def test_a_value_of_any_type_within_a_body_is_its_fields_or_its_text(value: Any, read: Any) -> None:
    body = {"message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": value}}}]}, "done": True}
    assert [call.arguments for call in sp.parse_response(body, "ollama-chat").tool_calls] == [{"a": read}]


@pytest.mark.parametrize(
    "message",
    [
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "a"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "m", "delta": "a"},
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "text": "a"}]},
        {"choices": [{"index": 0, "delta": {"content": "a"}}]},
        {"model": "m", "message": {"role": "assistant", "content": "a"}, "done": False},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}},
    ],
)
def test_a_message_of_a_stream_alone_is_no_whole_answer(message: dict[str, Any]) -> None:
    for body in (message, json.dumps(message)):
        parsed = sp.parse_response(body)
        assert (parsed.content, parsed.ok, [error.code for error in parsed.errors]) == (
            "a",
            False,
            ["stream_truncated"],
        )


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": None}, {"candidates": []}, {"choices": [None]}])
def test_a_body_that_lists_no_answer_is_one_that_never_ended(body: dict[str, Any]) -> None:
    for given in (body, json.dumps(body)):
        parsed = sp.parse_response(given)
        assert (parsed.content, parsed.ok, parsed.errors[-1].code) == ("", False, "stream_truncated")


def test_json_that_lists_choices_in_words_is_the_answer_itself() -> None:
    text = '{"question": "Which?", "choices": ["this", "that"]}'
    parsed = sp.parse_response(text)
    assert (parsed.content, parsed.ok, parsed.errors) == (text, True, [])


@pytest.mark.parametrize("name", [name for name in NAMES if "choice" not in read_index()[name]])
def test_what_is_wrong_with_a_body_that_is_cut_stands_where_it_does_if_it_is_fed(name: str) -> None:
    options = read_index()[name]
    tools = [read_tools()[tool] for tool in options.get("tools", ())]
    whole = read_body(name)
    for body in (whole, whole[: len(whole) * 3 // 5], whole.rstrip()[:-1]):
        parser = make_parser(name)
        parser.feed(body)
        parser.close()
        parsed = sp.parse_response(body, **{**options, "tools": tools})
        assert parsed.errors == parser.response.errors
        assert parsed.items == parser.response.items


def test_values_nest_in_a_body_so_deeply_and_no_deeper() -> None:
    def read(more: Any) -> list[tuple[str, int | None]]:
        body = SimpleNamespace(message={"content": "So.", "more": more}, done=True)
        return [(error.code, error.offset) for error in sp.parse_response(body, "ollama-chat").errors]

    nested: Any = 1
    for _ in range(254):
        nested = [nested]
    assert (read(nested), read([nested])) == ([], [("unexpected_shape", 0)])
    nested[0] = nested
    assert read(nested) == [("unexpected_shape", 0)]
