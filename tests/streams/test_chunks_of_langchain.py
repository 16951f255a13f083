"""Chunks as LangChain dumps them are read without LangChain: text, thoughts of every kind, calls, and the end."""

from __future__ import annotations

from typing import Any

from cuts import calls_of, reasoning_of, text_of

import streamparse as sp


def _chunk(content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "AIMessageChunk", "content": content, "tool_call_chunks": [], **fields}


def _read(*chunks: dict[str, Any]) -> list[sp.Event]:
    return list(sp.iter_events(list(chunks), "openai-chat"))


def test_text_and_thoughts_stand_in_blocks_or_beside_the_content() -> None:
    events = _read(
        _chunk("Hi", additional_kwargs={"reasoning_content": "a"}),
        _chunk([" you", {"type": "text", "text": "!"}, 7, {"type": "thinking", "thinking": "b"}]),
        _chunk([{"type": "reasoning", "reasoning": "c"}, {"type": "reasoning", "summary": [{"text": "d"}, "x"]}]),
        _chunk(response_metadata={"finish_reason": "stop"}, usage_metadata={"total_tokens": 3}),
        _chunk(chunk_position="last"),
    )
    assert (text_of(events), reasoning_of(events)) == ("Hi you!", "abcd")
    end = events[-1]
    assert isinstance(end, sp.Done)
    assert (end.ok, end.finish_reason, end.usage) == (True, "stop", {"total_tokens": 3})


def test_a_call_comes_in_pieces_whose_number_may_be_langchains_own() -> None:
    events = _read(
        _chunk(tool_call_chunks=[{"name": "f", "args": '{"a"', "id": "c0", "index": 0}, "no piece"]),
        _chunk(tool_call_chunks=[{"name": None, "args": ": 1}", "id": None, "index": 0}]),
        _chunk(response_metadata={"finish_reason": "tool_calls"}),
        _chunk(chunk_position="last"),
    )
    assert calls_of(events) == [("f", {"a": 1})]
