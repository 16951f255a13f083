"""Results of a provider's batch are a table; a name with dots leads inside a column; other columns are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stored_bodies import read_rows

from streamparse.bulk import parse_many

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CHAT = {"object": "chat.completion", "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
]}  # fmt: skip
MESSAGE = {"type": "message", "role": "assistant", "model": "n", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Hi"}], "usage": {"input_tokens": 1, "output_tokens": 2}}  # fmt: skip
FAILED = {"type": "error", "error": {"type": "overloaded_error", "message": "Later"}}
OPENAI: list[dict[str, Any]] = [
    {"id": "b1", "custom_id": "one", "response": {"status_code": 200, "body": CHAT}, "error": None},
    {"id": "b2", "custom_id": "two", "response": {"status_code": 429, "body": {"error": {"message": "Slow"}}}},
    {"id": "b3", "custom_id": "three", "response": None, "error": {"code": "batch_expired", "message": "Late"}},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"custom_id": "one", "result": {"type": "succeeded", "message": MESSAGE}},
    {"custom_id": "two", "result": {"type": "errored", "error": FAILED}},
    {"custom_id": "three", "result": {"type": "expired"}},
]


def parse(lines: list[dict[str, Any]], folder: Path, **options: Any) -> list[dict[str, Any]]:
    (folder / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    parse_many([folder / "in.jsonl"], folder / "out.jsonl", **options)
    return read_rows(folder / "out.jsonl")


def test_each_line_of_a_batch_of_openai_is_a_row_with_its_id(tmp_path: Path) -> None:
    rows = parse(OPENAI, tmp_path)
    assert [(row["custom_id"], row["ok"], row["call_names"], row["error_codes"]) for row in rows] == [
        ("one", True, ["look"], []),
        ("two", False, [], ["provider_error"]),
        ("three", False, [], ["provider_error"]),
    ]
    assert json.loads(str(rows[0]["other"])) == {"id": "b1", "error": None}
    assert rows[0]["call_places"] == ["field"]


def test_each_line_of_a_batch_of_anthropic_is_a_row_with_its_id(tmp_path: Path) -> None:
    rows = parse(ANTHROPIC, tmp_path)
    assert [(row["custom_id"], row["content"], row["wire"], row["error_codes"]) for row in rows] == [
        ("one", "Hi", "anthropic", []),
        ("two", "", "anthropic", ["provider_error"]),
        ("three", "", None, ["unreadable"]),
    ]
    assert rows[2]["error_messages"] == ["the request was expired"]


def test_each_line_of_a_batch_of_bedrock_is_a_row_with_its_id(tmp_path: Path) -> None:
    lines = [
        {"recordId": "one", "modelInput": {"max_tokens": 9}, "modelOutput": MESSAGE},
        {"recordId": "two", "modelInput": {}, "error": {"errorCode": 400, "errorMessage": "No"}},
    ]
    rows = parse(lines, tmp_path)
    assert [(row["custom_id"], row["content"], row["wire"], row["error_codes"]) for row in rows] == [
        ("one", "Hi", "anthropic", []),
        ("two", "", None, ["provider_error"]),
    ]


def test_the_body_of_a_result_may_be_a_stream(tmp_path: Path) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    [row] = parse([{"custom_id": "one", "response": {"status_code": 200, "body": body}}], tmp_path)
    assert (row["custom_id"], row["content"], row["ok"], row["error_codes"]) == ("one", "Hi", True, [])


def test_a_line_with_an_id_and_no_result_is_an_error_and_keeps_its_place(tmp_path: Path) -> None:
    rows = parse([*OPENAI[:1], {"custom_id": "two", "response": None, "error": None}, OPENAI[1]], tmp_path)
    assert [row["error_codes"] for row in rows] == [[], ["unreadable"], ["provider_error"]]
    assert (rows[1]["custom_id"], rows[1]["error_messages"]) == ("two", ["the line is no result of a batch"])


def test_a_name_with_dots_leads_inside_a_column(tmp_path: Path) -> None:
    rows = parse(OPENAI[:2], tmp_path, column="response.body")
    assert [(row["custom_id"], row["call_names"]) for row in rows] == [("one", ["look"]), ("two", [])]
    lines = [{"a.b": json.dumps(CHAT), "a": {"b": 1}}, {"a": json.dumps({"b": CHAT})}, {"a": 1}]
    (tmp_path / "out.jsonl").unlink()
    rows = parse(lines, tmp_path, column="a.b")
    assert [(row["call_names"], row["error_codes"]) for row in rows] == [(["look"], [])] * 2 + [([], ["unreadable"])]


def test_other_columns_are_kept_of_tables_of_every_kind(tmp_path: Path) -> None:
    lines = [{"body": CHAT, "user": "ü", "n": [1]}, {"body": CHAT}]
    rows = parse(lines, tmp_path, column="body")
    assert json.loads(str(rows[0]["other"])) == {"user": "ü", "n": [1]}
    assert rows[1]["other"] is None


def test_columns_of_parquet_are_kept_and_entered_too(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    cells = [{"body": json.dumps(CHAT)}, {"body": None}]
    parquet.write_table(arrow.table({"custom_id": ["x", "y"], "response": cells, "k": [1, 2]}), tmp_path / "in.parquet")
    parse_many([tmp_path / "in.parquet"], tmp_path / "out.jsonl", column="response.body")
    rows = read_rows(tmp_path / "out.jsonl")
    assert [(row["custom_id"], row["call_names"], row["other"]) for row in rows] == [
        ("x", ["look"], '{"k":1}'),
        ("y", [], '{"k":2}'),
    ]


def test_a_stream_of_lines_is_no_batch(tmp_path: Path) -> None:
    said = [{"message": {"content": "Hi"}, "done": False}, {"message": {"content": ""}, "done": True}]
    assert [row["content"] for row in parse(said, tmp_path)] == ["Hi"]
