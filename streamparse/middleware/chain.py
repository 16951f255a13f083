"""The chain: requests pass its steps in order, answers in the opposite order.

    chain = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer("anthropic"), TranslateTools("anthropic"))
    response = await chain.wrap(send)(request)

The client follows the last step, whatever it is: here tools are normalised and translated on the way out, the
answer is parsed and its calls are validated on the way back.  A request is a dict; an answer is whatever the client
returns, until `ParseAnswer` has made a `ParsedResponse` of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from itertools import chain
from typing import Any, Protocol


class Middleware(Protocol):
    """One step.  Each method returns what goes on from here; neither changes what it is given.

    A step may inherit from this: what it does not define lets requests, or answers, pass.
    """

    def process_request(self, request: dict[str, Any], /) -> dict[str, Any]:
        """Take a request on its way to the client."""
        return request

    def process_response(self, response: Any, request: Mapping[str, Any], /) -> Any:  # noqa: ARG002 - for others
        """Take the answer to a request; `request` is as this step was given it on the way out."""
        return response


class MiddlewareChain:
    """Several steps as one, around any client.  A step that raises ends the chain: nothing is swallowed.

    A chain keeps nothing from one request to the next, so one may serve many at a time.  A chain that is a step of
    another counts as its own steps.
    """

    def __init__(self, *steps: Middleware) -> None:
        inner = (step._steps if type(step) is MiddlewareChain else (step,) for step in steps)  # a subclass may do more
        self._steps: tuple[Middleware, ...] = tuple(chain.from_iterable(inner))

    def process_request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Pass a request through every step; return the request to send."""
        return self._pass_outward(request)[-1]

    def process_response(self, response: Any, request: Mapping[str, Any]) -> Any:
        """Pass the answer to a request back through every step; `request` is as it was before the chain."""
        return self._pass_inward(response, self._pass_outward(request))

    def wrap(self, send: Callable[[dict[str, Any]], Awaitable[Any]]) -> Callable[[Mapping[str, Any]], Awaitable[Any]]:
        """Return `send` with the chain around it."""

        async def send_through(request: Mapping[str, Any]) -> Any:
            requests = self._pass_outward(request)
            return self._pass_inward(await send(requests[-1]), requests)

        return send_through

    def wrap_sync(self, send: Callable[[dict[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
        """Return a plain `send` with the chain around it."""

        def send_through(request: Mapping[str, Any]) -> Any:
            requests = self._pass_outward(request)
            return self._pass_inward(send(requests[-1]), requests)

        return send_through

    def _pass_outward(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The request before the first step, and after each."""
        requests = [dict(request)]
        for step in self._steps:
            requests.append(step.process_request(requests[-1]))
        return requests

    def _pass_inward(self, response: Any, requests: list[dict[str, Any]]) -> Any:
        for step, request in zip(reversed(self._steps), reversed(requests[:-1]), strict=True):
            response = step.process_response(response, request)
        return response
