"""What the tests of this folder dictate to the model, and how they look at what comes back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any, NamedTuple

from cuts import merged
from live_server import Scripted, record

import streamparse as sp

__all__ = [
    "TOOLS",
    "Call",
    "calls_of",
    "cut_at_random",
    "done_of",
    "events_of",
    "hermes_call",
    "listen",
    "merged",
    "nasty",
    "text_of",
]

Call = tuple[str, dict[str, Any]]


def _tool(name: str, required: str, **properties: str) -> dict[str, Any]:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    parameters = {"type": "object", "properties": schema, "required": [required]}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


TOOLS = [
    _tool("get_weather", "city", city="string", days="integer"),
    _tool("search", "query", query="string", limit="integer"),
]

PIECES = (
    *("tool ", "é", "🎉", "{", "}", '"', "\\", "x", "<", "</", "call", "\n", "[", "]", "<tool_", "<|", "```", "data: "),
    *("[DONE]", "\n\n", "\u2028", "\x85", "\t", ":", "'", "&lt;", "name", "\\u00e9", ", ", "1e9"),
)


class Heard(NamedTuple):
    """One answer: its bytes, and the events that they make."""

    body: bytes
    events: list[sp.Event]


def nasty(seed: int, longest: int = 120) -> str:
    """Text out of pieces that look like the syntax around it, without white space at its ends."""
    dice = random.Random(seed)
    return "".join(dice.choice(PIECES) for _ in range(dice.randrange(1, longest))).strip() or "x"


def hermes_call(name: str, arguments: dict[str, Any], *, ascii_only: bool = False) -> str:
    """The call as the model writes it under the hermes template."""
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=ascii_only)
    return f"<tool_call>\n{body}\n</tool_call>"


def listen(server: Scripted, answer: str, *, native: bool = False, **fields: Any) -> Heard:
    """Let the model say `answer`; with `native` the server reads the calls out of it, without we do."""
    body = record(server.url, server.chat(answer, TOOLS if native else (), **fields)).body
    return Heard(body, events_of([body]))


def events_of(chunks: Iterable[bytes], **options: Any) -> list[sp.Event]:
    """All events of the chunks."""
    parser = sp.StreamParser("openai-chat", **({"tools": TOOLS} | options))
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def text_of(events: Iterable[sp.Event]) -> str:
    """The visible text."""
    return "".join(event.text for event in events if isinstance(event, sp.TextDelta))


def done_of(events: list[sp.Event]) -> sp.Done:
    """The last event, which must be the only `Done`."""
    done = [event for event in events if isinstance(event, sp.Done)]
    assert done == events[-1:]
    return done[0]


def calls_of(events: Iterable[sp.Event]) -> list[Call]:
    """The complete calls."""
    return [(event.name, event.arguments) for event in events if isinstance(event, sp.ToolCallComplete)]


def cut_at_random(body: bytes, seed: int) -> list[bytes]:
    """The body in up to 30 pieces, some of them empty."""
    dice = random.Random(seed)
    cuts = sorted(dice.randrange(len(body) + 1) for _ in range(dice.randrange(1, 30)))
    return [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
