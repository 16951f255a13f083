"""Text that many messages of one read bring is read as message by message: also what it quotes."""

from __future__ import annotations

import json

import pytest
from cuts import calls_of, events_of, merged

import streamparse as sp

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}]
CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
WORDS = ["Some", " words", " here", "."] * 50
QUOTING = ["\n```\n", " `", "\n> ", '\n"', "\n\n    ", "\n- so\n\n      "]


def _write(pieces: list[str]) -> list[bytes]:
    messages = ({"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces)
    return [b"data: %s\n\n" % json.dumps(message).encode() for message in messages]


def _read(pieces: list[str], size: int) -> list[sp.Event]:
    """The events of messages that come so many at a time."""
    parser, messages = sp.StreamParser("openai-chat", tools=TOOLS), _write(pieces)
    reads = [b"".join(messages[at : at + size]) for at in range(0, len(messages), size)]
    return merged(events_of(parser, reads))


@pytest.mark.parametrize("quoting", ["", *QUOTING])
def test_what_a_run_of_messages_quotes_is_quoted_behind_it(quoting: str) -> None:
    for words in (WORDS[:40], WORDS):
        for rest in (["x <tool y"], []):
            pieces = [*words, *quoting, *words[:9], *rest, CALL, *words]
            expected = _read(pieces, 1)
            assert bool(calls_of(expected)) is not bool(quoting)
            for size in (7, 50, len(pieces)):
                assert _read(pieces, size) == expected, size
