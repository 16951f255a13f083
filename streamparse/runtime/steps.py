"""The facts of a turn as they are taken down, and a turn made of them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from streamparse.runtime import facts
from streamparse.runtime.turn import Turn


class ChangedRun(ValueError):
    """What was taken down of a run does not fit the agent that is to go on with it."""


class TakenStep(NamedTuple):
    """Facts that a turn took one after the other, and what began because of them: keys with the numbers of attempts."""

    facts: Sequence[facts.Fact]
    began: Sequence[str]


def list_begun(commands: Iterable[facts.Command]) -> list[str]:
    """List what some commands begin."""
    begun = (each for each in commands if isinstance(each, (facts.Start, facts.Open)))
    return [f"{each.key}#{each.attempt}{'?' if isinstance(each, facts.Open) else ''}" for each in begun]


def restore_turn(turn: Turn, steps: Iterable[TakenStep]) -> None:
    """Have a turn take what an earlier one took.

    Raises ChangedRun if it would not begin the same calls: a guard, a lock or an approval decides otherwise now.
    """
    for step in steps:
        commands = [command for fact in step.facts for command in turn.take(fact)]
        if list_begun(commands) != list(step.began):
            raise ChangedRun(
                "other calls would have begun than did: the tools, guards, locks or approvals of the agent have changed"
                f" since (then {list(step.began)}, now {list_begun(commands)})"
            )
