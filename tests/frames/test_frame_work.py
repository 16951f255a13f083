"""Work is linear: small chunks and long lines cost no more for each byte than short ones do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from framing import run

from streamparse.frames import NDJSON, SSE, AutoFramer, Framer, JSONArray
from streamparse.limits import Limits

pytestmark = pytest.mark.usefixtures("uncollected")

SHORT, LONG = 2_000, 32_000


def work(framer: Framer, body: bytes, chunk_size: int) -> int:
    """Function calls, and the bytes of every buffer that a method was called on."""
    chunks = [body[i : i + chunk_size] for i in range(0, len(body), chunk_size)]
    count = 0

    def tally(frame: FrameType, event: str, called: object) -> None:
        nonlocal count
        if event == "call":
            count += 1
        elif event == "c_call":
            buffer = getattr(called, "__self__", None)
            count += 1 + (len(buffer) if isinstance(buffer, bytes | bytearray) else 0)

    before = sys.getprofile()
    sys.setprofile(tally)
    try:
        run(framer, chunks)
    finally:
        sys.setprofile(before)
    return count


BODIES: list[tuple[Callable[[Limits], Framer], Callable[[int], bytes]]] = [
    (SSE, lambda n: b"data: " + b"x" * n + b"\n\n"),
    (SSE, lambda n: b"data: x\n" * (n // 8) + b"\n"),
    (SSE, lambda n: b"data: x\n\n" * (n // 9)),
    (SSE, lambda n: b":\r" * (n // 2)),
    (SSE, lambda n: b"\r\n" * (n // 2)),
    (NDJSON, lambda n: b'{"a":"' + b"x" * n + b'"}\n'),
    (NDJSON, lambda n: b"\n" * n),
    (JSONArray, lambda n: b'[{"a":"' + b"x" * n + b'"}]'),
    (JSONArray, lambda n: b'["' + b'\\"' * (n // 2) + b'"]'),
    (JSONArray, lambda n: b"[" * n),
    (JSONArray, lambda n: b"1" * n),
    (AutoFramer, lambda n: b"data: " + b"x" * n + b"\n\n"),
    (AutoFramer, lambda n: b"[" + b'{"a":1},' * (n // 8)),
]


@pytest.mark.parametrize("chunk_size", [1, 16, 1460, LONG * 2])
@pytest.mark.parametrize(("make", "body"), BODIES)
def test_work_for_each_byte_does_not_grow(
    make: Callable[[Limits], Framer], body: Callable[[int], bytes], chunk_size: int
) -> None:
    short, long = (work(make(Limits()), body(n), chunk_size) / n for n in (SHORT, LONG))
    assert long <= short * 1.15 + 0.01


@pytest.mark.parametrize(("make", "body"), BODIES)
def test_a_body_in_one_piece_costs_a_few_operations_for_each_byte(
    make: Callable[[Limits], Framer], body: Callable[[int], bytes]
) -> None:
    assert work(make(Limits()), body(LONG), LONG * 2) / LONG < 16


@pytest.mark.parametrize("lines", [1, 5000])
def test_thousands_of_data_lines_are_joined_into_one_event(lines: int) -> None:
    values = [b"%d" % i for i in range(lines)]
    body = b"".join(b"data: %s\n" % value for value in values) + b"\n"
    (frame,) = run(SSE(Limits()), [body])
    assert frame.data == b"\n".join(values)
