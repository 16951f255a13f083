"""Which event belongs to which item: OpenAI Responses and its relatives.

An item has an id and an output index, and each of them lies somewhere:

| server | what it does |
|---|---|
| GitHub Copilot | an item has another id in each event; the index stays |
| llama.cpp, LiteLLM | no index at all |
| Ollama | the message and the first call share an index |
| transformers | an item is added and done twice, with the same id and another index |
| a stream taken up again | deltas of items that were never added |

So items are told apart by kind first.  Within a kind an event's item is the one of its id, else the one of its index;
an event with neither belongs to the last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from io import StringIO
from itertools import islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

from streamparse.limits import Limits, most
from streamparse.reading.decode import decode_lenient
from streamparse.reading.pieces import Budget, PendingText
from streamparse.sink import Call, Sink

_NEW: Final = object()
_NEAR: Final = 8  # so many parts are looked at for a text whose number is another one


class PartsItem:
    """A message or a thought, and what has been told of its parts.

    A part has a number, but vLLM and Bedrock Mantle count from 1 in the deltas and from 0 in the whole item.  So a part
    that is said to be whole is known by its text, before its number counts.  Without numbers there is one part.
    `begun` says that the head of a message is told, or that there was nothing to tell of it.
    """

    __slots__ = ("_open", "_parts", "begun")

    def __init__(self) -> None:
        self._parts: dict[object, StringIO] = {}  # what was told of each part, by its number
        self._open: OrderedDict[object, None] = OrderedDict()  # those that were not said to be whole by themselves
        self.begun = False

    @property
    def told(self) -> bool:
        """Whether anything was told of it."""
        return bool(self._parts)

    def part(self, number: int | None) -> StringIO:
        """Return what was told of a part, to which that must be added which is told now."""
        if number not in self._parts:
            self._parts[number] = StringIO()
            self._open[number] = None
        return self._parts[number]

    def is_new(self, number: int | None, text: str) -> bool:
        """Whether nothing was told of a part that is said to be whole by itself; it counts as told now."""
        if number in self._parts or (self._parts and (number is None or None in self._parts)):
            self._open.pop(number, None)
            return False
        known = next((each for each in islice(self._open, _NEAR) if _is_text(self._parts[each], text)), _NEW)
        self._open.pop(known, None)
        self._parts[number] = _new_text(text) if known is _NEW else self._parts[known]
        return known is _NEW

    def missing(self, said: list[tuple[int, str]]) -> list[int]:
        """Return the numbers of those parts of the whole item of which nothing was told; they count as told now."""
        if None in self._parts:
            return []
        matched: set[object] = set()
        near: list[object] = []
        rest = iter(self._parts)
        new = {}
        for number, text in said:
            there = number in self._parts and number not in matched
            near = [each for each in near if each not in matched]
            near += islice((each for each in rest if each not in matched), _NEAR - len(near))
            known: object = number if there else _NEW
            if not (there and _is_text(self._parts[number], text)):
                known = next((each for each in near if _is_text(self._parts[each], text)), known)
            if known is _NEW:
                new[number] = text
            matched.add(known)
        for number, text in new.items():
            self._parts[number if number not in self._parts else (number, text)] = _new_text(text)
        return list(new)


def _new_text(text: str) -> StringIO:
    told = StringIO()
    told.write(text)
    return told


def _is_text(told: StringIO, text: str) -> bool:
    return told.tell() == len(text) and told.getvalue() == text


class CallItem:
    """A call: `early` is the argument text that came before it began, `call` is set once it has.

    `index` is where it began, `id` that of its item until it has, `said` the arguments that were last said to be all.
    """

    __slots__ = ("call", "done", "early", "id", "index", "name", "said")

    def __init__(self, budget: Budget) -> None:
        self.id: str | None = None
        self.index: int | None = None
        self.name = ""
        self.call: Call | None = None
        self.early = PendingText(budget)
        self.said = ""
        self.done = False


Item = TypeVar("Item", PartsItem, CallItem)


class Items(Generic[Item]):
    """The items of one kind in one response."""

    def __init__(self, make: Callable[[], Item]) -> None:
        self._make: Callable[[], Item] = make
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self.last: Item | None = None
        self.all: list[Item] = []

    def of(self, id: str | None, index: int | None) -> Item:
        """The item that an event belongs to; one that was never added begins here."""
        return self.find(id, index) or self.add(id, index)

    def find(self, id: str | None, index: int | None) -> Item | None:
        """The item of an id, else of an index; of neither the last."""
        if id and id in self._by_id:
            return self._by_id[id]
        if index is not None:
            return self._by_index.get(index)
        return None if id else self.last

    def find_by_ids(self, *ids: str | None) -> Item | None:
        """The item that has one of these ids."""
        return next((self._by_id[id] for id in ids if id and id in self._by_id), None)

    def add(self, id: str | None, index: int | None) -> Item:
        """Begin an item."""
        item: Item = self._make()
        self.last = item
        self.all.append(item)
        self.alias(item, id, index)
        return item

    def alias(self, item: Item, id: str | None, index: int | None = None) -> None:
        """Give an item another id, or another index."""
        if id:
            self._by_id[id] = item
        if index is not None:
            self._by_index[index] = item


# -- ----------------------------------------------------------------------------------------------------
# The calls of one OpenAI response: which event belongs to which, and what of it is news.
#
# The arguments of a `done` event are compared with the deltas: what no delta had is sent now, the end of a value
# included; if the deltas had something else, that is an error.


Ids: TypeAlias = tuple[str | None, str | None]
"""The id of a call, and that of its item."""


class Calls:
    """Tells the calls of a response; every method may be given the same thing again.

    Argument text of a call that was never added waits for its name, which the item has when it is done.
    """

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._items = Items(lambda: CallItem(Budget(most(limits.max_call_args))))

    def added(self, name: str, ids: Ids, index: int | None, arguments: str) -> None:
        """A call begins; it may have its arguments already (xAI, transformers)."""
        call = self._find_added(name, ids, index) or self._items.add(None, index)
        self._begin(call, name, ids, index)
        self._feed(call, arguments)

    def of(self, id: str | None, index: int | None) -> CallItem:
        """The call that a piece of arguments belongs to; one that was never added begins here, without a name."""
        return self._items.find(id, index) or self._find_open(index) or self._items.add(id, index)

    def keep(self, call: CallItem, fragment: str) -> None:
        """Keep a piece of arguments for a call without a name."""
        call.early.add(fragment)

    def arguments_done(self, id: str | None, index: int | None, name: str, arguments: str) -> None:
        """The arguments are said to be whole; LM Studio sends them only so."""
        call = self._items.find(id, index) or self._find_latest(name, index) or self._items.add(id, index)
        if call.call is not None and arguments:
            self._confirm(call, arguments)
            self._sink.call_end(call.call)
        elif call.call is None:
            call.id, call.name = id, call.name or name
            if arguments:
                call.early.take()
                self.keep(call, arguments)

    def done(self, name: str, ids: Ids, index: int | None, arguments: str, whole: bool) -> None:
        """The item is said to be done, and `whole` if its status does not say otherwise."""
        known = self._find_done(name, ids, index, arguments)
        call = known or self._find_unfinished(name, index) or self._items.add(None, index)
        early = call.early.take() if call.call is None else ""
        self._begin(call, name, ids, index)
        call.done = True
        if not arguments:
            self._refuse_lost(call)
        self._confirm(call, arguments or early)
        if call.call is not None and whole:
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
        """Hold what a call's arguments are said to be at its end against what came; each text once."""
        if not arguments or call.call is None or arguments == call.said:
            return
        call.said = arguments
        told = "" if call.call.pending else call.call.raw
        if not call.call.closed and arguments.startswith(told):
            self._sink.call_arguments(call.call, arguments[len(told) :])
        elif arguments != told and not _are_same_arguments(arguments, told):
            self._contradict(call.call, arguments)

    def _contradict(self, call: Call, arguments: str) -> None:
        """Pieces of the arguments are missing, or came to another call."""
        if call.closed:
            self._sink.call_arguments(call, arguments)  # late, which is an error
        else:
            self._sink.call_error(call, "malformed_call", f"the arguments of {call.name!r} are said to be others")

    def _find_by_ids(self, name: str, ids: Ids, index: int | None) -> CallItem | None:
        """The call of an item, else of a call's id, which some servers give to several calls."""
        known = self._items.find_by_ids(ids[1]) or self._items.find_by_ids(ids[0])
        if known is None or known is self._items.find_by_ids(ids[1]) or not known.name or name in ("", known.name):
            return known
        there = None if index is None else self._items.find(None, index)
        return there if there is not None and there.name == name else None

    def _find_added(self, name: str, ids: Ids, index: int | None) -> CallItem | None:
        """The call that is added again: the same item, or one of the same id at the same place."""
        known = self._find_by_ids(name, ids, index)
        if known is None or known is self._items.find_by_ids(ids[1]) or None in (index, known.index):
            return known
        return known if known.index == index else None

    def _find_done(self, name: str, ids: Ids, index: int | None, arguments: str) -> CallItem | None:
        """The call that is said to be done; none if that one was done with other arguments, at another place."""
        known = self._find_by_ids(name, ids, index)
        if known is None or known is self._items.find_by_ids(ids[1]) or None in (index, known.index):
            return known
        is_another = known.done and known.index != index and not _are_same_arguments(arguments, known.said)
        return None if is_another else known

    def _find_latest(self, name: str, index: int | None) -> CallItem | None:
        """The last call, if what is said without an index and with an unknown id can be its."""
        last = self._items.last
        return last if index is None and last is not None and last.call and name in ("", last.name) else None

    def _find_open(self, index: int | None) -> CallItem | None:
        """The last call, if a piece without an index and with an unknown id can only be its."""
        last = self._items.last
        return last if index is None and last is not None and last.call is not None and not last.call.closed else None

    def _find_unfinished(self, name: str, index: int | None) -> CallItem | None:
        """The call of an index whose ids have changed since."""
        call = self._items.find(None, index)
        return call if call is not None and not call.done and call.name in ("", name) else None


