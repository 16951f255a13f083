"""Where the verbs end: text, items, token counts and the end of the turn become events; calls are in `calls`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.assembler.calls import Calls
from streamparse.assembler.event_log import Halt, Record
from streamparse.assembler.lifecycle import Ends
from streamparse.assembler.names import mint_ids
from streamparse.events import Done, ProviderItem, ReasoningDelta, RefusalDelta, Scope, TextDelta
from streamparse.json import Mode
from streamparse.limits import Limits
from streamparse.response import ParsedResponse
from streamparse.sink import Outcome
from streamparse.tools import Toolset

__all__ = ["Assembler"]

_CALLS = ("_call", "_tool_use", "toolCall", "executed_tools")
"""How the kinds of items end that are calls: of tools that take text, or that the server runs itself."""


class Assembler:
    """The sink at the end of the line: turns verbs into events, and keeps their sum."""

    reads_markup = False

    def __init__(
        self, tools: Toolset, limits: Limits, mint: Callable[[], str] | None = None, mode: Mode = "lenient"
    ) -> None:
        self.record = Record()
        ends = self._ends = Ends(self.record, tools, limits, mode, mint or mint_ids(), self.halt)
        calls = self._calls = Calls(self.record, tools, limits, ends, self.halt)
        self.call_start = calls.start
        self.call_arguments = calls.arguments
        self.call_teller = calls.teller
        self.call_whole = calls.whole
        self.call_end = calls.end
        self.call_repaired = calls.repaired
        self.call_error = ends.error
        self.call_revoke = ends.revoke_call
        self.calls_doubted = ends.doubted
        self._waiting = ends.waiting
        self._add_content = self.record.content.write
        self._add_reasoning = self.record.reasoning.write
        self._failed = ""  # why the turn does not count
        self._taken_back = ""  # why no call of the turn stands, if none does
        self._settled = False  # no more arguments come
        self._wants_results = False  # the server ended its turn for calls
        self._done = False
        self._is_stopped = False
        self.ended = False
        """Whether the server ended its turn."""

    @property
    def stopped(self) -> bool:
        """Whether the model itself ended the turn: no limit cut it, and nothing failed."""
        return self._is_stopped and not self._failed

    @property
    def calls_found(self) -> int:
        """How many calls have started so far."""
        return len(self._ends)

    def look(self, index: int) -> dict[str, Any]:
        """Return the arguments of a call so far, or all of them once it is complete.

        Raises KeyError if there is no call of that index, or if it broke.
        """
        for call in reversed(self.record.response.tool_calls):
            if call.index == index:
                return call.arguments
        return self._calls.look(index)

    @property
    def silent(self) -> bool:
        """Whether nothing was told so far: nothing of an answer, nor of its end, nor that it failed."""
        response = self.response
        said = response.content or response.reasoning or response.refusal or response.items
        ended = response.finish_reason is not None or response.usage is not None
        return not (said or ended or self.calls_found or self._failed)

    @property
    def response(self) -> ParsedResponse:
        """The answer so far; looked at again, it costs what came since."""
        response = self.record.sum_up()
        self._add_content = self.record.content.write
        self._add_reasoning = self.record.reasoning.write
        return response

    def text(self, text: str) -> None:
        if self._waiting:
            self._calls.supersede()
        self._add_content(text)
        self.record.events.append(TextDelta(text))

    def reasoning(self, text: str) -> None:
        if self._waiting:
            self._calls.supersede()
        self._add_reasoning(text)
        self.record.events.append(ReasoningDelta(text))

    def refusal(self, text: str) -> None:
        """A refused turn has no calls, whatever its finish reason says; without calls it counts like any other."""
        if self._waiting:
            self._calls.supersede()
        if not self._taken_back:
            self._take_back("refusal")
        self.record.refusal.write(text)
        self.record.events.append(RefusalDelta(text))

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self.record.mark("item", len(self.record.response.items))
        self.record.events.append(ProviderItem(kind, data, index))
        self.record.response.items.append({"kind": kind, "data": data, "index": index})

    # -- the end -------------------------------------------------------------------------------------

    def usage(self, usage: dict[str, Any]) -> None:
        self.record.response.usage = {**(self.record.response.usage or {}), **usage}

    def finish(self, reason: str, outcome: Outcome = "stop") -> None:
        self.record.response.finish_reason = reason
        self.ended = True
        self._is_stopped = self._settled = outcome in ("stop", "tools")
        self._wants_results = outcome == "tools"
        if outcome == "failed":
            self._fail(reason)
        elif self._is_stopped:
            self._calls.settle_pending()

    def end(self) -> None:
        if not self.ended:  # no reason was given, and none that a limit cut the arguments
            self._settled = True
            self._calls.settle_empty()
        self.ended = True

    def stop(self) -> None:
        """The model ended the turn, by the word of whoever feeds the text."""
        self._is_stopped = True
        self.end()

    def end_whole(self) -> None:
        """The whole answer is there, as somebody decoded it: a call without arguments has none."""
        self._calls.settle_pending()
        self._calls.settle_lacking()
        self.stop()

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self.record.error(scope, code, message, None, offset)
        if code == "provider_error":
            self._fail(code)
        elif scope == "stream":
            self._failed = self._failed or code

    def halt(self, code: str, message: str) -> None:
        """End the parse at a stream limit, with `Done`; raises `Halt`."""
        self.error("stream", code, message)
        self.close()
        raise Halt(code)

    def close(self, truncated: str | None = "stream_truncated") -> None:
        """Give up what is open and make `Done`; `truncated` is the code for a turn that never ended."""
        if self._done:
            return
        self._done = True
        if truncated and not self.ended and not self._failed:
            self.record.error("stream", truncated, "the body ended before the server ended its turn")
            self._failed = truncated
        if self._settled:
            self._calls.settle_empty()
            self._calls.settle_lacking()
        self._calls.give_up()
        self._miss_call()
        if truncated:
            self._miss_answer()
        if self._taken_back:
            self._take_back(self._taken_back)
        if not self.stopped:
            self._ends.revoke_uncertain()
        response = self.record.response
        response.ok = not self._failed and not self._ends.has_taken_back
        self.record.events.append(Done(response.finish_reason, response.usage, response.ok))

    def _miss_call(self) -> None:
        """A turn that ended for calls has one, be it broken or of another kind than those of functions."""
        response = self.record.response
        stands = any(not call.revoked or call.place == "field" for call in response.tool_calls)
        is_there = stands or response.broken_calls or any(map(_is_call, response.items))
        if self._wants_results and not (self._failed or self._taken_back or is_there):
            reason = response.finish_reason
            self.error("stream", "missing_call", f"the turn ended with {reason!r}, and there is no call")

    def _miss_answer(self) -> None:
        """An end marker alone is no answer: before it a server says something, be it why it ends or what it cost."""
        if self.ended and not self._is_stopped and self.silent:
            self.error("stream", "not_a_stream", "the answer has an end, and nothing before it")

    def _fail(self, reason: str) -> None:
        """The server ended the turn with a failure."""
        self._failed = reason
        self._take_back(reason)

    def _take_back(self, reason: str) -> None:
        """No call of the turn stands: not those that are complete, nor those that will be."""
        self._taken_back = reason
        for place, call in enumerate(self.record.response.tool_calls):
            if not call.revoked:
                self._ends.revoke(place, reason)


def _is_call(item: dict[str, Any]) -> bool:
    return str(item["kind"]).endswith(_CALLS)
