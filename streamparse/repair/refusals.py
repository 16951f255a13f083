"""What a server said when it refused a request, of the exception that a client made of it.

Clients are recognised by what their exceptions have in common, and are not imported:

| client | the status | what the server sent |
|---|---|---|
| `openai`, `anthropic`, `groq`, `mistralai`, `cohere`, `litellm` | `status_code` | `response.content`, `body` |
| `httpx`, `requests` | `response.status_code` | `response.content` |
| `ollama` | `status_code` | `error` |
| `http_model` | `status` | `text` |
| `google-genai` | `code` | `details` |
| `aiohttp` | `status` | `message` |
| `urllib` | `code` | |
| boto3 | `response["ResponseMetadata"]["HTTPStatusCode"]` | `response["Error"]` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from streamparse.findings import describe_exception
from streamparse.parser.composite import parse_response

_STATUS: Final = ("status_code", "status", "code")  # in this order: aiohttp's `code` warns
_SENT: Final = ("body", "details", "error", "message", "text")
_SHOWN: Final = 1000  # bound: characters of a body in no known form that are kept


def read_refusal(error: Exception) -> Any:
    """Return the body of an answer that refuses a request, in a form that parses as an error of the provider.

    None if no server answered: the connection failed, or the fault is in the program.
    """
    status = next((each for each in find_statuses(error) if each >= 400), None)
    if status is None:
        return None
    bodies = list(_find_bodies(error))
    for body in bodies:
        if any(each.code == "provider_error" for each in parse_response(body).errors):
            return body
    texts = [*map(_decode, bodies), describe_exception(error)]
    words = next((text for text in texts if text.strip()), "")
    return {"error": {"message": words[:_SHOWN], "code": status}}


def find_statuses(error: BaseException) -> Iterator[int]:
    """Yield the HTTP statuses that a client's exception names, the surest first."""
    response = get_member(error, "response")
    candidates = chain(
        (get_metadata(response, "HTTPStatusCode"),),
        (get_member(thing, name) for thing in (error, response) for name in _STATUS),
    )
    yield from (each for each in candidates if isinstance(each, int) and 100 <= each <= 599)


def get_metadata(response: Any, name: str) -> Any:
    """Return what boto3 says of a response."""
    metadata = response.get("ResponseMetadata") if isinstance(response, Mapping) else None
    return metadata.get(name) if isinstance(metadata, Mapping) else None


def get_member(thing: object, name: str) -> Any:
    """Return a member of a foreign object, of which nothing is known but its shape; None if it has none."""
    try:
        return getattr(thing, name, None)
    except (RuntimeError, OSError):  # httpx: an attribute that was never set; requests: a stream whose connection broke
        return None


def _find_bodies(error: Exception) -> Iterator[Any]:
    """What the server sent, whole or in parts, the most first."""
    response = get_member(error, "response")
    content = get_member(response, "content")  # if it was read
    if isinstance(response, Mapping):  # boto3
        yield {"error": response.get("Error")}
    elif isinstance(content, bytes) and content:
        yield content
    for name in _SENT:
        sent = get_member(error, name)
        if isinstance(sent, (str, bytes)) and sent:
            yield sent
        elif isinstance(sent, Mapping):
            yield dict(sent) if "error" in sent else {"error": dict(sent)}


def _decode(sent: Any) -> str:
    if isinstance(sent, bytes):
        return sent.decode("utf-8", "replace")
    try:
        return sent if isinstance(sent, str) else msgspec.json.encode(sent, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):  # a client made what JSON cannot hold
        return ""
