"""How a result that failed is told from one that did not, where a provider has no field that says so.

| | an error | a value that could be taken for one |
|---|---|---|
| an object (Gemini, Cohere) | `{"error": text}` | `{"output": value}` |
| a text (OpenAI, Ollama) | the JSON of `{"error": text}` | its text between `{"output":` and `}` |

Only a text that is letter by letter what is written here for an error is read as one; any other stays what it is, JSON
or not.
"""

from __future__ import annotations

import json
from typing import Any, Final

from streamparse.json.json_safety import compact

__all__ = ["error_text", "heard", "output_text", "unwrapped", "wrapped"]

_SHIELD: Final = '{"output":'


def wrapped(value: Any, error: str | None) -> dict[str, Any]:
    """A result as an object: an object as it is, anything else, and what could be misread, under `output`."""
    if error is not None:
        return {"error": error}
    plain = isinstance(value, dict) and not value.keys() & {"output", "error"}
    return value if plain else {"output": value}


def unwrapped(value: Any) -> tuple[Any, str | None]:
    """The result and the error that an object holds; the inverse of `wrapped`."""
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return None, value["error"]
    if isinstance(value, dict) and value.keys() == {"output"}:
        return value["output"], None
    return value, None


def error_text(error: str) -> str:
    """An error as a text."""
    return compact({"error": error})


def output_text(text: str) -> str:
    """The text of a result that succeeded: as it is, unless it would be taken for an error."""
    return f"{_SHIELD}{text}}}" if _error_within(text) is not None else text


def heard(text: str) -> tuple[str | None, str | None]:
    """The result and the error that a text says; the inverse of `output_text` and `error_text`."""
    error = _error_within(text)
    if error is None:
        return text, None
    return (text[len(_SHIELD) : -1], None) if text.startswith(_SHIELD) else (None, error)


def _error_within(text: str) -> str | None:
    """The error that a text says, within however many shields."""
    shields = 0
    while text.startswith(_SHIELD, shields * len(_SHIELD)):
        shields += 1
    within = text[shields * len(_SHIELD) : len(text) - shields]
    return _error(within) if text.endswith("}" * shields) else None


def _error(text: str) -> str | None:
    if not (text.startswith('{"error":"') and text.endswith('"}')):
        return None
    try:
        error = json.loads(text)["error"]
    except (ValueError, RecursionError):
        return None
    return error if isinstance(error, str) and error_text(error) == text else None
