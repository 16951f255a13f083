"""The prefix law on the wires that `bodies` does not make: a cut makes no call there either."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from corpus import read_samples, read_tools
from test_prefixes import FRAMES, prefixes_of
from thoroughness import spread
from verdicts import standing_calls

import streamparse as sp

Message = dict[str, Any]


def _write_completions(text: str, ends: bool) -> Iterator[Message]:
    yield {"object": "text_completion", "choices": [{"index": 0, "text": text, "finish_reason": None}]}
    if ends:
        yield {"object": "text_completion", "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}


def _write_generate(text: str, ends: bool) -> Iterator[Message]:
    yield {"model": "m", "response": text, "done": False}
    if ends:
        yield {"model": "m", "response": "", "done": True, "done_reason": "stop"}


def _write_responses(text: str, ends: bool) -> Iterator[Message]:
    part = {"item_id": "i", "output_index": 0, "content_index": 0}
    item = {"type": "message", "id": "i", "role": "assistant", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_text.delta", **part, "delta": text}
    if ends:
        yield {"type": "response.output_text.done", **part, "text": text}
        yield {"type": "response.completed", "response": {"status": "completed", "output": []}}


def _write_cohere(text: str, ends: bool) -> Iterator[Message]:
    yield {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}}
    yield {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}}
    yield {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}}
    if ends:
        yield {"type": "content-end", "index": 0}
        yield {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}


def _write_bedrock(text: str, ends: bool) -> Iterator[Message]:
    yield {"messageStart": {"role": "assistant"}}
    yield {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}}
    if ends:
        yield {"contentBlockStop": {"contentBlockIndex": 0}}
        yield {"messageStop": {"stopReason": "end_turn"}}


WRITERS: dict[str, Callable[[str, bool], Iterator[Message]]] = {
    "openai-completions": _write_completions,
    "ollama-generate": _write_generate,
    "openai-responses": _write_responses,
    "cohere": _write_cohere,
    "bedrock-converse": _write_bedrock,
}


def _calls(wire: str, text: str, ends: bool) -> Counter[tuple[str, str]]:
    parser = sp.StreamParser(wire, dialects="all", tools=read_tools())
    events: list[sp.Event] = []
    for message in WRITERS[wire](text, ends):
        events += parser.feed(message if wire == "bedrock-converse" else json.dumps(message) + "\n")
    events += parser.close()
    doubted = {e.index for e in events if isinstance(e, sp.ToolCallRevoked) and e.reason == "ambiguous_markup"}
    told = [e for e in events if isinstance(e, sp.ToolCallComplete) and e.index in doubted] if ends else []
    return Counter((call.name, repr(call.arguments)) for call in [*standing_calls(events), *told])


@pytest.mark.parametrize("wire", WRITERS)
@pytest.mark.parametrize("name", sp.DIALECTS)
def test_no_prefix_makes_a_call_that_the_whole_does_not(name: str, wire: str) -> None:
    start = list(sp.DIALECTS).index(name) + list(WRITERS).index(wire)
    for frame, build in spread([*FRAMES.items()], start, len(WRITERS)):
        text = build(read_samples()[name].text)
        whole = _calls(wire, text, ends=True)
        wrong = [prefix[-40:] for prefix in prefixes_of(text, 4) if not _calls(wire, prefix, ends=False) <= whole]
        assert wrong == [], frame


@pytest.mark.parametrize("wire", WRITERS)
def test_a_call_is_found_on_each_of_these_wires(wire: str) -> None:
    assert sum(_calls(wire, read_samples()["hermes"].text, ends=True).values()) == 1
