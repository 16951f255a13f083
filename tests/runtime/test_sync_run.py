"""Tools in a plain loop: they begin early, each call has a result, and nothing is left behind."""

import threading
import time

import pytest
from turns import DONE, TEXT, complete

import streamparse as sp


@sp.tool(effect="read")
async def double(n: int) -> int:
    return 2 * n


@sp.tool
def note(text: str) -> str:
    return f"noted {text}"


def count_threads():
    return sum(each.is_alive() for each in threading.enumerate())


def test_items_come_in_order_of_arrival_and_results_in_call_order():
    run = sp.run_tools([complete(0, "note", text="a"), [TEXT, complete(1, "double", n=2)], DONE], [double, note])
    items = [*run]
    assert [type(item).__name__ for item in items[:3]] == ["ToolCallComplete", "TextDelta", "ToolCallComplete"]
    assert [each.result for each in run.results] == ["noted a", 4]
    assert sum(isinstance(item, sp.ToolResult) for item in items) == 2


def test_a_tool_that_reads_begins_while_the_source_waits_for_the_model():
    begun = threading.Event()

    @sp.tool(effect="read")
    async def look() -> str:
        begun.set()
        return "seen"

    def source():
        yield complete(0, "look")
        assert begun.wait(10)  # in the thread of the loop, which blocks
        yield DONE

    run = sp.run_tools(source(), [look])
    assert [item.result for item in run if isinstance(item, sp.ToolResult)] == ["seen"]


def test_what_the_source_raises_is_raised_after_the_last_result():
    def source():
        yield complete(0, "double", n=1)
        raise ConnectionResetError("gone")

    run = sp.run_tools(source(), [double])
    with pytest.raises(ConnectionResetError, match="gone"):
        list(run)
    assert [each.result for each in run.results] == [2]


def test_an_approval_is_given_in_the_loop():
    @sp.tool(needs_approval=True)
    def pay(amount: int) -> str:
        return f"paid {amount}"

    run = sp.run_tools([complete(0, "pay", amount=1), complete(1, "pay", amount=2), DONE], [pay])
    for item in run:
        if isinstance(item, sp.ApprovalRequest):
            run.approve(item) if item.arguments["amount"] == 1 else run.deny(item, "too much")
    assert [each.result for each in run.results] == ["paid 1", None]
    assert "too much" in run.results[1].error


def test_neither_a_full_buffer_nor_the_end_of_the_time_stops_the_loop():
    run = sp.run_tools([[TEXT] * 5000, complete(0, "double", n=1), DONE], [double], max_buffered=1)
    assert len([*run]) == 5003

    def source():
        yield complete(0, "double", n=1)
        time.sleep(0.1)
        yield [TEXT] * 10
        time.sleep(0.1)
        yield [TEXT] * 10
        raise AssertionError("it was read on")

    run = sp.run_tools(source(), [double], time_limit=0.05)
    assert [each.incomplete for each in [*run] and run.results] == [True]


@pytest.mark.parametrize("how", ["break", "with", "exception"])
def test_leaving_early_cancels_what_runs_and_leaves_no_thread(how):
    before, ended, closed = count_threads(), threading.Event(), []

    @sp.tool(effect="read")
    async def wait() -> None:
        import anyio

        try:
            await anyio.sleep(60)
        finally:
            ended.set()

    def source():
        try:
            yield complete(0, "wait")
            yield TEXT
            yield DONE
        finally:
            closed.append(True)

    def leave():
        with sp.run_tools(source(), [wait]) as run:
            for item in run:
                if isinstance(item, sp.TextDelta):
                    if how == "exception":
                        raise ZeroDivisionError
                    return

    def leave_bare():
        for item in sp.run_tools(source(), [wait]):
            if isinstance(item, sp.TextDelta):
                break

    if how == "exception":
        with pytest.raises(ZeroDivisionError):
            leave()
    else:
        (leave_bare if how == "break" else leave)()
    assert ended.wait(10)
    assert closed == [True]
    until = time.monotonic() + 10
    while count_threads() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert count_threads() == before


def test_a_loop_over_a_parser_and_its_tools_makes_the_next_request():
    from scripted import calls

    stream = sp.iter_events(calls(("double", {"n": 21})), "openai-chat", tools=[double])
    run = sp.run_tools(stream, [double])
    for _ in run:
        pass
    message = sp.as_message(stream.parser.response, "openai")
    assert message["tool_calls"][0]["function"]["name"] == "double"
    assert [each.result for each in run.results] == [42]
