"""Each strategy alone: native fields of every wire and in every form, markup, and what no object can do to them."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest
from anthropic.types import Message
from google.genai.types import GenerateContentResponse
from hypothesis import given, settings
from hypothesis import strategies as st
from ollama import ChatResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response
from pydantic import BaseModel

import streamparse as sp
from streamparse.parser.composite import CompositeParser, JSONContentParser, MarkupParser, NativeParser
from streamparse.parser.intents import HeuristicParser
from streamparse.protocols import ToolCallParser

ARGUMENTS = {"city": "Paris", "snake_key": None, "n": 3}
TEXT = json.dumps(ARGUMENTS)
TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {}}}]
MARKED = f'See:\n<tool_call>{{"name": "look", "arguments": {TEXT}}}</tool_call>'

CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": TEXT}}
CHAT = {
    "id": "r",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": "See:", "tool_calls": [CHAT_CALL]},
        }
    ],
}
RESPONSES = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "See:", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "f1",
            "call_id": "c1",
            "name": "look",
            "arguments": TEXT,
            "status": "completed",
        },
    ],
}
ANTHROPIC = {
    "id": "r",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "See:"}, {"type": "tool_use", "id": "c1", "name": "look", "input": ARGUMENTS}],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"text": "See:"}, {"functionCall": {"id": "c1", "name": "look", "args": ARGUMENTS}}],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"totalTokenCount": 3},
}
OLLAMA_CALL = {"id": "c1", "function": {"name": "look", "arguments": ARGUMENTS}}
OLLAMA = {
    "model": "m",
    "done": True,
    "done_reason": "stop",
    "message": {"role": "assistant", "content": "See:", "tool_calls": [OLLAMA_CALL]},
}
COHERE = {
    "id": "r",
    "finish_reason": "TOOL_CALL",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "See:"}], "tool_calls": [CHAT_CALL]},
}
CONVERSE_CONTENT = [{"text": "See:"}, {"toolUse": {"toolUseId": "c1", "name": "look", "input": ARGUMENTS}}]
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": CONVERSE_CONTENT}},
    "stopReason": "tool_use",
    "usage": {"totalTokens": 3},
}
BODIES: dict[str, Any] = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "ollama-chat": OLLAMA,
    "cohere": COHERE,
    "bedrock-converse": CONVERSE,
}


def _assert_found(parsed: sp.ParsedResponse, id: str | None = "c1") -> None:
    assert parsed.content == "See:"
    assert [(call.name, call.arguments, call.source) for call in parsed.tool_calls] == [("look", ARGUMENTS, "native")]
    assert parsed.tool_calls[0].id == (id or "call_0")
    assert parsed.errors == []


@pytest.mark.parametrize("wire", BODIES)
def test_the_whole_body_of_a_wire_is_read(wire: str) -> None:
    parser = NativeParser()
    _assert_found(parser.parse(BODIES[wire]))
    _assert_found(NativeParser(wire).parse(json.dumps(BODIES[wire], indent=1).encode()))
    assert parser.can_parse(BODIES[wire])
    assert parser.parse(BODIES[wire]).ok


SDK_OBJECTS: dict[str, Any] = {
    "openai": ChatCompletion.model_validate(CHAT),
    "openai-responses": Response.model_validate(RESPONSES),
    "anthropic": Message.model_validate(ANTHROPIC),
    "gemini": GenerateContentResponse.model_validate(GEMINI),
    "ollama": ChatResponse.model_validate(OLLAMA),
}


@pytest.mark.parametrize("name", SDK_OBJECTS)
def test_an_object_of_an_sdk_is_read_like_its_body(name: str) -> None:
    _assert_found(sp.parse_response(SDK_OBJECTS[name]), None if name == "ollama" else "c1")  # whose type has no id


def test_the_names_that_geminis_libraries_give_its_fields_are_read() -> None:
    named = SDK_OBJECTS["gemini"].model_dump(exclude_none=True)
    assert "usage_metadata" in named
    parsed = sp.parse_response(named)
    _assert_found(parsed)
    assert parsed.usage == {"totalTokenCount": 3}


@dataclass
class _Record:
    choices: list[Any]


class _Struct(msgspec.Struct):
    choices: list[Any]


class _Said(msgspec.Struct):
    content: str
    tool_calls: list[Any]


@pytest.mark.parametrize(
    "thing",
    [
        _Record(CHAT["choices"]),  # type: ignore[arg-type]
        _Struct(CHAT["choices"]),  # type: ignore[arg-type]
        SimpleNamespace(choices=[SimpleNamespace(index=0, message=_Said("See:", [CHAT_CALL]), finish_reason="stop")]),
        namedtuple("Tuple", "choices")(CHAT["choices"]),
        httpx.Response(200, json=CHAT),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_an_object_of_any_library_is_read_by_its_fields(thing: Any) -> None:
    _assert_found(NativeParser().parse(thing))


PARTS: dict[str, Any] = {
    "a chat message": CHAT["choices"][0]["message"],  # type: ignore[index]
    "a chat choice": CHAT["choices"][0],  # type: ignore[index]
    "an Ollama message": OLLAMA["message"],
    "Anthropic's message without its type": {key: value for key, value in ANTHROPIC.items() if key != "type"},
    "Anthropic's blocks": ANTHROPIC["content"],
    "the output of Responses": RESPONSES["output"],
    "Gemini's content": GEMINI["candidates"][0]["content"],  # type: ignore[index]
    "Gemini's candidate": GEMINI["candidates"][0],  # type: ignore[index]
    "Converse's message": CONVERSE["output"]["message"],  # type: ignore[index]
    "a message in an object": {"message": OLLAMA["message"]},
}
LOOSE: dict[str, Any] = {
    "Cohere's first version": {"text": "See:", "tool_calls": [{"id": "c1", "name": "look", "parameters": ARGUMENTS}]},
    "LangChain's message": {"content": "See:", "tool_calls": [{"id": "c1", "name": "look", "args": ARGUMENTS}]},
    "a message without its role": {"content": "See:", "tool_calls": [CHAT_CALL]},
}


@pytest.mark.parametrize("name", LOOSE)
def test_an_object_with_text_and_calls_at_its_top_is_a_message(name: str) -> None:
    _assert_found(sp.parse_response(LOOSE[name]))
    _assert_found(sp.parse_response(SimpleNamespace(**LOOSE[name])))


def test_json_given_as_text_with_a_text_at_its_top_may_be_the_answer_itself() -> None:
    for text in ('{"content": "hello"}', '{"text": "hello"}'):
        assert sp.parse_response(text).content == text
        assert sp.parse_response(json.loads(text)).content == "hello"


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_body_is_read_like_the_body(name: str) -> None:
    _assert_found(sp.parse_response(PARTS[name]))
    _assert_found(sp.parse_response(json.dumps(PARTS[name])))


def test_a_call_without_arguments_in_a_decoded_message_has_none() -> None:
    calls = [{"id": text, "function": {"name": "look", "arguments": text.strip("!")}} for text in ("{}", "!")]
    parsed = sp.parse_response({"role": "assistant", "tool_calls": calls})
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == [("look", {}), ("look", {})]
    assert (parsed.ok, parsed.finish_reason) == (True, None)


@pytest.mark.parametrize(
    "body",
    [
        {"generation": MARKED, "stop_reason": "stop"},
        {"outputs": [{"text": MARKED, "stop_reason": "stop"}]},
        {"results": [{"outputText": MARKED, "completionReason": "FINISH"}]},
        [{"generated_text": MARKED}],
        {"choices": [{"index": 0, "text": MARKED, "finish_reason": "stop"}]},
    ],
)
def test_markup_is_read_from_bodies_that_hold_plain_text(body: Any) -> None:
    parsed = MarkupParser().parse(body)
    assert (parsed.content, parsed.tool_calls[0].arguments) == ("See:\n", ARGUMENTS)
    assert parsed.tool_calls[0].source == "inband"


def _chunks() -> list[dict[str, Any]]:
    pieces = ({"content": "See:"}, {"tool_calls": [{"index": 0, **CHAT_CALL}]})
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in pieces]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]  # type: ignore[list-item]


def test_a_list_of_chunks_is_a_stream() -> None:
    chunks = _chunks()
    whole = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    for given_chunks in (
        chunks,
        tuple(chunks),
        [ChatCompletionChunk.model_validate(whole | chunk) for chunk in chunks],
        [body[:50], body[50:]],
        [body[:50].encode(), body[50:].encode()],
    ):
        _assert_found(sp.parse_response(given_chunks))
    assert not sp.parse_response(chunks[:2]).ok, "a list that was cut is a stream that was cut"


def test_the_markup_parser_takes_text_and_bodies_and_leaves_native_calls_alone() -> None:
    for body in (MARKED, MARKED.encode(), PARTS["a chat message"] | {"content": MARKED, "tool_calls": None}):
        parsed = MarkupParser(tools=TOOLS).parse(body)
        assert [(call.name, call.arguments, call.source) for call in parsed.tool_calls] == [
            ("look", ARGUMENTS, "inband")
        ]
        assert parsed.content == "See:\n"
    assert MarkupParser().parse(CHAT).tool_calls == []
    assert MarkupParser().can_parse(MARKED)
    assert not MarkupParser().can_parse(CHAT)
    assert not NativeParser().can_parse(MARKED)
    assert NativeParser().parse(MARKED).content == MARKED


def test_a_named_wire_takes_prose_as_the_text_of_the_answer() -> None:
    parsed = sp.parse_response(MARKED, "anthropic")
    assert (parsed.content, len(parsed.tool_calls)) == ("See:\n", 1)


@pytest.mark.parametrize("body", [b"<html>502</html>", b'data: {"hello": 1}\n\n'])
def test_bytes_that_are_no_answer_are_an_error_where_the_wire_is_named(body: bytes) -> None:
    parsed = sp.parse_response(body, "openai-chat")
    assert (parsed.tool_calls, parsed.ok) == ([], False)
    assert parsed.errors


def test_an_answer_in_json_is_text_even_if_it_has_the_keys_of_an_error() -> None:
    answer = '{"message": "All is well", "detail": "Nothing"}'
    assert sp.parse_response(answer).content == answer
    failed = sp.parse_response('{"error": {"message": "overloaded", "code": 529}}')
    assert [error.code for error in failed.errors] == ["provider_error"]


class _Hostile:
    """An object that answers nothing but with an exception."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("class")


