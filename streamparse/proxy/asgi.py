"""The client's side: a request read whole, an answer sent in pieces, a client that leaves, and a line in the log.

The log has one line for each request, on the logger `streamparse.proxy`, and nothing of its content.

    127.0.0.1:503 POST /v1/messages 200, 5213 bytes, 1.2 s, model m, anthropic to openai-chat, 1 calls (hermes plain)
    127.0.0.1:50312 POST /v1/messages 502, 96 bytes, 0.003 s: ConnectError: All connection attempts failed

A request that was answered is `INFO`, one that failed here or at the server `WARNING`.  The query of a target is left
out, for some clients put their key there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import anyio

Headers: TypeAlias = list[tuple[bytes, bytes]]
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

LOGGER: Final = logging.getLogger("streamparse.proxy")

_LEAST_RATE: Final = 16_384  # bound: bytes a second; a slower client would hold its connection for ever
_LONGEST: Final = 300  # bound: characters of a target, or of a reason, in the log


class RequestRefused(Exception):
    """A request that does not go to the server; the message says why.

    With `is_read` all of it was read, and its connection can be used again.
    """

    def __init__(
        self, message: str, status: int = 400, code: str = "invalid_request_error", *, is_read: bool = True
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.is_read = is_read


def strip_root_path(scope: Scope) -> Scope:
    """Return the scope with the path below the one at which another application has mounted this one."""
    root: str = scope.get("root_path", "").rstrip("/")
    if not root or not scope["path"].startswith(root + "/"):
        return scope
    path: str = scope["path"][len(root) :]
    raw: bytes = scope.get("raw_path") or b""
    kept = raw[len(root.encode()) :] if raw.startswith(root.encode() + b"/") else quote(path).encode()
    return {**scope, "path": path, "raw_path": kept}


async def read_request(receive: Receive, most: int, seconds: float) -> bytes | None:
    """Read the whole body of a request; None if the client left meanwhile.

    It has so many seconds, and one more for each 16 KiB that came.  Raises `RequestRefused` if it is too slow or large.
    """
    body = bytearray()
    with anyio.move_on_after(seconds) as limit:
        deadline = limit.deadline
        while (message := await receive())["type"] != "http.disconnect":
            body += message.get("body", b"")
            if len(body) > most:
                raise RequestRefused("the request is too large", 413, "request_too_large", is_read=False)
            if not message.get("more_body", False):
                return bytes(body)
            limit.deadline = deadline + len(body) / _LEAST_RATE
        return None
    raise RequestRefused("the request did not come to its end", 408, "timeout_error", is_read=False)


async def wait_for_disconnect(receive: Receive) -> None:
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


class Access:
    """One request, and how it was answered."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self._begun = time.monotonic()
        self._client = "{}:{}".format(*scope["client"][:2]) if scope.get("client") else "-"
        self._asked = f"{scope['method']} {_read_path(scope)}"
        self._size = 0
        self._seconds: float | None = None  # until the last byte was sent
        self.status: Any = 0
        """The status that was sent; 0 before."""
        self.wire = ""
        """What the client speaks, if that is known."""
        self.reason = ""
        """Why the request failed, if it did."""
        self.warning = ""
        """Why calls of a request that did not fail are not looked for."""
        self.facts: list[str] = []
        """What else the line says."""
        self.has_left = False
        """Whether the client has left; it may have had the whole answer by then."""

    async def send(self, message: Message) -> None:
        """Send a message of the answer on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
        self._size += len(message.get("body", b""))
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._seconds = time.monotonic() - self._begun

    @property
    def size(self) -> int:
        """How many bytes of the answer's body were sent."""
        return self._size

    def note_request(self, model: str, server_wire: str) -> None:
        """Note for the log which model is asked, and in which words."""
        self.facts += [f"model {model}"] if model else []
        self.facts += [f"{self.wire} to {server_wire}"] if self.wire else []

    def write_line(self) -> None:
        """Write the line of the log."""
        words = "".join(f", {_escape(fact)}" for fact in self.facts)
        words += f": {_escape(self.reason or self.warning)}" if self.reason or self.warning else ""
        words += ", the client left" if self.has_left and self._seconds is None else ""
        LOGGER.log(
            logging.WARNING if self.reason or self.warning or self.status >= 500 else logging.INFO,
            "%s %s %s, %d bytes, %.3f s%s",
            self._client,
            _escape(self._asked),
            self.status or "-",
            self._size,
            self._seconds if self._seconds is not None else time.monotonic() - self._begun,
            words,
        )


def _read_path(scope: Scope) -> str:
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    return raw.partition(b"?")[0].decode("latin-1")


def _escape(text: str) -> str:
    """Return a client's or a server's words so that they can neither end the line nor move a cursor."""
    safe = "".join(c if c.isascii() and c.isprintable() else f"\\u{ord(c):04x}" for c in text[:_LONGEST])
    return safe + "..." * (len(text) > _LONGEST)
