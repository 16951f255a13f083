"""Whole = streamed: a whole response parsed at once gives the calls that feeding it gave.

For every recorded stream and every format vector: the calls, their ids, sources and texts, and what broke.  Where
streaming finds no call the whole parse may find more, but only what is whole: JSON in the content.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from collection import SHARED, json_file, json_lines
from cuts import events_of, in_random_pieces

import streamparse as sp
from streamparse.parser.composite import CompositeParser, MarkupParser, NativeParser
from streamparse.tools import Toolset

WIRE_OF = {"bedrock-eventstream": "bedrock-converse", "gemini-json-array": "gemini", "gemini-interactions": "gemini"}
"""The wires of families that are named otherwise there."""

STREAMS = {row["id"]: row for row in json_lines("streams/index.jsonl")}
BOOK = json_file("formats/vectors.json", {"tools": [], "vectors": []})
TOOLS = Toolset.of(BOOK["tools"])
VECTORS = {f"{row['format']}-{row['case']}-{number}": row for number, row in enumerate(BOOK["vectors"])}
CALLS = ("tool_calls", "broken_calls")


def _assert_same_calls(whole: sp.ParsedResponse, fed: sp.ParsedResponse) -> None:
    if fed.tool_calls or fed.broken_calls or not fed.ok:
        for field in CALLS:
            assert getattr(whole, field) == getattr(fed, field), field
    assert {call.source for call in whole.tool_calls} - {call.source for call in fed.tool_calls} <= {
        "recovered",
        "repaired",
    }


def _wire(row: dict[str, Any]) -> str:
    """The wire of a stream; "auto" for what no wire of ours speaks."""
    wire = WIRE_OF.get(row["family"], row["family"])
    return wire if wire in sp.WIRES else "auto"


def _fed(parser: sp.StreamParser | sp.TextParser, data: Any) -> sp.ParsedResponse:
    events_of(parser, in_random_pieces(data, 2))
    return parser.response


@pytest.mark.parametrize("named", [True, False], ids=["named", "auto"])
@pytest.mark.parametrize("id", STREAMS)
def test_the_body_of_a_recorded_stream_gives_the_calls_that_streaming_gave(id: str, named: bool) -> None:
    row = STREAMS[id]
    body = (SHARED / "streams" / row["file"]).read_bytes()
    wire = _wire(row) if named else "auto"
    tools = Toolset.of(row.get("tools"))
    fed = _fed(sp.StreamParser(wire, tools=tools), body)
    whole = sp.parse_response(body, wire, tools=tools)
    _assert_same_calls(whole, fed)
    for field in ("reasoning", "refusal", "finish_reason", "usage", "ok", "items", "errors"):
        assert getattr(whole, field) == getattr(fed, field), field
    if fed.tool_calls or fed.broken_calls:
        assert whole.content == fed.content


@pytest.mark.parametrize("id", STREAMS)
def test_native_calls_and_markup_of_a_recorded_stream_put_together_are_its_calls(id: str) -> None:
    row = STREAMS[id]
    body = (SHARED / "streams" / row["file"]).read_bytes()
    wire, tools = _wire(row), Toolset.of(row.get("tools"))
    fed = _fed(sp.StreamParser(wire, tools=tools), body)
    parts = CompositeParser([NativeParser(wire, tools=tools), MarkupParser(wire=wire, tools=tools)]).parse(body)
    calls = [call for call in fed.tool_calls if call.source not in ("recovered", "repaired")]
    assert sorted(map(_what, parts.tool_calls)) == sorted(map(_what, calls))


def _what(call: sp.ToolCall) -> tuple[str, str, str, bool]:
    return call.name, json.dumps(call.arguments, sort_keys=True), call.source, call.revoked


MAKERS: dict[str, Callable[[str], Any]] = {
    "text": lambda text: text,
    "a chat body": lambda text: {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]},
}


@pytest.mark.parametrize("form", MAKERS)
@pytest.mark.parametrize("name", VECTORS)
def test_the_text_of_a_format_gives_the_calls_that_streaming_gave(name: str, form: str) -> None:
    row = VECTORS[name]
    for dialects in ([row["format"]], "auto"):
        if dialects != "auto" and row["format"] not in sp.DIALECTS:
            continue
        fed = _fed(sp.TextParser(dialects, tools=TOOLS), row["text"])
        whole = sp.parse_response(MAKERS[form](row["text"]), dialects=dialects, tools=TOOLS)
        _assert_same_calls(whole, fed)
        assert whole.reasoning == fed.reasoning
        if fed.tool_calls and all(call.source == "inband" for call in fed.tool_calls):
            assert whole.content == fed.content


def test_there_are_streams_and_vectors() -> None:
    assert bool(STREAMS) == bool(VECTORS) == SHARED.is_dir()
