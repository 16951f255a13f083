"""OpenAI Responses, and everything that speaks like it.

Server-sent events with a `type`, ended by `response.completed`, `.incomplete` or `.failed`; or one whole `response`.
Deltas are sent on; what is done only confirms them, and adds what no delta had:

    response.created
      output_item.added ─▶ output_text.delta … ─▶ output_text.done ─▶ output_item.done
      output_item.added ─▶ function_call_arguments.delta … ─▶ function_call_arguments.done ─▶ output_item.done
    response.completed

A close event may lie: llama.cpp calls an item with the arguments `{"city": "Paris` completed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any, ClassVar, Final, Literal, NamedTuple

import msgspec

from streamparse.limits import Limits
from streamparse.providers.openai_responses.output import Output
from streamparse.reading.decode import decode_untyped, find_objects, read_argument_text, read_str, write_argument_text
from streamparse.reading.message_wire import UNFINISHED, MessageWire, find_outcome, read_struct, report_unfinished
from streamparse.reading.wire import UnknownMessage
from streamparse.sink import Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# The shape of an event of OpenAI Responses, or of a whole `response`: only the fields that are read.


class _Facts(msgspec.Struct, gc=False):
    """What a response says about itself."""

    model: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None
    content_filters: Any = None  # Azure


class _Logprobs(msgspec.Struct, gc=False):
    type: str = ""
    logprobs: Any = None


class Response(_Facts, gc=False):
    id: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    incomplete_details: Any = None


class Event(msgspec.Struct, gc=False):
    """An event, an error as an event or as the body, or a whole response."""

    type: str | None = None
    sequence_number: int | None = None
    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: str | dict[str, Any] | None = None
    text: str | dict[str, Any] | None = None  # in a whole response: how the text is formatted
    refusal: str | None = None
    name: str | None = None  # of the call, with its arguments
    arguments: msgspec.Raw = msgspec.Raw()
    item: msgspec.Raw = msgspec.Raw()
    part: msgspec.Raw = msgspec.Raw()
    annotation: Any = None
    logprobs: list[Any] | None = None
    response: Response | None = None
    # an error
    error: Any = None
    code: Any = None
    message: Any = None
    # a whole response; last, for msgspec looks for the fields in this order
    id: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    incomplete_details: Any = None
    copilot_usage: Any = None
    model: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None
    content_filters: Any = None


# -- ----------------------------------------------------------------------------------------------------
# Sequence numbers: an event that comes twice counts once.


ENDS: Final = ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done")
"""The types of the events that end a response."""

_LONGEST_GAP: Final = 64  # bound: missing numbers that are remembered of one gap


class SequenceTracker(msgspec.Struct, eq=False):
    """Judges the numbers of events; `expected` is the one that comes next.

    Each response counts anew, so may each item.  Events that end a response may carry any number (LiteLLM writes 0),
    and a server is `is_trusted` only if it numbers every event (LiteLLM numbers a few) and has counted in turn.
    """

    sink: Sink
    expected: int | None = None
    is_trusted: bool = True
    has_gap: bool = False  # before the event that was judged last, one is missing
    is_late: bool = False  # the event that was judged last comes after later ones
    _id: str | None = None
    _missing: set[int] = set()
    _out_of_turn: int = 0  # of the numbers below `expected`, those that did not come in turn

    def take(self, number: int, kind: str | None, response: str | None) -> bool:
        """Judge a number that is not expected, of an event that may hold a response's id: whether the event counts."""
        self.has_gap = self.is_late = False
        starts = kind == "response.created" and response != self._id
        if starts:
            self._id = response
        if self.expected is None or starts:
            self.is_trusted = True
            self.restart(number)
        elif number > self.expected:
            self.has_gap = self._is_counting
            if self.has_gap:
                self.sink.error("frame", "missing_frame", f"event {self.expected} is missing before event {number}")
            self._missing.update(range(self.expected, min(number, self.expected + _LONGEST_GAP)))
            self._out_of_turn += number + 1 - self.expected
            self.expected = number + 1
        elif self._is_counting and kind not in ENDS:
            return self._admit(number)
        return True

    def is_step_back(self, number: int) -> bool:
        """Whether a number has come, or should have, and is not missing."""
        return self.expected is not None and number < self.expected and number not in self._missing

    def restart(self, number: int) -> None:
        """The server counts anew from a number."""
        self._missing.clear()
        self.expected = self._out_of_turn = number + 1

    @property
    def _is_counting(self) -> bool:
        return self.is_trusted and self.expected is not None and self.expected - self._out_of_turn > 1

    def _admit(self, number: int) -> bool:
        if number in self._missing:
            self._missing.discard(number)
            self.is_late = True
            self.sink.error("frame", "out_of_order", f"event {number} comes after later ones")
            return True
        self.sink.error("frame", "duplicate_frame", f"event {number} came before")
        return False


