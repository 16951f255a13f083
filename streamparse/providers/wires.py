"""Wires: each knows one provider's JSON and turns its frames into verbs, nothing else.

A new wire is one module with a class of the shape of `Wire`, and one row in `WIRES`.
"""

from __future__ import annotations

from streamparse.providers.anthropic.wire import Anthropic
from streamparse.providers.bedrock.wire import BedrockConverse
from streamparse.providers.cohere.wire import Cohere
from streamparse.providers.gemini.wire import Gemini
from streamparse.providers.ollama.wire import OllamaChat, OllamaGenerate
from streamparse.providers.openai_chat.completions import OpenAICompletions
from streamparse.providers.openai_chat.wire import OpenAIChat
from streamparse.providers.openai_responses.wire import OpenAIResponses
from streamparse.providers.quirks import Habit, Profile, profile
from streamparse.providers.server_tool_keys import SERVER_TOOL_KEYS
from streamparse.reading.errors import tell_provider_error
from streamparse.reading.recognition import Recognition
from streamparse.reading.registry import (
    PARSES_CALLS,
    UNDECIDED_FRAMES,
    WIRES,
    WireName,
    detect,
    foreign_error,
    register_wire,
    wire_named,
)
from streamparse.reading.templated import RegularWire
from streamparse.reading.wire import Wire
from streamparse.tools.definitions import register_server_tools

__all__ = [
    "PARSES_CALLS",
    "UNDECIDED_FRAMES",
    "WIRES",
    "Habit",
    "Profile",
    "Recognition",
    "RegularWire",
    "Wire",
    "WireName",
    "detect",
    "foreign_error",
    "profile",
    "register_wire",
    "tell_provider_error",
    "wire_named",
]

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

register_server_tools(*SERVER_TOOL_KEYS.values())
