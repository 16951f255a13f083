"""Gemini's messages as Google's SDK for Python dumps them: fields in snake case, and null for what is not there."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

__all__ = ["as_sent", "is_dumped", "respell"]

_DUMPED: Final = re.compile(
    rb'"(?:candidates_token_count|create_time|finish_(?:message|reason)|function_call|model_version|prompt_feedback'
    rb'|response_id|thought_signature|usage_metadata)"'
)
_USERS: Final = ("args", "response")
"""What a tool was given and gave back: keys in it are the user's."""


def is_dumped(data: bytes) -> bool:
    """Whether a message has a field that only a dump has; a quote within a string is escaped, so its text has none."""
    return _DUMPED.search(data) is not None


def as_sent(data: bytes) -> bytes:
    """Return a dumped message as the server had sent it.  Raises ValueError or RecursionError for what is no JSON."""
    message = msgspec.json.decode(data)
    if isinstance(message, dict):
        respell(message)
    return msgspec.json.encode(message)


def respell(message: dict[str, Any]) -> None:
    """Give the fields of a message, in place, the names that the wire has; an interaction's are in snake case there."""
    if "event_type" in message or message.get("object") == "interaction":
        return
    envelope = message.get("response")
    waiting: list[Any] = [message, envelope]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            fields = {_respelt(key): field for key, field in value.items() if field is not None or "_" not in key}
            waiting += (field for key, field in fields.items() if key not in _USERS)
            value.clear()
            value.update(fields)


def _respelt(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(map(str.capitalize, others))
