"""A proxy and its upstream on real sockets: the applications run under uvicorn, each in a thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn

from streamparse import proxy

__all__ = ["Upstream", "proxied", "serving"]


class _Running:
    """An application that uvicorn runs in a thread of its own, on a free local port."""

    def __init__(self, application: Any):
        config = uvicorn.Config(application, port=0, log_level="critical", ws="none", lifespan="auto", loop="asyncio")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.002)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"


def _stop(*applications: _Running) -> None:
    for each in applications:  # all are told before one is waited for: uvicorn takes its time
        each.server.should_exit = True
    for each in applications:
        each.thread.join()


@contextmanager
def serving(application: Any) -> Iterator[str]:
    """The URL of an ASGI application on a free local port."""
    running = _Running(application)
    try:
        yield running.url
    finally:
        _stop(running)


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
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
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
