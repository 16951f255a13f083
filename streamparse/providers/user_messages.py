"""Adds a message of the user to a request, as its provider takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from streamparse.providers.adapters import adapter_for, find_messages_field
from streamparse.writing.parts import Message, Text

_PROVIDERS: Final = {"messages": "openai", "contents": "gemini", "input": "openai-responses"}
"""Where a request has its messages, and a provider that has them there."""


def add_user_message(request: Mapping[str, Any], text: str, provider: str | None = None) -> dict[str, Any]:
    """Return a request with one more message of the user, or with more of its `prompt`.

    Without `provider` the shape of the request shows whose it is.  Raises ValueError if it holds no messages.
    """
    if provider is None and isinstance(request.get("prompt"), str):
        return {**request, "prompt": f"{request['prompt']}\n\n{text}"}
    adapter = adapter_for(provider or _find_provider(request))
    field = find_messages_field(adapter)
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
    field = next((each for each in _PROVIDERS if each in request), None)
    if field is None:
        raise ValueError(f"the request has no {', '.join(_PROVIDERS)} or prompt, to which a message could be added")
    return "bedrock" if field == "messages" and _is_converse(request) else _PROVIDERS[field]


def _is_converse(request: Mapping[str, Any]) -> bool:
    """Whether a request is Bedrock's: it names its model otherwise, and its blocks have no `type`."""
    given = request["messages"]
    contents = [each.get("content") for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return "modelId" in request or any(isinstance(block, Mapping) and "type" not in block for block in blocks)
