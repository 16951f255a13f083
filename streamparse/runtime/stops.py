"""When an agent's run ends although the model would go on.

A stop is any function of the run's state that returns a reason, or None to let the run go on.  It is asked before each
request, and never when the model has just given its output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from streamparse.runtime.history import History
from streamparse.runtime.rounds import Round
from streamparse.usage import TokenCounts

MAX_TURNS: Final = 20
"""The turns of a run whose agent names no other limit."""


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """What a stop may look at.

    `turns` counts the answers that stand in the history, `tokens` is the sum of what the provider counted (also for
    answers that were discarded), `seconds` is the time since the run began, `history` holds earlier runs, too.
    `rounds` are those of this run.
    """

    turns: int
    seconds: float
    tokens: TokenCounts
    history: History
    rounds: tuple[Round, ...] = ()


Stop: TypeAlias = Callable[[RunState], str | None]


class MaxTurns(msgspec.Struct, frozen=True):
    """The stop that `max_turns` returns."""

    turns: int

    def __call__(self, state: RunState) -> str | None:
        return f"max_turns: {self.turns}" if state.turns >= self.turns else None


class MaxSeconds(msgspec.Struct, frozen=True):
    """The stop that `max_seconds` returns."""

    seconds: float

    def __call__(self, state: RunState) -> str | None:
        return f"max_seconds: {self.seconds:g}" if state.seconds >= self.seconds else None


def max_turns(turns: int) -> MaxTurns:
    """Stop after so many turns.  An agent without this stop ends after 20."""
    _check("turns", turns)
    return MaxTurns(turns)


def max_seconds(seconds: float) -> MaxSeconds:
    """Stop after so many seconds, also in the middle of an answer: what runs then is cancelled."""
    _check("seconds", seconds)
    return MaxSeconds(seconds)


def max_tokens(tokens: int) -> Stop:
    """Stop once the answers and their prompts have cost so many tokens.

    They are counted by the provider: it never stops a run whose server tells no counts.
    """
    _check("tokens", tokens)

    def stop(state: RunState) -> str | None:
        return f"max_tokens: {tokens}" if state.tokens.total >= tokens else None

    return stop


def max_repeats(repeats: int) -> Stop:
    """Stop once the model has got the same result of the same call so many times in this run."""
    _check("repeats", repeats)

    def stop(state: RunState) -> str | None:
        seen = Counter(
            msgspec.json.encode((each.tool_name, each.arguments, each.result, each.error), order="sorted")
            for round_ in state.rounds
            for each in round_.results
            if not each.revoked
        )
        return f"max_repeats: {repeats}" if max(seen.values(), default=0) >= repeats else None

    return stop


def _check(name: str, value: float) -> None:
    if not value > 0:  # NaN, too
        raise ValueError(f"{name} must be more than 0, got {value}")
