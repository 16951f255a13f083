"""A run whose process ends goes on with its journal, wherever that was."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path

import anyio
import httpx
import journaled
import msgspec
import pytest
from history_rules import check_messages
from journaled import make_model, make_tools, run_once
from scripted import Scripted, call, calls, frame, says

import streamparse as sp
from streamparse.runtime import ChangedRun, JournalFile
from streamparse.runtime.replay import list_items

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent


@pytest.fixture(params=["asyncio"])
def anyio_backend(request):
    return request.param


def start(folder, kill_at=-1, when="after"):
    """Run it in a process of its own, to its end or its death."""
    return subprocess.run(
        [sys.executable, HERE / "journaled.py", folder, "asyncio", str(kill_at), when],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(HERE)},
    )  # fmt: skip


async def count_appends(tmp_path):
    file = journaled.Killed(tmp_path / "whole.jsonl", -1, "after")
    folder = tmp_path / "whole"
    folder.mkdir()
    result = await run_once(folder, file)
    return file.count, result


def check_end(folder, key_of_run=None):
    """What must hold of a run that was killed and went on."""
    result = msgspec.json.decode((folder / "result").read_bytes(), type=tuple[int, sp.RunResult[str]])[1]
    assert result.output == "All done."
    lines = (folder / "effects").read_text().splitlines()
    done = Counter(line.rsplit(" ", 1)[0] for line in lines)
    unknown = [
        each
        for round_ in result.history.rounds
        for each in round_.results
        if each.error is not None and "outcome is unknown" in each.error
    ]
    for to in ("a", "b"):
        assert done[f"send {to}"] <= 1, lines
    keys = {line.rsplit(" ", 1)[0]: set() for line in lines}
    for line in lines:
        what, _, key = line.rpartition(" ")
        keys[what].add(key)
    assert all(len(each) == 1 for each in keys.values()), lines
    assert len(unknown) <= 1
    for provider in ("openai", "anthropic", "gemini"):
        check_messages(provider, result.history.messages(provider))
    return result, unknown


def fork(folder, kill_at=-1, when="after"):
    """The same in a copy of this process, which has all modules loaded; return the signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            journaled.run_to_end(folder, "asyncio", kill_at, when)
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
@pytest.mark.parametrize("when", ["before", "after", "torn"])
def test_it_goes_on_after_a_kill_before_and_after_each_append(tmp_path, when):
    appends, whole = anyio.run(count_appends, tmp_path)
    assert 15 < appends < 40
    for kill_at in range(appends):
        folder = tmp_path / f"{kill_at}"
        folder.mkdir()
        assert fork(folder, kill_at, when) == signal.SIGKILL
        begun = {key for record in read(folder / "run.jsonl") for key in getattr(record, "began", ())}
        assert fork(folder) == 0
        result, unknown = check_end(folder)
        for each in unknown:  # its begin was durable
            assert f"{result_key(folder, each)}#1" in begun
        if not unknown and all(each.response.ok for each in result.history.rounds):
            assert result.history.messages("openai") == whole.history.messages("openai")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
def test_it_goes_on_however_often_it_is_killed(tmp_path):
    kills = 0
    while fork(tmp_path, 11, "after") == signal.SIGKILL:  # each process gets no further than twelve appends
        kills += 1
        assert kills < 40
    check_end(tmp_path)
    assert kills >= 2


def read(path):
    return sp.Journal(path).read()


def result_key(folder, result):
    return f"{read(folder / 'run.jsonl')[0].id}:{result.turn}:{result.index}"


async def test_a_finished_journal_gives_its_result_again_and_runs_nothing(tmp_path):
    path = tmp_path / "run.jsonl"
    first = await run_once(tmp_path, path)
    before = (path.read_bytes(), (tmp_path / "effects").read_text())
    again = await sp.Agent(Scripted(), make_tools(tmp_path), system="Be careful.").run("Do it.", journal=path)
    assert again == first
    assert (path.read_bytes(), (tmp_path / "effects").read_text()) == before


