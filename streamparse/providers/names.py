"""Providers and servers by their names: the wire that each speaks, and the adapter that writes for it.

Every room that takes the name of a provider looks it up here.  Names count without regard to case, blanks, dots, dashes
and underscores.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

import msgspec

__all__ = ["NATIVE_FORMATS", "PROVIDERS", "Provider", "key_of", "known_as", "provider_named"]

_MARKS: Final = str.maketrans("", "", " \t\n._-")


class Provider(msgspec.Struct, frozen=True):
    """A provider or server: its wire, its adapter, and what else it is called."""

    wire: str
    adapter: str
    aliases: tuple[str, ...] = ()


def _like_openai(*aliases: str, adapter: str = "openai") -> Provider:
    return Provider("openai-chat", adapter, aliases)


PROVIDERS: Final[dict[str, Provider]] = {
    "openai": _like_openai(),
    "openai-responses": Provider("openai-responses", "openai-responses"),
    "azure": _like_openai("azure-openai", "azure-ai", "azure-ai-foundry"),
    "anthropic": Provider("anthropic", "anthropic", ("claude",)),
    "gemini": Provider("gemini", "gemini", ("google", "google-genai", "google-ai-studio")),
    "vertex": Provider("gemini", "gemini", ("google-vertex", "vertexai")),
    "bedrock": Provider("bedrock-converse", "bedrock", ("aws", "amazon", "amazon-bedrock", "aws-bedrock")),
    "cohere": Provider("cohere", "cohere"),
    "mistral": _like_openai("mistralai", adapter="mistral"),
    "xai": _like_openai("grok"),
    "deepseek": _like_openai(adapter="deepseek"),
    "groq": _like_openai(),
    "openrouter": _like_openai(adapter="openrouter"),
    "together": _like_openai("togetherai", "together-computer"),
    "fireworks": _like_openai("fireworks-ai"),
    "cerebras": _like_openai(),
    "sambanova": _like_openai(),
    "nvidia": _like_openai("nim"),
    "moonshot": _like_openai("moonshotai", "kimi", adapter="deepseek"),
    "zai": _like_openai("zhipu", "bigmodel", adapter="deepseek"),
    "minimax": _like_openai(),
    "alibaba": _like_openai("dashscope"),
    "perplexity": _like_openai(),
    "databricks": _like_openai(),
    "cloudflare": _like_openai("cloudflare-workers-ai", "workers-ai"),
    "github": _like_openai("github-models"),
    "ollama": Provider("ollama-chat", "ollama", ("ollama-cloud",)),
    "llamacpp": _like_openai("llama-server"),
    "llama-cpp-python": _like_openai(),
    "llamafile": _like_openai(),
    "vllm": _like_openai(),
    "sglang": _like_openai(),
    "lmstudio": _like_openai(),
    "huggingface": _like_openai("hf", "tgi"),
    "litellm": _like_openai(),
    "dynamo": _like_openai(),
    "transformers": _like_openai(),
}
"""The providers and servers by the first of their names."""


def key_of(name: str) -> str:
    """What of a name counts."""
    return name.translate(_MARKS).casefold()


_NAMES: Final = {key_of(word): name for name, row in PROVIDERS.items() for word in (name, *row.aliases)}


def provider_named(name: str) -> str | None:
    """The first name of a provider that is called so; None if nobody is."""
    return _NAMES.get(key_of(name))


def known_as(name: str, known: Container[str]) -> str | None:
    """The name under which a provider is among the `known`: its own, or that of its adapter; None if it is not."""
    if name in known:
        return name
    found = provider_named(name)
    names = (found, PROVIDERS[found].adapter) if found is not None else ()
    return next((each for each in names if each in known), None)

NATIVE_FORMATS: Final = ("openai_native",)
"""What configurations call calls in a wire's own fields."""
