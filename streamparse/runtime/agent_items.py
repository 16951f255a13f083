"""What a run of an agent yields besides the items of a turn, and how it ends."""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from streamparse.loss import Loss
from streamparse.response import ParsedResponse
from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.history import History
from streamparse.runtime.model_failures import ModelFailure
from streamparse.runtime.run import Item
from streamparse.tools import ToolResult
from streamparse.usage import TokenCounts

Output = TypeVar("Output")


class TurnEnd(msgspec.Struct, frozen=True, tag_field="type", tag="turn_end"):
    """The end of one request: its answer is read, and each of the calls has its result.

    `number` counts the run's requests from 0; `model` is the place of the one that was asked among the agent's.
    An answer that is `discarded` never came, or broke off before any tool had begun: it is not in the history and is
    asked for again, so what was shown of it does not count; `failure` says why.
    `lost` lists what the provider has no words for: a setting that it does not have, a name that it may refuse.
    """

    number: int
    response: ParsedResponse
    results: tuple[ToolResult, ...] = ()
    model: int = 0
    discarded: bool = False
    failure: ModelFailure | None = None
    lost: tuple[Loss, ...] = ()


class Partial(msgspec.Struct, frozen=True, tag_field="type", tag="partial"):
    """The arguments of a call that is still being written, as far as they are certain; for display alone.

    Of several that were not read yet only the latest is kept.  `output` is the value of the run's `output_type`, if the
    call is the one that gives it and what has come makes a whole value already; else None.
    """

    index: int
    arguments: Any
    name: str = ""
    output: Any = None


class RunEnd(msgspec.Struct, frozen=True, tag_field="type", tag="run_end"):
    """The last item of a run, however it ended: the fields are those of `RunResult`.

    `failure` says what the model or its server did, where the run ended for that (`stopped_by="model_failed"`); the
    exception follows.
    """

    output: Any
    stopped_by: str | None
    usage: TokenCounts
    approvals: tuple[ApprovalRequest, ...] = ()
    refused: dict[str, int] = {}
    failure: str | None = None


AgentItem: TypeAlias = Item | TurnEnd | Partial | RunEnd
"""What a run yields."""


class RunResult(msgspec.Struct, Generic[Output], frozen=True):
    """The end of a run.

    `output` is None where a stop ended the run without one.  `stopped_by` is None if the run ended by itself; else it
    is the reason of a stop, or a word of `streamparse.runtime.loop.Finish`.  `usage` is what all answers have cost.
    `approvals` are the requests without an answer.  `refused` counts the calls that did not run, by the code of their
    result's failure.  `history` goes into the next `run`.
    """

    output: Output | None
    stopped_by: str | None
    usage: TokenCounts
    approvals: tuple[ApprovalRequest, ...]
    refused: dict[str, int]
    history: History


class Stopped(Exception):
    """A run that was awaited ended without an output; `result` has its history, and the reason as `stopped_by`."""

    def __init__(self, result: RunResult[Any]) -> None:
        super().__init__(f"the run ended without an output: {result.stopped_by}")
        self.result = result

    def __reduce__(self) -> tuple[type[Stopped], tuple[RunResult[Any]]]:
        return Stopped, (self.result,)

    @property
    def history(self) -> History:
        """The conversation up to here."""
        return self.result.history
