"""Re-emission: the events of any wire, written as the bytes of another, piece by piece.

    emitter = EMITTERS["openai-chat"](model="qwen3")
    for event in parser.feed(chunk):
        send(emitter.emit(event))

Calls that a model wrote as text leave as native ones.
"""

from streamparse.emitting.answer import labelled, problem_of
from streamparse.emitting.emitter import Emitter, UsagePlace
from streamparse.providers.anthropic.emitter import AnthropicEmitter
from streamparse.providers.ollama.emitter import OllamaChatEmitter
from streamparse.providers.openai_chat.emitter import OpenAIChatEmitter

__all__ = ["EMITTERS", "Emitter", "UsagePlace", "labelled", "problem_of"]

EMITTERS: dict[str, type[Emitter]] = {
    "openai-chat": OpenAIChatEmitter,
    "anthropic": AnthropicEmitter,
    "ollama-chat": OllamaChatEmitter,
}
"""Every emitter by the name of the wire that it writes."""
