"""Where chunks come from: what a source may be, how it is opened, and how it is closed.

Clients and SDKs are known by their classes and the methods they have; none is imported.

| source | read by | examples |
|---|---|---|
| bytes, text, a mapping, an SDK's object | itself, as the only chunk | a body at hand |
| a response of an SDK | that of the HTTP client in it | `with_raw_response`, `with_streaming_response` |
| has `iter_sse` and a `response` | the response's bytes | httpx-sse `EventSource` |
| has `iter_bytes` / `aiter_bytes` | that method | httpx `Response` |
| has `iter_content` | its `raw`, or `iter_content(chunk_size=None)` | requests `Response` |
| has `content.iter_any` | that method | aiohttp `ClientResponse` |
| has `iter_sse` / `aiter_sse` | that method | other event source clients |
| a mapping that holds an event stream | that stream | boto3's `converse_stream` |
| the manager of an SDK's stream | what it gives, entered and left by the loop | `client.messages.stream(...)` |
| any iterable or async iterable | iteration | generators, files, sockets, SDK streams, recordings |
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

from streamparse.parser.chunks import declares_fields, is_answer, is_model
from streamparse.parser.to_builtins import find_stream, has_method, is_sdk_response_class, unwrap_http_response

Chunk: TypeAlias = Any
"""Bytes, text, a decoded message, or an object of an SDK that holds one."""

Source: TypeAlias = Any
"""An iterable of chunks, or a response object (see the table above)."""

AsyncSource: TypeAlias = Any
"""An iterable or async iterable of chunks, or a response object (see the table above)."""

_PIECE: Final = 65536  # bound: bytes that are asked of a response at a time
_MANAGERS: Final = ("StreamManager", "ResponseContextManager")
_TAKES: Final = "a source of chunks must be an iterable or a response object"
_TAKES_ASYNC: Final = "a source of chunks must be an iterable, an async iterable or a response object"


class Closing:
    """Closes things once, the last one first, whatever closing one of them raises; used as a context manager or not.

    An `ExitStack` would do the same, and cost as much as ten chunks.
    """

    __slots__ = ("_closes",)

    def __init__(self, *closes: Callable[[], object]) -> None:
        self._closes = [*closes]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is not closed yet."""
        if self._closes:
            close = self._closes.pop()
            try:
                close()
            finally:
                if self._closes:
                    self.close()


def open_source(source: Source) -> tuple[Iterator[Chunk], Closing]:
    """Return the chunks of a source and what closes it, once; TypeError for anything else."""
    is_response = _is_response_class(source.__class__)
    if not is_response:
        source = _unwrap(source, prefix="")
        is_response = _is_response_class(source.__class__)
    if is_response and not _is_async(source):
        chunks = iter(source.iter_bytes())
    else:
        chunks = _enter(source) if _is_manager(source, AbstractContextManager) else iter(_open(source))
    closes = [_find_method(thing, "close") for thing in ((source,) if chunks is source else (source, chunks))]
    return chunks, Closing(*filter(None, closes))


def open_async_source(source: AsyncSource) -> tuple[AsyncIterator[Chunk], AsyncExitStack]:
    """Return the chunks of a source and the stack whose `aclose()` closes it, once; TypeError for anything else."""
    source = _unwrap(source, prefix="a")
    if _is_manager(source, AbstractAsyncContextManager):
        entered = _enter_async(source)
        return entered, _make_closing(entered)
    opened = _enter(source) if _is_manager(source, AbstractContextManager) else _open_async(source)
    if isinstance(opened, AsyncIterable):
        own = aiter(opened)
        return own, _make_closing(source, own)
    sync = iter(opened)
    in_turns = _take_turns(sync)
    closing = _make_closing(source, sync, names=("close", "aclose"))
    closing.push_async_callback(in_turns.aclose)
    return in_turns, closing


@lru_cache(256)
def _is_response_class(kind: type) -> bool:
    """Whether `iter_bytes` is all that the objects of a class are known by, as a response of httpx is."""
    others = (bytes, bytearray, memoryview, str, Mapping)
    names = ("iter_content", "iter_sse", "aiter_sse")
    return (
        callable(getattr(kind, "iter_bytes", None))
        and not any(hasattr(kind, name) for name in names)
        and not (is_sdk_response_class(kind) or declares_fields(kind) or issubclass(kind, others))
        and not kind.__name__.endswith(_MANAGERS)
    )


def _make_closing(*things: object, names: tuple[str, str] = ("aclose", "close")) -> AsyncExitStack:
    """Return what closes the things by the first of these methods that they have, the last one first."""
    closing = AsyncExitStack()
    for thing in _drop_repeats(*things):
        closing.push_async_callback(_close, thing, *names)
    return closing


def _unwrap(source: Source, prefix: str) -> Source:
    """Return the innermost response: its bytes come with the fewest detours."""
    source = unwrap_http_response(source)
    if isinstance(source, Mapping) and (found := find_stream(source)) is not None:
        return found[1]
    is_event_source = has_method(source, f"{prefix}iter_sse") and hasattr(source, "response")
    return source.response if is_event_source and has_method(source.response, f"{prefix}iter_bytes") else source