class _HostileMapping(dict[str, Any]):
    def items(self) -> Any:
        raise ZeroDivisionError


class _Raising(BaseModel):
    content: str = ""

    def model_dump(self, **_: Any) -> Any:
        raise KeyError("x")


def _endless() -> SimpleNamespace:
    endless = SimpleNamespace()
    endless.choices = endless
    return endless


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


PARSERS: list[ToolCallParser] = [
    NativeParser(),
    MarkupParser(),
    JSONContentParser(tools=TOOLS),
    HeuristicParser(),
    CompositeParser(),
    CompositeParser(strategy="first"),
    CompositeParser([NativeParser(), MarkupParser(), JSONContentParser(), HeuristicParser()]),
]


THINGS: dict[str, Callable[[], Any]] = {
    **{repr(value)[:20]: partial(copy, value) for value in (None, "", b"", [], {}, "{", [7], [True, 1.5])},
    **{repr(value)[:20]: partial(copy, value) for value in ("\ud800", "[" * 3000, [None], [[{}]], [float("nan")])},
    "an object whose attributes raise": _Hostile,
    "a mapping whose items raise": lambda: _HostileMapping(a=1),
    "an object that holds itself": _endless,
    "an object whose dump raises": _Raising,
    "a list that holds itself": _circle,
    "an object in a body": lambda: {"choices": object()},
    "infinity in a body": lambda: {"choices": [{"message": {"content": float("inf")}}]},
    "keys that are no text": lambda: {b"key": {1: {2}}},
}


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: type(parser).__name__)
@pytest.mark.parametrize("name", THINGS)
def test_no_answer_raises(parser: ToolCallParser, name: str) -> None:
    thing = THINGS[name]()
    parsed = parser.parse(thing)
    assert isinstance(parsed, sp.ParsedResponse)
    assert (parsed.tool_calls, parsed.intents) == ([], [])
    assert parsed.raw_response is thing
    assert parser.can_parse(thing) in (True, False)


