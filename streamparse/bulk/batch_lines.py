"""The results of a provider's batch, a line each, and what stands at a path of names.

| line | provider |
|---|---|
| `{"custom_id", "response": {"status_code", "body"}, "error"}` | OpenAI, Mistral |
| `{"custom_id", "result": {"type", "message" or "error"}}` | Anthropic |
| `{"recordId", "modelOutput" or "error"}` | Bedrock |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

__all__ = ["get_at_path", "is_batch_line", "read_batch_line"]

_IDS: Final = (b'"custom_id"', b'"recordId"')
_RESULTS: Final = ("response", "result", "modelOutput")
_NULL: Final = msgspec.Raw(b"null")


def is_batch_line(line: bytes) -> bool:
    """Whether a line, or the beginning of a long one, is a result of a batch."""
    return line.lstrip()[:1] == b"{" and any(name in line for name in _IDS)


def read_batch_line(fields: Mapping[str, msgspec.Raw]) -> tuple[bytes | None, str, str]:
    """Return the body in a line, or why there is none; and the name of the column in which it was.

    Raises ValueError and RecursionError for what is no JSON.
    """
    for name in _RESULTS:
        match msgspec.json.decode(fields.get(name, _NULL)):
            case {"body": dict() | list() as body} | {"message": dict() as body} | {"error": dict() as body}:
                return msgspec.json.encode(body), "", name
            case {"body": str() as text}:
                return text.encode(), "", name
            case dict() as body if name == "modelOutput":
                return msgspec.json.encode(body), "", name
            case {"type": str() as kind}:  # Anthropic's `canceled` and `expired`
                return None, f"the request was {kind}", name
    if error := msgspec.json.decode(fields.get("error", _NULL)):
        return msgspec.json.encode({"error": error}), "", "error"
    return None, "the line is no result of a batch", ""


def get_at_path(value: Any, path: str) -> Any:
    """Return what stands at names with dots between them, in objects and in JSON text; None if nothing does."""
    for name in path.split("."):
        if isinstance(value, (str, bytes)):
            try:
                value = msgspec.json.decode(value)
            except (ValueError, RecursionError):
                return None
        value = value.get(name) if isinstance(value, dict) else None
    return value
