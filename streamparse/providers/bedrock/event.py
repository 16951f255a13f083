"""The shape of an event of Converse, or of a whole body: only the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Delta", "Event", "Message", "Output", "Thought", "ToolUse"]


class ToolUse(msgspec.Struct, gc=False):
    name: str = ""
    toolUseId: str = ""
    type: str | None = None
    input: Any = None


class Thought(msgspec.Struct, gc=False):
    """Reasoning: in a delta its fields are its own, in a whole message text and signature lie one level deeper."""

    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None
    reasoningText: dict[str, Any] | None = None


class Delta(msgspec.Struct, gc=False):
    """A piece of a block, or a whole one."""

    text: str | None = None
    toolUse: ToolUse | None = None
    reasoningContent: Thought | None = None
    citation: Any = None
    citationsContent: Any = None
    toolResult: Any = None
    image: Any = None


class Message(msgspec.Struct, gc=False):
    content: list[Delta] = []


class Output(msgspec.Struct, gc=False):
    message: Message | None = None


class Event(msgspec.Struct, gc=False):
    """An event; the last fields are for those that are named in their JSON."""

    contentBlockIndex: int | None = None
    delta: Delta | None = None
    start: Delta | None = None
    payload: bytes | None = msgspec.field(default=None, name="bytes")
    role: str | None = None
    stopReason: str | None = None
    usage: dict[str, Any] | None = None
    metrics: Any = None
    trace: Any = None
    additionalModelResponseFields: Any = None
    output: Output | None = None
    message: str | None = None
    detail: Any = None
    contentBlockDelta: Event | None = None
    contentBlockStart: Event | None = None
    contentBlockStop: Event | None = None
    messageStart: Event | None = None
    messageStop: Event | None = None
    metadata: Event | None = None
    chunk: Event | None = None
    internalServerException: Any = None
    modelStreamErrorException: Any = None
    modelTimeoutException: Any = None
    serviceUnavailableException: Any = None
    throttlingException: Any = None
    validationException: Any = None
