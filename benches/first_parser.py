"""What a process pays once: `python benches/first_parser.py native|text`.

It prints, as JSON, the CPU seconds of the import, of the first parser, of the first answer, and of a second answer with
its parser.  It is meant for a new process, and the tree is the one on PYTHONPATH.  The answer is short and has a call,
natively or in the text as Hermes writes it.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from typing import Any

__all__ = ["TOOL", "write_answer"]

TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
ARGUMENTS = ('{"city": ', '"Paris"', "}")


def write_answer(kind: str) -> list[bytes]:
    """Return the frames of a short answer with a call."""
    text: list[dict[str, Any]] = [{"role": "assistant", "content": "I"}, *[{"content": " look."}] * 20]
    if kind == "native":
        head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
        pieces = ({"index": 0, "function": {"arguments": piece}} for piece in ARGUMENTS)
        text += ({"tool_calls": [call]} for call in (head, *pieces))
    else:
        call = ("<tool_call>\n", '{"name": "get_weather", ', '"arguments": ', *ARGUMENTS, "}\n", "</tool_call>")
        text += ({"content": piece} for piece in call)
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in text]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    frames = [b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n" for choice in choices]
    return [*frames, b"data: [DONE]\n\n"]


def main(kind: str) -> None:
    """Measure once."""
    reads = write_answer(kind)
    times = [time.process_time()]
    import streamparse as sp

    times.append(time.process_time())
    for _ in range(2):
        parser = sp.StreamParser("openai-chat", tools=[TOOL])
        times.append(time.process_time())
        for read in reads:
            parser.feed(read)
        parser.close()
        assert [call.name for call in parser.response.tool_calls] == ["get_weather"]
        times.append(time.process_time())
    imported, made, answered, *again = (after - before for before, after in pairwise(times))
    print(json.dumps({"import": imported, "parser": made, "answer": answered, "again": sum(again)}))


if __name__ == "__main__":
    main(sys.argv[1])
