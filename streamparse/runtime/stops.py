"""When an agent's run ends although the model would go on.

A stop is any function of the run's state that returns a reason, or None to let the run go on.  It is asked before each
request, and never when the model has just given its output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import msgspec

from streamparse.runtime.history import History
from streamparse.runtime.rounds import Round
from streamparse.usage import TokenCounts

MAX_TURNS: Final = 20  # bound: the turns of a run whose agent names no other limit


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """What a stop may look at.

    `turns` counts the answers in the history, `tokens` is the sum of what the provider counted (also for answers that
    were discarded), `seconds` is the time since the run began, `history` holds earlier runs, too.
    `rounds` are those of this run.
    """

    turns: int
    seconds: float
    tokens: TokenCounts
    history: History
    rounds: tuple[Round, ...] = ()


StopCondition: TypeAlias = Callable[[RunState], str | None]


def list_stops(given: Iterable[StopCondition]) -> tuple[StopCondition, ...]:
    """Return the stops; raises TypeError for what is no list of functions."""
    if callable(given) or not isinstance(given, Iterable):
        raise TypeError("stop is a list: write stop=[max_turns(20)]")
    stops = tuple(given)
    for stop in stops:
        if not callable(stop):
            raise TypeError(f"a stop is a function of the run's state, such as max_turns(20), not {stop!r}")
    return stops


class MaxStop(msgspec.Struct, frozen=True):
    """A stop as soon as something that is counted has reached its `most`; `name` is that of its function.

    With `answer` the model is asked once more first, for an answer without calls.
    """

    name: str
    most: float
    count: Callable[[RunState], float]
    answer: bool = False

    def __post_init__(self) -> None:
        if not self.most > 0:  # NaN, too
            raise ValueError(f"{self.name.removeprefix('max_')} must be more than 0, got {self.most}")

    def __call__(self, state: RunState) -> str | None:
        shown = f"{self.most:g}" if self.name == "max_seconds" else self.most
        return f"{self.name}: {shown}" if self.count(state) >= self.most else None


def max_turns(turns: int) -> MaxStop:
    """Stop after so many turns.  An agent without this stop ends after 20."""
    return MaxStop("max_turns", turns, lambda state: state.turns)


def max_seconds(seconds: float) -> MaxStop:
    """Stop after so many seconds, also in the middle of an answer: what runs then is cancelled."""
    return MaxStop("max_seconds", seconds, lambda state: state.seconds)


def max_tokens(tokens: int) -> MaxStop:
    """Stop once the answers and their prompts have cost so many tokens.

    They are counted by the provider: it never stops a run whose server reports no counts.
    """
    return MaxStop("max_tokens", tokens, lambda state: state.tokens.total)


def max_repeats(repeats: int, *, answer: bool = False) -> MaxStop:
    """Stop once the model has got the same result of the same call so many times in this run.

    With `answer` it is asked once more, without tools; the run ends with what it says then.
    """
    return MaxStop("max_repeats", repeats, _count_repeats, answer)


def _count_repeats(state: RunState) -> int:
    seen = Counter(
        msgspec.json.encode((each.tool_name, each.arguments, each.result, each.error), order="sorted")
        for round_ in state.rounds
        for each in round_.results
        if not each.revoked
    )
    return max(seen.values(), default=0)
