"""What a server said when it refused a request, of the exception that a client made of it.

Clients are recognised by what their exceptions have in common, and are not imported:

| client | the status | what the server sent |
|---|---|---|
| `openai`, `anthropic`, `groq`, `mistralai`, `cohere`, `litellm` | `status_code` | `response.content`, `body` |
| `httpx`, `requests` | `response.status_code` | `response.content` |
| `ollama` | `status_code` | `error` |
| `google-genai` | `code` | `details` |
| `aiohttp` | `status` | `message` |
| boto3 | `response["ResponseMetadata"]["HTTPStatusCode"]` | `response["Error"]` |
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from streamparse.parser.composite import parse_response

_STATUS: Final = ("status_code", "code", "status")
_SENT: Final = ("body", "details", "error", "message")
# Characters of a body in no known form that are kept.
_SHOWN: Final = 1000


def read_refusal(error: Exception) -> Any:
    """Return the body of an answer that refuses a request, in a form that parses as an error of the provider.

    None if no server answered: the connection failed, or the fault is in the program.
    """
    status = _find_status(error)
    if status is None:
        return None
    bodies = list(_find_bodies(error))
    for body in bodies:
        if any(each.code == "provider_error" for each in parse_response(body).errors):
            return body
    # Unlike str(), `traceback` survives an exception whose own __str__ raises.
    texts = [*map(_decode, bodies), "".join(traceback.format_exception_only(error)).strip()]
    words = next((text for text in texts if text.strip()), "")
    return {"error": {"message": words[:_SHOWN], "code": status}}


def _find_status(error: Exception) -> int | None:
    """The HTTP status with which a server refused; None if no server did."""
    response = getattr(error, "response", None)
    metadata = response.get("ResponseMetadata") if isinstance(response, Mapping) else None
    said = [metadata.get("HTTPStatusCode")] if isinstance(metadata, Mapping) else []
    said += [getattr(thing, name, None) for thing in (error, response) for name in _STATUS]
    return next((each for each in said if isinstance(each, int) and 400 <= each < 600), None)


def _find_bodies(error: Exception) -> Iterator[Any]:
    """What the server sent, whole or in parts, the most first."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # boto3
        yield {"error": response.get("Error")}
    elif (content := _read_content(response)) is not None:
        yield content
    for name in _SENT:
        said = getattr(error, name, None)
        if isinstance(said, (str, bytes)) and said:
            yield said
        elif isinstance(said, Mapping):
            yield dict(said) if "error" in said else {"error": dict(said)}


def _read_content(response: Any) -> bytes | None:
    """The body of a response, if it was read."""
    try:
        content = getattr(response, "content", None)
    except (RuntimeError, OSError):  # httpx and requests, of a stream that was not read, or whose connection broke
        return None
    return content if isinstance(content, bytes) and content else None


def _decode(sent: Any) -> str:
    if isinstance(sent, bytes):
        return sent.decode("utf-8", "replace")
    try:
        return sent if isinstance(sent, str) else msgspec.json.encode(sent, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):  # a client made what JSON cannot hold
        return ""
