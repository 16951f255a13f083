"""What an agent is made of: its model, its tools, and what each request is made with."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypedDict, cast, get_args

import msgspec

from streamparse.negotiate import NATIVE, CapabilityLearner, NegotiatedFormat
from streamparse.response import ParsedResponse
from streamparse.runtime.history import History
from streamparse.runtime.journal import Journal
from streamparse.runtime.journal_file import JournalStore
from streamparse.runtime.loop import MAX_COMPLAINTS, Loop, Send
from streamparse.runtime.model import Model, check_model
from streamparse.runtime.request import Request, check_settings
from streamparse.runtime.run_options import Decision
from streamparse.runtime.runner import CommonOptions, ToolRunner
from streamparse.runtime.stops import MAX_TURNS, MaxStop, RunState, StopCondition, list_stops, max_turns
from streamparse.tools import Tool, Toolset

MAX_RESULT: Final = 32 * 1024  # bound: characters of a result; a larger one costs more than it tells, in every request

AgentModel: TypeAlias = Model | NegotiatedFormat
Models: TypeAlias = AgentModel | Sequence[AgentModel]
PrepareHistory: TypeAlias = (
    Callable[[History], History | Awaitable[History]] | Callable[[History, RunState], History | Awaitable[History]]
)
System: TypeAlias = str | Callable[[RunState], str | Awaitable[str]]
Approvals: TypeAlias = Literal["wait", "stop"]
Tier: TypeAlias = int | Callable[[RunState], int]


class RunOptions(TypedDict, total=False):
    """What stands in one run for what the agent has."""

    tools: Iterable[Any] | None
    model: Models | None
    settings: Mapping[str, Any] | None
    stop: Iterable[StopCondition] | None
    tier: Tier | None
    approvals: Approvals | None
    journal: Journal | str | os.PathLike[str] | JournalStore | None
    decisions: Mapping[str, bool | str] | None


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one `Agent`; see there.

    `tools` has the `output_tool` among them, if there is one; `runner` holds the keywords for `ToolRunner`.
    Raises TypeError or ValueError for what cannot be.
    """

    models: tuple[AgentModel, ...]
    tools: Toolset
    output_tool: Tool | None = None
    system: System = ""
    stops: tuple[StopCondition, ...] = ()
    settings: dict[str, Any] = {}
    prepare_history: PrepareHistory | None = None
    ask_again: bool = True
    tier: Tier = 0
    learner: CapabilityLearner | None = None
    approvals: Approvals | None = None
    journal: Journal | None = None
    decisions: dict[str, Decision] = {}
    runner: CommonOptions = {}

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("an agent needs a model")
        for model in self.models:
            check_model(model)
        if not (isinstance(self.system, str) or callable(self.system)):
            raise TypeError(f"system is a text, or a function that returns one, not {type(self.system).__name__}")
        if not any(isinstance(stop, MaxStop) and stop.name == "max_turns" for stop in self.stops):
            msgspec.structs.force_setattr(self, "stops", (*self.stops, max_turns(MAX_TURNS)))
        if self.approvals not in (None, *get_args(Approvals)):
            raise ValueError(f"approvals is 'wait' or 'stop', not {self.approvals!r}")
        if not (isinstance(self.tier, int) or callable(self.tier)):
            raise TypeError(f"tier is an integer, or a function that returns one, not {self.tier!r}")
        if not (self.prepare_history is None or callable(self.prepare_history)):
            raise TypeError(f"prepare_history is a function of the history, not {self.prepare_history!r}")
        self.make_runner()  # raises for what cannot be, now and not in each run

    def override(self, own: RunOptions) -> AgentSettings:
        """Return the settings of one run: what is given stands in the place of the agent's; settings are merged."""
        changes: dict[str, Any] = {}
        if (tools := own.get("tools")) is not None:
            changes["tools"] = add_output_tool(tools, self.output_tool)
        if (model := own.get("model")) is not None:
            changes["models"] = list_models(model)
        if (settings := own.get("settings")) is not None:
            changes["settings"] = {**self.settings, **check_settings(settings)}
        if (stop := own.get("stop")) is not None:
            changes["stops"] = list_stops(stop)
        if (journal := own.get("journal")) is not None:
            changes["journal"] = Journal.of(journal)
        if decisions := own.get("decisions"):
            changes["decisions"] = read_decisions(decisions)
        changes |= {name: own[name] for name in ("tier", "approvals") if own.get(name) is not None}
        return msgspec.structs.replace(self, **changes) if changes else self

    def make_runner(self, clock: Callable[[], float] | None = None) -> ToolRunner:
        """Make the runner of one run, with its own clock if it has one."""
        options: CommonOptions = {"max_result": MAX_RESULT, **self.runner}
        if clock is not None:
            options["clock"] = clock
        return ToolRunner(self.tools, **options)

    def make_loop(self, run_id: str) -> Loop:
        """Make the loop of one run."""
        return Loop(
            models=len(self.models),
            stops=self.stops,
            ending=frozenset(name for name, tool in self.tools.items() if tool.ends),
            output_tool=None if self.output_tool is None else self.output_tool.name,
            ask_again=self.ask_again,
            run_id=run_id,
            complaints=self.complaints,
        )

    @property
    def complaints(self) -> tuple[int, ...]:
        """How often each model is told that its answer is of no use."""
        return tuple(each.max_retries if isinstance(each, NegotiatedFormat) else MAX_COMPLAINTS for each in self.models)

    def learn(self, model: str, tools: Toolset, responses: Iterable[ParsedResponse] | None) -> None:
        """Tell the learner what came of a request; None says that the server took no tools."""
        if self.learner is None or not model:
            return
        if responses is None:
            self.learner.record(model, NATIVE, "refused")
        for response in responses or ():
            self.learner.observe(model, response, tool_names=tools.names)

    def find_allowed(self, *, is_last: bool) -> frozenset[str] | None:
        """Return the names of the tools that may be called, in the last answer that of the output alone; None: all."""
        if not is_last:
            return None
        return frozenset() if self.output_tool is None else frozenset((self.output_tool.name,))

    def find_tier(self, state: RunState) -> int:
        """Return the tier that is unlocked now."""
        return self.tier if isinstance(self.tier, int) else self.tier(state)

    async def make_request(self, send: Send, state: RunState, tier: int, run_id: str) -> Request:
        """Make the request of one turn, with the tools alone that are unlocked."""
        sent = send.history
        if not isinstance(self.system, str):
            system: object = await _await(self.system(state))
            if not isinstance(system, str):
                raise TypeError(f"system returns a text, not {type(system).__name__}")
            sent = msgspec.structs.replace(sent, system=system)
        if self.prepare_history is not None:
            sent = await _prepare(self.prepare_history, sent, state)
        return Request(
            sent, self._find_unlocked(tier), self._find_settings(send), number=send.number, run_id=run_id,
            tools_in="prompt" if send.tools_in_prompt else "request",
        )  # fmt: skip

    def _find_unlocked(self, tier: int) -> Toolset:
        if all(tool.tier <= tier for tool in self.tools.values()):
            return self.tools
        return Toolset(tool for tool in self.tools.values() if tool.tier <= tier)

    def _find_settings(self, send: Send) -> dict[str, Any]:
        """Return the settings of a request; in the last one no tool may be called but that of the output."""
        if not send.is_last or not self.tools:
            return self.settings
        return {**self.settings, "tool_choice": "none" if self.output_tool is None else self.output_tool.name}


