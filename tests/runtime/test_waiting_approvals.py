"""An approval may wait for another request, another process, another day."""

import anyio
import msgspec
import pytest
from scripted import END, Scripted, call, calls, frame, says

import streamparse as sp
from streamparse.runtime import ChangedRun

pytestmark = pytest.mark.anyio


class Desk:
    """Tools that note in which order they begin."""

    def __init__(self):
        self.log = []

        @sp.tool(needs_approval=True, lock=lambda arguments: "money" if arguments else None)
        async def pay(amount: int, ctx: sp.ToolContext) -> str:
            self.log.append(("pay", amount, ctx.idempotency_key))
            return f"paid {amount}"

        @sp.tool(lock="*")
        async def file(title: str) -> str:
            self.log.append(("file", title))
            return "filed"

        @sp.tool(effect="read")
        async def look() -> str:
            self.log.append(("look",))
            return "seen"

        self.tools = [pay, file, look]


WANTED = calls(("look", {}), ("pay", {"amount": 1}), ("pay", {"amount": "2"}), ("file", {"title": "a"}))


async def stop_at_approval(desk, **options):
    with pytest.raises(sp.Stopped, match="approval") as caught:
        await sp.Agent(Scripted(WANTED), desk.tools, **options).run("Pay.")
    return caught.value.result


def save_and_load(history):
    return msgspec.json.decode(msgspec.json.encode(history), type=sp.History)


async def test_a_run_stops_once_all_that_is_left_waits_and_no_call_is_said_to_be_denied():
    desk = Desk()
    result = await stop_at_approval(desk)
    assert desk.log == [("look",)]
    assert [each.arguments for each in result.approvals] == [{"amount": 1}, {"amount": 2}]
    waiting = result.history.waiting
    assert [(each.name, each.effect, each.needs_approval) for each in waiting] == [
        ("pay", "write", True), ("pay", "write", True), ("file", "write", False),
    ]  # fmt: skip
    assert [each.key for each in waiting[:2]] == [each.key for each in result.approvals]
    told = result.history.messages("openai")[-3:]
    assert all("waits for an approval" in each["content"] and "denied" not in each["content"] for each in told)


async def test_decisions_let_the_calls_go_on_in_call_order_with_the_same_keys():
    desk = Desk()
    result = await stop_at_approval(desk)
    keys = [each.key for each in result.approvals]
    model = Scripted(says("All paid."))
    done = await sp.Agent(model, desk.tools).run(
        history=save_and_load(result.history), decisions={keys[1]: "too much", keys[0]: True}
    )
    assert desk.log == [("look",), ("pay", 1, keys[0]), ("file", "a")]
    assert done.output == "All paid."
    first, second, third = model.sent()[-3:]
    assert (first["content"], third["content"]) == ("paid 1", "filed")
    assert "denied: too much" in second["content"]
    assert done.history.waiting == ()


async def test_who_decides_on_one_call_alone_is_asked_again_about_the_others():
    desk = Desk()
    result = await stop_at_approval(desk)
    keys = [each.key for each in result.approvals]
    with pytest.raises(sp.Stopped, match="approval") as caught:
        await sp.Agent(Scripted(), desk.tools).run(history=result.history, decisions={keys[0]: True})
    again = caught.value.result
    assert [each.key for each in again.approvals] == [keys[1]]
    assert [each.result for each in again.history.rounds[-1].results] == ["seen", "paid 1", None, None]
    done = await sp.Agent(Scripted(says("ok")), desk.tools).run(history=again.history, decisions={keys[1]: True})
    assert (done.output, desk.log[-2:]) == ("ok", [("pay", 2, keys[1]), ("file", "a")])


async def test_in_a_block_the_others_may_be_approved_at_once():
    desk = Desk()
    result = await stop_at_approval(desk)
    keys = [each.key for each in result.approvals]
    agent = sp.Agent(Scripted(says("ok")), desk.tools)
    async with agent.run(history=result.history, decisions={keys[0]: True}) as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                assert item.key == keys[1]
                run.approve(item)
    assert run.result.output == "ok"


async def test_an_approval_that_waited_gives_what_one_at_once_gives():
    desk, other = Desk(), Desk()
    result = await stop_at_approval(desk)
    waited = await sp.Agent(Scripted(says("ok")), desk.tools).run(
        history=result.history, decisions={each.key: True for each in result.approvals}
    )
    async with sp.Agent(Scripted(WANTED, says("ok")), other.tools).run("Pay.") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.approve(item)
    at_once = run.result
    assert waited.output == at_once.output
    assert waited.history.messages("openai") == at_once.history.messages("openai")
    assert [each[:2] for each in desk.log] == [each[:2] for each in other.log]


@pytest.mark.parametrize("approvals", [None, "stop"])
async def test_a_block_may_stop_for_approvals_too(approvals):
    desk, asked = Desk(), []
    async with sp.Agent(Scripted(WANTED, says("ok")), desk.tools, approvals=approvals).run("Pay.") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                asked.append(item.key)
                if approvals is None:
                    run.approve(item)
    assert len(asked) == 2
    assert run.result.stopped_by == (None if approvals is None else "approval")


