"""What tools, predicates and consumers do to the objects that they are handed, or raise, changes nothing else."""

import dataclasses
import gc
import json
import threading
import time
import tracemalloc
import warnings
from typing import Any

import anyio
import msgspec
import pytest
from turns import DONE, collect, complete, stream

import streamparse as sp

pytestmark = pytest.mark.anyio


def write_file_events(path, content):
    text = json.dumps({"path": path, "content": content})
    yield sp.ToolCallStart(0, "a", "write_file")
    for at in range(0, len(text), 4):
        yield sp.ToolCallDelta(0, text[at : at + 4])
    yield sp.ToolCallComplete(0, "a", "write_file", json.loads(text), "native", text)


async def run_tools(tools, *events, **settings):
    async with sp.ToolRunner(tools, **settings) as runner:
        await collect(runner, stream(*events))
    return runner.results


def quick():
    return "fine"


QUICK = sp.Tool("quick", function=quick)


# -- errors that cannot be described -----------------------------------------------------------------------


class Unfinished(sp.ToolError):
    def __init__(self):
        self.code = 3


class Wordless(sp.ToolError):
    def __init__(self):
        super().__init__("execution", "words")
        self.message = None


@pytest.mark.parametrize(
    "error", [Unfinished(), Wordless(), SyntaxError("no", ("file", 1, "no column", "text"))], ids=repr
)
async def test_an_error_that_cannot_be_described_is_the_failure_of_its_call_alone(error):
    @sp.tool(effect="read")
    async def fail():
        raise error

    failed, fine = await run_tools([fail, QUICK], complete(0, "fail"), complete(1, "quick"), DONE)
    assert failed.failure.kind == "execution"
    assert type(error).__name__ in failed.error
    assert fine.result == "fine"


async def run_one_that_raises(error, *, in_thread):
    calls = []

    @sp.tool(name="fail", effect="read", retries=1)
    async def fail():
        calls.append("fail")
        raise error

    @sp.tool(name="fail", effect="read", retries=1)
    def fail_in_thread():
        calls.append("fail")
        raise error

    failed, fine = await run_tools(
        [fail_in_thread if in_thread else fail, QUICK], complete(0, "fail"), complete(1, "quick"), DONE
    )
    assert fine.result == "fine"
    return failed, len(calls)


@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_group_of_one_error_says_what_that_says(in_thread):
    nested = ExceptionGroup("tasks", [ExceptionGroup("more", [sp.ToolError("network", "no route")])])
    failed, calls = await run_one_that_raises(nested, in_thread=in_thread)
    assert (failed.failure.kind, failed.failure.message, calls) == ("network", "no route", 2)
    failed, calls = await run_one_that_raises(ExceptionGroup("tasks", [KeyError("city")]), in_thread=in_thread)
    assert (failed.failure.kind, failed.failure.message, calls) == ("execution", "KeyError: 'city'", 1)


async def test_of_a_group_of_errors_the_first_are_named():
    group = ExceptionGroup("tasks", [ValueError("a"), ExceptionGroup("", [KeyError("b")]), *map(OSError, "cd")])
    failed, _ = await run_one_that_raises(group, in_thread=False)
    assert failed.failure.message.endswith("(4 sub-exceptions): ValueError: a; KeyError: 'b'; OSError: c")


async def test_a_keyboard_interrupt_in_a_group_of_a_thread_is_not_the_users():
    failed, _ = await run_one_that_raises(BaseExceptionGroup("tasks", [KeyboardInterrupt()]), in_thread=True)
    assert failed.failure.kind == "execution"


async def test_a_suggestion_of_none_is_none():
    assert sp.ToolError("execution", "no", suggestion=None).suggestion == ""


@pytest.mark.parametrize("seconds", [10**400, -(10**400), float("inf"), 2**70])
async def test_seconds_that_no_clock_can_hold_do_not_end_the_run(seconds):
    @sp.tool(effect="read", retries=1)
    async def fail():
        raise sp.ToolError("quota", "slow down", details={"retry_after": seconds})

    failed, fine = await run_tools([fail, QUICK], complete(0, "fail"), complete(1, "quick"), DONE)
    assert failed.failure.kind == "quota"
    assert fine.result == "fine"


async def test_a_keyboard_interrupt_of_a_thread_is_not_the_users():
    def interrupt():
        raise KeyboardInterrupt

    tools = [sp.Tool("interrupt", function=interrupt), QUICK]
    failed, fine = await run_tools(tools, complete(0, "interrupt"), complete(1, "quick"), DONE)
    assert "KeyboardInterrupt" in failed.error
    assert fine.result == "fine"


