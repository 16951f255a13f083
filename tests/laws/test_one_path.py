"""Law 9: a whole response gives the same calls as feeding it."""

from __future__ import annotations

import json

import pytest
from answers import TOOLS as STREAM_TOOLS
from answers import Answer, any_answers
from cuts import events_of
from hypothesis import assume, example, given
from hypothesis import strategies as st
from subjects import ROWS, examples, inputs

import streamparse as sp

BARE_JSON = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "Now:\\n{\\"name\\": \\"now\\", \\"arguments\\": {}}"},'
    b' "finish_reason": "stop"}]}\n\n'
)
IN_TEXT_THEN_NATIVE = (
    b'{"message": {"content": "{\\"name\\": \\"now\\", \\"arguments\\": {}}"}, "done": false}\n'
    b'{"message": {"tool_calls": [{"function": {"name": "now", "arguments": null}}]}, "done": true}\n'
)


def _is_cut_out_of(text: str, rest: str) -> bool:
    """Whether one stretch of a text is missing in the rest: calls as plain JSON, which a stream had told as text."""
    begun = next((place for place, pair in enumerate(zip(text, rest, strict=False)) if len({*pair}) > 1), len(rest))
    return len(rest) < len(text) and text.endswith(rest[begun:])


def _is_one_object(body: bytes) -> bool:
    """Whether nothing can be missing, though no word of an end stands there."""
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _by_what_they_do(response: sp.ParsedResponse) -> tuple[list[object], list[object], list[str]]:
    """Calls without what tells two of a pair apart: a stream keeps the first, a whole response the server's own."""
    calls, broken = response.tool_calls, response.broken_calls
    return (
        [(call.index, call.name, call.arguments, call.revoked) for call in calls],
        [(call.index, call.name, call.code) for call in broken],
        sorted(call.id for call in (*calls, *broken)),
    )


def assert_same(whole: sp.ParsedResponse, fed: sp.ParsedResponse, body: bytes) -> None:
    """Assert that a whole response holds what a parser that was fed the same bytes holds."""
    assert _by_what_they_do(whole) == _by_what_they_do(fed)
    if not any(call.code == "duplicate_call" for call in fed.broken_calls):
        assert (whole.tool_calls, whole.broken_calls) == (fed.tool_calls, fed.broken_calls)
    assert (whole.reasoning, whole.refusal) == (fed.reasoning, fed.refusal)
    recovered = any(call.source in ("recovered", "repaired") for call in whole.tool_calls)
    assert whole.content == fed.content or (recovered and _is_cut_out_of(fed.content, whole.content))
    assert (whole.finish_reason, whole.usage) == (fed.finish_reason, fed.usage)
    assert whole.ok == fed.ok or (whole.ok and _is_one_object(body))


@pytest.mark.parametrize("wire", sp.WIRES)
@examples(2)
@given(data=st.data())
def test_a_whole_body_is_what_was_fed_on_every_wire(wire: str, data: st.DataObject) -> None:
    each = data.draw(inputs(wire))
    assume("choice" not in each.options)
    parser = each.parser()
    events_of(parser, [each.data])
    assert_same(sp.parse_response(each.data, **each.options), parser.response, each.data)


@pytest.mark.parametrize("row", ROWS)
@examples(2)
@given(data=st.data())
def test_calls_in_the_text_of_a_whole_body_are_those_that_were_fed(row: str, data: st.DataObject) -> None:
    each = data.draw(inputs(row))
    reason = data.draw(st.sampled_from(["stop", "tool_calls", "length"]))
    half = data.draw(st.integers(0, len(each.data)))
    frames = [{"delta": {"content": text}, "finish_reason": None} for text in (each.data[:half], each.data[half:])]
    frames.append({"delta": {}, "finish_reason": reason})
    body = b"".join(b"data: " + json.dumps({"choices": [frame]}).encode() + b"\n\n" for frame in frames)
    parser = sp.StreamParser("openai-chat", **each.options)
    events_of(parser, [body])
    assert_same(sp.parse_response(body, "openai-chat", **each.options), parser.response, body)
    message = {"role": "assistant", "content": each.data}
    single = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    assert_same(sp.parse_response(single, "openai-chat", **each.options), parser.response, b"{}")


@examples(10)
@given(any_answers)
@example(Answer("openai-chat", BARE_JSON, True))
@example(Answer("ollama-chat", IN_TEXT_THEN_NATIVE, True))
def test_a_whole_response_is_what_was_fed(answer: Answer) -> None:
    assume(answer.wire != "auto")  # a body of no known wire is text there, and an error here
    parser = answer.parser()
    events_of(parser, [answer.body])
    whole = sp.parse_response(answer.body, answer.wire, tools=STREAM_TOOLS if answer.tools else None)
    assert_same(whole, parser.response, answer.body)
