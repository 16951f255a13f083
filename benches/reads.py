"""How the bytes of a stream come in reads: so many frames each, so many bytes each, or as real servers were recorded.

`read_sizes.json` says of each server, over some recorded answers, how many reads completed how many frames, and how
many ended inside a frame: numbers alone.  They are dealt, in an order that is the same each time, over streams that we
write.  Where a collection of recorded answers lies beside the project, its own bytes are read, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from corpora import CORPORA, Corpus

__all__ = [
    "FRAMES",
    "RECORDED",
    "Recording",
    "Server",
    "cut_by_bytes",
    "cut_by_frames",
    "deal_reads",
    "read_fixtures",
    "take_frames",
]

ROOT = Path(__file__).parents[1]
COLLECTION = ROOT.parent / "shared" / "streams"

FRAMES = 4000
"""Frames of one stream that are measured."""
MANY_FRAMES = 500
"""A server with as many recorded frames is well enough known to be held to the lower bound."""

STREAMS = {
    "OpenRouter": "openai-chat, as OpenRouter writes",
    "OpenAI": "openai-chat, text with noise",
    "openai-chat": "openai-chat, text",
    "anthropic": "anthropic, text",
    "openai-responses": "openai-responses, text",
    "gemini": "gemini, text",
}
"""The stream that stands for a server, or for a wire: what matters is how far each message is like the one before."""


class Recording(NamedTuple):
    """One recorded answer: its bytes, and how they were cut."""

    body: bytes
    reads: list[bytes]


class Server(NamedTuple):
    """How one server's bytes came."""

    wire: str
    recorded_as: str
    streams: int
    frames: int
    reads_that_end_inside_a_frame: int
    reads_by_frames: dict[str, int]

    @property
    def is_well_known(self) -> bool:
        return self.frames >= MANY_FRAMES

    @property
    def frames_alone(self) -> float:
        """The share of frames that were the only one of their read."""
        return self.reads_by_frames.get("1", 0) / self.frames

    def find_stream(self, name: str) -> Corpus:
        """Return our stream that is most like this server's."""
        return CORPORA[STREAMS.get(name) or STREAMS[self.wire]]

    def find_recordings(self) -> list[Recording]:
        """Return the recorded answers themselves; none where the collection is not there."""
        return [_read_recording(row) for row in _read_index() if self._wrote(row)]

    def _wrote(self, row: dict[str, Any]) -> bool:
        return row["server"] == self.recorded_as and row["wire"] in {self.wire, self.recorded_as}


@cache
def _read_index() -> list[dict[str, Any]]:
    """What the collection says of the answers whose reads were recorded."""
    index = COLLECTION / "index.jsonl"
    lines = index.read_text(encoding="utf-8").splitlines() if index.is_file() else []
    return [row for row in map(json.loads, lines) if row.get("chunk_lens")]


def _read_recording(row: dict[str, Any]) -> Recording:
    body = (COLLECTION / row["file"]).read_bytes()
    return Recording(body, list(_cut(body, row["chunk_lens"])))


RECORDED = {
    name: Server(**row)
    for name, row in json.loads(Path(__file__).with_name("read_sizes.json").read_text(encoding="utf-8")).items()
}
"""Every recorded server by name."""


def take_frames(corpus: Corpus) -> list[bytes]:
    """The first frames of a stream; of a body that is one array, all, because it has an end."""
    return list(islice(corpus.reads(), None if corpus.between.startswith(b"\n,") else FRAMES))


def cut_by_frames(frames: Sequence[bytes], count: int) -> list[bytes]:
    """So many frames a read."""
    return [b"".join(frames[start : start + count]) for start in range(0, len(frames), count)]


def cut_by_bytes(frames: Sequence[bytes], size: int) -> list[bytes]:
    """So many bytes a read, wherever they end."""
    body = b"".join(frames)
    return [body[start : start + size] for start in range(0, len(body), size)]


def deal_reads(frames: Sequence[bytes], server: Server) -> list[bytes]:
    """Cut a stream as a server's were cut."""
    body = b"".join(frames)
    return list(_cut(body, _deal_lengths(frames, server)))


def _cut(body: bytes, lengths: Iterator[int] | list[int]) -> Iterator[bytes]:
    start = 0
    for length in lengths:
        yield body[start : start + length]
        start += length


def _deal_lengths(frames: Sequence[bytes], server: Server) -> Iterator[int]:
    """Bytes of each read; one that ends inside a frame has half of it."""
    counts = [int(count) for count, reads in server.reads_by_frames.items() for _ in range(reads)]
    halves = [number < server.reads_that_end_inside_a_frame for number in range(len(counts))]
    Random(len(counts)).shuffle(counts)
    Random(len(counts) + 1).shuffle(halves)
    rest = iter(frames)
    begun = 0  # bytes that were sent of the frame that comes next
    following = next(rest, b"")
    for count, is_cut in cycle(zip(counts, halves, strict=True)):
        length = -begun
        for _ in range(count):
            length += len(following)
            following = next(rest, b"")
        begun = len(following) // 2 if is_cut or not count else 0
        if length + begun > 0:
            yield length + begun
        if not following:
            return


def read_fixtures() -> Iterator[tuple[str, Recording]]:
    """The answers that this project recorded itself, by name; in one read each where their reads were not timed."""
    for path in sorted((ROOT / "fixtures" / "recorded").glob("*.body")):
        body = path.read_bytes()
        timed = path.with_suffix(".reads.jsonl")
        lines = timed.read_text(encoding="utf-8").splitlines() if timed.is_file() else []
        lengths = [json.loads(line)["n"] for line in lines] or [len(body)]
        yield path.stem, Recording(body, list(islice(_cut(body, lengths), len(lengths))))
