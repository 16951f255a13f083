"""A wire of one's own that has no more than every wire must have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from cuts import assert_same_in_every_cut, calls_of, text_of

import streamparse as sp
from streamparse import proxy
from streamparse.frames import Frame
from streamparse.providers.endpoints import find_answer_url
from streamparse.providers.wires import WIRES, register_wire
from streamparse.reading.wire import DEFAULTS, MinimalWire, Wire
from streamparse.sink import Sink
from streamparse.tools import Toolset


class _Lines:
    """Messages that hold a line each."""

    ignored = 0

    def __init__(self, sink: Sink, tools: Toolset, limits: sp.Limits, choice: int = 0) -> None:  # noqa: ARG002
        self._sink = sink
        self.decode = msgspec.json.decode

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        return "line" in message

    def take(self, message: Any) -> None:
        self._sink.text(message["line"])

    def frame(self, frame: Frame) -> None:
        self.take(self.decode(frame.data))

    def close(self) -> None:
        self._sink.finish("over", "stop")


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register_wire("lines", _Lines)
    try:
        yield
    finally:
        del WIRES["lines"]


@pytest.mark.parametrize("wire", ["lines", "auto"])
def test_a_wire_with_the_least_that_it_needs_reads_text_and_the_calls_in_it(wire: str) -> None:
    lines = ["So. ", "<tool_call>", '{"name": "f", "arguments": {}}', "</tool_call>"]
    body = b"".join(b'data: {"line": %s}\n\n' % msgspec.json.encode(line) for line in lines)
    events = assert_same_in_every_cut(lambda: sp.StreamParser(wire), body, most=20)
    assert (text_of(events), calls_of(events)) == ("So. ", [("f", {})])
    assert events[-1] == sp.Done("over", None, ok=True)


def test_a_wire_has_by_itself_all_that_the_parser_asks_of_it() -> None:
    asked = {name for name in vars(Wire) if not name.startswith("_")} | {*Wire.__annotations__}
    assert asked - {*vars(MinimalWire), *MinimalWire.__annotations__} == {*DEFAULTS}
    wire = WIRES["lines"]
    assert all(getattr(wire, name) == value for name, value in DEFAULTS.items())


def test_a_wire_without_an_end_marker_is_never_over() -> None:
    parser = sp.StreamParser("lines")
    parser.stop_when_sealed()
    for line in (b'data: {"line": "a"}\n\n', b"data: [DONE]\n\n", b'data: {"line": "b"}\n\n'):
        parser.feed(line) if b"line" in line else None
        assert (parser.over, parser.sealed, parser.can_go_on) == (False, False, True)
    assert text_of(parser.close()) == ""
    assert parser.response.content == "ab"


def test_what_a_wire_without_a_struct_passes_over_is_not_taken_for_text_of_an_unknown_name() -> None:
    body = b'data: {"line": "", "message": {"contents": "unread"}}\n\n'
    events = assert_same_in_every_cut(lambda: sp.StreamParser("lines"), body, most=20)
    assert events == [sp.Done("over", None, ok=True)]


def test_a_server_of_ones_own_wire_is_not_asked_for_its_paths_are_not_known() -> None:
    with pytest.raises(ValueError, match="no path is known"):
        find_answer_url("http://127.0.0.1:9", "lines", "m")
    with pytest.raises(ValueError, match="a proxy's server cannot speak 'lines'"):
        proxy.app("http://127.0.0.1:9", "lines")
