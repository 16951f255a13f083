"""Turns of a model, with tools that run while the model still writes: `make demo`.

A real llama.cpp server on a model slowed to a realistic pace answers with text, two calls, and more text.  Where its
wheel is not to be had, a recording of that very turn is played back over HTTP at the pace at which it came.  Then an
agent runs a turn of three calls, and is measured against the least that such a turn can take (`demo_agent`).

Written to `demo-out/`: the page `timeline.html`, and the recording `turn.*`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx
from demo_agent import measure_agent, replayed_agent, report_agent, served_agent
from demo_turn import ANSWER, PADDING, Bench, closing_moments
from demo_view import LiveView, report
from live_server import CHAT, is_available, running_server

import streamparse as sp
from streamparse.cli.page import render
from streamparse.cli.timeline import replay
from streamparse.cli.timeline_model import Mark, Timeline, analyse
from streamparse.testing import Recorder, Recording, replaying

__all__ = ["main"]

RECORDED = Path(__file__).parents[1] / "fixtures" / "recorded"


class Source(NamedTuple):
    """Where the answer comes from."""

    url: str
    request: dict[str, Any]
    name: str


class Turn(NamedTuple):
    """What happened."""

    recording: Recording
    results: list[sp.ToolResult]
    bench: Bench


def main() -> None:
    """Run the turn, show it, and write what is kept of it."""
    given = _arguments()
    is_replayed = given.replay or not is_available()
    with _replayed() if is_replayed else _served(given.pad_layers) as source:
        print(f"{source.name}\n")
        turn = anyio.run(_run_turn, source, backend=given.loop)
    timeline = _lay_out(turn)
    print(report(timeline, closing_moments(turn.recording), turn.bench.started))
    turn.recording.save(given.out)
    page = given.out / "timeline.html"
    page.write_text(render(timeline, "One turn, two tools"), encoding="utf-8")
    print(f"{_pace(turn)}\nThe timeline: {page}\n")
    with replayed_agent(RECORDED) if is_replayed else served_agent(given.pad_layers) as turns:
        print(report_agent(anyio.run(measure_agent, turns, given.rounds, backend=given.loop)))


def _lay_out(turn: Turn) -> Timeline:
    """Lay the turn out by one clock: each event at the read that brought it, each run as the runner timed it."""
    marks, facts = replay(sp.StreamParser("openai-chat", tools=turn.bench.tools), turn.recording.chunks())
    marks += [Mark(0.0, result) for result in turn.results]
    return analyse(marks, facts=facts, sent=turn.bench.zero)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="where to write; default: demo-out")
    parser.add_argument("--replay", action="store_true", help="play the recording even where the server could run")
    parser.add_argument("--loop", choices=["asyncio", "trio"], default="asyncio", help="the event loop")
    parser.add_argument("--rounds", type=int, default=3, help="how often the agent's turn is measured; default: 3")
    parser.add_argument(
        "--pad-layers",
        type=int,
        default=PADDING,
        help="idle layers that slow the model down; default: %(default)s, about 200 tokens a second on one core",
    )
    return parser.parse_args()


@contextmanager
def _served(pad_layers: int) -> Iterator[Source]:
    with running_server(pad_layers=pad_layers) as server:
        yield Source(server.url, server.chat(ANSWER), f"A llama.cpp server at {server.url}")


@contextmanager
def _replayed() -> Iterator[Source]:
    recording = Recording.load(RECORDED / "llamacpp-paced")
    with replaying(recording) as url:
        yield Source(url, recording.request, "No server: a recording of one, played back at its own pace")


async def _run_turn(source: Source) -> Turn:
    bench, view, results = Bench(), LiveView(), list[sp.ToolResult]()
    recorder = Recorder(source.url + CHAT, json.dumps(source.request).encode(), clock=bench.now)

    async def listening(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            recorder.read(chunk)
            yield chunk

    async with (
        httpx.AsyncClient(timeout=60) as client,
        client.stream("POST", source.url + CHAT, json=source.request) as response,
        sp.aiter_events(listening(response.aiter_bytes()), "openai-chat", tools=bench.tools) as events,
        sp.ToolRunner(bench.tools) as runner,
    ):
        async for item in runner.run(events):
            view.show(bench.now(), item)
            if isinstance(item, sp.ToolResult):
                results.append(item)
    return Turn(recorder.finish("turn", content_type="text/event-stream"), results, bench)


def _pace(turn: Turn) -> str:
    """How fast the model wrote: llama.cpp sends each token by itself."""
    reads = turn.recording.reads
    return f"The model wrote {len(reads) / (reads[-1].t - reads[0].t) * 1000:.0f} tokens a second."


if __name__ == "__main__":
    main()
