"""Cohere: what holds for all of its streams; each deviation has a golden stream of its own."""

from __future__ import annotations

import pytest
from cuts import events_of, plain
from fixture_streams import NAMES, make_parser, read_body

import streamparse as sp

STREAMS = [name for name in NAMES if name.startswith("cohere-") and "instead-of-a-stream" not in name]


def _parser(name: str, wire: str) -> sp.StreamParser:
    return make_parser(name, wire=wire)


@pytest.mark.parametrize("name", STREAMS)
def test_the_first_event_shows_the_wire(name: str) -> None:
    body = read_body(name)
    parser = _parser(name, "auto")
    assert plain(events_of(parser, [body])) == plain(events_of(_parser(name, "cohere"), [body]))
    assert parser.wire == "cohere"


def test_the_names_of_the_events_say_nothing_that_their_types_do_not() -> None:
    for name in STREAMS:
        body = read_body(name)
        bare = b"".join(line for line in body.splitlines(keepends=True) if not line.startswith(b"event:"))
        named, unnamed = _parser(name, "cohere"), _parser(name, "cohere")
        events_of(named, [body])
        events_of(unnamed, [bare])
        assert named.response.tool_calls == unnamed.response.tool_calls
        assert named.response.content == unnamed.response.content
