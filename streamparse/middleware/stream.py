"""The step for clients that return a stream."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any

from streamparse.dialects import Dialects
from streamparse.parser import StreamParser
from streamparse.parser.loops import AsyncEventStream, EventStream, aiter_events, iter_events

__all__ = ["ReadStream"]

_BODIES = ("response", "stream", "content")
"""Where the stream itself is found: of an event source, of a response of HTTPX, of one of aiohttp."""


class ReadStream:
    """Makes the loop of events of whatever stream the client returned, by the tools of the request.

    That is what `iter_events` returns, or for an async client's stream `aiter_events`: its `parser` has the whole
    response at the end, and closing it closes the client's stream.  Raises ValueError for unknown names.
    """

    def __init__(self, wire: str = "auto", *, dialects: Dialects = "auto") -> None:
        self._wire = wire
        self._dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        StreamParser(wire, dialects=self._dialects)  # raises at once if a name is unknown

    def process_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Requests pass."""
        return request

    def process_response(self, response: Any, request: Mapping[str, Any]) -> EventStream | AsyncEventStream:
        """Open the stream; nothing is read yet.  Raises TypeError for what is no stream."""
        tools = request.get("tools")
        if _is_async(response):
            return aiter_events(response, self._wire, dialects=self._dialects, tools=tools)
        return iter_events(response, self._wire, dialects=self._dialects, tools=tools)


def _is_async(stream: Any) -> bool:
    """Whether a stream, or what is in it, is read with `async for`."""
    if isinstance(stream, (Iterable, AsyncIterable)):
        return isinstance(stream, AsyncIterable)
    inner = next((name for name in _BODIES if hasattr(stream, name)), None)
    return inner is not None and _is_async(getattr(stream, inner))
