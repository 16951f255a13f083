"""How exactly a recording is played back: what a client reads, against the times of the recording."""

from __future__ import annotations

import time
from itertools import accumulate
from pathlib import Path

import httpx
import pytest

from streamparse.testing import Recording, replaying

RECORDED = Path(__file__).parents[1] / "fixtures" / "recorded"
MOST = 0.005
"""Seconds by which 95 of 100 reads may be late, in the best of three plays: a busy machine delays some."""


def measure_lateness(recording: Recording) -> list[float]:
    """Return by how many seconds each byte that ends a read came late, in order of size."""
    due = [t for t, _ in recording.chunks()]
    ends = list(accumulate(len(piece) for _, piece in recording.chunks()))
    came: list[float] = []
    size = 0
    with replaying(recording) as url, httpx.stream("POST", url + recording.path, json=recording.request) as response:
        zero = None
        for piece in response.iter_raw():
            now = time.perf_counter()
            zero = now - due[0] if zero is None else zero
            size += len(piece)
            while len(came) < len(ends) and ends[len(came)] <= size:
                came.append(now - zero)
    return sorted(abs(moment - wanted) for moment, wanted in zip(came, due, strict=True))


@pytest.mark.parametrize("name", ["llamacpp-paced"])
def test_a_recording_is_played_at_its_pace(name: str) -> None:
    recording = Recording.load(RECORDED / name)
    plays = [measure_lateness(recording) for _ in range(3)]
    late = min(play[len(play) * 95 // 100] for play in plays)
    print(f"95 of 100 reads are at most {late * 1000:.2f} ms from their time")
    assert late <= MOST
