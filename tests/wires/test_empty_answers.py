"""Text under a name that the wire does not know is found in the first messages, wherever among them it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

import streamparse as sp
from streamparse.parser.empty_answers import MOST_LOOKED_AT


def _frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return (
        b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode() + b"\n\n"
    )


NOTHING, UNKNOWN, END = _frame({"role": "assistant"}), _frame({"contents": "hello"}), _frame({}, "stop")


def _read(frames: list[bytes], size: int) -> list[sp.Event]:
    body = b"".join(frames)
    reads = [body[at : at + size] for at in range(0, len(body), size)] if size else frames
    return list(sp.iter_events(reads, "openai-chat"))


@pytest.mark.parametrize("size", [0, 1, 50, 1000])
@pytest.mark.parametrize("before", [0, 1, 2, MOST_LOOKED_AT - 1])
def test_text_of_an_unknown_name_makes_an_empty_answer_behind_messages_that_say_nothing(before: int, size: int) -> None:
    events = _read([*[NOTHING] * before, UNKNOWN, END], size)
    offset = len(NOTHING) * before + len("data: ")
    assert [(type(event), getattr(event, "offset", None)) for event in events] == [(sp.Error, offset), (sp.Done, None)]
    assert events[-1] == sp.Done("stop", None, False)


@pytest.mark.parametrize("size", [0, 1, 50, 1000])
def test_where_something_was_said_or_behind_the_first_messages_it_is_passed_over(size: int) -> None:
    said = _read([NOTHING, _frame({"content": "Hi"}), UNKNOWN, END], size)
    late = _read([*[NOTHING] * MOST_LOOKED_AT, UNKNOWN, END], size)
    for events in (said, late):
        assert events[-1] == sp.Done("stop", None, True)
        assert not any(isinstance(event, sp.Error) for event in events)
