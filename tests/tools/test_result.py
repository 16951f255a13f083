"""The envelopes of a call and of its result."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_the_call_is_told_with_its_time_and_its_place_in_the_task():
    result = sp.ToolResult("c1", "bash", arguments={"command": "ls"}, turn=3, time=MOMENT)
    assert result.to_call_envelope(task_id="t", working_directory="/srv") == {
        "tool_call_id": "c1",
        "name": "bash",
        "arguments": {"command": "ls"},
        "timestamp": "2026-01-02T03:04:05+00:00",
        "context": {"step_number": 3, "task_id": "t", "working_directory": "/srv"},
    }


def test_a_value_is_told_with_what_the_tool_did():
    value = {"stdout": "a", "exit_code": 0, "stdout_truncated": True, "total_output_bytes": 70_000}
    changes = (sp.StateChange("FileCreated", "a.txt"),)
    result = sp.ToolResult("c1", "bash", value, seconds=0.0125, attempts=2, state_changes=changes)
    assert result.to_envelope() == {
        "tool_call_id": "c1",
        "success": True,
        "output": value,
        "error": None,
        "recoverable": None,
        "suggested_action": None,
        "exit_code": 0,
        "execution_time_ms": 12.5,
        "state_changes": [{"type": "FileCreated", "path": "a.txt"}],
        "metadata": {
            "truncated": False,
            "stdout_truncated": True,
            "stderr_truncated": False,
            "total_output_bytes": 70_000,
            "attempts": 2,
            "revoked": False,
            "incomplete": False,
        },
    }


@pytest.mark.parametrize("total", [True, "70000", None])
def test_a_count_of_bytes_that_is_no_number_is_not_known(total):
    assert sp.ToolResult("c1", "bash", {"total_output_bytes": total}).metadata["total_output_bytes"] is None


def test_an_error_is_told_with_what_may_be_done():
    failure = sp.ToolFailure("timeout", "too slow", "timed_out", {"limit_seconds": 3, "exit_code": 9})
    told = sp.ToolResult("c1", "bash", error="told", failure=failure).to_envelope()
    assert told["error"] == {
        "type": "timeout",
        "message": "too slow",
        "code": "timed_out",
        "details": {"limit_seconds": 3, "exit_code": 9},
    }
    assert (told["success"], told["recoverable"], told["exit_code"]) == (False, True, 9)
    assert told["suggested_action"] == "ask for less at once, or go another way"


def test_an_answer_without_a_failure_has_an_error_all_the_same():
    for arguments, kind in ((None, "validation"), ({}, "execution")):
        told = sp.ToolResult("c1", "bash", error="broken", arguments=arguments).to_envelope()["error"]
        assert (told["message"], told["type"], told["code"]) == ("broken", kind, "")


def test_what_is_no_number_is_no_exit_code():
    for code in (True, "1", None, 1.0):
        assert sp.ToolResult("c1", "bash", {"exit_code": code}).exit_code is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(JSON, st.none() | st.text(), st.dictionaries(st.text(), JSON, max_size=3))
def test_a_result_and_its_envelopes_come_back_from_json_as_they_were(value, error, details):
    failure = None if error is None else sp.ToolFailure("network", error, details=details)
    changes = (sp.StateChange("a", "b"),)
    result = sp.ToolResult(
        "1", "f", value, error, arguments=details, failure=failure, time=MOMENT, state_changes=changes
    )
    assert msgspec.json.decode(msgspec.json.encode(result), type=sp.ToolResult) == result
    for envelope in (result.to_envelope(), result.to_call_envelope()):
        assert msgspec.json.decode(msgspec.json.encode(envelope)) == envelope


def test_a_result_without_a_time_has_an_envelope_without_one():
    envelope = sp.ToolResult("1", "f").to_call_envelope()
    assert (envelope["timestamp"], envelope["arguments"], envelope["tool_call_id"]) == (None, None, "1")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("value", "told"), [(True, True), (False, False), (1, False)])
def test_what_a_tool_says_of_the_output_that_it_cut_is_told(stream: str, value: object, told: bool) -> None:
    metadata = sp.ToolResult("1", "f", {f"{stream}_truncated": value, "total_output_bytes": 9}).metadata
    other = "stderr" if stream == "stdout" else "stdout"
    assert (metadata[f"{stream}_truncated"], metadata[f"{other}_truncated"]) == (told, False)
    assert metadata["total_output_bytes"] == 9


def test_a_result_has_the_id_and_the_name_of_its_call():
    result = sp.ToolResult("call_7", "look")
    assert (result.id, result.name) == (result.call_id, result.tool_name) == ("call_7", "look")


def test_a_result_that_is_made_by_hand_is_that_of_the_first_call():
    result = sp.ToolResult("c1", "bash", "done")
    assert (result.index, result.turn, result.attempts, result.success) == (0, 0, 0, True)
