"""How much of one OpenAI response has been sent on, so that nothing is sent twice and nothing is lost.

A part of an answer comes up to five times: as deltas, as text that is done, as a part that is done, as an item that is
done, and in the output of the terminal event.  The first time is sent, the others confirm.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.limits import Limits, most
from streamparse.providers.openai_responses.items import CallItem, Calls, Items, PartsItem
from streamparse.reading.decode import read_argument_text, read_value
from streamparse.reading.message_wire import decode_part
from streamparse.reading.pieces import Budget, PendingText
from streamparse.sink import Sink


class _WholePart(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    transcript: str | None = None  # of the Realtime API's audio


class _Part(_WholePart, gc=False):
    annotations: list[Any] | None = None


class _Item(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    status: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    summary: msgspec.Raw = msgspec.Raw()
    encrypted_content: str | None = None
    phase: str | None = None


_decode_item = msgspec.json.Decoder(_Item, strict=False).decode
_decode_whole_part = msgspec.json.Decoder(_WholePart | None, strict=False).decode
_decode_parts = msgspec.json.Decoder(list[_Part] | str | None, strict=False).decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_THOUGHTS: Final = ("reasoning_text", "summary_text")
"""The types of the parts of a thought."""
_OPEN: Final = ("incomplete", "in_progress")
"""The status of an item that is not whole."""
_TEXT_CALL: Final = "custom_tool_call"
"""The call of a tool that takes text: an item, sent whole when it is done.  Of one that was cut only deltas show."""


class Output:
    """Sends the items of a response; every method may be given the same thing again."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self.calls = Calls(sink, limits)
        budget = Budget(most(limits.max_call_args))
        self._text_calls = Items(lambda: CallItem(PendingText(budget)))
        self.items = {"message": Items(PartsItem), "reasoning": Items(PartsItem)}
        self._passed_on: set[str | tuple[str, int | None]] = set()  # those passed on as they are
        self._added: set[str | int | None] = set()  # ids and indexes
        self._annotations: set[bytes | None] = set()
        self._after_message = False  # the last item that began is one
        self._waiting: list[tuple[str, _WholePart]] = []  # parts that came whole

    def take_added(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item begins."""
        item = self._read(raw)
        self._added |= {item.id, index}
        if item.type not in ("", "message"):
            self._after_message = False
        if item.type == "function_call":
            ids = item.call_id, item.id
            self.calls.take_added(item.name or "", ids, index, read_argument_text(item.arguments))
        elif item.type == _TEXT_CALL:
            call = self._text_calls.find_by_id(item.id) or self._text_calls.add(item.id, index)
            call.name = call.name or item.name or ""
        elif item.type in self.items:
            items = self.items[item.type]
            known = items.find_by_id(item.id) or items.add(item.id, index)
            items.alias(known, item.id, index)
            if item.type == "message":
                self._begin(known, item)

    def is_new(self, raw: msgspec.Raw, index: int | None) -> bool:
        """Whether an item that begins is really new: neither its id nor its index has come."""
        return index is not None and not self._added & ({self._read(raw).id, index} - {None})

    def take_part(self, raw: msgspec.Raw, id: str | None, index: int | None, *, is_thought: bool) -> None:
        """A part is reported whole: it waits if nothing of its item was sent, for most come again in the item."""
        part = decode_part(_decode_whole_part, raw, self._sink, "a part of an item") if bytes(raw) else None
        if part is not None:
            is_thought = is_thought or part.type in _THOUGHTS or self.items["reasoning"].find_by_id(id) is not None
            kind = "reasoning" if is_thought else "message"
            item = self.items[kind].find(id, index)
            if item is None or not item.parts:
                self._waiting.append((kind, part))

    def take_done(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item is reported whole: send what no delta had of it."""
        item = self._read(raw)
        known = self.items[item.type].find_or_add(item.id, index) if item.type in self.items else None
        self._take_item(item, raw, index, known, item.id or "")

    def take_list(self, output: list[msgspec.Raw]) -> None:
        """The whole output is listed: send those items of which nothing came, even under another id."""
        was_sent = {kind: self._was_sent(kind) for kind in self.items}
        for index, raw in enumerate(output):
            item = self._read(raw)
            known = self.items["message"].find(item.id, index) if item.type == "message" else None
            if known is None and was_sent.get(item.type) is False:
                known = self.items[item.type].add(item.id, index)
            self._take_item(item, raw, index, known, (item.type, index))
            self._after_message = self._after_message and item.type in ("", "message")
        self._send_waiting()
        self.calls.settle()

    def take_text_of_call(self, id: str | None, index: int | None, piece: str) -> None:
        """A piece of the text of a call came."""
        call = self._text_calls.find_or_add(id, index)
        if not call.is_done:
            call.early.add(piece)

    def take_annotation(self, annotation: Any) -> None:
        """A citation, or another note about the text."""
        if annotation is None:
            return
        try:
            key = _encode_sorted(annotation)
        except RecursionError:  # too deep to be compared
            key = None
        if key is None or key not in self._annotations:
            self._annotations.add(key)
            self._sink.item("annotation", annotation)

    def close(self) -> None:
        """No more events come: a call of a tool that takes text was cut if it is not done."""
        self._send_waiting()
        self.calls.close()
        for call in self._text_calls.all:
            if not call.is_done:
                message = f"the stream ended inside the call of {call.name!r}: {call.early}"
                self._sink.error("frame", "truncated_call", message)

    # -- inside ----------------------------------------------------------------------------------------

    def _was_sent(self, kind: str) -> bool:
        return any(item.parts for item in self.items[kind].all)

    def _send_waiting(self) -> None:
        """Send the parts of each kind of which nothing else came."""
        waiting, self._waiting = self._waiting, []
        was_sent = {kind: self._was_sent(kind) for kind in self.items}
        for kind, part in waiting:
            if not was_sent[kind]:
                if text := part.text or part.transcript:
                    self.items[kind].find_or_add(None, None).get_part(None).write(text)
                    (self._sink.text if kind == "message" else self._sink.reasoning)(text)
                if part.refusal:
                    self._sink.refusal(part.refusal)

    def _read(self, raw: msgspec.Raw) -> _Item:
        return decode_part(_decode_item, raw, self._sink, "an item") or _Item()

    def _read_parts(self, raw: msgspec.Raw) -> list[_Part]:
        parts = decode_part(_decode_parts, raw, self._sink, "the content of an item") if bytes(raw) else None
        if isinstance(parts, str):
            return [_Part(text=parts)]
        for part in parts or ():
            part.text = part.text or part.transcript
        return parts or []

    def _take_item(
        self, item: _Item, raw: msgspec.Raw, index: int | None, known: PartsItem | None, key: str | tuple[str, int]
    ) -> None:
        """Send what is new of a whole item; `known` is what was sent of a message or a thought, if that counts."""
        if item.type == "message":
            if known is not None:
                self._take_message(known, item)
        elif item.type == "function_call":
            arguments, is_whole = read_argument_text(item.arguments), item.status not in _OPEN
            self.calls.take_done(item.name or "", (item.call_id, item.id), index, arguments, is_whole)
        elif item.type == "reasoning":
            if known is not None:
                self._take_thought(known, item)
            if item.encrypted_content or item.id:
                self._pass_on(item, raw, index, key)
        elif item.type:
            self._pass_on(item, raw, index, key)

    def _begin(self, message: PartsItem, item: _Item) -> None:
        """A message begins: send its phase, if the server reports one, and that it is not the message before it."""
        if message.has_begun or message.parts:
            return
        message.has_begun = True
        if item.phase or self._after_message:
            self._sink.item("phase", item.phase)
        self._after_message = True

    def _take_message(self, message: PartsItem, item: _Item) -> None:
        self._begin(message, item)
        parts = self._read_parts(item.content)
        listed = [(number, f"{part.text or ''}{part.refusal or ''}") for number, part in enumerate(parts)]
        new = set(message.find_missing([(number, text) for number, text in listed if text]))
        for number, part in enumerate(parts):
            if number in new and part.text:
                self._sink.text(part.text)
            if number in new and part.refusal:
                self._sink.refusal(part.refusal)
            for annotation in part.annotations or ():
                self.take_annotation(annotation)

    def _take_thought(self, thought: PartsItem, item: _Item) -> None:
        """Send a thought of which nothing was sent: its summary, else its text."""
        parts = self._read_parts(item.summary) or self._read_parts(item.content)
        text = "".join(part.text or "" for part in parts)
        if text and not thought.parts:
            thought.get_part(None).write(text)
            self._sink.reasoning(text)

    def _pass_on(self, item: _Item, raw: msgspec.Raw, index: int | None, key: str | tuple[str, int]) -> None:
        """Send an item as it came, once: known by its id or by the given key."""
        if item.type == _TEXT_CALL and (call := self._text_calls.find(item.id, index)) is not None:
            call.is_done = True
            call.early.take()
        is_known = item.id in self._passed_on or key in self._passed_on
        if item.id:
            self._passed_on.add(item.id)
        if index is not None:
            self._passed_on.add((item.type, index))
        if not is_known:
            self._sink.item(item.type, read_value(raw))
