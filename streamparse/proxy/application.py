"""The proxy itself: an ASGI application between a client and one server.

| request | what happens |
|---|---|
| `POST` to a path of `CLIENT_WIRES` | asked of the server in its words, read, written anew |
| what `own_answers` lists | answered here |
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
from streamparse.proxy.client_request import (
    CLIENT_WIRES,
    ClientRequest,
    declares_tools,
    make_error_response,
    read_client_request,
)
from streamparse.proxy.counters import Counters
from streamparse.proxy.exchange import Ask, Exchange
from streamparse.proxy.hosts import check_hosts, check_request, check_token
from streamparse.proxy.models import Model, find_models_path, read_models
from streamparse.proxy.own_answers import answer_here, is_answered_here, is_open
from streamparse.proxy.recording import record_answers
from streamparse.proxy.settings import Settings

if TYPE_CHECKING:
    import httpx


class Proxy(AbstractAsyncContextManager["Proxy"]):
    """The ASGI application; `async with` or the server's lifespan closes its connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings: Settings = settings.validate()
        self.counters: Counters = Counters()
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
            self.counters.add("requests", access.wire or "none", str(access.status))
            self.counters.add("answer_bytes", by=access.size)

    async def _answer(self, scope: Scope, receive: Receive, access: Access) -> None:
        wire = CLIENT_WIRES.get(scope["path"]) if scope["method"] == "POST" else None
        access.wire = wire or ""
        try:
            check_request(scope)
            check_hosts(scope, self.settings.allowed_hosts)
            check_token(scope, "" if is_open(scope) else self.settings.token)
            body = await asgi.read_request(receive, self.settings.max_request, self.settings.request_timeout)
            if body is None:
                access.has_left = True
                return
            if is_answered_here(scope, body, self.settings):
                headers, written = await answer_here(
                    scope, body, self.settings, self.counters, partial(self.list_models, scope["headers"])
                )
                await asgi.respond(access.send, 200, headers, written)
                return
            asked = read_client_request(wire, body, self.settings) if wire is not None else None
            request = self._build_request(scope, body, asked)
        except RequestRefused as error:
            access.reason = str(error)
            headers, written = make_error_response(wire, error.status, error.code, str(error))
            closing = [] if error.is_read else [(b"connection", b"close")]
            await asgi.respond(access.send, error.status, headers + closing, written)
            return
        is_post = scope["method"] == "POST"
        if asked.is_unread if asked is not None else is_post and declares_tools(scope["path"], body):
            access.warning = "the request has tools, and calls in the text of its answer are not looked for"
        access.note_request(asked.model if asked is not None else "", self.settings.wire)
        await self._exchange(request, asked, receive, access)

    async def _exchange(
        self, request: httpx.Request, asked: ClientRequest | None, receive: Receive, access: Access
    ) -> None:
        """Ask the server and answer the client, until the client leaves."""
        ask: Ask = partial(self.client.send, stream=True)
        if self.settings.record is not None:
            ask = record_answers(ask, self.settings.record)
        exchange = Exchange(ask, self.settings, asked, access, self.counters)
        async with anyio.create_task_group() as group:

            async def cancel_when_left() -> None:
                await asgi.wait_for_disconnect(receive)
                access.has_left = True
                group.cancel_scope.cancel()

            group.start_soon(cancel_when_left)
            group.start_soon(exchange.keep_alive)
            await exchange.run(request)
            group.cancel_scope.cancel()

    def _build_request(self, scope: Scope, body: bytes, asked: ClientRequest | None) -> httpx.Request:
        """Return the request for the server; raise `RequestRefused` if it cannot be asked."""
        wire = self.settings.wire
        if asked is None or not asked.changed or asked.wire == wire:
            target = upstream.read_target(scope)
        else:
            model = self.settings.model or asked.model
            target = upstream.make_path(self.settings, model, streamed=asked.streamed)
        client_wire, is_read = (asked.wire, asked.changed) if asked is not None else (None, False)
        headers = self._make_headers(scope["headers"], client_wire, is_read=is_read)
        return self.client.build_request(
            scope["method"],
            upstream.make_url(self.settings, target),
            headers=headers,
            content=(asked.body if asked is not None else body) or None,
        )

    def _make_headers(self, came: asgi.Headers, client_wire: str | None, *, is_read: bool) -> asgi.Headers:
        """Return the headers of a request to the server, with its own key and credentials if there are any."""
        settings = self.settings
        headers = upstream.make_request_headers(came, client_wire, settings.wire, is_read=is_read)
        if settings.token or settings.key:
            headers = upstream.replace_key(headers, settings.wire, settings.key)
        if settings.credentials and not self._has_warned and upstream.get_header(headers, b"authorization"):
            asgi.LOGGER.warning(
                "a client brings its own authorization: the upstream's name and password are not used for it"
            )
            self._has_warned = True
        return upstream.add_credentials(headers, settings.credentials)

    async def list_models(self, came: asgi.Headers | None = None) -> list[Model]:
        """Ask the server for its models, with the headers that came from a client.

        Raises `RequestRefused` if it gives no list of them.
        """
        httpx = upstream.load_httpx()
        settings = self.settings
        headers = self._make_headers(came or [], None, is_read=True)
        url = upstream.make_url(settings, find_models_path(settings.wire).encode())
        try:
            answer = await self.client.send(self.client.build_request("GET", url, headers=headers))
        except httpx.HTTPError as error:
            raise RequestRefused(f"the server was not asked for its models: {error}", 502, "upstream_error") from error
        models = read_models(answer.content)
        if not models and not settings.model:
            reason = f"the server lists no models (status {answer.status_code}): name one by --model"
            raise RequestRefused(reason, answer.status_code if answer.is_error else 502, "upstream_error")
        return models

    @property
    def client(self) -> httpx.AsyncClient:
        """The client of the server, made when it is first needed."""
        if self._http is None:
            self._http = upstream.make_client(self.settings)
        return self._http
