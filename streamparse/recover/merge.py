"""Several readings of one response, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from streamparse.jsonread import JSONError, read
from streamparse.protocols import ToolCallParser
from streamparse.response import ParsedResponse, ToolCall

__all__ = ["merged", "native_first"]


def merged(parsers: Sequence[ToolCallParser], strategy: Literal["merge", "first"], body: Any) -> ParsedResponse:
    """Let each parser read a body, and put together what they found."""
    readings = [parser.parse(body) for parser in parsers]
    calling = [reading for reading in readings if reading.tool_calls]
    calls = _put_together(calling if strategy == "merge" else calling[:1])
    called = {call.name for call in calls}
    intents = [intent for reading in readings for intent in reading.intents if intent.name not in called]
    return ParsedResponse(
        content=_cleaned(parsers, readings),
        reasoning="\n".join(_distinct(reading.reasoning for reading in readings if reading.reasoning)),
        refusal="\n".join(_distinct(reading.refusal for reading in readings if reading.refusal)),
        tool_calls=calls,
        broken_calls=_distinct(broken for reading in readings for broken in reading.broken_calls),
        intents=_distinct(intents),
        items=next((reading.items for reading in readings if reading.items), []),
        errors=_distinct(error for reading in readings for error in reading.errors),
        finish_reason=next((reading.finish_reason for reading in readings if reading.finish_reason is not None), None),
        usage=next((reading.usage for reading in readings if reading.usage is not None), None),
        ok=any(reading.ok for reading in readings),
        raw_response=body,
    )


def native_first(response: ParsedResponse) -> None:
    """Where a call came in the text and then natively, let the native one stand: it has the server's own id.

    In a stream the first one stands, for it may run already; of a whole response nothing has.
    """
    for place, double in enumerate(response.broken_calls):
        if double.code == "duplicate_call":
            made = _made(double.raw)
            for at, call in enumerate(response.tool_calls):
                if call.source != "native" and (call.name, made) == _what(call):
                    response.tool_calls[at] = replace(call, id=double.id, source="native", raw=double.raw)
                    response.broken_calls[place] = replace(double, id=call.id, raw=call.raw)
                    break


def _made(raw: str) -> bytes | None:
    """What the text of arguments says, as `_what` writes it."""
    try:
        return msgspec.json.encode(read(raw).value, order="deterministic")
    except JSONError:
        return None


def _put_together(readings: Iterable[ParsedResponse]) -> list[ToolCall]:
    """The calls, native ones first, then those of earlier parsers; numbered anew, each with an id of its own."""
    found: list[ToolCall] = []
    for reading in readings:
        # One parser's call stands for one of another's: of one way, the same call twice is two calls.
        known = Counter(map(_what, found))
        for call in reading.tool_calls:
            if known[_what(call)] > 0:
                known[_what(call)] -= 1
            else:
                found.append(call)
    found.sort(key=lambda call: call.source != "native")
    ids = {call.id for call in found}
    minted = (id for number in count() if (id := f"call_{number}") not in ids)
    taken: set[str] = set()
    calls = []
    for index, call in enumerate(found):
        id = next(minted) if call.id in taken or not call.id else call.id
        taken.add(id)
        calls.append(replace(call, id=id, index=index))
    return calls


def _what(call: ToolCall) -> tuple[str, bytes]:
    """Name and arguments as JSON: the order of keys says nothing, but `1`, `1.0` and `true` are three values."""
    return call.name, msgspec.json.encode(call.arguments, order="deterministic")


def _cleaned(parsers: Sequence[ToolCallParser], readings: Sequence[ParsedResponse]) -> str:
    """The content without what any parser took out of it."""
    content = next((reading.content for reading in readings if reading.content or reading.tool_calls), "")
    for parser, reading in zip(parsers, readings, strict=True):
        if reading.content != content and len(reading.content) < len(content) and parser.can_parse(content):
            content = parser.parse(content).content
    return content


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Each value once, in order; not all of them can be hashed."""
    kept: list[Any] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept
