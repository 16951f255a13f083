"""How a loop ends, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import pytest

import streamparse as sp

TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
CALL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":'
    b'{"name":"look","arguments":"{\\"a\\": "}}]}}]}\n\n'
)
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
BODY = [TEXT, TEXT, FINISH]


class Recorded:
    """A source that remembers how it was treated."""

    def __init__(self, chunks: list[bytes], failure: BaseException | None = None) -> None:
        self._chunks = list(reversed(chunks))
        self._failure = failure
        self.reads = 0
        self.closed = 0

    def __iter__(self) -> Recorded:
        return self

    def __next__(self) -> bytes:
        self.reads += 1
        if self._chunks:
            return self._chunks.pop()
        if self._failure:
            raise self._failure
        raise StopIteration

    def close(self) -> None:
        self.closed += 1


class AsyncRecorded:
    """The same, async; with `hang` it waits for ever when it has nothing left."""

    def __init__(self, chunks: list[bytes], failure: BaseException | None = None, hang: bool = False) -> None:
        self._source = Recorded(chunks, failure)
        self._hang = hang
        self.closed = 0

    def __aiter__(self) -> AsyncRecorded:
        return self

    @property
    def reads(self) -> int:
        return self._source.reads

    async def __anext__(self) -> bytes:
        try:
            return next(self._source)
        except StopIteration:
            if self._hang:
                await anyio.sleep_forever()
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self.closed += 1


def drain(events: Iterator[sp.Event], seen: list[sp.Event]) -> None:
    for event in events:
        seen.append(event)


async def drain_async(events: AsyncIterator[sp.Event], seen: list[sp.Event]) -> None:
    async for event in events:
        seen.append(event)


def test_events_come_as_their_chunks_come() -> None:
    source = Recorded(BODY)
    events = sp.iter_events(source, "openai-chat")
    assert source.reads == 0
    assert next(events) == sp.TextDelta("Hi")
    assert source.reads == 1


def test_the_last_event_is_done_and_the_source_is_closed() -> None:
    source = Recorded(BODY)
    events = list(sp.iter_events(source, "openai-chat"))
    assert events == [sp.TextDelta("Hi"), sp.TextDelta("Hi"), sp.Done("stop", None, True)]
    assert source.closed == 1


@pytest.mark.anyio
async def test_the_last_async_event_is_done_and_the_source_is_closed() -> None:
    source = AsyncRecorded(BODY)
    events = [event async for event in sp.aiter_events(source, "openai-chat")]
    assert events == [sp.TextDelta("Hi"), sp.TextDelta("Hi"), sp.Done("stop", None, True)]
    assert source.closed == 1


def test_a_loop_that_is_left_closes_its_source() -> None:
    source = Recorded(BODY)
    for _event in sp.iter_events(source, "openai-chat"):
        break
    assert (source.closed, source.reads) == (1, 1)


def test_a_block_that_reads_nothing_closes_its_source_once() -> None:
    source = Recorded(BODY)
    with sp.iter_events(source, "openai-chat") as events:
        pass
    events.close()
    assert (source.closed, source.reads) == (1, 0)
    assert list(events) == []


@pytest.mark.anyio
async def test_an_async_block_that_reads_nothing_closes_its_source_once() -> None:
    source = AsyncRecorded(BODY)
    async with sp.aiter_events(source, "openai-chat") as events:
        pass
    await events.aclose()
    assert source.closed == 1


@pytest.mark.anyio
async def test_an_async_block_that_is_left_has_closed_its_source() -> None:
    source = AsyncRecorded(BODY, hang=True)
    async with sp.aiter_events(source, "openai-chat") as events:
        async for _event in events:
            break
    assert source.closed == 1


def test_a_bare_async_loop_that_is_left_is_closed_by_asyncio_in_its_next_turns() -> None:
    async def leave() -> int:
        source = AsyncRecorded(BODY, hang=True)
        async for _event in sp.aiter_events(source, "openai-chat"):
            break
        for _ in range(3):
            await asyncio.sleep(0)
        return source.closed

    assert asyncio.run(leave()) == 1


def test_a_bare_async_loop_that_is_left_is_closed_by_trio_with_a_warning() -> None:
    source = AsyncRecorded(BODY, hang=True)

    async def leave() -> None:
        async for _event in sp.aiter_events(source, "openai-chat"):
            break
        gc.collect()
        await anyio.sleep(0)

    with pytest.warns(ResourceWarning, match="async with"):
        anyio.run(leave, backend="trio")
    assert source.closed == 1


@pytest.mark.anyio
async def test_cancellation_passes_through_and_closes_the_source() -> None:
    source = AsyncRecorded([TEXT], hang=True)
    seen: list[sp.Event] = []

    async def read(scope: anyio.CancelScope) -> None:
        with scope:
            async with sp.aiter_events(source, "openai-chat") as events:
                await drain_async(events, seen)

    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(read, scope)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
    assert scope.cancelled_caught
    assert seen == [sp.TextDelta("Hi")]
    assert source.closed == 1


@pytest.mark.anyio
async def test_an_async_generator_that_is_left_runs_its_own_end() -> None:
    ended = []

    async def chunks() -> AsyncIterator[bytes]:
        try:
            for chunk in BODY:
                yield chunk
        finally:
            ended.append("here")

    async with sp.aiter_events(chunks(), "openai-chat") as events:
        await anext(events)
    assert ended == ["here"]


FAILURES = [ConnectionResetError("peer gone"), TimeoutError(), ValueError("bad length")]


def check_failed(seen: list[sp.Event], failure: Exception) -> None:
    """The events of what came, then the errors, then Done."""
    *before, done = seen
    errors = [event for event in before if isinstance(event, sp.Error)]
    assert seen[0] == sp.TextDelta("Hi")
    assert ("stream", "transport_error") in [(error.scope, error.code) for error in errors]
    assert any(type(failure).__name__ in error.message for error in errors)
    assert ("call", 0) in [(error.scope, error.index) for error in errors]
    assert isinstance(done, sp.Done)
    assert not done.ok


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
def test_a_network_failure_is_told_as_events_and_then_raised(failure: Exception) -> None:
    seen: list[sp.Event] = []
    source = Recorded([TEXT, CALL], failure)
    with pytest.raises(type(failure)) as raised:
        drain(sp.iter_events(source, "openai-chat"), seen)
    assert raised.value is failure
    check_failed(seen, failure)
    assert source.closed == 1


@pytest.mark.anyio
@pytest.mark.parametrize("failure", FAILURES, ids=repr)
async def test_a_network_failure_is_told_as_async_events_and_then_raised(failure: Exception) -> None:
    seen: list[sp.Event] = []
    source = AsyncRecorded([TEXT, CALL], failure)
    with pytest.raises(type(failure)) as raised:
        await drain_async(sp.aiter_events(source, "openai-chat"), seen)
    assert raised.value is failure
    check_failed(seen, failure)
    assert source.closed == 1


def test_a_keyboard_interrupt_is_no_network_failure() -> None:
    seen: list[sp.Event] = []
    source = Recorded([TEXT], KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        drain(sp.iter_events(source, "openai-chat"), seen)
    assert seen == [sp.TextDelta("Hi")]
    assert source.closed == 1


def test_an_exception_of_the_reader_is_not_taken_for_one_of_the_source() -> None:
    source = Recorded(BODY)
    with suppress(ZeroDivisionError), sp.iter_events(source, "openai-chat") as events:
        assert [1 // 0 for _event in events]
    assert source.closed == 1


def test_a_stream_beyond_its_limit_is_not_read_to_its_end() -> None:
    source = Recorded([TEXT, TEXT.replace(b"Hi", b"Hi" * 100), *[TEXT] * 100])
    events = list(sp.iter_events(source, "openai-chat", limits=sp.Limits(max_line=100)))
    assert [type(event) for event in events] == [sp.TextDelta, sp.Error, sp.Done]
    assert (source.reads, source.closed) == (2, 1)


@pytest.mark.anyio
async def test_an_async_stream_beyond_its_limit_is_not_read_to_its_end() -> None:
    source = AsyncRecorded([TEXT, TEXT.replace(b"Hi", b"Hi" * 100), *[TEXT] * 100])
    events = [event async for event in sp.aiter_events(source, "openai-chat", limits=sp.Limits(max_line=100))]
    assert [type(event) for event in events] == [sp.TextDelta, sp.Error, sp.Done]
    assert (source.reads, source.closed) == (2, 1)


@pytest.mark.anyio
async def test_the_rest_of_an_async_body_is_read_but_not_for_ever() -> None:
    for more in (3, 1000):
        source = AsyncRecorded([*BODY, *[b": still here\n\n"] * more])
        events = [event async for event in sp.aiter_events(source, "openai-chat")]
        assert isinstance(events[-1], sp.Done)
        assert source.reads - len(BODY) in range(min(more, 10), 100)
        assert source.closed == 1


@pytest.mark.anyio
async def test_other_tasks_run_while_a_sync_source_is_read() -> None:
    turns: list[int] = []

    async def count() -> None:
        while True:
            turns.append(len(turns))
            await anyio.sleep(0)

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        before: list[int] = []
        async for _event in sp.aiter_events(BODY, "openai-chat"):
            before.append(len(turns))
        group.cancel_scope.cancel()
    assert before[-1] > before[0]


def test_the_parser_of_a_loop_tells_what_came() -> None:
    events = sp.iter_events(BODY, "openai-chat")
    for _event in events:
        pass
    assert events.parser.response.content == "HiHi"
    assert events.parser.response.ok


LOOPS: list[Callable[..., Any]] = [sp.iter_events, sp.aiter_events]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_gives_its_parser_every_option(loop: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}

    def make_parser(wire: str, **options: Any) -> sp.StreamParser:
        told.update(options, wire=wire)
        return sp.StreamParser()

    monkeypatch.setattr("streamparse.parser.loops.StreamParser", make_parser)
    options = {name: object() for name in inspect.signature(sp.StreamParser).parameters}
    loop([], **options)
    assert told == options


@pytest.mark.parametrize("loop", LOOPS)
def test_the_options_of_a_loop_are_those_of_the_parser_with_the_same_defaults(loop: Callable[..., Any]) -> None:
    _, *options = inspect.signature(loop).parameters.values()
    assert options == [*inspect.signature(sp.StreamParser).parameters.values()]
