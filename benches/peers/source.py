"""A stream as a server would send it, for libraries that insist on a client: an HTTP transport in memory.

The transports count what was taken from them, so that the moment at which a library gives out a call can be told in
bytes. None of them waits: what is measured is work, not a network.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from types import ModuleType
from typing import Any

__all__ = ["Source", "async_transport", "transport"]

_TYPES = {"ollama-chat": "application/x-ndjson"}


class Source:
    """The reads of one stream, handed out one by one; `taken` is the number of bytes handed out."""

    def __init__(self) -> None:
        self.load("", ())

    def load(self, wire: str, reads: Sequence[bytes]) -> None:
        self.wire, self.taken, self.count = wire, 0, 0
        self._rest = iter(reads)

    def __iter__(self) -> Iterator[bytes]:
        """What has not been taken yet: a client that reads on after the end of the answer does not begin anew."""
        for read in self._rest:
            self.taken += len(read)
            self.count += 1
            yield read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for read in self:
            yield read

    @property
    def content_type(self) -> str:
        return _TYPES.get(self.wire, "text/event-stream; charset=utf-8")


def transport(http: ModuleType, source: Source) -> Any:
    """A transport for the clients of `httpx` (or of a fork with the same interface) that answers with the source."""

    class Body(http.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            return iter(source)

    def answer(_: Any) -> Any:
        return http.Response(200, headers={"content-type": source.content_type}, stream=Body())

    return http.MockTransport(answer)


def async_transport(http: ModuleType, source: Source) -> Any:
    """The same for asynchronous clients."""

    class Body(http.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __aiter__(self) -> AsyncIterator[bytes]:
            return source.__aiter__()

    def answer(_: Any) -> Any:
        return http.Response(200, headers={"content-type": source.content_type}, stream=Body())

    return http.MockTransport(answer)
