"""Every limit is exact, and is hit at the same place however the body is cut."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from framing import cuts, run

from streamparse.frames import NDJSON, SSE, AutoFramer, Framer, FramingError, JSONArray, JSONBody
from streamparse.limits import Limits

N = 20


def outcome(framer: Framer, chunks: list[bytes]) -> tuple[list[bytes], tuple[str, int] | None]:
    frames = run(framer, chunks)
    return [frame.data for frame in frames], framer.error and (framer.error.code, framer.error.offset)


# A body of a first frame `1`, one of a given size, and a last one; where its size begins to count; the limit.
CASES: list[tuple[Callable[[Limits], Framer], Callable[[bytes], bytes], int, str, str]] = [
    (SSE, lambda x: b"data: 1\n\ndata: " + x[6:] + b"\n\ndata: 1\n\n", 9, "max_line", "limit_line"),
    (SSE, lambda x: b"data: 1\r\n\r\ndata: " + x[6:] + b"\r\n\r\ndata: 1\r\n\r\n", 11, "max_line", "limit_line"),
    (SSE, lambda x: b"data: 1\n\n:" + x[1:] + b"\ndata: 1\n\n", 9, "max_line", "limit_line"),
    (SSE, lambda x: b"data: 1\n\ndata: 1\n\ndata: " + x[6:], 18, "max_line", "limit_line"),
    (SSE, lambda x: b"data: 1\n\ndata: " + x + b"\n\ndata: 1\n\n", 15, "max_event", "limit_event"),
    (SSE, lambda x: b"data: 1\n\ndata:" + x + b"\r\rdata: 1\n\n", 14, "max_event", "limit_event"),
    (SSE, lambda x: b"data: 1\n\ndata: 1\n\ndata: " + x, 24, "max_event", "limit_event"),
    (NDJSON, lambda x: b"1\n" + x + b"\n1\n", 2, "max_line", "limit_line"),
    (NDJSON, lambda x: b"1\n" + x + b"\r\n1\n", 2, "max_event", "limit_event"),
    (NDJSON, lambda x: b"1\n1\n" + x, 4, "max_line", "limit_line"),
    (JSONArray, lambda x: b"[1,\n" + b'{"":' + x[5:] + b"}\n,1]", 4, "max_event", "limit_event"),
    (JSONArray, lambda x: b"[1,\n" + x + b"\n,1]", 4, "max_event", "limit_event"),
    (AutoFramer, lambda x: b"data: 1\n\ndata: " + x[6:] + b"\n\ndata: 1\n\n", 9, "max_line", "limit_line"),
]


@pytest.mark.parametrize(("make", "body", "start", "limit", "code"), CASES)
def test_a_limit_is_hit_by_the_first_byte_too_many(
    make: Callable[[Limits], Framer], body: Callable[[bytes], bytes], start: int, limit: str, code: str
) -> None:
    limits = Limits(**{limit: N})
    for size in (N - 1, N):
        assert all(outcome(make(limits), chunks)[1] is None for chunks in cuts(body(b"x" * size)))
    for size in (N + 1, 3 * N):
        for chunks in cuts(body(b"x" * size)):
            frames, error = outcome(make(limits), chunks)
            assert frames in ([b"1"], [b"1", b"1"])
            assert frames == outcome(make(limits), [body(b"x" * size)])[0]
            assert error == (code, start + N)


@pytest.mark.parametrize("size", [N - 1, N, N + 1])
def test_the_lines_of_an_event_count_together_with_the_line_feeds_that_join_them(size: int) -> None:
    body = b"data: 1\n\n" + b"data\n" * (size - 10) + b"data: 0123456789\n\n"
    for chunks in cuts(body):
        frames, error = outcome(SSE(Limits(max_event=N)), chunks)
        if size <= N:
            assert ([len(data) for data in frames], error) == ([1, size], None)
        else:
            assert (frames, error) == ([b"1"], ("limit_event", len(body) - 2 - (size - N)))


@pytest.mark.parametrize("size", [N - 1, N, N + 1])
def test_a_whole_body_has_the_limit_of_an_event(size: int) -> None:
    for chunks in cuts(b"{" + b" " * (size - 2) + b"}"):
        frames, error = outcome(JSONBody(Limits(max_event=N)), chunks)
        assert (len(frames), error) == ((1, None) if size <= N else (0, ("limit_event", N)))


@pytest.mark.parametrize("size", [N - 1, N, N + 1])
def test_the_sniffer_waits_for_the_end_of_a_first_object_no_longer_than_for_a_line(size: int) -> None:
    for chunks in cuts(b"{" + b" " * (size - 2) + b"}\n{}\n"):
        frames, error = outcome(AutoFramer(Limits(max_line=N)), chunks)
        assert (len(frames), error) == ((2, None) if size <= N else (0, ("limit_line", N)))


@pytest.mark.parametrize("most", [2, 3, 17, 18])
def test_an_event_that_is_a_chunk_of_its_own_counts_for_the_limit_of_the_body(most: int) -> None:
    framer, event = SSE(Limits(max_total=most)), b"data: 1\n\n"
    singles = [framer.try_next(event, 0) for _ in range(3)]
    assert singles == [b"1"] * (most // len(event)) + [None] * (3 - most // len(event))
    assert framer.received == len(event) * (most // len(event))


@pytest.mark.parametrize("make", [SSE, NDJSON, JSONArray, JSONBody, AutoFramer])
def test_after_an_error_nothing_comes_and_nothing_is_held(make: Callable[[Limits], Framer]) -> None:
    framer = make(Limits(max_line=N, max_event=N))
    body = b'{"a":"' + b"x" * N + b'"}\n'
    assert framer.feed(body) == []
    error = framer.error
    assert isinstance(error, FramingError)
    assert framer.feed(b'data: 1\n\n{"a":1}\n') == framer.close() == framer.feed(b"data: 1\n\n") == []
    assert (framer.pending, framer.received, framer.error) == (0, len(body) + 26, error)


@pytest.mark.parametrize("make", [SSE, NDJSON, JSONArray, JSONBody])
def test_none_is_no_bound(make: Callable[[Limits], Framer]) -> None:
    framer = make(Limits(max_line=None, max_event=None))
    framer.feed(b'{"":"' + b"x" * 100_000)
    framer.feed(b'"}\n')
    framer.close()
    assert framer.error is None


@pytest.mark.parametrize("limit", ["max_line", "max_event"])
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\n\n", b"\n\r\n", b"\n:\n\n", b"\ndata: 1\n\n"])
def test_an_event_that_comes_alone_is_the_same_as_in_any_chunks(limit: str, end: bytes) -> None:
    limits = Limits(**{limit: N})
    for size in (0, 1, N - 6, N - 5, N, N + 1):
        for data in (b"x" * size, b"\r" * size, b" " * size):
            events = [b"data: 1\n\n", b"data: " + data + end, b"data: 2\n\n"]
            byte_by_byte = [body[at : at + 1] for body in events for at in range(len(body))]
            alone, cut = SSE(limits), SSE(limits)
            assert run(alone, events) == run(cut, byte_by_byte)
            assert alone.error == cut.error
