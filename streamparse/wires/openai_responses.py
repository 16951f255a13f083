"""OpenAI Responses, and everything that speaks like it.

Server-sent events with a `type`, ended by `response.completed`, `.incomplete` or `.failed`; or one whole `response`.
Deltas tell; what is done only confirms, and tells what no delta told:

    response.created
      output_item.added ─▶ output_text.delta … ─▶ output_text.done ─▶ output_item.done
      output_item.added ─▶ function_call_arguments.delta … ─▶ function_call_arguments.done ─▶ output_item.done
    response.completed

A close event may lie: llama.cpp calls an item with the arguments `{"city": "Paris` completed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from streamparse.limits import Limits
from streamparse.sink import Outcome, Sink
from streamparse.tools import Toolset
from streamparse.wires.messages import MessageWire
from streamparse.wires.response_output import Output

__all__ = ["OpenAIResponses"]

_OUTCOMES: Final[dict[str, Outcome]] = {
    "incomplete": "cut",
    "failed": "failed",
    "cancelled": "failed",
    "content_filter": "failed",
}
_TEXT: Final = "response.output_text.delta"
_LONGEST_GAP: Final = 64


class _Response(msgspec.Struct, gc=False):
    id: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    incomplete_details: Any = None


class _Event(msgspec.Struct, gc=False):
    type: str | None = None
    sequence_number: int | None = None
    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: str | dict[str, Any] | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    item: msgspec.Raw = msgspec.Raw()
    annotation: Any = None
    response: _Response | None = None
    # an error as an event, or as the body
    error: Any = None
    code: Any = None
    message: Any = None
    detail: Any = None
    # a whole response
    id: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    incomplete_details: Any = None


class OpenAIResponses(MessageWire[_Event]):
    """Tells what the events of a response hold."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:  # noqa: ARG002
        super().__init__(_Event, sink, limits)
        self._limits = limits
        self._text = sink.text
        self._due: int | None = None  # the sequence number that comes next
        self._first = 0
        self._missing: set[int] = set()
        self._text_id: str | None = ""  # the item, and the part of it, that is known to be told
        self._text_part: int | None = -1
        self._output = Output(sink, limits)
        self._id: str | None = None
        self._ended = False
        self._again = False  # another response has begun since one ended
        self._tellers: dict[str, Callable[[_Event], None]] = {
            "response.output_text.done": self._text_done,
            "response.refusal.delta": self._refusal_delta,
            "response.refusal.done": self._refusal_done,
            "response.reasoning_text.delta": self._thought_delta,
            "response.reasoning_text.done": self._thought_done,
            "response.reasoning_summary_text.delta": self._thought_delta,
            "response.reasoning_summary_text.done": self._thought_done,
            "response.function_call_arguments.delta": self._arguments,
            "response.function_call_arguments.done": self._arguments_done,
            "response.output_item.added": self._added,
            "response.output_item.done": self._done,
            "response.output_text.annotation.added": self._annotation,
            "response.created": self._created,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._end,
            "response.cancelled": self._end,
            "response.done": self._end,
        }

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        kind = message.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            return True
        return message.get("object") == "response" or (kind in ("error", "keepalive") and "sequence_number" in message)

    def take(self, event: _Event) -> None:
        kind = event.type
        number = event.sequence_number
        if number is not None:
            if number == self._due:
                self._due = number + 1
            elif self._is_repeated(number, event):
                return
        if self._over and kind != "response.created":
            self.ignored += 1
        elif kind == _TEXT:
            if event.item_id != self._text_id or event.content_index != self._text_part:
                self._move(event)
            if event.delta.__class__ is str and event.delta:
                self._text(event.delta)
        elif kind in self._tellers:
            self._tellers[kind](event)
        elif kind is None or not kind.startswith("response."):
            self._take_other(event)

    def close(self) -> None:
        self._output.calls.close()
        if self._again:
            self._sink.error("stream", "stream_truncated", "the body ended inside another response")

    # -- text ------------------------------------------------------------------------------------------

    def _move(self, event: _Event) -> None:
        """The text goes on in another part, or under another id."""
        self._text_id = event.item_id
        self._text_part = event.content_index
        self._output.messages.of(event.item_id, event.output_index).told.add(event.content_index)

    def _text_done(self, event: _Event) -> None:
        if event.text and self._output.messages.of(event.item_id, event.output_index).news(event.content_index):
            self._text(event.text)

    def _refusal_delta(self, event: _Event) -> None:
        self._output.messages.of(event.item_id, event.output_index).told.add(event.content_index)
        if event.delta.__class__ is str and event.delta:
            self._sink.refusal(event.delta)

    def _refusal_done(self, event: _Event) -> None:
        if event.refusal and self._output.messages.of(event.item_id, event.output_index).news(event.content_index):
            self._sink.refusal(event.refusal)

    def _thought_delta(self, event: _Event) -> None:
        thought = self._output.thoughts.of(event.item_id, event.output_index)
        thought.told.add(event.summary_index if event.content_index is None else event.content_index)
        if event.delta.__class__ is str and event.delta:
            self._sink.reasoning(event.delta)

    def _thought_done(self, event: _Event) -> None:
        thought = self._output.thoughts.of(event.item_id, event.output_index)
        part = event.summary_index if event.content_index is None else event.content_index
        if event.text and thought.news(part):
            self._sink.reasoning(event.text)

    # -- items -----------------------------------------------------------------------------------------

    def _arguments(self, event: _Event) -> None:
        if event.delta.__class__ is str and event.delta:
            self._output.calls.arguments(event.item_id, event.output_index, event.delta)

    def _arguments_done(self, event: _Event) -> None:
        self._output.calls.arguments_done(event.item_id, event.output_index, event.arguments or "")

    def _added(self, event: _Event) -> None:
        self._output.added(event.item, event.output_index)

    def _done(self, event: _Event) -> None:
        self._output.done(event.item, event.output_index)

    def _annotation(self, event: _Event) -> None:
        self._output.annotation(event.annotation)

    # -- the response ----------------------------------------------------------------------------------

    def _created(self, event: _Event) -> None:
        """A response begins; some bodies hold several."""
        self._id = event.response.id if event.response is not None else None
        self._again, self._ended, self._over = self._ended, False, False
        self._output.calls.close()
        self._output = Output(self._sink, self._limits)
        self._text_id, self._text_part = "", -1

    def _end(self, event: _Event) -> None:
        response = event.response or _Response()
        self._finish(response, response.status or (event.type or "").removeprefix("response."))

    def _finish(self, response: _Response, status: str) -> None:
        self._output.whole(response.output or [])
        if response.usage is not None:
            self._sink.usage(response.usage)
        if response.error is not None:
            self._fail(response.error)
        details = response.incomplete_details
        if details is not None:
            self._sink.item("incomplete_details", details)
        filtered = isinstance(details, dict) and details.get("reason") == "content_filter"
        self._sink.finish(status, "failed" if filtered else _OUTCOMES.get(status, "stop"))
        self._ended, self._again = True, False

    def _take_other(self, event: _Event) -> None:
        """A whole response, an error, or an event of another protocol, such as `keepalive`."""
        if event.type is None and event.output is not None:
            response = _Response(
                event.id, event.status, event.output, event.usage, event.error, event.incomplete_details
            )
            self._finish(response, event.status or "completed")
        elif event.error is not None:
            self._fail(event.error)
        elif event.type == "error" or event.message is not None or event.detail is not None:
            message = event.detail if event.message is None else event.message
            self._fail({"code": event.code, "type": event.type, "message": message})

    def _is_repeated(self, number: int, event: _Event) -> bool:
        """Judge a number that is not due: whether the event came before, and must not be told again.

        A new response counts anew.  Events that end a response may carry any number (LiteLLM writes 0), and a
        server that has never counted is not believed.
        """
        due = self._due
        created = event.type == "response.created"
        if due is None or (created and event.response is not None and event.response.id != self._id):
            self._first = number
            self._missing.clear()
        elif number > due:
            self._missing.update(range(due, min(number, due + _LONGEST_GAP)))
        elif number in self._missing:
            self._missing.discard(number)
            self._sink.error("frame", "out_of_order", f"event {number} comes after event {due - 1}")
            return False
        elif due - self._first < 2 or event.type == "error" or (event.response is not None and not created):
            return False
        else:
            self.ignored += 1
            self._sink.error("frame", "duplicate_frame", f"event {number} came before")
            return True
        self._due = number + 1
        return False
