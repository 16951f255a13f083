"""A chat server whose model reads the README with the tools that it is given, and then says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["ModelServer"]

ARGUMENTS = {
    "read_file": {"path": "README.md"},
    "get_weather": {"city": "Paris"},
    "book": {"train": "9:05"},
    "final_answer": {"title": "streamparse", "words": 5100},
}
"""What the model calls the tools with that it knows."""


class ModelServer:
    """An ASGI application, whose first answers may be torn before they say anything."""

    def __init__(self, torn: int = 0) -> None:
        self._torn = torn

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        request = json.loads(body)
        kind = b"text/event-stream" if request.get("stream") else b"application/json"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        if self._torn:
            self._torn -= 1
            await send({"type": "http.response.body", "body": b": a comment\n\n", "more_body": True})
            return  # the server closes the connection
        if request.get("stream"):
            for data in answer(request):
                await send({"type": "http.response.body", "body": b"data: " + data + b"\n\n", "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send({"type": "http.response.body", "body": write_whole(request)})


def write_whole(request: dict[str, Any]) -> bytes:
    """The answer as one body."""
    *frames, finish, _done = (data for data in answer(request))
    deltas = [json.loads(frame)["choices"][0]["delta"] for frame in frames]
    message = {"role": "assistant", "content": "".join(delta.get("content", "") for delta in deltas)}
    if calls := [call for delta in deltas for call in delta.get("tool_calls", ())]:
        message["tool_calls"] = [{"type": "function", **call} for call in calls]
    choice = {"index": 0, "message": message, "finish_reason": json.loads(finish)["choices"][0]["finish_reason"]}
    head = {"id": "answer-0", "object": "chat.completion", "created": 0, "model": request["model"]}
    return json.dumps(head | {"choices": [choice]}).encode()


def answer(request: dict[str, Any]) -> Iterator[bytes]:
    """The frames of an answer."""
    tools = [tool["function"]["name"] for tool in request.get("tools", ())]
    messages = request["messages"]
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    since = messages[last:] if "?" in messages[last]["content"] else messages  # thanks need no tool again
    called = {call["function"]["name"] for message in since for call in message.get("tool_calls", ())}
    wanted = [name for name in ARGUMENTS if name in tools and name not in called][:1]
    deltas: list[dict[str, Any]] = [
        {
            "tool_calls": [
                {"index": 0, "id": "call_0", "function": {"name": name, "arguments": json.dumps(ARGUMENTS[name])}}
            ]
        }
        for name in wanted
    ]
    deltas += [] if wanted else [{"content": "This is what "}, {"content": "the README says."}]
    for delta in deltas:
        yield json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}).encode()
    finish = "tool_calls" if wanted else "stop"
    yield json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}).encode()
    yield b"[DONE]"
