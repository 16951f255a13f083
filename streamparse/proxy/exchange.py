"""One request to the server, and its answer to the client, piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import anyio

from streamparse.emit import EMITTERS
from streamparse.proxy.asgi import Send, finish, respond, start
from streamparse.proxy.asked import Asked
from streamparse.proxy.client import httpx_module
from streamparse.proxy.headers import Headers, crossing, for_client, lost_header
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import Settings

if TYPE_CHECKING:
    import httpx

__all__ = ["Ask", "Exchange"]

Ask: TypeAlias = "Callable[[httpx.Request], Awaitable[httpx.Response]]"
"""Sends a request to the server; returns its answer once the head is there."""

_JSON = "application/json"


class Exchange:
    """One request to the server, and its answer to the client."""

    def __init__(self, ask: Ask, settings: Settings, asked: Asked | None, send: Send) -> None:
        self._ask = ask
        self._settings = settings
        self._asked = asked
        self._send = send

    async def run(self, request: httpx.Request) -> None:
        """Send the request, and the answer on."""
        httpx = httpx_module()
        try:
            response = await self._ask(request)
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
        feed, emitter, send = rewriter.feed, rewriter.emitter, self._send
        await start(send, 200, self._headers(response, asked, EMITTERS[asked.wire].content_type))
        try:
            async for chunk in _chunks(response):
                data = feed(chunk)
                if data:
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                if emitter.over:
                    break  # the answer failed, by its server's word or at a limit: what follows is not read
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
        status = 502 if rewriter.failed else 200
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
        return [*for_client(response.headers.raw, content_type), *lost_header(asked.lost)]

    async def _fail(self, status: int, message: str) -> None:
        """Tell the client, in its own wire's words, that the server could not be reached."""
        if self._asked is None:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await respond(self._send, status, headers, message.encode() + b"\n")
        else:
            body = self._asked.emitter(self._settings).error_body("upstream_error", message)
            await respond(self._send, status, [(b"content-type", _JSON.encode())], body)


def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """The pieces of a body, decoded if it came compressed all the same."""
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()


async def _fed(response: httpx.Response, rewriter: Rewriter) -> AsyncIterator[bytes]:
    """The body, while it is read."""
    async for chunk in _chunks(response):
        rewriter.feed(chunk)
        yield chunk
        if rewriter.emitter.over:
            break


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
