"""Whole requests, from one provider's words into another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss, Translation
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.anthropic.requests import read_anthropic, write_anthropic
from streamparse.providers.bedrock.requests import write_bedrock
from streamparse.providers.cohere.requests import read_cohere, write_cohere
from streamparse.providers.gemini.requests import read_gemini, write_gemini
from streamparse.providers.names import known_as
from streamparse.providers.ollama.requests import read_ollama, write_ollama
from streamparse.providers.openai_chat.requests import (
    read_openai,
    write_deepseek,
    write_mistral,
    write_openai,
    write_openrouter,
)
from streamparse.providers.openai_responses.requests import read_responses, write_responses
from streamparse.writing.request import Choice, Request

__all__ = ["READERS", "REQUEST_WRITERS", "Choice", "Request", "translate_request", "write_request"]

READERS: dict[str, Callable[[Mapping[str, Any], list[Loss]], Request]] = {
    "openai": read_openai,
    "anthropic": read_anthropic,
    "ollama": read_ollama,
    "openai-responses": read_responses,
    "gemini": read_gemini,
    "cohere": read_cohere,
}
REQUEST_WRITERS: dict[str, Callable[[Request, list[Loss]], dict[str, Any]]] = {
    "openai": write_openai,
    "anthropic": write_anthropic,
    "ollama": write_ollama,
    "openai-responses": write_responses,
    "gemini": write_gemini,
    "cohere": write_cohere,
    "bedrock": write_bedrock,
    "deepseek": write_deepseek,
    "openrouter": write_openrouter,
    "mistral": write_mistral,
}
"""The writers of whole requests by the adapter's name; Bedrock and Gemini say the model by the path."""


def translate_request(request: Mapping[str, Any], source: str, target: str) -> Translation:
    """Write one provider's request as another takes it, and tell what is lost; to its own provider it stays as it is.

    The result holds objects of the request itself: copy it before you change anything deep in it.
    Gemini's and Bedrock's say neither their model nor whether it is for a stream: both are said by the path.
    Providers go by any of their names (`streamparse.providers`).  Raises ValueError for one whose requests are not
    known; a request never raises.
    """
    source, target = _known(source, READERS), _known(target, REQUEST_WRITERS)
    if source == target:
        return Translation(dict(request), [])
    lost: list[Loss] = []
    written = write_request(READERS[source](request, lost), target, lost)
    return Translation(written, list(dict.fromkeys(lost)))


def write_request(request: Request, target: str, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for one of the providers of `REQUEST_WRITERS`, with the tools that it takes."""
    taken = ADAPTERS[target].taken(request.tools, lost)
    return REQUEST_WRITERS[target](replace(request, tools=taken), lost)


def _known(provider: str, table: Mapping[str, Any]) -> str:
    if (name := known_as(provider, table)) is None:
        raise ValueError(f"requests of {provider!r} are not known; known are: {', '.join(table)}")
    return name
