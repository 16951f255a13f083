"""The adapters by provider, and the readers and writers of whole requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from streamparse.loss import Loss, Translation
from streamparse.providers.anthropic.messages import ANTHROPIC_REQUESTS, Anthropic
from streamparse.providers.bedrock.messages import BEDROCK_REQUESTS, Bedrock
from streamparse.providers.cohere.messages import COHERE_REQUESTS, Cohere
from streamparse.providers.gemini.messages import GEMINI_REQUESTS, Gemini, GeminiOpenAPI
from streamparse.providers.generic.messages import Generic
from streamparse.providers.names import ADAPTER_OF_WIRE, PROVIDERS, find_known_name
from streamparse.providers.ollama.messages import OLLAMA_REQUESTS, Ollama
from streamparse.providers.openai_chat.messages import CHAT_REQUESTS, OpenAI, is_thinking_model
from streamparse.providers.openai_compatible import messages as compatible
from streamparse.providers.openai_responses.messages import RESPONSES_REQUESTS, Responses
from streamparse.reading.wire import WIRES
from streamparse.response import ParsedResponse
from streamparse.unknown_names import list_known
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_entry_leniently
from streamparse.writing.parts import Message, Text
from streamparse.writing.request import Request
from streamparse.writing.request_format import RequestFormat

_ROWS: Final[tuple[tuple[Adapter, RequestFormat | None], ...]] = (
    (OpenAI(), CHAT_REQUESTS),
    (Responses(), RESPONSES_REQUESTS),
    (Anthropic(), ANTHROPIC_REQUESTS),
    (Gemini(), GEMINI_REQUESTS),
    (Ollama(), OLLAMA_REQUESTS),
    (Cohere(), COHERE_REQUESTS),
    (Bedrock(), BEDROCK_REQUESTS),
    (Generic(), None),
    (GeminiOpenAPI(), None),
    (compatible.DeepSeek(), compatible.WRITTEN_CHAT_REQUESTS),
    (compatible.OpenRouter(), compatible.WRITTEN_CHAT_REQUESTS),
    (compatible.Mistral(), compatible.MISTRAL_REQUESTS),
)
"""Every adapter, and the format of its provider's requests, if they are written here."""

ADAPTERS: dict[str, Adapter] = {adapter.name: adapter for adapter, _ in _ROWS}
"""The adapters by the name of their provider."""

_REQUEST_FORMATS: Final = {adapter.name: form for adapter, form in _ROWS if form is not None}

READERS: Final[dict[str, Callable[[Mapping[str, Any], list[Loss]], Request]]] = {
    name: partial(form.read, ADAPTERS[name]) for name, form in _REQUEST_FORMATS.items() if form.read_others is not None
}
"""The readers of whole requests by the adapter's name."""
REQUEST_WRITERS: Final[dict[str, Callable[[Request, list[Loss]], dict[str, Any]]]] = {
    name: partial(form.write, ADAPTERS[name]) for name, form in _REQUEST_FORMATS.items()
}
"""The writers of whole requests by the adapter's name.  For Bedrock and Gemini the model is part of the path."""


def adapter_for(provider: str) -> Adapter:
    """The adapter of a provider, by its own name or one of the provider's (`streamparse.providers`).

    Raises ValueError, with the nearest name, for an unknown one.
    """
    if (name := find_known_name(provider, ADAPTERS)) is None:
        known = list_known(provider, (*ADAPTERS, *PROVIDERS), ADAPTER_OF_WIRE)
        raise ValueError(f"unknown provider {provider!r}; {known}")
    return ADAPTERS[name]


def as_message(response: ParsedResponse, provider: str) -> Any:
    """Write the assistant's message, to be sent back to a provider: one of `ADAPTERS`, by any of its names.

    It holds all that the provider wants returned (signatures, encrypted thought, ids), in the order in which it
    came.  Calls that were revoked are left out.  Calls that broke are written with what can be read of their
    arguments: each wants an answer as the others do (`ToolRunner` gives it, or `repair.answer_broken`).
    Returns a message, or for "openai-responses" a list of items.  Raises ValueError for an unknown provider.
    """
    return adapter_for(provider).as_message(response)


def translate_tools(definitions: Iterable[Any], to: str, source: str | None = None) -> Translation:
    """Write tools of any kind, also another provider's definitions, as a provider takes them, and list what is lost.

    Tools that a provider brings itself (search, code, ...) stay as they are if it is the same one: by their shape, or
    by `source`, the provider that the definitions were written for; to any other they are a loss.
    Raises ValueError for an unknown provider; a definition that cannot be read is a loss.
    """
    lost: list[Loss] = []
    known = find_known_name(source, ADAPTERS) if source is not None else None
    return Translation(adapter_for(to).translate_tools(definitions, lost, known, read_entry_leniently), lost)


