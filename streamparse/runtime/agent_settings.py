"""What an agent is made of, and what each of its runs makes of that."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import msgspec

from streamparse.negotiate import NegotiatedFormat
from streamparse.runtime.history import History
from streamparse.runtime.loop import Finish, Loop
from streamparse.runtime.model import Model, check_model, open_model
from streamparse.runtime.request import Request, check_settings
from streamparse.runtime.runner import ToolRunner
from streamparse.runtime.stops import MAX_TURNS, MaxStop, Stop, max_turns
from streamparse.tools import Tool, Toolset, read_output

AgentModel: TypeAlias = Model | NegotiatedFormat
Models: TypeAlias = AgentModel | Sequence[AgentModel]
PrepareHistory: TypeAlias = Callable[[History], History]


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one `Agent`; see there.

    `tools` has the `output_tool` among them, if there is one; `runner` holds the keywords for `ToolRunner`.
    Raises TypeError or ValueError for what cannot be.
    """

    models: tuple[AgentModel, ...]
    tools: Toolset
    output_tool: Tool | None = None
    system: str = ""
    stops: tuple[Stop, ...] = ()
    settings: dict[str, Any] = {}
    prepare_history: PrepareHistory | None = None
    runner: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("an agent needs a model")
        for model in self.models:
            check_model(model)
        if not any(isinstance(stop, MaxStop) and stop.name == "max_turns" for stop in self.stops):
            msgspec.structs.force_setattr(self, "stops", (*self.stops, max_turns(MAX_TURNS)))
        check_settings(self.settings)
        self.make_runner()  # raises for what cannot be, now and not in each run

    @property
    def clock(self) -> Callable[[], float]:
        """The clock of the runs, in seconds."""
        clock: Callable[[], float] = self.runner.get("clock", time.perf_counter)
        return clock

    def make_runner(self) -> ToolRunner:
        """Make the runner of one run."""
        return ToolRunner(self.tools, **self.runner)

    def make_loop(self, run_id: str) -> Loop:
        """Make the machine of one run."""
        return Loop(
            models=len(self.models),
            stops=self.stops,
            ending=frozenset(name for name, tool in self.tools.items() if tool.ends),
            output_tool=None if self.output_tool is None else self.output_tool.name,
            run_id=run_id,
        )

    def make_request(self, history: History, number: int, run_id: str) -> Request:
        """Make the request of one turn."""
        sent: object = history if self.prepare_history is None else self.prepare_history(history)
        if not isinstance(sent, History):
            raise TypeError(f"prepare_history returns the History to be sent, not {type(sent).__name__}")
        return Request(sent, self.tools, settings=self.settings, number=number, run_id=run_id)

    async def open_models(self, stack: AsyncExitStack) -> list[Model]:
        """Open the models that are not open yet, until the stack is left."""
        return [await stack.enter_async_context(open_model(model)) for model in self.models]

    def read_output(self, finish: Finish) -> Any:
        """Make the output of what the loop ended with; None if it ended without one."""
        if self.output_tool is None or not finish.is_structured:
            return finish.output
        return read_output(self.output_tool, finish.output)
