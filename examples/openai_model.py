"""The SDK of OpenAI as the model of an agent.

python examples/openai_model.py http://127.0.0.1:8080/v1 NAME "What is the weather in Paris?"
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
from openai import AsyncOpenAI

import streamparse as sp


@sp.tool(effect="read")
async def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"It is sunny in {city}."


async def main(url: str, name: str, task: str) -> None:
    """Ask, and print the answer."""
    async with AsyncOpenAI(base_url=url, max_retries=0) as client:  # it is the agent that tries again

        async def model(request: sp.Request) -> Any:
            return await client.chat.completions.create(**request.body("openai", name))

        result = await sp.Agent(model, [get_weather]).run(task)
        print(result.output)


if __name__ == "__main__":
    _, url, name, task = sys.argv
    anyio.run(main, url, name, task)
