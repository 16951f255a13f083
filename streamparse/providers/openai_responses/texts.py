"""Calls of tools that take text, in one OpenAI response: each is an item, told whole when it is done.

Its text comes in `response.custom_tool_call_input.delta`; of one that was cut nothing but these tells.
"""

from __future__ import annotations

from streamparse.limits import Limits, most
from streamparse.providers.openai_responses.items import CallItem, Items
from streamparse.sink import Sink

__all__ = ["TextCalls"]


class TextCalls:
    """Keeps the texts of such calls until they are done; `max_call_args` bounds them, all together."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._room = most(limits.max_call_args)
        self._items = Items(CallItem)

    def added(self, name: str, id: str | None, index: int | None) -> None:
        """A call begins."""
        call = self._items.named(id) or self._items.add(id, index)
        call.name = call.name or name

    def add(self, id: str | None, index: int | None, piece: str) -> None:
        """A piece of a call's text came."""
        call = self._items.of(id, index)
        if len(piece) <= self._room and not call.done:
            self._room -= len(piece)
            call.early.write(piece)

    def done(self, id: str | None, index: int | None) -> None:
        """The item of a call was told."""
        call = self._items.find(id, index)
        if call is not None:
            call.done = True
            self._room += call.early.tell()

    def close(self) -> None:
        """No more events come: a call that is not done was cut."""
        for call in self._items.all:
            if not call.done:
                text = call.early.getvalue()
                self._sink.error(
                    "frame", "truncated_call", f"the stream ended inside the call of {call.name!r}: {text}"
                )