async def test_a_journal_shows_a_run_item_for_item(tmp_path):
    agent = sp.Agent(make_model(), make_tools(tmp_path), system="Be careful.")
    async with agent.run("Do it.", journal=tmp_path / "run.jsonl") as run:
        shown = [item async for item in run if not isinstance(item, sp.Partial | sp.Progress)]
    encode = msgspec.json.encode
    kept = list_items(read(tmp_path / "run.jsonl"))
    assert [encode(item) for item in kept] == [encode(item) for item in shown]


async def test_a_run_that_waited_for_its_server_and_was_cancelled_is_kept_as_it_was(tmp_path):
    path = tmp_path / "run.jsonl"
    answer = [frame({"content": "One, "}), frame({"content": "two"}), anyio.Event()]
    shown = []
    async with sp.Agent(Scripted(httpx.ConnectError("down"), answer)).run("Count.", journal=path) as run:
        async for item in run:
            shown.append(item)
            if item == sp.TextDelta("two"):
                run.cancel(heard="One")
    assert [item.number for item in shown if isinstance(item, sp.TurnEnd)] == [0, 1]
    assert run.result.history.rounds[-1].heard == "One"
    encode = msgspec.json.encode
    assert [encode(item) for item in list_items(read(path))] == [
        encode(item) for item in shown if not isinstance(item, sp.Partial)
    ]
    with pytest.raises(sp.Stopped, match="cancelled") as caught:
        await sp.Agent(Scripted()).run("Count.", journal=path)
    assert caught.value.result == run.result


async def test_it_holds_neither_bodies_nor_headers_nor_keys_nor_deps(tmp_path, caplog):
    secret = "sk-planted-0123456789"

    def answer(request):
        return httpx.Response(401, json={"error": {"message": f"bad key {secret}"}})

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    model = sp.http_model(
        f"https://me:{secret}@a.example/v1?api_key={secret}", "openai-chat", "m", api_key=secret, client=client,
        headers={"x-token": secret}, extra_body={"key": secret},
    )  # fmt: skip
    caplog.set_level("DEBUG", "streamparse")
    path = tmp_path / "run.jsonl"
    with pytest.raises(sp.ModelError):
        await sp.Agent(model, make_tools(tmp_path)).run("Hi", journal=path, deps={"password": secret})
    assert path.stat().st_size > 0
    assert secret not in path.read_text()
    assert secret not in "".join(each.getMessage() for each in caplog.records if each.name.startswith("streamparse"))


async def test_what_is_redacted_is_not_written(tmp_path):
    path = tmp_path / "run.jsonl"

    def hide(text):
        return text.replace("north", "[hidden]")

    await run_once(tmp_path, sp.Journal(path, redact=hide))
    text = path.read_text()
    assert "north" not in text
    assert "[hidden]" in text
    again = await sp.Agent(Scripted(), make_tools(tmp_path), system="Be careful.").run(
        "Do it.", journal=sp.Journal(path, redact=hide)
    )
    assert again.output == "All done."


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such modes")
async def test_only_its_owner_can_read_it(tmp_path):
    await run_once(tmp_path, tmp_path / "run.jsonl")
    assert stat.S_IMODE((tmp_path / "run.jsonl").stat().st_mode) == 0o600


async def test_a_second_writer_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    agent = sp.Agent(make_model(), make_tools(tmp_path), system="Be careful.")
    async with agent.run("Do it.", journal=path):
        with pytest.raises(sp.JournalBusy):
            await agent.run("Do it.", journal=path)
        with pytest.raises(sp.JournalBusy):
            sp.Journal(path).approve("key")
        other = subprocess.run(
            [sys.executable, HERE / "journaled.py", tmp_path, "asyncio", "-1", "after"],
            capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(HERE)},
        )  # fmt: skip
        assert "JournalBusy" in other.stderr
    assert (await agent.run("Do it.", journal=path)).output == "All done."  # as if the process had ended


