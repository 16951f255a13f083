"""A whole answer, as far as a client may be told of it: its calls, and how it ended."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from streamparse.emitting.meanings import Meaning, is_filter, meaning_of
from streamparse.events import Error, ToolCallComplete
from streamparse.finish_reasons import find_full_reason
from streamparse.response import ParsedResponse, ToolCall

__all__ = [
    "DOUBLE",
    "DOUBTED",
    "INCOMPLETE_DETAILS",
    "STOP_DETAILS",
    "argument_text",
    "explained",
    "explanation_of",
    "labelled",
    "meaning_of_answer",
    "nameless",
    "names_filter",
    "problem_of",
    "reason_of",
    "standing_calls",
    "taken_back",
]

DOUBLE: Final = "duplicate_call"
"""The one code of a call's error that loses nothing: the call stands, under another index."""

DOUBTED: Final = "ambiguous_markup"
"""The code that says why calls are revoked which no server took back."""

STOP_DETAILS: Final = "stop_details"
"""The item in which Anthropic explains a refusal."""

INCOMPLETE_DETAILS: Final = "incomplete_details"
"""The item in which Responses say why an answer is incomplete."""

_LABELLED = re.compile(r"([\w.\-]{1,64}): (.*)", re.DOTALL)


def standing_calls(response: ParsedResponse) -> list[ToolCall]:
    """The calls that a client may run."""
    return [call for call in response.tool_calls if not call.revoked]


def argument_text(call: ToolCall | ToolCallComplete) -> str:
    """A call's arguments as JSON text: the model's own if it can stand."""
    if call.source == "recovered" or not call.raw:
        return msgspec.json.encode(call.arguments).decode()
    return call.raw


def problem_of(response: ParsedResponse) -> tuple[str, str] | None:
    """Return why the turn failed as a code and a message; None if it did not, or a filter ended it."""
    meaning = meaning_of_answer(response)
    for error in response.errors:
        if error.scope == "stream" and not (meaning == "content_filter" and names_filter(error)):
            return labelled(error)
    if meaning == "error":
        doubt = next((error for error in response.errors if error.code == DOUBTED), None)
        return taken_back(reason_of(response), doubt)
    return None


def names_filter(error: Error) -> bool:
    """Whether the server's error names a filter: beside such a finish reason it explains it, and adds no failure."""
    return error.code == "provider_error" and is_filter(labelled(error)[0])


def nameless(code: str) -> bool:
    """Whether a code says only that the server failed, which has named no code of its own."""
    return code == "provider_error"


def reason_of(response: ParsedResponse) -> str | None:
    """Return the server's word for the end of the turn."""
    details = (item["data"] for item in response.items if item["kind"] == INCOMPLETE_DETAILS)
    return find_full_reason(response.finish_reason, next(details, None))


def explanation_of(response: ParsedResponse) -> str:
    """Return why a filter ended the turn, in the server's words; "" if it did not say."""
    named = (error for error in response.errors if error.scope == "stream" and names_filter(error))
    details = (item["data"] for item in response.items if item["kind"] == STOP_DETAILS)
    return explained(next(named, None), next(details, None))


def explained(named: Error | None, details: Any) -> str:
    """Return the explanation in an error that names a filter, or in Anthropic's details; "" if there is none."""
    if named is not None:
        return labelled(named)[1]
    words = details.get("explanation") if isinstance(details, dict) else None
    return words if isinstance(words, str) else ""


def taken_back(reason: str | None, doubt: Error | None) -> tuple[str, str]:
    """Return why a turn that came to its end does not count, as a code and a message."""
    if doubt is not None:
        return doubt.code, doubt.message
    return reason or "error", "the server took the turn back"


def meaning_of_answer(response: ParsedResponse) -> Meaning:
    """Return what the end of the turn is to a client."""
    return meaning_of(
        reason_of(response),
        ok=response.ok,
        called=bool(standing_calls(response)),
        broken=any(error.scope == "call" and error.code != DOUBLE for error in response.errors),
        refused=bool(response.refusal),
    )


def labelled(error: Error) -> tuple[str, str]:
    """Return the code and the message of an error: a provider's own code if it has one."""
    label = _LABELLED.fullmatch(error.message) if error.code == "provider_error" else None
    return (label[1], label[2]) if label else (error.code, error.message)