async def test_any_task_may_approve_while_a_run_waits():
    desk = Desk()
    agent = sp.Agent(Scripted(WANTED, says("ok")), desk.tools)
    async with agent.run("Pay.") as run, anyio.create_task_group() as tasks:

        async def decide(request):
            await anyio.sleep(0.01)
            run.approve(request)

        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                tasks.start_soon(decide, item)
    assert run.result.output == "ok"


async def test_a_decision_names_a_call_that_waits_and_a_tool_that_is_what_it_was():
    desk = Desk()
    result = await stop_at_approval(desk)
    agent = sp.Agent(Scripted(), desk.tools)
    with pytest.raises(ValueError, match="no call with the key 'nope' waits"):
        await agent.run(history=result.history, decisions={"nope": True})
    with pytest.raises(ValueError, match="no call with the key"):
        await agent.run("And?", history=result.history, decisions={result.approvals[0].key: True})

    @sp.tool(effect="read")
    async def pay(amount: int) -> str:
        return "paid"

    with pytest.raises(ChangedRun, match="'pay', of which a call waits"):
        await sp.Agent(Scripted(), [pay, *desk.tools[1:]]).run(
            history=result.history, decisions={result.approvals[0].key: True}
        )


async def test_a_tool_that_asks_no_more_still_obeys_a_denial():
    desk = Desk()
    result = await stop_at_approval(desk)

    @sp.tool
    async def pay(amount: int) -> str:
        desk.log.append("paid")
        return "paid"

    decisions = {each.key: False for each in result.approvals}
    done = await sp.Agent(Scripted(says("ok")), [pay, *desk.tools[1:]]).run(history=result.history, decisions=decisions)
    assert (done.output, "paid" in desk.log) == ("ok", False)


async def test_an_answer_that_was_cut_waits_for_no_approval():
    desk = Desk()
    cut = [call(0, "look"), call(1, "pay", amount=1), frame({"content": "so"}), ConnectionResetError("gone")]
    result = await sp.Agent(Scripted(cut, says("ok")), desk.tools).run("Pay.")
    assert (result.output, result.approvals, result.history.waiting) == ("ok", (), ())


async def test_another_prompt_leaves_the_calls_as_they_are():
    desk = Desk()
    result = await stop_at_approval(desk)
    model = Scripted(says("ok"))
    done = await sp.Agent(model, desk.tools).run("Never mind.", history=result.history)
    assert done.output == "ok"
    assert desk.log == [("look",)]
    assert "waits for an approval" in model.sent()[-2]["content"]


async def test_a_call_that_ends_the_run_ends_it_after_its_approval():
    @sp.tool(ends=True, needs_approval=True)
    async def submit(answer: str) -> str:
        return answer

    with pytest.raises(sp.Stopped) as caught:
        await sp.Agent(Scripted(calls(("submit", {"answer": "42"}))), [submit]).run("?")
    result = caught.value.result
    (request,) = result.approvals
    assert (
        await sp.Agent(Scripted(), [submit]).run(history=result.history, decisions={request.key: True})
    ).output == "42"


def test_a_word_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'wait' or 'stop'"):
        sp.Agent(Scripted(says("hi"), END), approvals="ask")


@pytest.mark.parametrize("seconds", [5, None])
async def test_what_is_waited_for_an_approval_counts_for_no_limit(seconds):
    desk, now = Desk(), [0.0]
    limits = {} if seconds is None else {"stop": [sp.max_seconds(seconds)]}
    model = Scripted(calls(("pay", {"amount": 1})), calls(("pay", {"amount": 2})), says("All paid."))
    agent = sp.Agent(model, desk.tools, clock=lambda: now[0], time_limit=7, **limits)
    async with agent.run("Pay.") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                await anyio.wait_all_tasks_blocked()
                now[0] += 1000
                run.approve(item)
    assert (run.result.stopped_by, run.result.output) == (None, "All paid.")
    assert [entry[:2] for entry in desk.log] == [("pay", 1), ("pay", 2)]


async def test_time_counts_again_once_it_was_approved():
    now = [0.0]

    @sp.tool(needs_approval=True)
    async def pay() -> str:
        now[0] += 6
        return "paid"

    model = Scripted(calls(("pay", {})), says("All paid."))
    async with sp.Agent(model, [pay], clock=lambda: now[0], stop=[sp.max_seconds(5)]).run("Pay.") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                await anyio.wait_all_tasks_blocked()
                now[0] += 1000
                run.approve(item)
    assert run.result.stopped_by == "max_seconds: 5"


async def test_it_counts_for_no_limit_either_if_the_program_ends_meanwhile(tmp_path):
    desk, now = Desk(), [0.0]
    path = tmp_path / "run.jsonl"

    def make_agent(*answers):
        return sp.Agent(Scripted(*answers), desk.tools, clock=lambda: now[0], stop=[sp.max_seconds(5)])

    async with make_agent(calls(("pay", {"amount": 1}))).run("Pay.", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                await anyio.wait_all_tasks_blocked()
                now[0] += 1000
                break
    async with make_agent(says("Paid.")).run("Pay.", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                await anyio.wait_all_tasks_blocked()
                now[0] += 1000
                run.approve(item)
    assert (run.result.stopped_by, run.result.output, len(desk.log)) == (None, "Paid.", 1)