class Full(JournalFile):
    """A disk that is full after so many lines."""

    def __init__(self, path, room):
        super().__init__(path)
        self.room = room

    def append(self, line, *, durable):
        if self.room == 0:
            super().append(line[:10], durable=False)  # what still fits
            os.ftruncate(self._file, self.path.stat().st_size - 11)
            raise OSError(errno.ENOSPC, "No space left on device")
        self.room -= 1
        super().append(line, durable=durable)


async def test_a_full_disk_ends_the_run_before_the_act_and_there_is_room_again_later(tmp_path):
    appends, _ = await count_appends(tmp_path)
    for room in range(appends):
        folder = tmp_path / str(room)
        folder.mkdir()
        path = folder / "run.jsonl"
        with pytest.raises(OSError, match="No space left"):
            await run_once(folder, Full(path, room))
        begun = {key for record in read(path) for key in getattr(record, "began", ())} if room else set()
        effects = (folder / "effects").read_text().splitlines() if (folder / "effects").exists() else []
        assert all(f"{line.rsplit(' ', 1)[1]}#1" in begun for line in effects)
        result = await run_once(folder, path)
        assert result.output == "All done."
        done = Counter(line.split(" ")[1] for line in (folder / "effects").read_text().splitlines() if "send" in line)
        assert max(done.values()) == 1


async def test_another_prompt_history_version_or_tool_is_said(tmp_path):
    path = tmp_path / "run.jsonl"
    start(tmp_path, 5)  # a process of its own
    agent = sp.Agent(make_model(), make_tools(tmp_path), system="Be careful.")
    with pytest.raises(ChangedRun, match="its prompt or its history"):
        await agent.run("Do something else.", journal=path)
    with pytest.raises(ChangedRun, match="its prompt or its history"):
        await agent.run("Do it.", history=sp.History().with_prompt("Hello"), journal=path)
    newer = tmp_path / "newer.jsonl"
    newer.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    with pytest.raises(ChangedRun, match="version 2"):
        await agent.run("Do it.", journal=newer)
    other = tmp_path / "other.jsonl"
    other.write_text('{"hello": 1}\n')
    with pytest.raises(ChangedRun, match="no journal"):
        await agent.run("Do it.", journal=other)


async def test_a_tool_of_an_open_call_must_be_what_it_was_but_for_its_description(tmp_path):
    path = tmp_path / "run.jsonl"

    def make(description="d", effect="write", schema=None):
        kind = {"type": "string", "description": description}
        schema = schema or {"type": "object", "properties": {"to": kind}, "required": ["to"]}

        async def send(to):
            await anyio.sleep(60 if description == "d" else 0)
            return "sent"

        return sp.Tool("send", description, schema, send, effect)

    def agent(tool):
        return sp.Agent(Scripted(calls(("send", {"to": "a"})), says("ok")), [tool])

    async with agent(make()).run("Do it.", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.Done):
                await anyio.wait_all_tasks_blocked()
                break
    kept = path.read_bytes()
    for tool in (make(effect="idempotent"), make(schema={"type": "object", "properties": {"to": {"type": "integer"}}})):
        with pytest.raises(ChangedRun, match="'send', of which a call is open"):
            await agent(tool).run("Do it.", journal=path)
    assert path.read_bytes() == kept
    other = sp.Agent(Scripted(says("ok")), [make("another")])
    assert (await other.run("Do it.", journal=path)).output == "ok"


async def test_an_answer_cut_by_a_crash_before_any_tool_began_is_asked_for_again(tmp_path):
    path = tmp_path / "run.jsonl"

    async def hang(request):
        async def source():
            yield frame({"content": "Hel"})
            await anyio.sleep(60)

        request.read_as("openai-chat")
        return source()

    async with sp.Agent(hang).run("Hi", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.TextDelta):
                break
    async with sp.Agent(Scripted(says("Hello."))).run("Hi", journal=path) as run:
        ends = [item async for item in run if isinstance(item, sp.TurnEnd)]
    assert [each.discarded for each in ends] == [True, False]
    assert (run.result.output, len(run.result.history.rounds)) == ("Hello.", 1)


