"""The sink in front of the assembler: finds calls and reasoning in the text that passes through.

In prose one search for the armed markers is all it costs.  At a marker each dialect that shares it is asked
whether what follows is its own; the first that says yes reads on, and if none does, the marker was
prose and comes out as text.  Nothing is held back but the beginning of a marker, what a dialect needs to
decide, and white space between a call and what follows it.  What is quoted is a call only if it is whole and names a
declared tool; quoted inside of a thought it is always thought.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Final, Literal

from msgspec.structs import replace

from streamparse.dialects.grammar import Context, Dialect, Thought
from streamparse.dialects.musing import AFTER, BLANK, START, TEXT, Musing
from streamparse.dialects.patience import Patience
from streamparse.dialects.reader import Overflow, Reader, Step
from streamparse.dialects.trial import Trial
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["InBand"]

_MOST_GAP: Final = 256  # blanks that may wait between a call and what follows; more are text


class InBand(Musing):
    """A `Sink` that listens to `text` and passes everything else on.

    `found` is the name of the dialect that produced a call, once one did.
    """

    def __init__(
        self,
        sink: Sink,
        dialects: Iterable[str | Dialect] | Literal["auto"],
        tools: Toolset,
        reasoning: Literal["auto", "open", "closed"],
        limits: Limits,
    ) -> None:
        super().__init__(sink, dialects, tools, reasoning)
        self._context = Context(sink, tools, limits, thoughts=reasoning != "closed")
        self._reader = Reader()
        self._grammar: Step[Dialect | None] | None = None
        self._opened = 0  # the size of the marker that is being tried, and of the gap before it
        self._looked = 0  # how far behind it the grammars have looked
        self._patience = Patience()
        self._quoted = False  # whether it is quoted
        self._dropped = False  # and whether it is structure if it opens nothing
        self._prose: Callable[[str], re.Match[str] | None] | None = None  # the search, while nothing is held
        self.found: str | None = None
        self.moved: Callable[[int], None] | None = None
        """Told, when a marker is met, how many characters of the text are still to be read."""
        self.reads: Callable[[str], None] | None = None
        """Told which dialect is about to read a call."""
        if self._thought is None and (bare := self._armed.candidates("", at_start=True, at_edge=True, at_line=True)):
            self._grammar = self._try(0, "", bare)

    def text(self, text: str) -> None:
        """Listen to a piece of text."""
        prose = self._prose
        if prose is not None and prose(text) is None:
            self._heard(text)
            if "`" in text or "~" in text:
                self._heard = self._quotes.ticks()
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

    def close(self, stopped: bool = False) -> None:
        """The text is over: decide what is held.  `stopped`: the model itself ended it, and nothing cut it."""
        self._reader.final = True
        self._reader.stopped = stopped
        self._advance()

    def _release(self) -> None:
        """Something else begins: what is held for a marker, or for a call that is not certain, comes before it."""
        reader = self._reader
        if self._grammar is not None and reader.committed:
            return
        if self._grammar is not None or reader.at < len(reader.buffer):
            reader.final = True
            self._advance()
            reader.final = False

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
            self._leave(None, overflow.most)
            return True
        return False

    # -- prose -----------------------------------------------------------------------------------------

    def _scan(self) -> bool:
        """Tell text up to the next marker and act on it; False if more text is needed."""
        reader = self._reader
        text, at = reader.buffer, reader.at
        markers = self._markers
        found = markers.search(text, at)
        end = len(text) if found is None else found.start()
        gap = end - at if self._place == AFTER and self._thought is None and not text[at:end].strip(BLANK) else 0
        if gap > _MOST_GAP:
            gap, self._place = 0, TEXT
        if end > at and not gap:
            self._say(self._take(end - at))
            if found is not None and markers is not self._markers:
                return True  # what may begin here is no marker any more
        if found is None:
            return self._drop_gap(gap)
        if markers.whole(found, reader.final):
            self._meet(found[0], gap)
            return True
        if reader.final:
            self._say(self._take(1))
        return reader.final

    def _drop_gap(self, gap: int) -> bool:
        """Blanks after a call wait for what follows; at the end of the text they are structure."""
        if self._reader.final:
            self._take(gap)
        return False

    # -- a marker --------------------------------------------------------------------------------------

    def _meet(self, marker: str, gap: int) -> None:
        """A whole marker stands at the reader's place, or behind a gap after a call."""
        if self._thought is not None:
            self._meet_in_thought(self._thought, marker)
            return
        at_edge = self._place != TEXT
        opens = self._armed.thoughts.get(marker) if at_edge or self._inside(marker) else None
        if opens is not None or (at_edge and marker in self._armed.strays):
            self._take(gap + len(marker))
            if opens is not None:
                self._enter_thought(opens)
            return
        if self._place == START and self._armed.opens_text(marker):
            self._markers = self._armed.at_start
        self._quoted = not at_edge and self._quotes.open
        at_line = at_edge or self._quotes.line_begins
        self._read(marker, gap, self._armed.candidates(marker, self._place == START, at_edge, at_line))

    def _inside(self, marker: str) -> bool:
        """Whether a thought may begin in the middle of a text with this marker, which nobody quotes."""
        return marker in self._armed.inside and not self._quotes.open

    def _meet_in_thought(self, thought: Thought, marker: str) -> None:
        """A whole marker stands at the reader's place, and a thought is open."""
        if marker in thought.closes:
            self._take(len(marker))
            self._leave_thought()
        elif self._fresh and (marker in thought.opens or marker in thought.echoes):
            self._take(len(marker))  # the prompt, or the model, opened it already
            self._ripen()
        else:
            self._quoted = self._quotes.open
            self._read(marker, 0, [] if self._quoted else self._armed.breaking(marker))

    def _read(self, marker: str, gap: int, candidates: list[tuple[Dialect, bool, bool]]) -> None:
        """Let the dialects read what follows a marker."""
        self._opened = gap + len(marker)
        self._dropped = marker in self._armed.drops and not self._quoted
        self._looked = 0
        if candidates:
            self._grammar = self._try(gap, marker, candidates)
        else:
            self._pass_over()

    def _try(self, gap: int, marker: str, candidates: list[tuple[Dialect, bool, bool]]) -> Step[Dialect | None]:
        """Ask each dialect that shares the marker; return the one that read a call."""
        reader, context = self._reader, self._context
        if self.moved is not None:
            self.moved(len(reader.buffer) - reader.at)
        for dialect, inclusive, declared in candidates:
            reader.remember(self._most(dialect, declared))
            reader.take(gap if inclusive else gap + len(marker))
            if (yield from reader.look(dialect.probe)) is not None:
                if self.reads is not None:
                    self.reads(dialect.name)
                if (yield from self._body(dialect, context.for_declared() if declared or self._quoted else context)):
                    self.found = dialect.name
                    return dialect
            elif self._dropped and reader.beginning(dialect.probe):
                self._cut_off(dialect)
                return dialect
            self._looked = max(self._looked, reader.taken())
            reader.rewind(0)
        return None

    def _most(self, dialect: Dialect, declared: bool) -> int | None:
        """How much may be held before a call is certain."""
        limits = self._context.limits
        if self._thought is not None:
            return limits.max_held_text if dialect.in_thought == "resumes" else limits.max_call_args
        return limits.max_held_text if declared else limits.max_call_args

    def _body(self, dialect: Dialect, context: Context) -> Step[bool]:
        """Let a dialect read; a call that is quoted, or after which the thought goes on, must first be whole."""
        if self._thought is not None and dialect.in_thought == "yields":
            self._leave_thought()
            return False
        if not self._quoted and (self._thought is None or dialect.in_thought == "ends"):
            if not (yield from dialect.body(self._reader, context)):
                return False
            if self._thought is not None:
                self._break_thought()
            return True
        reader, trial = self._reader, Trial()
        reader.pin()
        yield from dialect.body(reader, replace(context, sink=trial))
        if trial.convincing(context.tools):
            reader.forgive()
            trial.tell(context.sink)
            return True
        reader.unpin()
        return False

    def _cut_off(self, dialect: Dialect) -> None:
        """The text ends inside of a call's own markers, before its arguments: no text, and no call yet."""
        reader = self._reader
        reader.take(len(reader.buffer) - reader.at)
        markup = reader.forgive()
        self._sink.error("call", "truncated_call", f"the text ended inside a call's markup ({dialect.name}): {markup}")

    # -- after a marker --------------------------------------------------------------------------------

    def _leave(self, dialect: Dialect | None, seen: int = sys.maxsize) -> None:
        """The grammar has ended: what it took and gave no meaning to is text again."""
        self._grammar = None
        reader = self._reader
        kept = reader.forgive()
        reader.put_back(kept)
        if dialect is not None:
            self._patience.restore()
            self._leave_call(dialect)
            return
        if self._quoted:
            self._quotes.hold()
        self._pass_over(self._patience.spend(min(max(self._looked, len(kept)), seen)))

    def _pass_over(self, seen: int = 0) -> None:
        """The marker that was met opens nothing: it is structure, or text with what is `seen` behind it."""
        if self._dropped:
            self._take(self._opened)
        elif seen or self._opened:
            self._say(self._take(seen or self._opened))

    def _take(self, size: int) -> str:
        """Take what opens nothing."""
        self._patience.passed(size)
        return self._reader.take(size)
