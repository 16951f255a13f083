"""Wires: each knows one provider's JSON and turns its frames into verbs, nothing else.

A new wire is one module with a class of the shape of `Wire`, and one row in `WIRES`.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from streamparse.providers.bedrock import facts as bedrock
from streamparse.providers.gemini import facts as gemini
from streamparse.reading.wire import UNDECIDED_FRAMES, WIRES, find_wire, register_wire
from streamparse.tools.definitions import register_server_tools

__all__ = ["DEFAULT_WIRE", "UNDECIDED_FRAMES", "WIRES", "WireName", "find_wire", "register_wire"]

WireName: TypeAlias = Literal[
    "auto", "openai-chat", "openai-responses", "openai-completions", "anthropic", "gemini", "ollama-chat",
    "ollama-generate", "bedrock-converse", "cohere",
] | str  # fmt: skip
"""The name of a wire: one of ours, which editors complete, or of one that was registered."""

WIRES.declare(
    {
        "openai-chat": "streamparse.providers.openai_chat.wire:OpenAIChat",
        "openai-completions": "streamparse.providers.openai_chat.wire:OpenAICompletions",
        "openai-responses": "streamparse.providers.openai_responses.wire:OpenAIResponses",
        "ollama-chat": "streamparse.providers.ollama.wire:OllamaChat",
        "ollama-generate": "streamparse.providers.ollama.wire:OllamaGenerate",
        "anthropic": "streamparse.providers.anthropic.wire:Anthropic",
        "gemini": "streamparse.providers.gemini.wire:Gemini",
        "cohere": "streamparse.providers.cohere.wire:Cohere",
        "bedrock-converse": "streamparse.providers.bedrock.wire:BedrockConverse",
    }
)

DEFAULT_WIRE: Final = "openai-chat"
"""The wire of a body that shows none: most servers speak it."""

register_server_tools(gemini.SERVER_TOOL_KEYS, bedrock.SERVER_TOOL_KEYS)
