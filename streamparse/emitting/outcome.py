"""How an answer ended, in terms that all clients share: how a client must take it, why, and with which error.

A client knows only what it has been sent.  A turn that holds a call which will never be complete has been cut,
whatever its server reports, for the client must not run that call.  After a refusal in words calls do not count either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from streamparse.events import Error, ProviderItem
from streamparse.finish_reasons import find_full_reason, find_stop
from streamparse.response import ParsedResponse, ToolCall

Ending: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "error"]
"""What the end of a turn is to a client."""

DUPLICATE: Final = "duplicate_call"
"""The only code of a call's error that loses nothing: the call is there under another index."""

STOP_DETAILS: Final = "stop_details"
"""The item with which Anthropic explains a refusal."""

_DOUBT: Final = "ambiguous_markup"  # the code of calls that are revoked here, not by the server
_INCOMPLETE_DETAILS: Final = "incomplete_details"  # the item in which OpenAI Responses say why an answer is incomplete
_UNNAMED: Final = "provider_error"
_LABELLED = re.compile(r"([\w.\-]{1,64}): (.*)", re.DOTALL)

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
"""The codes that providers send, by the HTTP status that goes with each."""
_STATUSES: Final = {code: status for status, codes in _CODES.items() for code in codes}


class Outcome(msgspec.Struct):
    """What decides how a turn ends for a client, collected from the events of an answer.

    `end_turn` takes the last event; the properties are defined after it.
    """

    called: bool = False
    """A call was written that counts."""
    broken: bool = False
    """A call began that will never be complete."""
    refused: bool = False
    """The model refused in words."""
    ok: bool = False
    finish_reason: str | None = None
    _doubt: Error | None = None
    _filter: Error | None = None  # with a filter's finish reason it is an explanation, not a failure
    _items: dict[str, Any] = {}

    def take_item(self, item: ProviderItem) -> None:
        """Keep an item that explains the end."""
        if item.kind in (STOP_DETAILS, _INCOMPLETE_DETAILS):
            self._items[item.kind] = item.data

    def take_error(self, error: Error) -> tuple[str, str] | None:
        """Return the code and the message of an error that ends the turn at once; None for any other, which is kept."""
        if error.scope == "stream":
            if not (error.code == _UNNAMED and find_stop(read_error(error)[0]) == "filter"):
                return read_error(error)
            self._filter = error
        elif error.scope == "call":
            self.broken = self.broken or error.code != DUPLICATE
            if error.code == _DOUBT:
                self._doubt = error
        return None

    def end_turn(self, finish_reason: str | None, *, ok: bool) -> None:
        """Take the end of the answer."""
        self.finish_reason = find_full_reason(finish_reason, self._items.get(_INCOMPLETE_DETAILS))
        self.ok = ok

    @property
    def ending(self) -> Ending:
        """What the end of the turn is to a client."""
        return find_ending(self.finish_reason, ok=self.ok, called=self.called, broken=self.broken, refused=self.refused)

    @property
    def explanation(self) -> str:
        """Why a filter ended the turn, in the server's words; "" if it did not say."""
        if self._filter is not None:
            return read_error(self._filter)[1]
        details = self._items.get(STOP_DETAILS)
        words = details.get("explanation") if isinstance(details, dict) else None
        return words if isinstance(words, str) else ""

    @property
    def failure(self) -> tuple[str, str] | None:
        """Why a turn that came to its end failed, as a code and a message; None if it did not."""
        if self.ending != "error":
            return None
        if self._filter is not None:
            return read_error(self._filter)
        if self._doubt is not None:
            return self._doubt.code, self._doubt.message
        return self.finish_reason or "error", "the server took the turn back"


def find_ending(reason: str | None, *, ok: bool, called: bool, broken: bool, refused: bool) -> Ending:
    """Return what the end of a turn is to a client; the arguments are attributes of `Outcome`."""
    stop = find_stop(reason)
    if stop == "filter" or (refused and not ok):
        return "content_filter"
    if not ok:
        return "error"
    if broken or stop == "length":
        return "length"
    return "tool_calls" if called else "stop"


def read_outcome(response: ParsedResponse) -> tuple[Outcome, tuple[str, str] | None]:
    """Return how a whole answer ended, and the code and the message of its failure; None if it did not fail."""
    outcome = Outcome(called=bool(list_runnable_calls(response)), refused=bool(response.refusal))
    for item in response.items:
        outcome.take_item(ProviderItem(item["kind"], item["data"]))
    failures = [failure for error in response.errors if (failure := outcome.take_error(error)) is not None]
    outcome.end_turn(response.finish_reason, ok=response.ok)
    return outcome, failures[0] if failures else outcome.failure


def list_runnable_calls(response: ParsedResponse) -> list[ToolCall]:
    """Return the calls that a client may run."""
    return [call for call in response.tool_calls if not call.revoked]


def is_unnamed(code: str) -> bool:
    """Whether a code stands for a failure of a server that named no code of its own."""
    return code == _UNNAMED


def read_error(error: Error) -> tuple[str, str]:
    """Return the code and the message of an error: the provider's own code if it has one."""
    label = _LABELLED.fullmatch(error.message) if error.code == _UNNAMED else None
    return (label[1], label[2]) if label else (error.code, error.message)


def find_kind(kinds: Mapping[int, str], code: str, status: int | None) -> str:
    """Return the kind of an error in a client's words; `kinds` has them by HTTP status, at least for 400 and 500.

    Without a status the code is looked up: it may be a status itself, or stand for one; an unknown code is a 500.
    """
    if status is None:
        is_status = code.isdecimal() and len(code) == 3 and code >= "400"
        status = int(code) if is_status else _STATUSES.get(code.lower(), 500)
    return kinds.get(status) or kinds[400 if 400 <= status < 500 else 500]
