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

from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from streamparse.proxy import asgi, upstream
from streamparse.proxy.asgi import Access, Receive, RequestRefused, Scope, Send
from streamparse.proxy.client_request import CLIENT_WIRES, ClientRequest, make_error_response, read_client_request
from streamparse.proxy.exchange import Ask, Exchange
from streamparse.proxy.hosts import check_hosts
from streamparse.proxy.recording import record_answers
from streamparse.proxy.settings import Settings

if TYPE_CHECKING:
    import httpx


class Proxy(AbstractAsyncContextManager["Proxy"]):
    """The ASGI application; `async with` or the server's lifespan closes its connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings: Settings = settings.validate()
        self._http: httpx.AsyncClient | None = None
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's scope."""
        if scope["type"] == "http":
            await self._serve(asgi.strip_root_path(scope), receive, send)
        elif scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def aclose(self) -> None:
        """Close the connections to the server."""
        client, self._http = self._http, None
        if client is not None:
            await client.aclose()

    async def __aexit__(self, *_: object) -> None:
        """Close the connections to the server."""
        await self.aclose()

    # -- inside ----------------------------------------------------------------------------------------

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = Access(scope, send)
        try:
            await self._answer(scope, receive, access)
        finally:
            access.write_line()

    async def _answer(self, scope: Scope, receive: Receive, access: Access) -> None:
        wire = CLIENT_WIRES.get(scope["path"]) if scope["method"] == "POST" else None
        try:
            check_hosts(scope, self.settings.allowed_hosts)
            body = await asgi.read_request(receive, self.settings.max_request, self.settings.request_timeout)
            if body is None:
                access.has_left = True
                return
            asked = read_client_request(wire, body, self.settings) if wire is not None else None
            request = self._build_request(scope, body, asked)
        except RequestRefused as error:
            access.reason = str(error)
            headers, written = make_error_response(wire, error.status, error.code, str(error))
            closing = [] if error.is_read else [(b"connection", b"close")]
            await asgi.respond(access.send, error.status, headers + closing, written)
            return
        await self._exchange(request, asked, receive, access)

    async def _exchange(
        self, request: httpx.Request, asked: ClientRequest | None, receive: Receive, access: Access
    ) -> None:
        """Ask the server and answer the client, until the client leaves."""
        ask: Ask = partial(self.client.send, stream=True)
        if self.settings.record is not None:
            ask = record_answers(ask, self.settings.record)
        exchange = Exchange(ask, self.settings, asked, access)
        async with anyio.create_task_group() as group:

            async def cancel_when_left() -> None:
                await asgi.wait_for_disconnect(receive)
                access.has_left = True
                group.cancel_scope.cancel()

            group.start_soon(cancel_when_left)
            await exchange.run(request)
            group.cancel_scope.cancel()

    def _build_request(self, scope: Scope, body: bytes, asked: ClientRequest | None) -> httpx.Request:
        """Return the request for the server; raise `RequestRefused` if it cannot be asked."""
        wire = self.settings.wire
        if asked is None or asked.wire == wire:
            target = upstream.read_target(scope)
        else:
            target = upstream.make_path(self.settings, asked.model, streamed=asked.streamed)
        client_wire, is_read = (asked.wire, asked.changed) if asked is not None else (None, False)
        headers = upstream.make_request_headers(scope["headers"], client_wire, wire, is_read=is_read)
        credentials = self.settings.credentials
        if credentials and not self._has_warned and upstream.get_header(headers, b"authorization"):
            asgi.LOGGER.warning(
                "a client brings its own authorization: the upstream's name and password are not used for it"
            )
            self._has_warned = True
        return self.client.build_request(
            scope["method"],
            upstream.make_url(self.settings, target),
            headers=upstream.add_credentials(headers, credentials),
            content=(asked.body if asked is not None else body) or None,
        )

    @property
    def client(self) -> httpx.AsyncClient:
        """The client of the server, made when it is first needed."""
        if self._http is None:
            self._http = upstream.make_client(self.settings)
        return self._http
