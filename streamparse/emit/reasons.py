"""Why a turn ended: every server's word, and what it means to a client of another wire."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["Meaning", "is_filter", "meaning_of"]

Meaning: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "error"]

_LENGTH: Final = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "model_context_window_exceeded")
)
_FILTER: Final = frozenset(
    (
        *("content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "language"),
        *("image_safety", "image_prohibited_content", "image_recitation", "model_armor", "jailbreak"),
        *("content_filtered", "guardrail_intervened", "error_toxic", "sensitive"),
    )
)


def is_filter(word: str | None) -> bool:
    """Whether a server's word is that of a filter."""
    return (word or "").lower().removeprefix("blocked:") in _FILTER  # Gemini's prefix, of a prompt


def meaning_of(reason: str | None, *, ok: bool, called: bool, broken: bool, refused: bool) -> Meaning:
    """Return what the end of a turn is to a client, who knows only what has been emitted.

    `called` is whether complete calls were, `broken` whether calls were begun that will never be complete: a turn that
    holds such a call has been cut, whatever its server says, for a client must not run it.  `refused` is whether
    the model refused in words: then calls do not count either.
    """
    if is_filter(reason) or (refused and not ok):
        return "content_filter"
    if not ok:
        return "error"
    if broken or (reason or "").lower() in _LENGTH:
        return "length"
    return "tool_calls" if called else "stop"
