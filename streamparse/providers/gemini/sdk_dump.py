"""Gemini's messages as Google's SDK for Python dumps them: fields in snake case, and null for what is not there."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.providers.gemini.facts import USER_DATA, to_camel_case

_DUMPED: Final = frozenset(
    (
        "create_time",
        "finish_message",
        "finish_reason",
        "function_call",
        "model_version",
        "prompt_feedback",
        "response_id",
        "thought_signature",
        "usage_metadata",
    )
)
_LEVELS: Final = ("response", "candidates", "content", "parts")


def is_dumped(data: bytes) -> bool:
    """Whether a message has a field that only a dump has.  Raises ValueError or RecursionError for what is no JSON."""
    waiting: list[Any] = [msgspec.json.decode(data)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            if not _DUMPED.isdisjoint(value):
                return True
            waiting += (value[key] for key in _LEVELS if key in value)
    return False


def as_sent(data: bytes) -> bytes:
    """Return a dumped message as the server had sent it.  Raises ValueError or RecursionError for what is no JSON."""
    message = msgspec.json.decode(data)
    if isinstance(message, dict):
        respell(message)
    return msgspec.json.encode(message)


def respell(message: dict[str, Any]) -> None:
    """Give the fields of a message, in place, the names that the wire has."""
    waiting: list[Any] = [message, message.get("response")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            fields = {to_camel_case(key): field for key, field in value.items() if field is not None or "_" not in key}
            waiting += (field for key, field in fields.items() if key not in USER_DATA)
            value.clear()
            value.update(fields)
