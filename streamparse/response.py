"""What an answer holds, as one record: the sum of its events."""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.events import Error, Source

__all__ = ["BrokenCall", "ParsedResponse", "ToolCall", "ToolIntent"]


class ToolCall(msgspec.Struct, frozen=True):
    """A complete call of a tool.

    `arguments` is the decoded object, `raw` the JSON text as the model wrote it.
    """

    name: str
    arguments: dict[str, Any]
    id: str = ""
    source: Source = "native"
    raw: str = ""
    index: int = 0
    revoked: bool = False


class BrokenCall(msgspec.Struct, frozen=True):
    """A call that began and never became whole: not to be run, and not lost."""

    name: str
    raw: str
    id: str
    code: str
    index: int = 0


class ToolIntent(msgspec.Struct, frozen=True):
    """Prose in which a model says that it wants a tool ("I'll use the search tool").  Never a call."""

    name: str
    text: str


class ParsedResponse(msgspec.Struct, kw_only=True):
    """A whole response, or what has come of one so far."""

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    intents: list[ToolIntent] = []
    items: list[dict[str, Any]] = []
    errors: list[Error] = []
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    ok: bool = False
    raw_response: Any = None
