"""Answers on openai-chat that hold text, thoughts and calls one after the other, and what a runner begins of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import streamparse as sp
from streamparse.runtime.facts import Received, Start
from streamparse.runtime.turn import Turn

__all__ = ["make_frames", "note_begun", "run_answer"]


def make_frames(parts: Iterable[dict[str, Any] | str]) -> list[bytes]:
    """The frames of an answer.

    A part is a text, `{"reasoning_content": text}`, or `{"native": (name, arguments)}`, of which each has a frame for
    its name and one for its arguments.
    """
    deltas: list[dict[str, Any]] = []
    natives = 0
    for part in parts:
        if isinstance(part, str):
            deltas.append({"content": part})
        elif "native" in part:
            name, arguments = part["native"]
            head = {"index": natives, "id": f"native-{natives}", "type": "function"}
            deltas.append({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
            written = {"index": natives, "function": {"arguments": json.dumps(arguments)}}
            deltas.append({"tool_calls": [written]})
            natives += 1
        else:
            deltas.append(part)
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    frames = [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n" for choice in choices]
    return [*frames, b"data: [DONE]\n\n"]


async def run_answer(frames: Sequence[bytes], tools: Sequence[sp.Tool], **options: Any) -> list[sp.ToolResult]:
    """What a runner makes of an answer whose frames come one by one."""

    async def source() -> AsyncIterator[bytes]:
        for frame in frames:
            yield frame

    async with sp.ToolRunner(tools, **options) as runner:
        async for _ in runner.run(sp.aiter_events(source(), "openai-chat", tools=tools)):
            pass
        return runner.results


def note_begun(frames: Sequence[bytes], tools: Sequence[sp.Tool]) -> tuple[list[str], set[str]]:
    """The tools that a turn begins, whose functions never return, and those of which a call was told."""
    parser = sp.StreamParser("openai-chat", tools=tools)
    turn = Turn(tools, limit=100)
    events = [event for frame in frames for event in parser.feed(frame)] + parser.close()
    commands = [command for event in events for command in turn.take(Received(event, 0.0))]
    begun = [command.name for command in commands if isinstance(command, Start)]
    return begun, {event.name for event in events if isinstance(event, sp.ToolCallComplete)}
