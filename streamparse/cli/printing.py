"""Events on a terminal: prose with a label in the margin, or JSON lines.

Whatever came from the stream is shown with its control characters escaped: a model's answer cannot move the
cursor or set the title of a window.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Protocol

import msgspec

from streamparse.events import (
    Done,
    Error,
    Event,
    ProviderItem,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)

__all__ = ["JsonPrinter", "Printer", "ProsePrinter", "escaped"]

MARGIN = 12

_ESCAPES = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
} | {  # what turns the direction of writing
    code: f"\\u{code:04x}" for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}

_STYLES = {
    "reasoning": "2;3",
    "call": "36",
    "run": "1;32",
    "revoked": "1;31",
    "item": "35",
    "error": "1;31",
    "done": "2",
}
"""ANSI attributes by the first word of a label."""


class Printer(Protocol):
    """What shows events."""

    def print(self, events: Iterable[Event]) -> None:
        """Show the events of one batch at once."""


class JsonPrinter:
    """One JSON object a line, as `msgspec.json.decode(line, type=Event)` reads it back."""

    def print(self, events: Iterable[Event]) -> None:
        """Write the events and flush."""
        output = sys.stdout.buffer
        output.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        output.flush()


class ProsePrinter:
    """Running text; each change of speaker starts a new line with its label in the margin."""

    def __init__(self, styled: bool) -> None:
        """Use colours if `styled`."""
        self._styled = styled
        self._label = ""

    def print(self, events: Iterable[Event]) -> None:
        """Write the events and flush."""
        for event in events:
            self._show(event)
        sys.stdout.flush()

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._run_on("text", text)
            case ReasoningDelta(text=text):
                self._run_on("reasoning", text)
            case RefusalDelta(text=text):
                self._run_on("refusal", text)
            case ToolCallStart(index=index, id=id, name=name):
                self._line(f"call {index}", f"{name}  {id}\n")
            case ToolCallDelta(index=index, arguments=piece):
                self._run_on(f"call {index}", piece)
            case ToolCallComplete(index=index, name=name, source=source, arguments=arguments):
                self._line(f"run {index}", f"{name}({_written(arguments)})  {source}")
            case ToolCallRevoked(index=index, reason=reason):
                self._line(f"revoked {index}", reason)
            case ProviderItem(kind=kind, data=data):
                self._line("item", f"{kind}  {_written(data)}")
            case Error():
                self._line("error", _error(event))
            case Done():
                self._line("done", _done(event))
                self._write("\n")

    def _run_on(self, label: str, text: str) -> None:
        """Write text that continues what the label said last."""
        if label != self._label:
            self._begin(label)
        self._write(self._painted(text))

    def _line(self, label: str, text: str) -> None:
        self._begin(label)
        self._write(self._painted(text))

    def _begin(self, label: str) -> None:
        self._write(("\n" if self._label else "") + label.ljust(MARGIN))
        self._label = label

    def _painted(self, text: str) -> str:
        text = escaped(text).replace("\n", "\n" + " " * MARGIN)
        style = _STYLES.get(self._label.split(" ")[0])
        return f"\x1b[{style}m{text}\x1b[0m" if self._styled and style else text

    def _write(self, text: str) -> None:
        sys.stdout.write(text)


def escaped(text: str) -> str:
    """Return text from a stream as it may be shown on a terminal."""
    return text.translate(_ESCAPES)


def _written(data: object) -> str:
    return msgspec.json.encode(data).decode()


def _error(error: Error) -> str:
    where = "".join(
        (
            f", call {error.index}" if error.index is not None else "",
            f", byte {error.offset}" if error.offset is not None else "",
        )
    )
    return f"{error.code} ({error.scope}{where}): {error.message}"


def _done(done: Done) -> str:
    ended = f"ended by the server: {done.finish_reason or 'no reason given'}" if done.ok else "not ended by the server"
    return f"{ended}  {_written(done.usage)}" if done.usage else ended
