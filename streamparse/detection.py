"""The kind and the contents of a body or a text, with the evidence.

A body is known by the wire that claims its frames; what no wire claims is read as the text of an answer.
Besides the dialect that "auto" finds, every other is tried by name, to show which ones could be named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from streamparse.dialects import DIALECTS, Dialect
from streamparse.parser.options import ParserOptions
from streamparse.parser.whole_bodies import BodyReader, Reading
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.names import PROVIDERS
from streamparse.response import BrokenCall, ToolCall
from streamparse.tools import Toolset
from streamparse.tools.toolset import read_toolset

_EXCERPT: Final = 120  # bound: the characters of a finding that are shown
_CALL: Final = ToolCall("get_weather", {"city": "Paris"}, "call_0")


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a body is; lengths are characters."""

    framing: str
    """A format of the framers; `values`: it came decoded; `text`: not a body, but the text of an answer."""
    size: int
    frames: int = 0
    wire: str | None = None
    """None for a text, and for an error that any server may send."""
    shown_by: str | None = None
    """The beginning of the first frame that shows the wire."""
    dialect: str | None = None
    """The dialect in which `auto` found a call."""
    marker: str | None = None
    """The opening marker of that dialect that is in the text."""
    also: list[str] = []
    """The other dialects that read a call in the same text, if they are named."""
    calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    text: int = 0
    reasoning: int = 0
    reasoning_from: str | None = None
    """Where the thought was: `native`, or `in the text`."""
    finish_reason: str | None = None
    ok: bool = False
    errors: list[str] = []
    example: str | None = None
    """A call as this wire or dialect has it: text for a dialect, JSON for a wire."""
    schema_style: str | None = None
    """How a request declares its tools: the adapter that writes them for the wire (`streamparse.providers`), or
    `json-schema` for a dialect, whose prompt declares each with the JSON Schema of its arguments."""


def detect_format(text_or_body: Any, tools: Iterable[Any] | None = None) -> Findings:
    """Find out what a text or a body is; with the tools of the request, dialects without a marker are seen, too.

    Takes all that `parse_response` takes, finds the calls that it finds, and raises TypeError for what that refuses.
    """
    known = read_toolset(tools)
    native = BodyReader(ParserOptions(dialects=(), tools=known)).read(text_or_body)
    return _make_findings(BodyReader(ParserOptions(tools=known)).read(text_or_body, recovers=True), native, known)


def _make_findings(reading: Reading, native: Reading, tools: Toolset) -> Findings:
    """Combine both readings: all findings, and the calls in native fields alone."""
    response, body = reading.response, reading.body
    text = native.response.content
    is_text = reading.wire is None
    return Findings(
        framing="text" if is_text else body.framing or "values",
        size=len(text) if is_text else body.size,
        frames=0 if is_text else len(body.frames),
        wire=body.wire,
        shown_by=body.shown_by.data[:_EXCERPT].decode("utf-8", "replace") if body.shown_by else None,
        dialect=reading.dialect,
        marker=_find_marker(reading.dialect, text),
        also=[
            name
            for name, dialect in DIALECTS.items()
            if name != reading.dialect and _has_opener(dialect, text, tools) and _has_call(name, text, tools)
        ],
        calls=response.tool_calls,
        broken_calls=response.broken_calls,
        text=len(response.content),
        reasoning=len(response.reasoning),
        reasoning_from=("native" if native.response.reasoning else "in the text") if response.reasoning else None,
        finish_reason=response.finish_reason,
        ok=response.ok,
        errors=[f"{error.code}: {error.message}" for error in response.errors],
        example=_write_example(reading.dialect, body.wire),
        schema_style=_find_adapter(body.wire) or ("json-schema" if reading.dialect else None),
    )


def _write_example(dialect: str | None, wire: str | None) -> str | None:
    """Write a call in the dialect or, without one, in the wire's JSON."""
    if dialect in DIALECTS:
        return DIALECTS[dialect].example
    adapter = _find_adapter(wire)
    return None if adapter is None else json.dumps(ADAPTERS[adapter].format_call(_CALL))


def _find_adapter(wire: str | None) -> str | None:
    """Find the adapter of the first provider that speaks a wire."""
    return next((row.adapter for row in PROVIDERS.values() if row.wire == wire), None)


def _find_marker(dialect: str | None, text: str) -> str | None:
    """Find the first opening marker of a dialect in a text; None for a dialect without markers."""
    openers = DIALECTS[dialect].openers if dialect in DIALECTS else ()
    found = [(text.find(opener.text), opener.text) for opener in openers if opener.text and opener.text in text]
    return min(found)[1] if found else None


def _has_opener(dialect: Dialect, text: str, tools: Toolset) -> bool:
    """Whether one of a dialect's markers is in a text: without one there is no call, and no parser need be made."""
    return any(
        opener.text + name in text
        for opener in dialect.openers
        for name in (tools.names if opener.each_tool else ("",))
    )


def _has_call(name: str, text: str, tools: Toolset) -> bool:
    response = BodyReader(ParserOptions(dialects=(name,), tools=tools)).read_text(text)
    return any(call.source == "inband" and not call.revoked for call in response.tool_calls)
