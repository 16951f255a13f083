"""Why an answer ended: the words of all servers, and the common word for each.

| common word | the answer |
|---|---|
| "end" | is what the model wanted to say |
| "tools" | waits for the results of its calls |
| "length" | ran into a bound, and may be asked to go on |
| "filter" | was taken back, or refused, because of what it says |
| "error" | failed |

Words count without regard to case.  With `enum-encoding=int` Gemini's are numbers; from 5 on those of Vertex AI and of
the Gemini API differ, and all are failures.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

__all__ = ["COMMON_STOPS", "STOPS", "Stop", "find_full_reason", "find_stop"]

Stop: TypeAlias = Literal["end", "tools", "length", "filter", "error"]
"""The common words."""

_WORDS: Final[dict[Stop, tuple[str, ...]]] = {
    "end": (
        *("stop", "end_turn", "stop_sequence", "complete", "completed", "finish", "finished", "eos", "eos_token"),
        "pause_turn",  # Anthropic: the server's own tools go on if the answer is sent back
        "compaction",  # Anthropic: the conversation was summed up
        *("load", "unload"),  # Ollama, asked without a message
    ),
    "tools": (
        *("tool_calls", "tool_call"),
        "function_call",  # OpenAI, of old
        "tool_use",  # Anthropic
        "requires_action",  # the status of an interaction
    ),
    "length": (
        *("length", "max_tokens"),
        "model_length",  # Mistral
        "model_context_window_exceeded",  # Anthropic, Z.ai
        "incomplete",  # the status of a response
    ),
    "filter": (
        "content_filter",
        "refusal",  # Anthropic, and relays of it
        "sensitive",  # Z.ai
    ),
    "error": (
        *("error", "failed", "cancelled"),
        "abort",  # vLLM, SGLang
        "network_error",  # Z.ai
        "insufficient_system_resource",  # DeepSeek
    ),
}
"""Words that mean the same whichever server sends them."""

_LISTED: Final[dict[Stop, tuple[str, ...]]] = {
    "end": ("0", "1", "finish_reason_unspecified"),  # Gemini
    "length": (
        *("max_output_tokens", "max_messages", "steered"),  # why a response is incomplete
        *("2", "continuation"),  # Gemini
    ),
    "filter": (
        *("content_filtered", "guardrail_intervened", "error_toxic"),  # Converse, Cohere
        *("safety", "recitation", "language", "blocklist", "prohibited_content", "spii", "model_armor", "jailbreak"),
        *("image_safety", "image_prohibited_content", "image_recitation", "escalation", "pup_limited_disabled"),
        *("3", "4"),  # Gemini, as all since "safety"
    ),
    "error": (
        *("canceled", "aborted", "timeout", "user_cancel", "error_limit"),  # Cohere
        *("malformed_model_output", "malformed_tool_use"),  # Converse
        *("malformed_function_call", "malformed_response", "unexpected_tool_call", "too_many_tool_calls"),
        *("missing_thought_signature", "no_image", "image_other", "other"),  # Gemini, as those of the line before
    ),
}
"""Words of a provider that lists all of its own; from another server such a word says nothing for certain."""


def _index_by_word(table: dict[Stop, tuple[str, ...]]) -> dict[str, Stop]:
    return {word: stop for stop, words in table.items() for word in words}


COMMON_STOPS: Final = _index_by_word(_WORDS)
"""The common word of each word that means the same whichever server sends it."""

STOPS: Final = COMMON_STOPS | _index_by_word(_LISTED)
"""The common word of each server's word, in lower case."""

_BLOCKED: Final = "blocked:"  # what the wire of Gemini writes before the reason for which a prompt was blocked


def find_stop(reason: str | None) -> Stop | None:
    """Return the common word for a server's; None for an unknown one."""
    word = (reason or "").lower()
    stop = STOPS.get(word)
    if stop is None and word.startswith(_BLOCKED):
        return "filter"
    return "error" if stop is None and word.isdigit() else stop


def find_full_reason(reason: str | None, details: Any) -> str | None:
    """Return the server's word for the end; OpenAI Responses give it in the details of an incomplete answer."""
    detail = details.get("reason") if isinstance(details, dict) else None
    return detail if reason == "incomplete" and isinstance(detail, str) else reason
