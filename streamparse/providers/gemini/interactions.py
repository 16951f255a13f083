"""Gemini's Interactions API: events with an `event_type`, in two vocabularies.

| older | newer |
|---|---|
| `interaction.start` | `interaction.created` |
| `content.start` | `step.start`: the step says what it is, a call its name and id |
| `content.delta`: the delta says what it is; a call comes whole | `step.delta`: `arguments_delta` for a call |
| `content.stop` | `step.stop` |
| `interaction.complete` | `interaction.completed`, with status and usage |
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.limits import Limits, most
from streamparse.reading import message_wire
from streamparse.reading.decode import get_fields, read_argument_text, read_str, read_value
from streamparse.reading.pieces import Budget, PendingItem
from streamparse.sink import Call, Sink

# -- ----------------------------------------------------------------------------------------------------
# The shape of an event of Gemini's Interactions API, or of a whole interaction: only the fields that are read.


class Piece(msgspec.Struct, gc=False):
    """What a step and a piece of one have in common."""

    text: str | None = None
    type: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    content: msgspec.Raw = msgspec.Raw()
    signature: str | None = None
    id: str | None = None
    name: str | None = None


class Delta(Piece, gc=False):
    """A piece of a step."""

    annotations: list[Any] | None = None
    # of what the server itself does, and of media
    call_id: Any = None
    server_name: Any = None
    result: Any = None
    is_error: Any = None
    data: Any = None
    mime_type: Any = None
    uri: Any = None


class Step(Piece, gc=False):
    """A step where it starts, or a whole one."""

    summary: msgspec.Raw = msgspec.Raw()


class Interaction(msgspec.Struct, gc=False):
    """How an interaction ended, or its metadata."""

    status: str | None = None
    usage: dict[str, Any] | None = None
    id: str | None = None
    model: str | None = None
    service_tier: str | None = None


class InteractionEvent(Interaction, gc=False):
    """What an event holds besides the fields of a chunk; `step` and `content` are read by its type."""

    index: int | None = None
    delta: Delta | None = None
    event_type: str | None = None
    step: msgspec.Raw = msgspec.Raw()
    content: msgspec.Raw = msgspec.Raw()
    interaction: Interaction | None = None
    metadata: Interaction | None = None
    # a whole interaction
    object: str | None = None
    outputs: list[msgspec.Raw] | None = None
    steps: list[msgspec.Raw] | None = None


# -- ----------------------------------------------------------------------------------------------------

_TEXT_STEPS: Final = ("model_output", "text", "thought", "user_input")


_decode_step = msgspec.json.Decoder(Step, strict=False).decode


class Interactions:
    """Reads the events of an interaction."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._limit = most(limits.max_call_args)
        self._calls: dict[int | None, Call] = {}
        self._server_steps: dict[int | None, PendingItem] = {}  # until they stop

    @staticmethod
    def claims(message: dict[str, Any]) -> bool:
        """Whether a message is of this vocabulary."""
        return isinstance(message.get("event_type"), str) or message.get("object") == "interaction"

    def take(self, event: InteractionEvent) -> None:
        """Send what one event of either vocabulary holds."""
        kind = event.event_type or ""
        delta = event.delta
        if delta is not None:
            if delta.type == "text" and delta.text and delta.annotations is None:
                self._sink.text(delta.text)
            else:
                self._take_delta(event.index, delta)
        elif kind in ("step.start", "content.start"):
            self._start(event.index, event.step if bytes(event.step) else event.content)
        elif kind in ("step.stop", "content.stop"):
            self._stop(event.index)
        elif kind in ("interaction.complete", "interaction.completed") and event.interaction is not None:
            self._finish(event.interaction)
        elif event.object == "interaction":
            self._take_whole(event)
        if event.interaction is not None or event.object == "interaction":
            self._send_facts(event.interaction or event)
        if event.metadata is not None and event.metadata.usage is not None:
            self._sink.fact("usage", event.metadata.usage)

    def close(self) -> None:
        """The body is over: what the server itself did is sent as far as it came."""
        for index in list(self._server_steps):
            self._stop(index)

    def _send_facts(self, interaction: Interaction) -> None:
        for name in ("id", "model", "service_tier"):
            self._sink.fact(name, getattr(interaction, name))

    # -- inside ----------------------------------------------------------------------------------------

    def _take_whole(self, event: InteractionEvent) -> None:
        """A whole interaction; one in the background may be fetched before its end, and its last step may be open."""
        is_finished = event.status not in message_wire.UNFINISHED
        for number, step in enumerate(event.steps or event.outputs or ()):
            self._start(number, step)
            if is_finished:
                self._stop(number)
        if is_finished:
            self._finish(event)
            return
        if event.usage is not None:
            self._sink.fact("usage", event.usage)
        message_wire.report_unfinished(self._sink, event.status or "")

    def _take_delta(self, index: int | None, delta: Delta) -> None:
        kind = delta.type or "text"
        if kind in ("text", "thought_summary", "thought"):
            self._send_text(kind, delta.text, read_value(delta.content))
        elif kind == "arguments_delta":
            self._take_arguments(index, read_argument_text(delta.arguments))
        elif kind == "function_call":
            message_wire.send_whole_call(self._sink, delta.name, delta.arguments, delta.id)
        elif index in self._server_steps:
            if not self._server_steps[index].add(get_fields(delta)):
                self._sink.error("frame", "limit_args", f"step {index} exceeds {self._limit} characters")
        elif kind not in ("thought_signature", "text_annotation"):
            self._sink.item(kind, get_fields(delta))
        if delta.signature and index not in self._server_steps:
            self._sign(index, delta.signature)
        for annotation in delta.annotations or ():
            self._sink.item("annotation", annotation)

    def _start(self, index: int | None, raw: msgspec.Raw) -> None:
        step = message_wire.decode_part(_decode_step, raw, self._sink, "a step") if bytes(raw) else None
        if step is None or step.type is None:
            return
        if step.type == "function_call":
            if step.name:
                self._calls[index] = self._sink.call_start(step.name, step.id or None)
                arguments = read_argument_text(step.arguments)
                if arguments.strip("{} \t\r\n"):  # an empty object holds the place of what follows
                    self._sink.call_arguments(self._calls[index], arguments)
            else:
                self._sink.error("frame", "call_without_name", f"a call ({step.id or 'no id'}) without a name")
        elif step.type in _TEXT_STEPS:
            self._send_text(step.type, step.text, read_value(step.summary) or read_value(step.content))
        else:
            value = read_value(raw)
            self._server_steps[index] = PendingItem(Budget(self._limit), value if isinstance(value, dict) else {})
            return
        if step.signature:
            self._sign(index, step.signature)

    def _stop(self, index: int | None) -> None:
        call = self._calls.get(index)
        if call is not None:
            self._sink.call_end(call)
        step = self._server_steps.pop(index, None)
        if step is not None and not step.is_lost:
            item = step.build()
            self._sink.item(str(item.get("type")), item)

    def _finish(self, interaction: Interaction) -> None:
        if interaction.usage is not None:
            self._sink.fact("usage", interaction.usage)
        status = interaction.status or "completed"
        self._sink.finish(status, message_wire.find_listed_outcome(status))

    def _take_arguments(self, index: int | None, text: str) -> None:
        call = self._calls.get(index)
        if call is not None:
            self._sink.call_arguments(call, text)
        else:
            self._sink.error("frame", "orphan_arguments", f"arguments of no call: {text}")

    def _sign(self, index: int | None, signature: str) -> None:
        call = self._calls.get(index)
        self._sink.item("thought_signature", signature, None if call is None else call.index)

    def _send_text(self, kind: str, text: str | None, content: Any) -> None:
        if text := text or _join_texts(content):
            (self._sink.reasoning if kind.startswith("thought") else self._sink.text)(text)


def _join_texts(content: Any) -> str:
    """The text of a content part, or of a list of them; lists may be deeper than functions can call each other."""
    texts: list[str] = []
    waiting = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += reversed(part)
        else:
            texts.append(read_str(part.get("text") if isinstance(part, dict) else part))
    return "".join(texts)
