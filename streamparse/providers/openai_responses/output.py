"""What has been told of one OpenAI response, so that nothing is told twice and nothing is lost.

A part of an answer comes up to five times: as deltas, as text that is done, as a part that is done, as an item that is
done, and in the output of the terminal event.  The first time tells, the others confirm.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.limits import Limits
from streamparse.providers.openai_responses.items import Calls, Items, PartsItem, TextCalls
from streamparse.reading.decode import read_argument_text, read_value
from streamparse.sink import Sink


class _Part(msgspec.Struct, gc=False):
    text: str | None = None
    refusal: str | None = None
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
_decode_parts = msgspec.json.Decoder(list[_Part] | str | None, strict=False).decode
_TEXT_CALL: Final = "custom_tool_call"
_canonical = msgspec.json.Encoder(order="sorted").encode


class Output:
    """Tells the items of a response; every method may be given the same thing again."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self.calls = Calls(sink, limits)
        self.text_calls = TextCalls(sink, limits)
        self.messages = Items(PartsItem)
        self.thoughts = Items(PartsItem)
        self._items: set[str | tuple[str, int | None]] = set()  # those passed on as they are
        self._heard: set[str | int | None] = set()  # ids and indexes of the items that were added
        self._annotations: set[bytes] = set()
        self._after_message = False  # the last item that began is one

    def added(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item begins."""
        item = self._read(raw)
        self._heard |= {item.id, index}
        if item.type not in ("", "message"):
            self._after_message = False
        if item.type == "function_call":
            self.calls.added(item.name or "", (item.call_id, item.id), index, read_argument_text(item.arguments))
        elif item.type == _TEXT_CALL:
            self.text_calls.added(item.name or "", item.id, index)
        elif item.type in ("message", "reasoning"):
            items = self.messages if item.type == "message" else self.thoughts
            known = items.find_by_ids(item.id)
            if known is None:
                known = items.add(item.id, index)
            else:
                items.alias(known, item.id, index)
            if item.type == "message":
                self._begin(known, item)

    def is_new(self, raw: msgspec.Raw, index: int | None) -> bool:
        """Whether an item that is said to begin never did: neither its id nor its index has come."""
        return index is not None and not self._heard & ({self._read(raw).id, index} - {None})

    def done(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item is said to be whole: tell what no delta told of it."""
        item = self._read(raw)
        if item.type == "message":
            self._message(self.messages.of(item.id, index), item)
        elif item.type == "reasoning":
            self._thought(self.thoughts.of(item.id, index), item)
            self._pass_thought_on(item, raw, index, item.id or "")
        elif item.type == "function_call":
            self._call(item, index)
        elif item.type:
            self._pass_on(item, raw, index, item.id or "")

    def whole(self, output: list[msgspec.Raw]) -> None:
        """The whole output is listed: tell those items of which nothing was heard, even under another id."""
        heard = any(message.told for message in self.messages.all)
        thought = any(thought.told for thought in self.thoughts.all)
        for index, raw in enumerate(output):
            item = self._read(raw)
            if item.type == "message":
                if (message := self.messages.find(item.id, index)) is not None or not heard:
                    self._message(message or PartsItem(), item)
            elif item.type == "reasoning":
                if not thought:
                    self._thought(PartsItem(), item)
                self._pass_thought_on(item, raw, index, (item.type, index))
            elif item.type == "function_call":
                self._call(item, index)
            elif item.type:
                self._pass_on(item, raw, index, (item.type, index))
            self._after_message = self._after_message and item.type in ("", "message")
        self.calls.settle()

    def close(self) -> None:
        """No more events come."""
        self.calls.close()
        self.text_calls.close()

    def annotation(self, annotation: Any) -> None:
        """A citation, or what else is noted about the text."""
        key = _canonical(annotation)
        if annotation is not None and key not in self._annotations:
            self._annotations.add(key)
            self._sink.item("annotation", annotation)

    # -- inside ----------------------------------------------------------------------------------------

    def _read(self, raw: msgspec.Raw) -> _Item:
        try:
            return _decode_item(raw)
        except (ValueError, RecursionError) as error:
            self._sink.error("frame", "unexpected_shape", f"an item cannot be read: {error}")
            return _Item()

    def _parts(self, raw: msgspec.Raw) -> list[_Part]:
        if not bytes(raw):
            return []
        try:
            parts = _decode_parts(raw)
        except (ValueError, RecursionError) as error:
            self._sink.error("frame", "unexpected_shape", f"the content of an item cannot be read: {error}")
            return []
        return [_Part(text=parts)] if isinstance(parts, str) else parts or []

    def _begin(self, message: PartsItem, item: _Item) -> None:
        """A message begins: tell what it is, if the server says so, and that it is not the one before it."""
        if message.begun or message.told:
            return
        message.begun = True
        if item.phase or self._after_message:
            self._sink.item("phase", item.phase)
        self._after_message = True

    def _message(self, message: PartsItem, item: _Item) -> None:
        self._begin(message, item)
        parts = self._parts(item.content)
        said = [(number, f"{part.text or ''}{part.refusal or ''}") for number, part in enumerate(parts)]
        new = set(message.missing([(number, text) for number, text in said if text]))
        for number, part in enumerate(parts):
            if number in new:
                if part.text:
                    self._sink.text(part.text)
                if part.refusal:
                    self._sink.refusal(part.refusal)
            for annotation in part.annotations or ():
                self.annotation(annotation)

    def _thought(self, thought: PartsItem, item: _Item) -> None:
        """Tell a thought of which nothing was told: its summary, else its text."""
        parts = self._parts(item.summary) or self._parts(item.content)
        text = "".join(part.text or "" for part in parts)
        if text and not thought.told:
            thought.part(None).write(text)
            self._sink.reasoning(text)

    def _call(self, item: _Item, index: int | None) -> None:
        arguments = read_argument_text(item.arguments)
        whole = item.status != "incomplete"
        self.calls.done(item.name or "", (item.call_id, item.id), index, arguments, whole)

    def _pass_thought_on(self, item: _Item, raw: msgspec.Raw, index: int | None, key: str | tuple[str, int]) -> None:
        if item.encrypted_content or item.id:
            self._pass_on(item, raw, index, key)

    def _pass_on(self, item: _Item, raw: msgspec.Raw, index: int | None, key: str | tuple[str, int]) -> None:
        """Tell an item as it came, once: known by its id or by the given key."""
        if item.type == _TEXT_CALL:
            self.text_calls.done(item.id, index)
        known = (item.id or "") in self._items or key in self._items
        if item.id:
            self._items.add(item.id)
        if index is not None:
            self._items.add((item.type, index))
        if not known:
            self._sink.item(item.type, read_value(raw))
