"""A bounded queue between one producer and one consumer.

An item costs an append and a pop: a wake-up is made only when a side really waits
(an anyio memory stream costs 4 to 13 µs an item, this 0.1).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, NamedTuple, Protocol, TypeVar

import anyio

from streamparse.runtime.threads import is_in_trio

T = TypeVar("T")


class _Latest(NamedTuple):
    """Stands in the queue for an item that may still be replaced."""

    key: Hashable


class _Signal(Protocol):
    def set(self) -> object: ...
    def wait(self) -> Awaitable[None]: ...


class _AsyncioSignal:
    """Wakes one task of asyncio, as an `anyio.Event` does, which costs a third of all that a run spends on a token."""

    __slots__ = ("_future",)

    def __init__(self) -> None:
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def set(self) -> None:
        if not self._future.done():  # else the task was cancelled
            self._future.set_result(None)

    def wait(self) -> Awaitable[None]:
        return self._future


def _find_signal() -> Callable[[], _Signal]:
    """Return what makes a signal on the event loop that runs."""
    return anyio.Event if is_in_trio() else _AsyncioSignal


class Buffer(Generic[T]):
    """Items in order of arrival.

    `put` always succeeds at once; a producer that honours the bound asks `is_full` and waits for `wait_for_room`.
    """

    def __init__(self, size: int) -> None:
        self._items: deque[T | _Latest] = deque()
        self._latest: dict[Hashable, T] = {}
        self._size = size
        self._closed = False
        self._failure: BaseException | None = None
        self._make_signal: Callable[[], _Signal] | None = None
        self._arrived: _Signal | None = None
        self._taken: anyio.Event | None = None

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_full(self) -> bool:
        """Whether the producer should wait for `wait_for_room`."""
        return len(self._items) >= self._size

    def put(self, item: T) -> None:
        """Add an item, and wake the consumer if it waits."""
        self._items.append(item)
        self._wake_consumer()

    def put_latest(self, key: Hashable, item: T) -> None:
        """Add an item, in place of the one with the same key if that was not taken yet."""
        if key not in self._latest:
            self._items.append(_Latest(key))
        self._latest[key] = item
        self._wake_consumer()

    def close(self, failure: BaseException | None = None) -> None:
        """Say that nothing more will come; `failure` is raised to the consumer after the last item."""
        self._closed = True
        self._failure = failure
        self._wake_consumer()

    async def take(self) -> T:
        """Remove the oldest item; waits for one.  Raises StopAsyncIteration, or the failure once, at the end.

        Raises RuntimeError if another consumer waits already: which of them got an item would be chance.
        """
        items = self._items
        while not items:
            if self._closed:
                failure, self._failure = self._failure, None
                raise StopAsyncIteration if failure is None else failure
            if self._arrived is not None:
                raise RuntimeError("this run has a consumer already; two cannot share it")
            await self._wait_for_item()
        return self._pop()

    def take_all(self) -> list[T]:
        """Remove all items that are there."""
        return [self._pop() for _ in range(len(self._items))]

    def _pop(self) -> T:
        item = self._items.popleft()
        # At half, not at each item: the sides would take turns for every single one.
        if self._taken is not None and len(self._items) <= self._size // 2:
            self._taken.set()
            self._taken = None
        return self._latest.pop(item.key) if isinstance(item, _Latest) else item

    async def _wait_for_item(self) -> None:
        if self._make_signal is None:
            self._make_signal = _find_signal()
        self._arrived = arrived = self._make_signal()
        try:
            await arrived.wait()
        finally:
            if self._arrived is arrived:
                self._arrived = None

    async def wait_for_room(self) -> None:
        """Wait until half of a full buffer is taken."""
        self._taken = anyio.Event()
        await self._taken.wait()

    def _wake_consumer(self) -> None:
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None
