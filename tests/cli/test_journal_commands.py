"""A run is shown by its journal, and its calls are decided on, from the command line."""

import json

import anyio

import streamparse as sp
from streamparse.cli import main


@sp.tool(needs_approval=True)
async def pay(amount: int) -> str:
    return f"paid {amount}"


async def model(request):
    call = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 5}'}}
    said = {"content": "ok"} if request.history.rounds else {"content": None, "tool_calls": [call]}
    request.read_as("openai-chat")
    finish = "stop" if request.history.rounds else "tool_calls"
    return {"object": "chat.completion", "choices": [{"index": 0, "message": said, "finish_reason": finish}]}


async def run(path):
    try:
        return await sp.Agent(model, [pay]).run("Pay.", journal=path)
    except sp.Stopped as stopped:
        return stopped.result


def test_a_call_is_listed_approved_and_the_run_is_shown(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    assert anyio.run(run, path).stopped_by == "approval"
    assert main(["approve", str(path)]) == 0
    request = json.loads(capsys.readouterr().out)
    assert request["arguments"] == {"amount": 5}
    assert main(["approve", str(path), request["key"]]) == 0
    assert main(["approve", str(path), request["key"]]) == 2
    assert "does not wait any more" in capsys.readouterr().err
    assert anyio.run(run, path).output == "ok"
    assert main(["show", str(path)]) == 0
    shown = [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()]
    assert (shown.count("run_end"), shown.count("tool_result"), shown[-1]) == (2, 1, "run_end")


def test_a_call_is_denied(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    (request,) = anyio.run(run, path).approvals
    assert main(["approve", str(path), request.key, "--deny", "too much"]) == 0
    assert "too much" in anyio.run(run, path).history.rounds[0].results[0].error


def test_what_is_no_journal_is_one_line(tmp_path, capsys):
    path = tmp_path / "other.jsonl"
    assert main(["show", str(path)]) == 2
    path.write_text("hello\n")
    assert main(["show", str(path)]) == 2
    assert "no such file" in (err := capsys.readouterr().err)
    assert "no journal" in err
