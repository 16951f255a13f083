"""Content blocks by their index: what the wires of Anthropic and of Bedrock's Converse share.

Text and thought pass by here; a block is kept only for what needs its end:

| block | told |
|---|---|
| a call | at its start, its argument text as it comes |
| any other block (server-side calls, their results, redacted thought) | once, whole, when it stops |
| the signature of a thought | once, whole, when the block stops |

Where a stop comes is hearsay: llama.cpp sends the stops of all blocks together at the end, also that of a call
which ran into the token limit.  So a call that got no argument text is over only when another block starts or
the turn ends.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import msgspec

from streamparse.limits import Limits, most
from streamparse.sink import Call, Sink

# -- ----------------------------------------------------------------------------------------------------
# A step that the server itself takes (a search, code that it runs): an item that comes in pieces.


class OwnStep:
    """What has come of one step; `size` counts the characters and the elements that were added."""

    def __init__(self, item: dict[str, Any]) -> None:
        self._item = item
        self._texts: dict[str, StringIO] = {}  # fields that grow
        self.size = 0

    def add(self, fields: dict[str, Any]) -> None:
        """Add a piece: strings and lists grow, the rest is set; a step has one type."""
        for key, value in fields.items():
            known = self._item.get(key)
            if isinstance(value, str) and isinstance(known, str) and key != "type":
                self._grow(key, known, value)
            elif isinstance(value, list) and isinstance(known, list):
                known += value
                self.size += len(value)
            elif key != "type" or known is None:
                self._item[key] = value
                self._texts.pop(key, None)

    def whole(self) -> dict[str, Any]:
        """The step as far as it came."""
        return self._item | {key: text.getvalue() for key, text in self._texts.items()}

    def _grow(self, key: str, known: str, value: str) -> None:
        if key not in self._texts:
            self._texts[key] = StringIO()
            self._texts[key].write(known)
        self._texts[key].write(value)
        self.size += len(value)


# -- ----------------------------------------------------------------------------------------------------
# One content block: what came of it that is not told yet.


INPUT = "input"
"""The field that holds the arguments of a call."""


class Block:
    """One block; with neither a call nor an item it is a thought, or one whose start has not come."""

    __slots__ = ("call", "given", "id", "item", "kind", "lost", "size", "tell", "texts")

    def __init__(self, kind: str = "", item: dict[str, Any] | None = None) -> None:
        self.kind = kind
        self.item = item
        self.call: Call | None = None
        self.tell: Callable[[str], None] | None = None  # the call's arguments, once it has none of its start
        self.id = ""
        self.given = ""  # arguments that stood in the start: they count if no others follow
        self.texts: dict[str, StringIO] = {}  # fields that come in pieces
        self.size = 0
        self.lost = False  # more of it came than may be kept: it is not told

    @property
    def unknown(self) -> bool:
        """Whether argument text came, but not what it is for."""
        return self.call is None and self.item is None and INPUT in self.texts

    def add(self, key: str, piece: str) -> None:
        """Add a piece to the text of a field."""
        if key not in self.texts:
            self.texts[key] = StringIO()
        self.texts[key].write(piece)

    def lose(self, key: str) -> None:
        """Keep nothing of its texts, to which this one was to be added."""
        self.lost = True
        self.texts = {known: StringIO() for known in (*self.texts, key)}


# -- ----------------------------------------------------------------------------------------------------

_SIGNATURE = "signature"
_NOTHING = ("", "{}", "null")


class Blocks:
    """Follows the blocks of one message after the other, and tells the sink about them."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._limit = most(limits.max_call_args)
        self._blocks: dict[int | None, Block] = {}
        self._waiting: list[Block] = []  # calls that the next start, or the end of the turn, will end

    def start(self, index: int | None) -> None:
        """A block of text or of thought starts."""
        early = self._enter(index)
        if early is not None:
            self._orphan(index, early)

    def start_call(self, index: int | None, name: str, id: str, given: str) -> None:
        """A call starts; `given` are the arguments that came with it, if any did."""
        known = self._blocks.get(index)
        if known is not None and known.call is not None and id and known.id == id:
            return  # the same start again
        if not name:
            self._sink.error("frame", "call_without_name", f"a call ({id or 'no id'}) without a name")
            self.start_item(index, "tool_use", {"id": id, "input": given})
            return
        early = self._enter(index)
        block = self._blocks[index] = Block("call")
        block.id = id
        block.call = self._sink.call_start(name, id or None)
        if early is not None and early.lost:
            self._sink.call_error(block.call, "limit_args", f"too many arguments came before the name {name!r}")
        elif early is not None:
            self._sink.call_arguments(block.call, early.texts[INPUT].getvalue())
        elif given:
            block.given = given
            self._waiting.append(block)
            return
        block.tell = self._sink.call_teller(block.call)

    def start_item(self, index: int | None, kind: str, item: dict[str, Any]) -> None:
        """A block starts that has no verb of its own."""
        early = self._enter(index)
        block = self._blocks[index] = Block(kind, item)
        if early is not None:
            block.texts, block.size, block.lost = early.texts, early.size, early.lost

    def arguments(self, index: int | None, fragment: str) -> None:
        """A piece of a block's input came."""
        block = self._blocks.get(index)
        if block is not None and block.tell is not None:
            block.tell(fragment)
            return
        if block is not None and block.call is not None:
            if fragment.strip() not in _NOTHING or not block.given:
                block.given = ""
                block.tell = self._sink.call_teller(block.call)
                block.tell(fragment)
            return
        if block is None:
            block = self._blocks[index] = Block()
        self._collect(index, block, INPUT, fragment)

    def sign(self, index: int | None, signature: str) -> None:
        """A piece of a thought's signature came."""
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = Block()
        self._collect(index, block, _SIGNATURE, signature)

    def extend(self, index: int | None, fields: dict[str, Any]) -> bool:
        """Add a delta to a block that will be an item; False if the block is none."""
        block = self._blocks.get(index)
        if block is None or block.item is None:
            return False
        for key, value in fields.items():
            old = block.item.get(key)
            if isinstance(value, str):
                if key not in block.texts and isinstance(old, str):
                    self._collect(index, block, key, old)
                self._collect(index, block, key, value)
            elif isinstance(value, list) and isinstance(old, list):
                if self._fits(index, block, key, len(value)):
                    old += value
            else:
                block.item[key] = value
        return True

    def stop(self, index: int | None) -> None:
        """The server says that a block is over."""
        block = self._blocks.get(index)
        if block is None or block.unknown:
            return
        if block.call is None:
            del self._blocks[index]
        self._end(index, block)

    def finish(self, cut: bool) -> None:
        """The turn is over; if a limit cut it, a call without arguments stays open."""
        if not cut:
            self._supersede()
        for index, block in list(self._blocks.items()):
            if block.unknown:
                self._orphan(index, block)
            elif block.call is None or block.given:
                self._end(index, block)
            elif not cut:
                self._sink.call_end(block.call)
            if block.call is None:
                del self._blocks[index]

    def restart(self) -> None:
        """Another message begins: its indexes are new."""
        self.finish(cut=True)
        self._blocks.clear()
        self._waiting.clear()

    # -- inside ----------------------------------------------------------------------------------------

    def _enter(self, index: int | None) -> Block | None:
        """The model moved on to this block; return what came of it before its start."""
        old = self._blocks.pop(index, None)
        early = old if old is not None and old.unknown else None
        if old is not None and early is None:
            self._end(index, old)  # the index is used again
        self._supersede()
        return early

    def _supersede(self) -> None:
        waiting, self._waiting = self._waiting, []
        for block in waiting:
            assert block.call is not None
            if not self._tell_given(block):
                self._sink.call_end(block.call)

    def _end(self, index: int | None, block: Block) -> None:
        """Tell what of a block is told at its end."""
        if block.call is not None:
            if not self._tell_given(block):
                if block.call.pending:
                    self._waiting.append(block)
                else:
                    self._sink.call_end(block.call)
        elif block.lost:
            return
        elif block.item is not None:
            for key, text in block.texts.items():
                whole = text.getvalue()
                if key != INPUT or whole.strip():
                    block.item[key] = _value(whole) if key == INPUT else whole
            self._sink.item(block.kind, block.item, index)
        elif _SIGNATURE in block.texts:
            self._sink.item(_SIGNATURE, block.texts[_SIGNATURE].getvalue(), index)

    def _tell_given(self, block: Block) -> bool:
        given, block.given = block.given, ""
        if given and block.call is not None:
            self._sink.call_arguments(block.call, given)
        return bool(given)

    def _collect(self, index: int | None, block: Block, key: str, piece: str) -> None:
        if self._fits(index, block, key, len(piece)):
            block.add(key, piece)

    def _fits(self, index: int | None, block: Block, key: str, size: int) -> bool:
        """Whether so much more may be added to a block; that it may not is told once, and nothing of it is."""
        block.size += size
        if block.size > self._limit and not block.lost:
            block.lose(key)
            self._sink.error("frame", "limit_args", f"block {index} exceeds {self._limit} characters")
        return not block.lost

    def _orphan(self, index: int | None, block: Block) -> None:
        if block.lost:
            return
        text = block.texts[INPUT].getvalue()
        self._sink.error("frame", "orphan_arguments", f"input of block {index}, which is no call: {text}")


def _value(text: str) -> Any:
    """An item's input as JSON; as it came if it was cut."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text
