"""Why an answer ended: the words of all servers, and the common word for each.

| common word | the answer |
|---|---|
| "end" | is what the model wanted to say |
| "tools" | waits for the results of its calls |
| "length" | ran into a bound, and may be asked to go on |
| "filter" | was taken back, or refused, because of what it says |
| "error" | failed |

Words count without regard to case, with `-` for `_`, and without the detail behind a colon (`content_filter: SAFETY`:
Google's endpoint for OpenAI's clients).  With `enum-encoding=int` Gemini's are numbers; from 5 on those of Vertex AI
and of the Gemini API differ, and all are failures.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

__all__ = ["COMMON_STOPS", "STOPS", "Stop", "find_common_stop", "find_full_reason", "find_stop", "is_paused"]

Stop: TypeAlias = Literal["end", "tools", "length", "filter", "error"]
"""The common words."""

_WORDS: Final[dict[Stop, tuple[str, ...]]] = {
    "end": (
        *("stop", "end_turn", "stop_sequence", "complete", "completed", "finish", "finished", "eos", "eos_token"),
        *("end", "done", "normal"),  # relays; Baidu
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
        *("length", "max_tokens", "max_length", "max_new_tokens", "max_completion_tokens", "token_limit"),
        *("context_length_exceeded", "context_window_exceeded"),
        "max_output_tokens",  # why a response is incomplete, and relays of it
        "model_length",  # Mistral
        "model_context_window_exceeded",  # Anthropic, Z.ai
        "incomplete",  # the status of a response
        "time_limit",  # watsonx
        *("repetition", "repetition_truncation"),  # vLLM, MiMo: the server saw that the model was stuck
    ),
    "filter": (
        "content_filter",
        "refusal",  # Anthropic, and relays of it
        "sensitive",  # Z.ai
        *("content_filtered", "guardrail_intervened", "error_toxic"),  # Converse, Cohere, and relays of them
        *("safety", "recitation", "blocklist", "prohibited_content", "spii", "model_armor"),  # Gemini, and relays of it
        *("image_safety", "image_prohibited_content", "image_recitation"),
    ),
    "error": (
        *("error", "failed", "cancelled", "canceled", "user_cancelled", "aborted", "timeout"),
        *("server_error", "internal_error", "internal_server_error", "service_unavailable"),
        "abort",  # vLLM, SGLang
        "function_call_filter",  # Google's endpoint for OpenAI's clients
        *("malformed_function_call", "malformed_response", "unexpected_tool_call", "too_many_tool_calls"),
        "missing_thought_signature",  # Gemini, as those of the line before, and relays of it
        *("malformed_model_output", "malformed_tool_use"),  # Converse
        "network_error",  # Z.ai
        "insufficient_system_resource",  # DeepSeek
    ),
}
"""Words that mean the same whichever server sends them."""

_LISTED: Final[dict[Stop, tuple[str, ...]]] = {
    "end": ("0", "1", "finish_reason_unspecified"),  # Gemini
    "length": (
        *("max_messages", "steered"),  # why a response is incomplete
        *("2", "continuation"),  # Gemini
    ),
    "filter": (
        "blocked",  # what the wire of Gemini writes before the reason for which a prompt was blocked
        "intervened",  # what a guardrail of Amazon's has done, where the model gives no reason
        *("language", "jailbreak", "escalation", "pup_limited_disabled", "3", "4"),  # Gemini
    ),
    "error": (
        *("user_cancel", "error_limit"),  # Cohere
        *("no_image", "image_other", "other"),  # Gemini
    ),
}
"""Words of a provider that lists all of its own; from another server such a word says nothing for certain."""


def _index_by_word(table: dict[Stop, tuple[str, ...]]) -> dict[str, Stop]:
    return {word: stop for stop, words in table.items() for word in words}


COMMON_STOPS: Final = _index_by_word(_WORDS)
"""The common word of each word that means the same whichever server sends it."""

STOPS: Final = COMMON_STOPS | _index_by_word(_LISTED)
"""The common word of each server's word, in lower case."""


_PAUSES: Final = frozenset(("pause_turn", "compaction"))
"""Words for an end at which the server goes on if the answer is sent back as it is."""


def is_paused(reason: str | None) -> bool:
    """Whether an answer is not over: the server goes on with it once it is sent back."""
    return (reason or "").lower() in _PAUSES


def find_stop(reason: str | None) -> Stop | None:
    """Return the common word for a server's; None for an unknown one."""
    word = (reason or "").lower()
    stop = STOPS.get(word)
    if stop is None and (":" in word or "-" in word):
        stop = STOPS.get(_normalize_word(word))
    return "error" if stop is None and word.isdigit() else stop


def find_common_stop(reason: str) -> Stop | None:
    """As `find_stop`, for a word that means the same whichever server sends it; None for any other."""
    word = reason.lower()
    return COMMON_STOPS.get(word) or COMMON_STOPS.get(_normalize_word(word))


def _normalize_word(word: str) -> str:
    return word.partition(":")[0].rstrip().replace("-", "_")


def find_full_reason(reason: str | None, details: Any) -> str | None:
    """Return the server's word for the end; OpenAI Responses give it in the details of an incomplete answer."""
    detail = details.get("reason") if isinstance(details, dict) else None
    return detail if reason == "incomplete" and isinstance(detail, str) else reason
