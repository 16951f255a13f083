"""Legacy completions beside chat: the two look alike, and each is told by what its choices hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import events_of, text_of

import streamparse as sp


@pytest.mark.parametrize(
    ("choice", "kind", "wire"),
    [
        ({"text": "Hi", "index": 0}, "text_completion", "openai-completions"),
        ({"text": "Hi", "index": 0}, "", "openai-completions"),
        ({"delta": {"content": "Hi"}, "index": 0}, "text_completion", "openai-chat"),  # an old TGI
        ({"delta": {"content": "Hi"}, "text": "Hi"}, "chat.completion.chunk", "openai-chat"),
        ({"message": {"content": "Hi"}, "index": 0}, "chat.completion", "openai-chat"),
    ],
)
def test_a_choice_shows_whether_it_is_chat_or_a_completion(choice: dict[str, Any], kind: str, wire: str) -> None:
    body = f"data: {json.dumps({'object': kind, 'choices': [choice]})}\n\ndata: [DONE]\n\n"
    parser = sp.StreamParser("auto")
    assert text_of(events_of(parser, [body])) == "Hi"
    assert parser.wire == wire


def test_another_choice_may_be_parsed_and_the_rest_is_counted() -> None:
    chunks = [{"choices": [{"text": text, "index": index}]} for index, text in enumerate("abc")]
    parser = sp.StreamParser("openai-completions", choice=2)
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    assert text_of(events_of(parser, [body])) == "c"
    assert parser.stats.ignored_frames == 2
