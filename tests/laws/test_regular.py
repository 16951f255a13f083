"""Answers whose messages are mostly the same but for one string, as servers write them: read one by one or at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from answers import TOOLS
from cuts import events_of, in_messages, in_pieces, merged
from hypothesis import given
from hypothesis import strategies as st
from subjects import examples

import streamparse as sp
from streamparse.providers.wires import WIRES

Message = dict[str, Any]
STRINGS = st.text(max_size=3) | st.sampled_from(
    [
        "word",
        "\n",
        '"',
        "\\",
        '{"a": ',
        "}",
        "{}",
        '","',
        "<tool_call>\n",
        '{"name": "now", "arguments": {}}',
        "</tool_call>",
    ]
)


def chat(string: str, noise: str) -> Message:
    return {"id": "c", "choices": [{"index": 0, "delta": {"content": string}, "finish_reason": None}], "noise": noise}


def chat_thought(string: str, noise: str) -> Message:
    delta = {"content": "", "reasoning_content": string}
    return {"created": noise, "choices": [{"index": 0, "delta": delta}]}


def chat_details(string: str, noise: str) -> Message:
    detail = {"type": "reasoning.text", "text": string, "index": 0, "format": noise}
    return {"choices": [{"index": 0, "delta": {"content": "", "reasoning": string, "reasoning_details": [detail]}}]}


def chat_refusal(string: str, noise: str) -> Message:
    return {"choices": [{"index": 0, "delta": {"refusal": string}}], "noise": noise}


def chat_arguments(string: str, noise: str) -> Message:
    fragment = {"index": 0, "function": {"arguments": string}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}], "noise": noise}


def chat_named(string: str, noise: str) -> Message:
    """Here the noise is read: it is the id of the call."""
    fragment = {"index": 0, "id": noise, "function": {"name": "now", "arguments": string}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]}


def chat_usage(string: str, noise: str) -> Message:
    return chat(string, noise) | {"usage": {"completion_tokens": len(noise)}}


def chat_finish(string: str, noise: str) -> Message:
    return {"choices": [{"index": 0, "delta": {"content": string}, "finish_reason": "stop"}], "noise": noise}


def completion(string: str, noise: str) -> Message:
    return {"object": "text_completion", "created": noise, "choices": [{"index": 0, "text": string}]}


def anthropic(string: str, noise: str) -> Message:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": string}, "noise": noise}


def anthropic_thought(string: str, noise: str) -> Message:
    delta = {"type": "thinking_delta", "thinking": string}
    return {"type": "content_block_delta", "index": 0, "delta": delta, "noise": noise}


def anthropic_arguments(string: str, noise: str) -> Message:
    delta = {"type": "input_json_delta", "partial_json": string}
    return {"noise": noise, "type": "content_block_delta", "index": 1, "delta": delta}


def anthropic_call(string: str, noise: str) -> Message:
    block = {"type": "tool_use", "id": noise, "name": "now", "input": {}}
    return {"type": "content_block_start", "index": 1, "content_block": block, "noise": string}


def ollama(string: str, noise: str) -> Message:
    return {"created_at": noise, "message": {"role": "assistant", "content": string}, "done": False}


def ollama_thought(string: str, noise: str) -> Message:
    return {"created_at": noise, "message": {"content": "", "thinking": string}, "done": False}


def ollama_end(string: str, noise: str) -> Message:
    return {"created_at": noise, "message": {"content": string}, "done": True, "done_reason": "stop"}


def ollama_both(string: str, noise: str) -> Message:
    """Here, and in the next three, the noise is read."""
    return {"message": {"content": string, "thinking": noise}, "done": False}


def ollama_count(string: str, noise: str) -> Message:
    return {"message": {"content": string}, "done": False, "eval_count": len(noise) or "none"}


def ollama_error(string: str, noise: str) -> Message:
    return {"message": {"content": string}, "done": False, "error": noise}


def ollama_call(string: str, noise: str) -> Message:
    called = [{"function": {"name": "now", "arguments": {}}}] if noise else []
    return {"message": {"content": string, "tool_calls": called}, "done": False}


def generated(string: str, noise: str) -> Message:
    return {"created_at": noise, "response": string, "done": False}


def generated_thought(string: str, noise: str) -> Message:
    return {"created_at": noise, "response": "", "thinking": string, "done": False}


def cohere(string: str, noise: str) -> Message:
    return {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": string}}}, "noise": noise}


def cohere_plan(string: str, noise: str) -> Message:
    return {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": string}}, "noise": noise}


KINDS: dict[str, list[Callable[[str, str], Message]]] = {
    "openai-chat": [
        chat,
        chat_thought,
        chat_details,
        chat_refusal,
        chat_arguments,
        chat_named,
        chat_usage,
        chat_finish,
    ],
    "openai-completions": [completion],
    "anthropic": [anthropic, anthropic_thought, anthropic_arguments, anthropic_call],
    "ollama-chat": [ollama, ollama_thought, ollama_both, ollama_count, ollama_error, ollama_call, ollama_end],
    "ollama-generate": [generated, generated_thought, ollama, ollama_end],
    "cohere": [cohere, cohere_plan],
}


@st.composite
def answers(draw: st.DrawFn, wire: str) -> bytes:
    """Runs of messages of one kind each; their noise may change, their strings be spelled with escapes."""
    ends = b"\n" if wire.startswith("ollama") else draw(st.sampled_from([b"\n\n", b"\r\n\r\n"]))
    before = b"" if wire.startswith("ollama") else draw(st.sampled_from([b"data: ", b"data:", b"event: x\ndata: "]))
    body = []
    for _ in range(draw(st.integers(1, 4))):
        kind, steady, escaped = draw(st.sampled_from(KINDS[wire])), draw(st.booleans()), draw(st.booleans())
        for number, string in enumerate(draw(st.lists(STRINGS, min_size=1, max_size=6))):
            noise = "n" if steady else draw(st.sampled_from(["", "a", "b", "c-1", "a b", '"', str(number)]))
            body += [before, json.dumps(kind(string, noise), ensure_ascii=escaped).encode(), ends]
    return b"".join(body)


@pytest.mark.parametrize("wire", KINDS)
@examples(5)
@given(data=st.data())
def test_messages_that_are_alike_are_read_as_each_would_be_alone(wire: str, data: st.DataObject) -> None:
    body = data.draw(answers(wire))
    expected = sp.StreamParser(wire, tools=TOOLS)
    events = merged(events_of(expected, in_pieces(body, 1)))
    parser = sp.StreamParser(wire, tools=TOOLS)
    assert merged(events_of(parser, in_messages(body))) == events
    assert parser.response == expected.response
    assert parser.stats == expected.stats


@pytest.mark.parametrize("wire", KINDS)
def test_another_read_in_between_changes_nothing(wire: str) -> None:
    ends = b"\n" if wire.startswith("ollama") else b"\n\n"
    before = b"" if wire.startswith("ollama") else b"data: "
    kinds = KINDS[wire]
    alike = [before + json.dumps(kinds[0](f"{n} ", "x")).encode() + ends for n in range(8)]
    end = before + json.dumps(kinds[-1]("end", "x")).encode() + ends
    pieces = [*alike[:4], end[:20], end[20:] + alike[4], *alike[5:]]
    parser, expected = sp.StreamParser(wire), sp.StreamParser(wire)
    assert merged(events_of(parser, pieces)) == merged(events_of(expected, [b"".join(pieces)]))
    assert parser.stats == expected.stats


@contextmanager
def watch_looks() -> Iterator[list[int]]:
    """Have a wire, "watched", that notes the number at the beginning of each message that is looked into for a form."""
    looked: list[int] = []

    class Watched(WIRES["openai-chat"]):  # type: ignore[misc]
        def _find_verb(self, chunk: Any) -> Any:
            looked.append(int(chunk.choices[0].delta.content.split()[0]))
            return self._text

        plain_strings = (WIRES["openai-chat"].plain_strings[0]._replace(find_verb=_find_verb),)

    WIRES["watched"] = Watched
    try:
        yield looked
    finally:
        del WIRES["watched"]


def test_where_no_two_messages_are_alike_few_are_looked_at_and_nothing_is_mistaken() -> None:
    def one(number: int, kind: Callable[[str, str], Message]) -> bytes:
        return b"data: " + json.dumps(kind(f"{number} ", "x" * number)).encode() + b"\n\n"

    messages = [one(number, chat_usage if number % 2 else chat) for number in range(1, 2000)]
    messages += [messages[0], one(1, chat_finish), messages[0], messages[0]]
    expected = sp.StreamParser("openai-chat")
    events = merged(events_of(expected, [b"".join(messages)]))
    with watch_looks() as looked:
        parser = sp.StreamParser("watched")
        assert merged(events_of(parser, messages)) == events
    assert parser.response == expected.response
    assert 0 < len(looked) < 100


ALONE = [1, 4, 9, 18, 35, 68, 133, 262, 519, 1032, 2057]


@pytest.mark.parametrize(
    ("string", "run", "count", "looked_at"),
    [
        ("alone: each pause is twice the last", 1, 4000, ALONE),
        ("in pairs: each second form serves", 2, 20, [1, 4, 7, 10, 13, 16, 19]),
        ("in runs of five: the next one is looked for at once", 5, 40, [1, 6, 11, 16, 21, 26, 31, 36]),
        ("escaped, so that there is no form: é", 100, 60, [1, 3, 7, 15, 31]),
    ],
)
def test_a_form_is_looked_for_again_at_once_where_the_last_one_served_and_else_ever_later(
    string: str, run: int, count: int, looked_at: list[int]
) -> None:
    with watch_looks() as looked:
        parser = sp.StreamParser("watched")
        for number in range(count):
            parser.feed(b"data: " + json.dumps(chat(f"{number} {string}", "x" * (number // run))).encode() + b"\n\n")
    assert looked == looked_at
