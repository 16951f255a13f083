"""One request to the server, and its answer to the client, piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio

from streamparse.proxy.asgi import Access, Headers, finish, respond, start
from streamparse.proxy.client_request import ClientRequest, make_error_response
from streamparse.proxy.counters import Counters, list_calls
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import Settings
from streamparse.proxy.upstream import keep_end_to_end, load_httpx, make_client_headers, make_lost_header

if TYPE_CHECKING:
    import httpx

Ask: TypeAlias = "Callable[[httpx.Request], Awaitable[httpx.Response]]"
"""Sends a request to the server; returns its answer once the head is there."""

_JSON: Final = "application/json"
_DRAIN_SECONDS: Final = 1.0  # bound: the wait for the end of a body after the end of its answer
_DRAIN_BYTES: Final = 65_536  # bound: what is read of it
_FAREWELL_SECONDS: Final = 1.0  # bound: the wait for a slow client that takes the end of its answer
_EVENTS: Final = "text/event-stream"
_UNBUFFERED: Final = (b"x-accel-buffering", b"no")
"""Tells nginx to pass each piece on as it comes."""
_UNREAD: Final = (b"streamparse-unread", b"tools")
_EMPTY: Final = (204, 205, 304)
"""The statuses of answers that have no body."""
_STATUSES: Final = range(200, 600)
"""The statuses that an answer may have (RFC 9110, section 15); those below 200 come before an answer."""


class Exchange:
    """One request to the server, and its answer to the client."""

    def __init__(
        self, ask: Ask, settings: Settings, asked: ClientRequest | None, access: Access, counters: Counters
    ) -> None:
        self._ask = ask
        self._settings = settings
        self._asked = asked
        self._access = access
        self._counters = counters
        self._send = access.send
        self._streaming: Rewriter | None = None

    async def run(self, request: httpx.Request) -> None:
        """Send the request, and the answer on, for as long as the answer may take."""
        seconds = self._settings.answer_timeout
        with anyio.move_on_after(seconds) as limit:
            await self._run(request)
        if limit.cancelled_caught:
            with anyio.move_on_after(_FAREWELL_SECONDS):
                await self._break_off(504, f"the answer was not whole after {seconds:g} seconds")

    async def keep_alive(self) -> None:
        """Send a comment where a stream of events has been silent: what stands between may close an idle connection."""
        while True:
            before = self._access.size
            await anyio.sleep(self._settings.keep_alive)
            writes_events = self._streaming is not None and _EVENTS in self._streaming.emitter.content_type
            if writes_events and self._access.status and self._access.size == before:
                await self._send({"type": "http.response.body", "body": b": keep-alive\n\n", "more_body": True})

    # -- inside ----------------------------------------------------------------------------------------

    async def _run(self, request: httpx.Request) -> None:
        httpx = load_httpx()
        try:
            response = await self._ask(request)
        except httpx.HTTPError as error:
            status = 504 if isinstance(error, httpx.TimeoutException) else 502
            await self._break_off(status, _describe(error), _describe_for_log(error))
            return
        try:
            await self._relay(response)
        except httpx.HTTPError as error:
            status = 504 if isinstance(error, httpx.TimeoutException) else 502
            await self._break_off(status, _describe(error), _describe_for_log(error))
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _break_off(self, status: int, message: str, reason: str = "") -> None:
        """Report to the client that its answer cannot be completed, as far as the answer so far allows that.

        An answer that is passed on byte for byte has no end then: the ASGI server breaks the connection off.
        """
        if not self._access.status:
            await self._fail(status, message, reason)
        elif self._streaming is not None:
            rewriter, self._streaming = self._streaming, None
            data = rewriter.abort(message)
            self._note_answer(rewriter)
            self._access.reason = reason or message
            await self._send({"type": "http.response.body", "body": data})
        else:
            self._access.reason = reason or message

    async def _relay(self, response: httpx.Response) -> None:
        asked = self._asked
        if response.status_code not in _STATUSES:
            await self._fail(502, f"the server answered with {response.status_code}, which is no status of an answer")
        elif asked is None or not asked.changed:
            await self._pass_on(response)
        elif not response.is_success or response.status_code in _EMPTY:
            await self._refuse(response, asked)
        elif asked.streamed:
            await self._send_stream(response, asked)
        else:
            await self._send_whole(response, asked)

    async def _pass_on(self, response: httpx.Response) -> None:
        """Pass an answer on, byte for byte."""
        unread = [_UNREAD] if self._access.warning else []
        await start(self._send, response.status_code, [*keep_end_to_end(response.headers.raw), *unread])
        async for chunk in response.aiter_raw():
            await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        await finish(self._send)

    async def _send_stream(self, response: httpx.Response, asked: ClientRequest) -> None:
        """Read the answer as it comes; what each piece gives is sent before the next is read.

        After the server's end marker, or an error, it does not wait for the end of the body.
        """
        rewriter = asked.make_rewriter(self._settings)
        feed, send = rewriter.feed, self._send
        chunks = _iterate_body(response)
        self._streaming = rewriter
        headers = self._make_headers(response, asked, rewriter.emitter.content_type)
        await start(send, response.status_code, [*headers, _UNBUFFERED])
        async for chunk in chunks:
            data = feed(chunk)
            if data:
                await send({"type": "http.response.body", "body": data, "more_body": True})
            if rewriter.over:
                break
        data = rewriter.close()
        self._streaming = None
        self._note_answer(rewriter)
        await send({"type": "http.response.body", "body": data})
        if not rewriter.emitter.over:
            await _drain(chunks)

    async def _send_whole(self, response: httpx.Response, asked: ClientRequest) -> None:
        rewriter = asked.make_rewriter(self._settings)
        chunks = _iterate_body(response)
        room, pieces = self._settings.max_answer, list[bytes]()
        may_stay = asked.wire == self._settings.wire
        async for chunk in chunks:
            rewriter.feed(chunk)
            room -= len(chunk)
            if room < 0:
                await self._fail(502, f"the answer has more than {self._settings.max_answer} bytes")
                return
            if may_stay:
                pieces.append(chunk)
                may_stay = len(pieces) > 1 or chunk.lstrip()[:1] in (b"", b"{")  # a stream cannot, and needs no memory
            if rewriter.over:
                break
        written = rewriter.whole()
        if may_stay and rewriter.can_stay(own := b"".join(pieces)):
            written = own
        self._note_answer(rewriter)
        status = 502 if rewriter.failed else response.status_code
        await respond(self._send, status, self._make_headers(response, asked, _JSON), written)
        if not rewriter.emitter.over:
            await _drain(chunks)

    async def _refuse(self, response: httpx.Response, asked: ClientRequest) -> None:
        """Pass on the status of an error; its body in the client's words if the server speaks another wire."""
        if asked.wire == self._settings.wire:
            await self._pass_on(response)
            return
        if response.status_code in _EMPTY:
            await self._fail(502, f"the server answered with status {response.status_code}, which has no content")
            return
        rewriter = asked.make_rewriter(self._settings)
        try:
            async for chunk in _iterate_body(response):
                rewriter.feed(chunk)
                if rewriter.over:
                    break
        except load_httpx().HTTPError as error:
            rewriter.abort(_describe(error))
            self._access.reason = _describe_for_log(error)
        body = rewriter.write_failure(response.status_code)
        await respond(self._send, response.status_code, self._make_headers(response, asked, _JSON), body)

    def _note_answer(self, rewriter: Rewriter) -> None:
        """Count what an answer held, and note it for the log."""
        response = rewriter.response
        self._counters.add_answer(response)
        self._access.reason = rewriter.problem
        found = Counter(f"{dialect} {place}" for dialect, place in list_calls(response))
        self._access.facts += [f"{number} calls ({where})" for where, number in found.items()]
        repaired = sum(call.source == "repaired" for call in response.tool_calls)
        self._access.facts += [f"{repaired} repaired"] if repaired else []
        broken = len(response.broken_calls)
        self._access.facts += [f"{broken} broken"] if broken else []

    def _make_headers(self, response: httpx.Response, asked: ClientRequest, content_type: str) -> Headers:
        return [*make_client_headers(response.headers.raw, content_type), *make_lost_header(asked.lost)]

    async def _fail(self, status: int, message: str, reason: str = "") -> None:
        """Send the client an error in the words of its wire; `reason` is for the log."""
        self._access.reason = reason or message
        wire = self._asked.wire if self._asked is not None else None
        await respond(self._send, status, *make_error_response(wire, status, "upstream_error", message))


def _iterate_body(response: httpx.Response) -> AsyncIterator[bytes]:
    """Return the pieces of a body, decoded if it came compressed although it was not asked to."""
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the rest of a body that should have none: only a connection whose body has ended can be used again.

    The client has its answer, and may have left; a server that keeps the connection open, or goes on, is left soon.
    """
    room = _DRAIN_BYTES
    with suppress(load_httpx().HTTPError), anyio.move_on_after(_DRAIN_SECONDS, shield=True):
        async for chunk in chunks:
            room -= len(chunk)
            if room < 0:
                break


def _describe_for_log(error: Exception) -> str:
    """Describe a transport error for the log, without its text if that may quote what the server sent."""
    return _describe(error) if isinstance(error, load_httpx().NetworkError) else type(error).__name__


def _describe(error: Exception) -> str:
    """Describe a transport error for the client.

    It leaves out the bytes that h11 quotes: they may be the rest of another client's answer.
    """
    text = str(error).partition(": bytearray(")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
