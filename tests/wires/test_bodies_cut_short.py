"""A body that ends inside the JSON of a message was cut, whatever finish came before, unless the end marker did.

A missing last blank line, a comment, the name of a field and a piece of `[DONE]` are no message that was cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from fixture_streams import NAMES, make_parser, read_body
from thoroughness import is_nightly

import streamparse as sp

STEP = 97
"""Every such offset of the last messages is cut at in the usual run; each stream begins with another one."""

LAST = 4
"""So many messages at the end of each stream are cut."""

_EVENT = re.compile(rb"(?:^data:|(?<=\n)data:) ?(\{(?:.|\n)*?\})\r?\n\r?\n")
_LINE = re.compile(rb"(?<![^\n])(\{.*\})\r?\n")


def _find_json(name: str, body: bytes) -> Iterator[tuple[int, int]]:
    """Where the JSON of each message of a stream begins and ends."""
    if name.endswith(".bin"):
        at = 0
        while body.startswith(b"\0", at):
            size, headers = int.from_bytes(body[at : at + 4], "big"), int.from_bytes(body[at + 4 : at + 8], "big")
            yield at + 12 + headers, at + size - 4
            at += size
    else:
        for found in (_EVENT if name.endswith(".sse") else _LINE).finditer(body):
            yield found.span(1)


def _is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def _list_cuts(name: str) -> list[int]:
    """The offsets inside the JSON of the last messages, up to the one that holds the end marker."""
    body = read_body(name)
    parser, cuts, fed = make_parser(name), list[list[int]](), 0
    for begin, end in _find_json(name, body):
        parser.feed(body[fed:begin])
        fed = begin
        if parser.over:
            break
        if _is_json(body[begin:end]):
            cuts.append([*range(begin + 1, end)])
    return [offset for cut in cuts[-LAST:] for offset in cut]


TURN = b'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}'


TAILS = (
    *(
        b"",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\n\n: ping",
        b"\n\nda",
        b"\n\ndata:",
        b"\n\ndata: ",
        b"\n\nid: 7\n",
        b"\n\nevent: x",
    ),
    *(b"\n\ndata: [", b"\n\ndata: [DON", b"\n\ndata: [DONE]"),
)


@pytest.mark.parametrize("tail", TAILS)
def test_a_body_whose_last_message_is_whole_is_ok_however_it_ends(tail: bytes) -> None:
    for body in (TURN + tail, (TURN + tail).replace(b"\n\n", b"\r\n\r\n")):
        parser = sp.StreamParser("openai-chat")
        assert parser.feed(body) + parser.close() == [
            sp.TextDelta("Hi"), *parser.response.errors, sp.Done("stop", None, True),
        ]  # fmt: skip


@pytest.mark.parametrize("tail", [b"{", b'{"choices": [', b'[{"delta"', b'"Hel', b'"Hel\\"', b"[1", b"data: {"])
def test_a_body_that_ends_inside_any_value_behind_a_finish_is_not_ok(tail: bytes) -> None:
    for body in (TURN + b"\n\ndata: " + tail, TURN.removeprefix(b"data: ") + b"\n" + tail):
        parser = sp.StreamParser("openai-chat")
        parser.feed(body)
        assert parser.close()[-1] == sp.Done("stop", None, False)
        assert [error.code for error in parser.response.errors] == ["json_truncated", "stream_truncated"]


@pytest.mark.parametrize("name", NAMES)
def test_a_body_cut_inside_the_json_of_a_message_before_the_end_marker_is_not_ok(name: str) -> None:
    body, cuts = read_body(name), _list_cuts(name)
    for cut in cuts if is_nightly() else cuts[len(name) % STEP :: STEP]:
        parser = make_parser(name)
        parser.feed(body[:cut])
        done = parser.close()[-1]
        assert isinstance(done, sp.Done)
        assert not done.ok, body[:cut][-80:]


def test_most_streams_are_cut_in_a_message() -> None:
    assert sum(bool(_list_cuts(name)) for name in NAMES[::20]) > len(NAMES[::20]) * 0.8
