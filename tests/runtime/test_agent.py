"""What a user sees of an agent's run."""

import asyncio
import dataclasses
import pickle
import threading

import anyio
import msgspec
import pytest
from scripted import END, Scripted, call, calls, frame, says, stream

import streamparse as sp
from streamparse.runtime.model_failures import ModelError

pytestmark = pytest.mark.anyio


@dataclasses.dataclass
class Invoice:
    """What is owed."""

    number: str
    total: float


@sp.tool(effect="read")
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@sp.tool(ends=True)
def submit(answer: str) -> str:
    """Hand in the answer."""
    return answer


async def items_of(run):
    return [item async for item in run]


async def test_a_run_ends_with_the_text_of_the_model():
    model = Scripted(says("Hel", "lo."))
    result = await sp.Agent(model, system="Be brief.").run("Hi")
    assert (result.output, result.stopped_by) == ("Hello.", None)
    assert model.sent() == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


async def test_calls_are_run_and_their_results_are_sent_back():
    model = Scripted(calls(("double", {"n": 21})), says("It is 42."))
    result = await sp.Agent(model, [double]).run("What is twice 21?")
    assert result.output == "It is 42."
    assistant, answer = model.sent()[-2:]
    assert assistant["tool_calls"][0]["function"]["name"] == "double"
    assert (answer["role"], answer["content"]) == ("tool", "42")
    assert answer["tool_call_id"] == assistant["tool_calls"][0]["id"]


MEANT = 'Sure, I double it:\n{"name": "double", "arguments": {"n": 21}}'


async def test_an_answer_that_ends_like_a_call_is_asked_about_once_and_the_call_is_run_then():
    model = Scripted(says(MEANT), calls(("double", {"n": 21})), says("It is 42."))
    async with sp.Agent(model, [double]).run("What is twice 21?") as run:
        ends = [item async for item in run if isinstance(item, sp.TurnEnd)]
    if any(intent.is_call for intent in ends[0].response.intents):
        assert run.result.output == "It is 42."
        asked = model.sent(1)[-1]
        assert (asked["role"], "n" in asked["content"].split(), "21" in asked["content"]) == ("user", False, False)
        assert "tool_calls" not in model.sent(1)[-2]
    else:
        assert run.result.output == MEANT


@pytest.mark.parametrize(("text", "options"), [(MEANT, {"ask_again": False}), ("I'll use the double tool.", {})])
async def test_else_a_run_ends_with_its_first_text(text, options):
    model = Scripted(says(text))
    assert (await sp.Agent(model, [double], **options).run("?")).output == text


async def test_a_run_says_how_many_calls_did_not_run_and_why():
    call = '<tool_call>\n{"name": "submit", "arguments": {"answer": "a"}}\n</tool_call>'
    model = Scripted(says(f"Say {call} or {call}."), calls(("double", {"n": "many"}), ("nope", {})), says("done"))
    result = await sp.Agent(model, [double, submit]).run("?")
    assert result.refused == {"divided": 2, "wrong_type": 1, "unknown_tool": 1}


async def test_the_items_of_all_turns_come_in_one_stream():
    model = Scripted(calls(("double", {"n": 2})), says("4"))
    async with sp.Agent(model, [double]).run("?") as run:
        items = await items_of(run)
    ends = [item for item in items if isinstance(item, sp.TurnEnd)]
    assert [end.number for end in ends] == [0, 1]
    assert items[-2] is ends[-1]
    assert items[-1] == sp.RunEnd("4", None, run.result.usage)
    assert ends[0].results == tuple(item for item in items if isinstance(item, sp.ToolResult))
    assert [type(item).__name__ for item in items].count("Done") == 2
    assert run.result.output == "4"


async def test_a_tool_without_effect_starts_while_the_model_still_writes():
    begun, ended = anyio.Event(), anyio.Event()

    @sp.tool(effect="read")
    async def look() -> str:
        begun.set()
        await ended.wait()
        return "seen"

    # The answer goes on only once the tool has begun.
    answer = [call(0, "look"), begun, frame({"content": "so"}), frame(finish="tool_calls"), END]
    model = Scripted(answer, says("done"))
    async with sp.Agent(model, [look]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.TextDelta):
                ended.set()
    assert run.result.output == "done"


