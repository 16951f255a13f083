"""The adapters, by provider."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.loss import Loss, Translation
from streamparse.providers.anthropic.messages import Anthropic
from streamparse.providers.bedrock.messages import Bedrock
from streamparse.providers.cohere.messages import Cohere
from streamparse.providers.gemini.messages import Gemini, GeminiOpenAPI
from streamparse.providers.generic.messages import Generic
from streamparse.providers.names import PROVIDERS, known_as
from streamparse.providers.ollama.messages import Ollama
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.providers.openai_compatible.messages import DeepSeek, Mistral, OpenRouter
from streamparse.providers.openai_responses.messages import Responses
from streamparse.response import ToolCall, Writer
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import readable

__all__ = [
    "ADAPTERS",
    "WRITERS",
    "Loss",
    "Translation",
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

WRITERS: dict[str, Writer] = {name: adapter.as_message for name, adapter in ADAPTERS.items()}
"""What `ParsedResponse.as_message` writes with."""


def adapter_for(provider: str) -> Adapter:
    """The adapter of a provider, by its own name or one of the provider's (`streamparse.providers`).

    Raises ValueError, with the known names, for an unknown one.
    """
    if (name := known_as(provider, ADAPTERS)) is None:
        known = ", ".join(dict.fromkeys((*ADAPTERS, *PROVIDERS)))
        raise ValueError(f"unknown provider {provider!r}; known are: {known}")
    return ADAPTERS[name]


def translate_tools(definitions: Iterable[Any], to: str, source: str | None = None) -> Translation:
    """Write tools of any kind, also another provider's definitions, as a provider takes them, and tell what is lost.

    Tools that a provider brings itself (search, code, ...) stay as they are if it is the same one: by their shape, or
    by `source`, the provider that the definitions were written for; to any other they are a loss.
    Raises ValueError for an unknown provider; a definition that cannot be read is a loss.
    """
    lost: list[Loss] = []
    known = known_as(source, ADAPTERS) if source is not None else None
    return Translation(adapter_for(to).translate_tools(definitions, lost, known, readable), lost)


def translate_messages(messages: Any, source: str, target: str) -> Translation:
    """Write the messages of one provider as another takes them, and tell what is lost.

    Results come behind their calls and in their order, in the place where the target wants them.  A target whose
    system's turn is no message loses it here; `translate_request` keeps it.  What of them JSON cannot hold is lost.
    The result holds objects of the messages themselves: copy it before you change anything deep in it.
    Raises ValueError for an unknown provider; messages never raise.
    """
    reader, writer = adapter_for(source), adapter_for(target)
    if reader is writer:
        return Translation(messages, [])
    lost: list[Loss] = []
    written = writer.write_messages(reader.read_messages(messages, lost), lost)
    writer.warn(written, lost)
    return Translation(written, lost)


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
