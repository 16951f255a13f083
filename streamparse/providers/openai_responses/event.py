"""The shape of an event of OpenAI Responses, or of a whole `response`: only the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Event", "Response"]


class Response(msgspec.Struct, gc=False):
    id: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    incomplete_details: Any = None


class Event(msgspec.Struct, gc=False):
    """An event, an error as an event or as the body, or a whole response."""

    type: str | None = None
    sequence_number: int | None = None
    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: str | dict[str, Any] | None = None
    text: str | dict[str, Any] | None = None  # in a whole response: how the text is formatted
    refusal: str | None = None
    name: str | None = None  # of the call, beside its arguments
    arguments: msgspec.Raw = msgspec.Raw()
    item: msgspec.Raw = msgspec.Raw()
    annotation: Any = None
    response: Response | None = None
    # an error
    error: Any = None
    code: Any = None
    message: Any = None
    detail: Any = None
    # a whole response
    id: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    incomplete_details: Any = None
