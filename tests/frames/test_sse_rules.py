"""The rules of the event stream as data: every rule holds for every cutting, and no event comes late."""

from __future__ import annotations

from typing import Any

import pytest
from framing import cuts, feed_all, rules, run

from streamparse.frames import SSE, Frame
from streamparse.frames.sse import RETRY_CAP
from streamparse.limits import Limits

SPEC = [rule for rule in rules("sse") if rule["mode"] == "spec"]
TOLERANT = {rule["id"]: rule for rule in rules("sse") if rule["mode"] != "spec"}


def as_browser(frames: list[Frame]) -> list[dict[str, str]]:
    """The frames that a browser would dispatch, in the words of the rules."""
    return [
        {
            "type": frame.event.decode(errors="replace") or "message",
            "data": frame.data.decode(errors="replace"),
            "last_event_id": frame.id.decode(errors="replace"),
        }
        for frame in frames
        if frame.field == b"data"
    ]


def by_id(rule: dict[str, Any]) -> str:
    return str(rule["id"])


def test_all_the_rules_are_here() -> None:
    assert (len(SPEC), len(TOLERANT)) == (70, 3)


@pytest.mark.parametrize("rule", SPEC, ids=by_id)
def test_a_rule_of_the_specification_holds_for_every_cutting(rule: dict[str, Any]) -> None:
    # The specification discards an event whose blank line never comes; we deliver it, but only in close().
    # So the specification's events are exactly what feed() returns.
    for chunks in cuts(rule["input"]):
        framer = SSE(Limits())
        assert as_browser(feed_all(framer, chunks)) == rule["expect"]
        expected_retry = RETRY_CAP if rule["id"] == "retry-huge" else rule["retry"]
        assert framer.retry == expected_retry
        assert framer.received == len(rule["input"])
        assert framer.error is None


@pytest.mark.parametrize("rule", SPEC, ids=by_id)
def test_an_event_comes_with_the_byte_that_closes_it(rule: dict[str, Any]) -> None:
    framer = SSE(Limits())
    offsets = []
    for i in range(len(rule["input"])):
        frames = framer.feed(rule["input"][i : i + 1])
        offsets += [i + 1 for frame in frames if frame.field == b"data"]
    assert offsets == rule["dispatch_offsets"]


@pytest.mark.parametrize("rule", SPEC, ids=by_id)
def test_no_cutting_changes_any_field_of_any_frame(rule: dict[str, Any]) -> None:
    whole = run(SSE(Limits()), [rule["input"]])
    assert all(run(SSE(Limits()), chunks) == whole for chunks in cuts(rule["input"]))


@pytest.mark.parametrize("name", ["eof-unfinished", "eof-unfinished-line"])
def test_close_delivers_the_unfinished_event_that_the_specification_discards(name: str) -> None:
    (rule,) = [rule for rule in SPEC if rule["id"] == name]
    for chunks in cuts(rule["input"]):
        framer = SSE(Limits())
        assert as_browser(feed_all(framer, chunks)) == rule["expect"]
        assert [frame.data for frame in framer.close()] == [b"2"]
        assert framer.close() == []


def test_a_complete_value_without_its_blank_line_is_taken_at_the_end() -> None:
    rule = TOLERANT["tol-eof-complete-json"]
    for chunks in cuts(rule["input"]):
        assert as_browser(run(SSE(Limits()), chunks)) == rule["expect"]


def test_a_line_of_bare_json_between_events_is_a_frame_without_a_field() -> None:
    rule = TOLERANT["tol-raw-json"]
    message, error = rule["expect"]
    for chunks in cuts(rule["input"]):
        frames = run(SSE(Limits()), chunks)
        assert [(frame.field, frame.data.decode()) for frame in frames] == [
            (b"data", message["data"]),
            (b"", error["data"]),
        ]


def test_data_lines_with_one_line_end_between_them_are_one_event_as_the_specification_says() -> None:
    # Splitting them is a tolerance that one must ask for; whoever reads the JSON may do it, the framer never does.
    rule = TOLERANT["tol-single-lf"]
    joined = "\n".join(event["data"] for event in rule["expect"])
    for chunks in cuts(rule["input"]):
        assert [event["data"] for event in as_browser(run(SSE(Limits()), chunks))] == [joined]
