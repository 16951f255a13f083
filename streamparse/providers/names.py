"""Providers and servers by their names: the wire that each speaks, and the adapter that writes for it.

Every room that takes the name of a provider looks it up here.  Case, blanks, dots, dashes and underscores in names do
not count.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

import msgspec

_MARKS: Final = str.maketrans("", "", " \t\n._-")


class Provider(msgspec.Struct, frozen=True):
    """A provider or server: its wire, its adapter, and what else it is called."""

    wire: str
    adapter: str
    aliases: tuple[str, ...] = ()


def _make_chat_row(*aliases: str, adapter: str = "openai") -> Provider:
    return Provider("openai-chat", adapter, aliases)


PROVIDERS: Final[dict[str, Provider]] = {
    "openai": _make_chat_row(),
    "openai-responses": Provider("openai-responses", "openai-responses"),
    "azure": _make_chat_row("azure-openai", "azure-ai", "azure-ai-foundry"),
    "anthropic": Provider("anthropic", "anthropic", ("claude",)),
    "gemini": Provider("gemini", "gemini", ("google", "google-genai", "google-ai-studio")),
    "vertex": Provider("gemini", "gemini", ("google-vertex", "vertexai")),
    "bedrock": Provider("bedrock-converse", "bedrock", ("aws", "amazon", "amazon-bedrock", "aws-bedrock")),
    "cohere": Provider("cohere", "cohere"),
    "mistral": _make_chat_row("mistralai", adapter="mistral"),
    "xai": _make_chat_row("grok"),
    "deepseek": _make_chat_row(adapter="deepseek"),
    "groq": _make_chat_row(),
    "openrouter": _make_chat_row(adapter="openrouter"),
    "together": _make_chat_row("togetherai", "together-computer"),
    "fireworks": _make_chat_row("fireworks-ai"),
    "cerebras": _make_chat_row(),
    "sambanova": _make_chat_row(),
    "nvidia": _make_chat_row("nim"),
    "moonshot": _make_chat_row("moonshotai", "kimi", adapter="deepseek"),
    "zai": _make_chat_row("zhipu", "bigmodel", adapter="deepseek"),
    "minimax": _make_chat_row(),
    "alibaba": _make_chat_row("dashscope"),
    "perplexity": _make_chat_row(),
    "databricks": _make_chat_row(),
    "cloudflare": _make_chat_row("cloudflare-workers-ai", "workers-ai"),
    "github": _make_chat_row("github-models"),
    "ollama": Provider("ollama-chat", "ollama", ("ollama-cloud",)),
    "llamacpp": _make_chat_row("llama-server"),
    "llama-cpp-python": _make_chat_row(),
    "llamafile": _make_chat_row(),
    "vllm": _make_chat_row(),
    "sglang": _make_chat_row(),
    "lmstudio": _make_chat_row(),
    "huggingface": _make_chat_row("hf", "tgi"),
    "litellm": _make_chat_row(),
    "dynamo": _make_chat_row(),
    "transformers": _make_chat_row(),
}
"""The providers and servers by the first of their names."""


ADAPTER_OF_WIRE: Final = {row.wire: row.adapter for row in reversed(PROVIDERS.values())}
"""The adapter for a server of a wire, whoever runs it: that of the first provider with this wire."""


def normalize_name(name: str) -> str:
    """Return a name without what does not count: case, blanks, dots, dashes and underscores."""
    return name.translate(_MARKS).casefold()


_NAMES: Final = {normalize_name(row.wire): name for name, row in reversed(PROVIDERS.items())} | {
    normalize_name(word): name for name, row in PROVIDERS.items() for word in (name, *row.aliases)
}


def find_provider(name: str) -> str | None:
    """Return the first name of a provider, by any of its names or by that of its wire; None for an unknown one."""
    return _NAMES.get(normalize_name(name))


def find_known_name(name: str, known: Container[str]) -> str | None:
    """Return the name of a provider among the `known`: its own, or that of its adapter; None if neither is."""
    if name in known:
        return name
    found = find_provider(name)
    names = (found, PROVIDERS[found].adapter) if found is not None else ()
    return next((each for each in names if each in known), None)


NATIVE_FORMATS: Final = ("openai_native",)
"""How configurations name calls in a wire's own fields."""
