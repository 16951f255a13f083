"""The shape of an event of Anthropic Messages, or of a whole `message`: only the fields that are read."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

__all__ = ["DELTAS", "METRICS", "TURN_ITEMS", "TYPES", "Event", "Message", "Turn"]

_DeltaType: TypeAlias = Literal["text_delta", "input_json_delta", "thinking_delta", "signature_delta"]
_EventType: TypeAlias = Literal[
    "content_block_delta",
    "content_block_start",
    "content_block_stop",
    "message_start",
    "message_delta",
    "message_stop",
    "ping",
]

TYPES: Final[tuple[str, ...]] = get_args(_EventType)
"""The types of the events of a stream; `message` is a whole answer, `error` an error."""

DELTAS: Final[tuple[str, ...]] = get_args(_DeltaType)
"""The deltas that have a verb of their own; any other type is not decoded."""

TURN_ITEMS: Final = ("stop_sequence", "stop_details", "container")
"""What is told of a turn's end beside its reason."""

METRICS: Final = "amazon-bedrock-invocationMetrics"


class Turn(msgspec.Struct, gc=False):
    """How a turn ended: in `message_delta`, or in a whole message."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Any = None
    container: Any = None


class Delta(Turn, gc=False):
    type: _DeltaType | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None


class Message(Turn, gc=False):
    content: list[dict[str, Any]] | None = None
    usage: dict[str, Any] | None = None


class Event(Message, gc=False):
    type: _EventType | Literal["message", "error"] | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: dict[str, Any] | None = None
    message: Message | None = None
    error: Any = None
    detail: Any = None
    context_management: dict[str, Any] | None = None
    metrics: Any = msgspec.field(default=None, name=METRICS)
