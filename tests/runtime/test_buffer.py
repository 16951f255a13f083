"""The buffer between the reader and its consumer."""

import anyio
import pytest

from streamparse.runtime.buffer import Buffer

pytestmark = pytest.mark.anyio


async def test_items_come_out_in_the_order_they_went_in():
    buffer = Buffer(2)
    for number in range(5):
        buffer.put(number)
    assert [await buffer.take() for _ in range(5)] == [0, 1, 2, 3, 4]


async def test_a_waiting_consumer_is_woken_by_an_item():
    buffer, got = Buffer(2), []

    async def consume():
        got.append(await buffer.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        buffer.put("item")
    assert got == ["item"]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
async def test_a_producer_that_asks_for_room_never_has_more_than_size_items_waiting(size):
    buffer, got, most = Buffer(size), [], 0

    async def produce():
        nonlocal most
        for number in range(50):
            buffer.put(number)
            most = max(most, len(buffer))
            if buffer.is_full:
                await buffer.wait_for_room()
        buffer.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(produce)
        for _ in range(50):
            got.append(await buffer.take())
            await anyio.lowlevel.checkpoint()
    assert got == list(range(50))
    assert most == size


async def test_a_producer_that_waits_goes_on_when_half_of_a_full_buffer_is_taken():
    buffer, went_on = Buffer(4), anyio.Event()
    for number in range(4):
        buffer.put(number)

    async def produce():
        await buffer.wait_for_room()
        went_on.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(produce)
        await anyio.wait_all_tasks_blocked()
        for goes_on in (False, True):
            await buffer.take()
            await anyio.wait_all_tasks_blocked()
            assert went_on.is_set() is goes_on


async def test_a_failure_is_raised_once_and_after_the_last_item():
    buffer = Buffer(2)
    buffer.put(1)
    buffer.close(OSError("gone"))
    assert await buffer.take() == 1
    with pytest.raises(OSError, match="gone"):
        await buffer.take()
    with pytest.raises(StopAsyncIteration):
        await buffer.take()


async def test_a_waiting_consumer_is_woken_by_the_end():
    buffer = Buffer(2)
    async with anyio.create_task_group() as tasks:

        async def consume():
            with pytest.raises(StopAsyncIteration):
                await buffer.take()

        tasks.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        buffer.close()


async def test_a_second_consumer_is_refused_and_the_first_goes_on():
    buffer, got = Buffer(2), []

    async def consume():
        got.append(await buffer.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(RuntimeError, match="a consumer already"):
            await buffer.take()
        buffer.put("item")
    assert got == ["item"]


async def test_a_consumer_that_was_cancelled_makes_room_for_another():
    buffer = Buffer(2)
    with anyio.move_on_after(0):
        await buffer.take()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await buffer.take()
    buffer.put("item")
    assert await buffer.take() == "item"
