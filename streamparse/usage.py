"""Token counts: five numbers from every server's words.

| wire | all of the prompt | of it from a cache | answer | of it thought |
|---|---|---|---|---|
| OpenAI chat | prompt_tokens | prompt_tokens_details.cached_tokens | completion_tokens | ..details.reasoning_tokens |
| OpenAI Responses | input_tokens | input_tokens_details.cached_tokens | output_tokens | ..details.reasoning_tokens |
| Anthropic | input_tokens and both cache counts | cache_read_input_tokens | output_tokens | ..details.thinking_tokens |
| Bedrock | inputTokens and both cache counts | cacheReadInputTokens | outputTokens | |
| Gemini | promptTokenCount, toolUsePromptTokenCount | cachedContentTokenCount | candidates- and thoughtsTokenCount | thoughtsTokenCount |
| Gemini's interactions | total_input_tokens, total_tool_use_tokens | total_cached_tokens | total_output_tokens and .._thought_tokens | total_thought_tokens |
| Ollama | prompt_eval_count | | eval_count | |
| Cohere | tokens.input_tokens | cached_tokens | tokens.output_tokens | tokens.reasoning_tokens |
| Titan, Llama on Bedrock | inputTextTokenCount, prompt_token_count | | totalOutputTextTokenCount, generation_token_count | |

A total that is more than prompt and answer is believed.  The rest is the thought if it is as much (xAI leaves the thought
out of `completion_tokens`), else part of the prompt (Mistral leaves out sound).
"""  # noqa: E501 - rows of a table

from __future__ import annotations

import math
from collections.abc import KeysView, Mapping
from operator import add
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

__all__ = ["TokenCounts", "count_tokens"]

_CHAT_PROMPT: Final = "prompt_tokens"  # it counts cached tokens, also where relays add Anthropic's counts
_PROMPT: Final = frozenset((
    *("input_tokens", "inputTokens", "promptTokenCount", "toolUsePromptTokenCount", "prompt_eval_count"),
    *("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    *("total_input_tokens", "total_tool_use_tokens", "inputTextTokenCount", "prompt_token_count"),
))  # fmt: skip
_COMPLETION: Final = frozenset((
    *("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "thoughtsTokenCount", "eval_count"),
    *("total_output_tokens", "total_thought_tokens", "totalOutputTextTokenCount", "generation_token_count"),
))  # fmt: skip
_TOTAL: Final = ("total_tokens", "totalTokens", "totalTokenCount")
_CACHED: Final = (
    *("cache_read_input_tokens", "cacheReadInputTokens", "cachedContentTokenCount", "total_cached_tokens"),
    "cached_tokens",  # Moonshot, Cohere
    "prompt_cache_hit_tokens",  # DeepSeek, whose relays leave out the details
)
_REASONING: Final = ("thoughtsTokenCount", "total_thought_tokens", "reasoning_tokens")
_KNOWN: Final = _PROMPT.union(_COMPLETION, _TOTAL, _CACHED, _REASONING)
_PROMPT_DETAILS: Final = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS: Final = ("completion_tokens_details", "output_tokens_details")
_THINKING: Final = ("reasoning_tokens", "thinking_tokens")


class TokenCounts(msgspec.Struct, frozen=True):
    """How many tokens were read and written; 0 where the server does not say.

    `cached` is part of `prompt`, `reasoning` of `completion`.
    """

    prompt: int = 0
    completion: int = 0
    total: int = 0
    cached: int = 0
    reasoning: int = 0

    def __add__(self, other: TokenCounts) -> TokenCounts:
        """Return the counts of two answers."""
        return TokenCounts(*map(add, astuple(self), astuple(other)))


def count_tokens(usage: Mapping[str, Any] | None) -> TokenCounts:
    """Read the counts of any server."""
    if not usage:
        return TokenCounts()
    inner = usage.get("tokens")
    counts = {**usage, **inner} if inner is not None and isinstance(inner, Mapping) else usage  # Cohere
    known = _KNOWN.intersection(counts)  # a few of all names: so few that it pays to find them first
    chat = _read_count(counts.get(_CHAT_PROMPT))
    prompt, completion = chat or _sum(counts, known & _PROMPT), _sum(counts, known & _COMPLETION)
    cached = _find_first(counts, _CACHED, known) or _find_in_details(counts, _PROMPT_DETAILS, ("cached_tokens",))
    reasoning = _find_first(counts, _REASONING, known) or _find_in_details(counts, _COMPLETION_DETAILS, _THINKING)
    total = max(prompt + completion, _find_first(counts, _TOTAL, known))
    rest = total - prompt - completion
    if rest and rest == reasoning:
        completion += rest
    else:
        prompt += rest
    return TokenCounts(prompt, completion, total, min(cached, prompt), min(reasoning, completion))


def _sum(counts: Mapping[str, Any], names: frozenset[str]) -> int:
    return sum([_read_count(counts[name]) for name in names]) if names else 0


def _find_first(counts: Mapping[str, Any], names: tuple[str, ...], known: frozenset[str] | KeysView[str]) -> int:
    if not known.isdisjoint(names):
        for name in names:
            if name in known and (count := _read_count(counts[name])):
                return count
    return 0


def _read_count(count: Any) -> int:
    if count.__class__ is int:  # as nearly every one
        return count if count > 0 else 0
    return max(0, int(count)) if isinstance(count, (int, float)) and abs(count) < math.inf else 0


def _find_in_details(counts: Mapping[str, Any], places: tuple[str, ...], names: tuple[str, ...]) -> int:
    for place in places:
        inner = counts.get(place)
        if inner is None:
            continue
        # Whether a dict is a Mapping would be asked of Python code.
        if isinstance(inner, (dict, Mapping)) and (count := _find_first(inner, names, inner.keys())):
            return count
    return 0
