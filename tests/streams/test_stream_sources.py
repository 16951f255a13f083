"""What may be a source, and what may be a chunk of one."""

from __future__ import annotations

import ast
import asyncio
import io
import json
import warnings
from collections import ChainMap, UserDict
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import httpx
import httpx_sse
import pytest
from cuts import merged
from pydantic import BaseModel, ConfigDict, Field

import streamparse as sp
from streamparse.parser.chunks import NoAnswer, read_message

MESSAGES: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 0, "delta": {"content": "Hello"}}]},
    {"choices": [{"index": 0, "delta": {"content": " wörld"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
]
FRAMES = [f"data: {json.dumps(message, ensure_ascii=False)}\n\n" for message in MESSAGES] + ["data: [DONE]\n\n"]
BODY = "".join(FRAMES).encode()


class ServerSentEvents:
    """An event source client of the usual shape."""

    def iter_sse(self) -> Iterator[SimpleNamespace]:
        for message in MESSAGES:
            yield SimpleNamespace(event="message", data=json.dumps(message, indent=1), id="", retry=None)

    async def aiter_sse(self) -> AsyncIterator[SimpleNamespace]:
        for event in self.iter_sse():
            yield event


class Requests:
    """A response as requests gives it."""

    def iter_content(self, chunk_size: int | None = 1) -> Iterator[bytes]:
        assert chunk_size is None
        yield from (frame.encode() for frame in FRAMES)


class Aiohttp:
    """A response as aiohttp gives it."""

    @property
    def content(self) -> Aiohttp:
        return self

    async def iter_any(self) -> AsyncIterator[bytes]:
        for frame in FRAMES:
            yield frame.encode()


class Told(BaseModel):
    """An event as the SDKs have it: a model of pydantic's, with whatever fields the server has sent."""

    model_config = ConfigDict(extra="allow")
    choices: list[Any]


@dataclass
class Record:
    """An event as other SDKs have it."""

    choices: list[Any]
    usage: dict[str, Any] | None = None


class Named(NamedTuple):
    """An event as a program of one's own may have it."""

    choices: list[Any]
    usage: dict[str, Any] | None = None


def httpx_response() -> httpx.Response:
    return httpx.Response(200, content=BODY, headers={"content-type": "text/event-stream"})


def check_same(events: list[sp.Event]) -> None:
    """The text, and the way the stream ended, are those of the body fed whole."""
    assert "".join(event.text for event in events if isinstance(event, sp.TextDelta)) == "Hello wörld"
    done = events[-1]
    assert isinstance(done, sp.Done)
    assert (done.finish_reason, done.ok) == ("stop", True)
    assert not [event for event in events if isinstance(event, sp.Error)]


async def collected(source: object) -> list[sp.Event]:
    return [event async for event in sp.aiter_events(source, "openai-chat")]


async def trickle(chunks: list[Any]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


CHUNKS: dict[str, list[Any]] = {
    "bytes": [frame.encode() for frame in FRAMES],
    "single bytes": [BODY[at : at + 1] for at in range(len(BODY))],
    "bytearray": [bytearray(frame.encode()) for frame in FRAMES],
    "memoryview": [memoryview(frame.encode()) for frame in FRAMES],
    "text": FRAMES,
    "single characters": list("".join(FRAMES)),
    "decoded messages": MESSAGES,
    "mappings": [ChainMap(message) for message in MESSAGES],
    "models of pydantic's": [Told.model_validate(message) for message in MESSAGES],
    "dataclasses": [Record(**message) for message in MESSAGES],
    "named tuples": [Named(**message) for message in MESSAGES],
    "server-sent events": list(ServerSentEvents().iter_sse()),
    "server-sent events without a type": [SimpleNamespace(event=None, data=json.dumps(each)) for each in MESSAGES],
}

RESPONSES: dict[str, Callable[[], object]] = {
    "httpx response": httpx_response,
    "httpx-sse event source": lambda: httpx_sse.EventSource(httpx_response()),
    "object with iter_sse": ServerSentEvents,
    "object with iter_content": Requests,
    "bytes at hand": lambda: BODY,
    "text at hand": BODY.decode,
    "file": lambda: io.BytesIO(BODY),
}


@pytest.mark.parametrize("kind", CHUNKS)
def test_chunks_of_each_kind_give_the_events_of_the_body(kind: str) -> None:
    check_same(list(sp.iter_events(CHUNKS[kind], "openai-chat")))


@pytest.mark.anyio
@pytest.mark.parametrize("kind", CHUNKS)
async def test_async_chunks_of_each_kind_give_the_events_of_the_body(kind: str) -> None:
    check_same(await collected(trickle(CHUNKS[kind])))


@pytest.mark.parametrize("kind", RESPONSES)
def test_responses_of_each_kind_give_the_events_of_the_body(kind: str) -> None:
    check_same(list(sp.iter_events(RESPONSES[kind](), "openai-chat")))


@pytest.mark.anyio
@pytest.mark.parametrize("kind", RESPONSES)
async def test_async_loops_take_the_same_responses(kind: str) -> None:
    check_same(await collected(RESPONSES[kind]()))


@pytest.mark.anyio
async def test_an_async_loop_reads_the_content_of_an_aiohttp_response() -> None:
    check_same(await collected(Aiohttp()))


def test_an_async_loop_reads_an_asyncio_stream() -> None:
    async def read() -> list[sp.Event]:
        reader = asyncio.StreamReader()
        reader.feed_data(BODY)
        reader.feed_eof()
        return await collected(reader)

    check_same(asyncio.run(read()))


def test_an_event_source_is_read_through_the_bytes_of_its_response() -> None:
    response = httpx_response()
    list(sp.iter_events(httpx_sse.EventSource(response), "openai-chat"))
    assert response.is_closed


def test_a_dict_is_one_message_and_not_an_iterable_of_keys() -> None:
    body = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
    assert sp.TextDelta("Hi") in list(sp.iter_events(body, "openai-chat"))


def test_models_of_pydantic_are_the_json_they_came_from() -> None:
    class Part(BaseModel):
        data: bytes
        mime_type: str = Field(alias="mimeType")
        text: str | None = None
        type: str = "part"

    part = Part(data=b"\x00", mimeType="image/png")
    assert read_message(part) == {"data": "\x00", "mimeType": "image/png", "type": "part"}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_server_sent_event_is_written_with_a_data_line_for_each_of_its_lines(line_end: str) -> None:
    event = SimpleNamespace(event="delta\nid: 7", data=f"{{{line_end}}}\u2028")
    assert read_message(event) == "event: delta\ndata: {\ndata: }\u2028\n\n"


class Every:
    """An object that answers to every name, as a mock does."""

    def __getattr__(self, name: str) -> Any:
        return Every()


class Plain:
    """An object of somebody's own, with the names that answers have."""

    content = "Hi"
    choices: ClassVar[list[Any]] = MESSAGES[1]["choices"]

    def to_dict(self) -> dict[str, Any]:
        return MESSAGES[1]


class Other(BaseModel):
    """A model that has nothing to do with answers."""

    total: int


NO_CHUNKS = [
    None,
    7,
    1.5,
    object(),
    Every(),
    Plain(),
    Other(total=1),
    SimpleNamespace(x=1),
    SimpleNamespace(event=1, data="{}"),
    [b"x"],
    (b"x",),
    ast.parse("f()", mode="eval").body,  # has `_fields`, as a named tuple has, and one of them is `args`
    {1},
    Plain,
]


@pytest.mark.parametrize("thing", [None, 7, object(), Every(), Plain(), Other])
def test_what_is_no_source_raises_at_once(thing: object) -> None:
    with pytest.raises(TypeError, match=f"an iterable or a response object, not {type(thing).__name__}"):
        sp.iter_events(thing)
    with pytest.raises(TypeError, match="an iterable, an async iterable or a response object"):
        sp.aiter_events(thing)


@pytest.mark.parametrize(
    "field",
    [
        *("choices", "message", "content", "delta", "text", "tool_calls", "function", "function_call", "arguments"),
        *("output", "input", "thinking", "candidates", "parts", "args", "response", "error", "type"),
    ],
)
def test_an_object_with_one_field_of_an_answer_is_a_chunk(field: str) -> None:
    assert read_message(SimpleNamespace(**{field: "x"})) == {field: "x"}
    with pytest.raises(NoAnswer):
        read_message(SimpleNamespace(**{f"{field}s_of_something": "x"}))


@pytest.mark.parametrize("thing", NO_CHUNKS, ids=lambda thing: type(thing).__name__)
def test_what_is_no_chunk_raises(thing: Any) -> None:
    parser = sp.StreamParser("openai-chat")
    with pytest.raises(TypeError, match="a chunk must be bytes, str, a mapping or an SDK's object"):
        parser.feed(thing)
    with pytest.raises(TypeError, match="a chunk must be bytes, str, a mapping or an SDK's object"):
        list(sp.iter_events([thing]))


@pytest.mark.parametrize("kind", CHUNKS)
def test_a_parser_is_fed_chunks_of_each_kind(kind: str) -> None:
    parser = sp.StreamParser("openai-chat")
    events = [event for chunk in CHUNKS[kind] for event in parser.feed(chunk)]
    check_same(merged(events + parser.close()))


@pytest.mark.parametrize("thing", [None, 7, b"x", ["x"], MESSAGES[0]], ids=lambda thing: type(thing).__name__)
def test_what_is_no_text_raises(thing: Any) -> None:
    with pytest.raises(TypeError, match="a piece of text must be str, not"):
        sp.TextParser().feed(thing)


def test_a_model_that_cannot_be_written_is_an_error_and_not_lost() -> None:
    class Broken(BaseModel):
        content: bytes

    parser = sp.StreamParser("openai-chat")
    (error,) = parser.feed(Broken(content=b"\xff"))
    assert isinstance(error, sp.Error)
    assert (error.scope, error.code) == ("frame", "unexpected_shape")


def test_a_whole_answer_of_an_sdk_is_one_chunk_though_pydantics_models_are_iterables() -> None:
    message = {"role": "assistant", "content": "Hello wörld"}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    for wire in ("openai-chat", "auto"):
        check_same(list(sp.iter_events(Told.model_validate(body), wire)))


async def _trickle() -> AsyncIterator[bytes]:
    yield BODY


async def _awaited() -> bytes:
    return BODY


def test_all_is_closed_once_though_closing_one_of_them_raises() -> None:
    class Source:
        """A source whose chunks and which itself are closed, and complain."""

        def __init__(self) -> None:
            self.closed: list[str] = []

        def __iter__(self) -> Iterator[bytes]:
            return _Chunks(self.closed)

        def close(self) -> None:
            self.closed.append("source")
            raise OSError("source")

    class _Chunks:
        def __init__(self, closed: list[str]) -> None:
            self._closed = closed

        def __iter__(self) -> Iterator[bytes]:
            return self

        def __next__(self) -> bytes:
            raise StopIteration

        def close(self) -> None:
            self._closed.append("chunks")
            raise OSError("chunks")

    source = Source()
    stream = sp.iter_events(source)
    with pytest.raises(OSError, match="source") as caught:
        stream.close()
    assert source.closed == ["chunks", "source"]
    assert str(caught.value.__context__) == "chunks"
    stream.close()
    assert len(source.closed) == 2


def test_a_source_that_only_an_async_loop_reads_says_so() -> None:
    for source in (_trickle(), Aiohttp(), httpx.Response(200, content=_trickle())):
        with pytest.raises(TypeError, match=f"this {type(source).__name__} is asynchronous: pass it to aiter_events"):
            sp.iter_events(source)


@pytest.mark.parametrize("loop", [sp.iter_events, sp.aiter_events])
def test_what_must_be_awaited_or_entered_first_says_so(loop: Callable[[Any], object]) -> None:
    awaitable = _awaited()
    with pytest.raises(TypeError, match="this coroutine must be awaited: pass what it returns"):
        loop(awaitable)
    awaitable.close()
    with pytest.raises(TypeError, match="is a context manager: pass what its `with` block gives"):
        loop(httpx.stream("GET", "http://localhost"))


@pytest.mark.anyio
async def test_an_async_loop_reads_the_stream_of_a_sync_client() -> None:
    def served() -> Iterator[bytes]:
        yield from (frame.encode() for frame in FRAMES)

    check_same(await collected(httpx.Response(200, content=served())))


def test_an_unknown_wire_or_dialect_raises_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="openai-chat"):
        sp.iter_events([], "openapi")
    with pytest.raises(ValueError, match="hermes"):
        sp.aiter_events([], dialects=["herpes"])


def test_values_that_are_no_json_are_written_as_their_fields_or_their_words() -> None:
    parser = sp.StreamParser("openai-chat")
    annotations = [SimpleNamespace(url="u"), ChainMap({"url": "v"}), Fraction(1, 2), b"\x01"]
    parser.feed({"choices": [{"index": 0, "delta": {"annotations": annotations}}]})
    assert parser.response.items[0]["data"] == [{"url": "u"}, {"url": "v"}, "1/2", "AQ=="]


def test_values_of_a_whole_answer_that_are_no_json_are_read_as_what_they_stand_for() -> None:
    level = IntEnum("Level", ["LOW", "HIGH"]).HIGH
    annotations = [level, UserDict({"url": ChainMap({"u": level})}), Fraction(1, 2)]
    message = {"role": "assistant", "content": "Well.", "annotations": annotations}
    answer = UserDict({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert sp.parse_response(answer, "openai-chat").items[0]["data"] == [2, {"url": {"u": 2}}, "1/2"]


def test_a_model_whose_field_is_of_another_type_is_read_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_message(Told.model_construct(choices="x")) == {"choices": "x"}


def test_objects_of_attrs_are_chunks() -> None:
    chunk = pytest.importorskip("attrs").make_class("Chunk", ["choices"])
    check_same(list(sp.iter_events([chunk(message["choices"]) for message in MESSAGES], "openai-chat")))


def test_models_of_the_first_pydantic_are_chunks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from Python 3.14 on
        old = pytest.importorskip("pydantic.v1")
    chunk = old.create_model("Chunk", choices=(list, ...))
    check_same(list(sp.iter_events([chunk(choices=message["choices"]) for message in MESSAGES], "openai-chat")))


def test_a_message_may_be_a_bytearray_inside_of_what_holds_it() -> None:
    assert read_message(bytearray(b"data: {}\n\n")) == b"data: {}\n\n"


@pytest.mark.parametrize("module", ["botocore.eventstream", "aiobotocore.eventstream", "botocore.response"])
def test_a_response_of_boto3_is_named_with_the_key_of_its_stream(module: str) -> None:
    name = "StreamingBody" if module.endswith("response") else "EventStream"
    stream = type(name, (), {"__module__": module})()
    with pytest.raises(TypeError, match=r"of this answer|its .body."):
        sp.parse_response({"ResponseMetadata": {}, "body": stream})


def test_a_client_of_events_may_be_asynchronous_only() -> None:
    class Events:
        async def aiter_sse(self) -> AsyncIterator[SimpleNamespace]:
            for message in MESSAGES:
                yield SimpleNamespace(event="message", data=json.dumps(message), id="", retry=None)

    async def read() -> list[sp.Event]:
        return [event async for event in sp.aiter_events(Events())]

    assert "".join(event.text for event in asyncio.run(read()) if isinstance(event, sp.TextDelta)) == "Hello wörld"


@pytest.mark.parametrize("name", ["aiter_bytes", "aiter_sse"])
def test_a_source_that_only_an_async_loop_can_read_says_so(name: str) -> None:
    source = type("Answer", (), {name: lambda _self: None})()
    with pytest.raises(TypeError, match="this Answer is asynchronous: pass it to aiter_events"):
        sp.iter_events(source)
