"""What is done when a call cannot be run: recover it, ask again, try otherwise, give up as text."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

import streamparse as sp
from streamparse.errors import CODES
from streamparse.repair import (
    Complaint,
    FallbackChain,
    Repaired,
    RepairLoop,
    Retry,
    Strategy,
    SwitchMode,
    SwitchModel,
    answer_broken,
)
from streamparse.repair.answers import describe_break
from streamparse.response import BrokenCall
from streamparse.tools import Toolset

pytest.importorskip("jsonschema_rs")

SEARCH = {
    "name": "search",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
}


def _chat(*calls: tuple[str, str], content: str | None = None, **fields: Any) -> dict[str, Any]:
    """A whole chat completion with these calls."""
    tool_calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content} | ({"tool_calls": tool_calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "1", "object": "chat.completion", "choices": [choice], **fields}


GOOD = _chat(("search", '{"query": "tea"}'))
WRONG = _chat(("search", '{"limit": 3}'))
UNKNOWN = _chat(("serch", '{"query": "tea"}'))
BROKEN = _chat(("search", '{"query": "te'))
WRONG_IN_TEXT = '<tool_call>\n{"name": "search", "arguments": {"limit": 1}}\n</tool_call>'
"""Behind its marker it is a call; without one, JSON that lacks what its tool requires is text."""
GROQ = {
    "error": {
        "message": "Failed to call a function.",
        "code": "tool_use_failed",
        "failed_generation": '<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>',
    }
}


class Model:
    """Gives its answers in order and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    async def __call__(self, asked: Any) -> Any:
        self.asked.append(asked)
        return self.answers.pop(0)


def _repaired(answer: Any, *answers: Any, **options: Any) -> tuple[Repaired, list[Complaint]]:
    model = Model(*answers)
    return anyio.run(RepairLoop(model, [SEARCH], **options).run, answer), model.asked


def _calls(result: Repaired) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in result.response.tool_calls]


TEA = [("search", {"query": "tea"})]


def test_an_answer_that_can_be_used_is_not_asked_for_again() -> None:
    result, asked = _repaired(GOOD)
    assert result.ok
    assert _calls(result) == TEA
    assert not asked
    assert [step.action for step in result.log] == ["answered"]


@pytest.mark.parametrize(
    ("bad", "code"), [(WRONG, "missing_parameter"), (UNKNOWN, "unknown_tool"), (BROKEN, "broken_call")]
)
def test_the_model_is_told_what_is_wrong_and_asked_again(bad: Any, code: str) -> None:
    result, (complaint,) = _repaired(bad, GOOD)
    assert result.ok
    assert _calls(result) == TEA
    assert (complaint.attempt, complaint.response.content) == (1, "")
    assert complaint.message
    assert [finding.code for finding in result.log[0].findings] == [code]
    assert [step.action for step in result.log] == ["answered", "asked"]


def test_every_call_of_an_answer_that_may_not_run_gets_an_error_result_with_its_own_id() -> None:
    _, (complaint,) = _repaired(_chat(("search", '{"query": "a"}'), ("serch", "{}")), GOOD)
    fit, unfit = complaint.results
    assert (unfit.call_id, unfit.tool_name, unfit.success) == ("call_1", "serch", False)
    assert "search" in (unfit.error or "")
    assert (fit.call_id, fit.tool_name, fit.success) == ("call_0", "search", False)
    assert "call it again" in (fit.error or "")


def test_the_answer_to_a_broken_call_names_the_arguments_of_its_tool() -> None:
    many = {"properties": {f"p{number}": {} for number in range(21)}}
    now = {"name": "now", "input_schema": {"properties": {}}}
    tools = Toolset.of([SEARCH, now, {"name": "many", "input_schema": many}])
    listed = {
        "search": "query (required), limit",
        "now": "none",
        "many": ", ".join(f"p{number}" for number in range(20)) + ", …",
    }
    for name, arguments in listed.items():
        (broken,) = sp.parse_response(_chat((name, '{"query": tea, "limit"}'))).broken_calls
        error = answer_broken(broken, tools).error or ""
        assert error.endswith(f"write one whole call; the arguments of '{name}' are: {arguments}")


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("duplicate_call", "do not call again"),
        ("truncated_call", "call it again, whole"),
        ("limit_args", "shorter arguments"),
    ],
)
def test_the_answer_to_a_broken_call_says_what_helps_against_its_fault(code: str, advice: str) -> None:
    error = answer_broken(BrokenCall("search", "{", "c", code), Toolset.of([SEARCH])).error or ""
    assert advice in error