# -- ----------------------------------------------------------------------------------------------------

_ARGUMENTS: Final = "response.function_call_arguments.delta"
_ADDED: Final = "response.output_item.added"
_CREATED: Final = "response.created"


class _Part(NamedTuple):
    """A kind of part of an item: the type of its items, what it is, its number in them, and its verb."""

    item: Literal["message", "reasoning"]
    kind: Literal["text", "refusal", "thought", "summary"]
    number: Literal["content_index", "summary_index"]
    verb: Literal["text", "refusal", "reasoning"]


_TEXT: Final = _Part("message", "text", "content_index", "text")
_THOUGHT: Final = _Part("reasoning", "thought", "content_index", "reasoning")
_SUMMARY: Final = _Part("reasoning", "summary", "summary_index", "reasoning")
_PARTS: Final = {
    "response.output_text": _TEXT,
    "response.reasoning": _THOUGHT,
    "response.reasoning_summary": _SUMMARY,
    "response.audio.transcript": _TEXT,
    # the Realtime API
    "response.text": _TEXT,
    "response.audio_transcript": _TEXT,
    "response.output_audio_transcript": _TEXT,
    "response.refusal": _Part("message", "refusal", "content_index", "refusal"),
    "response.reasoning_text": _THOUGHT,
    "response.reasoning_summary_text": _SUMMARY,
}


