"""Runs tool calls while events still arrive.

    events ──▶ reader ──▶ buffer ──▶ consumer
                 └─▶ calls ─▶ tools ──▶┘

The reader never waits for a tool and never for the consumer, but when the buffer is full; it is the reader
that starts a tool, so a slow consumer delays none.  `calls` decides when a call may run and does no I/O;
`execution` is the only place where code that is not ours is called.
"""

from streamparse.runtime.run import Item, Run
from streamparse.runtime.runner import ToolRunner

__all__ = ["Item", "Run", "ToolRunner"]
