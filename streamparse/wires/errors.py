"""Errors that a provider reports inside of a stream, in whatever shape."""

from __future__ import annotations

from typing import Any

from streamparse.sink import Sink

__all__ = ["tell_provider_error"]

_SHOWN = 2000


def tell_provider_error(sink: Sink, error: Any) -> None:
    """Tell a provider's error: a string, or an object with some of `code`, `type`, `status` and `message`."""
    sink.error("stream", "provider_error", _described(error)[:_SHOWN])


def _described(error: Any) -> str:
    if isinstance(error, dict) and isinstance(error.get("error"), (dict, str)):
        error = error["error"]
    if not isinstance(error, dict):
        return str(error)
    label = next((str(error[key]) for key in ("code", "type", "status") if error.get(key) not in (None, "")), "")
    message = error.get("message")
    text = message if isinstance(message, str) else str(error)
    return f"{label}: {text}" if label else text
