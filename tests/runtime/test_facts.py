"""Facts and commands are data: they can be written down, and what was written makes the same turn."""

import msgspec
import pytest
from turns import DONE, TEXT, complete

from streamparse.events import ReasoningDelta, ToolCallDelta, ToolCallRevoked, ToolCallStart
from streamparse.runtime.facts import (
    Abandoned,
    Approval,
    ApprovalRequest,
    Asked,
    Cancelled,
    Command,
    Fact,
    Received,
    RequestApproval,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Withdrawn,
    Woke,
)
from streamparse.runtime.turn import Turn
from streamparse.tools import Tool, ToolFailure

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def do_nothing(**arguments):
    """Do nothing."""


TOOLS = [
    Tool("read", "", SCHEMA, do_nothing, "read", lock="n"),
    Tool("write", "", SCHEMA, do_nothing, "idempotent", lock="n"),
    Tool("send", "", SCHEMA, do_nothing, "write", needs_approval=True),
]
NO_LUCK = ToolFailure("network", "no route", details={"tried": [1, 2], "retry_after": 0.5})
JOURNAL = [
    Received(ReasoningDelta("hm"), 0.0),
    Received(ToolCallStart(0, "a", "read"), 0.1),
    Received(ToolCallDelta(0, '{"n": 1}'), 0.1),
    Received(complete(0, "read", n=1), 0.2),
    Received(complete(1, "write", n=1), 0.3),
    Received(complete(2, "send", n=2), 0.4),
    Received(complete(3, "read", n=3), 0.5),
    Received(TEXT, 0.6),
    Returned(0, 1, 0.7, {"text": ["…", 1, None]}, truncated=True),
    Returned(1, 1, 0.8, failure=NO_LUCK),
    Received(ToolCallRevoked(3, "a3", "because"), 0.9),
    Received(DONE, 1.0),
    Woke(1.5),
    Abandoned(3, 1, 1.6, partial="half"),
    Asked(3, ApprovalRequest(0, "inner", "pay", {"amount": 5}, "other:0:0"), 1.65),
    Approval(2, True, 1.7),
    Withdrawn(3, 1.75),
    SourceEnded(1.8),
    Cancelled(1.9),
    Restarted(2.0),
]


def make_turn():
    return Turn(TOOLS, limit=2, time_limit=30.0)


def write_and_read(value, kind):
    return msgspec.json.decode(msgspec.json.encode(value), type=kind)


@pytest.mark.parametrize("fact", JOURNAL, ids=lambda fact: f"{type(fact).__name__} {fact.at}")
def test_a_fact_is_the_same_once_it_was_written_as_json(fact):
    assert write_and_read(fact, Fact) == fact


def test_the_commands_of_a_turn_are_the_same_once_they_were_written_as_json():
    turn = make_turn()
    commands = [command for fact in JOURNAL for command in turn.take(fact)]
    assert {type(command) for command in commands} >= {Start, RequestApproval, Wake}
    assert write_and_read(commands, list[Command]) == commands


@pytest.mark.parametrize("length", range(len(JOURNAL) + 1))
def test_a_turn_is_made_again_of_its_journal_and_goes_on_as_before(length):
    journal = write_and_read(JOURNAL[:length], list[Fact])
    before, again = make_turn(), make_turn()
    for fact, written in zip(JOURNAL[:length], journal, strict=True):
        assert again.take(written) == before.take(fact)
    assert again.results == before.results
    for fact in JOURNAL[length:]:
        assert again.take(fact) == before.take(fact)
