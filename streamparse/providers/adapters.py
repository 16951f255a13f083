"""The adapters by provider, and the readers and writers of whole requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from streamparse.loss import Loss, Translation
from streamparse.providers.anthropic.messages import Anthropic
from streamparse.providers.anthropic.requests import read_anthropic, write_anthropic
from streamparse.providers.bedrock.messages import Bedrock
from streamparse.providers.bedrock.requests import write_bedrock
from streamparse.providers.cohere.messages import Cohere
from streamparse.providers.cohere.requests import read_cohere, write_cohere
from streamparse.providers.gemini.messages import Gemini, GeminiOpenAPI
from streamparse.providers.gemini.requests import read_gemini, write_gemini
from streamparse.providers.generic.messages import Generic
from streamparse.providers.names import PROVIDERS, known_as
from streamparse.providers.ollama.messages import Ollama
from streamparse.providers.ollama.requests import read_ollama, write_ollama
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.providers.openai_chat.requests import is_thinking_model, read_openai, write_openai
from streamparse.providers.openai_compatible.messages import DeepSeek, Mistral, OpenRouter, write_mistral
from streamparse.providers.openai_responses.messages import Responses
from streamparse.providers.openai_responses.requests import read_responses, write_responses
from streamparse.response import ParsedResponse, ToolCall
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_entry_leniently
from streamparse.writing.request import Request

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

_READERS: Final[dict[str, Callable[[Adapter, Mapping[str, Any], list[Loss]], Request]]] = {
    "openai": read_openai,
    "anthropic": read_anthropic,
    "ollama": read_ollama,
    "openai-responses": read_responses,
    "gemini": read_gemini,
    "cohere": read_cohere,
}
_REQUEST_WRITERS: Final[dict[str, Callable[[Adapter, Request, list[Loss]], dict[str, Any]]]] = {
    "openai": write_openai,
    "anthropic": write_anthropic,
    "ollama": write_ollama,
    "openai-responses": write_responses,
    "gemini": write_gemini,
    "cohere": write_cohere,
    "bedrock": write_bedrock,
    "deepseek": write_openai,
    "openrouter": write_openai,
    "mistral": write_mistral,
}

READERS: Final[dict[str, Callable[[Mapping[str, Any], list[Loss]], Request]]] = {
    name: partial(read, ADAPTERS[name]) for name, read in _READERS.items()
}
"""The readers of whole requests by the adapter's name."""
REQUEST_WRITERS: Final[dict[str, Callable[[Request, list[Loss]], dict[str, Any]]]] = {
    name: partial(write, ADAPTERS[name]) for name, write in _REQUEST_WRITERS.items()
}
"""The writers of whole requests by the adapter's name.  For Bedrock and Gemini the model is part of the path."""


def adapter_for(provider: str) -> Adapter:
    """The adapter of a provider, by its own name or one of the provider's (`streamparse.providers`).

    Raises ValueError, with the known names, for an unknown one.
    """
    if (name := known_as(provider, ADAPTERS)) is None:
        known = ", ".join(dict.fromkeys((*ADAPTERS, *PROVIDERS)))
        raise ValueError(f"unknown provider {provider!r}; known are: {known}")
    return ADAPTERS[name]


def as_message(response: ParsedResponse, provider: str) -> Any:
    """Write the assistant's turn, to be sent back to a provider: one of `ADAPTERS`, by any of its names.

    It holds all that the provider wants returned (signatures, encrypted thought, ids), in the order in which it
    came.  Calls that the server took back are left out.  Calls that broke are written with what can be read of their
    arguments: each wants an answer as the others do (`ToolRunner` gives it, or `repair.answer_broken`).
    Returns a message, or for "openai-responses" a list of items.  Raises ValueError for an unknown provider.
    """
    return adapter_for(provider).as_message(response)


def translate_tools(definitions: Iterable[Any], to: str, source: str | None = None) -> Translation:
    """Write tools of any kind, also another provider's definitions, as a provider takes them, and tell what is lost.

    Tools that a provider brings itself (search, code, ...) stay as they are if it is the same one: by their shape, or
    by `source`, the provider that the definitions were written for; to any other they are a loss.
    Raises ValueError for an unknown provider; a definition that cannot be read is a loss.
    """
    lost: list[Loss] = []
    known = known_as(source, ADAPTERS) if source is not None else None
    return Translation(adapter_for(to).translate_tools(definitions, lost, known, read_entry_leniently), lost)


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
    writer.add_warnings(written, lost)
    return Translation(written, lost)


def translate_request(request: Mapping[str, Any], source: str, target: str) -> Translation:
    """Write one provider's request as another takes it, and list what is lost; for its own provider it stays as it is.

    The result holds objects of the request itself: copy it before you change anything deep in it.
    Gemini's and Bedrock's bodies name neither the model nor whether the answer is streamed: the path does.
    Providers go by any of their names (`streamparse.providers`).  Raises ValueError for one whose requests are not
    known; a request never raises.
    """
    source, target = _known_name(source, READERS), _known_name(target, REQUEST_WRITERS)
    if source == target:
        return Translation(dict(request), [])
    lost: list[Loss] = []
    written = write_request(READERS[source](request, lost), target, lost)
    return Translation(written, list(dict.fromkeys(lost)))


def write_request(request: Request, target: str, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for one of the providers of `REQUEST_WRITERS`, with the tools that it takes."""
    tools = ADAPTERS[target].supported_tools(request.tools, lost)
    return REQUEST_WRITERS[target](replace(request, tools=tools), lost)


def write_extras(adapter: str, model: str, *, stream: bool) -> dict[str, Any]:
    """Write what a request asks an answer to hold besides: the counts of tokens, and thoughts to send back."""
    is_chat = PROVIDERS[adapter].wire == "openai-chat"  # other wires always report the counts
    if stream and is_chat and adapter != "mistral":  # it always reports them, and refuses `stream_options`
        return {"stream_options": {"include_usage": True}}
    if adapter == "openai-responses" and is_thinking_model(model):
        return {"include": ["reasoning.encrypted_content"]}  # nothing is stored; other models refuse it
    return {}


def _known_name(provider: str, table: Mapping[str, Any]) -> str:
    if (name := known_as(provider, table)) is None:
        raise ValueError(f"requests of {provider!r} are not known; known are: {', '.join(table)}")
    return name


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
