"""Ways to mark reasoning in text."""

from __future__ import annotations

from streamparse.dialects.grammar import Thought

__all__ = ["THOUGHTS"]

THOUGHTS: dict[str, Thought] = {
    "think": Thought("think", ("<think>",), ("</think>",), models="DeepSeek R1, Qwen3, QwQ, GLM, MiniMax-M2, and more"),
    "thinking": Thought("thinking", ("<thinking>",), ("</thinking>",), models="Claude-style prompts"),
}
"""Every way to mark reasoning in text, by name."""
