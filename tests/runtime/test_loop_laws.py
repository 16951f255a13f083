"""What holds of an agent's loop, whatever its models and tools do."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from streamparse.events import Error
from streamparse.response import ParsedResponse, ToolCall
from streamparse.runtime import History, Round, max_seconds, max_tokens, max_turns
from streamparse.runtime.loop import AnswerEnded, Finish, Interrupted, Loop, RequestFailed, Send, Started, Wait, Waited
from streamparse.runtime.model_failures import ModelFailure
from streamparse.runtime.rounds import WaitingCall
from streamparse.tools import ErrorKind, ToolFailure, ToolResult

MAX_TURNS = 6
KINDS: tuple[ErrorKind, ...] = ("execution", "fatal")


@st.composite
def results(draw: st.DrawFn, index: int) -> ToolResult:
    """The result of a call, begun or not, failed or not."""
    name = draw(st.sampled_from(("look", "submit", "final_answer")))
    kind = draw(st.sampled_from((None, None, None, *KINDS)))
    failure = None if kind is None else ToolFailure(kind, "no")
    return ToolResult(
        f"c{index}", name, None if failure else draw(st.integers(0, 2)), "no" if failure else None, index,
        attempts=draw(st.integers(0, 1)), revoked=draw(st.booleans()) and failure is not None,
        failure=failure, arguments={"n": 1},
    )  # fmt: skip


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """An answer: good, empty, cut by its server, broken by the model, filtered, or refused."""
    told = [draw(results(index)) for index in range(draw(st.integers(0, 2)))]
    code = draw(st.sampled_from((None, None, None, "stream_truncated", "missing_call", "limit_total")))
    response = ParsedResponse(
        content=draw(st.sampled_from(("", "text"))),
        refusal=draw(st.sampled_from(("", "", "", "no"))),
        tool_calls=[ToolCall(each.tool_name, {"n": 1}, each.call_id, index=each.index) for each in told],
        errors=[] if code is None else [Error("stream", code, code, None, 0)],
        finish_reason=draw(st.sampled_from(("stop", "tool_calls", "length", "content_filter"))),
        usage={"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
        ok=code is None,
    )
    failure = draw(st.sampled_from((None, None, None, ModelFailure("reset", is_retryable=True))))
    waiting = (WaitingCall("run:0:9", 9, "pay", {}, "write"),) if draw(st.booleans()) else ()
    return {"response": response, "results": tuple(told), "failure": failure, "waiting": waiting}


failures = st.builds(
    ModelFailure, st.just("failed"), status=st.sampled_from((None, 404, 500)), is_retryable=st.booleans()
)


@given(st.data())
def test_a_run_asks_ends_once_and_bounds_what_it_repeats(data: st.DataObject) -> None:
    models = data.draw(st.integers(1, 3))
    output_tool = data.draw(st.sampled_from((None, "final_answer")))
    stops = [max_turns(MAX_TURNS), max_seconds(500), max_tokens(60)]
    loop = Loop(models=models, stops=stops, ending=frozenset(("submit",)), output_tool=output_tool)
    facts: list[Any] = [Started(History().with_prompt("go"), 0.0)]
    commands: list[Any] = [loop.take(facts[0])]
    at = 0.0
    while not isinstance(commands[-1], Finish):
        at += data.draw(st.sampled_from((0.0, 1.0, 100.0)))
        facts.append(_react(data, commands[-1], at))
        at = facts[-1].at
        commands.append(loop.take(facts[-1]))
        if commands[-1] is None:  # cancelled while an answer was read
            facts.append(AnswerEnded(at=at, **data.draw(answers())))
            commands.append(loop.take(facts[-1]))
            assert isinstance(commands[-1], Finish)
    _check(loop, facts, commands, models, output_tool)
    assert _fold(facts, models, stops, output_tool) == [command for command in commands if command is not None]


def _react(data: st.DataObject, command: Send | Wait, at: float) -> Any:
    """What the world makes of a command."""
    if data.draw(st.integers(0, 30)) == 0:
        return Interrupted(at, data.draw(st.sampled_from((None, "te"))))
    if isinstance(command, Wait):
        return Waited(max(at, command.until))
    if data.draw(st.integers(0, 3)) == 0:
        return RequestFailed(data.draw(failures), at)
    return AnswerEnded(at=at, **data.draw(answers()))


def _check(loop: Loop, facts: list[Any], commands: list[Any], models: int, output_tool: str | None) -> None:
    sent = [command for command in commands if isinstance(command, Send)]
    numbers = [command.number for command in sent]
    assert numbers == sorted(set(numbers))  # no key of a call is given twice
    asked = [command.model for command in sent]
    assert asked == sorted(asked)  # a model that was left is not asked again
    assert all(model < models for model in asked)
    rounds = [entry for entry in loop.history.entries if isinstance(entry, Round)]
    assert len(rounds) <= MAX_TURNS
    ends = [fact for fact in facts if isinstance(fact, AnswerEnded)]

    def count_begun(groups: list[Any]) -> int:
        """Those with a call that began, but for the tool of the output, which does nothing."""
        return sum(any(each.attempts and each.tool_name != output_tool for each in group.results) for group in groups)

    assert count_begun(rounds) == count_begun(ends)  # what had begun is never forgotten
    assert loop.tokens.total == 6 * len(ends)
    assert sum(isinstance(command, Wait) for command in commands) <= 2 * (len(rounds) + models)
    finish = commands[-1]
    assert finish.has_output or finish.stopped_by is not None
    assert loop.finish == finish


def _fold(facts: list[Any], models: int, stops: list[Any], output_tool: str | None) -> list[Any]:
    """The commands of the same facts, written to JSON and read again."""
    loop = Loop(models=models, stops=stops, ending=frozenset(("submit",)), output_tool=output_tool)
    kinds = Started | RequestFailed | AnswerEnded | Waited | Interrupted
    read = [msgspec.json.decode(msgspec.json.encode(fact), type=kinds) for fact in facts]
    return [command for fact in read if (command := loop.take(fact)) is not None]
