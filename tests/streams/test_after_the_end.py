"""A parser that was closed: it takes nothing more, and closing it again gives nothing."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp

TEXT = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi."}}]}\n\n'


@pytest.mark.parametrize(
    ("make", "chunk"), [(lambda: sp.StreamParser("openai-chat"), TEXT), (lambda: sp.TextParser(()), "Hi.")]
)
@pytest.mark.parametrize("chunks", [0, 1, 5])
def test_a_closed_parser_takes_nothing_and_closes_but_once(make: Any, chunk: Any, chunks: int) -> None:
    parser = make()
    for _ in range(chunks):
        parser.feed(chunk)
    assert isinstance(parser.close()[-1], sp.Done)
    assert parser.close() == []
    with pytest.raises(RuntimeError, match="after close"):
        parser.feed(chunk)


@pytest.mark.parametrize("text", [b"Hi.", bytearray(b"Hi."), {"content": "Hi."}, None])
def test_a_parser_of_text_takes_nothing_else(text: Any) -> None:
    with pytest.raises(TypeError, match="must be str"):
        sp.TextParser(()).feed(text)
