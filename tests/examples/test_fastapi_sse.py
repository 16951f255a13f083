"""A run behind FastAPI ends with its client, at whichever item that goes away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import streamparse as sp

pytest.importorskip("fastapi")

from fastapi_sse import app

pytestmark = pytest.mark.anyio


def _call(index: int, name: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": "{}"}}]}


TURNS: list[list[dict[str, Any]]] = [
    [{"content": "I "}, {"content": "look."}, _call(0, "look"), _call(1, "write"), {"content": "Done."}],
    [{"content": "It is "}, {"content": "there."}],
]


class House:
    """A model and two tools, each of which waits until the client has seen what came before; it knows who is inside."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self.begun: list[str] = []
        self.seen = 0

    async def wait_for_client(self, name: str, seen: int) -> None:
        """Wait until the client has seen so many items."""
        self.inside.append(name)
        self.begun.append(name)
        try:
            while self.seen < seen:
                await anyio.lowlevel.checkpoint()
        finally:
            self.inside.remove(name)

    async def model(self, request: sp.Request) -> AsyncIterator[dict[str, Any]]:
        """Answer in pieces; the next follows once the client has seen the one before."""
        request.read_as("openai-chat")
        return self._answer(request.number)

    async def _answer(self, number: int) -> AsyncIterator[dict[str, Any]]:
        self.inside.append("model")
        try:
            for delta in TURNS[number]:
                before = self.seen
                yield {"choices": [{"index": 0, "delta": delta}]}
                while self.seen == before:
                    await anyio.lowlevel.checkpoint()
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": ["tool_calls", "stop"][number]}]}
        finally:
            self.inside.remove("model")

    def agent(self) -> sp.Agent[str]:
        """The agent of this house."""

        @sp.tool(effect="read")
        async def look() -> str:
            await self.wait_for_client("look", 10)
            return "looked"

        @sp.tool
        async def write() -> str:
            await self.wait_for_client("write", 11)
            return "written"

        return sp.Agent(self.model, [look, write])


async def _ask(house: House, leave_after: int | None = None) -> list[dict[str, Any]]:
    """Ask the application as a server would; its client is gone after so many items."""
    app.state.agent = house.agent()
    body = b'{"prompt": "Go on."}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": "/runs", "raw_path": b"/runs", "query_string": b"", "root_path": "",
        "headers": headers, "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    received, gone, given = list[dict[str, Any]](), anyio.Event(), False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if given:
            await gone.wait()
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if gone.is_set():
            return  # as uvicorn: what is sent to nobody is dropped
        text = message.get("body", b"").decode()
        received.extend(json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: "))
        house.seen = len(received)
        if leave_after is not None and len(received) >= leave_after:
            gone.set()
        await anyio.lowlevel.checkpoint()

    with anyio.fail_after(60):
        await app(scope, receive, send)
    return received


def _count_tasks() -> int:
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:  # no asyncio here
        import trio

        return trio.lowlevel.current_statistics().tasks_living


async def test_a_client_that_stays_gets_all_items() -> None:
    house = House()
    received = await _ask(house)
    kinds = [each["type"] for each in received]
    assert kinds.count("tool_result") == 2
    assert kinds.count("turn_end") == 2
    assert received[-2]["response"]["content"] == "It is there."
    assert (received[-1]["type"], received[-1]["output"]) == ("run_end", "It is there.")
    assert house.begun == ["look", "write"]
    assert house.inside == []


async def test_a_model_that_fails_is_the_last_item_and_the_body_ends() -> None:
    house = House()

    async def fail(request: sp.Request) -> None:
        raise sp.ModelError("503 from the model", status=400)

    house.model = fail  # type: ignore[method-assign, assignment]
    received = await _ask(house)
    assert (received[-1]["type"], received[-1]["stopped_by"]) == ("run_end", "model_failed")
    assert "503 from the model" in received[-1]["failure"]


async def test_a_client_that_goes_away_at_any_item_takes_its_run_with_it() -> None:
    whole = await _ask(House())
    begun = set[tuple[str, ...]]()
    for count in range(len(whole)):
        before = _count_tasks()
        house = House()
        received = await _ask(house, leave_after=count)
        assert [each["type"] for each in received] == [each["type"] for each in whole[:count]]
        assert house.inside == []
        assert _count_tasks() == before
        begun.add(tuple(house.begun))
    assert begun == {(), ("look",), ("look", "write")}
