"""The sink in front of the assembler: finds calls and reasoning in the text that passes through.

In prose one search for the armed markers is all it costs.  At a marker each dialect that shares it is asked
whether what follows is its own; the first that says yes reads on, and if none does, the marker was
prose and comes out as text.  Nothing is held back but the beginning of a marker, what a dialect needs to
decide, and white space between a call and what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

from streamparse.dialects.armed import Armed
from streamparse.dialects.grammar import Context, Dialect, Thought
from streamparse.dialects.markers import Markers
from streamparse.dialects.reader import Overflow, Reader, Step
from streamparse.events import Source
from streamparse.limits import Limits
from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

__all__ = ["InBand"]

START: Final = 0  # nothing but blanks and thoughts so far
AFTER: Final = 1  # nothing but blanks since a call
TEXT: Final = 2

_RESCAN = 4096
_MOST_GAP = 256  # blanks that may wait between a call and what follows; more are text
_BLANK = " \t\r\n"


class InBand:
    """A `Sink` that listens to `text` and passes everything else on.

    `found` is the name of the dialect that produced a call, once one did.
    """

    def __init__(
        self,
        sink: Sink,
        dialects: Iterable[str] | Literal["auto"],
        tools: Toolset,
        reasoning: Literal["auto", "open", "closed"],
        limits: Limits,
    ) -> None:
        self._sink = sink
        # What is not listened to goes to the sink itself, without a call in between.
        self.reasoning = sink.reasoning
        self.refusal = sink.refusal
        self.call_arguments = sink.call_arguments
        self.call_teller = sink.call_teller
        self.call_end = sink.call_end
        self.call_repaired = sink.call_repaired
        self.call_error = sink.call_error
        self.item = sink.item
        self.usage = sink.usage
        self.finish = sink.finish
        self.end = sink.end
        self.error = sink.error
        self._armed = Armed(dialects, tools, reasoning != "closed")
        self._context = Context(sink, tools, limits)
        self._reader = Reader()
        self._grammar: Step[bool] | None = None
        self._opened = 0  # the size of the marker that is being tried, and of the gap before it
        self._dropped = False  # and whether it is structure if it opens nothing
        self._place = START
        self._prose: Callable[[str], re.Match[str] | None] | None = None  # the search, while nothing is held
        self._prior = ""  # the text that was told last
        self._tell: Callable[[str], None] = sink.text
        self._markers: Markers = self._armed.at_start
        self._thought: Thought | None = None
        self.found: str | None = None
        self.moved: Callable[[int], None] | None = None
        """Told, when a marker is met, how many characters of the text are still to be read."""
        if reasoning == "open":
            self._enter_thought(self._armed.any_thought)
        elif bare := self._armed.candidates("", at_start=True, at_edge=True, at_line=True):
            self._grammar = self._try(0, "", bare)

    # -- the one verb that is listened to --------------------------------------------------------------

    def text(self, text: str) -> None:
        prose = self._prose
        if prose is not None and prose(text) is None:
            self._prior = text
            self._tell(text)
            return
        reader = self._reader
        if reader.flow is not None:
            rest = reader.flow(text)
            if rest is None:
                return
            text = rest
        reader.push(text)
        self._advance()
        calm = self._grammar is None and reader.at >= len(reader.buffer)
        settled = self._place == TEXT or self._thought is not None
        self._prose = self._markers.search if calm and settled else None

    def close(self) -> None:
        """The text is over: decide what is held."""
        self._reader.final = True
        self._advance()

    # -- verbs that are passed on ----------------------------------------------------------------------

    def call_start(self, name: str, id: str | None = None, source: Source = "native") -> Call:
        self._release()
        return self._sink.call_start(name, id, source)

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        self._release()
        return self._sink.call_whole(name, arguments, id)

    # -- inside ----------------------------------------------------------------------------------------

    def _advance(self) -> None:
        reader = self._reader
        while True:
            if self._grammar is not None:
                if not self._resume():
                    return
            elif reader.at >= len(reader.buffer) or not self._scan():
                return

    def _resume(self) -> bool:
        """Let the grammar go on; False if it needs more text."""
        assert self._grammar is not None
        try:
            next(self._grammar)
        except StopIteration as stop:
            self._leave(stop.value)
            return True
        except Overflow as overflow:
            self._leave(False, overflow.most)
            return True
        return False

    def _scan(self) -> bool:
        """Tell text up to the next marker and act on it; False if more text is needed."""
        reader = self._reader
        text, at = reader.buffer, reader.at
        found = self._markers.search(text, at)
        end = len(text) if found is None else found.start()
        gap = end - at if self._place == AFTER and not text[at:end].strip(_BLANK) else 0
        if gap > _MOST_GAP:
            gap, self._place = 0, TEXT
        if end > at and not gap:
            self._say(end - at)
        if found is None:
            return self._drop_gap(gap)
        if self._markers.whole(found, reader.final):
            self._meet(found[0], gap)
            return True
        if reader.final:
            self._say(1)
        return reader.final

    def _drop_gap(self, gap: int) -> bool:
        """Blanks after a call wait for what follows; at the end of the text they are structure."""
        if self._reader.final:
            self._reader.take(gap)
        return False

    def _meet(self, marker: str, gap: int) -> None:
        """A whole marker stands at the reader's place, or behind a gap after a call."""
        thought = self._thought
        if thought is not None and marker in thought.closes:
            self._reader.take(len(marker))
            self._leave_thought()
            return
        opens = self._armed.thoughts.get(marker)
        if thought is None and opens is not None and self._place != TEXT:
            self._reader.take(gap + len(marker))
            self._enter_thought(opens)
            return
        at_edge = self._place != TEXT
        at_line = at_edge or self._prior.endswith("\n")
        candidates = self._armed.candidates(marker, self._place == START, at_edge, at_line)
        self._opened = gap + len(marker)
        self._dropped = marker in self._armed.drops
        if not candidates:
            self._pass_over()
            return
        self._grammar = self._try(gap, marker, candidates)

    def _try(self, gap: int, marker: str, candidates: list[tuple[Dialect, bool, bool]]) -> Step[bool]:
        """Ask each dialect that shares the marker; whether one read a call."""
        reader, context = self._reader, self._context
        if self.moved is not None:
            self.moved(len(reader.buffer) - reader.at)
        for dialect, inclusive, declared in candidates:
            reader.remember(context.limits.max_held_text if declared else context.limits.max_call_args)
            reader.take(gap if inclusive else gap + len(marker))
            if (yield from reader.look(dialect.probe)) is not None:
                ground = context.for_declared() if declared else context
                if (yield from dialect.body(reader, ground)):
                    self.found = dialect.name
                    self._armed.found(dialect)
                    return True
            elif self._dropped and reader.beginning(dialect.probe):
                self._cut_off(dialect)
                return True
            reader.rewind(0)
        return False

    def _cut_off(self, dialect: Dialect) -> None:
        """The text ends inside of a call's own markers, before its arguments: no text, and no call yet."""
        reader = self._reader
        reader.take(len(reader.buffer) - reader.at)
        markup = reader.forgive()
        self._sink.error("call", "truncated_call", f"the text ended inside a call's markup ({dialect.name}): {markup}")

    def _leave(self, found: bool, seen: int = _RESCAN) -> None:
        """The grammar has ended: what it took and gave no meaning to is text again."""
        self._grammar = None
        reader = self._reader
        kept = reader.forgive()
        reader.put_back(kept)
        if found:
            if self._thought is not None:
                self._leave_thought()
            self._place = AFTER
            self._markers = self._armed.later
        else:
            # Looking again at much that was rejected once would make the work grow with its square.
            self._pass_over(seen if len(kept) > seen else 0)

    def _pass_over(self, seen: int = 0) -> None:
        """The marker that was met opens nothing: it is structure, or text with what is `seen` behind it."""
        if self._dropped:
            self._reader.take(self._opened)
        elif seen or self._opened:
            self._say(seen or self._opened)

    def _say(self, size: int) -> None:
        text = self._reader.take(size)
        self._prior = text
        if self._thought is None and self._place != TEXT and text.strip(_BLANK):
            self._place = TEXT
            self._markers = self._armed.later
        self._tell(text)

    def _enter_thought(self, thought: Thought) -> None:
        self._thought = thought
        self._tell = self._sink.reasoning
        self._markers = self._armed.in_thought(thought)

    def _leave_thought(self) -> None:
        self._thought = None
        self._tell = self._sink.text
        self._markers = self._armed.at_start if self._place == START else self._armed.later

    def _release(self) -> None:
        """A native call begins: text that is held for a marker's beginning comes before it."""
        reader = self._reader
        if self._grammar is None and reader.at < len(reader.buffer):
            if self._place == AFTER and not reader.buffer[reader.at :].strip(_BLANK):
                reader.rest()
            else:
                self._say(len(reader.buffer) - reader.at)
