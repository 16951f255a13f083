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
from io import StringIO
from itertools import islice
from typing import Final, Generic, TypeVar

from streamparse.sink import Call

__all__ = ["CallItem", "Items", "PartsItem"]

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
        known = next((each for each in islice(self._open, _NEAR) if _is(self._parts[each], text)), _NEW)
        self._open.pop(known, None)
        self._parts[number] = _told(text) if known is _NEW else self._parts[known]
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
            if not (there and _is(self._parts[number], text)):
                known = next((each for each in near if _is(self._parts[each], text)), known)
            if known is _NEW:
                new[number] = text
            matched.add(known)
        for number, text in new.items():
            self._parts[number if number not in self._parts else (number, text)] = _told(text)
        return list(new)


def _told(text: str) -> StringIO:
    told = StringIO()
    told.write(text)
    return told


def _is(told: StringIO, text: str) -> bool:
    return told.tell() == len(text) and told.getvalue() == text


class CallItem:
    """A call: `early` holds argument text that came before it began, `call` is set once it has.

    `index` is where it began, `id` that of its item until it has, `said` the arguments that were last said to be all.
    """

    __slots__ = ("call", "done", "early", "id", "index", "name", "said")

    def __init__(self) -> None:
        self.id: str | None = None
        self.index: int | None = None
        self.name = ""
        self.call: Call | None = None
        self.early = StringIO()
        self.said = ""
        self.done = False


Item = TypeVar("Item", PartsItem, CallItem)


class Items(Generic[Item]):
    """The items of one kind in one response."""

    def __init__(self, kind: type[Item]) -> None:
        self._kind: type[Item] = kind
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

    def named(self, *ids: str | None) -> Item | None:
        """The item that has one of these ids."""
        return next((self._by_id[id] for id in ids if id and id in self._by_id), None)

    def add(self, id: str | None, index: int | None) -> Item:
        """Begin an item."""
        item: Item = self._kind()
        self.last = item
        self.all.append(item)
        self.also(item, id, index)
        return item

    def also(self, item: Item, id: str | None, index: int | None = None) -> None:
        """Give an item another id, or another index."""
        if id:
            self._by_id[id] = item
        if index is not None:
            self._by_index[index] = item
