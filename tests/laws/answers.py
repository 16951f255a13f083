"""Answers to try the laws on: valid ones, hostile ones, and fixtures that were damaged.

Strategies give an `Answer`: bytes, and what a parser is told about them.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

import streamparse as sp

__all__ = [
    "FIXTURES",
    "TOOLS",
    "Answer",
    "any_answers",
    "damaged",
    "hostile_texts",
    "ollama_answers",
    "openai_answers",
    "pieces_of_markup",
    "with_damage",
]

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
TOOLS: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))


class Answer(NamedTuple):
    """A body, its wire, and the tools that were declared."""

    wire: str
    body: bytes
    tools: bool = False

    def parser(self, **options: Any) -> sp.StreamParser:
        """A parser for it."""
        return sp.StreamParser(self.wire, **({"tools": TOOLS if self.tools else None} | options))


pieces_of_markup = (
    *("a", " ", "é", "🎉", "\n", "\n\n", "\r", "\t", "\x00", "\u2028", "w1w ", "word", "1", "-", "e9", "."),
    *("{", "}", "[", "]", '"', "'", "\\", ":", ",", "<", ">", "/", "`", "```", "```json\n", "|", ";", "="),
    *(
        "<tool_call>",
        "</tool_call>",
        "<tool_call>\n",
        "\n</tool_call>",
        "<tool_",
        "call>",
        "<|python_tag|>",
        "<|eom_id|>",
    ),
    *("<think>", "</think>", "<thinking>", "</thinking>", "<function_call>", "<tools>", "</tools>", "<tool>", "</tool"),
    *("<function=get_weather>", "<function=", "</function>", "<parameter=city>", "</parameter>", "<parameter=days>"),
    *("<function_calls>", "</function_calls>", '<invoke name="get_weather">', "</invoke>", '<parameter name="city">'),
    *(
        '{"name": "get_weather", "arguments": ',
        '{"name": "now", "arguments": {}}',
        '{"city": "Paris"}',
        '"arguments": ',
    ),
    *('{"name": "', "get_weather", '"}', "}}", '{"name": "search", "parameters": {"query": "', "null", "true", "NaN"),
)

hostile_texts = st.lists(st.sampled_from(pieces_of_markup), max_size=24).map("".join)
_ids = st.sampled_from([None, "", "null", "a", "b", "c", "call_0"])
_names = st.sampled_from([None, "", "null", "get_weather", "get_", "weather", "now", "search", "_deep", "other"])
_indexes = st.sampled_from([None, -1, 0, 0, 0, 1, 1, 7])
_arguments = st.one_of(
    st.sampled_from(
        [None, "", "{}", "{", "}", '{"city":', '"Paris"}', '{"city":"Paris"}', "null", " ", '"', "\\", "[1]"]
    ),
    st.text(max_size=6),
    st.sampled_from([{}, {"city": "Paris"}, [1], 7, '"{}"', '"{\\"a\\":1}"', '{"a":1}{"a":1}', '{"a":1e999}']),
)


@st.composite
def _fragments(draw: st.DrawFn) -> dict[str, Any]:
    fragment: dict[str, Any] = {"index": draw(_indexes), "id": draw(_ids)}
    if draw(st.integers(0, 9)):
        fragment["function"] = {"name": draw(_names), "arguments": draw(_arguments)}
    return fragment


@st.composite
def _chunks(draw: st.DrawFn) -> str:
    """The data of one event."""
    kind = draw(st.integers(0, 19))
    if kind < 5:
        delta: dict[str, Any] = {"content": draw(hostile_texts)}
    elif kind < 7:
        delta = {draw(st.sampled_from(["reasoning", "reasoning_content", "refusal"])): draw(hostile_texts)}
    elif kind < 14:
        delta = {"tool_calls": draw(st.lists(_fragments(), max_size=3))}
    elif kind < 16:
        reason = draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter", "error", "", None]))
        return json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    else:
        return draw(
            st.sampled_from(
                [
                    "[DONE]",
                    "{",
                    "null",
                    '"x"',
                    "[]",
                    '{"choices":[]}',
                    '{"choices":[{"delta":null}]}',
                    '{"usage":{"total_tokens":3},"choices":[]}',
                    '{"error":{"message":"broken","code":500}}',
                    '{"choices":[{"index":0,"delta":{"content":7,"tool_calls":"x"}}]}',
                    '{"choices":[{"index":0,"delta":{"content":"\\ud83c"}}]}',
                    '{"choices":[{"index":0,"delta":{"content":"\\udf89 "}}]}',
                    '{"choices":[{"index":1,"delta":{"content":"other"}}]}',
                ]
            )
        )
    choice: dict[str, Any] = {"index": 0, "delta": delta}
    if not draw(st.integers(0, 5)):
        choice["finish_reason"] = draw(st.sampled_from(["stop", "tool_calls"]))
    return json.dumps({"choices": [choice]}, ensure_ascii=draw(st.booleans()))


@st.composite
def openai_answers(draw: st.DrawFn) -> Answer:
    """Server-sent events whose data are chunks of any kind in any order."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    prefix = draw(st.sampled_from(["data: ", "data: ", "data:"]))
    lines = []
    for chunk in draw(st.lists(_chunks(), max_size=10)):
        lines.append(draw(st.sampled_from(["", "", "", ": ping" + end + end, "event: error" + end, "id: 1" + end])))
        lines.append(prefix + chunk + end + end)
    return Answer("openai-chat", "".join(lines).encode("utf-8", "replace"), draw(st.booleans()))


