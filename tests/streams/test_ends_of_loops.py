"""`Done` comes with the server's last word, and what stands behind that changes nothing, however the body is cut."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import anyio
import pytest
from cuts import cuts_of, events_of, merged

import streamparse as sp


def _sse(*messages: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(message).encode() for message in messages)


CHAT = _sse(
    {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}, {"choices": [{"index": 0, "finish_reason": "stop"}]}
)
OLLAMA = b'{"message": {"content": "Hi"}, "done": false}\n{"done": true, "done_reason": "stop"}\n'
ENDED = {
    "openai-chat": CHAT + b"data: [DONE]\n\n",
    "openai-completions": _sse({"choices": [{"index": 0, "text": "Hi", "finish_reason": "stop"}]})
    + b"data: [DONE]\n\n",
    "ollama-chat": OLLAMA,
}
HI = [sp.TextDelta("Hi"), sp.Done("stop", None, True)]
BEHIND = [
    b"data: [DONE]\n\n",
    CHAT,
    _sse({"error": {"message": "late"}}),
    b"\n\ngarbage\n<<<>>>\ndata: {bad\n\n{",
    b"x" * 300,
    b"data: " + b"9" * 300 + b"\n\n",
]


class Hanging:
    """A source that is read once too often if it is read behind its chunks."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = iter(chunks)

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        raise AssertionError("nobody may wait for more")


class AsyncHanging:
    """A source that never ends."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks
        self.closed = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            for chunk in self._chunks:
                yield chunk
            await anyio.sleep_forever()
        finally:
            self.closed += 1


@pytest.mark.parametrize("wire", ENDED)
def test_done_comes_before_anything_behind_the_end_marker_is_waited_for(wire: str) -> None:
    events = []
    for event in sp.iter_events(Hanging(ENDED[wire]), wire):
        events.append(event)
        if isinstance(event, sp.Done):
            break
    assert events == HI


@pytest.mark.anyio
@pytest.mark.parametrize("wire", ENDED)
async def test_async_done_comes_before_anything_behind_the_end_marker_is_waited_for(wire: str) -> None:
    events = []
    source = AsyncHanging(ENDED[wire])
    async with sp.aiter_events(source, wire) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, sp.Done):
                break
    assert (events, source.closed) == (HI, 1)


def test_an_async_loop_ends_though_the_server_keeps_the_connection_open() -> None:
    source = AsyncHanging(ENDED["openai-chat"])

    async def read() -> list[sp.Event]:
        return [event async for event in sp.aiter_events(source, "openai-chat")]

    assert anyio.run(read, backend="trio", backend_options={"clock": _no_waiting()}) == HI
    assert source.closed == 1


def test_a_tool_with_effects_runs_though_the_server_keeps_the_connection_open() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "now", "arguments": "{}"}}
    asked = _sse({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})

    @sp.tool(effect="write")
    async def now() -> str:
        return "noon"

    async def run() -> list[object]:
        async with sp.ToolRunner([now]) as runner:
            source = sp.aiter_events(AsyncHanging(asked + b"data: [DONE]\n\n"), "openai-chat", tools=[now])
            async for _item in runner.run(source):
                pass
            return [result.result for result in runner.results]

    assert anyio.run(run, backend="trio", backend_options={"clock": _no_waiting()}) == ["noon"]


def _no_waiting() -> object:
    """A clock that jumps ahead whenever everybody waits."""
    from trio.testing import MockClock

    return MockClock(autojump_threshold=0)


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("wire", ["openai-chat", "openai-completions"])
def test_what_stands_behind_the_end_marker_changes_nothing_in_any_cut(wire: str, behind: bytes) -> None:
    limits = sp.Limits(max_line=200, max_event=200, max_total=len(ENDED[wire]) + 250)
    for _, pieces in cuts_of(ENDED[wire] + behind):
        assert merged(list(sp.iter_events(pieces, wire, limits=limits))) == HI
        parser = sp.StreamParser(wire, limits=limits)
        parser.stop_when_sealed()
        assert merged(events_of(parser, pieces)) == HI


CUT_CALLS = {
    "openai-chat": _sse(
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{"}}]}}]}
    )
    + b"data: [DONE]\n\n",
    "ollama-chat": b'{"message": {"content": "<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {"}, "done": false}\n'
    b'{"done": true, "done_reason": "stop"}\n',
}


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("wire", CUT_CALLS)
def test_a_call_that_the_end_marker_cuts_is_an_error_there_in_any_cut(wire: str, behind: bytes) -> None:
    marker = CUT_CALLS[wire].rindex(b"[DONE]" if wire == "openai-chat" else b'{"done"')
    for _, pieces in cuts_of(CUT_CALLS[wire] + behind):
        errors = [event for event in sp.iter_events(pieces, wire) if isinstance(event, sp.Error)]
        assert [(error.code, error.offset) for error in errors] == [("truncated_call", marker)]


def test_a_body_of_several_answers_is_read_to_its_end_in_any_cut() -> None:
    message = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}}
    end = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    for _, pieces in cuts_of(_sse(message, block, *end) * 2):
        events = merged(list(sp.iter_events(pieces, "anthropic")))
        assert events == [sp.TextDelta("HiHi"), sp.Done("end_turn", None, True)]


class Failing:
    """A source whose connection breaks behind its chunks."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks
        self.reads = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.reads += 1
            yield chunk
        raise ConnectionResetError


def test_a_failure_behind_the_end_marker_is_raised_behind_a_done_that_is_ok() -> None:
    events = sp.iter_events(Failing(ENDED["openai-chat"]), "openai-chat")
    assert [next(events), next(events)] == HI
    with pytest.raises(ConnectionResetError):
        next(events)


def test_the_rest_of_a_body_is_read_so_that_its_connection_can_be_used_again_but_not_for_ever() -> None:
    some = Failing(ENDED["openai-chat"], b"\n", b"\n")
    with pytest.raises(ConnectionResetError):
        list(sp.iter_events(some, "openai-chat"))
    assert some.reads == 3
    many = Failing(ENDED["openai-chat"], *[b": still here\n\n"] * 1000)
    assert list(sp.iter_events(many, "openai-chat")) == HI
    assert many.reads < 100
