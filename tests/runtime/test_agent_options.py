"""What an agent may be given as functions or for one run alone, and what its items show while the model writes."""

import dataclasses

import anyio.lowlevel
import httpx
import msgspec
import pytest
from scripted import END, Scripted, call, calls, frame, says, stream

import streamparse as sp
from streamparse.negotiate import NATIVE
from streamparse.runtime.loop import ANSWER_NOW

pytestmark = pytest.mark.anyio


@dataclasses.dataclass
class Invoice:
    """What is owed."""

    number: str
    paid: bool = False


@sp.tool(effect="read")
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@sp.tool(effect="read", tier=1)
async def triple(n: int) -> int:
    """Triple a number."""
    return 3 * n


def declared(model, number=-1):
    return [each["function"]["name"] for each in model.requests[number].body("openai", "m").get("tools", [])]


# -- tiers, functions of the state --------------------------------------------------------------------


async def test_only_tools_that_are_unlocked_are_sent_and_run():
    model = Scripted(calls(("double", {"n": 1}), ("triple", {"n": 1})), says("done"))
    result = await sp.Agent(model, [double, triple]).run("?")
    assert declared(model) == ["double"]
    assert [each.success for each in result.history.rounds[0].results] == [True, False]


async def test_the_tier_may_follow_from_the_state():
    model = Scripted(calls(("double", {"n": 1})), calls(("triple", {"n": 1})), says("done"))
    agent = sp.Agent(model, [double, triple], tier=lambda state: min(state.turns, 1))
    result = await agent.run("?")
    assert [declared(model, number) for number in (0, 1)] == [["double"], ["double", "triple"]]
    assert result.history.rounds[1].results[0].result == 3


async def test_system_and_history_may_be_made_by_async_functions_of_the_state():
    async def system(state):
        return f"turn {state.turns}"

    async def shorten(history, state):
        assert state.history.entries == history.entries
        return history.truncated(rounds=1)

    model = Scripted(calls(("double", {"n": 1})), calls(("double", {"n": 2})), says("done"))
    result = await sp.Agent(model, [double], system=system, prepare_history=shorten).run("?")
    assert [model.sent(number)[0]["content"] for number in range(3)] == ["turn 0", "turn 1", "turn 2"]
    assert len(model.requests[2].history.rounds) == 1
    assert len(result.history.rounds) == 3


async def test_a_function_of_the_history_alone_may_be_async_too():
    async def shorten(history):
        return history.truncated(rounds=1)

    model = Scripted(says("done"))
    assert (await sp.Agent(model, prepare_history=shorten).run("?")).output == "done"


async def test_what_is_no_text_is_no_system_message():
    with pytest.raises(TypeError, match="system returns a text, not int"):
        await sp.Agent(Scripted(says("hi")), system=lambda state: state.turns).run("?")


# -- for one run --------------------------------------------------------------------------------------


async def test_one_run_may_have_its_own_tools_model_settings_stop_and_tier():
    own, other = Scripted(says("hi")), Scripted(calls(("triple", {"n": 2})), says("done"))
    agent = sp.Agent(own, [double], settings={"temperature": 0, "seed": 1})
    with pytest.raises(sp.Stopped, match="max_turns: 1"):
        await agent.run("?", tools=[triple], model=other, settings={"seed": 2}, stop=[sp.max_turns(1)], tier=1)
    assert declared(other) == ["triple"]
    body = other.requests[0].body("openai", "m")
    assert (body["temperature"], body["seed"]) == (0, 2)
    assert (await agent.run("?")).output == "hi"
    assert own.requests[0].settings == {"temperature": 0, "seed": 1}


async def test_the_tool_of_the_output_stays_where_a_run_has_other_tools():
    model = Scripted(calls(("final_answer", {"number": "7"})))
    agent = sp.Agent(model, output_type=Invoice)
    assert (await agent.run("?", tools=[double])).output == Invoice("7")
    assert declared(model) == ["double", "final_answer"]


def test_an_unknown_override_is_refused_at_once():
    with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword argument 'tool'; did you mean 'tools'"):
        sp.Agent(Scripted()).run("?", tool=[])


async def write_slowly(frames):
    """Chunks, each once the reader has shown what came before."""
    for each in frames:
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        yield each


# -- items --------------------------------------------------------------------------------------------


async def test_arguments_are_shown_while_they_are_written():
    pieces = [frame({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}) for text in ('1, "m', '": 2}')]

    @sp.tool(effect="read")
    async def add(n: int, m: int) -> int:
        return n + m

    frames = [call(0, "add", text='{"n": '), *pieces, frame(finish="tool_calls"), END]
    model = Scripted(lambda _: write_slowly(frames), says("3"))
    async with sp.Agent(model, [add]).run("?") as run:
        partials = [item async for item in run if isinstance(item, sp.Partial)]
    assert partials == [sp.Partial(0, {"n": 1}, "add"), sp.Partial(0, {"n": 1, "m": 2}, "add")]


async def test_an_output_is_shown_as_soon_as_it_is_one():
    texts = ['{"number"', ': "7", ', '"paid": true', "}"]
    frames = [call(0, "final_answer", text=texts[0])]
    frames += [frame({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}) for text in texts[1:]]
    model = Scripted(lambda _: write_slowly([*frames, frame(finish="tool_calls"), END]))
    async with sp.Agent(model, output_type=Invoice).run("?") as run:
        partials = [item async for item in run if isinstance(item, sp.Partial)]
    assert partials[0].output == Invoice("7")


