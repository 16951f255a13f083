"""What an answer holds, as one record: the sum of its events."""

from __future__ import annotations

from typing import Any, Final, Literal, Never

import msgspec

from streamparse.events import Error, Place, Source
from streamparse.finish_reasons import Stop, find_full_reason, find_stop
from streamparse.usage import TokenCounts, count_tokens

__all__ = ["BrokenCall", "Mark", "ParsedResponse", "ToolCall", "ToolIntent"]


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A complete call of a tool.

    `arguments` is the decoded object, `raw` the JSON text as the model wrote it.  `reason` says why a call is
    "recovered" or "repaired"; it is empty for all others.
    """

    name: str
    arguments: dict[str, Any]
    id: str = ""
    source: Source = "native"
    raw: str = ""
    index: int = 0
    revoked: bool = False
    place: Place = "field"
    reason: str = ""


class BrokenCall(msgspec.Struct, frozen=True, gc=False):
    """A call that began and never became whole: not to be run, and not lost."""

    name: str
    raw: str
    id: str
    code: str
    index: int = 0


class ToolIntent(msgspec.Struct, frozen=True):
    """What shows that a model wanted a tool, and is no call.

    `text` is a sentence ("I'll use the search tool").  With `is_call` it is the own text of a whole call of a declared
    tool, as the model wrote it (of several in a list, that of the list): one without a marker of its own, which stands
    behind a sentence, and ends an answer that ended well.
    """

    name: str
    text: str
    is_call: bool = False


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Where in an answer a call began, or an item came: after how many characters of text and of thought.

    `index` is the call's, or the item's place in `items`.  `length` is how many characters of the text from there on
    are the call itself: one that was found only at the end stays in the text, but a message holds it only once.
    """

    what: Literal["call", "item"]
    index: int
    content: int
    reasoning: int
    length: int = 0


FACTS: Final = (
    "model", "id", "service_tier", "system_fingerprint", "provider", "native_finish_reason", "safety",
    "content_filters",
)  # fmt: skip
"""The fields of `ParsedResponse` that say something about an answer; each is filled as soon as it is known."""


class ParsedResponse(msgspec.Struct, kw_only=True):
    """A whole response, or what has come of one so far.

    `order` has a mark for each call and each item, which says where they are in the text.
    `dialects` names by the index of each call that was found in the text, whole or broken, the dialect that it is
    written in, or "json-content"; calls that are not there came natively.
    `intents` are known once an answer is over: of a whole response all, of a stream those that are written as calls.

    Who answered, and how, as far as the server says it, under the same names on every wire:

    - `model`, `id`: the model that answered, and the id of the answer.
    - `service_tier`, `system_fingerprint`: how it was served, and the version of what served it.
    - `provider`, `native_finish_reason`: behind a router who served it, and that one's own word for the end.
    - `safety`, `content_filters`: the findings in the prompt (`"prompt"`) and in the answer (`"answer"`), each as the
      server writes it.
    """

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    intents: list[ToolIntent] = []
    items: list[dict[str, Any]] = []
    order: list[Mark] = []
    dialects: dict[int, str] = {}
    errors: list[Error] = []
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None
    id: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    provider: str | None = None
    native_finish_reason: str | None = None
    safety: dict[str, Any] | None = None
    content_filters: dict[str, Any] | None = None
    ok: bool = False
    raw_response: Any = None

    @property
    def stop(self) -> Stop | None:
        """Why the answer ended, in one word for all servers; None before it ended, and for an unknown reason.

        "tools" wherever calls wait for results, also those that broke, whatever the server's word for it.  An answer
        of which nothing counts, because its server failed or it made no sense, is "error".
        """
        reason = self.finish_reason
        if self.items:
            details = next((item["data"] for item in self.items if item["kind"] == "incomplete_details"), None)
            reason = find_full_reason(reason, details)
        word: Stop | None = "end" if reason is None and self.ok else find_stop(reason)
        if word == "filter" or (self.refusal and not self.ok and any(call.revoked for call in self.tool_calls)):
            return "filter"
        if self.errors and any(each.scope == "stream" or each.code == "ambiguous_markup" for each in self.errors):
            return "error"
        if word != "end":
            return word
        waits = bool(self.broken_calls) or any(not call.revoked for call in self.tool_calls)
        return "tools" if waits else "end"

    @property
    def formats(self) -> Never:
        """What `dialects` was called; raises AttributeError."""
        raise AttributeError("ParsedResponse.formats is called dialects")

    @property
    def own_items(self) -> list[dict[str, Any]]:
        """The items that are part of the answer; those that only say something about it (log-probabilities) are not."""
        return [item for item in self.items if "about" not in item]

    @property
    def tokens(self) -> TokenCounts:
        """The tokens that were read and written, in one shape for all servers; 0 where the server has not said."""
        return count_tokens(self.usage)
