"""An agent behind FastAPI: a run is streamed as server-sent events, one for each item, the last of them `run_end`.

    python examples/fastapi_sse.py --url http://127.0.0.1:8080/v1/chat/completions --model NAME
    curl -N -H 'content-type: application/json' -d '{"prompt": "Is it sunny in Paris?"}' http://127.0.0.1:8000/runs

A client that goes away cancels its run, and the run's tools with it.  For that the run is a dependency, which FastAPI
leaves in the task of the request (since 0.118 after the answer is sent).  A run that is entered in an async generator
of the answer would be left in whatever task the garbage collector closes the generator in.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

import streamparse as sp

__all__ = ["app", "main"]

app = FastAPI()
log = logging.getLogger(__name__)


class Question(BaseModel):
    """What a client sends."""

    prompt: str


async def start_run(question: Question, request: Request) -> AsyncIterator[sp.AgentRun[Any]]:
    """Begin a run; leave it when the answer is sent, or its client is gone."""
    async with request.app.state.agent.run(question.prompt) as run:
        yield run


@app.post("/runs")
async def stream_run(run: Annotated[sp.AgentRun[Any], Depends(start_run)]) -> StreamingResponse:
    """Send each item of the run."""
    return StreamingResponse(
        ServerSentEvents(run), headers={"cache-control": "no-cache"}, media_type="text/event-stream"
    )


class ServerSentEvents(AsyncIterator[bytes]):
    """The items of a run as they are sent."""

    def __init__(self, run: sp.AgentRun[Any]) -> None:
        self._run = run

    async def __anext__(self) -> bytes:
        try:
            item = await anext(self._run)
        except StopAsyncIteration:
            raise
        except Exception as error:  # of the model: `run_end` has said so to the page, and the body ends as it should
            log.warning("the model failed: %s", error)
            raise StopAsyncIteration from error
        return b"data: " + msgspec.json.encode(item) + b"\n\n"


@sp.tool(effect="read")
async def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"It is sunny in {city}."


def main() -> None:
    """Serve on port 8000."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="where requests go: http://127.0.0.1:8080/v1/chat/completions")
    parser.add_argument("--model", required=True, help="the model's name")
    given = parser.parse_args()
    app.state.agent = sp.Agent(sp.http_model(given.url, "openai-chat", given.model), [get_weather])
    uvicorn.run(app)


if __name__ == "__main__":
    main()
