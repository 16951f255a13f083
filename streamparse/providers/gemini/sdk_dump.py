"""Gemini's fields as Google's libraries for Python spell them: in snake case, and null for what is not there."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.patterns import lazy_re

_DUMPED: Final = frozenset((
    "create_time", "finish_message", "finish_reason", "function_call", "model_version", "prompt_feedback",
    "response_id", "thought_signature", "usage_metadata",
))  # fmt: skip
"""Fields that only a dump has."""
_LEVELS: Final = ("response", "candidates", "content", "parts")
_USERS: Final = ("args", "arguments", "response")
"""What a tool was given and gave back: keys in it are the user's."""
_UNDERSCORE: Final = lazy_re("(?<=[a-z0-9])_([a-z])")


def is_dumped(data: bytes) -> bool:
    """Whether a message has a field that only a dump has.  Raises ValueError or RecursionError for invalid JSON."""
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


def restore_message(data: bytes) -> bytes:
    """Return a dumped message as the server had sent it.  Raises ValueError or RecursionError for invalid JSON."""
    message = msgspec.json.decode(data)
    return msgspec.json.encode(restore_fields(message) if isinstance(message, dict) else message)


def restore_fields(message: dict[str, Any]) -> dict[str, Any]:
    """Return a decoded message, which may be in an envelope, with the names that its fields had on the wire."""
    if not _has_underscores(message):
        return message.copy()
    restored = _restore_names(message)
    waiting: list[Any] = [restored]
    if isinstance(restored.get("response"), dict):  # here it is the envelope's
        restored["response"] = _restore_names(restored["response"])
        waiting.append(restored["response"])
    while waiting:  # a message may be deeper than functions can call each other
        holder = waiting.pop()
        for key, value in list(holder.items()) if isinstance(holder, dict) else enumerate(holder):
            if key not in _USERS and isinstance(value, (dict, list)):
                holder[key] = value[:] if isinstance(value, list) else _restore_names(value)
                waiting.append(holder[key])
    return restored


def to_camel_case(name: str) -> str:
    """Spell the name of a field as the wire does."""
    return _UNDERSCORE.sub(lambda match: match[1].upper(), name)


def _has_underscores(message: dict[str, Any]) -> bool:
    """Whether any name has one, be it one of the user's."""
    found: list[Any] = [message]
    for value in found:
        if isinstance(value, dict):
            if "_" in "".join(value):
                return True
            found += value.values()
        elif isinstance(value, list):
            found += value
    return False


def _restore_names(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        to_camel_case(key) if "_" in key else key: field
        for key, field in fields.items()
        if field is not None or "_" not in key
    }
