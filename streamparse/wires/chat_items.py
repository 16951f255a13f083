"""What chat servers send besides text and calls of functions: items, each once and whole."""

from __future__ import annotations

from typing import Any, Final

from streamparse.limits import Limits, most
from streamparse.sink import Sink
from streamparse.wires.chat_chunk import Custom

__all__ = ["CustomCalls", "Sources"]

_OF_A_CALL: Final = 1024  # characters that a call counts for besides its input


class Sources:
    """Lists of sources beside the answer: Perplexity repeats them in each chunk."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._told: dict[str, list[Any]] = {}

    def take(self, **lists: list[Any] | None) -> None:
        """Tell those lists that are new."""
        for kind, listed in lists.items():
            if listed and listed != self._told.get(kind):
                self._told[kind] = listed
                self._sink.item(kind, listed)


class CustomCalls:
    """Calls of tools that take text: no arguments are decoded, so each is an item, told when the answer is over."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._room = most(limits.max_call_args)  # characters of all calls together
        self._calls: dict[int | None, dict[str, Any]] = {}
        self._inputs: dict[int | None, list[str]] = {}

    def add(self, index: int | None, id: str | None, piece: Custom) -> None:
        """Take a piece of a call."""
        known = self._calls.get(index)
        if known is not None and id and known["id"] and id != known["id"]:
            self._tell(index)
        text = piece.input or ""
        if not self._fits(len(text) or 1, index):
            return
        if index not in self._calls:
            self._calls[index] = {"id": id, "type": "custom", "custom": {"name": piece.name}}
            self._inputs[index] = []
        self._inputs[index].append(text)

    def close(self) -> None:
        """The calls are whole."""
        for index in list(self._calls):
            self._tell(index)

    def _fits(self, size: int, index: int | None) -> bool:
        left = self._room
        self._room -= size + (0 if index in self._calls else _OF_A_CALL)
        if left >= 0 > self._room:
            self._sink.error("frame", "limit_args", "the inputs of custom calls are too long")
        return self._room >= 0

    def _tell(self, index: int | None) -> None:
        call = self._calls.pop(index)
        call["custom"]["input"] = "".join(self._inputs.pop(index))
        self._sink.item("custom_tool_call", call)
