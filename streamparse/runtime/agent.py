"""An agent: a model, its tools, and the loop between them.

    agent = sp.Agent(model, tools, system="You are a careful engineer.")
    result = await agent.run("Fix the failing test.")

What follows an answer is decided in `streamparse.runtime.loop`; `streamparse.runtime.agent_run` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar, Unpack, overload

import anyio
import msgspec

from streamparse.negotiate import CapabilityLearner
from streamparse.runtime.admission import check_options
from streamparse.runtime.agent_items import RunResult, TurnEnd
from streamparse.runtime.agent_run import AgentRun
from streamparse.runtime.agent_settings import (
    AgentSettings,
    Approvals,
    Models,
    PrepareHistory,
    RunOptions,
    System,
    Tier,
    add_output_tool,
    list_models,
)
from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.history import History
from streamparse.runtime.request import check_settings
from streamparse.runtime.runner import CommonOptions
from streamparse.runtime.stops import StopCondition, list_stops
from streamparse.runtime.threads import find_event_loop
from streamparse.tools import CallOptions, Tool, ToolContext, ToolError, Toolset, make_output_tool
from streamparse.unknown_names import check_keywords
from streamparse.writing.parts import Document, Image

Output = TypeVar("Output")

AGENT_SECONDS: Final = 3600.0  # bound: what an agent that is a tool may take, if nothing else is said
_KEYWORDS: Final = (
    *("system", "stop", "output_type", "settings", "prepare_history", "ask_again", "tier", "learner", "approvals"),
    *CommonOptions.__annotations__,
)

PromptParts: TypeAlias = str | Image | Document | Iterable[str | Image | Document]


class Agent(Generic[Output]):
    """A model with tools that is asked until it has an output.

        agent = sp.Agent(model, [read_file, submit], system="…", stop=[sp.max_turns(20)])
        result = await agent.run("What is in README.md?")

    Immutable, and shared by any number of runs.

    `model` is one, or several in the order in which they are tried: any `async def model(request: sp.Request)` that
    returns what `aiter_events` takes, what `http_model` returns, or what `FormatNegotiator.negotiate` returns.
    `tools` are those of `ToolRunner`.  `tier` is the highest tier of tools that is unlocked: the model is told of these
    alone.  `system` is the system message.  `system` and `tier` may be functions of the run's state (`RunState`), asked
    before each request; that of `system` may be async.
    `stop` holds functions that end the run: `max_turns` (20 unless it is there), `max_seconds`, `max_tokens`,
    `max_repeats`, or your own (`streamparse.runtime.stops`).
    `output_type` is what the run ends with: `str`, or any type that has a JSON Schema (a dataclass, a `TypedDict`,
    a model of pydantic, `list[int]`): the model must call a tool of that shape.
    `settings` go into each request (`{"temperature": 0}`).  `prepare_history` returns the part of the history to send:
    `lambda history: history.truncated(tokens=100_000)`; the history itself stays whole.  It may be async, and
    take the state as its second argument.
    `learner` is told how well the models write their calls (`FormatNegotiator(learner=…)` uses that).
    `ask_again`: where an answer ends in text that looks like a call (small models write JSON after a sentence), the
    model is asked once to call the tool, or to repeat its answer.
    The other keywords are those of `ToolRunner` (`limit`, `timeout`, `guards`, `allow`, ...); but results are cut at
    32 Ki characters (`max_result`).

    Raises TypeError or ValueError for tools or types that cannot be, and ModuleNotFoundError as `ToolRunner`.
    """

    @overload
    def __init__(
        self: Agent[str], model: Models, tools: Iterable[Any] | None = None, *, system: System = "",
        stop: Iterable[StopCondition] = (), output_type: type[str] = str, settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None, ask_again: bool = True, tier: Tier = 0,
        learner: CapabilityLearner | None = None, approvals: Approvals | None = None, **runner: Unpack[CommonOptions],
    ) -> None: ...  # fmt: skip

    @overload
    def __init__(
        self, model: Models, tools: Iterable[Any] | None = None, *, system: System = "",
        stop: Iterable[StopCondition] = (), output_type: type[Output], settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None, ask_again: bool = True, tier: Tier = 0,
        learner: CapabilityLearner | None = None, approvals: Approvals | None = None, **runner: Unpack[CommonOptions],
    ) -> None: ...  # fmt: skip

    @overload  # `Invoice | Refund`, `Literal["yes", "no"]`: forms of types that a `type` is not
    def __init__(
        self: Agent[Any], model: Models, tools: Iterable[Any] | None = None, *, system: System = "",
        stop: Iterable[StopCondition] = (), output_type: object, settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None, ask_again: bool = True, tier: Tier = 0,
        learner: CapabilityLearner | None = None, approvals: Approvals | None = None, **runner: Unpack[CommonOptions],
    ) -> None: ...  # fmt: skip

    def __init__(
        self,
        model: Models,
        tools: Iterable[Any] | None = None,
        *,
        system: System = "",
        stop: Iterable[StopCondition] = (),
        output_type: Any = str,
        settings: Mapping[str, Any] | None = None,
        prepare_history: PrepareHistory | None = None,
        ask_again: bool = True,
        tier: Tier = 0,
        learner: CapabilityLearner | None = None,
        approvals: Approvals | None = None,
        **runner: Unpack[CommonOptions],
    ) -> None:
        check_options("Agent", runner, _KEYWORDS)
        output_tool = None if output_type is str else make_output_tool(output_type)
        self._settings = AgentSettings(
            models=list_models(model),
            tools=add_output_tool(tools, output_tool),
            output_tool=output_tool,
            system=system,
            stops=list_stops(stop),
            settings=dict(check_settings(settings or {})),
            prepare_history=prepare_history,
            ask_again=ask_again,
            tier=tier,
            learner=learner,
            approvals=approvals,
            runner=runner,
        )

    @property
    def tools(self) -> Toolset:
        """What the model may call, the tool of the output with them."""
        return self._settings.tools

    @property
    def system(self) -> System:
        """The system message, or the function that makes it."""
        return self._settings.system

    def run(
        self,
        prompt: PromptParts | None = None,
        *,
        history: History | None = None,
        deps: Any = None,
        **own: Unpack[RunOptions],
    ) -> AgentRun[Output]:
        """Return a run, which begins when it is awaited or entered.

            result = await agent.run("…")  # to the end; raises Stopped if there is no output
            async with agent.run("…") as run:
                async for item in run: ...  # events, Partial, Progress, ApprovalRequest, ToolResult, TurnEnd, RunEnd

        `prompt` is text, a picture or a document, or several of them; None asks with the history alone.  `history` is
        that of an earlier run; the system message is this agent's.  `deps` is what tools find in their context.
        `own` stands in this run for what the agent has: `tools`, `model`, `stop`, `tier`; `settings` go over its own.

        Raises TypeError for a history that is none (saved as JSON, or a provider's messages), and ValueError without
        anything to ask.
        """
        check_keywords("run", own, RunOptions.__annotations__)
        if not isinstance(history, History | None):
            raise TypeError(
                f"history is a streamparse.History, not {type(history).__name__}; one that was saved is read by"
                " msgspec.json.decode(saved, type=streamparse.History), a provider's messages by History.from_messages"
            )
        if prompt is None and not (history and history.entries):
            raise ValueError("there is nothing to ask: give a prompt, or a history that ends with one")
        settings = self._settings.override(own)
        known = history or History()
        if isinstance(settings.system, str):
            known = msgspec.structs.replace(known, system=settings.system)
        return AgentRun(settings, known if prompt is None else known.with_prompt(prompt), deps)

    def as_tool(self, name: str, purpose: str, /, **options: Unpack[CallOptions]) -> Tool:
        """Return a tool that gives a task to this agent, and returns its output.

            writer = sp.Agent(model, tools)
            editor = sp.Agent(model, [writer.as_tool("write", "Write a text about a subject.")])

        What it costs is in the usage of the run that calls it.  Its requests for approval are items of that run, which
        answers them; where nobody is there, they are denied.  Cancelling the one ends the other.  `deps` are those of
        the run.  `options` are fields of `Tool`; without a `timeout` it has an hour.
        """
        check_keywords("as_tool", options, CallOptions.__annotations__)

        async def run_agent(task: str, ctx: ToolContext[Any]) -> Any:
            host: AgentRun[Any] | None = ctx.host
            async with self.run(task, deps=ctx.deps, approvals="wait") as run:
                try:
                    async for item in run:
                        if isinstance(item, ApprovalRequest) and host is not None:
                            host.ask_for(run, item, ctx.idempotency_key)
                        elif isinstance(item, ApprovalRequest):
                            run.deny(item, "nobody was there to approve it")
                        elif isinstance(item, TurnEnd) and host is not None:
                            host.forget_requests(run)
                finally:
                    if host is not None:
                        host.add_usage(run)
                        host.forget_requests(run)
            if run.result.output is None:
                raise ToolError("execution", f"it ended without an answer: {run.result.stopped_by}", code="no_output")
            return run.result.output

        limited: CallOptions = {"timeout": AGENT_SECONDS, **options}
        return Tool(name, purpose, function=run_agent, **limited)

    def run_sync(
        self,
        prompt: PromptParts | None = None,
        *,
        history: History | None = None,
        deps: Any = None,
        backend: str = "asyncio",
        **own: Unpack[RunOptions],
    ) -> RunResult[Output]:
        """Run to the end, in an event loop of its own; `own` is that of `run`.

        Raises what `await agent.run(…)` does, and RuntimeError where an event loop runs already, as in a notebook.
        """
        try:
            find_event_loop()
        except RuntimeError:  # none runs
            pass
        else:
            raise RuntimeError("an event loop runs here already, as in a notebook: write `await agent.run(…)`")

        async def run() -> RunResult[Output]:
            return await self.run(prompt, history=history, deps=deps, **own)

        return anyio.run(run, backend=backend)