def leave(_given):
    raise SystemExit(3)


@pytest.mark.parametrize("options", [{"lock": leave}, {"needs_approval": leave}], ids=", ".join)
async def test_a_predicate_that_leaves_the_program_keeps_its_call_from_running_and_no_other(options):
    tools = [sp.Tool("judged", function=quick, **options), QUICK]
    judged, fine = await run_tools(tools, complete(0, "judged"), complete(1, "quick"), DONE)
    assert judged.failure.code == "declaration_failed"
    assert fine.result == "fine"


async def test_a_guard_that_leaves_the_program_keeps_its_call_from_running():
    (judged,) = await run_tools([QUICK], complete(0, "quick"), DONE, guards=[leave])
    assert judged.failure.code == "guard_failed"


# -- what was checked is what runs -------------------------------------------------------------------------


async def test_what_an_attempt_does_to_its_arguments_is_not_seen_by_the_next():
    @sp.tool(effect="read")
    async def grow(items: list[Any], options: dict[str, Any], ctx: sp.ToolContext) -> list[Any]:
        seen = json.loads(json.dumps([items, options]))
        items.append("more")
        options["inner"]["key"] = 1
        if ctx.attempt == 1:
            raise sp.ToolError("network", "no route")
        return seen

    (result,) = await run_tools([grow], complete(0, "grow", items=[1], options={"inner": {}}), DONE)
    assert result.attempts == 2
    assert result.result == [[1], {"inner": {}}]
    assert result.arguments == {"items": [1], "options": {"inner": {}}}


async def test_a_function_without_annotations_may_change_its_arguments():
    async def grow(**given):
        given["items"].append("more")
        return "grown"

    tool = sp.Tool("grow", "", {"type": "object", "properties": {"items": {"type": "array"}}}, grow)
    (result,) = await run_tools([tool], complete(0, "grow", items=[1]), DONE)
    assert result.arguments == {"items": [1]}


async def test_what_a_predicate_does_to_the_arguments_does_not_run():
    def needs_approval(call):
        call.arguments["path"] = "another"
        return False

    @sp.tool(lock=lambda arguments: arguments.pop("path"), needs_approval=needs_approval)
    async def look(path: str = "default") -> str:
        return path

    (result,) = await run_tools([look], complete(0, "look", path="a"), DONE)
    assert result.result == "a"
    assert result.arguments == {"path": "a"}


async def test_what_the_consumer_does_to_a_request_does_not_run():
    @sp.tool(needs_approval=True)
    async def look(path: str) -> str:
        return path

    async with sp.ToolRunner([look]) as runner:
        run = runner.run(stream(complete(0, "look", path="a"), DONE))
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                item.arguments["path"] = "another"
                run.approve(item)
    assert runner.results[0].result == "a"


async def test_a_denial_without_words_can_be_made_again():
    @sp.tool(needs_approval=True)
    async def look(path: str) -> str:
        return path

    async with sp.ToolRunner([look]) as runner:
        run = runner.run(stream(complete(0, "look", path="a"), DONE))
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                with pytest.raises(TypeError, match="why must be a text"):
                    run.deny(item, 5)  # type: ignore[arg-type]
                run.deny(item, "no")
    assert runner.results[0].failure.code == "denied"


async def test_a_request_that_comes_back_with_another_index_approves_no_other_call():
    ran = []

    @sp.tool(needs_approval=True)
    async def delete(path: str):
        ran.append(path)

    with anyio.fail_after(30):
        async with sp.ToolRunner([delete]) as runner:
            run = runner.run(stream(complete(0, "delete", path="a"), complete(1, "delete", path="b"), DONE))
            async for item in run:
                if isinstance(item, sp.ApprovalRequest) and item.index == 0:
                    run.approve(msgspec.structs.replace(item, index=1))
                elif isinstance(item, sp.ApprovalRequest):
                    run.deny(item)
    assert ran == ["a"]


@dataclasses.dataclass
class Colour:
    name: str

    def __post_init__(self):
        self.code = {"red": 1}[self.name]  # as a validator of pydantic may look something up


async def test_what_the_type_of_an_argument_raises_is_its_calls_error():
    @sp.tool(effect="read")
    async def paint(colour: Colour):
        return colour.code

    calls = (complete(index, "paint", colour={"name": name}) for index, name in enumerate(("blue", "red")))
    bad, good = await run_tools([paint], *calls, DONE)
    assert (bad.failure.kind, bad.attempts) == ("validation", 0)
    assert "KeyError: 'blue'" in bad.error
    assert good.result == 1


