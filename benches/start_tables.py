"""Tables of what is paid once: parts of a short answer, making a parser, new tools, the first parser of a process."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from block_bodies import anthropic_call, anthropic_text, cohere_call, cohere_text
from gemini_bodies import gemini_partial_call, gemini_text
from measuring import Case, Cell, Table, hide_old_objects, repeat, take_turns, time_run
from ollama_bodies import ollama_text
from openai_bodies import chat_calls, chat_text, responses_call, responses_text
from release import find_release, is_release_known, time_text_delta
from texts import FRAGMENT, compact, fragments, sse

import streamparse as sp
from streamparse.tools import Toolset

__all__ = ["make_constructors", "make_dearest_feeds", "make_first_parsers", "make_short_answers"]

ROOT = Path(__file__).parents[1]
SHORT, LAST = 6.0, 13.0
"""Text deltas that the start of a call may cost, and that the finish and the usage may, which say who answered."""
WITHOUT_TOOLS, WITH_TOOLSET, WITH_DICTS = 15.0, 20.0, 45.0
"""Text deltas that a parser may cost."""
NEW_TOOLS = {1: 88.0, 8: 88.0, 32: 188.0}
"""The same with so many tools that no parser had before."""
FEED = 100.0
"""Text deltas that the dearest feed of a stream with new tools may cost."""
DEARER = {"tool-name-tag": 60.0}
"""In one feed it leaves four formats that share its tag, begins the call, and reads what the tool's schema says."""
FIRST = 0.25
"""What the first parser of a process may cost, over the import."""
IMPORT = 1.0
"""What the import may cost, over that of the release."""

_NUMBERS = count(10_000)
"""All of one length, so that texts are cut in the same places."""


# -- short answers ---------------------------------------------------------------------------------------------------


class ShortAnswer(NamedTuple):
    """Frames of one answer; each part is measured after those before it, by the frame in `text` and `arguments`.

    `close` is all from the closing brace on.  Where a server sends a call whole, it is what closes it, and where usage
    comes with the finish, it is the finish.
    """

    wire: str
    text: list[bytes]
    start: list[bytes]
    arguments: list[bytes]
    close: list[bytes]
    finish: list[bytes]
    usage: list[bytes]
    end: list[bytes]


def _write_short_answers() -> dict[str, ShortAnswer]:
    """Text, then a call of three pieces."""
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    call = list(chat_calls(64))
    counts = sse({"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": usage})
    chat = ShortAnswer(
        "openai-chat", list(chat_text(100))[:100], call[:1], call[1:-3], call[-3:-2], call[-2:-1], [counts], call[-1:]
    )
    text = list(anthropic_text(100))
    call = [frame.replace(b'"index":0', b'"index":1') for frame in anthropic_call(64)]
    claude = ShortAnswer("anthropic", text[:-2], call[1:2], call[2:-4], call[-4:-2], call[-2:-1], [], call[-1:])
    text = list(responses_text(100))
    call = [frame.replace(b'"output_index":0', b'"output_index":1') for frame in responses_call(64)]
    responses = ShortAnswer("openai-responses", text[:-1], call[1:2], call[2:-4], call[-4:-1], call[-1:], [], [])
    text = list(ollama_text(100))
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
    whole = compact({"model": "some-model", "message": message, "done": False}).encode() + b"\n"
    ollama = ShortAnswer("ollama-chat", text[:-1], [], [], [whole], text[-1:], [], [])
    text = list(cohere_text(100))
    call = [frame.replace(b'"index":0', b'"index":1') for frame in cohere_call(64)]
    cohere = ShortAnswer("cohere", text[:-1], call[:1], call[1:-3], call[-3:-1], call[-1:], [], [])
    call = list(gemini_partial_call(64))
    gemini = ShortAnswer("gemini", list(gemini_text(2000))[:100], call[:1], call[1:-3], call[-3:-1], call[-1:], [], [])
    return {answer.wire: answer for answer in (chat, claude, responses, ollama, cohere, gemini)}


