"""The shape of a `chat.completion.chunk`, or of a whole `chat.completion`: only the fields that are read.

It is the union of what some fifteen servers send; the comments say whose a field is.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec

from streamparse.providers.openai_chat import facts, items
from streamparse.reading.errors import ErrorFields
from streamparse.reading.message_wire import MessageWire, read_struct

NO_RAW: Final = msgspec.Raw()


class Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None
    parameters: Any = None  # as Llama writes its calls; some servers leave it so


class Fragment(msgspec.Struct, gc=False):
    """A piece of a call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    name: Any = None  # Workers AI and relays have the fields of the function here
    arguments: Any = None
    custom: items.Custom | None = None
    extra_content: Any = None  # Gemini's signatures
    provider_specific_fields: Any = None  # the same, from LiteLLM


class Part(msgspec.Struct, gc=False):
    """Mistral sends content as a list of typed parts: text, and thinking with parts of its own; so does Databricks."""

    type: str = "part"
    text: str | None = None
    thinking: str | list[Any] | None = None
    reasoning: str | None = None
    summary: Any = None
    encrypted_content: Any = None


class Delta(msgspec.Struct, gc=False):
    """What a chunk adds to a choice, or a whole message."""

    content: str | list[msgspec.Raw] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[items.Detail] | None = None
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
    extra_content: Any = None  # Google flags thoughts
    reasoning_text: str | None = None  # GitHub Copilot
    thinking: str | None = None  # relays of Ollama
    reasoning_opaque: str | None = None  # the same thought, sealed
    reasoning_steps: Any = None  # Perplexity: what it looked for before it wrote


class Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    error: Any = None  # OpenRouter
    usage: dict[str, Any] | None = None  # Moonshot
    logprobs: Any = None
    content_filter_results: msgspec.Raw = NO_RAW  # Azure


class Groq(msgspec.Struct, gc=False):
    usage: dict[str, Any] | None = None
    error: Any = None  # why it stopped the stream early


class Chunk(ErrorFields, gc=False, kw_only=True):
    """A chunk.  What has no choices is no chunk: it is looked at as a whole, for it may be an error of any shape."""

    choices: list[Choice] | None
    usage: dict[str, Any] | None = None
    x_groq: Groq | None = None
    citations: list[Any] | None = None  # Perplexity
    search_results: list[Any] | None = None


class LooseChunk(Chunk, gc=False):
    """A chunk whose choices are missing, or no list."""

    choices: list[Choice] | None = None


# -- ----------------------------------------------------------------------------------------------------

T = TypeVar("T", bound=msgspec.Struct)

NO_REASONS: Final = ("null", "None")  # DashScope and others write so that the answer goes on


class ChunkWire(MessageWire[T]):
    """A wire of chunks, which say in the same fields who answers."""

    def read_facts(self, data: bytes) -> None:
        self._looks -= 1
        found = read_struct(data, facts.Facts)
        if found is not None and found.choices is not None:
            self._sent = {} if self._sent is None else self._sent
            facts.send_facts(self._sink, found, self._choice, self._sent)
            if facts.has_names(found):
                self._looks = 0
