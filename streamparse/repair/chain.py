"""Tries other ways when an answer cannot be used: another output mode, another model, at last text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from streamparse.dialects import Dialects
from streamparse.providers.adapters import adapter_for
from streamparse.repair.findings import Finding
from streamparse.repair.guards import Guard
from streamparse.repair.looking import Attempts, Look, Repaired
from streamparse.repair.messages import with_message
from streamparse.repair.refusals import refusal_in
from streamparse.repair.verdict import Verdict
from streamparse.tools import Toolset

__all__ = ["AnotherMode", "AnotherModel", "FallbackChain", "Retry", "Send", "Strategy"]

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]
"""Sends a request; returns the answer: a body in any form, or a `ParsedResponse`; or raises as a client does."""

_SHOWN: Final = 10
"""Names of tools that a model is reminded of."""


class Strategy(Protocol):
    """One other way to ask."""

    @property
    def name(self) -> str:
        """What the log calls it."""

    def request(self, request: Mapping[str, Any], verdict: Verdict, /) -> dict[str, Any] | None:
        """Return the request to try instead, made of the first one and of what was wrong with the last answer.

        None says that this way is not open here.
        """


class Retry:
    """The same request once more; what was wrong is told in a further user message.

    It is written for `provider`, one of `ADAPTERS`; without that the request's shape tells where it belongs: in its
    `messages` (also Bedrock's), `contents`, `input` or `prompt`.  Raises ValueError for an unknown provider.
    """

    name = "retry"

    def __init__(self, provider: str | None = None) -> None:
        self._provider = provider if provider is None else adapter_for(provider).name

    def request(self, request: Mapping[str, Any], verdict: Verdict, /) -> dict[str, Any]:
        """Append what was wrong to the messages; raises ValueError if the request holds none."""
        return with_message(request, verdict.message, self._provider)


class AnotherMode:
    """The same request with other fields (`response_format`, `tool_choice`, …); None takes a field out."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        self._fields = fields

    def request(self, request: Mapping[str, Any], _verdict: Verdict, /) -> dict[str, Any]:
        """Put the fields in the place of those of the same name."""
        return {key: value for key, value in {**request, **self._fields}.items() if value is not None}


class AnotherModel:
    """The same request to another model."""

    def __init__(self, model: str) -> None:
        self.name = f"model {model}"
        self._model = model

    def request(self, request: Mapping[str, Any], _verdict: Verdict, /) -> dict[str, Any] | None:
        """Name the other model; None if it is the one that was asked."""
        field = "modelId" if "modelId" in request else "model"  # Bedrock's word
        return None if request.get(field) == self._model else {**request, field: self._model}


class FallbackChain:
    """Sends a request, then what each strategy makes of it, until an answer's calls may be run; else gives text.

    What the server refused and can be recovered counts as an answer.  `required` says that one without any call is no
    answer.  An exception of an SDK or an HTTP client that carries a status of 400 or more counts as the answer of the
    server (`refusals`); where every request was refused so, the last one passes through.  What else `send` raises
    passes through at once: nobody answered.
    """

    def __init__(
        self,
        send: Send,
        strategies: Iterable[Strategy],
        tools: Iterable[Any],
        *,
        required: bool = False,
        wire: str = "auto",
        dialects: Dialects = "auto",
        tier: int = 0,
        sanitise: bool = False,
        guards: Iterable[Guard] = (),
    ) -> None:
        declared = [*tools]
        self._send = send
        self._strategies = tuple(strategies)
        demand = _no_call(Toolset.of(declared)) if required else None
        self._look = Look(
            declared, wire=wire, dialects=dialects, tier=tier, sanitise=sanitise, guards=guards, demand=demand
        )

    async def run(self, request: Mapping[str, Any]) -> Repaired:
        """Return the first answer that can be used, or the last one as text, with the log of what was tried."""
        attempts = Attempts(self._look)
        answer, refused = await self._answer(dict(request))
        verdict = attempts.take("answered", answer)
        answered = refused is None
        for strategy in self._strategies:
            if verdict.ok:
                break
            other = strategy.request(request, verdict)
            if other is not None:
                answer, refused = await self._answer(other)
                verdict = attempts.take(strategy.name, answer)
                answered = answered or refused is None
        if refused is not None and not (answered or verdict.ok):
            raise refused
        return attempts.outcome(verdict)

    async def _answer(self, request: dict[str, Any]) -> tuple[Any, Exception | None]:
        """What came back, and the exception that said it, if one did."""
        try:
            return await self._send(request), None
        except Exception as error:  # of a client
            if (answer := refusal_in(error)) is not None:
                return answer, error
            raise


def _no_call(tools: Toolset) -> Finding:
    names = ", ".join(sorted(tools.names)[:_SHOWN])
    return Finding("no_call", f"a tool must be called, and the answer calls none; known are: {names}")
