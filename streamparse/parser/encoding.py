"""Decoded messages, written as the bytes that they were: what an SDK hands over goes the way of all bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from streamparse.parser.records import fields_of, is_record

__all__ = ["Record", "encoded"]


class Record(Protocol):
    """What an SDK makes of a message: one of pydantic's models."""

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return the JSON of a message.

    Raises ValueError or RecursionError for a number or a depth beyond every bound, and TypeError for odd keys.
    """
    return json.dumps(message, default=_jsonable).encode()


def _jsonable(value: Any) -> Any:
    """What an SDK puts into a message besides JSON: its text is the best that can be said of it."""
    if isinstance(value, (bytes, bytearray)):
        import base64  # noqa: PLC0415 - rarely needed

        return base64.b64encode(value).decode()  # as the wire of boto3's messages had it
    if is_record(value):
        return dict(fields_of(value))
    return dict(value) if isinstance(value, Mapping) else str(value)
