"""The proxy's connections to its server: httpcore's pool of them, with streams that are cheap to read.

A stream of tokens is many small reads.  httpcore's own streams open a cancel scope for the time limit of each, which is
a fifth of the CPU that a token costs in the proxy.  Here a read has no time limit of its own: `Exchange` watches for a
server that is silent.  Imported on use, for it imports the HTTP client.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpcore
import httpx
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSAttribute, TLSStream

_TLS_FAILURES = (OSError, anyio.BrokenResourceError, anyio.EndOfStream)


class Transport(httpx.AsyncBaseTransport):
    """Sends the requests of an httpx client.  Of their time limits that of a read is not kept."""

    def __init__(self, limits: httpx.Limits, ssl_context: ssl.SSLContext) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_Backend(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return its answer once the head is there."""
        url = request.url
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _raise_as_httpx():
            answer = await self._pool.handle_async_request(asked)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._answer.stream
        assert isinstance(stream, AsyncIterable)
        with _raise_as_httpx():
            async for piece in stream:
                yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


@contextmanager
def _raise_as_httpx() -> Iterator[None]:
    """Raise an error of httpcore as the one of httpx that has the same name."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


class _Backend(httpcore.AsyncNetworkBackend):
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - the pool has none
    ) -> httpcore.AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                return _Stream(await anyio.connect_tcp(host, port, local_host=local_address))
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(error) from error
        except OSError as error:
            raise httpcore.ConnectError(error) from error


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._receive = stream.receive

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - see above
        try:
            return await self._receive(max_bytes)
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise httpcore.ReadError(error) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            with anyio.fail_after(timeout):
                await self._stream.send(buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(error) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise httpcore.WriteError(error) from error

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                wrapped = await TLSStream.wrap(
                    self._stream, hostname=server_hostname, ssl_context=ssl_context, standard_compatible=False
                )
        except TimeoutError as error:
            await self.aclose()
            raise httpcore.ConnectTimeout(error) from error
        except _TLS_FAILURES as error:
            await self.aclose()
            raise httpcore.ConnectError(error) from error
        return _Stream(wrapped)

    def get_extra_info(self, info: str) -> Any:
        """Return what the pool asks for: a connection that is readable before it is asked anything has ended."""
        if info == "ssl_object":
            return self._stream.extra(TLSAttribute.ssl_object, None)
        if info == "is_readable":
            return _is_readable(self._stream.extra(SocketAttribute.raw_socket))
        return None


def _is_readable(sock: socket.socket) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()  # `select` takes no descriptor above 1023
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
