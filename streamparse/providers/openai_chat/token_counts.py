"""Token counts, in the words of OpenAI's chat completions."""

from __future__ import annotations

from typing import Any

from streamparse.usage import count_tokens

__all__ = ["chat_counts"]


def chat_counts(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counts in OpenAI's words, its three always among them; its own stay as they are."""
    tokens = count_tokens(usage)
    counts: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.completion}
    counts["total_tokens"] = tokens.prompt + tokens.completion
    if "prompt_tokens" in usage:
        return counts | {name: value for name, value in usage.items() if value is not None}
    if tokens.cached:
        counts["prompt_tokens_details"] = {"cached_tokens": tokens.cached}
    if tokens.reasoning:
        counts["completion_tokens_details"] = {"reasoning_tokens": tokens.reasoning}
    return counts