async def test_a_tool_that_ends_the_run_gives_the_output_after_its_siblings_are_answered():
    model = Scripted(calls(("submit", {"answer": "yes"}), ("double", {"n": 1})))
    result = await sp.Agent(model, [double, submit]).run("?")
    assert (result.output, result.stopped_by) == ("yes", None)
    assert [each.result for each in result.history.entries[-1].results] == ["yes", 2]


async def test_an_output_that_is_too_large_is_refused_and_not_cut():
    @sp.tool(ends=True)
    def count(to: int) -> list[int]:
        return list(range(to))

    model = Scripted(calls(("count", {"to": 1000})), calls(("count", {"to": 3})))
    result = await sp.Agent(model, [count], max_result=100).run("?")
    assert result.output == [0, 1, 2]
    assert "too large" in model.sent()[-1]["content"]


async def test_a_wire_that_nobody_knows_is_refused_before_the_answer_is_read():
    with pytest.raises(ValueError, match="unknown wire"):
        await sp.Agent(Scripted(says("hi"), wire="openai-chatt")).run("?")


async def test_an_output_type_is_asked_for_until_it_fits():
    model = Scripted(
        says("It is 12.50."),
        calls(("final_answer", {"number": "A1"})),
        calls(("final_answer", {"number": "A1", "total": 12.5})),
    )
    result = await sp.Agent(model, output_type=Invoice).run("Read the invoice.")
    assert result.output == Invoice("A1", 12.5)
    assert len(model.requests) == 3


async def test_a_stop_without_an_output_raises_with_the_history():
    model = Scripted(*[calls(("double", {"n": n})) for n in range(3)])
    with pytest.raises(sp.Stopped, match="max_turns: 2") as caught:
        await sp.Agent(model, [double], stop=[sp.max_turns(2)]).run("?")
    assert len(caught.value.history.entries) == 3
    assert caught.value.result.stopped_by == "max_turns: 2"


async def test_twenty_turns_are_the_limit_unless_another_is_set():
    model = Scripted(*[calls(("double", {"n": n})) for n in range(30)])
    with pytest.raises(sp.Stopped, match="max_turns: 20"):
        await sp.Agent(model, [double], stop=[sp.max_tokens(10**9)]).run("?")
    assert len(model.requests) == 20


async def test_a_history_goes_on_in_the_next_run():
    first = await sp.Agent(Scripted(says("Hi, Ann.")), system="old").run("I am Ann.")
    model = Scripted(says("Ann."))
    await sp.Agent(model, system="new").run("Who am I?", history=first.history)
    assert [message["role"] for message in model.sent()] == ["system", "user", "assistant", "user"]
    assert model.sent()[0]["content"] == "new"