@st.composite
def _lines(draw: st.DrawFn) -> str:
    """One line of Ollama's."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(["", "{", "null", "[]", '{"error":"broken"}', '{"done":true}', '{"message":[]}']))
    message: dict[str, Any] = {"role": "assistant", "content": draw(hostile_texts)}
    if kind > 6:
        message["tool_calls"] = [
            {"id": draw(_ids), "function": {"name": draw(_names), "arguments": draw(_arguments)}}
            for _ in range(draw(st.integers(0, 3)))
        ]
    if kind == 4:
        message["thinking"] = draw(hostile_texts)
    line: dict[str, Any] = {"message": message, "done": kind == 5}
    if kind == 5:
        line |= {"done_reason": draw(st.sampled_from(["stop", "length", "load"])), "eval_count": 3}
    return json.dumps(line, ensure_ascii=draw(st.booleans()))


@st.composite
def ollama_answers(draw: st.DrawFn) -> Answer:
    """Lines of JSON of any kind in any order."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    body = end.join(draw(st.lists(_lines(), max_size=10))) + draw(st.sampled_from([end, ""]))
    return Answer("ollama-chat", body.encode("utf-8", "replace"), draw(st.booleans()))


def _fixtures() -> dict[str, Answer]:
    index: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
    return {
        name: Answer(row["wire"], (FOLDER / name).read_bytes(), bool(row.get("tools")))
        for name, row in index.items()
        if "choice" not in row
    }


FIXTURES = _fixtures()


@st.composite
def with_damage(draw: st.DrawFn, data: bytes) -> bytes:
    """A body that was cut short, or whose frames were swapped or doubled, or whose bits were flipped."""
    body = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        how = draw(st.integers(0, 5))
        place = draw(st.integers(0, max(0, len(body) - 1)))
        if how == 0:
            del body[place:]
        elif how == 1 and body:
            body[place] ^= 1 << draw(st.integers(0, 7))
        elif how == 2:
            body[place:place] = draw(st.binary(max_size=4))
        elif how == 3:
            del body[place : place + draw(st.integers(1, 8))]
        else:
            body = bytearray(draw(_reordered(bytes(body))))
    return bytes(body)


@st.composite
def damaged(draw: st.DrawFn) -> Answer:
    """A fixture with damage."""
    answer = FIXTURES[draw(st.sampled_from(sorted(FIXTURES)))]
    return answer._replace(body=draw(with_damage(answer.body)), tools=draw(st.booleans()))


def _reordered(body: bytes) -> st.SearchStrategy[bytes]:
    """Frames swapped or doubled."""
    separator = b"\n\n" if b"\n\n" in body else b"\n"
    frames = [frame + separator for frame in body.split(separator) if frame]
    if not frames:
        return st.just(body)
    return st.lists(st.sampled_from(frames), min_size=1, max_size=len(frames) + 2).map(b"".join)


noise = st.builds(Answer, st.sampled_from([*sp.WIRES, "auto"]), st.binary(max_size=200), st.booleans())
any_answers = st.one_of(openai_answers(), openai_answers(), ollama_answers(), damaged(), damaged(), noise)
