"""The proxy itself: an ASGI application between a client and one server.

| request | what happens |
|---|---|
| `POST /v1/chat/completions`, `/v1/messages`, `/api/chat` | asked of the server in its words, read, written anew |
| the same without tools, in the server's own wire | passed through |
| anything else | passed through |

One answer is one task: a piece is read from the server when the one before has been taken by the client.  When the
client leaves, the connection to the server is closed.
"""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from streamparse.proxy.asgi import Receive, Scope, Send, TooLarge, left, read_request, respond
from streamparse.proxy.asked import CLIENT_WIRES, Asked, asked_of
from streamparse.proxy.client import client_of
from streamparse.proxy.exchange import Exchange
from streamparse.proxy.headers import Headers, crossing, for_upstream, unaddressed
from streamparse.proxy.settings import PATHS, Settings
from streamparse.proxy.target import BadTarget, address, target_of

if TYPE_CHECKING:
    import httpx

__all__ = ["Proxy"]


class Proxy:
    """The ASGI application; `async with` or the server's lifespan closes its connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings.checked()
        self._http: httpx.AsyncClient | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's scope."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def aclose(self) -> None:
        """Close the connections to the server."""
        client, self._http = self._http, None
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections to the server."""
        await self.aclose()

    # -- inside ----------------------------------------------------------------------------------------

    async def _live(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_request(receive, self.settings.max_request)
        except TooLarge:
            await respond(send, 413, [(b"connection", b"close")], b"the request is too large\n")
            return
        if body is None:
            return
        wire = CLIENT_WIRES.get(scope["path"]) if scope["method"] == "POST" else None
        asked = asked_of(wire, body, self.settings) if wire is not None else None
        try:
            request = self._request(scope, body, asked)
        except BadTarget as error:
            await respond(send, 400, [], f"{error}\n".encode())
            return
        exchange = Exchange(partial(self.client.send, stream=True), self.settings, asked, send)
        async with anyio.create_task_group() as group:

            async def cancel_when_left() -> None:
                await left(receive)
                group.cancel_scope.cancel()

            group.start_soon(cancel_when_left)
            await exchange.run(request)
            group.cancel_scope.cancel()

    def _request(self, scope: Scope, body: bytes, asked: Asked | None) -> httpx.Request:
        """What the server is asked.  Raises `BadTarget`."""
        if asked is None or not asked.changed:
            headers = unaddressed(crossing(scope["headers"]))
            return self._built(scope["method"], target_of(scope), headers, body)
        headers = for_upstream(scope["headers"], asked.wire, self.settings.wire)
        query = b"?" + scope["query_string"] if asked.wire == self.settings.wire and scope["query_string"] else b""
        return self._built("POST", PATHS[self.settings.wire].encode() + query, headers, asked.body)

    def _built(self, method: str, target: bytes, headers: Headers, body: bytes) -> httpx.Request:
        url = address(self.settings.upstream, target)
        return self.client.build_request(method, url, headers=headers, content=body or None)

    @property
    def client(self) -> httpx.AsyncClient:
        """The client of the server, made when it is first needed."""
        if self._http is None:
            self._http = client_of(self.settings)
        return self._http
