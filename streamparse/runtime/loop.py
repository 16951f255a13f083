"""Decides what an agent does between its turns: ask, wait, ask another model, end.

A pure machine, as `streamparse.runtime.turn` is one level below: facts in, commands out; no tasks, no clock, no I/O.
The shell that obeys it on an event loop is `streamparse.runtime.agent`.

| an answer | then |
|---|---|
| has calls | the next request, with their results |
| is paused, for its server goes on once it has it back | the next request, with nothing new |
| has text alone | the run ends with it; with an `output_type` the model is asked for its call |
| has text that ends like a call, and is none | once, the model is asked whether it meant to call |
| calls a tool that ends the run, and it succeeds | the run ends with its value, once all calls are answered |
| is broken by the model (no call where one was announced, nothing at all) | it is asked again, at most twice in a row |
| says that its server takes no tools | the same question, with the tools in the prompt; so for the rest of the run |
| is broken by its server or the connection, and no tool has begun (but the output's) | forgotten, and asked for again |
| is broken by them after a tool has begun | kept, and the next request follows |
| holds a call that failed for good (`"fatal"`), or that nobody was there to approve | the run ends, if it is kept |
| has calls that were decided on since | once they have run, as if they had been approved at once |
| is whole, and the connection breaks after its end | as if it had not |
| ends by length, without calls | the run ends with what there is |
| is filtered or a refusal | the run ends |

A request that fails is repeated at most twice where that may help (`runtime.model`), then sent to the next model, which
stays for the rest of the run.  The model never reads of a failure of the connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

import msgspec

from streamparse.finish_reasons import is_paused
from streamparse.negotiate import says_no_tools
from streamparse.response import ParsedResponse
from streamparse.runtime.history import History
from streamparse.runtime.loop_facts import (
    AnswerEnded,
    Command,
    Decided,
    Fact,
    Finish,
    Interrupted,
    RequestFailed,
    Resumed,
    Send,
    Spent,
    Started,
    TakeUp,
    Wait,
    Waited,
)
from streamparse.runtime.model_failures import ModelFailure, find_model_delay
from streamparse.runtime.rounds import Round
from streamparse.runtime.stops import MaxStop, RunState, StopCondition
from streamparse.tools import ToolResult
from streamparse.usage import TokenCounts

__all__ = [
    "AnswerEnded", "Command", "Decided", "Fact", "Finish", "Interrupted", "Loop", "RequestFailed", "Resumed", "Send",
    "Spent", "Started", "TakeUp", "Wait", "Waited",
]  # fmt: skip

MAX_COMPLAINTS: Final = 2  # bound: how often in a row a model reads that its answer is of no use
ANSWER_NOW: Final = "You have got the same result again and again. Call no tool any more: answer with what you know."
ASK_AGAIN: Final = (
    "The end of your answer looks like a call of a tool, but it is text, and nothing was run. "
    "If you meant to call a tool, call it. If not, repeat your answer."
)

# Codes of what a server or a connection did; another request may go well
SERVER_FAULTS: Final = frozenset(
    ("transport_error", "stream_truncated", "provider_error", "empty_body", "not_a_stream", "frame_checksum")
)
# Codes of what another request would run into again, and the model cannot help
OUR_FAULTS: Final = frozenset(("wrong_wire", "limit_line", "limit_event", "limit_pending", "limit_total"))


class Loop:
    """The turns of one run.

        command = loop.take(Started(history, at))

    `models` is how many there are to ask; `complaints` says of each how often in a row it may read that its answer is
    of no use, if not `MAX_COMPLAINTS` times.  `ending` are the names of the tools that end the run; the arguments of
    `output_tool`, if there is one, are the output, and text alone does not count as one.  With `ask_again` a model
    whose text ends like a call, and is none, is asked once whether it meant to call.

    To be read only: `history` is the conversation so far, with what the run was given; `tokens` are what all answers
    have cost, as the provider counted it; `finish` is how the run ended, None while it goes on; `failure` is what was
    wrong with the latest request, or with the connection of its answer; `was_discarded` says that the latest answer is
    not in the history, because it is asked for again.
    """

    def __init__(
        self,
        *,
        models: int = 1,
        stops: Sequence[StopCondition] = (),
        ending: frozenset[str] = frozenset(),
        output_tool: str | None = None,
        ask_again: bool = True,
        run_id: str = "run",
        complaints: Sequence[int] = (),
    ) -> None:
        self.history: History = History()
        self.tokens: TokenCounts = TokenCounts()
        self.finish: Finish | None = None
        self.failure: ModelFailure | None = None
        self.was_discarded: bool = False
        self._models = models
        self._stops = tuple(stops)
        self._ending = ending
        self._output_tool = output_tool
        self._ask_again = ask_again
        self._was_asked_again = False  # since the latest call
        self._may_complain = complaints or (MAX_COMPLAINTS,) * models
        self._last_reason: str | None = None  # of the stop that asks for one more answer, without calls
        self._tools_in_prompt = False
        self.run_id = run_id
        self._started = 0.0  # later by what was waited for approvals: that counts for no limit
        self._now = 0.0
        self._number = -1  # of the latest request
        self._model = 0
        self._failures = 0  # of this model, one after the other
        self._complaints = 0  # one after the other
        self._is_answering = False
        self._interrupted: Interrupted | None = None
        self._given = 0  # entries of the history from before this run

    def take(self, fact: Fact) -> Command | None:
        """Take in a fact; return the command that follows, or None while something else is awaited."""
        self._now = max(self._now, fact.at)
        command: Command | None
        if isinstance(fact, (AnswerEnded, Resumed)):
            self._started += fact.waited
        match fact:
            case Started():
                self._started, self.history, self._given = fact.at, fact.history, len(fact.history.entries)
                command = self._end_interrupted() or (self._take_up() if fact.decides else None) or self._ask()
            case Decided():
                self.finish = None
                command = self._take_up()
            case Resumed():
                command = self._go_on_after(fact)
            case AnswerEnded():
                self._is_answering = False
                command = self._read_answer(fact)
            case RequestFailed():
                self._is_answering = False
                if self._interrupted is not None:
                    self._mark_heard(self._interrupted.heard or None)
                command = self._end_interrupted() or self._ask_after_failure(fact.failure)
            case Spent():
                self.tokens += fact.tokens
                command = None
            case Waited():
                command = self._ask()
            case Interrupted():
                command = self._interrupt(fact)
        return command

    @property
    def deadline(self) -> float | None:
        """When the time of the whole run is over, on the clock of the facts; None if it may take for ever."""
        seconds = [stop.most for stop in self._stops if isinstance(stop, MaxStop) and stop.name == "max_seconds"]
        return self._started + min(seconds) if seconds else None

    @property
    def refused(self) -> dict[str, int]:
        """How many calls of this run did not run, by the code of their result."""
        results = (result for entry in self._rounds for result in entry.results)
        return dict(Counter(each.failure.code for each in results if each.failure is not None and not each.attempts))

    @property
    def _rounds(self) -> tuple[Round, ...]:
        """The rounds of this run."""
        return tuple(entry for entry in self.history.entries[self._given :] if isinstance(entry, Round))

    @property
    def is_interrupted(self) -> bool:
        """Whether the run was cancelled."""
        return self._interrupted is not None

    @property
    def state(self) -> RunState:
        """What a stop, and what else a user gives as a function, may look at."""
        rounds = self._rounds
        seconds = self._now - self._started
        return RunState(turns=len(rounds), seconds=seconds, tokens=self.tokens, history=self.history, rounds=rounds)

    # -- an answer -------------------------------------------------------------------------------------

    def _read_answer(self, answer: AnswerEnded) -> Command:
        response, results = answer.response, answer.results
        self.tokens += response.tokens
        failure = None if response.ok else answer.failure or _find_server_fault(response)
        self.failure = failure or answer.failure  # what broke after a good end costs no answer
        has_begun = any(result.attempts for result in results if result.tool_name != self._output_tool)
        is_late = self.deadline is not None and self._now >= self.deadline
        is_over = self._interrupted is not None or is_late
        self.was_discarded = failure is not None and not has_begun and not is_over
        if not self.was_discarded:
            self._keep(answer)
        if (ended := self._end_interrupted()) is not None:
            return ended
        if any(result.failure is not None and result.failure.kind == "fatal" for result in results):
            return self._end(Finish("fatal"))
        if answer.waiting and not self.was_discarded:
            return self._end(Finish("approval"))
        if failure is not None:
            return self._ask_after_failure(failure)
        self._failures = 0
        output = self._find_output(results)
        if output is not None or self._last_reason is None:
            return output or self._go_on(response, results)
        return self._end(Finish(self._last_reason, response.content or None, has_output=bool(response.content)))

    def _take_up(self) -> Command | None:
        """Begin with the calls that waited for an approval."""
        if not self.history.waiting:
            return None
        self._is_answering = True
        return TakeUp(self.history.waiting)

    def _go_on_after(self, resumed: Resumed) -> Command:
        self._is_answering = False
        self.history = self.history.with_results(resumed.results, resumed.waiting)
        self.finish = None
        if (ended := self._end_interrupted()) is not None:
            return ended
        if any(result.failure is not None and result.failure.kind == "fatal" for result in resumed.results):
            return self._end(Finish("fatal"))
        if resumed.waiting:
            return self._end(Finish("approval"))
        last = self.history.rounds[-1]
        return self._find_output(last.results) or self._go_on(last.response, last.results)

    def _keep(self, answer: AnswerEnded) -> None:
        heard = self._interrupted.heard if self._interrupted is not None else None
        if not _has_text(answer.response) and self._mark_heard(heard or None):
            heard = None  # of this answer nothing can have been heard; "" is said of it, and not of the one before
        self.history = self.history.with_round(
            answer.response, answer.results, provider=answer.provider, model=answer.model, heard=heard,
            waiting=answer.waiting,
        )  # fmt: skip

    def _find_output(self, results: Sequence[ToolResult]) -> Finish | None:
        """Find the value of the first call that ends the run, in call order."""
        for result in results:
            if result.success and not result.revoked:
                if result.tool_name == self._output_tool:
                    return self._end(Finish(output=result.arguments, has_output=True, is_structured=True))
                if result.tool_name in self._ending:
                    return self._end(Finish(output=result.result, has_output=True))
        return None

    def _go_on(self, response: ParsedResponse, results: Sequence[ToolResult]) -> Command:
        has_answers = any(not result.revoked for result in results)
        says = bool(response.content or response.own_items)
        if says and response.ok and not has_answers and is_paused(response.finish_reason):
            return self._ask()
        fault = _describe_fault(response, has_answers=has_answers)
        if fault is None and not has_answers:
            if response.refusal or response.stop == "filter":
                return self._end(Finish("refusal" if response.refusal else "filter"))
            if self._output_tool is None:
                return self._take_text(response)
            fault = f"text is no answer here: call the tool {self._output_tool!r}"
        if fault is None:
            self._complaints = 0
            self._was_asked_again = False
            return self._ask()
        self._complaints += 1
        if self._complaints > self._may_complain[self._model]:
            return self._end(Finish("broken_answers"))
        if not has_answers:  # else the results say it
            self.history = self.history.with_prompt(f"Your answer could not be used: {fault}.")
        return self._ask()

    def _take_text(self, response: ParsedResponse) -> Command:
        """End the run with a text; or ask once about one that may have been meant to end in a call."""
        may_be_call = response.stop == "end" and any(intent.is_call for intent in response.intents)
        if may_be_call and self._ask_again and not self._was_asked_again and self._find_stop() is None:
            self._was_asked_again = True
            self.history = self.history.with_prompt(ASK_AGAIN)
            return self._ask()
        stopped_by = "length" if response.stop == "length" else None
        return self._end(Finish(stopped_by, self._join_text(), has_output=True))

    def _join_text(self) -> str:
        """Return what the latest answer says, with what its server had sent of it before pauses."""
        latest, *earlier = reversed(self._rounds)
        paused = takewhile(lambda each: not each.results and is_paused(each.response.finish_reason), earlier)
        return "".join(each.response.content for each in reversed([latest, *paused]))

    # -- a request -------------------------------------------------------------------------------------

    def _ask(self) -> Command:
        reason = self._find_stop()
        if reason is not None:
            return self._end(Finish(reason))
        if self._last_reason is None:
            self._last_reason = next(self._find_reasons(wants_answer=True), None)
            if self._last_reason is not None:
                self.history = self.history.with_prompt(ANSWER_NOW)
        self._number += 1
        self._is_answering = True
        is_last = self._last_reason is not None
        return Send(self._model, self.history, self._number, is_last, self._tools_in_prompt)

    def _ask_after_failure(self, failure: ModelFailure) -> Command:
        self.failure = failure
        if (reason := self._find_stop()) is not None:
            return self._end(Finish(reason))
        if failure.is_ours:  # it is no answer that failed, and may happen any number of times
            return self._ask()
        if failure.refuses_tools and not self._tools_in_prompt:
            self._tools_in_prompt = True
            return self._ask()
        delay = find_model_delay(failure, self._failures, f"{self.run_id}:{self._number}")
        if delay is not None:
            self._failures += 1
            return Wait(self._now + delay)
        if self._model + 1 < self._models:
            self._model, self._failures, self._tools_in_prompt = self._model + 1, 0, False
            return self._ask()
        return self._end(Finish("model_failed"))

    # -- the end ---------------------------------------------------------------------------------------

    def _interrupt(self, fact: Interrupted) -> Command | None:
        if self._interrupted is None or fact.heard is not None:
            self._interrupted = fact
        if self._is_answering:
            return None
        self._mark_heard(fact.heard)
        return self.finish or self._end(Finish("cancelled"))

    def _mark_heard(self, heard: str | None) -> bool:
        """Note the part that was heard of this run's latest text; return whether there was anything to note."""
        spoken = next((each for each in reversed(self._rounds) if _has_text(each.response)), None)
        if heard is None or spoken is None:
            return False
        marked = msgspec.structs.replace(spoken, heard=heard)
        entries = tuple(marked if each is spoken else each for each in self.history.entries)
        self.history = msgspec.structs.replace(self.history, entries=entries)
        return True

    def _end_interrupted(self) -> Finish | None:
        return None if self._interrupted is None else self._end(Finish("cancelled"))

    def _find_stop(self) -> str | None:
        """Find why the run is to end now."""
        return next(self._find_reasons(wants_answer=False), None)

    def _find_reasons(self, *, wants_answer: bool) -> Iterator[str]:
        """Find the reasons of the stops that end a run at once, or of those that want one more answer first."""
        state = self.state
        for stop in self._stops:
            if wants_answer == (isinstance(stop, MaxStop) and stop.answer):
                reason: object = stop(state)
                if isinstance(reason, str):
                    yield reason
                elif reason is not None:  # a bool, or the coroutine of an async function
                    raise TypeError(f"a stop returns a text, the reason, or None; {stop!r} returned {reason!r}")

    def _end(self, finish: Finish) -> Finish:
        self.finish = finish
        return finish


def _has_text(response: ParsedResponse) -> bool:
    return bool(response.content.strip() or response.refusal.strip())


def _find_server_fault(response: ParsedResponse) -> ModelFailure | None:
    """Find what the server or the connection did to an answer that is not ok, by the errors in its stream."""
    for error in response.errors:
        if error.scope == "stream" and error.code in SERVER_FAULTS | OUR_FAULTS:
            return ModelFailure(
                f"{error.code}: {error.message}",
                is_retryable=error.code in SERVER_FAULTS,
                refuses_tools=says_no_tools(error.message),
            )
    return None


def _describe_fault(response: ParsedResponse, *, has_answers: bool) -> str | None:
    """Describe to the model the fault of its answer; None if the answer can be used."""
    if not response.ok and response.stop != "filter" and not response.refusal:
        messages = [error.message for error in response.errors if error.scope != "frame"]
        return "; ".join(messages[:3])[:600] or "it did not end well"
    if not has_answers and not response.content.strip() and not response.refusal and response.stop != "filter":
        return "it was empty"
    return None
