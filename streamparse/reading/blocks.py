"""Content blocks by their index: what the wires of Anthropic and of Bedrock's Converse share.

Text and thoughts do not come here.  A block is kept only if something of it has to wait for its end:

| block | is sent |
|---|---|
| a call | at its start; its argument text as it comes |
| any other block (calls and results of the server's own tools, redacted thoughts) | once, whole, when it stops |
| the signature of a thought | once, whole, when the block stops |

The place of a stop proves nothing: llama.cpp sends the stops of all blocks together at the end, also that of a call
which ran into the token limit.  So a call that got no argument text is over only when another block starts or the turn
ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from streamparse.limits import Limits, most
from streamparse.reading.pieces import Budget, PendingItem
from streamparse.sink import Call, Sink

_INPUT = "input"
"""The field that holds the arguments of a call."""
_SIGNATURE = "signature"
_NOTHING = ("", "{}", "null")


class _CallBlock(msgspec.Struct, eq=False):
    """A call, from its start on."""

    call: Call
    id: str
    initial: str = ""  # the arguments of the start: they count if no others follow
    send: Callable[[str], None] | None = None  # takes arguments, from the first on that counts


class _OtherBlock(PendingItem, eq=False):
    """An item (which has a kind), a thought, or a block of which only pieces have come yet."""

    kind: str | None = None

    @property
    def has_not_started(self) -> bool:
        """Whether arguments came, but not what they are for."""
        return self.kind is None and self.read_text(_INPUT) is not None


class Blocks:
    """Follows the blocks of one message after the other."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._limit = most(limits.max_call_args)
        self._blocks: dict[int | None, _CallBlock | _OtherBlock] = {}
        self._waiting: list[_CallBlock] = []  # calls that the next start, or the end of the turn, will end

    def start(self, index: int | None) -> None:
        """A block of text or of thought starts."""
        early = self._enter(index)
        if early is not None:
            self._report_orphan(index, early)

    def start_call(self, index: int | None, name: str, id: str, initial: str) -> None:
        """A call starts; `initial` are the arguments that came with it, if any did."""
        known = self._blocks.get(index)
        if known is not None and isinstance(known, _CallBlock) and id and known.id == id:
            return  # the same start again
        if not name:
            self._sink.error("frame", "call_without_name", f"a call ({id or 'no id'}) without a name")
            self.start_item(index, "tool_use", {"id": id, "input": initial})
            return
        early = self._enter(index) if known is not None or self._waiting else None
        call = self._sink.call_start(name, id or None)
        block = self._blocks[index] = _CallBlock(call, id)
        if early is not None:
            self._send_early(call, early)
        elif initial:
            block.initial = initial
            self._waiting.append(block)

    def start_item(self, index: int | None, kind: str, fields: dict[str, Any]) -> None:
        """A block starts that has no verb of its own."""
        early = self._enter(index)
        block = self._blocks[index] = early or self._add(index)
        block.kind, block.fields = kind, fields

    def add_arguments(self, index: int | None, fragment: str) -> None:
        """A piece of a block's input came."""
        block = self._blocks.get(index)
        if not isinstance(block, _CallBlock):
            self._add_text(index, _INPUT, fragment)
        elif block.send is not None:
            block.send(fragment)
        elif fragment.strip() not in _NOTHING or not block.initial:
            block.initial = ""
            block.send = self._sink.call_teller(block.call)
            block.send(fragment)

    def sign(self, index: int | None, signature: str) -> None:
        """A piece of a thought's signature came."""
        self._add_text(index, _SIGNATURE, signature)

    def extend(self, index: int | None, fields: dict[str, Any]) -> bool:
        """Add a delta to a block that is an item; False if the block is not an item."""
        block = self._blocks.get(index)
        if not isinstance(block, _OtherBlock) or block.kind is None:
            return False
        if not block.add(fields):
            self._report_limit(index)
        return True

    def stop(self, index: int | None) -> None:
        """The server reports that a block is over."""
        block = self._blocks.get(index)
        if isinstance(block, _CallBlock):
            self._end_call(block, can_wait=True)
        elif block is not None and not block.has_not_started:
            del self._blocks[index]
            self._end_other(index, block)

    def finish(self, cut: bool) -> None:
        """The turn is over; if a limit cut it, a call without arguments stays open."""
        if not cut and self._waiting:
            self._end_waiting()
        others = []
        for index, block in self._blocks.items():
            if not isinstance(block, _CallBlock):
                others.append(index)
                if block.has_not_started:
                    self._report_orphan(index, block)
                else:
                    self._end_other(index, block)
            elif block.initial:
                self._end_call(block, can_wait=True)
            elif not cut:
                self._sink.call_end(block.call)
        for index in others:
            del self._blocks[index]

    def restart(self) -> None:
        """Another message begins: its indexes are new."""
        self.finish(cut=True)
        self._blocks.clear()
        self._waiting.clear()

    # -- inside ----------------------------------------------------------------------------------------

    def _add(self, index: int | None) -> _OtherBlock:
        block = self._blocks[index] = _OtherBlock(Budget(self._limit))
        return block

    def _add_text(self, index: int | None, key: str, piece: str) -> None:
        block = self._blocks.get(index) or self._add(index)
        if isinstance(block, _CallBlock):
            return  # a call has nothing but its arguments
        if not block.add_text(key, piece):
            self._report_limit(index)

    def _send_early(self, call: Call, block: _OtherBlock) -> None:
        """Send the arguments that came before their call."""
        if block.is_lost:
            self._sink.call_error(call, "limit_args", f"too many arguments came before the name {call.name!r}")
        else:
            self._sink.call_arguments(call, block.read_text(_INPUT) or "")

    def _enter(self, index: int | None) -> _OtherBlock | None:
        """The model moved on to this block; return it if pieces of it came before its start."""
        old, early = self._blocks.pop(index, None), None
        if isinstance(old, _CallBlock):
            self._end_call(old, can_wait=True)  # the index is used again
        elif old is not None and old.has_not_started:
            early = old
        elif old is not None:
            self._end_other(index, old)
        if self._waiting:
            self._end_waiting()
        return early

    def _end_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for block in waiting:
            self._end_call(block, can_wait=False)

    def _end_other(self, index: int | None, block: _OtherBlock) -> None:
        if block.is_lost:
            return
        if block.kind is not None:
            self._sink.item(block.kind, _build_item(block), index)
        else:
            self._sink.item(_SIGNATURE, block.read_text(_SIGNATURE), index)

    def _end_call(self, block: _CallBlock, can_wait: bool) -> None:
        """End a call; the arguments of its start count if no others came, and without any it may have to wait."""
        initial, block.initial = block.initial, ""
        if initial:
            self._sink.call_arguments(block.call, initial)
        elif can_wait and block.call.pending:
            self._waiting.append(block)
        else:
            self._sink.call_end(block.call)

    def _report_limit(self, index: int | None) -> None:
        self._sink.error("frame", "limit_args", f"block {index} exceeds {self._limit} characters")

    def _report_orphan(self, index: int | None, block: _OtherBlock) -> None:
        if not block.is_lost:
            text = block.read_text(_INPUT)
            self._sink.error("frame", "orphan_arguments", f"input of block {index}, which is no call: {text}")


def _build_item(item: PendingItem) -> dict[str, Any]:
    """The whole item; its input is JSON, or the text as it came if that was cut."""
    fields, text = item.build(), item.read_text(_INPUT)
    if text is None:
        return fields
    try:
        return fields | {_INPUT: msgspec.json.decode(text) if text.strip() else item.fields.get(_INPUT, text)}
    except (ValueError, RecursionError):
        return fields