async def test_an_answer_cut_after_a_tool_began_is_kept_with_an_answer_to_each_call(tmp_path):
    path = tmp_path / "run.jsonl"
    seen = []

    @sp.tool(effect="read")
    async def look(at: str) -> str:
        seen.append(at)
        if len(seen) == 1:
            await anyio.sleep(60)
        return "a door"

    async def hang(request):
        async def source():
            yield frame({"content": "I look."})
            yield call(0, "look", at="north")
            yield frame({"tool_calls": [{"index": 1, "id": "c1", "function": {"name": "look", "arguments": '{"a'}}]})
            await anyio.sleep(60)

        request.read_as("openai-chat")
        return source()

    async with sp.Agent(hang, [look]).run("Hi", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.ToolCallStart) and item.index == 1:
                await anyio.sleep(0.01)
                break
    model = Scripted(says("ok"))
    result = await sp.Agent(model, [look]).run("Hi", journal=path)
    assert (result.output, seen) == ("ok", ["north", "north"])
    assert result.history.rounds[0].response.content == "I look."
    check_messages("openai", result.history.messages("openai"))
    assert model.sent()[-2]["content"] == "a door"


# -- approvals ----------------------------------------------------------------------------------------


def make_payer(paid):
    @sp.tool(needs_approval=True)
    async def pay(amount: int) -> str:
        paid.append(amount)
        return f"paid {amount}"

    return pay


async def test_an_approval_two_restarts_later_gives_what_one_at_once_gives(tmp_path):
    path, paid = tmp_path / "run.jsonl", []

    def agent(*answers):
        return sp.Agent(Scripted(*answers), [make_payer(paid)])

    with pytest.raises(sp.Stopped, match="approval") as caught:
        await agent(calls(("pay", {"amount": 5}))).run("Pay.", journal=path)
    (request,) = sp.Journal(path).requests
    assert caught.value.result.approvals == (request,)
    with pytest.raises(sp.Stopped, match="approval"):
        await agent().run("Pay.", journal=path)  # nobody has decided
    sp.Journal(path).approve(request.key)
    with pytest.raises(ValueError, match="does not wait any more"):
        sp.Journal(path).approve(request.key)
    with pytest.raises(ValueError, match="no call of this run"):
        sp.Journal(path).approve("other")
    result = await agent(says("ok")).run("Pay.", journal=path)
    assert (result.output, paid) == ("ok", [5])
    assert await agent().run("Pay.", journal=path) == result
    shown = [item for item in list_items(read(path)) if isinstance(item, sp.RunEnd)]
    assert [each.stopped_by for each in shown] == ["approval", None]
    async with agent(calls(("pay", {"amount": 5})), says("ok")).run("Pay.") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.approve(item)
    assert run.result.history.messages("openai") == result.history.messages("openai")


@pytest.mark.parametrize("lost", [1, 2, 3, 4])
@pytest.mark.parametrize("is_told", [True, False])
async def test_a_run_whose_process_ended_right_before_it_wrote_that_it_waits_asks_again(tmp_path, is_told, lost):
    path, paid = tmp_path / "run.jsonl", []
    with pytest.raises(sp.Stopped) as caught:
        await sp.Agent(Scripted(calls(("pay", {"amount": 5}))), [make_payer(paid)]).run("Pay.", journal=path)
    lines = path.read_bytes().splitlines(keepends=True)
    assert b'"approval"' in lines[-1]
    path.write_bytes(b"".join(lines[:-lost]))
    (request,) = caught.value.result.approvals
    if is_told:
        with pytest.raises(sp.Stopped, match="approval") as again:
            await sp.Agent(Scripted(), [make_payer(paid)]).run("Pay.", journal=path)
        assert again.value.result.approvals == (request,)
    sp.Journal(path).approve(request.key)
    result = await sp.Agent(Scripted(says("ok")), [make_payer(paid)]).run("Pay.", journal=path)
    assert (result.output, paid) == ("ok", [5])