def make_short_answers() -> Table:
    """The parts of a short answer, each a feed of its own."""
    cases: dict[str, Case] = {name: partial(_measure_parts, each) for name, each in _write_short_answers().items()}
    columns = ("wire, text deltas", "text, µs", "start", "arguments", "closing", "finish", "usage", "end")
    gates = f"the start of a call at most {SHORT:g} text deltas of the same wire, the finish and the usage {LAST:g}."
    return Table(
        "short-answers", columns, cases, (1, 4, 5), gates=gates, summary="start of a call, finish or usage, text deltas"
    )


def _measure_parts(answer: ShortAnswer, rounds: int) -> tuple[Cell | None, ...]:
    text = _time_part(answer.wire, answer.text[:20], answer.text[20:100], rounds) / 80
    before = [*answer.text]
    cells: list[Cell | None] = [Cell(text * 1e6)]
    for name in ShortAnswer._fields[2:]:
        frames: list[bytes] = getattr(answer, name)
        bound = {"start": SHORT, "finish": LAST, "usage": LAST}.get(name)
        each = len(frames) if name == "arguments" else 1
        cells.append(Cell(_time_part(answer.wire, before, frames, rounds) / each / text, bound, 1) if frames else None)
        before += frames
    return tuple(cells)


def _time_part(wire: str, before: list[bytes], frames: list[bytes], rounds: int) -> float:
    """Seconds for the frames, fed after those before."""

    def prepare() -> Callable[[bytes], object]:
        parser = sp.StreamParser(wire)
        for frame in before:
            parser.feed(frame)
        return parser.feed

    def spend() -> float:
        feeds = [prepare() for _ in range(20)]
        gc.collect()  # or its next turn would fall on the same part in every round
        return time_run(lambda: [feed(frame) for feed in feeds for frame in frames])

    with hide_old_objects():
        spent = median(spend() for _ in range(4 * rounds))
    return spent / 20


# -- making a parser -------------------------------------------------------------------------------------------------


def _make_tools(number: int, size: int) -> list[dict[str, Any]]:
    """Tools whose names, and whose parameters' names, are new with each number."""
    names = [f"get_weather{number}", f"bash{number}", *(f"tool{number}_{each}" for each in range(size - 2))]
    properties = {f"city{number}": {"type": "string"}, f"zone{number}": {"type": "integer"}}
    schema = {"type": "object", "properties": properties}
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names[:size]]


@cache
def _text_delta() -> float:
    return time_text_delta()


def make_constructors() -> Table:
    """A parser, with and without tools, in text deltas."""
    dicts = _make_tools(next(_NUMBERS), 50)
    toolset = Toolset.of(dicts)
    cases: dict[str, Case] = {
        "no tools": partial(_measure_parser, None, WITHOUT_TOOLS),
        "50 tools, a `Toolset` made once": partial(_measure_parser, toolset, WITH_TOOLSET),
        "50 tools as dicts, the same each time": partial(_measure_parser, dicts, WITH_DICTS),
        **{
            f"{size} tool{'s' * (size > 1)} that no parser had before": partial(
                _measure_new_tools, size, NEW_TOOLS.get(size)
            )
            for size in (1, 8, 32, 128)
        },
    }
    whose = "0.1.0" if is_release_known() else "this tree, for 0.1.0 was not at hand"
    gates = (
        f"without tools {WITHOUT_TOOLS:g}, with a `Toolset` {WITH_TOOLSET:g}, with 50 dicts {WITH_DICTS:g}, "
        f"with up to 8 new tools {NEW_TOOLS[8]:g}, with 32 {NEW_TOOLS[32]:g} text deltas."
    )
    columns = ("a parser with", "µs", "text deltas")
    return Table(
        "constructors",
        columns,
        cases,
        (1,),
        gates=gates,
        note=f"A text delta is one of {whose}.",
        summary="making a parser, text deltas",
    )


def _measure_parser(tools: Any, bound: float, rounds: int) -> tuple[Cell | None, ...]:
    make = repeat(lambda: sp.StreamParser("openai-chat", tools=tools), 200)
    spent = median(take_turns({"make": make}, rounds)["make"]) / 200
    return (Cell(spent * 1e6, digits=1), Cell(spent / _text_delta(), bound, 1))


def _measure_new_tools(size: int, bound: float | None, rounds: int) -> tuple[Cell | None, ...]:
    def spend() -> float:
        sets = [_make_tools(next(_NUMBERS), size) for _ in range(10)]
        return time_run(lambda: [sp.StreamParser("openai-chat", tools=tools) for tools in sets]) / len(sets)

    with hide_old_objects():
        spent = median(spend() for _ in range(rounds))
    return (Cell(spent * 1e6, digits=1), Cell(spent / _text_delta(), bound, 1))


