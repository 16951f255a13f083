"""Anthropic Messages, and everything that speaks like it: Bedrock's `invoke`, Vertex, llama.cpp, vLLM, Ollama.

Server-sent events whose `type` says what they are (the event's name may be missing), or one whole `message`.

    message_start (content_block_start content_block_delta* content_block_stop)* message_delta message_stop

Blocks may overlap, and `ping` and `error` come anywhere.  `{}` as the `input` of a starting block only keeps the place.
Citations come before the text of their block.  Where a text follows a text, the border between the two is an item,
`content_block_start`: without it the cited text would have no beginning and no end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import msgspec

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.providers.anthropic.facts import TURN_ITEMS
from streamparse.reading.blocks import Blocks
from streamparse.reading.decode import decode_untyped, read_str, write_argument_text
from streamparse.reading.message_wire import MessageWire, find_outcome
from streamparse.reading.plain_strings import PlainString
from streamparse.reading.wire import UnknownMessage
from streamparse.sink import Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# The shape of an event of Anthropic Messages, or of a whole `message`: only the fields that are read.


_DeltaType: TypeAlias = Literal["text_delta", "input_json_delta", "thinking_delta", "signature_delta"]
_EventType: TypeAlias = Literal[
    "content_block_delta", "content_block_start", "content_block_stop", "message_start", "message_delta",
    "message_stop", "ping",
]  # fmt: skip

TYPES: Final[tuple[str, ...]] = get_args(_EventType)
"""The types of the events of a stream; `message` is a whole answer, `error` an error."""

DELTAS: Final[tuple[str, ...]] = get_args(_DeltaType)
"""The deltas that have a verb of their own; any other type is not decoded."""

METRICS: Final = "amazon-bedrock-invocationMetrics"


class Turn(msgspec.Struct, gc=False):
    """How a turn ended: in `message_delta`, or in a whole message."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Any = None
    container: Any = None


class Delta(Turn, gc=False):
    type: _DeltaType | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None


class Message(Turn, gc=False):
    content: list[dict[str, Any]] | None = None
    usage: dict[str, Any] | None = None
    id: str | None = None
    model: str | None = None
    provider: str | None = None  # OpenRouter


class Event(Message, gc=False):
    type: _EventType | Literal["message", "error"] | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: dict[str, Any] | None = None
    message: Message | None = None
    error: Any = None
    context_management: dict[str, Any] | None = None
    metrics: Any = msgspec.field(default=None, name=METRICS)


# -- ----------------------------------------------------------------------------------------------------


