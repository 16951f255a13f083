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

from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import anyio

from streamparse.proxy.asgi import Receive, Scope, Send, TooLarge, finish, left, read_request, respond, start
from streamparse.proxy.asked import CLIENT_WIRES, Asked, asked_of
from streamparse.proxy.headers import Headers, crossing, for_client, for_upstream, unaddressed
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import PATHS, Settings

if TYPE_CHECKING:
    import httpx

__all__ = ["Proxy"]

_JSON = "application/json"


class Proxy:
    """The ASGI application; `async with` or the server's lifespan closes its connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings.checked()
        self._base = urlsplit(settings.upstream)
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
        async with anyio.create_task_group() as group:

            async def cancel_when_left() -> None:
                await left(receive)
                group.cancel_scope.cancel()

            group.start_soon(cancel_when_left)
            await self._answer(scope, body, send)
            group.cancel_scope.cancel()

    async def _answer(self, scope: Scope, body: bytes, send: Send) -> None:
        wire = CLIENT_WIRES.get(scope["path"]) if scope["method"] == "POST" else None
        asked = asked_of(wire, body, self.settings) if wire is not None else None
        if asked is None or not asked.changed:
            headers = unaddressed(crossing(scope["headers"]))
            exchange = Exchange(self, asked, send)
            await exchange.run(self._request(scope["method"], _target(scope), headers, body))
        else:
            headers = for_upstream(scope["headers"], asked.wire, self.settings.wire)
            query = b"?" + scope["query_string"] if asked.wire == self.settings.wire and scope["query_string"] else b""
            target = PATHS[self.settings.wire].encode() + query
            await Exchange(self, asked, send).run(self._request("POST", target, headers, asked.body))

    def _request(self, method: str, target: bytes, headers: Headers, body: bytes) -> httpx.Request:
        """A request to the server, and to no other: only the path is the client's."""
        path = self._base.path.rstrip("/")
        if path.endswith("/v1") and target.startswith(b"/v1/"):
            path = path.removesuffix("/v1")
        base = httpx_module().URL(self.settings.upstream)
        return self.client.build_request(
            method, base.copy_with(raw_path=path.encode() + target), headers=headers, content=body or None
        )

    @property
    def client(self) -> httpx.AsyncClient:
        """The client of the server, made when it is first needed."""
        if self._http is None:
            httpx = httpx_module()
            timeout = httpx.Timeout(self.settings.read_timeout, connect=self.settings.connect_timeout, pool=None)
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
            # Neither another host (a redirect, a proxy of the environment) nor a key of ours (.netrc) comes in.
            self._http = httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, trust_env=False)
            self._http.headers.clear()
        return self._http


class Exchange:
    """One request to the server, and its answer to the client."""

    def __init__(self, proxy: Proxy, asked: Asked | None, send: Send) -> None:
        self._proxy = proxy
        self._settings = proxy.settings
        self._asked = asked
        self._send = send
        self._started = False

    async def run(self, request: httpx.Request) -> None:
        """Send the request, and the answer on."""
        httpx = httpx_module()
        try:
            response = await self._proxy.client.send(request, stream=True)
        except httpx.HTTPError as error:
            status = 504 if isinstance(error, httpx.TimeoutException) else 502
            await self._fail(status, _told(error))
            return
        try:
            await self._relay(response)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    # -- inside ----------------------------------------------------------------------------------------

    async def _relay(self, response: httpx.Response) -> None:
        asked = self._asked
        if asked is None or not asked.changed:
            await self._pass(response)
        elif response.status_code != 200:
            await self._refuse(response, asked)
        elif asked.streamed:
            await self._stream(response, asked)
        else:
            await self._whole(response, asked)

    async def _pass(self, response: httpx.Response) -> None:
        """Pass an answer on, byte for byte."""
        await start(self._send, response.status_code, crossing(response.headers.raw))
        try:
            async for chunk in response.aiter_raw():
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        except httpx_module().HTTPError:
            return  # an answer without an end: the ASGI server breaks the connection off
        await finish(self._send)

    async def _stream(self, response: httpx.Response, asked: Asked) -> None:
        """Read the answer as it comes; what each piece tells leaves before the next is read."""
        rewriter = asked.rewriter(self._settings)
        feed, send = rewriter.feed, self._send
        await start(send, 200, self._headers(response, asked, asked.emitter().content_type))
        try:
            async for chunk in _chunks(response):
                data = feed(chunk)
                if data:
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                elif rewriter.over:
                    break
            data = rewriter.close()
        except httpx_module().HTTPError as error:
            data = rewriter.abort(_told(error))
        await send({"type": "http.response.body", "body": data})

    async def _whole(self, response: httpx.Response, asked: Asked) -> None:
        rewriter = asked.rewriter(self._settings)
        try:
            body = b"".join([chunk async for chunk in _fed(response, rewriter)])
        except httpx_module().HTTPError as error:
            await self._fail(502, _told(error))
            return
        written = rewriter.whole()
        if asked.wire == self._settings.wire and rewriter.as_written(body):
            written = body
        status = 502 if any(error.scope == "stream" for error in rewriter.response.errors) else 200
        await respond(self._send, status, self._headers(response, asked, _JSON), written)

    async def _refuse(self, response: httpx.Response, asked: Asked) -> None:
        """Pass on a status that tells of an error; its body in the client's words if the server's are others."""
        if asked.wire == self._settings.wire:
            await self._pass(response)
            return
        rewriter = asked.rewriter(self._settings)
        try:
            async for _ in _fed(response, rewriter):
                pass
        except httpx_module().HTTPError as error:
            rewriter.abort(_told(error))
        body = rewriter.whole()
        await respond(self._send, response.status_code, self._headers(response, asked, _JSON), body)

    def _headers(self, response: httpx.Response, asked: Asked, content_type: str) -> Headers:
        lost = [(b"streamparse-lost", asked.lost.encode())] if asked.lost else []
        return [*for_client(response.headers.raw, content_type), *lost]

    async def _fail(self, status: int, message: str) -> None:
        """Tell the client, in its own wire's words, that the server could not be reached."""
        if self._asked is None:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await respond(self._send, status, headers, message.encode() + b"\n")
        else:
            body = self._asked.emitter().error_body("upstream_error", message)
            await respond(self._send, status, [(b"content-type", _JSON.encode())], body)


def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """The pieces of a body, decoded if it came compressed all the same."""
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()


async def _fed(response: httpx.Response, rewriter: Rewriter) -> AsyncIterator[bytes]:
    """The body, while it is read."""
    async for chunk in _chunks(response):
        rewriter.feed(chunk)
        yield chunk
        if rewriter.over:
            break


def httpx_module() -> Any:
    """The HTTP client, an extra; loaded when it is needed."""
    import httpx  # noqa: PLC0415 - the proxy alone needs it

    return httpx


def _target(scope: Scope) -> bytes:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return path.partition(b"?")[0] + (b"?" + query if query else b"")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
