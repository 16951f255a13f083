"""What the model and the program are told of a call that has no value: kind, code and words, for each reason."""

import json
from pathlib import Path

import pytest
from turns import DONE, FAILED, TEXT, complete

from streamparse.events import Error, ToolCallRevoked, ToolCallStart
from streamparse.repair import Finding, Gate
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    Cancelled,
    Received,
    Restarted,
    Returned,
    SourceEnded,
    Woke,
)
from streamparse.runtime.turn import Turn
from streamparse.tools import Tool, ToolFailure

GOLDEN = Path(__file__).parents[2] / "fixtures" / "runtime" / "words.json"
EFFECTS = ("read", "idempotent", "write")
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}}


def do_nothing(**arguments):
    """Do nothing."""


def refuse(call):
    if call.arguments.get("n") == 7:
        raise OSError(7)
    if call.arguments.get("n") == 8:
        yield Finding("eight", "eight is not allowed")


def fail(arguments):
    raise LookupError("no lock")


GATE = Gate(
    [
        *(Tool(effect, "", NUMBER, do_nothing, effect, retries=1) for effect in EFFECTS),
        Tool("asks", "", NUMBER, do_nothing, needs_approval=True),
        Tool("all", "", NUMBER, do_nothing, "read", lock="*"),
        Tool("fails", "", NUMBER, do_nothing, lock=fail),
        Tool("locked", "", NUMBER, do_nothing, tier=1),
        Tool("declared"),
    ],
    guards=[refuse],
)
REVOKED = ToolCallRevoked(0, "call-0", "x" * 201)


def received(*events, at=0.0):
    return [Received(event, at) for event in events]


def begin(effect):
    return received(complete(0, effect), DONE)


def cancelled(at=1.0, **more):
    return Returned(0, 1, at, cancelled=True, **more)


def failed(attempt, at):
    return Returned(0, attempt, at, failure=ToolFailure("network", "no route"))


def left(at=1.0, **more):
    return Abandoned(0, 1, at, **more)


CASES = {
    "the turn ended badly": received(complete(0, "write"), FAILED),
    "the turn ended badly before": received(Error("stream", "provider_error", ""), complete(0, "read")),
    "the source ended inside": [*received(ToolCallStart(0, "call-0", "read")), SourceEnded(1.0)],
    "a crash inside": [*received(ToolCallStart(0, "call-0", "read")), Restarted(1.0)],
    "a stop inside": [*received(ToolCallStart(0, "call-0", "read")), Cancelled(1.0)],
    "broken": received(ToolCallStart(0, "call-0", "read"), Error("call", "malformed_call", "a bracket is missing", 0)),
    "after the end": received(DONE, complete(0, "read")),
    "text follows": received(complete(0, "write", place="plain"), TEXT, DONE),
    "said twice": received(complete(1, "read", id="call-0"), complete(0, "read")),
    "denied": [*received(complete(0, "asks"), DONE), Approval(0, False, 1.0)],
    "denied, and why": [*received(complete(0, "asks"), DONE), Approval(0, False, 1.0, "y" * 301)],
    "revoked before it began": received(complete(0, "write"), REVOKED),
    **{f"revoked: {effect}": [*begin(effect), *received(REVOKED), cancelled()] for effect in EFFECTS},
    "revoked, and left behind": [*begin("idempotent"), *received(REVOKED), left()],
    "revoked before the next attempt": [*begin("idempotent"), failed(1, at=1.0), *received(REVOKED)],
    "revoked before its function was called": [*begin("write"), *received(REVOKED), cancelled(began=False)],
    "stopped before it began": [*received(complete(0, "write")), Cancelled(1.0)],
    **{f"stopped: {effect}": [*begin(effect), Cancelled(1.0), cancelled()] for effect in EFFECTS},
    "stopped before the next attempt": [*begin("idempotent"), failed(1, at=1.0), Cancelled(1.0)],
    "stopped, then revoked": [*begin("write"), Cancelled(1.0), *received(REVOKED), cancelled()],
    "out of time before it began": [*received(complete(0, "write")), Woke(60.0)],
    **{
        f"the run is out of time: {effect}": [*begin(effect), Woke(60.0), cancelled(60.0)]
        for effect in EFFECTS
    },
    **{
        f"timed out: {effect}": [*begin(effect), Woke(5.0), cancelled(5.0, partial="half"), Woke(6.0), Woke(11.0),
                                 Returned(0, 2, 11.0, cancelled=True, partial="more")]
        for effect in EFFECTS
    },
    "timed out, and left behind": [*begin("read"), Woke(5.0), left(5.0, partial="half")],
    "timed out before its function was called": [*begin("write"), Woke(5.0), cancelled(5.0, began=False)],
    "timed out, then revoked": [*begin("read"), Woke(5.0), *received(REVOKED, at=5.0), cancelled(5.0)],
    "cancelled by nobody": [*begin("write"), cancelled()],
    "a crash": [*begin("write"), Restarted(1.0)],
    "a crash while it was cancelled": [*begin("write"), *received(REVOKED), Restarted(1.0)],
    "a crash when its time was over": [*begin("write"), Woke(5.0), Restarted(6.0)],
    "held back for ever": [*received(complete(1, "all"), complete(0, "write"), DONE), Woke(5.0),
                           Abandoned(1, 1, 5.0), Woke(10.0)],
    "failed": [*begin("write"), failed(1, at=1.0)],
    "failed twice": [*begin("read"), failed(1, at=1.0), Woke(3.0), failed(2, at=3.0)],
    "quoted": received(complete(0, "read", place="quoted")),
    "repaired": received(complete(0, "read", "repaired")),
    "found late": received(complete(0, "read", "recovered")),
    "no function": received(complete(0, "declared")),
    "a guard that fails": received(complete(0, "read", n=7)),
    "a guard that refuses": received(complete(0, "read", n=8)),
    "a declaration that fails": received(complete(0, "fails")),
    "locked": received(complete(0, "locked")),
    "unknown": received(complete(0, "nope")),
}  # fmt: skip


def describe(facts):
    turn = Turn(GATE, timeout=5.0, time_limit=60.0)
    said = [command for fact in facts for command in turn.take(fact)]
    (result,) = [each.result for each in said if isinstance(each, Answer) and each.result.index == 0]
    assert result.failure.recoverable
    told = result.error.replace("x" * 200, "<200 x>").replace("y" * 300, "<300 y>")
    described = {"kind": result.failure.kind, "code": result.failure.code, "error": told}
    return {**described, "details": result.failure.details} if result.failure.details else described


def test_each_reason_has_its_kind_its_code_and_its_words(update_golden):
    described = {name: describe(facts) for name, facts in CASES.items()}
    if update_golden:
        GOLDEN.write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n")
    assert described == json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_words_say_what_had_begun_and_what_is_unknown(effect):
    for name in (f"revoked: {effect}", f"stopped: {effect}", f"timed out: {effect}"):
        told = describe(CASES[name])["error"]
        assert ("it had begun, and may be called again" in told) == (effect == "idempotent")
        assert ("it had begun, and its outcome is unknown" in told) == (effect == "write")
        assert told.endswith("; find out what came of it before you call it again") == (effect == "write")
