"""Where chunks come from: what a source may be, how it is opened, and how it is closed.

Clients and SDKs are known by the methods they have; none is imported.

| source | read by | examples |
|---|---|---|
| has `iter_sse` and a `response` | the response's bytes | httpx-sse `EventSource` |
| has `iter_bytes` / `aiter_bytes` | that method | httpx `Response`, an SDK's raw response |
| has `iter_content` | `iter_content(chunk_size=None)` | requests `Response` |
| has `content.iter_any` | that method | aiohttp `ClientResponse` |
| has `iter_sse` / `aiter_sse` | that method | other event source clients |
| bytes, text, a mapping | itself, as the only chunk | a body at hand |
| any iterable or async iterable | iteration | generators, files, sockets, SDK streams, recordings |
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any, TypeAlias

__all__ = ["AsyncSource", "Chunk", "Source", "message_of", "open_async_source", "open_source"]

Chunk: TypeAlias = Any
"""Bytes, text, a decoded message, or an object of an SDK that can dump itself into one."""

Source: TypeAlias = Any
"""An iterable of chunks, or a response object (see the table above)."""

AsyncSource: TypeAlias = Any
"""An iterable or async iterable of chunks, or a response object (see the table above)."""

Message: TypeAlias = bytes | memoryview | str | dict[str, Any]
"""What a parser can be fed."""

_AS_IT_CAME = {"mode": "json", "by_alias": True, "exclude_unset": True}
"""How pydantic makes an object into the JSON that it was read from."""

_LINE_END = re.compile(r"\r\n|\r|\n")


def message_of(chunk: Chunk) -> Message:
    """Return what the parser can be fed for a chunk; raise TypeError if the chunk is nothing of the kind."""
    match chunk:
        case bytes() | str() | memoryview() | dict():
            return chunk
        case bytearray():
            return bytes(chunk)
        case Mapping():
            return dict(chunk)
    if isinstance(getattr(chunk, "data", None), str) and hasattr(chunk, "event"):
        return _event_stream_text(chunk.event, chunk.data)
    if dump := _method(chunk, "to_dict"):  # before model_dump: the OpenAI and Anthropic SDKs keep the API's names here
        return dict(dump())
    if dump := _method(chunk, "model_dump"):
        return dict(dump(**_AS_IT_CAME if hasattr(chunk, "__pydantic_serializer__") else {}))
    raise TypeError(f"a chunk must be bytes, str, a mapping or an SDK's object, not {type(chunk).__name__}")


def open_source(source: Source) -> tuple[Iterator[Chunk], ExitStack]:
    """Return the chunks of a source and the stack whose `close()` closes it, once; raise TypeError if it is none."""
    source = _body_of(source, prefix="")
    chunks = iter(_opened(source, prefix=""))
    closing = ExitStack()
    for thing in _distinct(source, chunks):
        if close := _method(thing, "close"):
            closing.callback(close)
    return chunks, closing


def open_async_source(source: AsyncSource) -> tuple[AsyncIterator[Chunk], AsyncExitStack]:
    """Return the chunks of a source and the stack whose `aclose()` closes it, once; raise TypeError if it is none."""
    source = _body_of(source, prefix="a")
    opened = _opened(source, prefix="a")
    if isinstance(opened, AsyncIterable):
        own = aiter(opened)
        return own, _closing(source, own)
    sync = iter(opened)
    in_turns = _in_turns(sync)
    return in_turns, _closing(source, sync, in_turns)


def _closing(*things: object) -> AsyncExitStack:
    """Return what closes the things, the last one first."""
    closing = AsyncExitStack()
    for thing in _distinct(*things):
        closing.push_async_callback(_close, thing)
    return closing


def _body_of(source: Source, prefix: str) -> Source:
    """Return the response behind an event source: its bytes are read with fewer detours than its events."""
    response = getattr(source, "response", None)
    is_event_source = _method(source, f"{prefix}iter_sse") and _method(response, f"{prefix}iter_bytes")
    return response if is_event_source else source


def _opened(source: Source, prefix: str) -> Any:
    if isinstance(source, bytes | bytearray | memoryview | str | Mapping):
        return (source,)
    if iter_bytes := _method(source, f"{prefix}iter_bytes"):
        return iter_bytes()
    if prefix and (iter_any := _method(getattr(source, "content", None), "iter_any")):
        return iter_any()
    if iter_content := _method(source, "iter_content"):
        return iter_content(chunk_size=None)  # as they arrive; the default is one byte at a time
    if iter_sse := _method(source, f"{prefix}iter_sse"):
        return iter_sse()
    if isinstance(source, Iterable) or (prefix and isinstance(source, AsyncIterable)):
        return source
    wanted = "an iterable, an async iterable" if prefix else "an iterable"
    raise TypeError(f"a source of chunks must be {wanted} or a response object, not {type(source).__name__}")


def _method(thing: object, name: str) -> Callable[..., Any] | None:
    method = getattr(thing, name, None)
    return method if callable(method) else None


def _distinct(*things: object) -> list[object]:
    return list({id(thing): thing for thing in things}.values())


async def _in_turns(chunks: Iterator[Chunk]) -> AsyncIterator[Chunk]:
    """Yield the chunks of a sync source, and let other tasks run after each."""
    from anyio.lowlevel import checkpoint  # noqa: PLC0415 - the only need for anyio: keeps `import streamparse` light

    for chunk in chunks:
        yield chunk
        await checkpoint()


async def _close(thing: object) -> None:
    """Close by `aclose` or `close`, whichever there is, and wait for it if it must be waited for."""
    close = _method(thing, "aclose") or _method(thing, "close")
    if close and inspect.isawaitable(outcome := close()):
        await outcome


def _event_stream_text(event: object, data: str) -> str:
    """Write a decoded server-sent event as it was on the wire."""
    lines = [f"data: {line}\n" for line in _LINE_END.split(data)]
    if isinstance(event, str) and event:
        lines.insert(0, f"event: {_LINE_END.split(event)[0]}\n")
    return "".join(lines) + "\n"
