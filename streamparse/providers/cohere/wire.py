"""Cohere's chat, version 2.

Server-sent events with a `type`, whose names some relays drop:

    message-start · content-start, content-delta …, content-end · tool-plan-delta …
    · tool-call-start, tool-call-delta …, tool-call-end · citation-start, citation-end · message-end

or one whole message.  The plan before the calls is neither the answer nor a thought: Cohere wants it back with
the calls, so it is sent as an item, once it is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any, ClassVar, Final

import msgspec

from streamparse.limits import Limits
from streamparse.providers.openai_chat.chunks import Fragment, Function
from streamparse.reading.message_wire import MessageWire, find_listed_outcome
from streamparse.reading.plain_strings import PlainString
from streamparse.reading.wire import UnknownMessage
from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

_TYPES: Final = (
    "message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start",
    "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end",
)  # fmt: skip


class _Content(msgspec.Struct, gc=False):
    text: str | None = None
    thinking: str | None = None


class _Message(msgspec.Struct, gc=False):
    content: _Content | list[_Content] | None = None
    tool_plan: str | None = None
    tool_calls: Fragment | list[Fragment] | None = None
    citations: Any = None
    role: Any = None  # where a message starts


class _End(msgspec.Struct, gc=False):
    """How a turn ended."""

    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class _Delta(_End, gc=False):
    message: _Message | None = None


class _Event(_End, gc=False):
    """An event, a whole message, or the body of an error."""

    type: str | None = None
    index: int | None = None
    delta: _Delta | None = None
    message: _Message | str | None = None
    logprobs: Any = None


class _Facts(msgspec.Struct, gc=False):
    id: str | None = None
    logprobs: Any = None


class Cohere(MessageWire[_Event]):
    """Cohere's chat, version 2."""

    ignored: int

    shape: ClassVar[type[Any]] = _Event
    facts: ClassVar[type[Any] | None] = _Facts
    argument_texts: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("message", "tool_calls", "function", "arguments"),
        ("delta", "message", "tool_calls", "function", "arguments"),
    )
    parses_calls: ClassVar[bool] = True

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(sink, tools, limits, choice)
        self._plan = StringIO()
        self._calls: dict[int | None, Call] = {}
        self._ended: list[Call] = []  # calls without arguments, until the model moves on

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        whole = message.get("message")
        is_whole = isinstance(whole, dict) and "finish_reason" in message and "choices" not in message
        return message.get("type") in _TYPES or is_whole

    def take(self, event: _Event) -> bool:
        if self._over:
            self.ignored += 1
            return False
        delta = event.delta
        if delta is not None:
            message = delta.message
            if message is not None:
                content = message.content
                fragment = message.tool_calls
                if message.tool_plan is not None or message.citations is not None:
                    self._take_message(event.index, message)
                elif fragment is None and content.__class__ is _Content and content.text and not content.thinking:
                    if self._plan.tell():
                        self._send_plan()
                    self._text(content.text)
                elif fragment.__class__ is not Fragment or content is not None:
                    self._take_message(event.index, message)
                elif event.index in self._calls and fragment.id is None:
                    self._continue(self._calls[event.index], fragment.function)
                else:
                    self._take_call(event.index or 0, fragment)
            if delta.finish_reason or delta.usage is not None or delta.error:
                self._finish(delta)
        elif event.type == "tool-call-end":
            self._end_call(event.index)
        else:
            self._take_whole(event)
        return self._looks > 0 or event.logprobs is not None

    def _find_verb_of_text(self, _event: _Event) -> Callable[[str], None]:
        return self._text

    def _find_verb_of_thought(self, _event: _Event) -> Callable[[str], None]:
        return self._sink.reasoning

    def _find_verb_of_arguments(self, event: _Event) -> Callable[[str], None] | None:
        call = self._calls.get(event.index)
        return None if call is None else partial(self._sink.call_arguments, call)

    plain_strings: ClassVar[tuple[PlainString, ...]] = (
        PlainString(("delta", "message", "content", "text"), _find_verb_of_text, ("type", "index")),
        PlainString(("delta", "message", "content", "thinking"), _find_verb_of_thought, ("type", "index")),
        PlainString(
            ("delta", "message", "tool_calls", "function", "arguments"), _find_verb_of_arguments, ("type", "index")
        ),
    )

    def close(self) -> None:
        super().close()
        self._send_plan()

    # -- inside ----------------------------------------------------------------------------------------

    def _take_message(self, index: int | None, message: _Message) -> None:
        """Send a piece of a message, or all of one."""
        if message.role is not None:
            self._sink.go_on()
        if message.tool_plan:
            self._plan.write(message.tool_plan)
        for content in _as_list(message.content):
            if content.thinking:
                self._sink.reasoning(content.thinking)
            if content.text:
                self._send_plan()
                self._text(content.text)
        for number, call in enumerate(_as_list(message.tool_calls), index or 0):
            self._take_call(number, call)
        for citation in _as_list(message.citations):
            self._sink.item("citation", citation)

    def _take_call(self, index: int, fragment: Fragment) -> None:
        function = fragment.function or Function()
        call: Call | None
        if function.name:
            if self._plan.tell():
                self._send_plan()
            for ended in self._ended:  # the model moved on from them
                self._sink.call_end(ended)
            self._ended.clear()
            call = self._calls[index] = self._sink.call_start(function.name, fragment.id or None)
        else:
            call = self._calls.get(index)
        if call is not None:
            self._continue(call, function)
        elif function.arguments:
            self._sink.error("frame", "orphan_arguments", f"arguments of no call: {function.arguments}")

    def _continue(self, call: Call, function: Function | None) -> None:
        if function is not None and function.arguments:
            self._sink.call_arguments(call, function.arguments)

    def _end_call(self, index: int | None) -> None:
        """A call is reported to be over: without arguments it may have been cut, unless the model moved on from it."""
        call = self._calls.get(index or 0)
        if call is not None and call.pending:
            self._ended.append(call)
        elif call is not None:
            self._sink.call_end(call)

    def _send_plan(self) -> None:
        if plan := self._plan.getvalue():
            self._plan = StringIO()
            self._sink.item("tool_plan", plan)

    def _take_whole(self, event: _Event) -> None:
        """A message in one piece, or an event that says nothing."""
        if isinstance(event.message, _Message):
            self._take_message(0, event.message)
            for call in self._calls.values():
                self._sink.call_end(call)
        elif event.type not in _TYPES:
            raise UnknownMessage
        if event.finish_reason is not None or event.usage is not None:
            self._finish(event)

    def _finish(self, end: _End) -> None:
        self._send_plan()
        self._send_usage(end.usage)
        self._fail(end.error)
        if end.finish_reason is not None:
            self._sink.finish(end.finish_reason, find_listed_outcome(end.finish_reason))


def _as_list(value: Any) -> list[Any]:
    """One, several or none, as a list."""
    return value if isinstance(value, list) else [] if value is None else [value]
