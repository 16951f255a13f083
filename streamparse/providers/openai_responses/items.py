"""The items of one OpenAI response: which event belongs to which, and which part of it is new.

An item has an id and an output index, and each of them is wrong on some server:

| server | what it does |
|---|---|
| GitHub Copilot | an item has another id in each event; the index stays |
| llama.cpp, LiteLLM | no index at all |
| Ollama | the message and the first call share an index |
| transformers | an item is added and done twice, with the same id and another index |
| a stream taken up again | deltas of items that were never added |

So items are separated by kind first.  Within a kind an event's item is the one of its id, else the one of its index;
an event with neither belongs to the last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Sequence
from io import StringIO
from itertools import islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from streamparse.limits import Limits, most
from streamparse.patterns import BLANKS
from streamparse.reading.decode import decode_lenient
from streamparse.reading.pieces import Budget, PendingCall, PendingText, begins_object
from streamparse.sink import Sink

# -- ----------------------------------------------------------------------------------------------------
# Messages, thoughts and calls, by their ids and indexes.

_NEW: Final = object()
_NEAR: Final = 8  # bound: the parts that are looked at for a text whose number is another one


PartKey: TypeAlias = tuple[str, int] | None
"""What a part of an item is (a text, a refusal, a thought, a summary), and its number; None without a number."""

Listed: TypeAlias = Sequence[tuple[object, str]]
"""The parts of a whole item: the key of each, and its text."""


class PartsItem(msgspec.Struct, eq=False):
    """A message or a thought, and how much of its parts has been sent.

    A part has a number, but vLLM and Bedrock Mantle count from 1 in the deltas and from 0 in the whole item.  So a part
    that is reported whole is known by its text, before its number counts.  Without numbers there is one part.
    Of what is reported whole, the rest is what was not sent; None instead of it says that other text was sent.  All of
    it counts as sent then: so each rest is sent once, and each contradiction reported once.
    `has_begun` says that it was added, or that the head of a message was sent.  Of one that was not, the stream was
    taken up in the middle: only the end of its first part may have come.
    """

    parts: dict[object, StringIO] = {}  # what was sent of each part, by its key
    has_begun: bool = False
    _open: OrderedDict[object, None] = msgspec.field(default_factory=OrderedDict)  # not reported whole by themselves
    _aliases: dict[object, object] = {}  # the keys of parts that were reported whole under another one

    def get_part(self, key: PartKey) -> StringIO:
        """Return what was sent of a part, to which that must be added which is sent now."""
        if key not in self.parts:
            self.parts[key] = StringIO()
            self._open[key] = None
        return self.parts[key]

    def find_rest(self, key: PartKey, text: str) -> str | None:
        """Return the rest of a part that is reported whole by itself."""
        own = self._aliases.get(key, key)
        if self.parts and (key is None or None in self.parts):
            if self.is_begun_by([text]):
                return self._continue([(own, text)])[0]
            own = None if None in self.parts else next(reversed(self.parts))
        known = self._match(own, text, islice(self._open, _NEAR))
        self._open.pop(known, None)
        if known is _NEW:
            known = key
        elif key is not None and key != known:
            self._aliases[key] = known
        return self._take_rest(known, text)

    def find_rests(self, listed: Listed) -> list[str | None]:
        """Return the rest of each part that the whole item lists."""
        if self.is_begun_by([text for _, text in listed]):
            return self._continue(listed)
        if None in self.parts:
            self.parts = {None: _keep_text("".join(text for _, text in listed))}
            return [None, *[""] * len(listed)][: len(listed)]
        known = self._match_all(listed)
        return [self._take_rest(each, text) for each, (_, text) in zip(known, listed, strict=True)]

    def has_part(self, key: tuple[str, int]) -> bool:
        """Whether a part of a number was sent, counted from 0 or from 1; without numbers, whether any was."""
        return key in self.parts or (key[0], key[1] + 1) in self.parts or None in self.parts

    def is_begun_by(self, texts: list[str]) -> bool:
        """Whether what was sent is the beginning of these texts, or all of them."""
        left = sum(map(len, texts))
        for sent in self.parts.values():  # each has some text, so no more are looked at than there are characters
            left -= sent.tell()
            if left < 0:
                return False
        return "".join(texts).startswith("".join(sent.getvalue() for sent in self.parts.values()))

    def _continue(self, listed: Listed) -> list[str | None]:
        """What was sent is the beginning of the listed parts, however it was divided: the rest follows it."""
        rests: list[str | None] = []
        left = sum(sent.tell() for sent in self.parts.values())
        for key, text in listed:
            rest = text[left:]
            left = max(0, left - len(text))
            rests.append(rest)
            if rest == text and key not in self.parts and None not in self.parts:
                self.parts[key] = _keep_text(text)
            elif rest:
                self.parts[next(reversed(self.parts))].write(rest)
        return rests

    def _match_all(self, listed: Listed) -> list[object]:
        """Return the keys of the parts that listed ones are; a new key for each of which nothing was sent."""
        matched: dict[object, None] = {}
        near: list[object] = []
        others = iter(self.parts)
        for key, text in listed:
            near = [each for each in near if each not in matched]
            near += islice((each for each in others if each not in matched), _NEAR - len(near))
            known = self._match(key, text, near, matched)
            if known is _NEW:
                known = key if key not in self.parts else (key, text)
            matched[known] = None
        return [*matched]

    def _match(self, key: object, text: str, near: Iterable[object], matched: Container[object] = ()) -> object:
        """Find the part that a text is all of, or goes on with: of its number, of the next one, or another near it."""
        keys = (key, (key[0], key[1] + 1)) if isinstance(key, tuple) else (key,)
        own = [each for each in keys if each in self.parts and each not in matched]
        for is_it, candidates in ((_is_text, (*own, *near)), (_is_beginning, own)):
            for each in candidates:
                if is_it(self.parts[each], text):
                    return each
        return key if key in own else _NEW

    def _take_rest(self, key: object, text: str) -> str | None:
        sent = self.parts.get(key)
        size = 0 if sent is None else sent.tell()
        if sent is None or not size or (size <= len(text) and text.startswith(sent.getvalue())):
            self.parts.setdefault(key, StringIO()).write(text[size:])
            return text[size:]
        if key is None and _is_end(sent, text):  # parts without numbers are one
            return ""
        if not self.has_begun and size < len(text) and text.endswith(sent.getvalue()):
            return ""
        self.parts[key] = _keep_text(text)
        return None


def _keep_text(text: str) -> StringIO:
    kept = StringIO()
    kept.write(text)
    return kept


def _is_text(sent: StringIO, text: str) -> bool:
    return sent.tell() == len(text) and sent.getvalue() == text


def _is_beginning(sent: StringIO, text: str) -> bool:
    return 0 < sent.tell() < len(text) and text.startswith(sent.getvalue())


def _is_end(sent: StringIO, text: str) -> bool:
    """Whether what was sent ends in a text; only so much of it is looked at."""
    start = sent.tell() - len(text)
    if start < 0:
        return False
    sent.seek(start)
    return sent.read() == text


class CallItem(PendingCall, eq=False):
    """A call: `index` is where it began, `id` that of its item before, `confirmed` the arguments of the last report."""

    confirmed: str = ""
    is_done: bool = False


Item = TypeVar("Item", PartsItem, CallItem)


class Items(Generic[Item]):
    """The items of one kind in one response."""

    def __init__(self, make: Callable[[], Item]) -> None:
        self._make: Callable[[], Item] = make
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self.last: Item | None = None
        self.all: list[Item] = []

    def find(self, id: str | None, index: int | None) -> Item | None:
        """The item of an id, else of an index; of neither the last."""
        if id and id in self._by_id:
            return self._by_id[id]
        if index is not None:
            return self._by_index.get(index)
        return None if id else self.last

    def find_by_id(self, id: str | None) -> Item | None:
        return self._by_id.get(id) if id else None

    def find_or_add(self, id: str | None, index: int | None) -> Item:
        """The item that an event belongs to; one that was never added begins here."""
        return self.find(id, index) or self.add(id, index)

    def add(self, id: str | None, index: int | None) -> Item:
        """Begin an item."""
        item: Item = self._make()
        self.last = item
        self.all.append(item)
        self.alias(item, id, index)
        return item

    def alias(self, item: Item, id: str | None, index: int | None) -> None:
        """Give an item another id, or another index."""
        if id:
            self._by_id[id] = item
        if index is not None:
            self._by_index[index] = item


# -- ----------------------------------------------------------------------------------------------------
# The calls of a response.
#
# The arguments of a `done` event are compared with the deltas: what no delta had is sent now, the end of a value
# included; if the deltas had something else, that is an error.  But deltas that cannot be the beginning of an object
# give way to one that is reported as the whole, unless it is empty: then it may only stand for what could not be read.

Ids: TypeAlias = tuple[str | None, str | None]
"""The id of a call, and that of its item."""


class Calls:
    """Sends the calls of a response; every method may be given the same thing again.

    Argument text of a call that was never added waits for its name, which the item has when it is done.
    """

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._items = Items(lambda: CallItem(PendingText(Budget(most(limits.max_call_args)))))

    def take_added(self, name: str, ids: Ids, index: int | None, arguments: str) -> None:
        """A call begins; it may have its arguments already (xAI, transformers)."""
        call = self._find_known(name, ids, index) or self._items.add(None, index)
        self._begin(call, name, ids, index)
        self._feed(call, arguments)

    def find_or_add(self, id: str | None, index: int | None) -> CallItem:
        """The call that a piece of arguments belongs to; one that was never added begins here, without a name."""
        last = self._find_last(index)
        if last is not None and last.call is not None and last.call.closed:
            last = None
        return self._items.find(id, index) or last or self._items.add(id, index)

    def take_arguments(self, id: str | None, index: int | None, name: str, arguments: str) -> None:
        """The arguments are reported whole; LM Studio sends them only so."""
        last = self._find_last(index)
        if last is not None and name not in ("", last.name):
            last = None
        call = self._items.find(id, index) or last or self._items.add(id, index)
        if call.call is not None and arguments:
            self._confirm(call, arguments)
            self._sink.call_end(call.call)
        elif call.call is None:
            call.id, call.name = id, call.name or name
            if arguments:
                call.early.take()
                call.early.add(arguments)

    def take_done(self, name: str, ids: Ids, index: int | None, arguments: str, is_whole: bool) -> None:
        """The item is reported done, and whole unless its status contradicts."""
        known = self._find_known(name, ids, index, arguments)
        call = known or self._find_unfinished(name, index) or self._items.add(None, index)
        early = call.early.take() if call.call is None else ""
        self._begin(call, name, ids, index)
        call.is_done = True
        if not arguments:
            self._refuse_lost(call)
        self._confirm(call, arguments or early)
        if call.call is not None and is_whole:
            self._sink.call_end(call.call)

    def settle(self) -> None:
        """No more items come: calls that have a name and arguments are calls, under the ids that are known."""
        for call in self._items.all:
            if call.call is None and call.name and call.early:
                self._begin(call, call.name, (None, call.id), None)
                self._refuse_lost(call)
                self._feed(call, call.early.take())

    def close(self) -> None:
        """No more events come: argument text without a call is an error.

        Where the response did not end, its item, which has the call's id, may have been cut off with the rest.
        """
        for call in self._items.all:
            if call.call is None and call.early:
                self._sink.error("frame", "orphan_arguments", f"arguments of no call: {call.early}")

    # -- inside ----------------------------------------------------------------------------------------

    def _begin(self, call: CallItem, name: str, ids: Ids, index: int | None) -> None:
        for id in ids:
            self._items.alias(call, id, index)
        if call.call is None and name:
            call.name = name
            call.index = index
            call.call = self._sink.call_start(name, ids[0] or ids[1] or None)
        elif call.call is None:
            self._sink.error("frame", "call_without_name", f"a call ({ids[0] or ids[1] or 'no id'}) without a name")

    def _refuse_lost(self, call: CallItem) -> None:
        if call.early.is_lost and call.call is not None and not call.call.closed:
            self._sink.call_error(call.call, "limit_args", f"too many arguments came before {call.name!r} began")

    def _feed(self, call: CallItem, arguments: str) -> None:
        """Give a call its arguments, unless it has some."""
        if arguments and call.call is not None and call.call.pending:
            self._sink.call_arguments(call.call, arguments)

    def _confirm(self, call: CallItem, arguments: str) -> None:
        """Compare the arguments that are reported at a call's end with what came; each text once."""
        if not arguments or call.call is None or arguments == call.confirmed:
            return
        call.confirmed = arguments
        sent = "" if call.call.pending else call.call.raw
        if not call.call.closed and arguments.startswith(sent):
            self._sink.call_arguments(call.call, arguments[len(sent) :])
        elif arguments == sent or _are_same_arguments(arguments, sent):
            return
        elif call.call.closed and isinstance(_read_arguments(sent), dict):  # pieces of them came to another call
            message = f"the arguments of {call.name!r} are said to be others; those that came stand"
            self._sink.error("frame", "contradicting_frame", message)
        elif call.call.closed:
            self._sink.call_arguments(call.call, arguments)  # late, which is no news where the call broke
        elif _has_members(arguments) and not begins_object(sent):  # the deltas of GitHub Copilot are ciphertext
            self._sink.call_arguments(call.call, arguments, restarts=True)
        else:
            message = f"the arguments of {call.name!r} are said to be others"
            self._sink.call_error(call.call, "malformed_call", message)

    def _find_by_ids(self, name: str, ids: Ids, index: int | None) -> CallItem | None:
        """The call of an item, else of a call's id, which some servers give to several calls."""
        own = self._items.find_by_id(ids[1])
        known = own or self._items.find_by_id(ids[0])
        if known is None or known is own or not known.name or name in ("", known.name):
            return known
        there = None if index is None else self._items.find(None, index)
        return there if there is not None and there.name == name else None

    def _find_known(self, name: str, ids: Ids, index: int | None, arguments: str | None = None) -> CallItem | None:
        """The call that is added again, or is reported done with these arguments: the same item, or one of its id.

        At another place that is another call: when it is added, or if the known one was done with other arguments.
        """
        known = self._find_by_ids(name, ids, index)
        if known is None or known is self._items.find_by_id(ids[1]) or index in (None, known.index):
            return known
        if known.index is None or (arguments is not None and not known.is_done):
            return known
        return known if arguments is not None and _are_same_arguments(arguments, known.confirmed) else None

    def _find_last(self, index: int | None) -> CallItem | None:
        """The last call, which takes what has no index and an unknown id."""
        last = self._items.last
        return last if index is None and last is not None and last.call is not None else None

    def _find_unfinished(self, name: str, index: int | None) -> CallItem | None:
        """The call of an index whose ids have changed since."""
        call = self._items.find(None, index)
        return call if call is not None and not call.is_done and call.name in ("", name) else None


def _has_members(text: str) -> bool:
    return begins_object(text) and text.lstrip(BLANKS)[1:].lstrip(BLANKS).startswith('"')


def _are_same_arguments(one: str, other: str) -> bool:
    """Whether two texts are the same arguments, written in two ways."""
    return bool(_read_arguments(one) == _read_arguments(other))


def _read_arguments(text: str) -> Any:
    try:
        return decode_lenient(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return text