class _Named:
    """An object of somebody's own, with the names that answers have."""

    content = "So."
    role = "assistant"

    def to_dict(self) -> dict[str, Any]:
        return CHAT


class _Every:
    def __getattr__(self, name: str) -> Any:
        return _Every()


class _Total(BaseModel):
    total: int


NO_ANSWERS: list[Any] = [object(), object, len, json, PurePosixPath("x"), ValueError("x"), iter([1])]
NO_ANSWERS += [_Named(), _Every(), _Total(total=1), SimpleNamespace(total=1), [object()], [{}, _Named()]]


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: type(parser).__name__)
@pytest.mark.parametrize("thing", NO_ANSWERS, ids=lambda thing: type(thing).__name__)
def test_what_is_no_answer_raises_at_once(parser: ToolCallParser, thing: Any) -> None:
    for read in (parser.parse, parser.can_parse):
        with pytest.raises(TypeError, match="a response must be"):
            read(thing)


@pytest.mark.parametrize("wire", ["auto", "anthropic"])
@pytest.mark.parametrize("value", [7, 1.5, True, [7], [None], [[]], {}, [{}], {"foo": 1}, [1, {"foo": 1}]], ids=repr)
def test_json_that_shows_no_answer_is_none_and_says_what_to_pass(value: Any, wire: str) -> None:
    parsed = sp.parse_response(value, wire)
    assert (parsed.content, parsed.tool_calls, parsed.ok) == ("", [], False)
    (error,) = [error for error in parsed.errors if error.code == "not_a_stream"]
    assert "pass what a server sent, a message or the calls of one" in error.message


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: type(parser).__name__)
def test_a_parser_can_parse_a_body_in_which_it_finds_a_call_or_an_intent(parser: ToolCallParser) -> None:
    for body in (
        *BODIES.values(),
        MARKED,
        "I'll use the `look` tool.",
        {"message": {"content": "Hello"}},
        "Hello",
        None,
    ):
        found = parser.parse(body)
        assert parser.can_parse(body) is bool(found.tool_calls or found.broken_calls or found.intents)
    assert not parser.can_parse({"message": {"content": "Hello"}})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*CHAT, *ANTHROPIC, *GEMINI]) | st.text(), inner),
)


@settings(max_examples=100)
@given(JSON.filter(lambda value: not isinstance(value, (int, float))) | st.binary() | st.text())
def test_no_value_raises(value: Any) -> None:
    for parser in PARSERS:
        assert isinstance(parser.parse(value), sp.ParsedResponse)
