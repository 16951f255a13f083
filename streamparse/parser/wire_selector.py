"""The wire that a body speaks: named, or told from its first frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from streamparse.assembler import Assembler
from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.providers.wires import UNDECIDED_FRAMES, WIRES, detect, foreign_error, wire_named
from streamparse.reading.errors import tell_provider_error
from streamparse.reading.registry import Recognition
from streamparse.reading.wire import Wire
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Spoken"]


class Spoken:
    """Gives each frame to the wire of its body: the one called `name`, or with "auto" the one that the frames show.

    `choice` is the answer that is read where a server sends several.  Raises ValueError for an unknown name.
    """

    def __init__(
        self, name: str, sink: Sink, assembler: Assembler, tools: Toolset, limits: Limits, choice: int
    ) -> None:
        self._sink = sink
        self._assembler = assembler
        self._tools = tools
        self._limits = limits
        self._choice = choice
        self._undecided: list[Frame] = []
        self._recognition: Recognition | None = None  # of a wire that was named, until it is told of
        self.listens: Literal["body", "answers", "answer"] = "body"
        """How long: to the end of the body, of all its answers, or of the first."""
        self.name: str | None = None
        self.on_wire: Callable[[str], None] = lambda _: None
        """Told the name of the wire before its first frame is read."""
        self.wire: Wire | None = None
        if name != "auto":
            wire_named(name)
            self._recognition = Recognition(name)
            self._begin(name)
        self.tell: Callable[[Frame], None] = self._open
        """Takes the next frame."""

    @property
    def settled(self) -> bool:
        """Whether the wire is known, and the body has shown that it is of this wire."""
        return self.wire is not None and (self._recognition is None or self._recognition.settled)

    @property
    def over(self) -> bool:
        """Whether the wire is known, and its own end marker has come."""
        return getattr(self.wire, "over", False)

    @property
    def sealed(self) -> bool:
        """Whether it is `over`, and no other answer may begin behind the marker."""
        return self.over and not getattr(self.wire, "reopens", True)

    @property
    def past_marker(self) -> bool:
        """Whether what comes, or is missing, is no concern of the answer any more."""
        return self.listens != "body" and (self.sealed or (self.listens == "answer" and self.over))

    def heeded(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames up to the marker that ends the listening."""
        for frame in frames:
            if self.past_marker:
                return
            yield frame

    def give_up(self) -> None:
        """No more frames come: those that showed no wire are an error as every provider writes one, or no answer."""
        if self.wire is None and self._undecided:
            name = next(iter(WIRES))
            self._recognition = Recognition(name)
            for frame in self._undecided:
                self._recognition.look(frame)
            self._begin(name)
            self.name = None
            self._tell_mistake()

    def close(self) -> None:
        """The body is over."""
        self._tell_mistake()
        if self.wire is not None:
            self.wire.close()

    def _open(self, frame: Frame) -> None:
        """Take the first frame: it may be an error of whoever stands in front of the server."""
        self.tell = self._decide if self.wire is None else self._watch
        error = foreign_error(frame, self.name)
        if error is None:
            self.tell(frame)
        else:
            tell_provider_error(self._sink, error)

    def _decide(self, frame: Frame) -> None:
        """Find out the wire; frames that do not tell wait."""
        self._undecided.append(frame)
        name = detect(frame)
        if name is not None:
            self._begin(name)
        elif len(self._undecided) >= UNDECIDED_FRAMES or frame.data.strip() == b"[DONE]":
            self.give_up()

    def _watch(self, frame: Frame) -> None:
        """Take a frame of the named wire, until one shows that it is the right one."""
        assert self.wire is not None
        assert self._recognition is not None
        self._recognition.look(frame)
        if self._recognition.settled:
            self.tell = self.wire.frame
            self._tell_mistake()
        self.wire.frame(frame)

    def _tell_mistake(self) -> None:
        """Tell that the body is of another wire, or of none, if it is; once."""
        if self._recognition is None:
            return
        mistake = self._recognition.mistake(self._assembler.silent, self._assembler.ended)
        if mistake is not None:
            self._assembler.error("stream", *mistake)
            self._recognition = None

    def _begin(self, name: str) -> None:
        """From here on the body is of this wire."""
        self.name = name
        self.on_wire(name)
        wire = self.wire = WIRES[name](self._sink, self._tools, self._limits, self._choice)
        self.tell = wire.frame
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self._assembler.record.place = frame
            wire.frame(frame)
