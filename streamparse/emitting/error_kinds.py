"""What went wrong, in each client's words: by the HTTP status, or by the status that an error's code stands for.

| client | where its words are named |
|---|---|
| Anthropic | https://docs.anthropic.com/en/api/errors, and `ErrorType` of the official client |
| OpenAI | https://platform.openai.com/docs/guides/error-codes; llama.cpp's server writes the same |

Ollama's errors are one text, without a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ANTHROPIC_KINDS", "OPENAI_KINDS", "kind_of", "status_of"]

ANTHROPIC_KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
OPENAI_KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    500: "server_error",
}

_CODES: Final[Mapping[int, tuple[str, ...]]] = {
    400: ("invalid_request_error", "invalid_argument", "failed_precondition", "context_length_exceeded"),
    401: ("authentication_error", "unauthenticated", "invalid_api_key"),
    402: ("billing_error",),
    403: ("permission_error", "permission_denied"),
    404: ("not_found_error", "not_found", "model_not_found"),
    413: ("request_too_large",),
    429: ("rate_limit_error", "rate_limit", "rate_limit_exceeded", "insufficient_quota", "resource_exhausted"),
    503: ("unavailable", "unavailable_error"),
    504: ("timeout_error", "deadline_exceeded"),
    529: ("overloaded_error", "overloaded"),
}
"""The codes that providers send, by the status that goes with each."""
_STATUSES: Final = {code: status for status, codes in _CODES.items() for code in codes}


def status_of(code: str) -> int:
    """Return the HTTP status that an error's code is or stands for; 500 for one that is not known."""
    if code.isdecimal() and len(code) == 3 and code >= "400":
        return int(code)
    return _STATUSES.get(code.lower(), 500)


def kind_of(kinds: Mapping[int, str], code: str, status: int | None) -> str:
    """Return the kind of an error in one client's words; a status says more than the code."""
    told = status_of(code) if status is None else status
    return kinds.get(told) or kinds[400 if 400 <= told < 500 else 500]
