"""The ways beside `feed`: what they take is what `feed` gives, up to the very limits; what may wait is a beginning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from aws_messages import events

from streamparse.frames import NDJSON, SSE, AWSEventStream, Framer, JSONArray
from streamparse.limits import Limits


class Form(NamedTuple):
    """A body of two messages alike, and where each begins and ends."""

    kind: Callable[[Limits], Framer]
    opening: bytes
    message: bytes
    data: bytes
    """What the framer gives of a message."""
    waits: Callable[[int], bool]
    """Whether the first bytes of a message, so many, may wait once one like it has come."""


COMMA = b"\n,\r\n"
AWS = events(("contentBlockDelta", {"delta": {"text": "So."}}))
FORMS = {
    "sse": Form(SSE, b"", b'data: {"a": 1}\n\n', b'{"a": 1}', lambda _: True),
    "sse-cr": Form(SSE, b"", b'data: {"a": 1}\r\n\r\n', b'{"a": 1}', lambda size: size < 17),
    "sse-event": Form(SSE, b"", b'event: b\ndata: {"a": 1}\n\n', b'{"a": 1}', lambda size: size not in range(9, 15)),
    "ndjson": Form(NDJSON, b"", b'{"a": 1}\n', b'{"a": 1}', lambda _: True),
    "array": Form(JSONArray, b"[", b'\n,\r\n{"a": [{}, "}"]}', b'{"a": [{}, "}"]}', lambda size: size > 4),
    "aws": Form(AWSEventStream, b"", AWS, AWS[AWS.index(b"{") : -4], lambda size: size < 12 or size >= AWS.index(b"{")),
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def _begin(form: Form, **limits: int) -> Framer:
    """A framer that has taken two messages."""
    framer = form.kind(Limits(**limits))
    framer.feed(form.opening + form.message.removeprefix(COMMA))
    if framer.try_next(form.message, 0) is None:
        framer.feed(form.message)
    assert framer.error is None
    return framer


@forms
def test_the_beginning_of_a_message_may_wait_and_nothing_else_may(form: Form) -> None:
    sizes = range(1, len(form.message))
    assert [size for size in sizes if _begin(form).can_wait(form.message[:size])] == [*filter(form.waits, sizes)]
    for rest in (
        form.message,
        form.message * 2,
        form.message + form.message[:5],
        b"{{\n" * 4,
        b"[]\n" * 4,
        b"\n\n" * 6,
    ):
        assert not _begin(form).can_wait(rest)
    begun = _begin(form)
    begun.feed(form.message[:-2])
    assert not any(begun.can_wait(form.message[:size]) for size in (1, 5))


@forms
def test_what_waits_is_within_the_limits_and_changes_nothing(form: Form) -> None:
    received = _begin(form).received
    for size in filter(form.waits, range(1, len(form.message))):
        rest = form.message[:size]
        framer = _begin(form)
        assert framer.feed(rest) == []
        assert framer.error is None
        assert [frame.data for frame in framer.feed(form.message[size:])] == [form.data]
        exact = _begin(form, max_total=received + size)
        assert exact.can_wait(rest)
        assert not _begin(form, max_total=received + size - 1).can_wait(rest)


@forms
def test_what_is_taken_at_once_is_what_is_fed_up_to_the_very_limits(form: Form) -> None:
    take: dict[str, Callable[[Framer], Any]] = {
        "alone": lambda framer: framer.try_next(form.message, 0),
        "of several": lambda framer: framer.try_next(b"??" + form.message * 2, 2),
    }
    received = _begin(form).received
    for way in take.values():
        framer = _begin(form)
        assert way(framer) == form.data
        assert framer.received - received == len(form.message)
        assert framer.singles == _begin(form).singles + 1
        assert framer.offset == received + form.message.index(form.data)
        assert way(_begin(form, max_total=received + len(form.message))) == form.data
        assert way(_begin(form, max_total=received + len(form.message) - 1)) is None
        assert way(_begin(form, max_event=len(form.message), max_line=len(form.message))) == form.data
        begun = _begin(form)
        begun.feed(form.message[:-1].removeprefix(COMMA))
        assert way(begun) is None


def test_an_element_may_wait_in_its_array_alone() -> None:
    rest = b'{"a": [1'
    assert not JSONArray(Limits()).can_wait(rest)
    framer = _begin(FORMS["array"])
    assert framer.can_wait(rest)
    assert framer.can_wait(b"\n, \t" + rest)
    assert not any(framer.can_wait(before + rest) for before in (b"1", b'"', b"[", b"{}"))
