"""What divides the calls of the text, or follows them: a model that calls a tool writes the call, and then nothing.

An example in an answer goes on; a call seldom does.  So these are *breaks*, where they stand behind a call of the text:

| break | no break |
|---|---|
| visible text, a refusal | white space |
| a thought | white space; behind a call that stands in a thought: its dialect says that the thought resumes |
| a native call that may run | the same call as one in the text, which it confirms; one that is refused |

A call of a tool with effects that stands before a break does not run, and neither does any other in the text: half a
plan is worse than none.  It also counts there if its arguments do not fit, if it broke, and if it was revoked because
text followed it; but not where it is quoted, or was drafted in a thought.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.assembler.event_log import have_same_types
from streamparse.json import JSONError, read
from streamparse.runtime.call import Call


class Breaks:
    """The breaks of one answer, and the calls of its text that a native call may still confirm.

    Where something stands is told by the indexes of the calls, which are in order of appearance.
    """

    def __init__(self) -> None:
        self._next = 0  # the index of the call that comes next, at least
        self._behind = 0  # text, a refusal or a native call follows the calls with smaller indexes
        self._thought = 0  # a thought follows the calls with smaller indexes
        self._in_text: dict[str, list[tuple[Call, dict[str, Any]]]] = {}
        self._written: dict[int, list[str]] = {}  # the arguments of calls that may confirm one

    def note_start(self, index: int) -> None:
        """Note that a call has begun."""
        self._next = max(self._next, index + 1)

    def note_text(self, text: str) -> None:
        """Note a piece of the visible text, or of a refusal."""
        if text and not text.isspace():
            self._behind = self._next

    def note_thought(self, text: str) -> None:
        """Note a piece of a thought."""
        if text and not text.isspace():
            self._thought = self._next

    def note_native_call(self, index: int) -> None:
        """Note a native call that may run."""
        self._behind = max(self._behind, index)

    def note_call_in_text(self, call: Call, arguments: dict[str, Any]) -> None:
        """Note a whole call of the text, with its arguments as they were read."""
        self._in_text.setdefault(call.name, []).append((call, arguments))

    def note_arguments(self, call: Call, fragment: str) -> None:
        """Keep a piece of the arguments of a call that may turn out to be the double of one in the text."""
        if self._in_text.get(call.name):
            self._written.setdefault(call.index, []).append(fragment)

    def forget_arguments(self, call: Call) -> str:
        """Return the arguments that were kept of a call, which has ended."""
        return "".join(self._written.pop(call.index, ()))

    def find_confirmed(self, name: str, arguments: dict[str, Any] | None, *, revoked: bool) -> Call | None:
        """Return the call of the text that a native one repeats; each is confirmed once.  Without arguments none is.

        The pairs are those of `EventLog.add_call`: either the one in the text is revoked, or the native one is an
        error.
        """
        known = self._in_text.get(name, [])
        for place, (call, written) in enumerate(known):
            if call.revoked is revoked and written == arguments and have_same_types(written, arguments):
                del known[place]
                call.place = "field"
                return call
        return None

    def is_divided(self, calls: Iterable[Call], *, with_quoted: bool) -> bool:
        """Whether a break follows one of the calls in the text of a tool with effects."""
        return any(self._stands_before_break(call) and (with_quoted or call.place != "quoted") for call in calls)

    def _stands_before_break(self, call: Call) -> bool:
        in_thought = call.place == "thought"
        if not call.has_effect_in_text or (in_thought and call.revoked):
            return False
        return call.index < self._behind or (call.index < self._thought and not in_thought)


def read_arguments(text: str) -> dict[str, Any] | None:
    """Read the arguments of a native call that is an error because it came twice; None if they cannot be read."""
    try:
        value = read(text, "heal").value if text.strip() else {}
        value = read(value, "heal").value if isinstance(value, str) else value
    except JSONError:
        return None
    return {} if value is None else value if isinstance(value, dict) else None
