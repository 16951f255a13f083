"""Serves recordings over HTTP, each piece at the moment at which it was read, or so many times faster."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Event, Lock, Thread
from typing import Any

import msgspec

from streamparse.testing.recording import Recording

__all__ = ["Player", "make_server", "pace", "replaying"]


def pace(
    chunks: Iterable[tuple[float, bytes]],
    speed: float = 1.0,
    *,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[bytes]:
    """Yield each piece at its moment, in seconds since the first one was asked for; with `speed=0` at once.

    A piece is never early.  One that is late does not delay those behind it.
    """
    began = clock()
    for moment, piece in chunks:
        if speed > 0 and (wait := began + moment / speed - clock()) > 0:
            sleep(wait)
        yield piece


class Player:
    """Chooses the recording for a request.

    The first with the same path and body that was played the fewest times; else the same by path alone; else of all, so
    that a client of another path is answered, too.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        if not recordings:
            raise ValueError("there are no recordings")
        self._recordings = recordings
        self._played = dict.fromkeys(range(len(recordings)), 0)
        self._lock = Lock()

    def choose(self, path: str, content: bytes) -> Recording:
        """Return the recording that answers a request."""
        try:
            body: Any = msgspec.json.decode(content)
        except (ValueError, RecursionError):
            body = content.decode("utf-8", "replace")
        numbers = list(self._played)
        here = [number for number in numbers if _get_path(self._recordings[number].path) == _get_path(path)]
        same = [number for number in here if self._recordings[number].request == body]
        with self._lock:
            chosen = min(same or here or numbers, key=lambda number: self._played[number])
            self._played[chosen] += 1
        return self._recordings[chosen]


def _get_path(target: str) -> str:
    return target.partition("?")[0].rstrip("/")


def make_server(player: Player, speed: float, host: str, port: int) -> ThreadingHTTPServer:
    """Return a server of recordings that listens, and is to be run; raises OSError."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            try:
                content = _read_content(self.headers, self.rfile)
            except ValueError:
                self.send_error(400)
                return
            recording = player.choose(self.path, content)
            chunks = pace(recording.chunks(), speed)
            self.send_response(recording.status)
            self.send_header("content-type", recording.content_type or "application/octet-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            for piece in filter(None, chunks):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        do_POST = do_GET = answer

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return _Server((host, port), Handler)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _read_content(headers: Message, file: BufferedIOBase) -> bytes:
    """Read the body of a request; raises ValueError if it cannot be told where it ends."""
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return file.read(int(headers.get("content-length") or 0))
    pieces = []
    while size := int(file.readline().partition(b";")[0], 16):
        pieces.append(file.read(size))
        file.readline()
    while file.readline().strip():  # trailers
        pass
    return b"".join(pieces)


@contextmanager
def replaying(recordings: Recording | Sequence[Recording], speed: float = 1.0) -> Iterator[str]:
    """Serve recordings on a free local port while the block runs; gives the URL."""
    given = [recordings] if isinstance(recordings, Recording) else list(recordings)
    server = make_server(Player(given), speed, "127.0.0.1", 0)
    is_over = Event()

    def serve() -> None:
        while not is_over.is_set():
            server.handle_request()

    thread = Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        is_over.set()
        socket.create_connection(("127.0.0.1", server.server_port)).close()  # for which it waits
        thread.join()
        server.server_close()
