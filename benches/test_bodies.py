"""What a whole body costs: beside a parser that is fed the same, and a long answer beside decoding its JSON alone.

The figures of a row are measured in turns, and the medians are compared.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
from texts import KIB

import streamparse as sp

BESIDE_FEEDING = 1.5
BESIDE_DECODING = 10
LONG = 64 * KIB
ROUNDS = 15

_ARGUMENTS = {"city": "Paris"}
_ANSWERS: dict[str, Any] = {
    "openai-chat": {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Let me see.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": json.dumps(_ARGUMENTS)},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": _ARGUMENTS},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "output_tokens": 7},
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "Let me see."},
                        {"functionCall": {"name": "get_weather", "args": _ARGUMENTS}},
                    ],
                    "role": "model",
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7},
    },
    "ollama-chat": {
        "message": {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"function": {"name": "get_weather", "arguments": _ARGUMENTS}}],
        },
        "done": True,
        "done_reason": "stop",
    },
}
_PROSE = "Hello there, this is prose. And more of it; I'll go on.\n"
_MARKDOWN = """Here's what I found: the function `parse_args()` isn't "thread-safe" (see <https://example.org/a?b=c>).

- First, call `setup()`; it's needed for `x < y && y > z`.
- Then use `dict[str, list[int]]` — "as the docs say".

```python
def f(x: list[int]) -> dict:
    return {"a": [1, 2], 'b': x[0]}  # it's fine
```

> quoted: don't do that, "ever".

I'll explain <b>why</b>: it doesn't check {curly} braces [or brackets](https://example.org).
"""


def _answer(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


BODIES: dict[str, tuple[str, Any]] = {
    **{f"{wire}, a call": (wire, body) for wire, body in _ANSWERS.items()},
    "openai-chat, text": ("openai-chat", _answer("The weather in Paris is fine.")),
    "openai-chat, a call in the text": (
        "openai-chat",
        _answer(f'<tool_call>\n{{"name": "get_weather", "arguments": {json.dumps(_ARGUMENTS)}}}\n</tool_call>'),
    ),
    "64 KiB of prose": ("openai-chat", _answer((_PROSE * (LONG // len(_PROSE) + 1))[:LONG])),
    "64 KiB of Markdown": ("openai-chat", _answer((_MARKDOWN * (LONG // len(_MARKDOWN) + 1))[:LONG])),
}
LONG_BODIES = [name for name in BODIES if "KiB" in name]


def _compare(one: Callable[[], object], other: Callable[[], object], times: int) -> float:
    """How many times as much CPU time the first takes as the second."""
    taken: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        for run, found in zip((one, other), taken, strict=True):
            start = time.process_time()
            for _ in range(times):
                run()
            found.append(time.process_time() - start)
    gc.enable()
    return statistics.median(taken[0]) / statistics.median(taken[1])


def _feed(wire: str, body: Any) -> sp.ParsedResponse:
    parser = sp.StreamParser(wire)
    parser.feed(body)
    parser.close()
    return parser.response


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("form", ["bytes", "text", "dict"])
def test_a_whole_body_costs_little_more_than_feeding_it(name: str, form: str, tell: Callable[[str], None]) -> None:
    wire, body = BODIES[name]
    text = json.dumps(body)
    given = {"bytes": text.encode(), "text": text, "dict": body}[form]
    assert [call.arguments for call in sp.parse_response(given).tool_calls] == [
        call.arguments for call in _feed(wire, given).tool_calls
    ]
    times = 4 if name in LONG_BODIES else 60
    ratio = _compare(lambda: sp.parse_response(given), lambda: _feed(wire, given), times)
    tell(f"{f'{name}, as {form}':48} {ratio:5.2f} x feeding it")
    assert ratio <= BESIDE_FEEDING


@pytest.mark.parametrize("name", LONG_BODIES)
def test_a_long_body_costs_some_times_the_decoding_of_its_json(name: str, tell: Callable[[str], None]) -> None:
    wire, body = BODIES[name]
    data = json.dumps(body).encode()
    whole = _compare(lambda: sp.parse_response(data), lambda: json.loads(data), 10)
    fed = _compare(lambda: _feed(wire, data), lambda: json.loads(data), 10)
    tell(f"{name:32} parse_response {whole:5.1f}, fed {fed:5.1f} x json.loads")
    assert max(whole, fed) <= BESIDE_DECODING
