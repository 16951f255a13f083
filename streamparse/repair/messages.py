"""Says something more to the model, in the words of the provider that a request is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from streamparse.providers.adapters import adapter_for
from streamparse.writing.adapter import Adapter
from streamparse.writing.parts import Text, Turn

__all__ = ["with_message"]

_JSON = dict[str, Any]

_PROVIDERS: Final = {"messages": "openai", "contents": "gemini", "input": "openai-responses"}
"""Where a request holds its messages, and whose words stand there."""
_FIELDS: Final = {"gemini": "contents", "gemini-openapi": "contents", "openai-responses": "input"}


def with_message(request: Mapping[str, Any], text: str, provider: str | None = None) -> _JSON:
    """Return a request with one more message of the user, or with more of its `prompt`.

    Without `provider` the request's shape tells whose it is.  Raises ValueError if it holds no messages.
    """
    if provider is None and isinstance(request.get("prompt"), str):
        return {**request, "prompt": f"{request['prompt']}\n\n{text}"}
    adapter = adapter_for(provider or _provider_of(request))
    field = _field_of(adapter)
    said = request.get(field)
    if not isinstance(said, (str, list, tuple)):
        raise ValueError(f"there are no messages in the request's {field!r}")  # noqa: TRY004 - of data
    before = _user(adapter, said) if isinstance(said, str) else list(said)
    return {**request, field: _joined(before, _user(adapter, text), adapter)}


def _provider_of(request: Mapping[str, Any]) -> str:
    """Name a provider that takes messages as this request has them.  Raises ValueError if it holds none."""
    field = next((each for each in _PROVIDERS if each in request), None)
    if field is None:
        raise ValueError(f"the request has no {', '.join(_PROVIDERS)} or prompt, to which a message could be added")
    return "bedrock" if field == "messages" and _is_converse(request) else _PROVIDERS[field]


def _field_of(adapter: Adapter) -> str:
    """Where requests of a provider hold their messages."""
    return _FIELDS.get(adapter.name, "messages")


def _is_converse(request: Mapping[str, Any]) -> bool:
    """Bedrock names its model otherwise, and its blocks have no `type`."""
    said = request["messages"]
    contents = [each.get("content") for each in said if isinstance(each, Mapping)] if isinstance(said, list) else []
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return "modelId" in request or any(isinstance(block, Mapping) and "type" not in block for block in blocks)


def _user(adapter: Adapter, text: str) -> list[_JSON]:
    return adapter.write_turn(Turn("user", [Text(text)]), [])


def _joined(before: list[Any], more: list[_JSON], adapter: Adapter) -> list[Any]:
    """Bedrock wants the roles to alternate."""
    last = before[-1] if before else None
    if adapter.name != "bedrock" or not isinstance(last, Mapping) or last.get("role") != "user":
        return [*before, *more]
    return [*before[:-1], {**last, "content": [*last.get("content", ()), *more[0]["content"]]}]
