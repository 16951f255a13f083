"""The vocabulary: one set of events for every server and every way to write a call.

Events are frozen and cheap.  `msgspec.json.encode(event)` is their wire form, with the kind in `type`
(`text_delta`, `tool_call_complete`, ...), and `msgspec.json.decode(data, type=Event)` reads it back.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "Done", "Error", "Event", "Place", "ProviderItem", "ReasoningDelta", "RefusalDelta", "Scope", "Source", "TextDelta",
    "ToolCallComplete", "ToolCallDelta", "ToolCallRevoked", "ToolCallStart",
]  # fmt: skip

Source: TypeAlias = Literal["native", "inband", "recovered", "repaired"]
"""How a call was found: in the wire's own fields, in the text, only at the end because it was not looked for before, or
only after its text had to be mended, which counts for more than the others."""

Place: TypeAlias = Literal["field", "plain", "bare", "quoted", "thought"]
"""Where a call was written: in the wire's own fields; in open text, with its own markup or without a marker of its own;
in a quotation; in a thought."""

Scope: TypeAlias = Literal["stream", "frame", "call"]
"""What an error concerns: the rest of the stream, one frame of it, or one call."""


def _to_snake_case(class_name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in class_name).removeprefix("_")


class _Event(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag=_to_snake_case):
    pass


class TextDelta(_Event, frozen=True, gc=False):
    """The next piece of the visible answer."""

    text: str


class ReasoningDelta(_Event, frozen=True, gc=False):
    """The next piece of the model's thought, or of the provider's summary of it."""

    text: str


class RefusalDelta(_Event, frozen=True, gc=False):
    """The next piece of a refusal that the provider marks as one."""

    text: str


class ToolCallStart(_Event, frozen=True, gc=False):
    """A call has a name; its arguments follow.  `index` counts calls by order of appearance, from 0."""

    index: int
    id: str
    name: str


class ToolCallDelta(_Event, frozen=True, gc=False):
    """The next piece of a call's argument text."""

    index: int
    arguments: str


class ToolCallComplete(_Event, frozen=True, gc=False):
    """A call is whole: no byte that follows can change it.

    `raw` is the text that the deltas summed to; `arguments` is what it says.  With
    `source="repaired"` the text had to be mended to be read, and `raw` is still the text as it came.
    `reason` says why a call is "recovered" or "repaired"; it is empty for all others.
    A call whose `place` is "bare" or "thought" may be revoked by what follows, and by an answer that ends badly.
    """

    index: int
    id: str
    name: str
    arguments: dict[str, Any]
    source: Source
    raw: str
    place: Place = "field"
    reason: str = ""


class ToolCallRevoked(_Event, frozen=True, gc=False):
    """A call that was complete does not count any more.

    `reason` says why.  The server took its turn back (error, refusal, content filter).  Or what followed shows that the
    text was not a call: visible text after a call without a marker of its own (`text_follows`), a thought that goes on
    or closes after it (`thought_goes_on`, `thought_closed`), an answer that did not end well (`cut`); its text comes
    next.  Or it shows that calls in the text may be data (`ambiguous_markup`).
    """

    index: int
    id: str
    reason: str


class ProviderItem(_Event, frozen=True, gc=False):
    """JSON without an event of its own that a user may want, or the provider wants back; once, and whole.

    Signatures, encrypted reasoning, server-side tool calls and their results, citations.
    """

    kind: str
    data: Any
    index: int | None = None


class Error(_Event, frozen=True, gc=False):
    """Something in the input was wrong; never the last event, never an exception.

    `code` is stable (see `streamparse.errors`), `message` is for people, `index` is the call's,
    `offset` counts the bytes of the stream up to the trouble (of text: the characters).
    """

    scope: Scope
    code: str
    message: str
    index: int | None = None
    offset: int | None = None


class Done(_Event, frozen=True, gc=False):
    """The end, always the last event and always there.

    `finish_reason` is the server's own word.  `ok` is true only if the server itself ended the turn.
    """

    finish_reason: str | None
    usage: dict[str, Any] | None
    ok: bool


Event: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | RefusalDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallComplete
    | ToolCallRevoked
    | ProviderItem
    | Error
    | Done
)
"""Any event; works in annotations, in `isinstance` and as a msgspec type."""
