"""Each room by itself: what it is fed, and a sink that hears nothing behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.dialects import CATALOGUE, InBandParser
from streamparse.frames import AutoFramer, Frame
from streamparse.tools import Toolset

__all__ = ["ROOMS", "Deaf", "parse"]

NO_TOOLS = Toolset.of(None)
LIMITS = sp.Limits()

Room = Callable[[str, list[bytes]], Callable[[], None] | None]


class Deaf:
    """A `Sink` that does nothing, and a call that says nothing."""

    index = 0
    id = ""
    name = "write_file"
    raw = ""
    closed = False
    pending = False
    reads_markup = True

    def _nothing(self, *_: Any, **__: Any) -> None:
        pass

    def call_start(self, *_: Any) -> Deaf:
        return self

    def call_teller(self, *_: Any) -> Callable[..., None]:
        return self._nothing

    call_whole = call_start
    text = reasoning = refusal = call_arguments = call_end = call_repaired = call_error = call_revoke = _nothing
    calls_doubted = item = fact = finish = end = go_on = error = _nothing


class Told(Deaf):
    """A `Sink` that keeps what it is told: the input of the rooms behind."""

    def __init__(self) -> None:
        self.verbs: list[tuple[str, str]] = []

    @property
    def raw(self) -> str:  # type: ignore[override]
        """All argument text: each stream that asks for it has one call."""
        return "".join(text for verb, text in self.verbs if verb == "call_arguments")

    def text(self, text: str) -> None:
        self.verbs.append(("text", text))

    def call_start(self, name: str, *_: Any) -> Deaf:
        self.verbs.append(("call_start", name))
        return self

    def call_arguments(self, _: Any, fragment: str) -> None:
        self.verbs.append(("call_arguments", fragment))

    def call_teller(self, call: Any) -> Callable[..., None]:
        return partial(self.call_arguments, call)

    def call_whole(self, _: str, arguments: str, *__: Any) -> Deaf:
        self.verbs.append(("call_whole", arguments))
        return self


def _frames_of(reads: Iterable[bytes]) -> list[Frame]:
    framer = AutoFramer(LIMITS)
    return [frame for read in reads for frame in framer.feed(read)]


def _verbs_of(wire: str, reads: Iterable[bytes]) -> list[tuple[str, str]]:
    told = Told()
    reader = sp.WIRES[wire](told, NO_TOOLS, LIMITS)
    for frame in _frames_of(reads):
        reader.frame(frame)
    return told.verbs


def frames(_: str, reads: list[bytes]) -> Callable[[], None]:
    """Cutting bytes into the data of events, one event a read."""

    def run() -> None:
        auto = AutoFramer(LIMITS)
        auto.feed(reads[0])
        framer: Any = auto.framer
        try_next, feed = framer.try_next, framer.feed
        for read in reads[1:]:
            if try_next(read, 0) is None:
                feed(read)

    return run


def wire(name: str, reads: list[bytes]) -> Callable[[], None]:
    """Decoding frames and turning them into verbs."""
    found = _frames_of(reads)

    def run() -> None:
        reader = sp.WIRES[name](Deaf(), NO_TOOLS, LIMITS)
        decode, take = reader.decode, reader.take
        for frame in found:
            if frame.data != b"[DONE]":
                take(decode(frame.data))

    return run


def inband(name: str, reads: list[bytes]) -> Callable[[], None] | None:
    """Looking for calls in the text, with every dialect armed; None if there is no text."""
    texts = [text for verb, text in _verbs_of(name, reads) if verb == "text"]
    if not texts:
        return None

    def run() -> None:
        tell = InBandParser(Deaf(), CATALOGUE, "auto", NO_TOOLS, "auto", LIMITS).text
        for text in texts:
            tell(text)

    return run


def assembler(name: str, reads: list[bytes]) -> Callable[[], None]:
    """Making events of the verbs of the wire, and taking them after each; what is in the text is text here."""
    verbs = _verbs_of(name, reads)

    def run() -> None:
        made = Assembler(NO_TOOLS, LIMITS)
        call: Any = None
        for verb, text in verbs:
            if verb == "text":
                made.text(text)
            elif verb == "call_start":
                call = made.call_start(text)
            elif verb == "call_whole":
                made.call_whole("write_file", text)
            else:
                made.call_arguments(call, text)
            made.record.take()

    return run


def parse(wire: str, reads: Iterable[bytes], **options: Any) -> sp.ParsedResponse:
    """The whole of it: each read fed, the events of each taken and dropped."""
    parser = sp.StreamParser(wire, **options)
    feed = parser.feed
    for read in reads:
        feed(read)
    parser.close()
    return parser.response


ROOMS: dict[str, Room] = {"frames": frames, "wire": wire, "in-band": inband, "assembler": assembler}
"""Each room by name: given a wire and its reads, what runs it once."""
