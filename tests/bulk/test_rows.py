"""What of a response is in its row."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from stored_bodies import CALL, CUT, OLLAMA, PROSE

import streamparse as sp
from streamparse.bulk import Row
from streamparse.bulk.rows import RowMaker


def test_an_answer_is_its_text_and_its_tokens() -> None:
    assert RowMaker().parse(PROSE, "a.sse", 4) == Row(
        source="a.sse", row=4, wire="openai-chat", ok=True, stop="end", finish_reason="stop", content="Grüße, 世界",
        prompt_tokens=7, completion_tokens=3, bytes=len(PROSE),
    )  # fmt: skip


def test_a_call_is_an_entry_in_each_column_of_calls() -> None:
    row = RowMaker("openai-chat").parse(CALL)
    assert (row.stop, row.reasoning) == ("tools", "Hm.")
    assert (row.call_names, row.call_ids, row.call_sources) == (["look"], ["c1"], ["native"])
    assert [json.loads(arguments) for arguments in row.call_arguments] == [{"a": [1, "x"]}]


def test_a_call_that_never_became_whole_is_kept_apart_as_it_came() -> None:
    row = RowMaker().parse(CUT)
    assert not row.ok
    assert row.call_names == []
    assert (row.broken_call_names, row.broken_call_ids, row.broken_call_arguments) == (["look"], ["c1"], ['{"a": 1'])
    assert "stream_truncated" in row.error_codes
    assert row.error_offsets[row.error_codes.index("stream_truncated")] == len(CUT)
    assert len(row.error_messages) == len(row.error_codes)


def test_a_call_that_was_taken_back_is_only_counted() -> None:
    text = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    thought = [f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n" for piece in
               ("<think>so ", text, " or not</think>no")]  # fmt: skip
    row = RowMaker("openai-chat").parse("".join(thought) + "data: [DONE]\n\n")
    assert (row.call_names, row.revoked_calls, row.content) == ([], 1, "no")


def test_what_the_filters_say_is_json_and_absent_where_they_say_nothing() -> None:
    rating = {"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}
    candidate = {"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP", "safetyRatings": [rating]}
    row = RowMaker("gemini").parse(json.dumps({"candidates": [candidate]}).encode())
    assert row.safety is not None
    assert "HARM_CATEGORY_HARASSMENT" in row.safety
    json.loads(row.safety)
    assert row.content_filters is None
    assert RowMaker().parse(PROSE).safety is None


def test_the_wire_the_dialects_and_the_tools_are_those_that_are_given() -> None:
    text = '{"name": "look", "arguments": {"a": 1}}'
    body = (
        b"data: %s\n\ndata: [DONE]\n\n"
        % json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}).encode()
    )
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    assert RowMaker(tools=tools).parse(body).call_names == ["look"]
    assert RowMaker(tools=tools, dialects=()).parse(body).content == text
    assert "wrong_wire" in RowMaker("anthropic").parse(body).error_codes
    with pytest.raises(ValueError, match="nope"):
        RowMaker("nope")
    with pytest.raises(ValueError, match="nope"):
        RowMaker(dialects=["nope"])


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\0", b"<html>", b'{"a"', "data: \ud800\n\n", OLLAMA + b"{"])
def test_no_body_stops_the_others(body: bytes | str) -> None:
    row = RowMaker().parse(body, "x")
    assert row.source == "x"
    assert msgspec.json.decode(msgspec.json.encode(row), type=Row) == row


def test_what_a_plugin_raises_says_in_which_body(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a bug")

    maker = RowMaker()
    monkeypatch.setattr(sp.StreamParser, "feed", fail)
    with pytest.raises(LookupError) as caught:
        maker.parse(b"", "a.jsonl", 3)
    assert caught.value.__notes__ == ["in row 3 of a.jsonl"]


def test_the_page_describes_each_column() -> None:
    page = (Path(__file__).parents[2] / "docs" / "bulk.md").read_text(encoding="utf-8")
    words = {
        str: "text",
        str | None: "text or null",
        bool: "boolean",
        int: "integer",
        int | None: "integer or null",
        list[str]: "list of text",
        list[int | None]: "list of integers or null",
    }
    described = re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", page, re.MULTILINE)
    assert described == [(field.name, words[field.type]) for field in msgspec.structs.fields(Row)]
