"""The verbs that a sink in front of another passes on: what is held back is told before anything else is."""

from __future__ import annotations

from typing import Any

from streamparse.events import Scope, Source
from streamparse.sink import Call, Sink

__all__ = ["Passage"]


class Passage:
    """A `Sink` but for `text`; each verb that needs its place in the order first lets go of what is held."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        # What needs no place goes to the sink itself, without a call in between.
        self.call_arguments = sink.call_arguments
        self.call_teller = sink.call_teller
        self.call_end = sink.call_end
        self.call_repaired = sink.call_repaired
        self.call_error = sink.call_error
        self.calls_doubted = sink.calls_doubted
        self.usage = sink.usage
        self.finish = sink.finish
        self.end = sink.end

    def _release(self) -> None:
        """Something else begins: tell what is held."""
        raise NotImplementedError

    def reasoning(self, text: str) -> None:
        self._release()
        self._sink.reasoning(text)

    def refusal(self, text: str) -> None:
        self._release()
        self._sink.refusal(text)

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self._release()
        self._sink.item(kind, data, index)

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self._release()
        self._sink.error(scope, code, message, offset)

    def call_start(self, name: str, id: str | None = None, source: Source = "native") -> Call:
        self._release()
        return self._sink.call_start(name, id, source)

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        self._release()
        return self._sink.call_whole(name, arguments, id)
