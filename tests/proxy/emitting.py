"""One answer with calls in its text, as servers of every wire stream it."""

from __future__ import annotations

from typing import Any

import streamparse as sp
from streamparse.providers.emitters import EMITTERS

__all__ = ["ANSWER_TEXT", "CALLS", "TEXT", "stream_of"]

TEXT = "I look."
CALLS: list[tuple[str, Any]] = [("get_weather", {"city": "Zürich", "days": 3}), ("get_weather", {"city": "x\n</p>"})]
ANSWER_TEXT = (
    TEXT + '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}\n</tool_call>'
    '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "x\\n</p>"}}\n</tool_call>'
)


def stream_of(wire: str) -> tuple[str, list[bytes]]:
    """The content type and the chunks of the answer; its server takes it all for text."""
    emitter = EMITTERS[wire](model="m")
    events: list[sp.Event] = [sp.TextDelta(ANSWER_TEXT[at : at + 5]) for at in range(0, len(ANSWER_TEXT), 5)]
    events.append(sp.Done("stop", {"prompt_tokens": 3, "completion_tokens": 4}, True))
    return emitter.content_type, [emitter.emit(event) for event in events]
