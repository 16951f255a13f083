"""What an agent wants of the runs of its turns, besides what a `ToolRunner` is given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from streamparse.runtime import facts
from streamparse.runtime.steps import TakenStep


class Decision(NamedTuple):
    """Whether a call may run that waited for an approval, and why not."""

    granted: bool
    why: str = ""


class Recorder(Protocol):
    """Takes down the facts of a turn, before anything is done that they lead to."""

    def note(self, fact: facts.Fact, commands: Sequence[facts.Command]) -> None:
        """Take a fact; where the commands do something, it is durable once this returns.  Raises what a disk does."""

    def flush(self) -> None:
        """Write what was noted.  Raises what a disk does."""


class RunOptions(NamedTuple):
    """What an agent wants of one run: what takes it down, and what was taken down of it before.

    `suspends` puts off calls that wait for an approval, once nothing else is left; `asks` are the indexes of calls that
    need one whatever their tools say; `decisions` are those that were made before they asked, by key.  `host` is what
    tools find in their context.
    """

    recorder: Recorder | None = None
    restored: Sequence[TakenStep] = ()
    suspends: bool = False
    asks: Collection[int] = ()
    decisions: Mapping[str, Decision] = MappingProxyType({})
    host: Any = None
