"""A voice agent: it speaks while its tools run, and is silent at once when the user speaks.

    python examples/voice.py

The speaker prints words with the times at which they are spoken, and the model is a script, so nothing is needed to
try it.  With a real model text arrives in the same way; with a real microphone its voice detector sets `interrupted`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio

import streamparse as sp

__all__ = ["Speaker", "hold_turn", "make_agent"]

WORD_SECONDS = 0.2
TOOL_SECONDS = 1.0
MODEL_SECONDS = 0.05
"""Between two pieces of an answer."""
ANSWERS: list[list[str | dict[str, Any]]] = [
    ["One", " moment,", {"city": "Porto"}, " I", " am", " looking", " at", " the", " weather", " in", " Porto."],
    ["It", " is", " sunny,", " and", " the", " wind", " comes", " from", " the", " north."],
]


class Speaker:
    """Speaks word by word; `spoken` is what the user has heard of the latest answer that the speaker has got."""

    def __init__(self) -> None:
        self.spoken: str = ""
        self._waiting = ""
        self._earlier = 0  # characters that still are to be said of earlier answers
        self._begun = anyio.current_time()

    def begin_answer(self) -> None:
        """Say that what follows is another answer; of that one nothing is spoken yet, whatever still is to be said."""
        self.spoken, self._waiting = "", self._waiting + " "
        self._earlier = len(self._waiting)

    def say(self, text: str) -> None:
        """Speak a text, which may be a piece of a word, once what was before it is spoken."""
        self._waiting += text

    def tell(self, what: str) -> None:
        """Print what happens, with its time."""
        print(f"{anyio.current_time() - self._begun:5.1f} s  {what}")

    async def speak(self) -> None:
        """Speak until the task is cancelled."""
        while True:
            await anyio.sleep(WORD_SECONDS)
            end = self._waiting.find(" ", 1)  # a word is whole once another one begins
            if end > 0:
                word, self._waiting = self._waiting[:end], self._waiting[end:]
                self.spoken += word[self._earlier :]
                self._earlier = max(self._earlier - end, 0)
                self.tell(f"says {word.strip()}")

    async def finish(self) -> None:
        """Wait until all is spoken."""
        self._waiting += " "
        while self._waiting.strip():
            await anyio.sleep(WORD_SECONDS)


async def hold_turn(
    agent: sp.Agent[None, str], prompt: str, history: sp.History, speaker: Speaker, interrupted: anyio.Event
) -> sp.RunResult[str]:
    """Answer a prompt aloud until all is said, or the user speaks; the history then has what was heard."""
    async with agent.run(prompt, history=history) as run, anyio.create_task_group() as tasks:

        async def listen() -> None:
            await interrupted.wait()
            speaker.tell("is interrupted")
            run.cancel(heard=speaker.spoken)
            tasks.cancel_scope.cancel()

        tasks.start_soon(speaker.speak)
        tasks.start_soon(listen)
        async for item in run:
            if isinstance(item, sp.TextDelta):
                speaker.say(item.text)
            elif isinstance(item, sp.ToolResult):
                speaker.tell(f"has the result of {item.tool_name}")
            elif isinstance(item, sp.TurnEnd) and item.results:
                speaker.begin_answer()  # `heard` is said of the latest one
        await speaker.finish()
        tasks.cancel_scope.cancel()
    return run.result


# -- a model, and a user ---------------------------------------------------------------------------------------------


def make_agent(speaker: Speaker) -> sp.Agent[None, str]:
    """Make an agent whose tool takes a second, and says when it begins."""

    @sp.tool(effect="read")
    async def look_up_weather(city: str) -> str:
        """Look the weather of a city up."""
        speaker.tell(f"looks the weather of {city} up")
        await anyio.sleep(TOOL_SECONDS)
        return "sunny, wind from the north"

    return sp.Agent(answer, [look_up_weather], clock=anyio.current_time)


async def answer(request: sp.Request) -> AsyncIterator[dict[str, Any]]:
    """Answer as a server would, in the messages of chat completions."""
    request.read_as("openai-chat")
    return _write(ANSWERS[min(request.number, 1)])


async def _write(pieces: list[str | dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    for piece in pieces:
        await anyio.sleep(MODEL_SECONDS)
        if isinstance(piece, str):
            yield _wrap({"content": piece})
        else:
            function = {"name": "look_up_weather", "arguments": json.dumps(piece)}
            yield _wrap({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    yield _wrap({}, "tool_calls" if any(isinstance(piece, dict) for piece in pieces) else "stop")


def _wrap(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def main() -> None:
    """Hold a turn whose second answer is interrupted."""
    speaker, interrupted = Speaker(), anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def interrupt() -> None:
            await anyio.sleep(3.5)
            interrupted.set()

        tasks.start_soon(interrupt)
        agent = make_agent(speaker)
        result = await hold_turn(agent, "What is the weather in Porto?", sp.History(), speaker, interrupted)
    print("The history ends with:", result.history.messages("openai")[-1]["content"])


if __name__ == "__main__":
    anyio.run(main)
