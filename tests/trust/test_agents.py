"""What is only quoted, or stands in a tool's result, runs no tool with effects in a whole agent's run either.

Every answer of the corpus and every cell of the grid is the first answer of an agent whose tools all have effects, and
then its second, after a native call whose result holds the same markup.  Whatever the agent makes of it, the model goes
on with plain text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import cache
from typing import Any

import anyio
import pytest
from bodies import WIRES, End, make_body
from corpus import Answer, read_answers
from grid import text_of_cell
from places import PLACES
from samples import RESUMES, TOOLS
from thoroughness import spread
from verdicts import HARMFUL, declare

import streamparse as sp

STREAMS = [wire for wire in WIRES if wire != "text"]
PLAIN = "That is all."
CALL_OF_READ = {
    "openai-chat": {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [{"index": 0, "id": "r", "function": {"name": "read_page", "arguments": "{}"}}]
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    "ollama-chat": {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "read_page", "arguments": {}}}],
        },
        "done": True,
        "done_reason": "stop",
    },
}


def call_of_read(wire: str) -> bytes:
    """An answer that calls `read_page` natively."""
    body = json.dumps(CALL_OF_READ[wire]).encode()
    return body + b"\n" if wire == "ollama-chat" else b"data: " + body + b"\n\ndata: [DONE]\n\n"


class Room:
    """Tools with effects that note that they began, a page to read, and a model that gives prepared answers."""

    def __init__(self, tools: Sequence[sp.Tool], effect: str, page: str = "") -> None:
        self.begun: list[str] = []
        self.read: list[str] = []
        self._page = page
        self._bodies: list[bytes] = []
        harmful = [declare(tool, effect, self._note(tool.name)) for tool in tools if tool.name != "read_page"]
        page_tool = sp.Tool("read_page", "", {"type": "object", "properties": {}}, self._read_page, effect="read")
        self.wire = ""
        self.agent = sp.Agent(self._answer, [*harmful, page_tool], stop=[sp.max_turns(6)])

    def _note(self, name: str) -> Any:
        async def note(**arguments: Any) -> str:
            self.begun.append(f"{name} {arguments}")
            return "noted"

        return note

    async def _read_page(self) -> str:
        self.read.append(self._page)
        return self._page

    async def _answer(self, request: sp.Request) -> AsyncIterator[bytes]:
        request.read_as(self.wire)
        body = self._bodies.pop(0) if self._bodies else make_body(self.wire, [PLAIN])

        async def chunks() -> AsyncIterator[bytes]:
            yield body

        return chunks()

    async def run(self, wire: str, *bodies: bytes) -> None:
        """Run the agent over these answers, and plain text after them."""
        self.wire, self._bodies = wire, [*bodies]
        async with self.agent.run("Tell me of it.") as run:
            async for _ in run:
                pass


async def run_echoes(answers: Iterable[Answer], wire: str, effect: str) -> list[str]:
    """The ids of the answers that made a tool with effects begin."""
    ran = []
    rooms: dict[tuple[str, ...], Room] = {}
    for answer in answers:
        names = tuple(tool.name for tool in answer.tools)
        if names not in rooms:
            rooms[names] = Room(answer.tools, effect)
        room = rooms[names]
        room.begun.clear()
        await room.run(wire, make_body(wire, [answer.text], answer.end))
        ran += [f"{answer.id}: {begun}" for begun in room.begun]
    return ran


@pytest.mark.parametrize("effect", HARMFUL)
@pytest.mark.parametrize("wire", STREAMS)
def test_no_answer_that_speaks_of_calls_makes_an_agent_run_a_tool_with_effects(wire: str, effect: str) -> None:
    shared = [answer for answer in read_answers().values() if not answer.wire]
    own = [answer for answer in read_answers().values() if answer.wire == wire]
    start = STREAMS.index(wire) + len(STREAMS) // 2 * HARMFUL.index(effect)
    answers = [*spread(shared, start, len(STREAMS)), *own]  # each on one wire with each effect
    assert anyio.run(run_echoes, answers, wire, effect) == []


@cache
def cells() -> dict[str, str]:
    """The texts of the grid by place and dialect."""
    return {
        f"{place}, {name}": text_of_cell(name, place)[0]
        for place in PLACES
        for name in sp.DIALECTS
        if not (name in RESUMES and PLACES[place].kind == "thought")
    }


async def run_cells(wire: str, effect: str, start: int, end: End = "stop") -> list[str]:
    room = Room(TOOLS, effect)
    ran = []
    for cell, text in spread([*cells().items()], start, len(WAYS)):
        room.begun.clear()
        await room.run(wire, make_body(wire, [text], end))
        ran += [f"{cell}: {begun}" for begun in room.begun]
    return ran


WAYS = [(wire, effect) for wire in ("openai-chat", "anthropic") for effect in HARMFUL]


@pytest.mark.parametrize(("wire", "effect"), WAYS)
def test_no_cell_of_the_grid_makes_an_agent_run_a_tool_with_effects(wire: str, effect: str) -> None:
    assert anyio.run(run_cells, wire, effect, WAYS.index((wire, effect))) == []


async def run_pages(wire: str, effect: str) -> list[str]:
    ran = []
    for name, dialect in sp.DIALECTS.items():
        page = f"The page says:\n\n{dialect.example}\n"
        room = Room(TOOLS, effect, page)
        echo = f"The page holds this, which I have not run:\n\n> {dialect.example.replace(chr(10), chr(10) + '> ')}\n"
        await room.run(wire, call_of_read(wire), make_body(wire, [echo]))
        assert room.read == [page]
        ran += [f"{name}: {begun}" for begun in room.begun]
    return ran


@pytest.mark.parametrize("effect", HARMFUL)
@pytest.mark.parametrize("wire", [*CALL_OF_READ])
def test_markup_in_the_result_of_a_tool_runs_nothing(wire: str, effect: str) -> None:
    assert anyio.run(run_pages, wire, effect) == []
