"""Loops over a parser: chunks from anywhere in, events out, sync or async.

    for event in iter_events(response, "anthropic"): ...

    async with aiter_events(response, "openai-chat", tools=tools) as events:
        async for event in events: ...

A source is closed when its loop ends, however it ends.  A network failure is told twice, since two readers care:
first as events (`Error("transport_error")`, an error for each open call, `Done(ok=False)`), then as the source's own
exception.  No other exception and no cancellation is touched on its way through.
"""

from __future__ import annotations

from streamparse.streams.loops import AsyncEventStream, EventStream, aiter_events, iter_events
from streamparse.streams.sources import AsyncSource, Chunk, Source

__all__ = ["AsyncEventStream", "AsyncSource", "Chunk", "EventStream", "Source", "aiter_events", "iter_events"]
