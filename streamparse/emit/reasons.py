"""Why a turn ended: every server's word, and what it means to a client of another wire."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["Meaning", "meaning_of"]

Meaning: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "error"]

_LENGTH: Final = (
    *("length", "max_tokens", "max_output_tokens", "model_length", "incomplete"),
    "model_context_window_exceeded",
)
_FILTER: Final = (
    *("content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "language"),
    *("image_safety", "content_filtered", "guardrail_intervened", "error_toxic", "sensitive"),
)
_MEANINGS: Final[dict[str, Meaning]] = {**dict.fromkeys(_LENGTH, "length"), **dict.fromkeys(_FILTER, "content_filter")}


def meaning_of(reason: str | None, *, ok: bool, called: bool, broken: bool, refused: bool) -> Meaning:
    """Return what the end of a turn is to a client, who knows only what has been emitted.

    `called` is whether complete calls were, `broken` whether calls were begun that will never be complete: a turn that
    holds such a call has been cut, whatever its server says, for a client must not run it.  `refused` is whether
    the model refused in words: then calls do not count either.
    """
    meaning = _MEANINGS.get((reason or "").lower(), "stop")
    if meaning == "content_filter" or (refused and not ok):
        return "content_filter"
    if not ok:
        return "error"
    if broken or meaning == "length":
        return "length"
    return "tool_calls" if called else "stop"
