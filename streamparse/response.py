"""What an answer holds, as one record: the sum of its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from streamparse.events import Error, Source

__all__ = ["BrokenCall", "Mark", "ParsedResponse", "ToolCall", "ToolIntent", "Writer", "write_with"]


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A complete call of a tool.

    `arguments` is the decoded object, `raw` the JSON text as the model wrote it.
    """

    name: str
    arguments: dict[str, Any]
    id: str = ""
    source: Source = "native"
    raw: str = ""
    index: int = 0
    revoked: bool = False


class BrokenCall(msgspec.Struct, frozen=True, gc=False):
    """A call that began and never became whole: not to be run, and not lost."""

    name: str
    raw: str
    id: str
    code: str
    index: int = 0


class ToolIntent(msgspec.Struct, frozen=True):
    """Prose in which a model says that it wants a tool ("I'll use the search tool").  Never a call."""

    name: str
    text: str


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Where in an answer a call began, or an item came: behind so many characters of text and of thought.

    `index` is the call's, or the item's place in `items`.
    """

    what: Literal["call", "item"]
    index: int
    content: int
    reasoning: int


class ParsedResponse(msgspec.Struct, kw_only=True):
    """A whole response, or what has come of one so far.

    `order` has a mark for each call and each item, by which they stand between the characters of the text.
    """

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    intents: list[ToolIntent] = []
    items: list[dict[str, Any]] = []
    order: list[Mark] = []
    errors: list[Error] = []
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    ok: bool = False
    raw_response: Any = None

    def as_message(self, provider: str) -> Any:
        """The assistant's turn, to be sent back to a provider of `streamparse.adapters.ADAPTERS`.

        It holds all that the provider wants returned (signatures, encrypted thought, ids), in the order in which it
        came; calls that the server took back are left out.  A message, or for "openai-responses" a list of items.
        Raises ValueError for an unknown provider.
        """
        writers = _source[0]()
        if provider not in writers:
            raise ValueError(f"unknown provider {provider!r}; known are: {', '.join(writers)}")
        return writers[provider](self)


Writer: TypeAlias = Callable[[ParsedResponse], Any]
"""Writes an answer as the message of one provider."""


def _no_writers() -> Mapping[str, Writer]:
    return {}


_source: list[Callable[[], Mapping[str, Writer]]] = [_no_writers]


def write_with(source: Callable[[], Mapping[str, Writer]]) -> None:
    """Say where the writers of `ParsedResponse.as_message` come from: by the provider's name, asked when one is needed.

    A response knows nothing of providers; the room that does says so here.
    """
    _source[0] = source
