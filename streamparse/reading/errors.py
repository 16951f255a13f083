"""Errors that a server reports with status 200: as the body, as an event, or together with the answer.

| shape | sent by |
|---|---|
| `{"error": {"code", "type", "message"}}` | OpenAI and most others; Google's has a `status` |
| `{"error": "text"}`, also with a `code` or a `message` | Ollama, Hugging Face, Cohere's gateways |
| `{"type": "error", "error": {…}}`, also with a `message` or a `code` alone | Anthropic, relays |
| `{"object": "error", "message", "code"}` | vLLM, SGLang |
| `{"code", "message"}`, `{"code", "msg"}` | llama.cpp, Cohere, AWS; Z.ai |
| `{"detail": "text"}`, `{"detail": [{"loc", "msg"}]}` | whatever is built with FastAPI |
| `{"errors": [{"code", "message"}]}` | Cloudflare, watsonx |
| `{"error_code", "error_msg"}` | Baidu |
| `{"base_resp": {"status_code", "status_msg"}}`, whose code is not 0 | MiniMax |
| `{"Message"}`, `{"errorMessage", "errorType"}` | AWS, in front of a model: signatures, SageMaker, Lambda |
| `{"__type": "…#ThrottlingException"}`, `{"…Exception": {…}}` | AWS, with a `message` or without |
| `{"fault": {"faultstring", "detail"}}` | Apigee |
| `{"title", "status", "detail"}`, whose status is 400 or more | RFC 9457, as NVIDIA and Replicate send it |
| `{"statusCode", "message"}` | Azure API Management |
| `{"success": false}` | Cloudflare, web frameworks |
| one of these as the only element of a list | Google, without `alt=sse` |

A message whose code or status is 0, one of HTTP's 200 to 299, or a word such as "ok" says that all is well.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any, Final

import msgspec

from streamparse.patterns import lazy_re
from streamparse.reading.decode import get_fields
from streamparse.sink import Sink

_SHOWN: Final = 2000  # bound: characters of a message of an error
_MOST_WRAPPERS: Final = 4  # bound: errors inside of errors that are opened
_WRAPPERS: Final = ("error", "errors", "detail", "fault")
_WORDS: Final = (
    *("message", "msg", "detail", "error", "error_msg", "status_msg", "Message", "errorMessage", "faultstring"),
    *("error_message", "errmsg", "exception"),
    "title",
)
_WORDS_BESIDE_CODE: Final = frozenset(_WORDS) - {"title"}  # which is that of a problem, if it has a status
# `msg` without a code is a word of servers that have more to say than errors.
_WORDS_ALONE: Final = _WORDS_BESIDE_CODE - {"msg"}
_LABELS: Final = ("code", "error_code", "status_code", "type", "status", "errorType", "statusCode", "__type")
_CODES: Final = ("code", "error_code", "status_code")
_STATES: Final = (*_CODES, "status", "statusCode")
_STATUS: Final = "base_resp"
_FIELDS: Final = frozenset((*_WRAPPERS, *_WORDS, *_STATES, _STATUS, "type", "object", "success", "__type"))
_GOOD: Final = lazy_re("0+|2[0-9][0-9]|ok|success|succeeded")
_URI: Final = lazy_re("(?:about|urn|https?):")  # the type of a problem
_BAD: Final = frozenset(("error", "fail", "failed", "failure"))


class ErrorFields(msgspec.Struct, gc=False):
    """The fields of an error, for the Struct of a wire's own message."""

    error: Any = None
    message: Any = None
    detail: Any = None
    code: Any = None
    error_code: Any = None
    error_msg: Any = None
    base_resp: Any = None


_get_values: Final = attrgetter(*ErrorFields.__struct_fields__)


def report_provider_error(sink: Sink, error: Any) -> None:
    """Report a provider's error, in any of the shapes above: its code, and what it says.

    What the model wrote before the server refused it (Groq) comes first, as an item.
    """
    inner, _ = _unwrap(error)
    if isinstance(inner, dict) and inner.get("failed_generation"):
        sink.item("failed_generation", inner["failed_generation"])
    sink.error("stream", "provider_error", describe_error(error))


