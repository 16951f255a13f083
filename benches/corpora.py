"""Streams as servers write them, byte for byte, made to measure: each read brings one event or line.

All corpora are generators of reads, so that a bench can hold them in memory or not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from block_bodies import (
    anthropic_call,
    anthropic_text,
    anthropic_thought,
    cohere_call,
    cohere_text,
    converse_call,
    converse_text,
)
from gemini_bodies import gemini_array, gemini_calls, gemini_partial_call, gemini_text
from ollama_bodies import ollama_generated, ollama_hermes, ollama_qwen3_coder, ollama_text
from openai_bodies import (
    chat_calls,
    chat_doubled_text,
    chat_noisy_text,
    chat_text,
    completions_text,
    responses_call,
    responses_text,
)
from texts import KIB, MIB, Reads

__all__ = ["CORPORA", "Corpus"]


class Corpus(NamedTuple):
    """A stream: the wire it is of, what makes its reads, and what is between its messages."""

    wire: str
    reads: Callable[[], Reads]
    between: bytes = b"\n\n"
    """Bytes that stand between two messages and nowhere else; none if each message begins with its length."""


CORPORA = {
    "openai-chat, text": Corpus("openai-chat", partial(chat_text, 10_000)),
    "openai-chat, text with noise": Corpus("openai-chat", partial(chat_noisy_text, 10_000)),
    "openai-chat, as OpenRouter writes": Corpus("openai-chat", partial(chat_doubled_text, 10_000)),
    "openai-chat, call of 64 KB": Corpus("openai-chat", partial(chat_calls, 64 * KIB)),
    "openai-chat, call of 1 MB": Corpus("openai-chat", partial(chat_calls, MIB)),
    "openai-chat, 8 calls of 8 KB": Corpus("openai-chat", partial(chat_calls, 8 * KIB, 8)),
    "openai-completions, text": Corpus("openai-completions", partial(completions_text, 10_000)),
    "openai-responses, text": Corpus("openai-responses", partial(responses_text, 10_000)),
    "openai-responses, call of 64 KB": Corpus("openai-responses", partial(responses_call, 64 * KIB)),
    "anthropic, text": Corpus("anthropic", partial(anthropic_text, 10_000)),
    "anthropic, thought": Corpus("anthropic", partial(anthropic_thought, 10_000)),
    "anthropic, call of 64 KB": Corpus("anthropic", partial(anthropic_call, 64 * KIB)),
    "gemini, text": Corpus("gemini", partial(gemini_text, 5_000), b"\r\n\r\n"),
    "gemini, text, lines that end in LF": Corpus("gemini", partial(gemini_text, 5_000, "\n")),
    "gemini, text in one array": Corpus("gemini", partial(gemini_array, 5_000), b"\n,\r\n"),
    "gemini, 512 whole calls of 1 KB": Corpus("gemini", partial(gemini_calls, KIB, 512), b"\r\n\r\n"),
    "gemini, call of 64 KB in pieces": Corpus("gemini", partial(gemini_partial_call, 64 * KIB), b"\r\n\r\n"),
    "cohere, text": Corpus("cohere", partial(cohere_text, 10_000)),
    "cohere, call of 64 KB": Corpus("cohere", partial(cohere_call, 64 * KIB)),
    "bedrock-converse, text": Corpus("bedrock-converse", partial(converse_text, 10_000), b""),
    "bedrock-converse, call of 64 KB": Corpus("bedrock-converse", partial(converse_call, 64 * KIB), b""),
    "ollama-generate, text": Corpus("ollama-generate", partial(ollama_generated, 10_000), b"\n"),
    "ollama-chat, text": Corpus("ollama-chat", partial(ollama_text, 10_000), b"\n"),
    "ollama-chat, hermes call of 64 KB": Corpus("ollama-chat", partial(ollama_hermes, 64 * KIB), b"\n"),
    "ollama-chat, qwen3-coder call of 64 KB": Corpus("ollama-chat", partial(ollama_qwen3_coder, 64 * KIB), b"\n"),
}
"""Every corpus by name."""
