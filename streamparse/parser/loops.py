"""The two loops: one parser, one source, one list of events for each chunk.

Between the source and the caller there is a single generator: no queue, no task, no scope for each event.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from itertools import islice
from typing import Any, Final

from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Done, Event
from streamparse.limits import Limits
from streamparse.parser.sources import AsyncSource, Chunk, Closing, Source, open_async_source, open_source
from streamparse.parser.stream import StreamParser
from streamparse.providers.wires import WireName

_MAX_DRAINED: Final = 64  # bound: chunks that are read after the end of an answer
_DRAIN_SECONDS: Final = 1.0  # bound: how long they are waited for, where that can be done


class EventStream(Iterator[Event], AbstractContextManager["EventStream", None]):
    """The events of a source, in a `for` loop; what `iter_events` returns.

    Leaving the loop early closes the source as soon as CPython drops the loop's iterator; `close()` or a `with`
    block closes it at a moment of your choice.  `parser` is the parser at work: its `response` and `stats` are
    good at any time.
    """

    def __init__(self, parser: StreamParser, source: Source) -> None:
        """Open the source; nothing is read yet.  Raise TypeError for any other object."""
        chunks, self._closing = open_source(source)
        self._events = _read_events(parser, chunks, self._closing)
        self.parser = parser

    def __iter__(self) -> Generator[Event, None, None]:
        """Return the generator itself, so that the loop pays for nothing else."""
        return self._events

    def __next__(self) -> Event:
        """Return the next event."""
        return next(self._events)

    def close(self) -> None:
        """End the loop and close the source; a second time does nothing."""
        self._events.close()
        self._closing.close()

    def __exit__(self, *_: object) -> None:
        """Close the source."""
        self.close()


class AsyncEventStream(AsyncIterator[Event], AbstractAsyncContextManager["AsyncEventStream", None]):
    """The events of a source, in an `async for` loop; what `aiter_events` returns.

    Use it in an `async with` block: then the source is closed when the block ends, on `break`, exceptions and
    cancellation alike.  A bare `async for` that is left early is closed by the event loop when it finds the time
    (asyncio does so in a task of its own; trio warns, and closes without waiting).

    `parser` is the parser at work: its `response` and `stats` are good at any time.
    """

    def __init__(self, parser: StreamParser, source: AsyncSource) -> None:
        """Open the source; nothing is read yet.  Raise TypeError for any other object."""
        chunks, self._closing = open_async_source(source)
        self._events = _read_events_async(parser, chunks, self._closing)
        self.parser = parser

    def __aiter__(self) -> AsyncGenerator[Event, None]:
        """Return the generator itself, so that the loop pays for nothing else."""
        return self._events

    def __anext__(self) -> Awaitable[Event]:
        """Return the next event."""
        return self._events.__anext__()

    async def aclose(self) -> None:
        """End the loop and close the source; a second time does nothing."""
        try:
            await self._events.aclose()
        finally:
            await self._closing.aclose()

    async def __aexit__(self, *_: object) -> None:
        """Close the source."""
        await self.aclose()


def iter_events(
    chunks: Source,
    wire: WireName = "auto",
    *,
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Reasoning = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    strict: bool = False,
    choice: int = 0,
    quoted: Quoted = "text",
) -> EventStream:
    """Return the events of a stream as its chunks come, the last of them `Done`.

    `chunks` is any iterable of bytes, text, decoded messages or SDK objects, or a response of an HTTP client; it is
    closed at the end.  The other arguments are `StreamParser`'s.

    `Done` comes with the server's end marker, even if the connection stays open.  The loop then reads what is left of
    the body, which should be nothing: an HTTP client reuses a connection only if its body has ended.  Leave the loop
    at `Done` to wait for nothing.  Of wires without a marker, and of Anthropic and Responses, whose bodies may
    hold several answers, `Done` comes with the end of the body.

    An exception of the source is raised, after the events of what came before it and a `Done(ok=False)`; if the answer
    was over, after its own `Done`.
    Misuse raises at once: TypeError for an object that is not a source, ValueError for an unknown wire or dialect.
    """
    parser = StreamParser(
        wire,
        dialects=dialects,
        tools=tools,
        reasoning=reasoning,
        limits=limits,
        strict=strict,
        choice=choice,
        quoted=quoted,
    )
    parser.stop_when_sealed()
    return EventStream(parser, chunks)


def aiter_events(
    chunks: AsyncSource,
    wire: WireName = "auto",
    *,
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Reasoning = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    strict: bool = False,
    choice: int = 0,
    quoted: Quoted = "text",
) -> AsyncEventStream:
    """Return the events of a stream as its chunks come, the last of them `Done`; see `iter_events`.

    After `Done` it waits for the end of the body one second at most.
    `chunks` may be async or not; one that is not is read on the event loop, so it should be at hand already.
    """
    parser = StreamParser(
        wire,
        dialects=dialects,
        tools=tools,
        reasoning=reasoning,
        limits=limits,
        strict=strict,
        choice=choice,
        quoted=quoted,
    )
    parser.stop_when_sealed()
    return AsyncEventStream(parser, chunks)


# The generators know nothing of the classes above: a cycle would keep an abandoned loop alive until the collector runs.


def _read_events(parser: StreamParser, chunks: Iterator[Chunk], closing: Closing) -> Generator[Event, None, None]:
    with closing:
        while True:
            try:
                chunk = next(chunks)
            except StopIteration:
                break
            except Exception as error:
                yield from parser.abort("transport_error", describe_transport(error))
                raise
            events = parser.feed(chunk)
            yield from events
            if not parser.can_go_on:
                if events and type(events[-1]) is Done:  # a limit was hit: what follows would only be thrown away
                    return
                break
        yield from parser.close()
        for _chunk in islice(chunks, _MAX_DRAINED):
            pass


async def _read_events_async(
    parser: StreamParser, chunks: AsyncIterator[Chunk], closing: AsyncExitStack
) -> AsyncGenerator[Event, None]:
    async with closing:
        while True:
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                break
            except Exception as error:
                for event in parser.abort("transport_error", describe_transport(error)):
                    yield event
                raise
            events = parser.feed(chunk)
            for event in events:
                yield event
            if not parser.can_go_on:
                if events and type(events[-1]) is Done:  # a limit was hit: what follows would only be thrown away
                    return
                break
        for event in parser.close():
            yield event
        await drain(chunks)


async def drain(chunks: AsyncIterator[Chunk]) -> None:
    """Read the rest of a body whose answer is over, for a while: a server may keep the connection open for ever."""
    from anyio import move_on_after  # noqa: PLC0415 - keeps `import streamparse` light

    with move_on_after(_DRAIN_SECONDS):
        for _ in range(_MAX_DRAINED):
            if await anext(chunks, None) is None:
                return


def describe_transport(error: Exception) -> str:
    """Say what a source raised, in the words of a `transport_error`."""
    return f"{type(error).__name__}: {error}"[:200]
