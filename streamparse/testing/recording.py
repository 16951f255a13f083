"""Recordings: one request and its answer, with the time of each read.

A recording NAME is three files: `NAME.body`, the bytes of the response; `NAME.reads.jsonl`, a line for each read,
`{"t": milliseconds since the request, "off": offset in the body, "n": bytes}`; and `NAME.request.json`, with `method`,
`path`, `body`, and of the response `status` and `content_type`.  `streamparse timeline NAME.body` draws it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from streamparse.testing.redaction import find_secrets, redact, redact_target

__all__ = ["Read", "Recorder", "Recording", "list_recordings", "make_fixture"]


class Read(msgspec.Struct, frozen=True):
    """One read: milliseconds since the request was sent, offset in the body, bytes."""

    t: float
    off: int
    n: int


class Recording(msgspec.Struct, frozen=True):
    """One request and its answer.  `request` is the decoded body, or text where it is no JSON."""

    name: str
    path: str
    request: Any
    body: bytes
    reads: list[Read] = []
    """Empty if the times are not known."""
    method: str = "POST"
    status: int = 200
    content_type: str = ""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recording:
        """Read a recording by the path of its body, with or without `.body`; raises OSError and ValueError."""
        body = Path(path) if Path(path).suffix == ".body" else Path(f"{os.fspath(path)}.body")
        times, asked = body.with_suffix(".reads.jsonl"), body.with_suffix(".request.json")
        head = msgspec.json.decode(asked.read_bytes(), type=_Head) if asked.exists() else _Head()
        reads = msgspec.json.Decoder(Read).decode_lines(times.read_bytes()) if times.exists() else []
        content = body.read_bytes()
        kind = head.content_type or _guess_type(content)
        return cls(body.stem, head.path, head.body, content, reads, head.method, head.status, kind)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the three files, and return the path of the body; raises OSError."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        head = _Head(self.method, self.path, self.request, self.status, self.content_type)
        body = place / f"{self.name}.body"
        body.write_bytes(self.body)
        body.with_suffix(".reads.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(self.reads))
        written = msgspec.json.format(msgspec.json.encode(head), indent=1)
        body.with_suffix(".request.json").write_bytes(written + b"\n")
        return body

    def chunks(self) -> Iterator[tuple[float, bytes]]:
        """Yield what each read gave, with its moment in seconds; all at once if the times are not known."""
        end = 0
        for read in self.reads:
            end = read.off + read.n
            yield read.t / 1000, self.body[read.off : end]
        if rest := self.body[end:]:
            yield (self.reads[-1].t / 1000 if self.reads else 0.0), rest


class _Head(msgspec.Struct):
    """`NAME.request.json`."""

    method: str = "POST"
    path: str = "/"
    body: Any = None
    status: int = 200
    content_type: str = ""


def _guess_type(body: bytes) -> str:
    start = body.lstrip()[:1]
    if start not in (b"{", b"["):
        return "text/event-stream"
    return "application/x-ndjson" if body.rstrip().count(b"\n") and b"}\n{" in body else "application/json"


class Recorder:
    """Takes the pieces of one answer as they are read, and makes a recording of them, without credentials.

    It is made when the request is sent.  No header is kept.
    """

    def __init__(
        self,
        url: str,
        content: bytes,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        *,
        method: str = "POST",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._secrets = find_secrets(url, headers)
        self._target = redact_target(url, self._secrets)
        self._content, self._method, self._clock = content, method, clock
        self._pieces: list[tuple[float, bytes]] = []
        self._sent = clock()

    def read(self, piece: bytes) -> None:
        """Take a piece that has just been read."""
        self._pieces.append((self._clock() - self._sent, piece))

    def finish(self, name: str, status: int = 200, content_type: str = "") -> Recording:
        """Return what was recorded."""
        offsets = accumulate((len(piece) for _, piece in self._pieces), initial=0)
        reads = [
            Read(round(t * 1000, 3), offset, len(piece))
            for (t, piece), offset in zip(self._pieces, offsets, strict=False)
        ]
        body = redact(b"".join(piece for _, piece in self._pieces), self._secrets)
        asked = redact(self._content, self._secrets)
        try:
            request = msgspec.json.decode(asked)
        except (ValueError, RecursionError):
            request = asked.decode("utf-8", "replace")
        return Recording(name, self._target, request, body, reads, self._method, status, content_type)


def make_name(folder: str | os.PathLike[str], words: str) -> str:
    """Return a name that no recording of the folder has: the words, and a number behind them."""
    base = re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-").lower()[:60] or "answer"
    numbers = (number for number in range(1, 10**9) if not Path(folder, f"{base}-{number:03}.body").exists())
    return f"{base}-{next(numbers):03}"


def list_recordings(folder: str | os.PathLike[str]) -> list[Recording]:
    """Return the recordings of a folder, in the order of their names; raises OSError and ValueError."""
    return [Recording.load(path) for path in sorted(Path(folder).glob("*.body"))]


def make_fixture(folder: str | os.PathLike[str]) -> Any:
    """Return a pytest fixture that gives each recording of a folder, one after the other."""
    import pytest  # noqa: PLC0415 - of those who test

    recordings = list_recordings(folder)

    @pytest.fixture(params=recordings, ids=[each.name for each in recordings])
    def recording(request: Any) -> Recording:
        given: Recording = request.param
        return given

    return recording