class Anthropic(MessageWire[Event]):
    """Anthropic Messages, and everything that speaks like it: Bedrock's `invoke`, Vertex, llama.cpp, vLLM, Ollama."""

    ignored: int

    shape: ClassVar[type[Any]] = Event
    argument_texts: ClassVar[tuple[tuple[str, ...], ...]] = (("delta", "partial_json"),)
    parses_calls: ClassVar[bool] = True
    reopens: ClassVar[bool] = True

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(sink, tools, limits, choice)
        self._blocks = Blocks(sink, limits)
        self._arguments = self._blocks.add_arguments
        self._in_text = False  # the last block that began is one of text
        self._ended = False  # the turn has
        self._stopped = False  # the message has, which is more than its turn

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        kind = message.get("type")
        if kind == "error":  # that of the Responses API is numbered
            return isinstance(message.get("error"), dict) and "sequence_number" not in message
        if kind == "ping":  # others keep a connection alive so, too
            return False
        return kind in TYPES or (kind == "message" and isinstance(message.get("content"), list))

    @property
    def over(self) -> bool:
        return self._stopped or self._over

    def take(self, event: Event) -> None:
        delta = event.delta
        if event.type != "content_block_delta" or delta is None:
            if event.type == "content_block_start" and event.error is None:
                self._start(event.index, event.content_block or {})
            else:
                self._take_other(event)
        elif delta.text:
            self._text(delta.text)
        elif delta.partial_json:
            self._arguments(event.index, delta.partial_json)
        else:
            if delta.thinking:
                self._sink.reasoning(delta.thinking)
            if delta.signature:
                self._blocks.sign(event.index, delta.signature)

    def _find_verb_of_text(self, event: Event) -> Callable[[str], None] | None:
        return self._text if event.type == "content_block_delta" else None

    def _find_verb_of_thought(self, event: Event) -> Callable[[str], None] | None:
        return self._sink.reasoning if event.type == "content_block_delta" else None

    def _find_verb_of_arguments(self, event: Event) -> Callable[[str], None] | None:
        return partial(self._arguments, event.index) if event.type == "content_block_delta" else None

    plain_strings: ClassVar[tuple[PlainString, ...]] = (
        PlainString(("delta", "text"), _find_verb_of_text, ("type", "index")),
        PlainString(("delta", "thinking"), _find_verb_of_thought, ("type", "index")),
        PlainString(("delta", "partial_json"), _find_verb_of_arguments, ("type", "index")),
    )

    def close(self) -> None:
        super().close()
        if self._over and not self._ended:
            self._blocks.finish(cut=True)

    # -- inside ----------------------------------------------------------------------------------------

    def _take_other(self, event: Event) -> None:
        """Take any event but the start of a block and its deltas."""
        if event.type == "error" or event.type is None:
            raise UnknownMessage("an event without a type")
        if event.error is not None:
            self._fail(event.error)
            return
        match event.type:
            case "content_block_stop":
                self._blocks.stop(event.index)
            case "message_start":
                self._begin(event.message or Message())
            case "message_delta":
                if event.usage:
                    self._send_counts(event.usage)
                if event.context_management is not None and any(event.context_management.values()):
                    self._sink.item("context_management", event.context_management)
                self._take_turn(event.delta or event)
            case "message_stop":
                if event.metrics is not None:
                    self._sink.item(METRICS, event.metrics)
                self._stop()
            case "message":
                self._take_whole(event)

    def _begin(self, message: Message) -> None:
        """A message starts; what it holds already (deferred calls) is whole."""
        self._sink.go_on()
        self._ended = self._stopped = self._in_text = False
        self._blocks.restart()
        self._take_whole(message)
        self._blocks.restart()

    def _take_whole(self, message: Message) -> None:
        for name in ("id", "model", "provider"):
            self._sink.fact(name, getattr(message, name))
        if message.usage:
            self._send_counts(message.usage)
        for index, block in enumerate(message.content or ()):
            self._start(index, block, is_whole=True)
            self._blocks.stop(index)
        self._take_turn(message)

    def _send_counts(self, usage: dict[str, Any]) -> None:
        if None in usage.values():
            usage = {name: count for name, count in usage.items() if count is not None}
        if usage:
            self._sink.fact("usage", usage)
            self._sink.fact("service_tier", usage.get("service_tier"))

    def _take_turn(self, turn: Turn) -> None:
        if turn.stop_sequence is not None or turn.stop_details is not None or turn.container is not None:
            self._send_items(turn, TURN_ITEMS)
        if turn.stop_reason:
            outcome = find_outcome(turn.stop_reason)
            self._blocks.finish(cut=outcome == "cut")
            self._sink.finish(turn.stop_reason, outcome)
            self._ended = True

    def _stop(self) -> None:
        if not self._ended:
            self._blocks.finish(cut=True)  # without a reason it is not known
        self._ended = self._stopped = True
        self._sink.end()

    def _start(self, index: int | None, block: dict[str, Any], is_whole: bool = False) -> None:
        if self._stopped:  # another message, whose start is missing
            self._begin(Message())
        kind = block.get("type")
        after_text, self._in_text = self._in_text, kind == "text"
        match kind:
            case "tool_use":
                name, id, input = block.get("name"), block.get("id"), block.get("input")
                self._blocks.start_call(
                    index,
                    name if isinstance(name, str) else "",
                    id if isinstance(id, str) else "",
                    write_argument_text(input) if input or is_whole else "",  # an empty one keeps the place
                )
            case "text":
                self._blocks.start(index)
                if after_text:
                    self._sink.item("content_block_start", {"type": kind}, index)
                citations = block.get("citations")
                for citation in citations if isinstance(citations, list) else ():
                    self._sink.item("citations_delta", citation, index)
                if text := read_str(block.get("text")):
                    self._sink.text(text)
            case "thinking":
                self._blocks.start(index)
                if thought := read_str(block.get("thinking")):
                    self._sink.reasoning(thought)
                if signature := read_str(block.get("signature")):
                    self._blocks.sign(index, signature)
            case _:
                self._blocks.start_item(index, read_str(kind), block)

    def _decode_message(self, frame: Frame) -> Event | None:
        try:
            return self.decode(frame.data)
        except (ValueError, RecursionError):
            pass
        is_done = self._report_error_frame(frame) or self._take_unknown(decode_untyped(frame.data))
        return None if is_done else super()._decode_message(frame)

    def _take_unknown(self, event: dict[str, Any]) -> bool:
        """Take an event of a kind that no Struct names; whether it was one."""
        kind, delta = event.get("type"), event.get("delta")
        if kind == "content_block_delta" and isinstance(delta, dict) and delta.get("type") not in DELTAS:
            index = event.get("index")
            self._extend(index if isinstance(index, int) else None, delta)
        elif isinstance(kind, str) and kind not in TYPES and kind not in ("message", "error"):
            self.ignored += 1
        else:
            return False
        return True

    def _extend(self, index: int | None, delta: dict[str, Any]) -> None:
        """A delta without a verb of its own belongs to a block that is an item, or is one itself."""
        kind = str(delta.pop("type", "delta"))
        if kind == "citations_delta":
            self._sink.item(kind, delta.get("citation"), index)
        elif not self._blocks.extend(index, delta):
            self._sink.item(kind, delta, index)
