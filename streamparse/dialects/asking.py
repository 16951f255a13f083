"""At a marker: the dialects that share it are asked whether what follows is their own.

The first that says yes reads on; if none does, the marker was prose and comes out as text, or is dropped where it is
structure.  What is quoted, or stands in a thought that may go on behind it, is a call only if it is whole and names a
declared tool.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from msgspec.structs import replace

from streamparse.dialects.grammar import Context, Dialect
from streamparse.dialects.musing import Musing
from streamparse.dialects.options import Dialects, Reasoning
from streamparse.dialects.patience import Patience
from streamparse.dialects.reader import Overflow, Reader, Step
from streamparse.dialects.trial import Trial
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Asking"]


class Asking(Musing):
    """Lets dialects read what follows a marker.

    `found` is the name of the dialect that produced a call, once one did.
    """

    def __init__(self, sink: Sink, dialects: Dialects, tools: Toolset, reasoning: Reasoning, limits: Limits) -> None:
        super().__init__(sink, dialects, tools, reasoning)
        self._context = Context(sink, tools, limits, thoughts=reasoning != "closed")
        self._reader = Reader()
        self._grammar: Step[Dialect | None] | None = None
        self._opened = 0  # the size of the marker that is being tried, and of the gap before it
        self._quoted = False  # whether it is quoted
        self._dropped = False  # and whether it is structure if it opens nothing
        self._looked = 0  # how far behind it the grammars have looked
        self._patience = Patience()
        self.found: str | None = None
        self.moved: Callable[[int], None] | None = None
        """Told, when a marker is met, how many characters of the text are still to be read."""
        self.reads: Callable[[str], None] | None = None
        """Told which dialect is about to read a call."""

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
