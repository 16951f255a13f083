"""The shape of a `chat.completion.chunk`, or of a whole `chat.completion`: only the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.reading.errors import Unwrapped

__all__ = ["Choice", "Chunk", "Custom", "Delta", "Detail", "Fragment", "Function", "Part"]


class Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class Fragment(msgspec.Struct, gc=False):
    """A piece of a call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    custom: Custom | None = None
    extra_content: Any = None  # Gemini's signatures


class Custom(msgspec.Struct, gc=False):
    """A piece of a call of a tool that takes text."""

    name: str | None = None
    input: str | None = None


class Part(msgspec.Struct, gc=False):
    """Mistral sends content as a list of typed parts: text, and thinking with parts of its own."""

    type: str = "part"
    text: str | None = None
    thinking: str | list[Any] | None = None


class Detail(msgspec.Struct, gc=False):
    """An entry of OpenRouter's `reasoning_details`."""

    type: str | None = None
    text: str | None = None
    summary: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str | None = None
    format: str | None = None
    index: int | None = None


class Delta(msgspec.Struct, gc=False):
    """What a chunk adds to a choice, or a whole message."""

    content: str | list[msgspec.Raw] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Detail] | None = None
    refusal: str | None = None
    tool_calls: list[Fragment] | None = None
    function_call: Function | None = None
    annotations: list[Any] | None = None
    executed_tools: list[Any] | None = None  # Groq runs some tools itself
    thinking_blocks: list[dict[str, Any]] | None = None  # LiteLLM, as Anthropic wants them back
    images: list[Any] | None = None
    audio: Any = None
    content_list: list[Any] | None = None  # Snowflake Cortex
    tool_use_id: str | None = None
    name: str | None = None
    input: Any = None


class Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    error: Any = None  # OpenRouter
    usage: dict[str, Any] | None = None  # Moonshot


class Groq(msgspec.Struct, gc=False):
    usage: dict[str, Any] | None = None


class Chunk(Unwrapped, gc=False):
    """A chunk, or an error."""

    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    x_groq: Groq | None = None
    citations: list[Any] | None = None  # Perplexity
    search_results: list[Any] | None = None
