"""An agent: a model, its tools, and the loop between them.

    agent = sp.Agent(model, tools, system="You are a careful engineer.")
    result = await agent.run("Fix the failing test.")

What follows an answer is decided in `streamparse.runtime.loop`; `streamparse.runtime.agent_run` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, cast, overload

import anyio
import msgspec

from streamparse.negotiate import NegotiatedFormat
from streamparse.runtime.agent_run import AgentModel, AgentRun, AgentSettings, Models, PrepareHistory, RunResult
from streamparse.runtime.history import History
from streamparse.runtime.stops import StopCondition
from streamparse.tools import Toolset, make_output_tool
from streamparse.writing.parts import Document, Image

Output = TypeVar("Output")

PromptParts: TypeAlias = str | Image | Document | Iterable[str | Image | Document]


class Agent(Generic[Output]):
    """A model with tools that is asked until it has an output.

        agent = sp.Agent(model, [read_file, submit], system="…", stop=[sp.max_turns(20)])
        result = await agent.run("What is in README.md?")

    Immutable, and shared by any number of runs.

    `model` is one, or several in the order in which they are tried: any `async def model(request: sp.Request)` that
    returns what `aiter_events` takes, what `http_model` returns, or what `FormatNegotiator.negotiate` returns.
    `tools` are those of `ToolRunner`.  `system` is the system message.
    `stop` holds functions that end the run: `max_turns` (20 unless it is there), `max_seconds`, `max_tokens`,
    `max_repeats`, or your own (`streamparse.runtime.stops`).
    `output_type` is what the run ends with: `str`, or any type that has a JSON Schema (a dataclass, a `TypedDict`,
    a model of pydantic, `list[int]`): the model must call a tool of that shape.
    `settings` go into each request (`{"temperature": 0}`).  `prepare_history` makes what is sent of the whole history,
    which stays as it is: `lambda history: history.truncated(tokens=100_000)`.
    `ask_again`: where an answer ends in what is written as a call, and is text (small models write JSON behind a
    sentence), the model is asked once to call the tool, or to repeat its answer.
    The other keywords are those of `ToolRunner` (`limit`, `timeout`, `guards`, `allow`, ...).

    Raises TypeError or ValueError for tools or types that cannot be, and ModuleNotFoundError as `ToolRunner`.
    """

    @overload
    def __init__(
        self: Agent[str], model: Models, tools: Iterable[Any] | None = None, *, system: str = "",
        stop: Iterable[StopCondition] = (), output_type: type[str] = str, settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None, ask_again: bool = True, **runner: Any,
    ) -> None: ...  # fmt: skip

    @overload
    def __init__(
        self, model: Models, tools: Iterable[Any] | None = None, *, system: str = "",
        stop: Iterable[StopCondition] = (), output_type: type[Output], settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None, ask_again: bool = True, **runner: Any,
    ) -> None: ...  # fmt: skip

    @overload  # `Invoice | Refund`, `Literal["yes", "no"]`: forms of types that a `type` is not
    def __init__(
        self: Agent[Any], model: Models, tools: Iterable[Any] | None = None, *, system: str = "",
        stop: Iterable[StopCondition] = (), output_type: object, settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None, ask_again: bool = True, **runner: Any,
    ) -> None: ...  # fmt: skip

    def __init__(
        self,
        model: Models,
        tools: Iterable[Any] | None = None,
        *,
        system: str = "",
        stop: Iterable[StopCondition] = (),
        output_type: Any = str,
        settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None,
        ask_again: bool = True,
        **runner: Any,
    ) -> None:
        is_one = isinstance(model, (str, NegotiatedFormat)) or not isinstance(model, Sequence)
        output_tool = None if output_type is str else make_output_tool(output_type)
        declared = Toolset.of(tools)
        self._settings = AgentSettings(
            models=(cast(AgentModel, model),) if is_one else tuple(cast(Any, model)),
            tools=declared if output_tool is None else Toolset([*declared.values(), output_tool]),
            output_tool=output_tool,
            system=system,
            stops=tuple(stop),
            settings=dict(settings or {}),
            prepare_history=prepare_history,
            ask_again=ask_again,
            runner=runner,
        )

    @property
    def tools(self) -> Toolset:
        """What the model may call, the tool of the output with them."""
        return self._settings.tools

    @property
    def system(self) -> str:
        """The system message."""
        return self._settings.system

    def run(
        self, prompt: PromptParts | None = None, *, history: History | None = None, deps: Any = None
    ) -> AgentRun[Output]:
        """Return a run, which begins when it is awaited or entered.

            result = await agent.run("…")  # to the end; raises Stopped if there is no output
            async with agent.run("…") as run:
                async for item in run: ...  # events, Progress, ApprovalRequest, ToolResult, TurnEnd

        `prompt` is text, a picture or a document, or several of them; None asks with the history alone.  `history` is
        that of an earlier run; the system message is this agent's.  `deps` is what tools find in their context.
        """
        known = msgspec.structs.replace(history or History(), system=self.system)
        return AgentRun(self._settings, known if prompt is None else known.with_prompt(prompt), deps)

    def run_sync(
        self,
        prompt: PromptParts | None = None,
        *,
        history: History | None = None,
        deps: Any = None,
        backend: str = "asyncio",
    ) -> RunResult[Output]:
        """Run to the end, in an event loop of its own.  Raises what `await agent.run(…)` does."""

        async def run() -> RunResult[Output]:
            return await self.run(prompt, history=history, deps=deps)

        return anyio.run(run, backend=backend)
