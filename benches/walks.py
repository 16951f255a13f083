"""The walk of one read through the package, counted: `python benches/walks.py [TREE ...]`.

For each row it says how many functions of the package one `feed` (or one constructor, or one whole body) calls, in how
many files, how often two calls that follow each other stand in different files, in how many rooms (the first part of a
module's name), and how deep the calls are nested.  Functions of C, and of other packages, are not counted; a generator
counts each time it goes on.

Without a tree it is this one; of two trees the figures stand beside each other, with those that grew marked.  The exit
status is 1 if a row of the second tree has more calls than in the first.

    python benches/walks.py                   # this tree
    python benches/walks.py ../old ../new     # two trees

Each row is counted in a process of its own, for what is made once in a process would count in the first row alone;
rows marked "warm" were walked once before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

__all__ = ["Walk", "count_walk", "main"]

ROOT = Path(__file__).resolve().parents[1]
TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
]
COLUMNS = ("calls", "files", "switches", "rooms", "depth")


class Walk(NamedTuple):
    """The figures of one row."""

    calls: int
    files: int
    switches: int
    rooms: int
    depth: int


def count_walk(run: Callable[[], object], package: Path) -> Walk:
    """Run something, and count the calls of functions whose file lies in the package."""
    walked: list[str] = []
    depth = deepest = 0
    prefix = f"{package}{os.sep}"

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest
        file = frame.f_code.co_filename
        if not file.startswith(prefix):
            return
        if event == "call":
            walked.append(file[len(prefix) :])
            depth += 1
            deepest = max(deepest, depth)
        elif event == "return":
            depth -= 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    switches = sum(one != other for one, other in pairwise(walked))
    rooms = {file.split(os.sep)[0].removesuffix(".py") for file in walked}
    return Walk(len(walked), len({*walked}), switches, len(rooms), deepest)


# -- what is fed -----------------------------------------------------------------------------------------------------


def _chat(delta: Any, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    message = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: %s\n\n" % json.dumps(message).encode()


def _chat_call(arguments: str, **more: Any) -> bytes:
    return _chat({"tool_calls": [{"index": 0, **more, "function": {"arguments": arguments}}]})


def _ollama(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"model": "m", "created_at": "t", "message": message, "done": False}).encode() + b"\n"


def _anthropic(event: str, **more: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.encode(), json.dumps({"type": event, **more}).encode())


def _anthropic_call(arguments: str) -> bytes:
    return _anthropic("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": arguments})


WORDS = ("Hello", " there", " is", " a", " stream", " of", " words")
CHAT_TEXT = [_chat({"content": word}) for word in WORDS]
_NAMED = {"name": "get_weather", "arguments": ""}
CHAT_START = _chat({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": _NAMED}]})
CHAT_CALL = [
    _chat({"role": "assistant", "content": ""}),
    CHAT_START,
    *[_chat_call(part) for part in ('{"ci', 'ty":', ' "Pa', 'ris"', "}")],
]
OLLAMA_TEXT = [_ollama(word) for word in WORDS]
HERMES = ["<tool_call>", '\n{"name": "get_weather", ', '"arguments": {"ci', 'ty": "Pa', "ri", 's"}}', "\n</tool_call>"]
OLLAMA_CALL = [_ollama(part) for part in ("I look.", *HERMES)]
CLAUDE_BEGIN = _anthropic("message_start", message={"id": "m", "role": "assistant", "content": []})
CLAUDE_START = _anthropic(
    "content_block_start", index=0, content_block={"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
)
CLAUDE_TEXT_START = _anthropic("content_block_start", index=0, content_block={"type": "text", "text": ""})
CLAUDE_TEXT = [_anthropic("content_block_delta", index=0, delta={"type": "text_delta", "text": word}) for word in WORDS]
CLAUDE_CALL = [CLAUDE_BEGIN, CLAUDE_START, *[_anthropic_call(part) for part in ('{"city"', ': "Par', 'is"', "}")]]
NATIVE = {
    "id": "c",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
}
IN_CONTENT = {
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": '{"name": "get_weather", "arguments": {"city": "Paris"}}'},
            "finish_reason": "stop",
        }
    ]
}


# -- the rows --------------------------------------------------------------------------------------------------------


def _feed(wire: str, before: Iterable[bytes], reads: Iterable[bytes]) -> Callable[[], object]:
    """What feeds the reads to a parser that was fed others before."""
    import streamparse as sp

    parser = sp.StreamParser(wire, tools=TOOLS)
    for read in before:
        parser.feed(read)
    kept = list(reads)
    return lambda: [parser.feed(read) for read in kept]


def _after(wire: str, reads: list[bytes], place: int) -> Callable[[], Callable[[], object]]:
    """A row that counts one read of a stream."""
    return lambda: _feed(wire, reads[:place], reads[place : place + 1])


def _cut(wire: str, reads: list[bytes], place: int) -> Callable[[], Callable[[], object]]:
    """A row that counts the second half of a read that is cut in two."""
    middle = len(reads[place]) // 2
    return lambda: _feed(wire, [*reads[:place], reads[place][:middle]], [reads[place][middle:]])


def _whole(body: Any) -> Callable[[], object]:
    import streamparse as sp

    return lambda: sp.parse_response(body, "openai-chat", tools=TOOLS)


def _proxied() -> Callable[[], object]:
    """An answer of OpenAI chat with a call in its text, in five reads, for a client of Anthropic."""
    import streamparse as sp

    emitters, rewriter = (
        _find("EMITTERS", "emit", "emitting", "providers"),
        _find("Rewriter", "proxy.rewriter", "proxy"),
    )
    reads = [_chat({"content": text}) for text in ("I look. ", "".join(HERMES[:3]), "".join(HERMES[3:]))]
    reads += [_chat({}, "stop"), b"data: [DONE]\n\n"]

    def run() -> None:
        emitter = emitters["anthropic"](model="m", id="i", created=0)
        proxied = rewriter(sp.StreamParser("openai-chat", tools=TOOLS), emitter)
        for read in reads:
            proxied.feed(read)
        proxied.close()

    return run


def _find(name: str, *places: str) -> Any:
    """A name of the package that stands in one of these modules."""
    from importlib import import_module
    from importlib.util import find_spec

    for place in places:
        parent = f"streamparse.{place}".rpartition(".")[0]
        if find_spec(parent) and find_spec(f"streamparse.{place}"):
            found = vars(import_module(f"streamparse.{place}")).get(name)
            if found is not None:
                return found
    raise LookupError(f"{name} is in none of {places}")


def _construct() -> Callable[[], object]:
    import streamparse as sp

    return lambda: sp.StreamParser("openai-chat", tools=TOOLS)


def _warm(make: Callable[[], Callable[[], object]]) -> Callable[[], Callable[[], object]]:
    """A row that is walked once before, with another parser."""

    def make_again() -> Callable[[], object]:
        make()()
        return make()

    return make_again


CHAT, OLLAMA, CLAUDE = "openai-chat", "ollama-chat", "anthropic"
ROWS: dict[str, Callable[[], Callable[[], object]]] = {
    "openai-chat text, 1st": _warm(_after(CHAT, CHAT_TEXT, 0)),
    "openai-chat text, 2nd": _warm(_after(CHAT, CHAT_TEXT, 1)),
    "openai-chat text, 3rd": _warm(_after(CHAT, CHAT_TEXT, 2)),
    "openai-chat text, 6th (form learnt)": _warm(_after(CHAT, CHAT_TEXT, 5)),
    "openai-chat text cut in two reads, 2nd half": _warm(_cut(CHAT, CHAT_TEXT, 5)),
    "openai-chat call, start": _warm(_after(CHAT, CHAT_CALL, 1)),
    "openai-chat call, 1st fragment": _warm(_after(CHAT, CHAT_CALL, 2)),
    "openai-chat call, 3rd fragment": _warm(_after(CHAT, CHAT_CALL, 4)),
    "openai-chat call, closing fragment": _warm(_after(CHAT, CHAT_CALL, 6)),
    "ollama-chat text, 6th (form learnt)": _warm(_after(OLLAMA, OLLAMA_TEXT, 5)),
    "ollama-chat hermes, <tool_call>": _warm(_after(OLLAMA, OLLAMA_CALL, 1)),
    "ollama-chat hermes, name": _warm(_after(OLLAMA, OLLAMA_CALL, 2)),
    "ollama-chat hermes, 1st argument": _warm(_after(OLLAMA, OLLAMA_CALL, 3)),
    "ollama-chat hermes, inside a string": _warm(_after(OLLAMA, OLLAMA_CALL, 5)),
    "ollama-chat hermes, closing braces": _warm(_after(OLLAMA, OLLAMA_CALL, 6)),
    "ollama-chat hermes, </tool_call>": _warm(_after(OLLAMA, OLLAMA_CALL, 7)),
    "ollama-chat hermes, </tool_call>, first in process": _after(OLLAMA, OLLAMA_CALL, 7),
    "anthropic text, 6th (form learnt)": _warm(_after(CLAUDE, [CLAUDE_BEGIN, CLAUDE_TEXT_START, *CLAUDE_TEXT], 7)),
    "anthropic call, start": _warm(_after(CLAUDE, CLAUDE_CALL, 1)),
    "anthropic call, 2nd fragment": _warm(_after(CLAUDE, CLAUDE_CALL, 3)),
    "anthropic call, closing fragment": _warm(_after(CLAUDE, CLAUDE_CALL, 5)),
    "whole response, native": _warm(lambda: _whole(NATIVE)),
    "whole response, JSON in its content": _warm(lambda: _whole(IN_CONTENT)),
    "proxied to an anthropic client, 5 reads": _warm(_proxied),
    "a parser, first in process": _construct,
    "a parser, the same tools again": _warm(_construct),
}
"""What is walked, by name: each makes what is then counted once."""


# -- the processes ---------------------------------------------------------------------------------------------------


def walk_all() -> Iterator[tuple[str, Walk]]:
    """Count every row, each in a child of this process, which has imported the package and nothing else."""
    import streamparse as sp

    package = Path(sp.__file__).resolve().parent
    for name, make in ROWS.items():
        out, into = os.pipe()
        if (child := os.fork()) == 0:
            os.write(into, json.dumps(count_walk(make(), package)).encode())
            os._exit(0)
        os.close(into)
        with os.fdopen(out) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        if not text:
            raise SystemExit(f"the row {name!r} could not be walked")
        yield name, Walk(*json.loads(text))


def read_tree(tree: Path) -> dict[str, Walk]:
    """The figures of a tree, counted in a process that has its package."""
    ran = subprocess.run(
        [sys.executable, "-P", __file__, "--count", str(tree)],
        env=os.environ | {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return {name: Walk(*figures) for name, figures in json.loads(ran.stdout).items()}


def show_one(walks: dict[str, Walk]) -> None:
    print(f"{'':52}" + "".join(f"{column:>10}" for column in COLUMNS))
    for name, walk in walks.items():
        print(f"{name:52}" + "".join(f"{figure:10}" for figure in walk))


def show_two(old: dict[str, Walk], new: dict[str, Walk]) -> bool:
    """Print both, and return whether a row has more calls than before."""
    print(f"{'':52}" + "".join(f"{column:>16}" for column in COLUMNS))
    for name, walk in new.items():
        pairs = zip(old[name], walk, strict=True)
        cells = (f"{before} → {after}{' +' if after > before else '  '}" for before, after in pairs)
        print(f"{name:52}" + "".join(f"{cell:>16}" for cell in cells))
    files, switches = (
        sum(getattr(walk, column) for walk in new.values()) / sum(getattr(walk, column) for walk in old.values())
        for column in ("files", "switches")
    )
    grown = [name for name, walk in new.items() if walk.calls > old[name].calls]
    print(f"\nall rows: {files:.0%} of the files, {switches:.0%} of the switches; rows with more calls: {len(grown)}")
    return bool(grown)


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("trees", type=Path, nargs="*", default=[ROOT])
    arguments.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.count:
        print(json.dumps(dict(walk_all())))
        return 0
    if len(given.trees) > 2:
        arguments.error("one tree, or two")
    walks = [read_tree(tree.resolve()) for tree in given.trees]
    if len(walks) == 1:
        show_one(walks[0])
        return 0
    return int(show_two(*walks))


if __name__ == "__main__":
    sys.exit(main())
