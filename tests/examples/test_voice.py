"""The voice agent speaks while its tool runs, and is silent at once when the user speaks; on a clock of its own."""

from __future__ import annotations

import re

import anyio
import pytest
import voice

import streamparse as sp

trio = pytest.importorskip("trio.testing")


def _hold_turn(interrupt_at: float | None) -> tuple[sp.RunResult[str], float]:
    """Hold a turn, and return its result and when it was over."""

    async def work() -> tuple[sp.RunResult[str], float]:
        speaker, interrupted = voice.Speaker(), anyio.Event()
        begun = anyio.current_time()
        async with anyio.create_task_group() as tasks:

            async def interrupt() -> None:
                await anyio.sleep(interrupt_at or 0)
                interrupted.set()

            if interrupt_at is not None:
                tasks.start_soon(interrupt)
            agent = voice.make_agent(speaker)
            result = await voice.hold_turn(agent, "Sunny in Porto?", sp.History(), speaker, interrupted)
            ended = anyio.current_time() - begun
            tasks.cancel_scope.cancel()
        return result, ended

    clock = trio.MockClock(autojump_threshold=0)
    return anyio.run(work, backend="trio", backend_options={"clock": clock})


def test_it_speaks_while_its_tool_runs_and_says_all_of_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    result, _ = _hold_turn(None)
    printed = capsys.readouterr().out
    during = printed.partition("looks the weather")[2].partition("has the result")[0]
    assert re.findall("says (.*)", during) == ["One", "moment,", "I", "am", "looking"]
    assert result.output == "It is sunny, and the wind comes from the north."
    assert re.findall("says (.*)", printed)[-10:] == result.output.split()


@pytest.mark.parametrize("tenths", range(39))
def test_whenever_it_is_interrupted_it_is_silent_at_once(tenths: int, capsys: pytest.CaptureFixture[str]) -> None:
    result, ended = _hold_turn(tenths / 10 + 0.05)
    printed = capsys.readouterr().out
    heard = re.findall("says (.*)", printed)
    assert printed.splitlines()[-1].endswith("is interrupted")
    assert ended == pytest.approx(tenths / 10 + 0.05)
    assert result.stopped_by in ("cancelled", None)
    rounds = result.history.rounds
    before = rounds[0].response.content.split() if len(rounds) > 1 else []
    kept = (rounds[-1].heard or "").split() if rounds else []
    assert kept == heard[len(before) :], result
    result.history.with_prompt("And tomorrow?").messages("openai")
