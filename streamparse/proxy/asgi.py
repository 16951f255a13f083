"""The little of ASGI that a proxy needs: a request read whole, an answer sent in pieces, a client that leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import quote

from streamparse.proxy.headers import Headers

__all__ = [
    "Message",
    "Receive",
    "Scope",
    "Send",
    "TooLarge",
    "finish",
    "left",
    "read_request",
    "respond",
    "start",
    "unmounted",
]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class TooLarge(Exception):
    """A request is longer than it may be."""


def unmounted(scope: Scope) -> Scope:
    """Return the scope with the path under which nobody else knows the application, if another has mounted it."""
    root: str = scope.get("root_path", "").rstrip("/")
    if not root or not scope["path"].startswith(root + "/"):
        return scope
    path: str = scope["path"][len(root) :]
    raw: bytes = scope.get("raw_path") or b""
    kept = raw[len(root.encode()) :] if raw.startswith(root.encode() + b"/") else quote(path).encode()
    return {**scope, "path": path, "raw_path": kept}


async def read_request(receive: Receive, most: int) -> bytes | None:
    """Read the whole body of a request; None if the client left meanwhile.  Raises `TooLarge`."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise TooLarge
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)


async def left(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def start(send: Send, status: int, headers: Headers) -> None:
    """Send the head of an answer."""
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def finish(send: Send) -> None:
    """Send the end of an answer."""
    await send({"type": "http.response.body", "body": b""})


async def respond(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a whole answer."""
    await start(send, status, [*headers, (b"content-length", str(len(body)).encode())])
    await send({"type": "http.response.body", "body": body})