async def test_a_denial_in_words_that_no_encoding_has_can_be_sent_to_the_model():
    @sp.tool(needs_approval=True)
    async def look() -> str:
        raise AssertionError

    async with sp.ToolRunner([look]) as runner:
        run = runner.run(stream(complete(0, "look"), DONE))
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.deny(item, "not caf\udce9")  # as a terminal's input is read that is no UTF-8
    assert runner.results[0].error.endswith("denied: not caf\ufffd")
    assert msgspec.json.decode(msgspec.json.encode(runner.results[0]), type=sp.ToolResult) == runner.results[0]


# -- arguments that are streamed ---------------------------------------------------------------------------


def make_writer(log):
    @sp.tool(effect="idempotent", timeout=5)
    async def write_file(path: str, content: sp.Streamed[str], ctx: sp.ToolContext) -> str:
        text = "".join([piece async for piece in content])
        log.append((text, ctx.deadline))
        return text

    return write_file


@pytest.mark.parametrize("again", [False, True])
async def test_a_second_start_takes_no_text_from_a_function_that_was_opened(again):
    events = list(write_file_events("a", "Once upon a time"))
    rest = events[1:] if again else events[10:]
    (result,) = await run_tools([make_writer([])], *events[:10], events[0], *rest, DONE)
    assert result.result == "Once upon a time"


async def test_a_call_that_is_whole_in_one_batch_knows_its_deadline():
    log = []

    async def batch():
        yield [*write_file_events("a", "Once"), DONE]

    async with sp.ToolRunner([make_writer(log)], clock=lambda: 7.0) as runner:
        async for _ in runner.run(batch()):
            pass
    assert log == [("Once", 12.0)]


async def test_a_text_that_is_not_read_to_its_end_leaves_nothing_behind():
    content = sp.Streamed.of("a", "b")
    async for piece in content:
        assert piece == "a"
        break
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del content
        gc.collect()
    assert [str(each.message) for each in caught] == []


# -- bounds ------------------------------------------------------------------------------------------------


async def test_of_the_progress_that_a_thread_shows_while_the_loop_is_busy_the_latest_stays():
    shown = threading.Event()

    @sp.tool(effect="read")
    def count(ctx: sp.ToolContext) -> str:
        for number in range(200):
            ctx.progress(f"{number} {'x' * 100_000}")
        shown.set()
        time.sleep(0.05)
        return "counted"

    seen, waiting = [], 0
    tracemalloc.start()
    try:
        async with sp.ToolRunner([count]) as runner:
            async for item in runner.run(stream(complete(0, "count"), DONE)):
                if isinstance(item, sp.Done):
                    shown.wait(5)  # the event loop does nothing meanwhile
                    waiting, _ = tracemalloc.get_traced_memory()
                if isinstance(item, sp.Progress):
                    seen.append(item.value.partition(" ")[0])
    finally:
        tracemalloc.stop()
    assert seen[-1] == "199"
    assert 0 < waiting < 5_000_000  # bytes


async def test_a_result_that_would_only_be_made_now_is_bounded():
    tool = sp.Tool("count", function=lambda: range(10**9), effect="read")
    (result,) = await run_tools([tool], complete(0, "count"), DONE)
    assert result.failure.code == "bad_result"
    assert "1000000000 items" in result.error


async def test_a_tools_name_in_an_error_is_bounded():
    (result,) = await run_tools([QUICK], complete(0, "quick" * 10_000), DONE)
    assert len(result.error) < 1000


async def test_the_path_of_a_change_can_be_written_as_json():
    @sp.tool(effect="read")
    async def save(ctx: sp.ToolContext) -> str:
        ctx.report_change("FileModified", "a\udcff")
        return "saved"

    (result,) = await run_tools([save], complete(0, "save"), DONE)
    assert [change.path for change in result.state_changes] == ["a\ufffd"]
    assert msgspec.json.encode(result)


@pytest.mark.parametrize(
    "options",
    [{"timeout": "5"}, {"timeout": 0}, {"timeout": float("nan")}, {"tier": "1"}, {"needs_approval": "no"}],
    ids=repr,
)
def test_a_declaration_that_cannot_be_obeyed_is_refused_at_once(options):
    with pytest.raises((TypeError, ValueError), match="'look'"):
        sp.Tool("look", **options)


def test_a_runner_has_no_time_limit_that_is_no_number():
    with pytest.raises(ValueError, match="must be positive"):
        sp.ToolRunner([], timeout=float("nan"))