def _open(source: Source) -> Iterable[Chunk]:
    if _is_at_hand(source):
        return (source,)
    if _is_async(source):
        raise TypeError(f"this {type(source).__name__} is asynchronous: pass it to aiter_events")
    if has_method(source, "iter_content"):
        return _iter_content(source)
    if method := _find_method(source, "iter_bytes") or _find_method(source, "iter_sse"):
        chunks: Iterable[Chunk] = method()
        return chunks
    if isinstance(source, Iterable):
        return source
    raise TypeError(_explain_refusal(source, _TAKES))


def _open_async(source: Source) -> Iterable[Chunk] | AsyncIterable[Chunk]:
    chunks: AsyncIterable[Chunk]
    if _is_at_hand(source):
        return (source,)
    if (method := _find_method(source, "aiter_bytes")) and not _is_sync_stream(getattr(source, "stream", None)):
        chunks = method()
        return chunks
    if (content := _find_async_content(source)) is not None:
        chunks = content.iter_any()
        return chunks
    if method := _find_method(source, "aiter_sse"):
        chunks = method()
        return chunks
    if isinstance(source, AsyncIterable):
        return source
    try:
        return _open(source)
    except TypeError:
        raise TypeError(_explain_refusal(source, _TAKES_ASYNC)) from None


def _iter_content(response: Any) -> Iterable[bytes]:
    """Return the body of a response of requests, as it arrives."""
    raw: Any = getattr(response, "raw", None)
    if has_method(raw, "read1") and not raw.closed and not getattr(raw, "chunked", False):
        return iter(partial(raw.read1, _PIECE, decode_content=True), b"")  # iter_content waits for the whole body
    chunks: Iterable[bytes] = response.iter_content(chunk_size=None)
    return chunks


def _is_at_hand(source: Source) -> bool:
    """Whether a source is a single chunk.  Pydantic's models are iterables, too: of their fields."""
    if isinstance(source, (bytes, bytearray, memoryview, str, Mapping)):
        return True
    is_stream = isinstance(source, (Iterable, AsyncIterable)) and not (is_model(source) or isinstance(source, tuple))
    return is_answer(source) and not is_stream


def _is_async(source: Source) -> bool:
    """Whether a source can be read by an async loop alone."""
    if has_method(source, "iter_bytes"):
        stream = getattr(source, "stream", None)
        return isinstance(stream, AsyncIterable) and not isinstance(stream, Iterable)
    is_sync = isinstance(source, Iterable) or any(has_method(source, name) for name in ("iter_content", "iter_sse"))
    is_async = isinstance(source, AsyncIterable) or any(
        has_method(source, f"aiter_{name}") for name in ("bytes", "sse")
    )
    is_manager = _is_manager(source, AbstractAsyncContextManager)
    return not is_sync and (is_async or is_manager or _find_async_content(source) is not None)


def _is_sync_stream(stream: object) -> bool:
    """Whether the stream of a response of httpx, whose class has both methods, can only be read by one."""
    return isinstance(stream, Iterable) and not isinstance(stream, AsyncIterable)


def _find_async_content(source: Source) -> Any:
    """Return the body of a response of aiohttp; None for others."""
    if has_method(source, "iter_bytes") or has_method(source, "iter_content"):
        return None
    content = getattr(source, "content", None)
    return content if has_method(content, "iter_any") else None


def _is_manager(source: Source, kind: type) -> bool:
    """Whether a source is what an SDK's `.stream()` or `with_streaming_response` gives, to be entered first."""
    return isinstance(source, kind) and type(source).__name__.endswith(_MANAGERS)


def _enter(manager: AbstractContextManager[Source]) -> Generator[Chunk, None, None]:
    """Send the request when the first chunk is asked for, and leave the manager at the end."""
    with manager as source:
        chunks, closing = open_source(source)
        with closing:
            yield from chunks


async def _enter_async(manager: AbstractAsyncContextManager[AsyncSource]) -> AsyncGenerator[Chunk, None]:
    async with manager as source:
        chunks, closing = open_async_source(source)
        async with closing:
            async for chunk in chunks:
                yield chunk


def _explain_refusal(source: Source, takes: str) -> str:
    """Say in a sentence why an object is not a source, and what to pass instead."""
    name = type(source).__name__
    if inspect.isawaitable(source):
        return f"this {name} must be awaited: pass what it returns"
    if isinstance(source, (AbstractContextManager, AbstractAsyncContextManager)):
        return f"this {name} is a context manager: pass what its `with` block gives"
    return f"{takes}, not {name}"


def _find_method(thing: object, name: str) -> Callable[..., Any] | None:
    return getattr(thing, name) if has_method(thing, name) else None


def _drop_repeats(*things: object) -> list[object]:
    return list({id(thing): thing for thing in things}.values())


async def _take_turns(chunks: Iterator[Chunk]) -> AsyncGenerator[Chunk, None]:
    """Yield the chunks of a sync source, and let other tasks run after each."""
    from anyio.lowlevel import checkpoint  # noqa: PLC0415 - the only need for anyio: keeps `import streamparse` light

    for chunk in chunks:
        yield chunk
        await checkpoint()


async def _close(thing: object, *names: str) -> None:
    """Close by the first of the methods that there is, and wait for it if it must be waited for."""
    close = next((method for name in names if (method := _find_method(thing, name))), None)
    if close and inspect.isawaitable(outcome := close()):
        await outcome
