"""Runs tool calls while events still arrive.

    events ──▶ reader ──▶ buffer ──▶ consumer
                 └─▶ turn ─▶ tools ──▶┘

The reader never waits for a tool and never for the consumer, but when the buffer is full; it is the reader
that starts a tool, so a slow consumer delays none.  `turn` decides what may run when, and does no I/O; `run` obeys it
on an event loop; `execution` is the only place where code that is not ours is called.
"""

from streamparse.runtime.facts import ApprovalRequest, Progress
from streamparse.runtime.history import History, Prompt, Round
from streamparse.runtime.model import (
    HTTPModel,
    Model,
    ModelError,
    ModelFailure,
    Request,
    build_model,
    describe_failure,
    find_model_delay,
    http_model,
    open_model,
)
from streamparse.runtime.run import Item, Run
from streamparse.runtime.runner import ToolRunner
from streamparse.runtime.turn import Turn

__all__ = [
    "ApprovalRequest",
    "HTTPModel",
    "History",
    "Item",
    "Model",
    "ModelError",
    "ModelFailure",
    "Progress",
    "Prompt",
    "Request",
    "Round",
    "Run",
    "ToolRunner",
    "Turn",
    "build_model",
    "describe_failure",
    "find_model_delay",
    "http_model",
    "open_model",
]
