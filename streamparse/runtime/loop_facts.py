"""The facts that an agent's loop takes in, and the commands that it returns; see `streamparse.runtime.loop`."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from streamparse.response import ParsedResponse
from streamparse.runtime.history import History
from streamparse.runtime.model_failures import ModelFailure
from streamparse.runtime.rounds import WaitingCall
from streamparse.tools import ToolResult
from streamparse.usage import TokenCounts

# -- facts -------------------------------------------------------------------------------------------------


class Started(msgspec.Struct, frozen=True, tag=True):
    """The run begins with this history, the prompt in it; `decides` says that its calls that wait are decided."""

    history: History
    at: float
    decides: bool = False


class RequestFailed(msgspec.Struct, frozen=True, tag=True):
    """The model gave no answer to the latest request."""

    failure: ModelFailure
    at: float


class AnswerEnded(msgspec.Struct, frozen=True, tag=True):
    """The answer to the latest request is read, and each of its calls has its result.

    `provider` names whose words it came in, `model` who said them.  `failure` is what broke the connection, even
    after the end of the answer.  `waiting` are calls that wait for an approval that nobody was there to give.
    `waited` are the seconds in which nothing happened but that somebody was asked for one.
    """

    response: ParsedResponse
    at: float
    results: tuple[ToolResult, ...] = ()
    provider: str = ""
    model: str = ""
    failure: ModelFailure | None = None
    waiting: tuple[WaitingCall, ...] = ()
    waited: float = 0.0


class Decided(msgspec.Struct, frozen=True, tag=True):
    """Some of the calls for which the run was ended by `"approval"` were decided on: it goes on."""

    at: float


class Resumed(msgspec.Struct, frozen=True, tag=True):
    """Calls of the latest answer that waited for an approval have their results; `waiting` are those that still do.

    `waited` is that of `AnswerEnded`.
    """

    results: tuple[ToolResult, ...]
    at: float
    waiting: tuple[WaitingCall, ...] = ()
    waited: float = 0.0


class Spent(msgspec.Struct, frozen=True, tag=True):
    """An agent that a tool has asked has cost so many tokens."""

    tokens: TokenCounts
    at: float


class Waited(msgspec.Struct, frozen=True, tag=True):
    """The time of a `Wait` has come, or that of the whole run."""

    at: float


class Interrupted(msgspec.Struct, frozen=True, tag=True):
    """The run was cancelled; `heard` is the part of the latest answer's text that has reached the user, None for all.

    If an answer is being read, its `AnswerEnded` follows.
    """

    at: float
    heard: str | None = None


Fact: TypeAlias = Started | RequestFailed | AnswerEnded | Decided | Resumed | Spent | Waited | Interrupted


# -- commands ----------------------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True, tag=True):
    """Send a request to this model, by its place among the agent's; report `AnswerEnded` or `RequestFailed`.

    `number` is the turn's; no two requests of a run have the same.  `is_last` asks for an answer without calls, but for
    that of the output tool.  `tools_in_prompt` teaches the tools in the prompt: the server takes none.
    """

    model: int
    history: History
    number: int
    is_last: bool = False
    tools_in_prompt: bool = False


class Wait(msgspec.Struct, frozen=True, tag=True):
    """Report `Waited` at this time."""

    until: float


class TakeUp(msgspec.Struct, frozen=True, tag=True):
    """Let the calls begin of the latest answer that waited for an approval, as it was decided; report `Resumed`."""

    waiting: tuple[WaitingCall, ...]


class Finish(msgspec.Struct, frozen=True, tag=True):
    """The run is over.

    `stopped_by` is None if it ended by itself, with its output.  Else it is the reason of a stop, or one of
    `"cancelled"`, `"approval"`, `"length"`, `"filter"`, `"refusal"`, `"fatal"`, `"broken_answers"`, `"model_failed"`.
    `is_structured` says that `output` holds the arguments of the output tool.
    """

    stopped_by: str | None = None
    output: Any = None
    has_output: bool = False
    is_structured: bool = False


Command: TypeAlias = Send | Wait | TakeUp | Finish
