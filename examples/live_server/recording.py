"""Keep what a server sent, with the time of each read.

A recording NAME is three files: `NAME.body`, the bytes of the response; `NAME.reads.jsonl`, one line for each read,
`{"t": milliseconds since the request, "off": offset in the body, "n": bytes}`; `NAME.request.json`, with `method`,
`path` and `body`.  `streamparse timeline NAME.body` draws it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import httpx

__all__ = ["CHAT", "Read", "Recording", "record"]

CHAT = "/v1/chat/completions"


class Read(NamedTuple):
    """One read: seconds since the request was sent, and how many bytes it gave."""

    t: float
    n: int

    @classmethod
    def loads(cls, line: str) -> Read:
        """Read one line of `NAME.reads.jsonl`."""
        fields = json.loads(line)
        return cls(fields["t"] / 1000, fields["n"])


@dataclass(frozen=True)
class Recording:
    """One request and its answer."""

    path: str
    request: Any
    body: bytes
    reads: list[Read]

    def save(self, folder: Path, name: str) -> None:
        """Write the three files."""
        folder.mkdir(parents=True, exist_ok=True)
        offsets = accumulate((read.n for read in self.reads), initial=0)
        lines = [
            json.dumps({"t": round(read.t * 1000, 3), "off": offset, "n": read.n}) + "\n"
            for read, offset in zip(self.reads, offsets, strict=False)
        ]
        request = {"method": "POST", "path": self.path, "body": self.request}
        (folder / f"{name}.body").write_bytes(self.body)
        (folder / f"{name}.reads.jsonl").write_text("".join(lines), encoding="utf-8")
        text = json.dumps(request, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.request.json").write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, name: str) -> Recording:
        """Read the three files."""
        request = json.loads((folder / f"{name}.request.json").read_text(encoding="utf-8"))
        lines = (folder / f"{name}.reads.jsonl").read_text(encoding="utf-8").splitlines()
        body = (folder / f"{name}.body").read_bytes()
        return cls(request["path"], request["body"], body, [Read.loads(line) for line in lines])

    def chunks(self) -> Iterator[tuple[float, bytes]]:
        """What each read gave, with its moment in seconds."""
        start = 0
        for read in self.reads:
            yield read.t, self.body[start : start + read.n]
            start += read.n


def record(url: str, request: Any, path: str = CHAT) -> Recording:
    """Send the request (JSON, or bytes that are sent as they are) and keep the answer, whatever its status."""
    body, reads = bytearray(), []
    content = request if isinstance(request, bytes) else json.dumps(request).encode()
    sent = time.perf_counter()
    headers = {"content-type": "application/json"}
    with httpx.stream("POST", url + path, content=content, headers=headers, timeout=60) as response:
        for chunk in response.iter_raw():
            reads.append(Read(time.perf_counter() - sent, len(chunk)))
            body += chunk
    shown = request.decode() if isinstance(request, bytes) else request
    return Recording(path, shown, bytes(body), reads)