def test_after_two_attempts_it_gives_up_as_text_and_loses_nothing() -> None:
    result, asked = _repaired(WRONG, UNKNOWN, WRONG)
    assert len(asked) == 2
    assert not result.ok
    assert not result.response.tool_calls
    assert [(intent.name, intent.text) for intent in result.response.intents] == [("search", '{"limit": 3}')]
    assert result.response.content == 'search {"limit": 3}'
    assert [step.action for step in result.log] == ["answered", "asked", "asked", "gave_up"]


def test_what_the_server_refused_is_recovered_without_asking() -> None:
    result, asked = _repaired(GROQ)
    assert result.ok
    assert _calls(result) == TEA
    assert not asked
    assert [step.action for step in result.log] == ["answered", "recovered"]


def test_an_error_of_the_server_without_a_generation_is_asked_again() -> None:
    result, (complaint,) = _repaired({"error": {"message": "overloaded", "code": 503}}, GOOD)
    assert result.ok
    assert "overloaded" in complaint.message


def test_an_answer_may_be_parsed_already_or_text_with_markup() -> None:
    text = '<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>'
    assert _calls(_repaired(text)[0]) == TEA
    assert _calls(_repaired(sp.parse_response(WRONG), text)[0]) == TEA


def test_values_coerced_without_loss_need_no_second_answer() -> None:
    result, asked = _repaired(_chat(("search", '{"query": "tea", "limit": "3"}')))
    assert _calls(result) == [("search", {"query": "tea", "limit": 3})]
    assert not asked
    assert [finding.code for finding in result.log[0].findings] == ["coerced"]


def _fallen_back(*answers: Any, required: bool = False) -> tuple[Repaired, list[dict[str, Any]]]:
    model = Model(*answers)
    ways: list[Strategy] = [
        Retry(),
        SwitchMode("json", response_format={"type": "json_object"}, tools=None),
        SwitchModel("big"),
    ]
    chain = FallbackChain(model, ways, [SEARCH], required=required)
    request = {"model": "small", "messages": [{"role": "user", "content": "Tea?"}], "tools": [SEARCH]}
    return anyio.run(chain.run, request), model.asked


def test_a_chain_stops_at_the_first_answer_that_can_be_used() -> None:
    result, asked = _fallen_back(WRONG, GOOD)
    assert result.ok
    assert _calls(result) == TEA
    assert [step.action for step in result.log] == ["answered", "retry"]
    assert "query" in asked[1]["messages"][-1]["content"]


def test_a_chain_tries_its_ways_in_order_each_from_the_first_request() -> None:
    result, asked = _fallen_back(WRONG, UNKNOWN, WRONG_IN_TEXT, GOOD)
    assert result.ok
    assert [step.action for step in result.log] == ["answered", "retry", "json", "model big"]
    assert "tools" not in asked[2]
    assert asked[2]["response_format"] == {"type": "json_object"}
    assert (asked[3]["model"], len(asked[3]["messages"])) == ("big", 1)


def test_a_chain_that_finds_nothing_gives_the_last_answer_as_text() -> None:
    result, asked = _fallen_back(WRONG, WRONG, WRONG, UNKNOWN)
    assert len(asked) == 4
    assert not result.ok
    assert not result.response.tool_calls
    assert [intent.name for intent in result.response.intents] == ["serch"]
    assert result.log[-1].action == "gave_up"


def test_calls_that_are_broken_are_told_as_text_too_beside_what_was_said() -> None:
    broken = _chat(("search", '{"limit": 3}'), ("now", '{"zone": tea'))
    result, _ = _repaired(*[broken] * 3)
    wanted = [("search", '{"limit": 3}'), ("now", '{"zone": tea')]
    assert [(intent.name, intent.text) for intent in result.response.intents] == wanted
    assert result.response.content == "\n".join(map(" ".join, wanted))
    assert (result.response.tool_calls, result.response.broken_calls) == ([], [])
    result, _ = _repaired(*[_chat(("now", '{"zone": tea'), content="So.")] * 3)
    assert result.response.content == "So."
    assert [intent.name for intent in result.response.intents] == ["now"]


