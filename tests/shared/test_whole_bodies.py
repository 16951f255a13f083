"""The body that a server would have sent whole holds what its stream held."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from collection import SHARED, json_lines
from thoroughness import spread
from whole_bodies import SUMS, messages_of

import streamparse as sp
from streamparse.tools import Toolset

NO_SUM = {
    "anth-anthropic-002403": "two messages in one body",
    "anth-anthropic-cdaf96": "two messages in one body",
    "chat-vllm-dbe1c0": "each piece of the thought stands in two fields, and a sum does not keep how they alternate",
    "resp-azure-c2ac1c": "four responses in one body",
    "resp-openai-e82950": "deltas are missing in the recording: the text that is said to be done is longer",
}
"""Streams that are no pieces of one body."""

STREAMS = {
    row["id"]: row for row in json_lines("streams/index.jsonl") if row["family"] in SUMS and row["id"] not in NO_SUM
}
WIRES = {family: "gemini" if family == "gemini-json-array" else family for family in SUMS}

FORMS: dict[str, Callable[[Any], Any]] = {
    "a dict": lambda body: body,
    "a text": json.dumps,
    "bytes": lambda body: json.dumps(body, ensure_ascii=False).encode(),
}


def _calls(response: sp.ParsedResponse) -> list[tuple[str, dict[str, Any], str]]:
    return [(call.name, call.arguments, call.source) for call in response.tool_calls]


def _streamed(row: dict[str, Any], body: bytes) -> sp.ParsedResponse:
    parser = sp.StreamParser(WIRES[row["family"]], tools=Toolset.of(row.get("tools")))
    parser.feed(body)
    parser.close()
    return parser.response


@pytest.mark.parametrize("id", STREAMS)
def test_the_whole_body_of_a_recorded_stream_holds_what_was_streamed(id: str) -> None:
    row = STREAMS[id]
    body = (SHARED / "streams" / row["file"]).read_bytes()
    fed = _streamed(row, body)
    if not fed.ok or fed.errors:
        return  # what failed or was cut has no whole body
    whole = SUMS[row["family"]](messages_of(body))
    ways = [(form, wire) for form in FORMS for wire in ("auto", WIRES[row["family"]])]
    for form, wire in spread(ways, [*STREAMS].index(id), 3):  # two ways for each body: one form by name, one without
        parsed = sp.parse_response(FORMS[form](whole), wire, tools=Toolset.of(row.get("tools")))
        assert _calls(parsed) == _calls(fed), (form, wire)
        for field in ("content", "reasoning", "refusal", "finish_reason"):
            assert getattr(parsed, field) == getattr(fed, field), (form, wire, field)
        if fed.finish_reason is not None:  # else `[DONE]` ended it, which has no place in a body
            assert (parsed.ok, parsed.errors) == (True, []), (form, wire)
        # These stand beside the message, and the bodies made here hold messages alone.
        beside = {"logprobs", "copilot_usage", "timings"}
        kinds = [{item["kind"] for item in response.items} - beside for response in (parsed, fed)]
        assert kinds[0] == kinds[1], (form, wire)


@pytest.mark.parametrize("id", [id for id, row in STREAMS.items() if row["family"] == "anthropic"])
def test_the_message_of_a_recorded_stream_can_be_read_again_as_it_is_sent_back(id: str) -> None:
    row = STREAMS[id]
    fed = _streamed(row, (SHARED / "streams" / row["file"]).read_bytes())
    if not fed.ok or fed.errors:
        return
    again = sp.parse_response(sp.as_message(fed, "anthropic"), tools=Toolset.of(row.get("tools")))
    assert [call[:2] for call in _calls(again)] == [call[:2] for call in _calls(fed)]


def test_there_are_bodies_to_put_together() -> None:
    assert bool(STREAMS) == SHARED.is_dir()
