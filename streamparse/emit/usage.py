"""Token counts in every server's words, as four numbers.

| wire | all of the prompt | of it from a cache | answer | of it thought |
|---|---|---|---|---|
| OpenAI chat | prompt_tokens | prompt_tokens_details.cached_tokens | completion_tokens | ..details.reasoning_tokens |
| OpenAI Responses | input_tokens | input_tokens_details.cached_tokens | output_tokens | ..details.reasoning_tokens |
| Anthropic | input_tokens and both cache counts | cache_read_input_tokens | output_tokens | |
| Bedrock | inputTokens and both cache counts | cacheReadInputTokens | outputTokens | |
| Gemini | promptTokenCount | cachedContentTokenCount | candidates- and thoughtsTokenCount | thoughtsTokenCount |
| Ollama | prompt_eval_count | | eval_count | |
| Cohere | tokens.input_tokens | | tokens.output_tokens | |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Tokens", "chat_counts", "tokens_of"]

_PROMPT = (
    *("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count"),
    *("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
)
_ANSWER = (
    *("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "thoughtsTokenCount"),
    "eval_count",
)
_CACHED = ("cache_read_input_tokens", "cacheReadInputTokens", "cachedContentTokenCount")
_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_THOUGHT_DETAILS = ("completion_tokens_details", "output_tokens_details")


class Tokens(NamedTuple):
    """How many tokens were read and written; `cached` is part of `prompt`, `thought` of `answer`."""

    prompt: int = 0
    answer: int = 0
    cached: int = 0
    thought: int = 0


def tokens_of(usage: Mapping[str, Any] | None) -> Tokens:
    """Read the counts of any server; what is not there is 0."""
    counts = usage or {}
    inner = counts.get("tokens")
    if isinstance(inner, Mapping):  # Cohere
        counts = inner
    return Tokens(
        _sum(counts, _PROMPT),
        _sum(counts, _ANSWER),
        _sum(counts, _CACHED) + _details(counts, _DETAILS, "cached_tokens"),
        _sum(counts, ("thoughtsTokenCount",)) + _details(counts, _THOUGHT_DETAILS, "reasoning_tokens"),
    )


def chat_counts(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counts in OpenAI's words, its three always among them; its own stay as they are."""
    tokens = tokens_of(usage)
    counts: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.answer}
    counts["total_tokens"] = tokens.prompt + tokens.answer
    if "prompt_tokens" in usage:
        return counts | {name: value for name, value in usage.items() if value is not None}
    if tokens.cached:
        counts["prompt_tokens_details"] = {"cached_tokens": tokens.cached}
    if tokens.thought:
        counts["completion_tokens_details"] = {"reasoning_tokens": tokens.thought}
    return counts


def _sum(counts: Mapping[str, Any], names: tuple[str, ...]) -> int:
    return sum(count for name in names if isinstance(count := counts.get(name), int))


def _details(counts: Mapping[str, Any], places: tuple[str, ...], name: str) -> int:
    return sum(_sum(inner, (name,)) for place in places if isinstance(inner := counts.get(place), Mapping))