async def test_a_decision_on_a_call_that_does_not_wait_is_refused_with_those_that_do(tmp_path):
    path, paid = tmp_path / "run.jsonl", []
    with pytest.raises(sp.Stopped) as caught:
        await sp.Agent(Scripted(calls(("pay", {"amount": 5}))), [make_payer(paid)]).run("Pay.", journal=path)
    (request,) = caught.value.result.approvals
    with pytest.raises(ValueError, match=f"'other' waits.*{request.key}"):
        await sp.Agent(Scripted(), [make_payer(paid)]).run("Pay.", journal=path, decisions={"other": True})
    assert paid == []


async def test_a_journal_that_has_lost_its_first_line_is_of_no_run(tmp_path):
    path = tmp_path / "run.jsonl"
    await sp.Agent(Scripted(says("ok"))).run("Hi", journal=path)
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    with pytest.raises(ChangedRun, match="its first line does not begin a run"):
        await sp.Agent(Scripted()).run("Hi", journal=path)


@pytest.mark.parametrize("decision", [True, "too much"])
async def test_decisions_may_come_with_the_run_and_count_once(tmp_path, decision):
    path, paid = tmp_path / "run.jsonl", []
    model = Scripted(calls(("pay", {"amount": 5})), says("ok"))
    with pytest.raises(sp.Stopped) as caught:
        await sp.Agent(model, [make_payer(paid)]).run("Pay.", journal=path)
    (request,) = caught.value.result.approvals
    for _ in range(2):
        result = await sp.Agent(model, [make_payer(paid)]).run("Pay.", journal=path, decisions={request.key: decision})
        assert result.output == "ok"
    assert paid == ([5] if decision is True else [])


async def test_a_request_whose_process_ended_while_it_waited_is_made_again(tmp_path):
    path, paid = tmp_path / "run.jsonl", []
    async with sp.Agent(Scripted(calls(("pay", {"amount": 5}))), [make_payer(paid)]).run("Pay.", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                break
    sp.Journal(path).approve(item.key)
    result = await sp.Agent(Scripted(says("ok")), [make_payer(paid)]).run("Pay.", journal=path)
    assert (result.output, paid) == ("ok", [5])


async def test_a_request_of_an_answer_that_was_cut_is_void_and_that_is_said(tmp_path):
    path = tmp_path / "run.jsonl"

    @sp.tool(effect="read", needs_approval=True)
    async def peek(at: str) -> str:
        return at

    async def hang(request):
        async def source():
            yield call(0, "peek", at="a")
            await anyio.sleep(60)

        request.read_as("openai-chat")
        return source()

    async with sp.Agent(hang, [peek]).run("?", journal=path) as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                break
    with pytest.raises(ValueError, match="its answer was cut, which makes it void"):
        sp.Journal(path).approve(item.key)


async def test_time_between_processes_counts_for_no_limit(tmp_path):
    path, paid = tmp_path / "run.jsonl", []
    options = {"stop": [sp.max_seconds(0.5)]}
    model = Scripted(calls(("pay", {"amount": 5})), says("ok"))
    with pytest.raises(sp.Stopped, match="approval"):
        await sp.Agent(model, [make_payer(paid)], **options).run("Pay.", journal=path)
    await anyio.sleep(0.6)
    (request,) = sp.Journal(path).requests
    sp.Journal(path).approve(request.key)
    assert (await sp.Agent(model, [make_payer(paid)], **options).run("Pay.", journal=path)).output == "ok"


async def test_a_run_that_ended_behind_its_first_record_still_has_its_decisions(tmp_path):
    @sp.tool(needs_approval=True)
    async def pay(amount: int) -> str:
        return f"paid {amount}"

    with pytest.raises(sp.Stopped) as caught:
        await sp.Agent(Scripted(calls(("pay", {"amount": 1}))), [pay]).run("Pay.")
    saved, (request,) = caught.value.history, caught.value.result.approvals
    path = tmp_path / "run.jsonl"
    for _ in range(2):
        result = await sp.Agent(Scripted(says("done")), [pay]).run(
            history=saved, decisions={request.key: True}, journal=path
        )
        assert result.output == "done"
        path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")  # all but the first record is lost


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
async def test_two_names_of_one_journal_are_one_journal(tmp_path):
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "run.jsonl")
    with sp.Journal(tmp_path / "run.jsonl").opened(), pytest.raises(sp.JournalBusy):
        sp.Journal(link).approve("a")


