"""What a timeline says of each call."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.cli.page import render
from streamparse.cli.timeline import replay
from streamparse.cli.timeline_model import Mark, Timeline, analyse


def marks_of(*pairs: tuple[float, sp.Event | sp.ToolResult]) -> list[Mark]:
    return [Mark(t, event) for t, event in pairs]


def call(index: int, start: float, closed: float) -> list[Mark]:
    return marks_of(
        (start, sp.ToolCallStart(index, f"c{index}", f"tool{index}")),
        (start, sp.ToolCallDelta(index, "{")),
        (closed, sp.ToolCallDelta(index, "}")),
        (closed, sp.ToolCallComplete(index, f"c{index}", f"tool{index}", {}, "native", "{}")),
    )


TWO_CALLS = [
    *marks_of((0.5, sp.ReasoningDelta("Hm")), (0.75, sp.ReasoningDelta("m.")), (1.0, sp.TextDelta("Yes"))),
    *call(0, 1.0, 2.0),
    *call(1, 3.0, 4.0),
    *marks_of((6.0, sp.Done("tool_calls", None, True))),
]


def result(index: int, seconds: float, error: str | None = None, ran: bool = True) -> sp.ToolResult:
    started, ended = (1000.0, 1000.0 + seconds) if ran else (None, None)
    return sp.ToolResult(
        f"c{index}", f"tool{index}", "x", error, index=index, seconds=seconds, started=started, ended=ended
    )


def test_a_call_is_compared_with_the_next_call_the_finish_reason_and_the_end() -> None:
    timeline = analyse(TWO_CALLS, finish=5.0)
    assert [(one.start, one.closed, one.next_call, one.finish, one.end) for one in timeline.calls] == [
        (1.0, 2.0, 3.0, 5.0, 6.0),
        (3.0, 4.0, None, 5.0, 6.0),
    ]
    assert timeline.list_gains("next_call") == [1.0]
    assert timeline.list_gains("finish") == [3.0, 1.0]
    assert timeline.list_gains("end") == [4.0, 2.0]


def test_a_page_claims_no_head_start_over_a_next_call_that_does_not_exist() -> None:
    alone = [*call(0, 1.0, 2.0), *marks_of((6.0, sp.Done("tool_calls", None, True)))]
    page = render(analyse(alone, finish=5.0), "page")
    assert "head start over the next call" not in page
    assert "before the next call begins" not in page
    assert "the widest head start over the finish reason; 3,000 ms over one call" in page
    both = render(analyse(TWO_CALLS, finish=5.0), "page")
    assert "the widest head start over the next call; 1,000 ms over one call" in both
    assert "the widest head start over the finish reason; 4,000 ms over 2 calls" in both


def test_without_a_finish_reason_the_end_is_taken() -> None:
    assert analyse(TWO_CALLS).finish == 6.0


def test_an_interleaved_call_is_known_to_be_whole_only_when_it_is() -> None:
    first, second = call(0, 1.0, 4.0), call(1, 2.0, 3.0)
    marks = sorted([*first, *second, *marks_of((5.0, sp.Done("stop", None, True)))], key=lambda mark: mark.t)
    timeline = analyse(marks)
    assert timeline.list_gains("next_call") == [0.0]


def test_prose_of_one_kind_is_one_stretch_until_something_else_comes() -> None:
    stretches = analyse([*TWO_CALLS[:4], *marks_of((7.0, sp.TextDelta("More")))]).prose
    assert [(one.kind, one.start, one.end, "".join(one.fragments)) for one in stretches] == [
        ("reasoning", 0.5, 0.75, "Hmm."),
        ("text", 1.0, 1.0, "Yes"),
        ("text", 7.0, 7.0, "More"),
    ]


def test_a_broken_call_gains_nothing_and_says_why() -> None:
    marks = marks_of(
        (1.0, sp.ToolCallStart(0, "c0", "look")),
        (2.0, sp.Error("call", "truncated_call", "cut", 0)),
        (2.0, sp.Done(None, None, False)),
    )
    timeline = analyse(marks)
    assert (timeline.calls[0].closed, timeline.calls[0].problem) == (None, "truncated_call")
    assert timeline.list_gains("end") == []
    assert not timeline.ok


def test_a_revoked_call_keeps_its_moment_and_says_why() -> None:
    marks = [*call(0, 1.0, 2.0), *marks_of((3.0, sp.ToolCallRevoked(0, "c0", "refusal")))]
    timeline = analyse(marks)
    assert (timeline.calls[0].closed, timeline.calls[0].problem) == (2.0, "revoked: refusal")


def test_a_run_ends_where_its_result_was_seen_whatever_the_clock_of_the_runner() -> None:
    marks = sorted([*TWO_CALLS, *marks_of((3.5, result(0, 1.5)), (8.0, result(1, 4.0)))], key=lambda mark: mark.t)
    timeline = analyse(marks, finish=5.0)
    assert [(one.run.start, one.run.end, one.run.ok) for one in timeline.calls if one.run] == [
        (2.0, 3.5, True),
        (4.0, 8.0, True),
    ]
    assert timeline.length == 8.0
    assert timeline.end == 6.0
    assert timeline.find_last_result("closed") == 8
    assert timeline.find_last_result("finish") == 9
    assert timeline.find_last_result("end") == 10


def test_a_tool_that_was_not_run_has_no_run() -> None:
    marks = [*TWO_CALLS, *marks_of((6.0, result(0, 0.0, "unknown tool", ran=False)))]
    one = analyse(marks).calls[0]
    assert (one.run, one.problem) == (None, "not run: unknown tool")


def test_nothing_is_a_timeline_too() -> None:
    timeline = analyse([])
    assert (timeline.length, timeline.calls, timeline.prose) == (0.0, [], [])
    assert "0 calls" in render(timeline, "nothing")


def test_a_replay_knows_the_moment_of_the_finish_reason() -> None:
    frames = [
        b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        b"data: [DONE]\n\n",
    ]
    marks, finish = replay(sp.StreamParser("openai-chat"), zip([1.0, 2.0, 3.0], frames, strict=True))
    assert finish == 2.0
    assert marks == marks_of((1.0, sp.TextDelta("Hi")), (3.0, sp.Done("stop", None, True)))


HOSTILE = "<script>alert('\"&\u202e\x00"


@pytest.fixture(scope="module")
def hostile() -> Timeline:
    """Every place that shows something of the stream shows this."""
    marks = marks_of(
        (1.0, sp.TextDelta(HOSTILE)),
        (1.0, sp.ToolCallStart(0, HOSTILE, HOSTILE)),
        (1.0, sp.ToolCallDelta(0, HOSTILE)),
        (2.0, sp.ToolCallRevoked(0, HOSTILE, HOSTILE)),
        (2.0, result(0, 1.0, HOSTILE)),
        (2.0, sp.Error("stream", "provider_error", HOSTILE)),
        (2.0, sp.Done(HOSTILE, None, True)),
    )
    return analyse(marks)


def test_nothing_of_the_stream_is_markup_on_the_page(hostile: Timeline) -> None:
    page = render(hostile, HOSTILE)
    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert(&#x27;&quot;&amp;" in page
    assert not {"\u202e", "\x00"} & set(page)


def test_a_page_loads_nothing_from_elsewhere(hostile: Timeline) -> None:
    page = render(hostile, "page")
    assert "default-src 'none'" in page
    assert not [word for word in ("http:", "https:", "//", "src=", "href=", "@import", "url(") if word in strip(page)]


def strip(page: str) -> str:
    """A page without the comments of its script, which begin with two slashes."""
    return "\n".join(line for line in page.splitlines() if not line.lstrip().startswith("//"))


@pytest.mark.parametrize("axis", ["seconds", "bytes"])
def test_a_page_says_what_its_axis_counts(axis: str) -> None:
    page = render(analyse(TWO_CALLS, axis="bytes" if axis == "bytes" else "seconds", finish=5.0), "page")
    assert ("The axis counts bytes" in page) == (axis == "bytes")
    assert ("finish reason at 5 B, end at 6 B" in page) == (axis == "bytes")
    assert ("finish reason at 5,000 ms, end at 6,000 ms" in page) == (axis == "seconds")
