"""Runs an agent: tools while events still arrive, and turn after turn.

    events ──▶ reader ──▶ buffer ──▶ consumer
                 └─▶ turn ─▶ tools ──▶┘

The reader never waits for a tool, and for the consumer only when the buffer is full.  The reader starts the tools, so a
slow consumer delays none of them.

Two pure machines decide, and do no I/O: `turn` what may run when in one answer, `loop` what follows an answer.
`run` and `agent_run` obey them on an event loop.  `execution` is the only place where a tool is called.
"""

from streamparse.runtime.agent import Agent
from streamparse.runtime.agent_items import AgentItem, Partial, RunEnd, RunResult, Stopped, TurnEnd
from streamparse.runtime.agent_run import AgentRun
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    ApprovalRequest,
    Break,
    Cancel,
    Cancelled,
    Command,
    Fact,
    Misread,
    Open,
    Opened,
    Progress,
    Received,
    RequestApproval,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.history import History
from streamparse.runtime.journal import Journal
from streamparse.runtime.journal_file import JournalBusy, JournalFile, JournalStore
from streamparse.runtime.model import HTTPModel, Model, build_model, http_model, open_model
from streamparse.runtime.model_failures import ModelError, ModelFailure, describe_failure, find_model_delay
from streamparse.runtime.registry import ToolRegistry
from streamparse.runtime.request import Request
from streamparse.runtime.rounds import Prompt, Round
from streamparse.runtime.run import Item, Run
from streamparse.runtime.runner import ToolRunner
from streamparse.runtime.steps import ChangedRun
from streamparse.runtime.stops import RunState, StopCondition, max_repeats, max_seconds, max_tokens, max_turns
from streamparse.runtime.sync_run import SyncRun, run_tools
from streamparse.runtime.turn import Turn

__all__ = [
    "Abandoned",
    "Agent",
    "AgentItem",
    "AgentRun",
    "Answer",
    "Approval",
    "ApprovalRequest",
    "Break",
    "Cancel",
    "Cancelled",
    "ChangedRun",
    "Command",
    "Fact",
    "HTTPModel",
    "History",
    "Item",
    "Journal",
    "JournalBusy",
    "JournalFile",
    "JournalStore",
    "Misread",
    "Model",
    "ModelError",
    "ModelFailure",
    "Open",
    "Opened",
    "Partial",
    "Progress",
    "Prompt",
    "Received",
    "Request",
    "RequestApproval",
    "Restarted",
    "Returned",
    "Round",
    "Run",
    "RunEnd",
    "RunResult",
    "RunState",
    "SourceEnded",
    "Start",
    "StopCondition",
    "Stopped",
    "SyncRun",
    "ToolRegistry",
    "ToolRunner",
    "Turn",
    "TurnEnd",
    "Wake",
    "Woke",
    "build_model",
    "describe_failure",
    "find_model_delay",
    "http_model",
    "max_repeats",
    "max_seconds",
    "max_tokens",
    "max_turns",
    "open_model",
    "run_tools",
]
