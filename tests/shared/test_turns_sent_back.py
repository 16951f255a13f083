"""The assistant's turn of every recorded stream goes back as its server told it.

What was told is put together here anew, frame by frame, in the simplest way: nothing of the library is used for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collection import SHARED, json_lines

import streamparse as sp
from streamparse.writing.adapter import NO_ANSWER

ROWS = {row["id"]: row for row in json_lines("streams/index.jsonl")}
NOTHING = {"type": "text", "text": NO_ANSWER}
WRITTEN = {"output_text": "text", "refusal": "refusal"}


DIFFERENCES = {"resp-openai-e82950": "the text that is done is longer than what its deltas told, and the deltas count"}
"""Streams whose turn is another one."""


def _body(id: str) -> bytes:
    path: Path = SHARED / "streams" / ROWS[id]["file"]
    return path.read_bytes()


def _frames(id: str) -> Iterator[dict[str, Any]]:
    for line in _body(id).splitlines():
        data = line.removeprefix(b"data:").strip()
        if line.startswith(b"data:") and data.startswith(b"{"):
            try:
                yield json.loads(data)
            except ValueError:
                continue


def _of(family: str) -> list[str]:
    return [id for id, row in ROWS.items() if row["family"] == family]


def _turn(id: str, wire: str, provider: str) -> Any:
    parser = sp.StreamParser(wire, dialects=())
    parser.feed(_body(id))
    parser.close()
    return sp.as_message(parser.response, provider)


# -- Anthropic -----------------------------------------------------------------------------------------


def _blocks(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks that a stream sums to."""
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for frame in frames:
        if frame.get("type") == "content_block_start":
            blocks[frame["index"]] = dict(frame["content_block"])
        elif frame.get("type") == "content_block_delta":
            block, delta = blocks[frame["index"]], dict(frame["delta"])
            match delta.pop("type"):
                case "input_json_delta":
                    inputs[frame["index"]] = inputs.get(frame["index"], "") + delta["partial_json"]
                case "citations_delta":
                    block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
                case _:
                    block |= {
                        key: (block.get(key) or "") + text for key, text in delta.items() if isinstance(text, str)
                    }
    for index, text in inputs.items():
        if text.strip():
            blocks[index]["input"] = json.loads(text)
    return list(blocks.values())


def _sendable(block: dict[str, Any]) -> bool:
    """Whether the API takes a block back: neither text of blanks nor a thought that nobody signed."""
    if block["type"] == "text":
        return bool(block["text"].strip())
    return block["type"] != "thinking" or bool(block.get("signature"))


def _without_nothing(block: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in block.items() if value not in (None, [], "") or key == "thinking"}
    if kept["type"] == "tool_use":
        return {key: block[key] for key in ("type", "id", "name", "input")}
    return kept


@pytest.mark.parametrize("id", _of("anthropic"))
def test_blocks_of_anthropic_go_back_as_they_came(id: str) -> None:
    frames = list(_frames(id))
    kinds = [frame.get("type") for frame in frames]
    if kinds.count("message_start") != 1 or kinds.count("message_stop") != 1 or ROWS[id]["expect"].get("error"):
        pytest.skip("not one whole message")
    try:
        blocks = _blocks(frames)
    except (KeyError, ValueError):
        pytest.skip("blocks that do not sum up")
    expected = [_without_nothing(block) for block in blocks if _sendable(block)] or [NOTHING]
    told = _turn(id, "anthropic", "anthropic")["content"]
    assert [_without_nothing(block) for block in told] == expected


# -- Responses -----------------------------------------------------------------------------------------


def _sent(item: dict[str, Any]) -> dict[str, Any]:
    """An item of the output as it goes back."""
    if item["type"] == "function_call":
        return {key: item[key] for key in ("type", "call_id", "name", "arguments")}
    if item["type"] != "message":
        return item
    text = "".join(part[WRITTEN[part["type"]]] for part in item["content"])
    phase = {"phase": item["phase"]} if item.get("phase") else {}
    return {"type": "message", "role": "assistant", **phase, "content": text}


@pytest.mark.parametrize("id", [id for id in _of("openai-responses") if id not in DIFFERENCES])
def test_items_of_responses_go_back_as_they_came(id: str) -> None:
    frames = list(_frames(id))
    done = [frame["item"] for frame in frames if frame.get("type") == "response.output_item.done"]
    ends = [frame for frame in frames if frame.get("type") == "response.completed"]
    if len(ends) != 1 or not done:
        pytest.skip("not one whole response")
    expected = [_sent(item) for item in done]
    assert _turn(id, "openai-responses", "openai-responses") == [item for item in expected if item.get("content") != ""]


# -- OpenRouter ----------------------------------------------------------------------------------------


def _details(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of `reasoning_details`, those of one index and type brought together."""
    entries: list[dict[str, Any]] = []
    pieces = [
        piece
        for frame in frames
        for choice in frame.get("choices") or ()
        for piece in (choice.get("delta") or {}).get("reasoning_details") or ()
    ]
    for piece in pieces:
        if not entries or any(entries[-1].get(key) != piece.get(key) for key in ("type", "index")):
            entries.append({})
        for key, value in piece.items():
            joined = key in ("text", "summary", "data") and isinstance(value, str)
            if value is not None:
                entries[-1][key] = entries[-1].get(key, "") + value if joined else value
    return entries


@pytest.mark.parametrize("id", [id for id in _of("openai-chat") if b"reasoning_details" in _body(id)])
def test_entries_of_openrouters_thought_go_back_as_they_came(id: str) -> None:
    told = _turn(id, "openai-chat", "openrouter").get("reasoning_details", [])
    assert told == _details(list(_frames(id)))
