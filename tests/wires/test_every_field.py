"""Whatever else a message holds, it is read the same: alone, among alike ones, in one read with them, and decoded."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from call_counts import count_calls
from cuts import events_of, in_pieces, merged, plain
from msgspec import inspect

import streamparse as sp
from streamparse.providers.wires import WIRES

Message = dict[str, Any]


def _chat(**delta: Any) -> Message:
    return {"choices": [{"index": 0, "delta": delta}]}


def _fragment(**function: Any) -> Message:
    return _chat(tool_calls=[{"index": 0, "id": "c", "function": function}])


def _block(kind: str, **block: Any) -> list[Message]:
    begin: Message = {"type": "message_start", "message": {"content": []}}
    return [begin, {"type": "content_block_start", "index": 0, "content_block": {"type": kind, **block}}]


def _delta(**delta: Any) -> Message:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _cohere(kind: str, **message: Any) -> Message:
    return {"type": kind, "index": 0, "delta": {"message": message}}


def _response(kind: str, text: str) -> Message:
    return {"type": f"response.{kind}.delta", "item_id": "c", "output_index": 0, "content_index": 0, "delta": text}


def _parts(*parts: Message) -> Message:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "index": 0}]}


ITEM = {"type": "function_call", "id": "c", "call_id": "c", "name": "f", "arguments": ""}
CALL = {"type": "response.output_item.added", "output_index": 0, "item": ITEM}
TOOL_USE = _block("tool_use", id="c", name="f", input={})
COHERE_CALL = _cohere("tool-call-start", tool_calls={"id": "c", "type": "function", "function": {"name": "f"}})

FORMS: dict[str, tuple[str, list[Message], Callable[[str], Message]]] = {
    "chat, text": ("openai-chat", [], lambda text: _chat(content=text)),
    "chat, thought": ("openai-chat", [], lambda text: _chat(content=None, reasoning_content=text)),
    "chat, thought of OpenRouter": ("openai-chat", [], lambda text: _chat(content="", reasoning=text)),
    "chat, thought of Copilot": ("openai-chat", [], lambda text: _chat(reasoning_text=text)),
    "chat, arguments": (
        "openai-chat",
        [_fragment(name="f", arguments='{"a": "')],
        lambda text: _chat(tool_calls=[{"index": 0, "function": {"arguments": text}}]),
    ),
    "chat, thought twice": (
        "openai-chat",
        [_chat(reasoning="o", reasoning_details=[{"type": "reasoning.text", "text": "o", "index": 0}])],
        lambda text: _chat(
            reasoning=text, reasoning_details=[{"type": "reasoning.text", "text": text, "format": None, "index": 0}]
        ),
    ),
    "completions": ("openai-completions", [], lambda text: {"choices": [{"index": 0, "text": text}]}),
    "anthropic, text": ("anthropic", _block("text", text=""), lambda text: _delta(type="text_delta", text=text)),
    "anthropic, thought": (
        "anthropic",
        _block("thinking", thinking=""),
        lambda text: _delta(type="thinking_delta", thinking=text),
    ),
    "anthropic, arguments": (
        "anthropic",
        [*TOOL_USE, _delta(type="input_json_delta", partial_json='{"a": "')],
        lambda text: _delta(type="input_json_delta", partial_json=text),
    ),
    "responses, text": ("openai-responses", [], lambda text: _response("output_text", text)),
    "responses, thought": ("openai-responses", [], lambda text: _response("reasoning_summary_text", text)),
    "responses, arguments": (
        "openai-responses",
        [CALL, _response("function_call_arguments", '{"a": "')],
        lambda text: _response("function_call_arguments", text),
    ),
    "cohere, text": ("cohere", [], lambda text: _cohere("content-delta", content={"text": text})),
    "cohere, arguments": (
        "cohere",
        [COHERE_CALL, _cohere("tool-call-delta", tool_calls={"function": {"arguments": '{"a": "'}})],
        lambda text: _cohere("tool-call-delta", tool_calls={"function": {"arguments": text}}),
    ),
    "ollama, text": (
        "ollama-chat",
        [],
        lambda text: {"model": "m", "message": {"role": "assistant", "content": text}, "done": False},
    ),
    "ollama, thought": (
        "ollama-chat",
        [],
        lambda text: {"model": "m", "message": {"role": "assistant", "content": "", "thinking": text}, "done": False},
    ),
    "ollama, generated": ("ollama-generate", [], lambda text: {"model": "m", "response": text, "done": False}),
    "gemini, text": ("gemini", [], lambda text: _parts({"text": text})),
    "gemini, thought": ("gemini", [], lambda text: _parts({"text": text, "thought": True})),
}
"""Messages that come in great numbers: the wire, what comes before, and the message with a string."""


def _encode(wire: str, message: Message) -> bytes:
    line = json.dumps(message).encode()
    return line + b"\n" if wire.startswith("ollama") else b"data: " + line + b"\n\n"


def _vary(value: Any, kind: inspect.Type, depth: int = 0) -> Iterator[Any]:
    """The value with one more field that its shape has, at any level, or with another number."""
    if isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from _vary(value, each, depth)
    elif isinstance(kind, inspect.ListType) and isinstance(value, list) and value:
        for first in _vary(value[0], kind.item_type, depth):
            yield [first, *value[1:]]
        yield [*value, copy.deepcopy(value[-1])]
    elif isinstance(kind, inspect.StructType) and isinstance(value, dict):
        for field in kind.fields:
            name = field.encode_name
            others = _vary(value[name], field.type, depth) if name in value else _make(field.type, depth)
            yield from ({**value, name: other} for other in others)
    elif isinstance(kind, inspect.IntType) and isinstance(value, int):
        yield value + 1


def _make(kind: inspect.Type, depth: int) -> Iterator[Any]:
    """Values of a type."""
    if isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from _make(each, depth)
    elif isinstance(kind, inspect.StructType):
        if depth < 2:
            for field in kind.fields:
                yield from ({field.encode_name: other} for other in _make(field.type, depth + 1))
    elif isinstance(kind, inspect.ListType):
        yield from ([other] for other in _make(kind.item_type, depth))
    elif isinstance(kind, inspect.LiteralType):
        yield from kind.values
    elif isinstance(kind, (inspect.AnyType, inspect.DictType, inspect.RawType)):
        yield {"k": "v"}
    elif isinstance(kind, inspect.StrType):
        yield "s"
    elif isinstance(kind, inspect.IntType):
        yield 1
    elif isinstance(kind, inspect.BoolType):
        yield True


def _read(wire: str, reads: list[Any]) -> tuple[list[Any], Any]:
    parser = sp.StreamParser(wire)  # type: ignore[arg-type]
    events = [event for read in reads for event in parser.feed(read)] + parser.close()
    told = [{key: each for key, each in event.items() if key != "offset"} for event in plain(events)]
    return told, parser.response.usage


GOLDEN = Path(__file__).parents[2] / "fixtures/fields.json"
"""What each other field adds to what a message gives, in the order of the events; the end of the body where it differs.
"""


def _describe_change(old: Any, new: Any) -> str:
    """Where a message differs from another, and what stands there."""
    if isinstance(new, dict) and isinstance(old, dict):
        key = next(key for key in new if key not in old or old[key] != new[key])
        return f"{key}.{_describe_change(old[key], new[key])}" if key in old else f"{key}: {json.dumps(new[key])}"
    if isinstance(new, list) and len(new) == len(old):
        return _describe_change(old[0], new[0])
    return f"{json.dumps(old)} -> {json.dumps(new)}" if not isinstance(new, list) else "the same once more"


def test_each_field_of_a_message_gives_what_was_written_down(update_golden: bool) -> None:
    told: dict[str, dict[str, list[str]]] = {}
    for name, (wire, before, make) in FORMS.items():
        kind = inspect.type_info(WIRES[wire].shape)  # type: ignore[attr-defined]
        events, usage = _read(wire, [*before, make("d ")])
        plainly = [" ".join(map(str, event.values())) for event in events]
        told[name] = {}
        for other in _vary(make("d "), kind):
            events, usage = _read(wire, [*before, other])
            lines = [" ".join(map(str, event.values())) for event in events]
            lines += [f"usage {usage}"] if usage else []
            lines = lines[: -2 if lines[-2:] == plainly[-2:] else None]
            if lines != plainly[:-2]:
                told[name][_describe_change(make("d "), other)] = lines
    if update_golden:
        rows = [
            f"{json.dumps(name)}: {{\n"
            + ",\n".join(f"{json.dumps(change)}: {json.dumps(lines)}" for change, lines in changes.items())
            + "\n}"
            for name, changes in told.items()
        ]
        GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    assert told == json.loads(GOLDEN.read_text(encoding="utf-8"))


def _read_bytes(wire: str, reads: list[bytes], limits: sp.Limits) -> tuple[list[sp.Event], int]:
    parser = sp.StreamParser(wire, limits=limits)  # type: ignore[arg-type]
    return merged(events_of(parser, reads)), parser.stats.frames


@pytest.mark.parametrize("name", FORMS)
def test_a_message_with_any_other_field_is_read_the_same_wherever_it_stands(name: str) -> None:
    wire, before, make = FORMS[name]
    kind = inspect.type_info(WIRES[wire].shape)  # type: ignore[attr-defined]
    after = make("e ")
    for other in _vary(make("d "), kind):
        for messages in (
            [*before, make("a "), make("b "), make("c "), other, after],
            [*before, other, other, other, other, after],
        ):
            told = _read(wire, messages)
            reads = [_encode(wire, message) for message in messages]
            assert _read(wire, reads) == told, other
            assert _read(wire, [b"".join(reads)]) == told, other


@pytest.mark.parametrize("name", FORMS)
def test_a_limit_ends_alike_messages_at_the_same_byte_in_any_read(name: str) -> None:
    wire, before, make = FORMS[name]
    reads = [_encode(wire, message) for message in (*before, *(make(text) for text in ("a ", "b ", "c ", "d ", "e ")))]
    line = len(reads[-1])
    end = sum(map(len, reads)) - line
    reads[-1:] = [_encode(wire, make("longer ")), _encode(wire, make("f "))]
    for limits in (
        *(sp.Limits(max_total=end + more) for more in (-1, 0, 1, line + 4, line + 5, line + 6)),
        *(sp.Limits(max_line=line + more) for more in (-3, -2, -1, 0, 3, 4, 5)),
        *(sp.Limits(max_event=line + more) for more in (-9, -8, -7, -2, -1, 0)),
    ):
        whole = b"".join(reads)
        told = [_read_bytes(wire, each, limits) for each in (reads, [whole], in_pieces(whole, 7))]
        assert told[0] == told[1] == told[2], limits


ALIKE = [name for name, (wire, *_) in FORMS.items() if wire not in ("gemini", "openai-responses")]
"""Those of wires whose messages differ in one string alone: others have numbers or token counts, too."""


def _count_decoded(wire: str, step: Callable[[], object]) -> int:
    """How many messages of a wire are decoded."""
    decoded = 0

    def count(_frame: FrameType, event: str, called: Any) -> None:
        nonlocal decoded
        decoder = getattr(called, "__self__", None)
        decoded += event == "c_call" and getattr(decoder, "type", None) is WIRES[wire].shape  # type: ignore[attr-defined]

    sys.setprofile(count)
    try:
        step()
    finally:
        sys.setprofile(None)
    return decoded


@pytest.mark.parametrize("name", ALIKE)
def test_messages_that_differ_in_one_string_alone_are_decoded_until_that_is_known_and_no_more(name: str) -> None:
    wire, before, make = FORMS[name]
    parser = sp.StreamParser(wire)  # type: ignore[arg-type]
    for message in (*before, make("a "), make("b ")):
        parser.feed(_encode(wire, message))
    assert _count_decoded(wire, lambda: parser.feed(_encode(wire, make("c ")))) <= 1
    reads = [_encode(wire, make(f"{number} ")) for number in range(1000)]
    known = 10 if wire.startswith("ollama") else 0  # the time in each line differs, too: all of them are decoded
    assert _count_decoded(wire, lambda: [*map(parser.feed, reads[:10])]) == known
    one = _encode(wire, make("d "))
    assert count_calls(lambda: parser.feed(one)) <= (21 if name == "chat, thought twice" else 17)
    calls = count_calls(lambda: parser.feed(b"".join(reads[10:])))
    assert calls < (21 if name == "chat, thought twice" else 17) * len(reads)


@pytest.mark.parametrize("name", [name for name in FORMS if name.endswith("arguments")])
def test_arguments_end_at_their_limit_in_any_reads(name: str) -> None:
    wire, before, make = FORMS[name]
    limits = sp.Limits(max_call_args=1000)
    messages = [_encode(wire, message) for message in (*before, *(make(f"{number:04} ") for number in range(300)))]
    alone = _read_bytes(wire, messages, limits)
    assert next(event.code for event in alone[0] if isinstance(event, sp.Error)) == "limit_args"
    for count in (7, 100, 400):
        reads = [b"".join(messages[at : at + count]) for at in range(0, len(messages), count)]
        assert _read_bytes(wire, reads, limits) == alone
    parser = sp.StreamParser(wire, limits=limits)  # type: ignore[arg-type]
    events_of(parser, messages)
    assert len(parser.response.broken_calls[0].raw) == 1000
