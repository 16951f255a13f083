"""Records what the server answers, as it comes: `streamparse proxy --record DIR`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Final, cast

from streamparse.testing import Recorder
from streamparse.testing.recording import make_name

if TYPE_CHECKING:
    import httpx

_LOGGER: Final = logging.getLogger("streamparse.proxy")


def record_answers(
    ask: Callable[[httpx.Request], Awaitable[httpx.Response]], folder: str
) -> Callable[[httpx.Request], Awaitable[httpx.Response]]:
    """Return `ask` with answers that are written to the folder when they are closed, without credentials.

    A failure to write is logged, and disturbs no answer.
    """

    async def ask_and_record(request: httpx.Request) -> httpx.Response:
        recorder = Recorder(str(request.url), request.content, request.headers, method=request.method)
        response = await ask(request)
        response.stream = _make_stream(response, recorder, folder, request.url.path)
        return response

    return ask_and_record


def _make_stream(response: httpx.Response, recorder: Recorder, folder: str, path: str) -> httpx.AsyncByteStream:
    import httpx  # noqa: PLC0415 - imported on use

    source = cast("httpx.AsyncByteStream", response.stream)  # of an asynchronous client

    class Recorded(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in source:
                recorder.read(piece)
                yield piece

        async def aclose(self) -> None:
            await source.aclose()
            name = make_name(folder, path)
            try:
                recorder.finish(name, response.status_code, response.headers.get("content-type", "")).save(folder)
            except OSError as error:
                _LOGGER.warning("an answer could not be recorded: %s", error.strerror or error)

    return Recorded()