async def test_content_parts_are_sent_as_they_are():
    model = Scripted(says("A dot."))
    await sp.Agent(model).run(["What is this?", sp.Image(b"\x89PNG\r\n\x1a\n")])
    content = model.sent()[-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,")


async def test_the_next_model_is_asked_when_one_fails():
    failing = Scripted(ModelError("no such model", status=404))
    model = Scripted(says("here"))
    result = await sp.Agent([failing, model]).run("?")
    assert (result.output, len(failing.requests)) == ("here", 1)


async def test_what_the_last_model_raised_is_raised():
    with pytest.raises(ModelError, match="no such model"):
        await sp.Agent(Scripted(ModelError("no such model", status=404))).run("?")
    with pytest.raises(ZeroDivisionError):
        await sp.Agent(Scripted(lambda _: 1 / 0)).run("?")


async def test_what_is_no_source_is_a_type_error():
    with pytest.raises(TypeError):
        await sp.Agent(Scripted(lambda _: 42)).run("?")


async def test_an_answer_that_breaks_off_is_discarded_and_asked_for_again_and_the_model_is_not_told():
    model = Scripted([frame({"content": "hal"}), ConnectionResetError("reset")], says("whole"))
    async with sp.Agent(model).run("?") as run:
        items = await items_of(run)
    assert [item.discarded for item in items if isinstance(item, sp.TurnEnd)] == [True, False]
    assert run.result.output == "whole"
    assert "reset" not in str(model.sent())
    assert len(run.result.history.entries) == 2


async def test_a_call_that_is_cut_is_answered_and_the_model_asked_again():
    cut = [call(0, "double", text='{"n": 2'), frame(finish="length"), END]
    model = Scripted(cut, says("sorry"))
    result = await sp.Agent(model, [double]).run("?")
    assert result.output == "sorry"
    assert "double" in model.sent()[-1]["content"]  # the open call is gone, and said in words


async def test_a_fatal_error_ends_the_run():
    @sp.tool(effect="read")
    async def look() -> str:
        raise sp.ToolError("fatal", "the disk is gone")

    with pytest.raises(sp.Stopped, match="fatal"):
        await sp.Agent(Scripted(calls(("look", {}))), [look]).run("?")


async def test_approvals_are_answered_by_the_consumer():
    ran = []

    @sp.tool(needs_approval=True)
    async def delete(path: str) -> str:
        ran.append(path)
        return "deleted"

    model = Scripted(calls(("delete", {"path": "a"}), ("delete", {"path": "b"})), says("ok"))
    async with sp.Agent(model, [delete]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                if item.arguments["path"] == "a":
                    run.approve(item)
                else:
                    run.deny(item, "keep it")
    assert ran == ["a"]
    assert run.result.approvals == ()
    assert "keep it" in model.sent()[-1]["content"]


async def test_an_awaited_run_ends_at_an_approval_that_nobody_can_give():
    ran = []

    @sp.tool(needs_approval=True)
    async def delete(path: str) -> str:
        ran.append(path)
        return "deleted"

    with pytest.raises(sp.Stopped, match="approval") as caught:
        await sp.Agent(Scripted(calls(("delete", {"path": "a"}))), [delete]).run("?")
    assert ran == []
    assert [request.tool_name for request in caught.value.result.approvals] == ["delete"]


async def test_a_request_is_answered_once_and_by_its_own_run():
    @sp.tool(needs_approval=True)
    async def delete(path: str) -> str:
        return "deleted"

    model = Scripted(calls(("delete", {"path": "a"})), says("ok"))
    async with sp.Agent(model, [delete]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.approve(item)
                with pytest.raises(ValueError, match="does not wait"):
                    run.approve(item)


async def test_a_request_of_a_turn_that_broke_is_none_of_the_result():
    @sp.tool(effect="read", needs_approval=True)
    async def peek(path: str) -> str:
        return path

    broken = [call(0, "double", n=1), call(1, "peek", path="a"), ConnectionResetError("cut")]
    async with sp.Agent(Scripted(broken, says("ok")), [double, peek]).run("?") as run:
        items = await items_of(run)
    assert any(isinstance(item, sp.ApprovalRequest) for item in items)
    assert (run.result.output, run.result.approvals) == ("ok", ())


async def test_an_approval_from_another_thread_is_refused_at_once():
    raised = []

    @sp.tool(needs_approval=True)
    async def delete(path: str) -> str:
        return "deleted"

    def answer(request):
        try:
            run.approve(request)
        except RuntimeError as error:
            raised.append(str(error))

    async with sp.Agent(Scripted(calls(("delete", {"path": "a"})), says("ok")), [delete]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                await anyio.to_thread.run_sync(answer, item)
                run.deny(item)
    assert "thread" in raised[0]


async def test_cancelling_a_run_in_the_middle_of_an_answer_keeps_what_was_heard():
    never = anyio.Event()
    model = Scripted([frame({"content": "One, two, three"}), never])
    async with sp.Agent(model).run("Count.") as run:
        async for item in run:
            if isinstance(item, sp.TextDelta):
                run.cancel(heard="One, two")
    result = run.result
    assert result.stopped_by == "cancelled"
    assert result.history.messages("openai")[-1]["content"] == "One, two"


async def test_what_was_heard_may_be_told_after_the_last_answer():
    async with sp.Agent(Scripted(says("One, two, three"))).run("Count.") as run:
        await items_of(run)
        run.cancel(heard="One")
    assert run.result.stopped_by is None
    assert run.result.history.messages("openai")[-1]["content"] == "One"


async def test_cancelling_reaches_the_tools_and_answers_their_calls():
    left = []

    @sp.tool(effect="read")
    async def wait() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            left.append("wait")

    async with sp.Agent(Scripted(calls(("wait", {}))), [wait]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.Done):
                run.cancel()
    assert left == ["wait"]
    (round_,) = run.result.history.entries[1:]
    assert "stopped" in round_.results[0].error


async def test_leaving_the_block_while_a_model_is_asked_ends_the_run():
    async def model(request):
        request.read_as("openai-chat")
        if request.number:
            await anyio.sleep_forever()
        return stream(*calls(("double", {"n": 2})))

    with anyio.fail_after(30):
        async with sp.Agent(model, [double]).run("hello") as run:
            async for item in run:
                if isinstance(item, sp.TurnEnd):
                    await anyio.wait_all_tasks_blocked()
                    break
    assert (run.result.stopped_by, len(run.result.history.rounds)) == ("cancelled", 1)


async def test_leaving_the_block_ends_the_run_and_leaves_a_history():
    left = []

    @sp.tool(effect="read")
    async def wait() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            left.append("wait")

    never = anyio.Event()
    async with sp.Agent(Scripted([call(0, "wait"), never]), [wait]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.ToolCallComplete):
                break
    assert run.result.stopped_by == "cancelled"
    assert len(run.result.history.entries[-1].results) == 1
    assert left in ([], ["wait"])  # whether it had begun


async def test_an_exception_of_the_consumer_passes_through_as_it_is():
    async def consume():
        async with sp.Agent(Scripted(says("hi"))).run("?") as run:
            async for _ in run:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await consume()


async def test_cancelling_from_outside_cancels_the_run():
    never = anyio.Event()
    with anyio.CancelScope() as scope:
        async with sp.Agent(Scripted([frame({"content": "hi"}), never])).run("?") as run:
            async for item in run:
                if isinstance(item, sp.TextDelta):
                    scope.cancel()
    assert scope.cancelled_caught
    assert run.result.stopped_by == "cancelled"
    assert run.result.history.entries[-1].response.content == "hi"


async def test_the_time_of_a_run_is_over_in_the_middle_of_an_answer():
    never = anyio.Event()
    agent = sp.Agent(Scripted([frame({"content": "hi"}), never]), stop=[sp.max_seconds(0.05)])
    with pytest.raises(sp.Stopped, match="max_seconds") as caught:
        await agent.run("?")
    assert caught.value.history.entries[-1].response.content == "hi"


async def test_the_time_of_a_run_is_over_before_a_model_answers():
    async def silent(request):
        await anyio.sleep_forever()

    with pytest.raises(sp.Stopped, match="max_seconds"):
        await sp.Agent(silent, stop=[sp.max_seconds(0.05)]).run("?")


async def test_an_agent_is_shared_by_runs_at_one_time():
    async def model(request):
        request.read_as("openai-chat")
        return stream(*says(request.body("openai", "x")["messages"][-1]["content"]))

    agent = sp.Agent(model)
    outputs = {}

    async def ask(word):
        outputs[word] = (await agent.run(word)).output

    async with anyio.create_task_group() as tasks:
        for word in "abcdef":
            tasks.start_soon(ask, word)
    assert outputs == {word: word for word in "abcdef"}


async def test_a_run_begins_once():
    run = sp.Agent(Scripted(says("hi"))).run("?")
    await run
    with pytest.raises(RuntimeError, match="once"):
        await run


async def test_deps_and_keys_reach_the_tools():
    seen = []

    @sp.tool
    async def look(ctx: sp.ToolContext[str]) -> str:
        seen.append((ctx.deps, ctx.idempotency_key))
        return "seen"

    model = Scripted(calls(("look", {})), calls(("look", {})), says("ok"))
    async with sp.Agent(model, [look]).run("?", deps="mine") as run:
        await items_of(run)
    assert [deps for deps, _ in seen] == ["mine", "mine"]
    assert len({key for _, key in seen}) == 2


async def test_the_tokens_of_all_answers_are_summed():
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    model = Scripted(calls(("double", {"n": 2}), usage=usage), says("4", usage=usage))
    result = await sp.Agent(model, [double]).run("?")
    assert (result.usage.prompt, result.usage.completion, result.usage.total) == (14, 6, 20)


async def test_what_is_sent_may_be_less_than_the_history():
    model = Scripted(says("b"))
    history = sp.History().with_prompt("long ago")
    agent = sp.Agent(model, prepare_history=lambda _: sp.History().with_prompt("only this"))
    result = await agent.run("now", history=history)
    assert [message["content"] for message in model.sent()] == ["only this"]
    assert len(result.history.entries) == 3


async def test_a_stop_that_raises_ends_the_run_with_its_exception():
    with pytest.raises(ZeroDivisionError):
        await sp.Agent(Scripted(), stop=[lambda _: 1 / 0]).run("?")


async def test_items_are_json():
    model = Scripted(calls(("double", {"n": 2})), says("4"))
    async with sp.Agent(model, [double]).run("?") as run:
        written = [msgspec.json.decode(msgspec.json.encode(item)) for item in await items_of(run)]
    assert {"turn_end", "tool_result", "done"} <= {item["type"] for item in written}


async def test_the_time_of_a_run_is_over_before_the_first_event_of_an_answer():
    with anyio.fail_after(5), pytest.raises(sp.Stopped, match="max_seconds"):
        await sp.Agent(Scripted([b": wait\n\n", anyio.Event()]), stop=[sp.max_seconds(0.05)]).run("?")


async def test_the_time_of_a_run_is_over_also_if_nobody_reads_its_items():
    agent = sp.Agent(Scripted([frame({"content": "x"})] * 3000), stop=[sp.max_seconds(0.05)])
    with anyio.fail_after(5):
        async with agent.run("?") as run:
            while run._loop.finish is None:
                await anyio.sleep(0.01)
    assert run.result.stopped_by == "max_seconds: 0.05"


async def test_an_answer_is_good_although_the_connection_breaks_behind_its_end():
    model = Scripted([*says("Done."), ConnectionResetError("late")])
    async with sp.Agent(model).run("?") as run:
        end = (await items_of(run))[-2]
    assert run.result.output == "Done."
    assert (end.discarded, end.failure.message) == (False, "ConnectionResetError: late")


async def test_a_stop_that_raises_leaves_each_answer_once_in_the_history():
    def stop(state):
        if state.turns:
            raise ZeroDivisionError

    async with sp.Agent(Scripted(calls(("double", {"n": 1}))), [double], stop=[stop]).run("?") as run:
        with pytest.raises(ZeroDivisionError):
            await items_of(run)
    assert len(run.result.history.rounds) == 1


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_cancellation_that_nobody_asked_for_is_a_failure_of_the_model(is_late, anyio_backend_name):
    async def source():
        yield frame({"content": "hi"})
        raise anyio.get_cancelled_exc_class()

    async def model(request):
        if is_late:
            return source()
        raise asyncio.CancelledError  # by a client: a task that it awaits was cancelled

    if anyio_backend_name == "trio":
        pytest.skip("trio's cannot be raised by hand")
    with pytest.raises(ModelError, match="CancelledError"):
        await sp.Agent(model).run("?")


async def test_a_model_whose_stream_has_no_first_chunk_has_failed():
    async def model(request):
        return await anext(stream())

    with pytest.raises(ModelError, match="StopAsyncIteration"):
        await sp.Agent(model).run("?")


async def test_a_call_that_waits_for_an_approval_when_the_run_ends_is_said_not_to_have_run():
    @sp.tool(needs_approval=True)
    async def delete(path: str) -> str:
        return "deleted"

    async with sp.Agent(Scripted(calls(("delete", {"path": "a"}))), [delete]).run("?") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.cancel()
    (result,) = run.result.history.rounds[0].results
    assert result.error.endswith("; it was not run")


async def test_the_end_of_a_turn_says_what_the_provider_could_not_be_told():
    async def model(request):
        request.body("openai", "gpt-5")
        return stream(*says("hi"))

    async with sp.Agent(model, settings={"top_k": 5}).run("?") as run:
        end = (await items_of(run))[-2]
    assert [each.keyword for each in end.lost] == ["top_k"]


async def test_a_run_names_the_threads_that_it_could_not_stop():
    let_go = threading.Event()

    @sp.tool(effect="read")
    def hang() -> str:
        let_go.wait(10)
        return "late"

    run = sp.Agent(Scripted(calls(("hang", {}))), [hang], stop=[sp.max_seconds(0.1)]).run("?")
    assert run.unstopped_threads == []
    with pytest.raises(sp.Stopped, match="max_seconds"):
        await run
    assert run.unstopped_threads == ["streamparse tool hang"]
    let_go.set()


async def test_a_run_may_be_cancelled_from_the_thread_of_a_tool():
    @sp.tool(effect="read")
    def give_up() -> str:
        run.cancel(heard="One")
        return "cancelled"

    model = Scripted([frame({"content": "One, two"}), call(0, "give_up"), anyio.Event()])
    with anyio.fail_after(5):
        async with sp.Agent(model, [give_up]).run("?") as run:
            await items_of(run)
    assert (run.result.stopped_by, run.result.history.rounds[0].heard) == ("cancelled", "One")


async def test_a_synchronous_tool_may_run_another_agent():
    other = sp.Agent(Scripted(says("four")))

    @sp.tool(effect="read")
    def ask(question: str) -> str:
        return other.run_sync(question).output or ""

    result = await sp.Agent(Scripted(calls(("ask", {"question": "2 + 2"})), says("4")), [ask]).run("?")
    assert result.history.rounds[0].results[0].result == "four"


async def test_an_output_of_a_broken_answer_does_not_count_and_is_forgotten():
    broken = [call(0, "final_answer", number="1", total=1.0), ConnectionResetError("cut")]
    model = Scripted(broken, calls(("final_answer", {"number": "2", "total": 2.0})))
    result = await sp.Agent(model, output_type=Invoice).run("?")
    assert result.output == Invoice("2", 2.0)
    assert len(result.history.rounds) == 1


async def test_what_is_sent_must_be_a_history():
    with pytest.raises(TypeError, match="prepare_history returns"):
        await sp.Agent(Scripted(says("hi")), prepare_history=lambda _: None).run("?")


async def test_a_run_that_was_not_entered_says_so():
    with pytest.raises(RuntimeError, match="not begun"):
        await anext(sp.Agent(Scripted(says("hi"))).run("?"))


async def test_a_run_that_is_cancelled_at_once_asks_no_model():
    model = Scripted(says("hi"))
    async with sp.Agent(model).run("Hi") as run:
        run.cancel()
        await items_of(run)
    assert (model.requests, run.result.stopped_by) == ([], "cancelled")
    assert run.result.history == sp.History().with_prompt("Hi")


async def test_an_approval_is_forgotten_with_the_answer_that_wanted_it():
    @sp.tool(effect="read", needs_approval=True)
    async def peek(path: str) -> str:
        return path

    model = Scripted([call(0, "peek", path="a"), ConnectionResetError("cut")], says("ok"))
    result = await sp.Agent(model, [peek]).run("?")
    assert (result.output, result.approvals) == ("ok", ())


async def test_a_tool_that_ends_the_run_may_stand_beside_an_output_type():
    @sp.tool(ends=True)
    async def give_up() -> dict[str, str]:
        return {"why": "no invoice"}

    result = await sp.Agent(Scripted(calls(("give_up", {}))), [give_up], output_type=Invoice).run("?")
    assert result.output == {"why": "no invoice"}


async def test_the_end_of_a_run_can_be_sent_to_another_process():
    agent = sp.Agent(Scripted(calls(("double", {"n": 1}))), [double], stop=[sp.max_turns(1)])
    with pytest.raises(sp.Stopped) as caught:
        await agent.run("?")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.history) == (str(caught.value), caught.value.history)


def test_an_agent_runs_where_there_is_no_event_loop():
    assert sp.Agent(Scripted(says("hi"))).run_sync("?").output == "hi"


def test_an_agent_says_at_once_what_cannot_be():
    with pytest.raises(ValueError, match="needs a model"):
        sp.Agent([])
    with pytest.raises(ValueError, match="limit"):
        sp.Agent(Scripted(), limit=0)
    with pytest.raises(ValueError, match="turns"):
        sp.max_turns(0)
    with pytest.raises(ValueError, match="seconds"):
        sp.max_seconds(float("nan"))
    for model in ("gpt-5", None, [Scripted(), "gpt-5"]):
        with pytest.raises(TypeError, match="a model is"):
            sp.Agent(model)
    with pytest.raises(TypeError, match="unknown settings"):
        sp.Agent(Scripted(), settings={"temprature": 0})