def _are_same_arguments(one: str, other: str) -> bool:
    """Whether two texts are the same arguments, written in two ways."""
    return bool(_read_arguments(one) == _read_arguments(other))


def _read_arguments(text: str) -> Any:
    try:
        return decode_lenient(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return text


# -- ----------------------------------------------------------------------------------------------------
# Calls of tools that take text, in one OpenAI response: each is an item, told whole when it is done.
#
# Its text comes in `response.custom_tool_call_input.delta`; of one that was cut nothing but these tells.


class TextCalls:
    """Keeps the texts of such calls until they are done; `max_call_args` bounds them, all together."""

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._items = Items(partial(CallItem, Budget(most(limits.max_call_args))))

    def added(self, name: str, id: str | None, index: int | None) -> None:
        """A call begins."""
        call = self._items.find_by_ids(id) or self._items.add(id, index)
        call.name = call.name or name

    def add(self, id: str | None, index: int | None, piece: str) -> None:
        """A piece of a call's text came."""
        call = self._items.of(id, index)
        if not call.done:
            call.early.add(piece)

    def done(self, id: str | None, index: int | None) -> None:
        """The item of a call was told."""
        call = self._items.find(id, index)
        if call is not None:
            call.done = True
            call.early.take()

    def close(self) -> None:
        """No more events come: a call that is not done was cut."""
        for call in self._items.all:
            if not call.done:
                message = f"the stream ended inside the call of {call.name!r}: {call.early}"
                self._sink.error("frame", "truncated_call", message)
