"""The shape of an event of Gemini's Interactions API, or of a whole interaction: only the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Delta", "Interaction", "InteractionEvent", "Metadata", "Step"]


class Delta(msgspec.Struct, gc=False):
    """A piece of a step."""

    text: str | None = None
    type: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    content: Any = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    annotations: list[Any] | None = None
    # of what the server itself does, and of media
    call_id: Any = None
    server_name: Any = None
    result: Any = None
    is_error: Any = None
    data: Any = None
    mime_type: Any = None
    uri: Any = None


class Step(msgspec.Struct, gc=False):
    """A step where it starts, or a whole one."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    signature: str | None = None
    text: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    summary: msgspec.Raw = msgspec.Raw()


class Interaction(msgspec.Struct, gc=False):
    status: str | None = None
    usage: dict[str, Any] | None = None


class Metadata(msgspec.Struct, gc=False):
    usage: dict[str, Any] | None = None


class InteractionEvent(msgspec.Struct, gc=False):
    """What an event holds besides the fields of a chunk; `step` and `content` are read by its type."""

    index: int | None = None
    delta: Delta | None = None
    event_type: str | None = None
    step: msgspec.Raw = msgspec.Raw()
    content: msgspec.Raw = msgspec.Raw()
    interaction: Interaction | None = None
    metadata: Metadata | None = None
    # a whole interaction
    object: str | None = None
    status: str | None = None
    usage: dict[str, Any] | None = None
    outputs: list[msgspec.Raw] | None = None
    steps: list[msgspec.Raw] | None = None
