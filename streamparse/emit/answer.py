"""A whole answer, as far as a client may be told of it: its calls, and how it ended."""

from __future__ import annotations

import re

import msgspec

from streamparse.emit.reasons import Meaning, meaning_of
from streamparse.events import Error
from streamparse.response import ParsedResponse, ToolCall

__all__ = ["argument_text", "labelled", "meaning_of_answer", "problem_of", "standing_calls"]

_LABELLED = re.compile(r"([\w.\-]{1,64}): (.*)", re.DOTALL)


def standing_calls(response: ParsedResponse) -> list[ToolCall]:
    """The calls that a client may run."""
    return [call for call in response.tool_calls if not call.revoked]


def argument_text(call: ToolCall) -> str:
    """A call's arguments as JSON text: the model's own if it can stand."""
    if call.source == "recovered" or not call.raw:
        return msgspec.json.encode(call.arguments).decode()
    return call.raw


def problem_of(response: ParsedResponse) -> tuple[str, str] | None:
    """Return why the turn failed as a code and a message; None if it did not, or a filter ended it."""
    for error in response.errors:
        if error.scope == "stream":
            return labelled(error)
    if meaning_of_answer(response) == "error":
        return response.finish_reason or "error", "the server took the turn back"
    return None


def meaning_of_answer(response: ParsedResponse) -> Meaning:
    """Return what the end of the turn is to a client."""
    return meaning_of(
        response.finish_reason,
        ok=response.ok,
        called=bool(standing_calls(response)),
        broken=any(error.scope == "call" for error in response.errors),
        refused=bool(response.refusal),
    )


def labelled(error: Error) -> tuple[str, str]:
    """The code and the message of an error; a provider's own code stands before its message."""
    label = _LABELLED.fullmatch(error.message) if error.code == "provider_error" else None
    return (label[1], label[2]) if label else (error.code, error.message)
