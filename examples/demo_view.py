"""How the demo looks on a terminal: the events as they come, then what each call gained."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import streamparse as sp
from streamparse.cli.timeline_model import CallSpan, Timeline

__all__ = ["LiveView", "report"]

TIME = 10
LABEL = 11
WORD = 12
COLOURS = {"text": "", "arguments": "36", "call": "1;36", "complete": "1;32", "result": "1;33", "error": "1;31"}


class LiveView:
    """Events with their times, aligned; deltas of one kind run on.  Colours only on a terminal."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self._out = out
        self._coloured = out.isatty()
        self._width = min(shutil.get_terminal_size((110, 24)).columns, 140) - TIME - LABEL
        self._label = ""
        self._column = 0

    def show(self, moment: float, item: Any) -> None:
        """Print one event or result; `moment` is in seconds."""
        match item:
            case sp.TextDelta(text=text):
                self._run_on(moment, "text", text)
            case sp.ToolCallStart(index=index, name=name):
                self._line(moment, "call", f"{index}  {name}")
            case sp.ToolCallDelta(arguments=text):
                self._run_on(moment, "arguments", text)
            case sp.ToolCallComplete(index=index, name=name):
                self._line(moment, "complete", f"{index}  {name}: whole, and already running")
            case sp.ToolResult(index=index, result=result, error=error):
                self._line(moment, "result", f"{index}  {error or result}")
            case sp.Error(code=code, message=message):
                self._line(moment, "error", f"{code}: {message}")
            case sp.Done(finish_reason=reason, ok=ok):
                self._line(moment, "done", f"{reason}, ok={ok}")
                self._out.write("\n")
        self._out.flush()

    def _line(self, moment: float, label: str, text: str) -> None:
        self._begin(moment, label)
        self._write(text)

    def _run_on(self, moment: float, label: str, text: str) -> None:
        for number, part in enumerate(text.split("\n")):
            if not part:
                continue
            if number or label != self._label or self._is_full_before(part):
                self._begin(moment, label)
                part = part.lstrip()  # noqa: PLW2901
            self._write(part)

    def _is_full_before(self, part: str) -> bool:
        """Whether the line ends here: at a space if one comes in time."""
        room = self._width - self._column
        return room < (WORD if part.startswith(" ") else len(part))

    def _begin(self, moment: float, label: str) -> None:
        end = "\n" if self._label else ""
        self._out.write(f"{end}{moment:{TIME - 4}.3f} s  {label:<{LABEL}}")
        self._label, self._column = label, 0

    def _write(self, text: str) -> None:
        self._column += len(text)
        colour = COLOURS.get(self._label) if self._coloured else ""
        self._out.write(f"\x1b[{colour}m{text}\x1b[0m" if colour else text)


def report(timeline: Timeline, closed: Sequence[float], started: Sequence[float]) -> str:
    """What starting early was worth; `closed` and `started` are seconds since the request, in call order."""
    lines, wait = list[str](), timeline.wait
    for call, read, start in zip(timeline.calls, closed, started, strict=True):
        lines += [
            f"call {call.index}  {call.name}",
            f"  {'closing byte read':<32}{read:8.4f} s",
            f"  {'tool started':<32}{start:8.4f} s   {(start - read) * 1000:.2f} ms after the read",
        ]
        for rule, moment in _other_rules(call).items():
            lines.append(f"  {rule:<32}{moment + wait:8.4f} s   {(moment + wait - start) * 1000:.1f} ms later")
    last, late = timeline.find_last_result("closed"), timeline.find_last_result("finish")
    if last is not None and late is not None:
        when = "before" if last < timeline.end else "after"
        lines.append(
            f"All results were there at {last + wait:.2f} s, {abs(timeline.end - last):.2f} s {when} the answer ended;"
            f" with a start at the finish reason, at {late + wait:.2f} s."
        )
    return "\n".join(lines)


def _other_rules(call: CallSpan) -> dict[str, float]:
    """When the tool could have started by the rules of other clients."""
    rules = {"could, at the finish reason": call.finish, "could, at the end of the stream": call.end}
    if call.next_call is None or call.next_call >= call.finish:
        return rules
    return {"could, at the next call": call.next_call} | rules
