"""Wires: each knows one provider's JSON and turns its frames into verbs, nothing else.

A new wire is one module with a class of the shape of `Wire`, and one row in `WIRES`.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from streamparse.providers.anthropic.wire import Anthropic
from streamparse.providers.bedrock import facts as bedrock
from streamparse.providers.bedrock.wire import BedrockConverse
from streamparse.providers.cohere.wire import Cohere
from streamparse.providers.gemini import facts as gemini
from streamparse.providers.gemini.wire import Gemini
from streamparse.providers.ollama.wire import OllamaChat, OllamaGenerate
from streamparse.providers.openai_chat.wire import OpenAIChat, OpenAICompletions
from streamparse.providers.openai_responses.wire import OpenAIResponses
from streamparse.reading.wire import (
    UNDECIDED_FRAMES,
    WIRES,
    detect,
    find_foreign_error,
    find_wire,
    register_wire,
)
from streamparse.tools.definitions import register_server_tools

__all__ = [
    "DEFAULT_WIRE",
    "UNDECIDED_FRAMES",
    "WIRES",
    "WireName",
    "detect",
    "find_foreign_error",
    "find_wire",
    "register_wire",
]

WireName: TypeAlias = Literal[
    "auto", "openai-chat", "openai-responses", "openai-completions", "anthropic", "gemini", "ollama-chat",
    "ollama-generate", "bedrock-converse", "cohere",
] | str  # fmt: skip
"""The name of a wire: one of ours, which editors complete, or of one that was registered."""

WIRES.update(
    {
        "openai-chat": OpenAIChat,
        "openai-completions": OpenAICompletions,
        "openai-responses": OpenAIResponses,
        "ollama-chat": OllamaChat,
        "ollama-generate": OllamaGenerate,
        "anthropic": Anthropic,
        "gemini": Gemini,
        "cohere": Cohere,
        "bedrock-converse": BedrockConverse,
    }
)

DEFAULT_WIRE: Final = "openai-chat"
"""The wire of a body that shows none: most servers speak it."""

register_server_tools(gemini.SERVER_TOOL_KEYS, bedrock.SERVER_TOOL_KEYS)