def describe_error(error: Any) -> str:
    """Return what a provider's error says, in any of the shapes above, after its code if it has one; truncated."""
    error, label = _unwrap(error)
    text = "; ".join(map(_find_words, error)) if isinstance(error, list) else _find_words(error)
    return (f"{label}: {text}" if label else text)[:_SHOWN]


def find_error(message: Any) -> Any:
    """Return the error that a message is, decoded or in a Struct, in any of the shapes above; None if it is not one."""
    is_part = isinstance(message, ErrorFields)  # which does not say what kind of a message it is
    if is_part:
        if not any(_get_values(message)):  # as in nearly every message
            return None
        message = get_fields(message, ErrorFields.__struct_fields__)
    if isinstance(message, list) and len(message) == 1:
        message = message[0]
    if not isinstance(message, dict) or (len(message) != 1 and _FIELDS.isdisjoint(message)):
        return None
    if any(message.get(key) for key in _WRAPPERS) or _has_words(message) or (not is_part and _has_failed(message)):
        return message
    status = message.get(_STATUS)
    return status if isinstance(status, dict) and status.get("status_code") else None


def _has_words(message: dict[str, Any]) -> bool:
    """Whether a message says something, and no code in it says that all is well."""
    codes = _list_states(message, _CODES)
    words = _WORDS_BESIDE_CODE if codes else _WORDS_ALONE
    says = any(isinstance(message.get(key), str) and message[key] for key in words)
    is_well = message.get("success") is True or any(map(_GOOD.fullmatch, _list_states(message, _STATES)))
    return says and not is_well


def _has_failed(message: dict[str, Any]) -> bool:
    """Whether a message says without words that something has failed."""
    kind = message.get("type")
    if isinstance(kind, str) and "error" not in kind.lower() and not _URI.match(kind):
        return False  # an event, which may report that something else has failed
    says_error = "error" in (kind, message.get("object")) or message.get("success") is False
    is_named = len(message) == 1 and next(iter(message)).endswith("Exception")  # boto3
    return says_error or is_named or "__type" in message or any(map(_is_bad, _list_states(message, _STATES)))


def _is_bad(state: str) -> bool:
    """Whether a state is a word of failure, or one of HTTP's codes for it."""
    return state in _BAD or (len(state) == len("400") and state.isdigit() and state[0] in "45")


def _list_states(message: dict[str, Any], keys: tuple[str, ...]) -> list[str]:
    return [str(message[key]).lower() for key in keys if message.get(key) is not None]


def _unwrap(error: Any) -> tuple[Any, str]:
    """Return the innermost error, and the code nearest to it."""
    label = _find_label(error)
    for _ in range(_MOST_WRAPPERS):
        inner = _find_wrapped(error)
        if inner is None:
            break
        error, label = inner, _find_label(inner) or label
    return error, label


def _find_wrapped(error: Any) -> Any:
    """What an object or a list of one wraps; None if it wraps nothing."""
    if isinstance(error, list):
        return error[0] if len(error) == 1 else None
    if not isinstance(error, dict):
        return None
    if len(error) == 1:
        inner = next(iter(error.values()))
        return inner if inner and isinstance(inner, (dict, list)) else None
    keys = _WRAPPERS[:1] if error.get("message") or error.get("faultstring") else _WRAPPERS
    return next((error[key] for key in keys if isinstance(error.get(key), (dict, list)) and error[key]), None)


def _find_label(error: Any) -> str:
    """The code of an error; "error" and a URI say nothing, and with a message an `error` of text is a code."""
    if not isinstance(error, dict):
        return ""
    labels = [error[key] for key in _LABELS if error.get(key) and error[key] != "error"]
    labels = [label for label in labels if not (isinstance(label, str) and _URI.match(label))]
    if isinstance(error.get("error"), str) and isinstance(error.get("message"), str):
        labels.append(error["error"])
    return next((str(label) for label in labels if isinstance(label, (str, int))), "")


def _find_words(error: Any) -> str:
    """What an error says; the whole of it if it says nothing."""
    if isinstance(error, str):
        return error
    fields = error if isinstance(error, dict) else {}
    text = next((fields[key] for key in _WORDS if isinstance(fields.get(key), str) and fields[key]), None)
    if text is None:
        return json.dumps(error, ensure_ascii=False)
    place = fields.get("loc")  # FastAPI: where in the request
    return f"{text} ({'.'.join(map(str, place))})" if isinstance(place, list) else text