async def test_a_journal_that_could_not_be_opened_is_not_busy_afterwards(tmp_path):
    folder = tmp_path / "run.jsonl"
    folder.mkdir()
    journal = sp.Journal(folder)
    with pytest.raises(IsADirectoryError), journal.opened():
        pass
    folder.rmdir()
    with journal.opened():
        assert journal.read() == []


async def test_a_call_of_a_run_that_was_cancelled_waits_no_more_and_that_is_said(tmp_path):
    pay = make_payer([])
    path = tmp_path / "run.jsonl"
    async with sp.Agent(Scripted(calls(("pay", {"amount": 1}))), [pay], approvals="stop").run(
        "Pay.", journal=path
    ) as run:
        async for _ in run:
            pass
        run.cancel(heard="")
    assert sp.Journal(path).requests == []
    with pytest.raises(ValueError, match="cancelled"):
        sp.Journal(path).approve(run.result.approvals[0].key)


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_run_that_is_cancelled_from_outside_goes_on_as_after_a_crash(tmp_path, anyio_backend):
    looked = []

    @sp.tool(effect="read")
    async def look() -> str:
        looked.append("again")
        if len(looked) == 1:
            await anyio.sleep(60)
        return "north"

    path = tmp_path / "run.jsonl"
    with anyio.move_on_after(0.2):
        await sp.Agent(Scripted(calls(("look", {}))), [look]).run("Look.", journal=path)
    assert read(path)[-1].answers == []
    result = await sp.Agent(Scripted(says("done")), [look]).run("Look.", journal=path)
    assert (result.output, len(looked)) == ("done", 2)
    assert result.history.rounds[0].results[0].result == "north"


class RefusingStore:
    """Refuses one kind of record."""

    def __init__(self, refused):
        self._refused = refused

    def acquire(self): ...
    def release(self): ...

    def read(self):
        return []

    def append(self, line, *, durable):  # noqa: ARG002 - a store
        if msgspec.json.decode(line)["t"] == self._refused:
            raise OSError(errno.ENOSPC, "no space left")


async def test_what_an_agent_has_cost_and_cannot_be_written_ends_the_run_and_is_no_error_of_the_tool():
    tool = sp.Agent(Scripted(says("Because."))).as_tool("research", "Find something out.")
    agent = sp.Agent(Scripted(calls(("research", {"task": "Why?"})), says("done")), [tool])
    with pytest.raises(OSError, match="no space left"):
        await agent.run("?", journal=RefusingStore("spent"))


async def test_a_run_is_cancelled_although_that_cannot_be_written():
    answer = [frame({"content": "One, "}), anyio.Event()]
    async with sp.Agent(Scripted(answer)).run("Count.", journal=RefusingStore("interrupted")) as run:
        async for item in run:
            if isinstance(item, sp.TextDelta):
                with pytest.raises(OSError, match="no space left"):
                    run.cancel()
    assert run.result.stopped_by == "cancelled"


async def test_the_end_of_a_run_is_written_once(tmp_path):
    path = tmp_path / "run.jsonl"
    agent = sp.Agent(Scripted(says("One, two.")))
    async with agent.run("Count.", journal=path) as run:
        async for _ in run:
            pass
        run.cancel(heard="One")
    for _ in range(2):
        result = await agent.run("Count.", journal=path)
        assert result.history.rounds[0].heard == "One"
    assert [type(each).__name__ for each in read(path)[-2:]] == ["Ended", "Cancelled"]
