"""What finish reasons mean: the words of OpenAI, of Anthropic, and of those that speak like them.

A reason that is not listed ended the turn well: `stop`, `end_turn`, `eos`, whatever comes next year.
"""

from __future__ import annotations

from typing import Final

from streamparse.sink import Outcome

__all__ = ["outcome_of"]

_OUTCOMES: Final[dict[str, Outcome]] = {
    # The model waits for the results of its calls.
    "tool_calls": "tools",
    "tool_call": "tools",
    "function_call": "tools",  # OpenAI, of old
    "tool_use": "tools",  # Anthropic
    "requires_action": "tools",  # the status of an interaction
    # The answer ran into a bound.
    "length": "cut",
    "max_tokens": "cut",
    "incomplete": "cut",  # the status of a response
    "model_context_window_exceeded": "cut",  # Anthropic, Z.ai
    "model_length": "cut",  # Mistral
    # The server took the turn back.
    "content_filter": "failed",
    "refusal": "failed",  # Anthropic, and relays of it
    "sensitive": "failed",  # Z.ai
    "error": "failed",
    "failed": "failed",
    "cancelled": "failed",
    "abort": "failed",  # vLLM, SGLang
    "network_error": "failed",  # Z.ai
    "insufficient_system_resource": "failed",  # DeepSeek
}


def outcome_of(reason: str) -> Outcome:
    """Return what a turn is that ends for this reason."""
    return _OUTCOMES.get(reason, "stop")
