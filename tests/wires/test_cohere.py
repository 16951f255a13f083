"""Cohere: what holds for all of its streams; each deviation has a golden stream of its own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from cuts import events_of, plain

import streamparse as sp

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
INDEX = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
TOOLS = {tool["name"]: tool for tool in json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))}
STREAMS = [name for name in INDEX if name.startswith("cohere-") and "instead-of-a-stream" not in name]


def _parser(name: str, wire: str) -> sp.StreamParser:
    return sp.StreamParser(wire, tools=[TOOLS[tool] for tool in INDEX[name].get("tools", [])])


@pytest.mark.parametrize("name", STREAMS)
def test_the_first_event_shows_the_wire(name: str) -> None:
    body = (FOLDER / name).read_bytes()
    parser = _parser(name, "auto")
    assert plain(events_of(parser, [body])) == plain(events_of(_parser(name, "cohere"), [body]))
    assert parser.wire == "cohere"


def test_the_names_of_the_events_say_nothing_that_their_types_do_not() -> None:
    for name in STREAMS:
        body = (FOLDER / name).read_bytes()
        bare = b"".join(line for line in body.splitlines(keepends=True) if not line.startswith(b"event:"))
        named, unnamed = _parser(name, "cohere"), _parser(name, "cohere")
        events_of(named, [body])
        events_of(unnamed, [bare])
        assert named.response.tool_calls == unnamed.response.tool_calls
        assert named.response.content == unnamed.response.content
