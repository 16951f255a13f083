"""A proxy and its upstream on real sockets: the applications run under uvicorn, each in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn

from streamparse import proxy

__all__ = ["Upstream", "proxied", "read_body", "serving"]


class _Server(uvicorn.Server):
    """Starts and stops as soon as it can: uvicorn's own looks ten times a second whether it is to stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._told = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()

    async def main_loop(self) -> None:
        await self._told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for each in (*self.servers, *(sockets or ())):
            each.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.001)
        await self.lifespan.shutdown()

    def stop(self) -> None:
        """Stop as soon as what was asked is answered; from any thread."""
        self._loop.call_soon_threadsafe(self._told.set)


class _Running:
    """An application that uvicorn runs in a thread of its own, on a free local port."""

    def __init__(self, application: Any, **options: Any):
        defaults = {"port": 0, "log_level": "critical", "ws": "none", "lifespan": "auto"}
        options = defaults | {"loop": "asyncio", "http": "h11"} | options
        self.server = _Server(uvicorn.Config(application, **options))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        self.server.ready.wait()
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"


def _stop(*applications: _Running) -> None:
    for each in applications:  # all are told before one is waited for
        each.server.stop()
    for each in applications:
        each.thread.join()


@contextmanager
def serving(application: Any, **options: Any) -> Iterator[str]:
    """The URL of an ASGI application on a free local port; `options` are uvicorn's."""
    running = _Running(application, **options)
    try:
        yield running.url
    finally:
        _stop(running)


async def read_body(receive: Any) -> bytes:
    """The whole body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


class Upstream:
    """A server that answers every request with the same chunks, and keeps what it was asked.

    `gate` is called before each chunk with its number, in a thread, and may wait; `left` is set when the client of
    this server goes before the end.
    """

    def __init__(self, chunks: Sequence[bytes] = (), *, status: int = 200, headers: Sequence[tuple[str, str]] = ()):
        self.chunks = chunks
        self.status = status
        self.headers = headers or [("content-type", "text/event-stream")]
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.gate: Callable[[int], object] | None = None
        self.left = threading.Event()
        self.breaks = False
        self.sent = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body = await read_body(receive)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        path = (scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")).decode()
        self.asked.append((scope["method"], path, headers, body))
        answer = asyncio.create_task(self._answer(send))
        leaving = asyncio.create_task(self._leave(receive))
        await asyncio.wait([answer, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            self.left.set()
        for task in (answer, leaving):
            task.cancel()
        await asyncio.gather(answer, leaving, return_exceptions=True)
        if self.breaks:
            raise ConnectionError("the connection breaks here")

    async def _answer(self, send: Any) -> None:
        headers = [(name.encode(), value.encode()) for name, value in self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for number, chunk in enumerate(self.chunks):
            if self.gate is not None:
                await asyncio.to_thread(self.gate, number)
            self.sent += len(chunk)  # before the send: who has read the chunk finds it counted
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if not self.breaks:
            await send({"type": "http.response.body", "body": b""})

    async def _leave(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


@contextmanager
def proxied(upstream: Any, **options: Any) -> Iterator[str]:
    """The URL of a proxy in front of an application; `options` are `proxy.app`'s."""
    server = _Running(upstream)
    try:
        front = _Running(proxy.app(server.url, **options))
    except BaseException:
        _stop(server)
        raise
    try:
        yield front.url
    finally:
        _stop(front, server)