class OpenAIResponses(MessageWire[Event]):
    """OpenAI Responses, and everything that speaks like it."""

    ignored: int

    shape: ClassVar[type[Any]] = Event
    parses_calls: ClassVar[bool] = True
    reopens: ClassVar[bool] = True

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(sink, tools, limits, choice)
        self._limits = limits
        self._sequence = SequenceTracker(sink)
        self._run: Callable[[str], None] = sink.text  # how the deltas of one part are sent
        self._run_copy: StringIO | None = None  # and a copy, where a whole text will be compared with them
        self._run_key: tuple[object, ...] | None = None  # its kind, item and part
        self._output = Output(sink, limits)
        self._ended = False

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        kind = message.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            return True
        return message.get("object") == "response" or (kind in ("error", "keepalive") and "sequence_number" in message)

    @property
    def over(self) -> bool:
        return self._ended or self._over

    def take(self, event: Event) -> bool:
        kind = event.type
        sequence = self._sequence
        number = event.sequence_number
        if number is None:
            sequence.is_trusted = False
        elif number == sequence.expected:
            sequence.expected = number + 1
        elif kind == _ADDED and sequence.is_step_back(number) and self._output.is_new(event.item, event.output_index):
            sequence.restart(number)
        elif not sequence.take(number, kind, event.response.id if event.response is not None else None):
            self.ignored += 1
            return False
        elif kind == _ARGUMENTS and (sequence.has_gap or sequence.is_late):
            self._doubt(event, sequence.is_late)
            if sequence.is_late:
                return False
        delta = event.delta
        key = kind, event.item_id, event.content_index, event.summary_index
        if key == self._run_key and delta.__class__ is str:
            if delta:
                if self._run_copy is not None:
                    self._run_copy.write(delta)
                self._run(delta)
        elif self._over and kind != _CREATED:
            self.ignored += 1
        elif kind is not None and kind.startswith("response."):
            self._take_event(kind, event)
        else:
            self._take_other(event)
        return bool(event.logprobs)

    def read_facts(self, data: bytes) -> None:
        """Send log-probabilities; those of a text that is done have come with its deltas."""
        facts = read_struct(data, _Logprobs)
        if facts is not None and facts.type.endswith(".delta"):
            self._sink.fact("logprobs", facts.logprobs)

    def close(self) -> None:
        super().close()
        self._output.close()

    # -- events ----------------------------------------------------------------------------------------

    def _take_event(self, kind: str, event: Event) -> None:
        output, index = self._output, event.output_index
        match kind:
            case "response.function_call_arguments.delta":
                self._take_arguments(event)
            case "response.function_call_arguments.done":
                arguments = read_argument_text(event.arguments)
                output.calls.take_arguments(event.item_id, index, event.name or "", arguments)
            case "response.output_item.added":
                output.take_added(event.item, index)
            case "response.output_item.done":
                output.take_done(event.item, index)
            case "response.content_part.done" | "response.reasoning_part.done" | "response.reasoning_summary_part.done":
                is_thought, number = "reasoning" in kind, event.content_index
                number = event.summary_index if number is None else number
                output.take_part(event.part, event.item_id, index, number, is_thought=is_thought)
            case "response.custom_tool_call_input.delta":
                output.take_text_of_call(event.item_id, index, write_argument_text(event.delta or ""))
            case "response.output_text.annotation.added":
                output.take_annotation(event.annotation)
            case "response.created":
                self._begin(event.response)
            case "response.error":  # ChatGPT Codex, Azure
                error = event.error or (event.response.error if event.response is not None else None)
                self._fail(error or {"code": event.code, "message": event.message})
            case _ if kind in ENDS:
                response = event.response or Response()
                self._sink.fact("copilot_usage", event.copilot_usage)
                self._finish(response, response.status or kind.removeprefix("response."))
            case _:
                name, _, step = kind.rpartition(".")
                if name in _PARTS:
                    self._take_part(_PARTS[name], step, event)

    def _take_part(self, part: _Part, step: str, event: Event) -> None:
        """A piece of a part, or all of it.  One that is empty so far was not sent."""
        if event.delta.__class__ is dict:
            event.delta = read_str(event.delta.get("text"))
        whole = (event.refusal if part.kind == "refusal" else event.text) if step == "done" else None
        if not (event.delta if step == "delta" else whole and isinstance(whole, str)):
            return
        item = self._output.items[part.item].find_or_add(event.item_id, event.output_index)
        number, send = getattr(event, part.number), getattr(self._sink, part.verb)
        key = None if number is None else (part.kind, number)
        if isinstance(whole, str):
            rest = item.find_rest(key, whole)
            self._output.send_rest(send, rest)
            self._sink.fact("logprobs", event.logprobs if rest == whole else None)
        else:
            self._start_run(event, send, item.get_part(key))

    def _start_run(self, event: Event, send: Callable[[str], None], copy: StringIO | None = None) -> None:
        """Send a delta, and copy it; those of the same part that follow are taken likewise, without looking further.

        Servers that give an item no id, or a new one each time, have no runs.
        """
        self._run = send
        self._run_copy = copy
        key = event.type, event.item_id, event.content_index, event.summary_index
        self._run_key = key if event.item_id else None
        if isinstance(event.delta, str) and event.delta:
            if copy is not None:
                copy.write(event.delta)
            send(event.delta)

    def _take_arguments(self, event: Event) -> None:
        call = self._output.calls.find_or_add(event.item_id, event.output_index)
        event.delta = write_argument_text(event.delta or "")  # relays send an object
        if call.call is None:
            call.early.add(event.delta)
        else:
            self._start_run(event, partial(self._sink.call_arguments, call.call))

    def _doubt(self, event: Event, late: bool) -> None:
        """A piece before this one is missing, or this is the one: what the arguments sum to is not what was written."""
        call = self._output.calls.find_or_add(event.item_id, event.output_index).call
        if call is not None and late:
            self._sink.call_error(call, "malformed_call", f"the arguments of {call.name!r} came out of order")
        elif call is not None and not call.pending:
            self._sink.call_repaired(call)

    def _take_error(self, data: bytes) -> None:
        number = decode_untyped(data).get("sequence_number")
        if isinstance(number, int) and number == self._sequence.expected:
            self._sequence.expected = number + 1
        super()._take_error(data)

    # -- the response ----------------------------------------------------------------------------------

    def _begin(self, response: Response | None) -> None:
        """A response begins; some bodies hold several."""
        self._sink.go_on()
        if response is not None:
            self._send_facts(response)
        self._ended = self._over = False
        self._output.close()
        self._output = Output(self._sink, self._limits)
        self._run_key = None

    def _send_facts(self, response: Response | Event) -> None:
        for name in ("id", "model", "service_tier", "system_fingerprint", "provider"):
            self._sink.fact(name, getattr(response, name))
        filters = find_objects(response.content_filters)
        for place, source in (("prompt", "prompt"), ("answer", "completion")):
            if found := [each for each in filters if each.get("source_type") == source]:
                self._sink.fact("content_filters", {place: found})

    def _take_whole(self, response: Event, status: str) -> None:
        """A whole response; one of OpenAI's background mode may be fetched before its end."""
        if status in UNFINISHED:
            self._take_contents(response)
            report_unfinished(self._sink, status)
        else:
            self._finish(response, status)

    def _take_contents(self, response: Response | Event) -> None:
        self._send_facts(response)
        self._output.take_list(response.output or [])
        self._send_usage(response.usage)
        self._fail(response.error)

    def _finish(self, response: Response | Event, status: str) -> None:
        self._take_contents(response)
        details = response.incomplete_details
        if details is not None and not self._ended:
            self._sink.item("incomplete_details", details)
        filtered = isinstance(details, dict) and details.get("reason") == "content_filter"
        self._sink.finish(status, "failed" if filtered else find_outcome(status))
        self._sink.end()
        self._ended = True

    def _take_other(self, event: Event) -> None:
        """A whole response, an error, or an event of another protocol, such as `keepalive`."""
        if event.type is None and (event.output is not None or event.status in UNFINISHED):
            self._take_whole(event, event.status or "completed")
        elif event.sequence_number is None:  # which counts once
            raise UnknownMessage
        elif event.type == "error":
            self._fail(event.error or {"code": event.code, "type": event.type, "message": event.message})
