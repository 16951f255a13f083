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

from io import StringIO
from typing import Generic, TypeVar

from streamparse.sink import Call

__all__ = ["CallItem", "Items", "PartsItem"]


class PartsItem:
    """A message or a thought: `told` holds the numbers of the parts of which something has been told.

    `begun` says that the head of a message is told, or that there was nothing to tell of it.
    """

    __slots__ = ("begun", "told")

    def __init__(self) -> None:
        self.told: set[int | None] = set()
        self.begun = False

    def news(self, part: int | None) -> bool:
        """Whether nothing of a part was told before; it counts as told now.  Without numbers there is one part."""
        if part in self.told or None in self.told or (part is None and self.told):
            return False
        self.told.add(part)
        return True


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