# -- the dearest feed ------------------------------------------------------------------------------------------------


def make_dearest_feeds() -> Table:
    """The dearest feed of a thought and a call of each format, in pieces of four characters, for new tools."""
    cases: dict[str, Case] = {name: partial(_measure_dearest_feed, name) for name in sp.DIALECTS}
    gates = f"at most {FEED:g} text deltas, with a tag named after its tool {DEARER['tool-name-tag']:g}."
    return Table(
        "dearest-feeds", ("format", "text deltas"), cases, shown=8, gates=gates, summary="the dearest feed, text deltas"
    )


def _measure_dearest_feed(name: str, rounds: int) -> tuple[Cell | None, ...]:
    """Each feed counts with its least time over the rounds: what disturbs the machine only adds."""
    least: list[float] = []
    with hide_old_objects():
        for _ in range(4 * rounds):
            feeds = list(_time_feeds(name))
            least = list(map(min, feeds, least or feeds))
    return (Cell(max(least) / _text_delta(), DEARER.get(name, FEED), 1),)


def _time_feeds(name: str) -> Iterator[float]:
    """Seconds for each feed of the example of a format."""
    number = next(_NUMBERS)
    text = sp.DIALECTS[name].example.replace("get_weather", f"get_weather{number}").replace("city", f"city{number}")
    text = text.replace("<bash>", f"<bash{number}>").replace("</bash>", f"</bash{number}>")
    feed = sp.TextParser(tools=_make_tools(number, 8)).feed
    for piece in fragments(f"<think>\nHm</think>{text}", FRAGMENT):
        yield time_run(partial(feed, piece))


# -- the first parser of a process -----------------------------------------------------------------------------------


def make_first_parsers() -> Table:
    """A new process: the import, the first parser, the first answer, the same again."""
    cases: dict[str, Case] = {
        "a native call": partial(_measure_process, "native"),
        "a call in the text": partial(_measure_process, "text"),
    }
    columns: tuple[str, ...] = ("first answer", "import, ms", "parser, ms", "to the import", "answer, ms", "again, ms")
    gates = f"the first parser at most {FIRST} × the import"
    if is_release_known():
        columns += ("import to 0.1.0",)
        gates += f", the import no dearer than in 0.1.0 (at most {IMPORT} ×)"
    return Table("first-parsers", columns, cases, (2,), gates=f"{gates}.")


def _measure_process(kind: str, rounds: int) -> tuple[Cell | None, ...]:
    with tempfile.TemporaryDirectory() as folder:
        if not is_release_known():
            turns = list(islice(_run_processes(kind, [ROOT], folder), rounds))
        else:
            with find_release() as release:
                turns = list(islice(_run_processes(kind, [ROOT, release], folder), rounds))
    ours = {what: median(turn[0][what] for turn in turns) for what in turns[0][0]}
    cells = [
        Cell(ours["import"] * 1e3, digits=1),
        Cell(ours["parser"] * 1e3, digits=1),
        Cell(ours["parser"] / ours["import"], FIRST),
        Cell(ours["answer"] * 1e3, digits=1),
        Cell(ours["again"] * 1e3, digits=1),
    ]
    if is_release_known():
        cells.append(Cell(median(turn[0]["import"] / turn[1]["import"] for turn in turns), IMPORT))
    return tuple(cells)


def _run_processes(kind: str, trees: list[Path], folder: str) -> Iterator[list[dict[str, float]]]:
    """Run new processes of all trees by turns, as installed packages run: their bytecode was written before."""
    script = str(Path(__file__).with_name("first_parser.py"))
    compiled = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}

    def run(tree: Path) -> dict[str, float]:
        environment = os.environ | compiled | {"PYTHONPATH": str(tree)}
        done = subprocess.run(
            [sys.executable, script, kind], env=environment, capture_output=True, check=True, text=True
        )
        figures: dict[str, float] = json.loads(done.stdout)
        return figures

    for tree in trees:
        run(tree)
    while True:
        yield [run(tree) for tree in trees]
