"""The chain: requests pass its steps in order, answers in the opposite one.

    chain = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer("anthropic"), TranslateTools("anthropic"))
    response = await chain.around(send)(request)

Behind the last step stands the client, whatever it is: here tools are normalised and translated on the way out, the
answer parsed and its calls validated on the way back.  A request is a dict; an answer is whatever the client returns,
until `ParseAnswer` has made a `ParsedResponse` of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from itertools import chain
from typing import Any, Protocol

__all__ = ["Middleware", "MiddlewareChain"]


class Middleware(Protocol):
    """One step.  Each method returns what goes on from here; neither changes what it is given."""

    def process_request(self, request: dict[str, Any], /) -> dict[str, Any]:
        """Take a request on its way to the client."""

    def process_response(self, response: Any, request: Mapping[str, Any], /) -> Any:
        """Take the answer to a request; `request` is as this step was given it on the way out."""


class MiddlewareChain:
    """Several steps as one, around any client.  A step that raises ends the chain: nothing is swallowed.

    A chain keeps nothing from one request to the next, so that one may serve many at a time.  One that is a step of
    another stands for its own steps.
    """

    def __init__(self, *steps: Middleware) -> None:
        inner = (step._steps if type(step) is MiddlewareChain else (step,) for step in steps)  # a subclass may do more
        self._steps: tuple[Middleware, ...] = tuple(chain.from_iterable(inner))

    def process_request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Pass a request through every step; return what is to be sent."""
        return self._outward(request)[-1]

    def process_response(self, response: Any, request: Mapping[str, Any]) -> Any:
        """Pass the answer to a request back through every step; `request` is as it was before the chain."""
        return self._inward(response, self._outward(request))

    def around(self, send: Callable[[dict[str, Any]], Awaitable[Any]]) -> Callable[[Mapping[str, Any]], Awaitable[Any]]:
        """Return `send` with the chain around it."""

        async def sent(request: Mapping[str, Any]) -> Any:
            requests = self._outward(request)
            return self._inward(await send(requests[-1]), requests)

        return sent

    def around_sync(self, send: Callable[[dict[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
        """Return a plain `send` with the chain around it."""

        def sent(request: Mapping[str, Any]) -> Any:
            requests = self._outward(request)
            return self._inward(send(requests[-1]), requests)

        return sent

    def _outward(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The request before the first step, and after each."""
        requests = [dict(request)]
        for step in self._steps:
            requests.append(step.process_request(requests[-1]))
        return requests

    def _inward(self, response: Any, requests: list[dict[str, Any]]) -> Any:
        for step, request in zip(reversed(self._steps), reversed(requests[:-1]), strict=True):
            response = step.process_response(response, request)
        return response
