"""Mends an answer whose calls cannot be run: asks again, or tries other ways; if that fails the answer is text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeAlias, Unpack

import msgspec

from streamparse.dialects import Dialects
from streamparse.findings import Finding
from streamparse.providers.adapters import adapter_for, add_user_message
from streamparse.repair.gate import CallChecks
from streamparse.repair.refusals import read_refusal
from streamparse.repair.review import AttemptLog, Repaired, Reviewer, Verdict
from streamparse.response import ParsedResponse
from streamparse.tools import ToolResult, Toolset


class Complaint(msgspec.Struct, frozen=True):
    """What to tell the model in the next request: `message` in one line, `results` as the answers to its calls.

    `attempt` counts from 1; `response` is the answer that cannot be used.
    """

    attempt: int
    message: str
    results: list[ToolResult]
    response: ParsedResponse


Ask: TypeAlias = Callable[[Complaint], Awaitable[Any]]
"""Sends the complaint to the model; returns its answer: a body in any form, or a `ParsedResponse`.

Where a client raises for what a server refuses, the answer is the body of its exception (`error.body` in most SDKs).
"""


class RepairLoop:
    """Takes an answer; if its calls cannot be run, recovers what the server refused, then asks the model again.

    `ask` is called at most `max_attempts` times; what it raises passes through.  `wire` and `dialects` say how answers
    are read; `checks` are those of `preflight`.  Raises ValueError if `max_attempts` is negative.
    """

    def __init__(
        self,
        ask: Ask,
        tools: Iterable[Any],
        *,
        max_attempts: int = 2,
        wire: str = "auto",
        dialects: Dialects = "auto",
        **checks: Unpack[CallChecks],
    ) -> None:
        if max_attempts < 0:
            raise ValueError(f"`max_attempts` is a count, not {max_attempts!r}")
        self._ask = ask
        self._attempts = range(1, max_attempts + 1)
        self._reviewer = Reviewer([*tools], checks, wire=wire, dialects=dialects)

    async def run(self, answer: Any) -> Repaired:
        """Return an answer whose calls may all be run, or, if the model does not give one, the last one as text."""
        log = AttemptLog(self._reviewer)
        verdict = log.record("answered", answer)
        for attempt in self._attempts:
            if verdict.ok:
                break
            complaint = Complaint(attempt, verdict.message, verdict.results, verdict.response)
            verdict = log.record("asked", await self._ask(complaint))
        return log.finish(verdict)


# -- other ways ------------------------------------------------------------------------------------

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]
"""Sends a request; returns the answer: a body in any form, or a `ParsedResponse`; or raises as a client does."""

_SHOWN: Final = 10  # bound: the names of tools in the message


class Strategy(Protocol):
    """One other way to ask."""

    @property
    def name(self) -> str:
        """Its name in the log."""

    def request(self, request: Mapping[str, Any], verdict: Verdict, /) -> dict[str, Any] | None:
        """Return the request to try instead, made of the first one and the faults of the last answer.

        None if this way is not possible here.
        """


class Retry:
    """The same request once more, with one more message of the user that names the faults.

    It is written for `provider`, one of `ADAPTERS`; without that the request's shape says where it belongs: in its
    `messages` (also Bedrock's), `contents`, `input` or `prompt`.  Raises ValueError for an unknown provider.
    """

    name = "retry"

    def __init__(self, provider: str | None = None) -> None:
        self._provider = provider if provider is None else adapter_for(provider).name

    def request(self, request: Mapping[str, Any], verdict: Verdict, /) -> dict[str, Any]:
        """Append the faults to the messages; raises ValueError if the request holds no messages."""
        return add_user_message(request, verdict.message, self._provider)


class SwitchMode:
    """The same request with other fields (`response_format`, `tool_choice`, …); None removes a field."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        self._fields = fields

    def request(self, request: Mapping[str, Any], _verdict: Verdict, /) -> dict[str, Any]:
        """Replace the fields of the same names."""
        return {key: value for key, value in {**request, **self._fields}.items() if value is not None}


class SwitchModel:
    """The same request to another model."""

    def __init__(self, model: str) -> None:
        self.name: str = f"model {model}"
        self._model = model

    def request(self, request: Mapping[str, Any], _verdict: Verdict, /) -> dict[str, Any] | None:
        """Name the other model; None if it is the one that was asked."""
        field = "modelId" if "modelId" in request else "model"  # Bedrock's word
        return None if request.get(field) == self._model else {**request, field: self._model}


class FallbackChain:
    """Sends a request, then the request of each strategy, until an answer's calls may be run; else returns text.

    What the server refused and can be recovered counts as an answer.  With `required` an answer without any call cannot
    be used.  An exception of an SDK or an HTTP client that carries a status of 400 or more counts as the answer of the
    server (`refusals`); if every request was refused so, the last exception passes through.  Anything else that `send`
    raises passes through at once: no server answered.
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
        **checks: Unpack[CallChecks],
    ) -> None:
        declared = [*tools]
        self._send = send
        self._strategies = tuple(strategies)
        names = ", ".join(sorted(Toolset.of(declared).names)[:_SHOWN])
        demand = Finding("no_call", f"a tool must be called, and the answer calls none; known are: {names}")
        self._reviewer = Reviewer(declared, checks, wire=wire, dialects=dialects, demand=demand if required else None)

    async def run(self, request: Mapping[str, Any]) -> Repaired:
        """Return the first answer that can be used, or the last one as text, with the log of all tries."""
        log = AttemptLog(self._reviewer)
        answer, refused = await self._answer(dict(request))
        verdict = log.record("answered", answer)
        answered = refused is None
        for strategy in self._strategies:
            if verdict.ok:
                break
            other = strategy.request(request, verdict)
            if other is not None:
                answer, refused = await self._answer(other)
                verdict = log.record(strategy.name, answer)
                answered = answered or refused is None
        if refused is not None and not (answered or verdict.ok):
            raise refused
        return log.finish(verdict)

    async def _answer(self, request: dict[str, Any]) -> tuple[Any, Exception | None]:
        """The answer, and the exception that it came with, if any."""
        try:
            return await self._send(request), None
        except Exception as error:  # of a client
            if (answer := read_refusal(error)) is not None:
                return answer, error
            raise
