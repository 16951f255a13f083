"""How much of one OpenAI response has been sent on, so that nothing is sent twice and nothing is lost.

A part of an answer comes up to five times: as deltas, as text that is done, as a part that is done, as an item that is
done, and in the output of the terminal event.  The first time is sent, the others confirm.
"""

from __future__ import annotations

from collections.abc import Callable
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
    logprobs: Any = None


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


def _list_texts(part: _WholePart, *, is_thought: bool = False) -> list[tuple[str, str]]:
    """Return the texts that a part has, each with what it is."""
    kind = ("summary" if part.type == "summary_text" else "thought") if is_thought else "text"
    texts = ((kind, part.text or part.transcript), ("refusal", part.refusal))
    return [(kind, text) for kind, text in texts if text]


class Output:
    """Sends the items of a response; every method may be given the same thing again."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self.calls: Calls = Calls(sink, limits)
        budget = Budget(most(limits.max_call_args))
        self._text_calls = Items(lambda: CallItem(PendingText(budget)))
        self.items: dict[str, Items[PartsItem]] = {"message": Items(PartsItem), "reasoning": Items(PartsItem)}
        self._verbs = {"text": sink.text, "refusal": sink.refusal, "thought": sink.reasoning, "summary": sink.reasoning}
        self._passed_on: set[str | tuple[str, int | None]] = set()  # those passed on as they are
        self._added: set[str | int | None] = set()  # ids and indexes
        self._annotations: set[object] = set()
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
            known.has_begun = known.has_begun or not known.parts

    def is_new(self, raw: msgspec.Raw, index: int | None) -> bool:
        """Whether an item that begins is really new: neither its id nor its index has come."""
        return index is not None and not self._added & ({self._read(raw).id, index} - {None})

    def take_part(
        self, raw: msgspec.Raw, id: str | None, index: int | None, number: int | None, *, is_thought: bool
    ) -> None:
        """A part is reported whole: it waits if nothing of its item was sent, for most come again in the item."""
        part = decode_part(_decode_whole_part, raw, self._sink, "a part of an item") if bytes(raw) else None
        if part is None:
            return
        is_thought = is_thought or part.type in _THOUGHTS or self.items["reasoning"].find_by_id(id) is not None
        item_type = "reasoning" if is_thought else "message"
        item = self.items[item_type].find(id, index)
        if item is None or not item.parts:
            self._waiting.append((item_type, part))
            return
        for kind, text in _list_texts(part, is_thought=is_thought):
            key = None if number is None else (kind, number)
            if key is None or item.has_part(key):  # else it comes again in the item
                self.send_rest(self._verbs[kind], item.find_rest(key, text))

    def send_rest(self, send: Callable[[str], None], rest: str | None) -> None:
        """Send what no delta had of a part that is reported whole; None says that the deltas had something else."""
        if rest is None:
            message = "a part that is reported whole has another text than the one that came in pieces"
            self._sink.error("frame", "contradicting_frame", message)
        elif rest:
            send(rest)

    def take_done(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item is reported whole: send what no delta had of it."""
        item = self._read(raw)
        known = self.items[item.type].find_or_add(item.id, index) if item.type in self.items else None
        self._take_item(item, raw, index, known, item.id or "")

    def take_list(self, output: list[msgspec.Raw]) -> None:
        """The whole output is listed: send what no delta had of its items, even under another id."""
        items = [self._read(raw) for raw in output]
        known = self._find_listed(items)
        for index, (raw, item) in enumerate(zip(output, items, strict=True)):
            self._take_item(item, raw, index, known.get(index), (item.type, index))
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
            key: object = _encode_sorted(annotation)
        except RecursionError:  # too deep to be compared: it is like no other
            key = object()
        if key not in self._annotations:
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

    def _find_listed(self, listed: list[_Item]) -> dict[int, PartsItem]:
        """Find what was sent of the messages and thoughts of the whole output: by ids, by places, else in order.

        What is listed beyond what was sent is new.  Where neither ids nor places nor numbers agree it is not compared.
        """
        found: dict[int, PartsItem] = {}
        for kind, items in self.items.items():
            places = {index: item for index, item in enumerate(listed) if item.type == kind}
            by_id = {index: items.find_by_id(item.id) for index, item in places.items()}
            by_place = {index: by_id[index] or items.find(item.id, index) for index, item in places.items()}
            known = {index: item for index, item in by_place.items() if item is not None}
            left = [index for index in places if index not in known]
            claimed = set(map(id, known.values()))
            others = [item for item in items.all if item.parts and id(item) not in claimed]
            if not others:
                others = [items.add(places[index].id, index) for index in left]
            found |= known
            if len(left) == len(others):
                found |= zip(left, others, strict=True)
        return found

    def _was_sent(self, kind: str) -> bool:
        return any(item.parts for item in self.items[kind].all)

    def _send_waiting(self) -> None:
        """Send the parts of each kind of which nothing else came."""
        waiting, self._waiting = self._waiting, []
        was_sent = {kind: self._was_sent(kind) for kind in self.items}
        for kind, part in waiting:
            for text_kind, text in () if was_sent[kind] else _list_texts(part, is_thought=kind == "reasoning"):
                self.items[kind].find_or_add(None, None).get_part(None).write(text)
                self._verbs[text_kind](text)

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
        texts = [_list_texts(part) for part in parts]
        rests = iter(message.find_rests([((kind, at), text) for at, each in enumerate(texts) for kind, text in each]))
        for part, each in zip(parts, texts, strict=True):
            for kind, text in each:
                rest = next(rests)
                self.send_rest(self._verbs[kind], rest)
                self._sink.fact("logprobs", part.logprobs if rest == text else None)
            for annotation in part.annotations or ():
                self.take_annotation(annotation)

    def _take_thought(self, thought: PartsItem, item: _Item) -> None:
        """Send what no delta had of a thought: of what came in pieces, else of its summary, else of its text."""
        lists: list[list[tuple[tuple[str, int], str]]] = []
        for kind, raw in (("summary", item.summary), ("thought", item.content)):
            parts = enumerate(self._read_parts(raw))
            lists.append([((kind, number), part.text) for number, part in parts if part.text])
        known = [each for each in lists if any(thought.has_part(key) for key, _ in each)]
        for listed in known if thought.parts else [each for each in lists if each][:1]:
            for rest in thought.find_rests(listed):
                self.send_rest(self._sink.reasoning, rest)

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