def translate_messages(messages: Any, source: str, target: str) -> Translation:
    """Write the messages of one provider as another takes them, and list what is lost.

    Results come after their calls and in their order, in the place where the target wants them.  A target whose
    system prompt is no message loses it here; `translate_request` keeps it.  What JSON cannot hold is lost.
    The result has objects of the messages themselves: copy it before you change anything deep in it.
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

    The result has objects of the request itself: copy it before you change anything deep in it.
    Gemini's and Bedrock's bodies name neither the model nor whether the answer is streamed: the path does.
    Providers may have any of their names (`streamparse.providers`).  Raises ValueError for one whose requests are not
    known; a request never raises.
    """
    source, target = find_format(source, READERS), find_format(target, REQUEST_WRITERS)
    if source == target:
        return Translation(dict(request), [])
    lost: list[Loss] = []
    written = write_request(READERS[source](request, lost), target, lost)
    return Translation(written, list(dict.fromkeys(lost)))


def write_request(request: Request, target: str, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for one of the providers of `REQUEST_WRITERS`, with the tools that it takes."""
    tools = ADAPTERS[target].list_supported_tools(request.tools, lost)
    return REQUEST_WRITERS[target](replace(request, tools=tools), lost)


def write_extras(adapter: str, model: str, *, stream: bool) -> dict[str, Any]:
    """Write what a request asks an answer to hold besides: the counts of tokens, and thoughts to send back."""
    is_chat = PROVIDERS[adapter].wire == "openai-chat"  # other wires always report the counts
    if stream and is_chat and adapter != "mistral":  # it always reports them, and refuses `stream_options`
        return {"stream_options": {"include_usage": True}}
    if adapter == "openai-responses" and is_thinking_model(model):
        return {"include": ["reasoning.encrypted_content"]}  # nothing is stored; other models refuse it
    return {}


def find_format(provider: str, table: Mapping[str, Any] = REQUEST_WRITERS) -> str:
    """Return the adapter that writes a provider's requests, or is in another table; raises ValueError if none is."""
    if (name := find_known_name(provider, table)) is None:
        known = (*table, *(each for each, row in PROVIDERS.items() if row.adapter in table))
        subject = "the wire " if provider in WIRES else ""
        raise ValueError(
            f"requests of {subject}{provider!r} are not known; {list_known(provider, known, ADAPTER_OF_WIRE)}"
        )
    return name


# -- a message more --------------------------------------------------------------------------------------------------

_MESSAGE_FIELDS: Final = {"messages": "openai", "contents": "gemini", "input": "openai-responses"}
"""Where a request has its messages, and a provider that has them there."""


def add_user_message(request: Mapping[str, Any], text: str, provider: str | None = None) -> dict[str, Any]:
    """Return a request with one more message of the user, or with more of its `prompt`.

    Without `provider` the shape of the request shows whose it is.  Raises ValueError if it holds no messages.
    """
    if provider is None and isinstance(request.get("prompt"), str):
        return {**request, "prompt": f"{request['prompt']}\n\n{text}"}
    adapter = adapter_for(provider or _find_provider(request))
    form = _REQUEST_FORMATS.get(adapter.name) or _REQUEST_FORMATS.get(adapter.traits.family)
    field = form.fields["messages"] if form is not None else "messages"
    given = request.get(field)
    if not isinstance(given, (str, list, tuple)):
        raise ValueError(f"there are no messages in the request's {field!r}")  # noqa: TRY004 - of data
    before, more = (
        adapter.write_message(Message("user", [Text(each)]), []) if isinstance(each, str) else list(each)
        for each in (given, text)
    )
    last = before[-1] if before else None
    if adapter.name == "bedrock" and isinstance(last, Mapping) and last.get("role") == "user":  # roles alternate there
        before, more = before[:-1], [{**last, "content": [*last.get("content", ()), *more[0]["content"]]}]
    return {**request, field: [*before, *more]}


def _find_provider(request: Mapping[str, Any]) -> str:
    """Name a provider that takes messages as this request has them.  Raises ValueError if it holds none."""
    field = next((each for each in _MESSAGE_FIELDS if each in request), None)
    if field is None:
        raise ValueError(
            f"the request has no {', '.join(_MESSAGE_FIELDS)} or prompt, to which a message could be added"
        )
    return "bedrock" if field == "messages" and _is_converse(request) else _MESSAGE_FIELDS[field]


def _is_converse(request: Mapping[str, Any]) -> bool:
    """Whether a request is Bedrock's: it names its model otherwise, and its blocks have no `type`."""
    given = request["messages"]
    contents = [each.get("content") for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return "modelId" in request or any(isinstance(block, Mapping) and "type" not in block for block in blocks)


# -- one call ----------------------------------------------------------------------------------------------------------

to_openai: Final = ADAPTERS["openai"].format_call
"""A call as OpenAI chat completions take it."""
to_anthropic: Final = ADAPTERS["anthropic"].format_call
"""A call as Anthropic Messages take it."""
to_gemini: Final = ADAPTERS["gemini"].format_call
"""A call as Gemini takes it."""
to_ollama: Final = ADAPTERS["ollama"].format_call
"""A call as Ollama takes it."""
to_generic: Final = ADAPTERS["generic"].format_call
"""A call in the plainest JSON."""
