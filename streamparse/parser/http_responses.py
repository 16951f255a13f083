"""Responses of HTTP clients and SDKs, known by their classes and methods; none is imported.

| what | known by | its answer |
|---|---|---|
| an SDK's raw response | its class, `APIResponse` or the like, in a module `_response` | that of its `http_response` |
| a response of httpx, httpx2 or requests | methods `iter_bytes` or `iter_content`, and `content` | its `content` |
| an event stream or a body of boto3 | its class, of botocore or aiobotocore | to be read by the caller |
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from typing import Any, Final

from streamparse.parser.records import has_base

__all__ = ["NoAnswer", "body_at_hand", "has_method", "http_response_of", "is_http_response", "refusal", "stream_in"]

_API_RESPONSES: Final = ("BaseAPIResponse", "APIResponse", "AsyncAPIResponse", "LegacyAPIResponse")


class NoAnswer(TypeError):
    """A thing is no answer; says in a sentence what to pass instead."""


def has_method(thing: object, name: str) -> bool:
    """Whether the class of a thing has a method: an object that answers to every name has none."""
    return callable(getattr(thing.__class__, name, None))


def http_response_of(thing: Any) -> Any:
    """Return the HTTP client's response that an SDK has wrapped; anything else as it is."""
    modules = ("_response", "_legacy_response")
    is_wrapped = any(
        base.__name__ in _API_RESPONSES and base.__module__.rpartition(".")[2] in modules
        for base in thing.__class__.__mro__
    )
    return thing.http_response if is_wrapped else thing


def is_http_response(thing: object) -> bool:
    """Whether a thing is the response of an HTTP client that has its body at hand once it was read."""
    return hasattr(thing.__class__, "content") and (
        has_method(thing, "iter_bytes") or has_method(thing, "iter_content")
    )


def body_at_hand(response: Any) -> bytes:
    """Return the bytes of a response; raise NoAnswer if they have not been read."""
    try:
        content = response.content
    except RuntimeError as error:  # httpx.ResponseNotRead, and requests' word for a body that was taken
        name = response.__class__.__name__
        raise NoAnswer(f"this {name} has not been read: read it, or pass it to iter_events or aiter_events") from error
    return bytes(content)


def stream_in(body: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the key and the stream, or body, that a response of boto3 holds; None if it holds none."""
    return next(((key, each) for key, each in body.items() if _is_of_boto(each)), None)


def _is_of_boto(value: object) -> bool:
    kind = value.__class__
    streams = ("EventStream", "AioEventStream", "StreamingBody", "AioStreamingBody")
    return any(has_base(kind, package, *streams) for package in ("botocore", "aiobotocore"))


def refusal(thing: object) -> str:
    """Say in a sentence why a thing is no answer, and what to pass instead."""
    name = thing.__class__.__name__
    if inspect.isawaitable(thing):
        return f"a response must not be awaited for: await this {name} first"
    if isinstance(thing, Mapping) and (found := stream_in(thing)) is not None:
        key, stream = found
        if has_method(stream, "read"):
            return f"the body of this answer has not been read: pass what its {key!r} reads"
        return f"this answer is a stream: pass its {key!r} to iter_events or aiter_events"
    if isinstance(thing, Sequence):
        kinds = ", ".join(sorted({each.__class__.__name__ for each in thing}))
        return f"a response must be a list of its chunks, and not all of these are: {kinds}"
    if isinstance(thing, (Iterable, AsyncIterable)):
        return f"a response must be whole: pass this {name} to iter_events or aiter_events, or a list of its chunks"
    return f"a response must be bytes, str, a mapping, a list of chunks or an SDK's object, not {name}"
