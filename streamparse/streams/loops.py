"""The two loops: one parser, one source, one list of events for each chunk.

Between the source and the caller there is a single generator: no queue, no task, no scope for each event.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack
from types import TracebackType
from typing import Any, Self

from streamparse.events import Done, Event
from streamparse.limits import Limits
from streamparse.parser import Dialects, Reasoning, StreamParser
from streamparse.streams.sources import AsyncSource, Chunk, Source, message_of, open_async_source, open_source

__all__ = ["AsyncEventStream", "EventStream", "aiter_events", "iter_events"]


class EventStream(Iterator[Event]):
    """The events of a source, in a `for` loop; what `iter_events` returns.

    Leaving the loop early closes the source as soon as CPython drops the loop's iterator; `close()` or a `with`
    block closes it at a moment of your choice.  `parser` is the parser at work: its `response` and `stats` are
    good at any time.
    """

    def __init__(self, parser: StreamParser, source: Source) -> None:
        """Open the source; nothing is read yet.  Raise TypeError if it is no source."""
        chunks, self._closing = open_source(source)
        self._events = _events(parser, chunks, self._closing)
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

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the source."""
        self.close()


class AsyncEventStream(AsyncIterator[Event]):
    """The events of a source, in an `async for` loop; what `aiter_events` returns.

    Use it in an `async with` block: then the source is closed when the block ends, on `break`, exceptions and
    cancellation alike.  A bare `async for` that is left early is closed by the event loop when it finds the time
    (asyncio does so in a task of its own; trio warns, and closes without waiting).

    `parser` is the parser at work: its `response` and `stats` are good at any time.
    """

    def __init__(self, parser: StreamParser, source: AsyncSource) -> None:
        """Open the source; nothing is read yet.  Raise TypeError if it is no source."""
        chunks, self._closing = open_async_source(source)
        self._events = _async_events(parser, chunks, self._closing)
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

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the source."""
        await self.aclose()


def iter_events(
    chunks: Source,
    wire: str = "auto",
    *,
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Reasoning = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    strict: bool = False,
    choice: int = 0,
) -> EventStream:
    """Return the events of a stream as its chunks come, the last of them `Done`.

    `chunks` is any iterable of bytes, text, decoded messages or SDK objects, or a response of an HTTP client; it is
    closed at the end.  The other arguments are `StreamParser`'s.

    An exception of the source is raised, after the events of what came before it and a `Done(ok=False)`.
    Misuse raises at once: TypeError for what is no source, ValueError for an unknown wire or dialect.
    """
    parser = StreamParser(
        wire, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits, strict=strict, choice=choice
    )
    return EventStream(parser, chunks)


def aiter_events(
    chunks: AsyncSource,
    wire: str = "auto",
    *,
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Reasoning = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    strict: bool = False,
    choice: int = 0,
) -> AsyncEventStream:
    """Return the events of a stream as its chunks come, the last of them `Done`; see `iter_events`.

    `chunks` may be async or not; one that is not is read on the event loop, so it should be at hand already.
    """
    parser = StreamParser(
        wire, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits, strict=strict, choice=choice
    )
    return AsyncEventStream(parser, chunks)


# The generators know nothing of the classes above: a cycle would keep an abandoned loop alive until the collector runs.


def _events(parser: StreamParser, chunks: Iterator[Chunk], closing: ExitStack) -> Generator[Event, None, None]:
    with closing:
        while True:
            try:
                chunk = next(chunks)
            except StopIteration:
                break
            except Exception as error:
                yield from parser.abort("transport_error", _description(error))
                raise
            events = parser.feed(chunk if type(chunk) is bytes else message_of(chunk))
            yield from events
            if events and type(events[-1]) is Done:  # a limit was hit: what follows would only be thrown away
                return
        yield from parser.close()


async def _async_events(
    parser: StreamParser, chunks: AsyncIterator[Chunk], closing: AsyncExitStack
) -> AsyncGenerator[Event, None]:
    async with closing:
        while True:
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                break
            except Exception as error:
                for event in parser.abort("transport_error", _description(error)):
                    yield event
                raise
            events = parser.feed(chunk if type(chunk) is bytes else message_of(chunk))
            for event in events:
                yield event
            if events and type(events[-1]) is Done:  # a limit was hit: what follows would only be thrown away
                return
        for event in parser.close():
            yield event


def _description(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
