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

from streamparse.proxy.asgi import (
    LOGGER,
    Access,
    Headers,
    Receive,
    RequestRefused,
    Scope,
    Send,
    read_request,
    respond,
    strip_root_path,
    wait_for_disconnect,
)
from streamparse.proxy.client_request import CLIENT_WIRES, ClientRequest, make_error_response, read_client_request
from streamparse.proxy.exchange import Exchange
from streamparse.proxy.hosts import check_hosts
from streamparse.proxy.settings import Settings
from streamparse.proxy.upstream import (
    add_credentials,
    drop_own_headers,
    get_header,
    keep_end_to_end,
    make_client,
    make_passthrough_headers,
    make_upstream_headers,
    make_upstream_path,
    make_url,
    read_target,
)

if TYPE_CHECKING:
    import httpx


class Proxy:
    """The ASGI application; `async with` or the server's lifespan closes its connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings.validate()
        self._http: httpx.AsyncClient | None = None
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's scope."""
        if scope["type"] == "http":
            await self._serve(strip_root_path(scope), receive, send)
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
        access = Access(scope, send)
        try:
            await self._answer(scope, receive, access)
        finally:
            access.write()

    async def _answer(self, scope: Scope, receive: Receive, access: Access) -> None:
        wire = CLIENT_WIRES.get(scope["path"]) if scope["method"] == "POST" else None
        try:
            check_hosts(scope, self.settings.allowed_hosts)
            body = await read_request(receive, self.settings.max_request, self.settings.request_timeout)
            if body is None:
                access.has_left = True
                return
            asked = read_client_request(wire, body, self.settings) if wire is not None else None
            request = self._request(scope, body, asked)
        except RequestRefused as error:
            access.reason = str(error)
            headers, written = make_error_response(wire, error.status, error.code, str(error))
            closing = [(b"connection", b"close")] if error.is_unread else []
            await respond(access.send, error.status, headers + closing, written)
            return
        await self._exchange(request, asked, receive, access)

    async def _exchange(
        self, request: httpx.Request, asked: ClientRequest | None, receive: Receive, access: Access
    ) -> None:
        """Ask the server and answer the client, until the client leaves."""
        exchange = Exchange(partial(self.client.send, stream=True), self.settings, asked, access)
        async with anyio.create_task_group() as group:

            async def cancel_when_left() -> None:
                await wait_for_disconnect(receive)
                access.has_left = True
                group.cancel_scope.cancel()

            group.start_soon(cancel_when_left)
            await exchange.run(request)
            group.cancel_scope.cancel()

    def _request(self, scope: Scope, body: bytes, asked: ClientRequest | None) -> httpx.Request:
        """Return the request for the server; raise `BadRequest` if there is none."""
        wire = self.settings.wire
        if asked is None:
            return self._build(
                scope["method"], read_target(scope), make_passthrough_headers(scope["headers"], wire), body
            )
        if not asked.changed:
            return self._build("POST", read_target(scope), drop_own_headers(keep_end_to_end(scope["headers"])), body)
        own = asked.wire == wire
        target = read_target(scope) if own else make_upstream_path(self.settings, asked.model, streamed=asked.streamed)
        return self._build("POST", target, make_upstream_headers(scope["headers"], asked.wire, wire), asked.body)

    def _build(self, method: str, target: bytes, headers: Headers, body: bytes) -> httpx.Request:
        url = make_url(self.settings, target)
        credentials = self.settings.credentials
        if credentials and not self._has_warned and get_header(headers, b"authorization"):
            LOGGER.warning(
                "a client brings its own authorization: the upstream's name and password are not used for it"
            )
            self._has_warned = True
        headers = add_credentials(headers, credentials)
        return self.client.build_request(method, url, headers=headers, content=body or None)

    @property
    def client(self) -> httpx.AsyncClient:
        """The client of the server, made when it is first needed."""
        if self._http is None:
            self._http = make_client(self.settings)
        return self._http