def list_models(model: Models) -> tuple[AgentModel, ...]:
    """Return the models of an agent, one or several."""
    is_one = isinstance(model, (str, NegotiatedFormat)) or not isinstance(model, Sequence)
    return (cast(AgentModel, model),) if is_one else tuple(cast(Any, model))


def read_decisions(given: Mapping[str, bool | str]) -> dict[str, Decision]:
    """Return decisions by key: True lets a call run, False or the reason why does not.

    Raises TypeError for anything else.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"decisions are a dict by the keys of calls, not {type(given).__name__}")
    for key, each in given.items():
        if not isinstance(each, bool | str):
            raise TypeError(f"what is decided of {key!r} is True, False, or a text that says why not; got {each!r}")
    return {key: Decision(each is True, each if isinstance(each, str) else "") for key, each in given.items()}


def add_output_tool(tools: Iterable[Any] | None, output_tool: Tool | None) -> Toolset:
    """Return the tools of an agent, with that of its output."""
    declared = Toolset.of(tools)
    return declared if output_tool is None else Toolset([*declared.values(), output_tool])


async def _prepare(prepare: PrepareHistory, history: History, state: RunState) -> History:
    given: Callable[..., Any] = prepare
    sent: object = await _await(given(history, state) if _takes_state(given) else given(history))
    if not isinstance(sent, History):
        raise TypeError(f"prepare_history returns the History to be sent, not {type(sent).__name__}")
    return sent


def _takes_state(prepare: Callable[..., Any]) -> bool:
    """Whether a function needs a second argument."""
    try:
        parameters = inspect.signature(prepare).parameters.values()
    except (TypeError, ValueError):  # of C
        return False
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in places and each.default is each.empty for each in parameters) > 1


async def _await(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
