"""The adapters, by provider."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.adapters.adapter import Adapter
from streamparse.adapters.anthropic import Anthropic
from streamparse.adapters.bedrock import Bedrock
from streamparse.adapters.cohere import Cohere
from streamparse.adapters.definitions import read_declared
from streamparse.adapters.gemini import Gemini, GeminiOpenAPI
from streamparse.adapters.generic import Generic
from streamparse.adapters.loss import Loss, Translation
from streamparse.adapters.ollama import Ollama
from streamparse.adapters.openai import DeepSeek, Mistral, OpenAI, OpenRouter
from streamparse.adapters.responses import Responses
from streamparse.response import ToolCall

__all__ = [
    "ADAPTERS",
    "adapter_for",
    "to_anthropic",
    "to_gemini",
    "to_generic",
    "to_ollama",
    "to_openai",
    "translate_messages",
    "translate_tools",
]

_ALL: tuple[Adapter, ...] = (
    OpenAI(),
    Responses(),
    Anthropic(),
    Gemini(),
    Ollama(),
    Cohere(),
    Bedrock(),
    Generic(),
    GeminiOpenAPI(),
    DeepSeek(),
    OpenRouter(),
    Mistral(),
)

ADAPTERS: dict[str, Adapter] = {adapter.name: adapter for adapter in _ALL}
"""The adapters by the name of their provider."""


def adapter_for(provider: str) -> Adapter:
    """The adapter of a provider; raises ValueError, with the known names, for an unknown one."""
    if provider not in ADAPTERS:
        raise ValueError(f"unknown provider {provider!r}; known are: {', '.join(ADAPTERS)}")
    return ADAPTERS[provider]


def translate_tools(definitions: Iterable[Any], to: str) -> Translation:
    """Write tools of any kind, also another provider's definitions, as a provider takes them, and tell what is lost.

    Raises ValueError for an unknown provider; a definition that cannot be read is a loss.
    """
    lost: list[Loss] = []
    adapter = adapter_for(to)
    declared = read_declared(list(definitions), lost)
    return Translation(adapter.write_tools(declared, lost), lost)


def translate_messages(messages: Any, source: str, target: str) -> Translation:
    """Write the messages of one provider as another takes them, and tell what is lost.

    Results come behind their calls and in their order, in the place where the target wants them.  A target whose
    system's turn is no message loses it here; `translate_request` keeps it.
    Raises ValueError for an unknown provider; messages never raise.
    """
    if source == target and source in ADAPTERS:
        return Translation(messages, [])
    lost: list[Loss] = []
    reader, writer = adapter_for(source), adapter_for(target)
    return Translation(writer.write_messages(reader.read_messages(messages), lost), lost)


def to_openai(call: ToolCall) -> dict[str, Any]:
    """A call as OpenAI chat completions take it."""
    return ADAPTERS["openai"].format_call(call)


def to_anthropic(call: ToolCall) -> dict[str, Any]:
    """A call as Anthropic Messages take it."""
    return ADAPTERS["anthropic"].format_call(call)


def to_gemini(call: ToolCall) -> dict[str, Any]:
    """A call as Gemini takes it."""
    return ADAPTERS["gemini"].format_call(call)


def to_ollama(call: ToolCall) -> dict[str, Any]:
    """A call as Ollama takes it."""
    return ADAPTERS["ollama"].format_call(call)


def to_generic(call: ToolCall) -> dict[str, Any]:
    """A call in the plainest JSON."""
    return ADAPTERS["generic"].format_call(call)
