"""What a timeline says of each call."""

from __future__ import annotations

from importlib.resources import files

import pytest

import streamparse as sp
from streamparse.cli.page import render
from streamparse.cli.timeline import replay
from streamparse.cli.timeline_model import Facts, Mark, Timeline, analyse
from streamparse.usage import TokenCounts


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


FROM_0 = Facts(first=0.0)
FINISH_AT_5 = Facts(first=0.0, finish=5.0)
SENT = 1000.0
"""When the request was sent, on the runner's clock."""


def result(index: int, seconds: float, error: str | None = None, ran: bool = True, begun: float = 2.0) -> sp.ToolResult:
    started, ended = (SENT + begun, SENT + begun + seconds) if ran else (None, None)
    return sp.ToolResult(
        f"c{index}", f"tool{index}", "x", error, index=index, seconds=seconds, started=started, ended=ended
    )


def test_a_call_is_compared_with_the_next_call_the_finish_reason_and_the_end() -> None:
    timeline = analyse(TWO_CALLS, facts=FINISH_AT_5)
    assert [(one.start, one.closed, one.next_call, one.finish, one.end) for one in timeline.calls] == [
        (1.0, 2.0, 3.0, 5.0, 6.0),
        (3.0, 4.0, None, 5.0, 6.0),
    ]
    assert timeline.list_gains("next_call") == [1.0]
    assert timeline.list_gains("finish") == [3.0, 1.0]
    assert timeline.list_gains("end") == [4.0, 2.0]


def test_a_page_claims_no_head_start_over_a_next_call_that_does_not_exist() -> None:
    alone = [*call(0, 1.0, 2.0), *marks_of((6.0, sp.Done("tool_calls", None, True)))]
    page = render(analyse(alone, facts=FINISH_AT_5), "page")
    assert "head start over the next call" not in page
    assert "before the next call begins" not in page
    assert "the widest head start over the finish reason; 3,000 ms over one call" in page
    both = render(analyse(TWO_CALLS, facts=FINISH_AT_5), "page")
    assert "the widest head start over the next call; 1,000 ms over one call" in both
    assert "the widest head start over the finish reason; 4,000 ms over 2 calls" in both


def test_without_a_finish_reason_the_end_is_taken() -> None:
    assert analyse(TWO_CALLS, facts=FROM_0).finish == 6.0


def test_an_interleaved_call_is_known_to_be_whole_only_when_it_is() -> None:
    first, second = call(0, 1.0, 4.0), call(1, 2.0, 3.0)
    marks = sorted([*first, *second, *marks_of((5.0, sp.Done("stop", None, True)))], key=lambda mark: mark.t)
    timeline = analyse(marks)
    assert timeline.list_gains("next_call") == [0.0]


def test_prose_of_one_kind_is_one_stretch_until_something_else_comes() -> None:
    stretches = analyse([*TWO_CALLS[:4], *marks_of((7.0, sp.TextDelta("More")))], facts=FROM_0).prose
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
    timeline = analyse(marks, facts=FROM_0)
    assert (timeline.calls[0].closed, timeline.calls[0].problem) == (2.0, "revoked: refusal")


def test_a_run_is_placed_by_the_clock_of_the_runner_whenever_its_result_was_seen() -> None:
    seen = marks_of((3.75, result(0, 1.5)), (9.0, result(1, 4.0, begun=4.0)))
    timeline = analyse([*TWO_CALLS, *seen], facts=FINISH_AT_5, sent=SENT)
    assert [(one.run.start, one.run.end, one.run.ok) for one in timeline.calls if one.run] == [
        (2.0, 3.5, True),
        (4.0, 8.0, True),
    ]
    assert timeline.length == 8.0
    assert timeline.end == 6.0
    assert timeline.find_last_result("closed") == 8
    assert timeline.find_last_result("finish") == 9
    assert timeline.find_last_result("end") == 10


def test_without_the_clock_of_the_runner_no_run_is_drawn() -> None:
    assert analyse([*TWO_CALLS, *marks_of((9.0, result(0, 1.5)))], facts=FROM_0).calls[0].run is None


def test_the_axis_begins_at_the_first_byte_and_the_wait_before_it_is_a_number() -> None:
    timeline = analyse([*TWO_CALLS, *marks_of((9.0, result(0, 1.5)))], facts=Facts(first=0.25, finish=5.0), sent=SENT)
    assert (timeline.wait, timeline.prose[0].start, timeline.finish, timeline.end) == (0.25, 0.25, 4.75, 5.75)
    [run] = [one.run for one in timeline.calls if one.run]
    assert (run.start, run.end) == (1.75, 3.25)
    assert run.start >= (timeline.calls[0].closed or 0)
    assert "first byte after 250 ms" in render(timeline, "page")


def test_the_head_of_a_page_has_the_wire_the_model_and_the_tokens() -> None:
    facts = Facts(wire="anthropic", model="<m>", tokens=TokenCounts(1200, 35, 1235, 0, 20))
    page = render(analyse(TWO_CALLS, facts=facts), "page")
    assert "anthropic · &lt;m&gt; · 1,200 tokens read, 35 written (20 of them thought)" in page


def test_a_figure_stands_once_where_the_end_comes_right_behind_the_finish_reason() -> None:
    near = render(analyse(TWO_CALLS, facts=Facts(finish=5.99)), "page")
    far = render(analyse(TWO_CALLS, facts=Facts(finish=5.0)), "page")
    assert ("over the end of the stream; " in near, "over the end of the stream; " in far) == (False, True)


@pytest.mark.parametrize("theme", [0, 1])
def test_text_and_runs_of_tools_differ_in_lightness_which_every_eye_sees(theme: int) -> None:
    style = files("streamparse.cli").joinpath("page.css").read_text("utf-8").split("prefers-color-scheme")[theme]
    text, run = (measure_lightness(style.split(f"--{name}: #")[1][:6]) for name in ("text", "run"))
    assert (max(text, run) + 0.05) / (min(text, run) + 0.05) >= 2


def measure_lightness(colour: str) -> float:
    """Relative luminance of `rrggbb` (WCAG 2.2)."""
    shares = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


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
    marks, facts = replay(sp.StreamParser("openai-chat"), zip([1.0, 2.0, 3.0], frames, strict=True))
    assert facts == Facts(1.0, 2.0, "openai-chat")
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
    page = render(analyse(TWO_CALLS, axis="bytes" if axis == "bytes" else "seconds", facts=FINISH_AT_5), "page")
    assert ("The axis counts bytes" in page) == (axis == "bytes")
    assert ("finish reason at 5 B, end at 6 B" in page) == (axis == "bytes")
    assert ("finish reason at 5,000 ms, end at 6,000 ms" in page) == (axis == "seconds")
