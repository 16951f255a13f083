"""The wire that a body speaks: named, or detected from its first frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from streamparse.assembler import Assembler
from streamparse.dialects import InBandParser
from streamparse.frames import Frame
from streamparse.parser.options import ParserOptions
from streamparse.providers.wires import DEFAULT_WIRE, UNDECIDED_FRAMES, WIRES, detect, find_foreign_error
from streamparse.reading.errors import report_provider_error
from streamparse.reading.wire import Recognition, Wire
from streamparse.sink import Sink


class WireSelector:
    """Gives each frame to the wire of its body: the one called `name`, or with "auto" the one that the frames show."""

    def __init__(self, name: str, options: ParserOptions, assembler: Assembler, inband: InBandParser | None) -> None:
        self._options = options
        self._assembler = assembler
        self._inband = inband
        self._sink: Sink = inband or assembler
        self._undecided: list[Frame] = []
        self._recognition: Recognition | None = None  # of a named wire, until it is known to be right or wrong
        self.scope: Literal["body", "answers", "answer"] = "body"
        """What is read: the whole body, all of its answers, or the first."""
        self.name: str | None = None
        self.wire: Wire | None = None
        if name != "auto":
            self._recognition = Recognition(name)
            self._begin(name)
        self.frame: Callable[[Frame], None] = self._open
        """Takes the next frame."""

    @property
    def settled(self) -> bool:
        """Whether the wire is known, and the body has shown that it is of this wire."""
        return self.wire is not None and (self._recognition is None or self._recognition.settled)

    @property
    def over(self) -> bool:
        """Whether the wire is known, and its own end marker has come."""
        return self.wire is not None and self.wire.over

    @property
    def sealed(self) -> bool:
        """Whether it is `over`, and no other answer may begin after the marker."""
        return self.wire is not None and self.wire.over and not self.wire.reopens

    @property
    def ended(self) -> bool:
        """Whether what is read has ended: what comes, or is missing, is no concern of the answer any more."""
        return self.scope != "body" and (self.over if self.scope == "answer" else self.sealed)

    def until_end(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames up to the marker that ends what is read."""
        for frame in frames:
            if self.ended:
                return
            yield frame

    def give_up(self) -> None:
        """No more frames come: those that showed no wire are an error as every provider writes one, or no answer."""
        if self.wire is None and self._undecided:
            self._recognition = Recognition(DEFAULT_WIRE)
            for frame in self._undecided:
                self._recognition.look(frame)
            self._begin(DEFAULT_WIRE)
            self.name = None
            self._report_mistake()

    def close(self) -> None:
        """The body is over."""
        self._report_mistake()
        if self.wire is not None:
            self.wire.close()

    def _open(self, frame: Frame) -> None:
        """Take the first frame: it may be an error of whatever is in front of the server."""
        self.frame = self._decide if self.wire is None else self._watch
        error = find_foreign_error(frame, self.name)
        if error is None:
            self.frame(frame)
        else:
            report_provider_error(self._sink, error)

    def _decide(self, frame: Frame) -> None:
        """Find out the wire; frames that do not show one wait."""
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
            self.frame = self.wire.frame
            self._report_mistake()
        self.wire.frame(frame)

    def _report_mistake(self) -> None:
        """Report once that the body is of another wire, or of none, if it is."""
        if self._recognition is None:
            return
        mistake = self._recognition.find_mistake(self._assembler.silent, self._assembler.ended)
        if mistake is not None:
            self._assembler.error("stream", *mistake)
            self._recognition = None

    def _begin(self, name: str) -> None:
        """From here on the body is of this wire."""
        self.name = name
        if self._inband is not None and WIRES[name].parses_calls:
            self._inband.ignore_calls("auto")
        options = self._options
        wire = self.wire = WIRES[name](self._sink, options.tools, options.limits, options.choice)
        self.frame = wire.frame
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self._assembler.record.position = frame
            wire.frame(frame)
