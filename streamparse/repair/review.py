"""Says whether the calls of an answer may be run, what the model reads if not, and the log of all tries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Unpack

import msgspec

from streamparse.dialects import Dialects
from streamparse.errors import CODES
from streamparse.findings import Finding, join_messages
from streamparse.parser.composite import CompositeParser
from streamparse.repair.answers import answer_broken
from streamparse.repair.gate import CallChecks, Gate, Preflight
from streamparse.response import ParsedResponse, ToolIntent
from streamparse.tools import ToolResult

_NOT_RUN = "not run, for another part of the answer was wrong; call it again if it is still wanted"


class Verdict(msgspec.Struct, frozen=True):
    """An answer with its calls as they would be run, and the findings.

    An answer of text alone is fine: whether a call was expected is for the caller to know.

    - `findings`: the faults of the answer apart from its whole calls: broken calls, a turn that failed.
    """

    response: ParsedResponse
    preflights: tuple[Preflight, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the answer's calls may be run."""
        return not self.findings and all(each.ok for each in self.preflights)

    @property
    def message(self) -> str:
        """What to tell the model, "" if nothing is wrong."""
        parts = [each.message for each in self.preflights if not each.ok]
        return "; ".join(parts + ([join_messages(self.findings)] if self.findings else []))

    @property
    def results(self) -> list[ToolResult]:
        """Error results that answer each call, broken ones too, in the next request; empty if all calls may run.

        If one call may not run, no call runs: most providers refuse a request that answers only some of the calls.
        """
        if self.ok:
            return []
        unfit = [
            ToolResult(each.call.id, each.call.name, error=each.message or _NOT_RUN, index=each.call.index)
            for each in self.preflights
        ]
        return sorted([*unfit, *map(answer_broken, self.response.broken_calls)], key=lambda result: result.index)


def judge(tools: Iterable[Any], **checks: Unpack[CallChecks]) -> Callable[[ParsedResponse], Verdict]:
    """Return a function that gives the verdict on an answer to a request with these tools.

    `checks` are those of `preflight`.
    """
    gate = Gate(tools, **checks)

    def look(response: ParsedResponse) -> Verdict:
        preflights = tuple(gate.look(call) for call in response.tool_calls if not call.revoked)
        mended = msgspec.structs.replace(response, tool_calls=[each.call for each in preflights])
        return Verdict(mended, preflights, tuple(_find_faults(response)))

    return look


def _find_faults(response: ParsedResponse) -> Iterable[Finding]:
    for broken in response.broken_calls:
        yield Finding("broken_call", f"the call of {broken.name!r} is broken: {CODES.get(broken.code, broken.code)}")
    for error in response.errors:
        if error.scope == "stream":
            yield Finding(error.code, error.message or error.code)
    if _is_empty(response):
        yield Finding("empty_answer", "the answer is empty")


def _is_empty(response: ParsedResponse) -> bool:
    """Whether an answer holds nothing at all, not even an error.

    With a reason for its end an answer may be empty: Claude ends a turn so if it has nothing to add to a result.
    """
    content = response.content.strip() or response.reasoning.strip() or response.refusal or response.finish_reason
    return not (content or response.tool_calls or response.broken_calls or response.own_items or response.errors)


# -- attempts --------------------------------------------------------------------------------------


class Step(msgspec.Struct, frozen=True):
    """One entry of the log: a try, and the fault after it ("" if there was none).

    - `action`: `answered`, `recovered` (from what the server refused), `asked`, `gave_up`, or the name of a strategy.
    """

    action: str
    message: str = ""
    findings: tuple[Finding, ...] = ()


class Repaired(msgspec.Struct, frozen=True):
    """The last answer, and how it came about.  With `ok` false the answer is text: its calls are intents."""

    response: ParsedResponse
    ok: bool
    log: tuple[Step, ...] = ()


class Reviewer:
    """Looks at answers, and where the server refused what the model wrote (Groq), at that text.

    `demand` is the fault of an answer without calls, None if that is fine.
    """

    def __init__(
        self, tools: list[Any], checks: CallChecks, *, wire: str, dialects: Dialects, demand: Finding | None = None
    ) -> None:
        self._parser = CompositeParser(wire, dialects=dialects, tools=tools)
        self._generated = CompositeParser(tools=tools)
        self._judge = judge(tools, **checks)
        self._demand = demand

    def review(self, answer: Any) -> Iterator[Verdict]:
        """Yield the verdict on an answer; then, if it failed and a refused text has calls, the verdict on that text."""
        verdict = self._look(answer if isinstance(answer, ParsedResponse) else self._parser.parse(answer))
        yield verdict
        if verdict.ok or (generation := find_failed_generation(verdict.response)) is None:
            return
        recovered = self._look(self._generated.parse(generation))
        if recovered.response.tool_calls:
            yield recovered

    def _look(self, response: ParsedResponse) -> Verdict:
        verdict = self._judge(response)
        if self._demand is None or not verdict.ok or verdict.response.tool_calls:
            return verdict
        return msgspec.structs.replace(verdict, findings=(self._demand,))


class AttemptLog:
    """The answers to one request so far."""

    def __init__(self, reviewer: Reviewer) -> None:
        self._reviewer = reviewer
        self._steps: list[Step] = []
        self._last = ParsedResponse()  # that has any content

    def record(self, action: str, answer: Any) -> Verdict:
        """Review the next answer, and return the last verdict on it."""
        first, *more = self._reviewer.review(answer)
        for word, verdict in ((action, first), *(("recovered", each) for each in more)):
            of_calls = (finding for each in verdict.preflights for finding in each.findings)
            self._steps.append(Step(word, verdict.message, (*of_calls, *verdict.findings)))
            if _has_content(verdict.response) or not _has_content(self._last):
                self._last = verdict.response
        return (first, *more)[-1]

    def finish(self, verdict: Verdict) -> Repaired:
        """Return the last answer, if its calls may be run; else, as text, the last that has any content."""
        if verdict.ok:
            return Repaired(verdict.response, True, tuple(self._steps))
        return Repaired(as_text(self._last), False, (*self._steps, Step("gave_up", verdict.message)))


def as_text(response: ParsedResponse) -> ParsedResponse:
    """Return an answer without calls: they become `intents`, and the content if that is empty."""
    wanted = [ToolIntent(call.name, call.raw or json.dumps(call.arguments)) for call in response.tool_calls]
    wanted += [ToolIntent(broken.name, broken.raw) for broken in response.broken_calls]
    content = response.content if response.content.strip() else "\n".join(f"{each.name} {each.text}" for each in wanted)
    return msgspec.structs.replace(
        response, content=content, tool_calls=[], broken_calls=[], intents=[*response.intents, *wanted]
    )


def _has_content(response: ParsedResponse) -> bool:
    return bool(response.content.strip() or response.refusal or response.tool_calls or response.broken_calls)


def find_failed_generation(response: ParsedResponse) -> str | None:
    """What the model wrote before the server refused it (Groq)."""
    texts = (item["data"] for item in response.items if item.get("kind") == "failed_generation")
    return next((text for text in texts if isinstance(text, str)), None)
