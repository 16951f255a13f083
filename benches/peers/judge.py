"""What a library made of a stream: whether the calls are right, and how late they were given out."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from peers.clients import Client, Found, Read
from peers.source import Source
from peers.streams import Stream

__all__ = ["Late", "Reader", "Seen", "Verdict", "judge", "measure_lateness", "read_value"]

Word: TypeAlias = Literal["right", "cut call", "wrong call", "lost", "raised"]


class Seen(NamedTuple):
    """A call, and what had been taken from the source when it was given out."""

    found: Found
    taken: int
    reads: int


class Late(NamedTuple):
    """How long after the read that closed a call it was given out."""

    bytes: int
    ms: int


@dataclass(frozen=True)
class Verdict:
    """What a library made of one stream."""

    word: Word
    late_bytes: int = 0
    """Of all calls together, where they are right."""
    detail: str = ""
    """The class of what was raised."""

    @property
    def is_right(self) -> bool:
        return self.word == "right"

    @property
    def is_right_at_once(self) -> bool:
        return self.is_right and self.late_bytes == 0


class Reader:
    """A library that could be imported, with the source that it reads."""

    def __init__(self, client: Client) -> None:
        self.name = client.name
        self.distribution = client.distribution
        self.wires = client.wires
        self._source = Source()
        self._read: Read = client.make(self._source)

    def read(self, stream: Stream) -> list[Seen]:
        """Read a stream to its end."""
        self._source.load(stream.wire, stream.reads)
        return [Seen(found, self._source.taken, self._source.count) for found in self._read(stream.wire)]


def judge(reader: Reader, stream: Stream) -> Verdict:
    """Say what a library makes of a stream.

    A stream that is cut may raise: what counts is that no call is given out.
    """
    silence = io.StringIO()
    try:
        with redirect_stdout(silence), redirect_stderr(silence):
            seen = reader.read(stream)
    except Exception as error:  # noqa: BLE001 - whatever another library raises is a finding
        return Verdict("right") if stream.is_cut else Verdict("raised", detail=type(error).__name__)
    return compare(seen, stream)


def compare(seen: Sequence[Seen], stream: Stream) -> Verdict:
    """Hold the calls that were given out beside those that the stream has."""
    given = [(each.found.name, read_value(each.found.arguments)) for each in seen]
    right = [(call.name, call.arguments) for call in stream.calls]
    if given == right:
        return Verdict("right", sum(each.taken - call.closed_at for each, call in zip(seen, stream.calls, strict=True)))
    wrong = [arguments for name, arguments in given if (name, arguments) not in right]
    if not wrong and len(given) < len(right):
        return Verdict("lost")
    return Verdict("cut call" if wrong and all(isinstance(each, str) for each in wrong) else "wrong call")


def measure_lateness(reader: Reader, stream: Stream) -> list[Late]:
    """Return how late each call of a stream is, all of which the library reads rightly."""
    seen = reader.read(stream)
    if not compare(seen, stream).is_right:
        raise AssertionError(f"{reader.name} reads other calls from {stream.wire} as documented")
    return [
        Late(each.taken - call.closed_at, stream.find_ms(each.reads) - stream.find_ms(call.closed_in))
        for each, call in zip(seen, stream.calls, strict=True)
    ]


def read_value(arguments: Any) -> Any:
    """The value of arguments: no text counts as an empty object, what is no JSON stays text."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments
