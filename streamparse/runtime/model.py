"""What answers an agent: any async function from a `Request` to a source of chunks, a model behind HTTP, or a profile.

    async def model(request: sp.Request):
        return await client.messages.create(**request.body("anthropic", "claude-sonnet-4-5"))

A source is whatever `streamparse.aiter_events` takes, a whole body among it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from streamparse.negotiate import NegotiatedFormat
from streamparse.parser.sources import AsyncSource
from streamparse.runtime.http_model import HTTPModel, build_model
from streamparse.runtime.request import Request

Model: TypeAlias = Callable[[Request], Awaitable[AsyncSource]]
"""Any async function that returns a source."""


@asynccontextmanager
async def open_model(model: Model | NegotiatedFormat) -> AsyncIterator[Model]:
    """Give what can be called, for as long as the block: a model behind HTTP that is not entered gets a client for it.

    Raises ValueError for a profile that is no model to ask; TypeError for what is no model.
    """
    check_model(model)
    if isinstance(model, NegotiatedFormat):
        model = build_model(model)
    if isinstance(model, HTTPModel):
        async with model.open() as opened:
            yield opened
    else:
        yield model


def check_model(model: object) -> None:
    """Raise TypeError for what is no model."""
    if not (isinstance(model, NegotiatedFormat) or callable(model)):
        raise TypeError(f"a model is an async function, an HTTPModel or a NegotiatedFormat, not {type(model).__name__}")