def test_an_answer_without_a_call_will_do_unless_one_is_required() -> None:
    said = _chat(content="No tea.")
    assert _fallen_back(said)[0].ok
    result, _ = _fallen_back(said, said, GOOD, required=True)
    assert _calls(result) == TEA


def _retried(request: dict[str, Any], *answers: Any, required: bool = False, **options: Any) -> tuple[Repaired, Any]:
    """The result, and the request that told what was wrong."""
    model = Model(*answers)
    chain = FallbackChain(model, [Retry(**options)], [SEARCH], required=required)
    result = anyio.run(chain.run, request)
    return result, model.asked[1]


def test_a_model_that_called_nothing_though_it_must_is_told_so() -> None:
    said = _chat(content="No tea.")
    result, asked = _retried({"messages": [{"role": "user", "content": "Tea?"}]}, said, said, required=True)
    told = "a tool must be called, and the answer calls none; known are: search"
    assert asked["messages"][1:] == [{"role": "user", "content": told}]
    assert not result.ok
    assert [(step.action, step.message) for step in result.log] == [
        ("answered", told),
        ("retry", told),
        ("gave_up", told),
    ]
    assert [finding.code for finding in result.log[0].findings] == ["no_call"]


def test_an_error_of_which_the_server_says_nothing_is_told_by_its_code() -> None:
    response = sp.ParsedResponse(errors=[sp.Error("stream", "stream_truncated", "")])
    _, asked = _retried({"messages": []}, response, GOOD)
    assert asked["messages"] == [{"role": "user", "content": "stream_truncated"}]