async def test_a_long_text_is_copied_a_bounded_number_of_times():
    pieces = 2000
    frames = [call(0, "double", text='{"n": "')]
    frames += [frame({"tool_calls": [{"index": 0, "function": {"arguments": "x" * 4}}]})] * pieces
    model = Scripted(lambda _: write_slowly([*frames, frame(finish="length"), END]), says("done"))
    copied = 0
    async with sp.Agent(model, [double]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.Partial):
                copied += len(item.arguments.get("n", ""))
    assert 0 < copied < 66 * 4 * pieces


async def test_the_last_item_says_how_a_run_ended():
    ended = []
    for model in (Scripted(says("hi")), Scripted(ValueError("no")), Scripted(says("no", finish="content_filter"))):
        try:
            async with sp.Agent(model).run("?") as run:
                async for item in run:
                    last = item
        except ValueError:
            pass
        ended.append((type(last).__name__, last.output, last.stopped_by, last.failure))
    assert ended == [
        ("RunEnd", "hi", None, None),
        ("RunEnd", None, "model_failed", "ValueError: no"),
        ("RunEnd", None, "filter", None),
    ]


# -- one more answer ----------------------------------------------------------------------------------


async def test_a_model_that_repeats_itself_is_asked_once_more_without_tools():
    again = calls(("double", {"n": 1}))
    model = Scripted(again, again, says("It is 2."))
    result = await sp.Agent(model, [double], stop=[sp.max_repeats(2, answer=True)]).run("?")
    assert (result.output, result.stopped_by) == ("It is 2.", "max_repeats: 2")
    assert model.requests[-1].settings["tool_choice"] == "none"
    assert model.sent(-1)[-1]["content"] == ANSWER_NOW


async def test_calls_in_that_answer_do_not_run():
    again = calls(("double", {"n": 1}))
    with pytest.raises(sp.Stopped) as caught:
        await sp.Agent(Scripted(again, again, again), [double], stop=[sp.max_repeats(2, answer=True)]).run("?")
    assert [each.results[0].success for each in caught.value.history.rounds] == [True, True, False]


async def test_an_output_of_a_type_may_still_be_given_then():
    again = calls(("double", {"n": 1}))
    model = Scripted(again, again, calls(("final_answer", {"number": "7"})))
    agent = sp.Agent(model, [double], output_type=Invoice, stop=[sp.max_repeats(2, answer=True)])
    assert (await agent.run("?")).output == Invoice("7")
    assert model.requests[-1].settings["tool_choice"] == "final_answer"


# -- what servers refuse ------------------------------------------------------------------------------

NO_TOOLS = "registry.example/gemma does not support tools"
TAUGHT = '<tool_call>\n{"name": "double", "arguments": {"n": 21}}\n</tool_call>'


def refuse(status, body):
    request = httpx.Request("POST", "http://a.example")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(status, json=body, request=request))


class Local(Scripted):
    """A model whose requests are bodies of Ollama, as `http_model` makes them."""

    async def __call__(self, request):
        self.bodies = [*getattr(self, "bodies", []), request.body("openai", "gemma")]
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return stream(*answer)


async def test_tools_go_into_the_prompt_once_a_server_says_that_it_takes_none():
    model = Local(sp.ModelError(f"400 Bad Request: {NO_TOOLS}", status=400), says(TAUGHT), says("It is 42."))
    result = await sp.Agent(model, [double]).run("What is twice 21?")
    assert result.output == "It is 42."
    assert result.history.rounds[0].results[0].result == 42
    assert ["tools" in body for body in model.bodies] == [True, False, False]
    assert "double" in model.bodies[1]["messages"][0]["content"]


async def test_a_server_that_takes_no_tools_even_in_the_prompt_fails():
    error = sp.ModelError(f"400 Bad Request: {NO_TOOLS}", status=400)
    with pytest.raises(sp.ModelError, match="does not support tools"):
        await sp.Agent(Local(error, error), [double]).run("?")


FAILED = '<function=double>{"n": 21}</function>'
GROQ = {"error": {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": FAILED}}


@pytest.mark.parametrize("where", ["status", "stream"])
async def test_what_a_server_refused_of_its_model_is_read_in_the_answers_place(where):
    refused = refuse(400, GROQ) if where == "status" else [b"data: " + msgspec.json.encode(GROQ) + b"\n\n"]
    model = Scripted(refused, says("It is 42."))
    result = await sp.Agent(model, [double]).run("What is twice 21?")
    assert result.output == "It is 42."
    assert result.history.rounds[0].results[0].result == 42


async def test_without_a_call_in_it_the_refusal_stands():
    body = {"error": {**GROQ["error"], "failed_generation": "I will now double it."}}
    with pytest.raises(httpx.HTTPStatusError):
        await sp.Agent(Scripted(refuse(400, body)), [double]).run("?")


async def test_a_learner_is_told_how_calls_were_written():
    learner = sp.CapabilityLearner()
    error = sp.ModelError(f"400 Bad Request: {NO_TOOLS}", status=400)
    model = Local(calls(("double", {"n": 1})), error, says(TAUGHT), says("done"))
    await sp.Agent(model, [double], learner=learner).run("?")
    figures = learner.get_figures("gemma")
    assert (figures[NATIVE].parsed, figures[NATIVE].refused, figures["hermes"].parsed) == (1, 1, 1)


async def test_results_of_an_agent_are_cut_at_32_ki():
    @sp.tool(effect="read")
    async def read() -> str:
        return "x" * 900_000

    result = await sp.Agent(Scripted(calls(("read", {})), says("ok")), [read]).run("?")
    assert len(result.history.rounds[0].results[0].result) == 32 * 1024
