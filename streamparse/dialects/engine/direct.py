"""The sink of grammars whose calls are told as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.dialects.engine.reader import Reader
from streamparse.events import Place, Source
from streamparse.json import JSONError, read
from streamparse.limits import Limits
from streamparse.sink import Call, Sink
from streamparse.tools import Tool

__all__ = ["Direct", "has_required", "holds_required"]


class Direct:
    """Passes the verbs of a grammar on to `sink`: calls in open text, and visible text through `pass_text`.

    A call that only the end of the text ends stays open, unless the model itself ended it.
    """

    reads_markup = False

    def __init__(self, sink: Sink, reader: Reader, pass_text: Callable[[str], None]) -> None:
        self._sink = sink
        self._reader = reader
        self.calls: list[Call] = []
        """The plain calls that were passed on."""
        self.text = pass_text
        self.reasoning = sink.reasoning
        self.refusal = sink.refusal
        self.call_arguments = sink.call_arguments
        self.call_teller = sink.call_teller
        self.call_whole = sink.call_whole
        self.call_repaired = sink.call_repaired
        self.call_error = sink.call_error
        self.call_revoke = sink.call_revoke
        self.calls_doubted = sink.calls_doubted
        self.item = sink.item
        self.usage = sink.usage
        self.finish = sink.finish
        self.end = sink.end
        self.error = sink.error

    def call_start(
        self, name: str, id: str | None = None, source: Source = "inband", place: Place = "plain"
    ) -> Call:  # fmt: skip
        call = self._sink.call_start(name, id, source, place)
        if place == "plain":
            self.calls.append(call)
        return call

    def call_end(self, call: Call) -> None:
        if not self._reader.final or self._reader.stopped:
            self._sink.call_end(call)


def has_required(tool: Tool, raw: str, limits: Limits) -> bool:
    """Whether the argument text of a call is an object that holds the arguments that its tool requires."""
    try:
        value = read(raw, "heal", limits).value
    except JSONError:
        return False
    return isinstance(value, dict) and holds_required(tool, value)


def holds_required(tool: Tool, arguments: dict[str, Any]) -> bool:
    """Whether arguments hold those that the tool requires."""
    required = tool.parameters.get("required")
    if not isinstance(required, list):
        return True
    return all(key in arguments for key in required if isinstance(key, str))