TEXT = "invalid call of 'search': \"query\" is a required property"
SAID = {"role": "user", "content": "Tea?"}
REQUESTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chat": ({"messages": [SAID]}, {"messages": [SAID, {"role": "user", "content": TEXT}]}),
    "anthropic": (
        {"system": "Be brief.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Tea?"}]}]},
        {
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Tea?"}]},
                {"role": "user", "content": TEXT},
            ],
        },
    ),
    "gemini": (
        {"contents": [{"role": "user", "parts": [{"text": "Tea?"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": text}]} for text in ("Tea?", TEXT)]},
    ),
    "gemini of one text": (
        {"contents": "Tea?"},
        {"contents": [{"role": "user", "parts": [{"text": text}]} for text in ("Tea?", TEXT)]},
    ),
    "responses": ({"input": [SAID]}, {"input": [SAID, {"role": "user", "content": TEXT}]}),
    "responses of one text": ({"input": "Tea?"}, {"input": [SAID, {"role": "user", "content": TEXT}]}),
    "bedrock": (
        {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Tea?"}]}]},
        {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Tea?"}, {"text": TEXT}]}]},
    ),
    "bedrock after a result": (
        {"messages": [{"role": "assistant", "content": [{"text": "Tea?"}]}]},
        {
            "messages": [
                {"role": "assistant", "content": [{"text": "Tea?"}]},
                {"role": "user", "content": [{"text": TEXT}]},
            ]
        },
    ),
    "a prompt": ({"prompt": "Tea?"}, {"prompt": f"Tea?\n\n{TEXT}"}),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_was_wrong_is_told_where_and_as_the_request_has_its_messages(name: str) -> None:
    request, wanted = REQUESTS[name]
    result, asked = _retried(request, WRONG, GOOD)
    assert asked == wanted
    assert _calls(result) == TEA


def test_a_provider_that_is_named_has_its_own_words() -> None:
    _, asked = _retried({"messages": [{"role": "user", "content": []}]}, WRONG, GOOD, provider="bedrock")
    assert asked["messages"] == [{"role": "user", "content": [{"text": TEXT}]}]
    with pytest.raises(ValueError, match="unknown provider"):
        Retry("nobody")


@pytest.mark.parametrize("request_", [{}, {"prompt": ["a"]}, {"messages": None}, {"input": 3}])
def test_a_request_that_holds_no_messages_cannot_be_retried(request_: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="message"):
        _retried(request_, WRONG, GOOD)


def test_another_model_is_named_where_the_request_names_its_own() -> None:
    model = Model(WRONG, WRONG, GOOD)
    chain = FallbackChain(model, [SwitchModel("small"), SwitchModel("big")], [SEARCH])
    result = anyio.run(chain.run, {"modelId": "small", "messages": []})
    assert [request["modelId"] for request in model.asked] == ["small", "big"]
    assert "model" not in model.asked[1]
    assert not result.ok


def test_what_the_client_raises_passes_through() -> None:
    async def broken(_: Any) -> Any:
        raise OSError("no route")

    with pytest.raises(OSError, match="no route"):
        anyio.run(RepairLoop(broken, [SEARCH]).run, WRONG)


@pytest.mark.parametrize("attempts", [-1, -100])
def test_a_count_of_attempts_below_none_is_refused_at_once(attempts: int) -> None:
    with pytest.raises(ValueError, match="max_attempts"):
        RepairLoop(Model(), [SEARCH], max_attempts=attempts)


@pytest.mark.parametrize("attempts", ["2", None, 1.5])
def test_what_is_no_count_of_attempts_is_refused_at_once(attempts: Any) -> None:
    with pytest.raises(TypeError):
        RepairLoop(Model(), [SEARCH], max_attempts=attempts)


def test_without_attempts_the_model_is_not_asked() -> None:
    result, asked = _repaired(WRONG, max_attempts=0)
    assert not asked
    assert not result.ok
    assert [step.action for step in result.log] == ["answered", "gave_up"]


RUBBISH = [None, "", "  ", [], {}, 42, True, [1, 2], {"choices": []}, {"choices": [{"message": None}]}]


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_rubbish_is_no_answer_and_takes_nothing_from_what_was_said_before(rubbish: Any) -> None:
    result, asked = _repaired(_chat(("search", '{"limit": 3}'), content="I look."), rubbish, rubbish)
    assert len(asked) == 2
    assert all(complaint.message for complaint in asked)
    assert not result.ok
    assert result.response.content == "I look."
    assert [(intent.name, intent.text) for intent in result.response.intents] == [("search", '{"limit": 3}')]
    assert [step.action for step in result.log] == ["answered", "asked", "asked", "gave_up"]


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_rubbish_alone_ends_as_an_answer_that_says_nothing(rubbish: Any) -> None:
    result, _ = _repaired(rubbish, rubbish, rubbish)
    assert (result.ok, result.response.content.strip(), result.response.tool_calls) == (False, "", [])
    assert _calls(_repaired(rubbish, GOOD)[0]) == TEA


def test_what_is_no_answer_at_all_raises() -> None:
    with pytest.raises(TypeError, match="a response must be bytes, str, a mapping"):
        _repaired(_chat(("search", '{"limit": 3}')), object())


def test_an_answer_that_says_nothing_but_thought_or_holds_an_item_of_the_server_is_one() -> None:
    for response in (sp.ParsedResponse(reasoning="Hm."), sp.ParsedResponse(items=[{"kind": "image", "data": "x"}])):
        assert _repaired(response)[0].ok


def test_a_turn_that_the_server_ended_with_nothing_to_add_is_an_answer() -> None:
    body = {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}
    result, asked = _repaired(body, wire="anthropic")
    assert result.ok
    assert not asked


def test_a_broken_call_is_told_in_words() -> None:
    _, (complaint,) = _repaired(BROKEN, GOOD)
    assert complaint.message == "the call of 'search' is broken: the stream ended inside the call"


def test_what_the_server_refused_of_a_later_answer_is_recovered_too_and_complained_of_if_it_is_wrong() -> None:
    wrong = {"error": {**GROQ["error"], "failed_generation": WRONG_IN_TEXT}}
    result, asked = _repaired(WRONG, wrong, GROQ)
    assert _calls(result) == TEA
    assert [step.action for step in result.log] == ["answered", "asked", "recovered", "asked", "recovered"]
    assert [result.call_id for result in asked[1].results] == [call.id for call in asked[1].response.tool_calls]
    assert "query" in asked[1].message


@pytest.mark.parametrize("generation", ["I cannot search.", '{"name": "search", "arguments": {"query": "te', "", 3])
def test_where_nothing_can_be_recovered_the_model_is_asked(generation: Any) -> None:
    refused = {"error": {**GROQ["error"], "failed_generation": generation}}
    result, asked = _repaired(refused, GOOD)
    assert len(asked) == 1
    assert _calls(result) == TEA


def test_a_loop_serves_many_answers_one_after_another_and_at_a_time() -> None:
    async def ask(complaint: Complaint) -> Any:
        await anyio.lowlevel.checkpoint()
        return _chat(("search", f'{{"query": "{complaint.response.content}"}}'))

    loop = RepairLoop(ask, (tool for tool in [SEARCH]))
    found: dict[int, Repaired] = {}

    async def one(number: int) -> None:
        found[number] = await loop.run(_chat(("search", "{}"), content=str(number)))

    async def all_of_them() -> None:
        for _ in range(2):
            async with anyio.create_task_group() as group:
                for number in range(5):
                    group.start_soon(one, number)

    anyio.run(all_of_them)
    assert {number: _calls(result) for number, result in found.items()} == {
        number: [("search", {"query": str(number)})] for number in range(5)
    }
    assert [len(result.log) for result in found.values()] == [2] * 5


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_question_that_is_cancelled_is_cancelled(backend: str) -> None:
    asked: list[Complaint] = []

    async def cancelled() -> bool:
        with anyio.CancelScope() as scope:

            async def ask(complaint: Complaint) -> Any:
                asked.append(complaint)
                scope.cancel()
                await anyio.sleep_forever()

            await RepairLoop(ask, [SEARCH]).run(WRONG)
        return scope.cancelled_caught

    assert anyio.run(cancelled, backend=backend)
    assert len(asked) == 1


def test_a_chain_recovers_what_the_server_refused_without_asking_again() -> None:
    result, asked = _fallen_back(WRONG, GROQ, required=True)
    assert _calls(result) == TEA
    assert len(asked) == 2
    assert [step.action for step in result.log] == ["answered", "retry", "recovered"]


def test_a_chain_that_ends_in_errors_gives_what_was_said_before_them() -> None:
    error = {"error": {"message": "overloaded", "code": 503}}
    result, _ = _fallen_back(_chat(("search", "{}"), content="Tea?"), error, None, error)
    assert not result.ok
    assert result.response.content == "Tea?"
    assert "overloaded" in result.log[-1].message


def test_a_strategy_of_ones_own_may_pass_and_sees_what_was_wrong_last() -> None:
    class Other:
        name = "other"

        def __init__(self, field: str | None) -> None:
            self.field = field
            self.seen: list[str] = []

        def request(self, request: Any, verdict: Any) -> dict[str, Any] | None:
            self.seen.append(verdict.message)
            return {**request, self.field: True} if self.field else None

    passing, trying, unused = Other(None), Other("tried"), Other("never")
    model = Model(WRONG, GOOD)
    result = anyio.run(FallbackChain(model, [passing, trying, unused], [SEARCH]).run, {"model": "m"})
    assert model.asked == [{"model": "m"}, {"model": "m", "tried": True}]
    assert [step.action for step in result.log] == ["answered", "other"]
    assert "query" in passing.seen[0]
    assert passing.seen == trying.seen
    assert unused.seen == []


def test_what_a_chains_client_or_strategy_raises_passes_through() -> None:
    class Broken:
        name = "broken"

        def request(self, _request: Any, _verdict: Any) -> dict[str, Any]:
            raise LookupError("no such mode")

    with pytest.raises(LookupError, match="no such mode"):
        anyio.run(FallbackChain(Model(WRONG), [Broken()], [SEARCH]).run, {})
    with pytest.raises(IndexError):
        anyio.run(FallbackChain(Model(), [], [SEARCH]).run, {})


def test_a_refusal_is_an_answer_and_is_kept_where_those_after_it_say_nothing() -> None:
    refused = _chat()
    refused["choices"][0]["message"]["refusal"] = "I cannot."
    result, _ = _retried({"messages": []}, refused, _chat(content=" "), required=True)
    assert (result.ok, result.response.refusal) == (False, "I cannot.")


def test_the_answer_to_a_broken_call_says_once_what_was_wrong() -> None:
    (broken,) = sp.parse_response(_chat(("search", '{"query": tea, "limit"}'))).broken_calls
    meaning = CODES[broken.code]
    advice = "to call it, write one whole call, with its arguments as a JSON object"
    for message in ("", meaning):
        told = describe_break(broken.name, broken.code, message, None)
        assert told == f"the call of 'search' was not run: {meaning}; {advice}"
    assert f": {meaning} (at 3); " in describe_break(broken.name, broken.code, "at 3", None)
