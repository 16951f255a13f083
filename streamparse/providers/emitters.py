"""The emitters, by the name of the wire that they write."""

from __future__ import annotations

from streamparse.emitting.emitter import Emitter
from streamparse.providers.anthropic.emitter import AnthropicEmitter
from streamparse.providers.ollama.emitter import OllamaChatEmitter
from streamparse.providers.openai_chat.emitter import OpenAIChatEmitter
from streamparse.providers.openai_responses.emitter import ResponsesEmitter

EMITTERS: dict[str, type[Emitter]] = {
    "openai-chat": OpenAIChatEmitter,
    "openai-responses": ResponsesEmitter,
    "anthropic": AnthropicEmitter,
    "ollama-chat": OllamaChatEmitter,
}
"""Every emitter by the name of the wire that it writes."""
