"""The rules for UTF-8 and for JSON, as a whole stream shows them: in its text and in its arguments."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, cut_at, events_of, in_pieces, merged, text_of

import streamparse as sp

RULES = Path(__file__).parents[2] / "fixtures" / "rules"


def _rules(name: str) -> dict[str, dict[str, Any]]:
    book = json.loads((RULES / f"{name}.json").read_text(encoding="utf-8"))
    return {rule["id"]: rule for rule in book["rules"] if rule.get("input_b64") is not None}


def _bytes(rule: dict[str, Any]) -> bytes:
    return base64.b64decode(rule["input_b64"])


UTF8 = {id: rule for id, rule in _rules("utf8").items() if not {*b'"\\\r\n'} & {*_bytes(rule)}}


@pytest.mark.parametrize("id", UTF8)
def test_text_of_any_bytes_comes_out_as_utf_8_in_every_cut(id: str) -> None:
    rule = UTF8[id]
    frame = b'data: {"choices":[{"index":0,"delta":{"content":"' + _bytes(rule) + b'"},"finish_reason":"stop"}]}\n\n'
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-chat"), frame)
    assert text_of(events).removeprefix("\ufeff") == rule["expect"].removeprefix("\ufeff")
    line = b'{"message":{"content":"' + _bytes(rule) + b'"},"done":true}\n'
    assert text_of(assert_same_in_every_cut(lambda: sp.StreamParser("ollama-chat"), line)) == text_of(events)


def _decoded(rule: dict[str, Any]) -> str | None:
    try:
        return _bytes(rule).decode()
    except UnicodeDecodeError:
        return None


JSON = {id: rule for id, rule in _rules("json").items() if _decoded(rule) is not None and not id.startswith("d-")}


def _frames(pieces: list[str]) -> list[bytes]:
    first = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}}]}
    frames: list[Any] = [first] + [
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]}
        for piece in pieces
    ]
    frames.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return [b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames]


def _parse(pieces: list[str]) -> list[sp.Event]:
    events = merged(events_of(sp.StreamParser("openai-chat"), _frames(pieces)))
    return [
        sp.Error(event.scope, event.code, event.message, event.index) if isinstance(event, sp.Error) else event
        for event in events
    ]


@pytest.mark.parametrize("id", JSON)
def test_arguments_are_read_as_the_rules_of_json_say_in_every_cut(id: str) -> None:
    rule = JSON[id]
    text = _decoded(rule) or ""
    wrapped = not text.lstrip(" \t\r\n\ufeff").startswith(("{", "```"))
    arguments = f'{{"v":{text}\n}}' if wrapped else text  # the line ends a comment
    events = _parse([arguments])
    expected = rule["lenient"] if rule["lenient"]["result"] == "accept" or "heal" not in rule else rule["heal"]
    if expected["result"] == "accept":
        value = {"v": expected["value"]} if wrapped else expected["value"]
        assert repr(calls_of(events)) == repr([("f", value)])
        [complete] = [event for event in events if isinstance(event, sp.ToolCallComplete)]
        assert complete.source == ("repaired" if expected.get("repairs") else "native")
        assert complete.raw.rstrip(" \t\r\n") == arguments.rstrip(" \t\r\n")
    elif expected["code"] == "json_trailing" and not wrapped:
        assert [event.code for event in events if isinstance(event, sp.Error)] == ["late_arguments"]
    else:
        assert calls_of(events) == []
        assert [event.scope for event in events if isinstance(event, sp.Error)][-1:] == ["call"]
    for pieces in [cut_at(arguments, [offset]) for offset in range(1, len(arguments))] + [in_pieces(arguments, 1)]:
        assert _parse(pieces) == events, pieces
