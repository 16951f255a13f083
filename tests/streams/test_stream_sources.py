"""What may be a source, and what may be a chunk of one."""

from __future__ import annotations

import asyncio
import io
import json
from collections import ChainMap
from collections.abc import AsyncIterator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import httpx_sse
import pytest

import streamparse as sp
from streamparse.streams.sources import message_of

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


class Dumped:
    """An object of an SDK: `to_dict` keeps the API's names."""

    def __init__(self, message: dict[str, Any]) -> None:
        self._message = message

    def to_dict(self) -> dict[str, Any]:
        return self._message


class Modelled:
    """An object of an SDK that can only dump its model."""

    def __init__(self, message: dict[str, Any]) -> None:
        self._message = message

    def model_dump(self) -> dict[str, Any]:
        return self._message


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
    "objects with to_dict": [Dumped(message) for message in MESSAGES],
    "objects with model_dump": [Modelled(message) for message in MESSAGES],
    "server-sent events": list(ServerSentEvents().iter_sse()),
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


def test_pydantic_objects_are_dumped_as_the_json_they_came_from() -> None:
    class Pydantic:
        __pydantic_serializer__ = "what marks a class of pydantic's"

        def model_dump(self, **options: object) -> dict[str, object]:
            return options

    assert message_of(Pydantic()) == {"mode": "json", "by_alias": True, "exclude_unset": True}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_server_sent_event_is_written_with_a_data_line_for_each_of_its_lines(line_end: str) -> None:
    event = SimpleNamespace(event="delta\nid: 7", data=f"{{{line_end}}}\u2028")
    assert message_of(event) == "event: delta\ndata: {\ndata: }\u2028\n\n"


@pytest.mark.parametrize("thing", [None, 7, object()])
def test_what_is_no_source_raises_at_once(thing: object) -> None:
    with pytest.raises(TypeError, match=f"an iterable or a response object, not {type(thing).__name__}"):
        sp.iter_events(thing)
    with pytest.raises(TypeError, match="an iterable, an async iterable or a response object"):
        sp.aiter_events(thing)


def test_what_is_no_chunk_raises() -> None:
    with pytest.raises(TypeError, match="a chunk must be bytes, str, a mapping or an SDK's object, not int"):
        list(sp.iter_events([7]))


def test_an_unknown_wire_or_dialect_raises_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="openai-chat"):
        sp.iter_events([], "openai")
    with pytest.raises(ValueError, match="hermes"):
        sp.aiter_events([], dialects=["herpes"])
