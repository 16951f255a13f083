"""The laws that any list of events must obey, looked at event by event as they come; shared by the stateful machines.

It knows events only, and none of what told them.
"""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import settings
from thoroughness import is_nightly

import streamparse as sp
from streamparse.errors import CODES

__all__ = ["Ledger", "settings_of"]


def settings_of(examples: int, steps: int) -> settings:
    """What a machine may cost: so many examples and steps; the nightly run keeps its own number of examples."""
    profile = settings.default
    assert profile is not None
    few = min(profile.max_examples, examples)
    return settings(max_examples=profile.max_examples if is_nightly() else few, stateful_step_count=steps)


class Ledger:
    """Takes the events of one answer as they come.

    Sum: the deltas of a call are its raw text.  Once: each call has one start, and one complete or one error; behind
    that nothing of it comes but one revocation.  Last: one `Done`, at the end.  Ids are distinct, indexes count.
    """

    def __init__(self) -> None:
        self.events: list[sp.Event] = []
        self.starts: list[sp.ToolCallStart] = []
        self.deltas: list[str] = []
        self.completes: dict[int, sp.ToolCallComplete] = {}
        self.broken: dict[int, sp.Error] = {}
        self.revoked: dict[int, str] = {}
        self.errors: list[sp.Error] = []
        self.items: list[sp.ProviderItem] = []
        self.text = self.reasoning = self.refusal = ""
        self.done: sp.Done | None = None

    @property
    def open(self) -> set[int]:
        """The calls that have started and are not over."""
        return set(range(len(self.starts))) - set(self.completes) - set(self.broken)

    @property
    def standing(self) -> list[sp.ToolCallComplete]:
        """The calls that are complete and were not taken back, by index."""
        return [call for index, call in sorted(self.completes.items()) if index not in self.revoked]

    def take(self, events: Iterable[sp.Event], received: int | None = None) -> None:
        """Take the events of a read; `received` is how many bytes of the body have come."""
        for event in events:
            assert self.done is None, f"behind Done: {event}"
            self._take(event)
            if isinstance(event, sp.Error):
                assert event.code in CODES
                assert event.offset is not None
                assert event.offset >= 0
                assert received is None or event.offset <= received
                self.errors.append(event)
            self.events.append(event)

    def _take(self, event: sp.Event) -> None:
        match event:
            case sp.ToolCallStart():
                assert event.index == len(self.starts), "calls count by appearance"
                self.starts.append(event)
                self.deltas.append("")
            case sp.ToolCallDelta():
                assert event.index in self.open
                assert event.arguments
                self.deltas[event.index] += event.arguments
            case sp.ToolCallComplete():
                assert event.index in self.open
                assert event.raw == self.deltas[event.index], "sum"
                start = self.starts[event.index]
                assert (event.id, event.name) == (start.id, start.name)
                assert event.id not in {call.id for call in self.completes.values()}, "ids are distinct"
                self.completes[event.index] = event
            case sp.ToolCallRevoked():
                assert event.index in self.completes
                assert event.index not in self.revoked
                self.revoked[event.index] = event.reason
            case sp.Error(index=int(index)):
                assert event.scope == "call"
                assert index in self.open
                self.broken[index] = event
            case sp.TextDelta():
                assert event.text
                self.text += event.text
            case sp.ReasoningDelta():
                assert event.text
                self.reasoning += event.text
            case sp.RefusalDelta():
                assert event.text
                self.refusal += event.text
            case sp.ProviderItem():
                self.items.append(event)
            case sp.Done():
                self.done = event

    def end(self, response: sp.ParsedResponse) -> None:
        """The parser is closed: all calls are over, and the response says what the events said."""
        assert self.done is not None
        assert not self.open, "every call that started is over"
        assert len({start.id for start in self.starts}) == len(self.starts), "ids are distinct"
        assert (response.content, response.reasoning, response.refusal) == (self.text, self.reasoning, self.refusal)
        completes = [self.completes[call.index] for call in response.tool_calls]
        assert [(call.id, call.name, call.arguments, call.raw) for call in response.tool_calls] == [
            (event.id, event.name, event.arguments, event.raw) for event in completes
        ]
        assert {call.index for call in response.tool_calls} == set(self.completes)
        assert {call.index for call in response.tool_calls if call.revoked} == set(self.revoked)
        assert sorted(call.index for call in response.broken_calls) == sorted(self.broken)
        assert response.errors == self.errors
        assert len(response.items) == len(self.items)
        assert response.ok == self.done.ok
        if self.done.ok:
            assert not [error for error in self.errors if error.scope == "stream"], "loud"
