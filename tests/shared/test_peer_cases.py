"""The cases of other projects' suites: each is read as its project asserts, or listed in `docs/` with the reason.

The tables of `docs/internals/peer_cases*.md` name the cases whose assertion is not ours, by their id.  A case that is
not listed must pass, and one that is listed must really differ.  A call that was revoked is no call.

What a case says of the request is said in our words: a prompt that ended inside of a thought is `reasoning="open"`, one
that ended inside of the answer, or a reader that leaves thoughts in the text, is "closed"; a reader of thoughts alone
is `dialects="reasoning"`.  Where a case does not say how its prompt ended, or what becomes of calls, any of these may
give what it asserts.  Where only the text was asserted, as by a reader of calls that knows no thoughts, the thoughts
may be part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from collection import json_lines
from msgspec.structs import replace

import streamparse as sp
from streamparse.dialects import THOUGHTS, Dialect, dialect_from_template

DOCS = Path(__file__).parents[2] / "docs" / "internals"
CASES = {case["id"]: case for case in json_lines("peertests/cases.jsonl")}
WANTED = 0.97

_ROW = re.compile(r"^\| *(`.*?`) *(?<!\\)\|", re.MULTILINE)


def _listed(pages: str) -> set[str]:
    """The cases in the tables of these pages."""
    return {
        id.replace("\\|", "|")
        for page in DOCS.glob(pages)
        for cell in _ROW.findall(page.read_text(encoding="utf-8"))
        for id in re.findall(r"`([^`]+)`", cell)
    }


LISTED = _listed("peer_cases*.md")
RULED = _listed("peer_cases_rules.md")
"""Those that the rules of what counts as a call decide, whatever the format."""

OWN = {"HunyuanA13BReasoningParser": "tool_calls-array", "Step3p5Parser": "qwen3-coder"}
"""The dialect of a model of which a case names but the reader."""

DROPPED = ("<bos>", "<eos>")
"""What the requests of some cases say to drop; here that is a dialect with these among its own."""

KNOWN = {marker for thought in THOUGHTS.values() for marker in (*thought.opens, *thought.echoes)}
"""Tags of thoughts that models write."""

_BRACES = {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]}
_NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
_GEMMA = {
    "thinking": {"open": "<|channel>thought\n", "close": "<channel|>", "content": "text"},
    "content": {"close": "<turn|>", "content": "text"},
    "tool_calls": {
        "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
        "close": "<tool_call|>",
        "repeats": True,
        "content": "json",
        "content_args": _BRACES,
        "transform": _NAMED,
    },
}
_WHOLE = {"open": "<tool>", "close": "</tool>", "content": "json", "transform": {"function": "{content}"}}
_FIXED = {
    "open": "<call>",
    "close": "</call>",
    "content": "json",
    "transform": {"function": {"name": "set_alarm", "arguments": "{content}"}},
}
_DECLARED = {"<tool>": {"tool_calls": _WHOLE}, "<call>": {"tool_calls": _FIXED}}
"""What a checkpoint declared, by how the text begins; else it was Gemma's declaration."""


class Call(NamedTuple):
    """What came of one call: its arguments are None while it is not complete."""

    name: str
    id: str
    raw: str
    arguments: dict[str, Any] | None


class State(NamedTuple):
    """What had been read at some time."""

    content: str
    reasoning: str
    told: str  # both, in order
    calls: list[Call]


def _declared(case: dict[str, Any]) -> Dialect | None:
    """The dialect of a case whose checkpoint declares it, or whose tags no model writes."""
    if case["format"] == "response_template":
        return dialect_from_template({"fields": _DECLARED.get(case["chunks"][0], _GEMMA)})
    opens, closes = case["options"].get("reasoning_tags") or ("<think>", "</think>")
    if isinstance(closes, list) or case["format"] in sp.DIALECTS or opens in KNOWN:
        return None
    return dialect_from_template({"fields": {"thinking": {"open": opens, "close": closes}}})


def _dialects(case: dict[str, Any]) -> Iterator[Any]:
    """The dialects to read with; where thoughts alone are read, calls may be left in the text or not."""
    declared = _declared(case)
    if declared is not None:
        yield [declared]
        return
    if case["options"].get("extract_tools") is False:
        yield "reasoning"
    dialect = OWN.get(case["options"]["peer_parser"], case["format"])
    if "drop_tokens" in case["id"] and dialect in sp.DIALECTS:
        yield [replace(sp.DIALECTS[dialect], drops=(*sp.DIALECTS[dialect].drops, *DROPPED))]
    yield [dialect] if dialect in sp.DIALECTS else "auto"


def _starts(options: dict[str, Any]) -> tuple[str, ...]:
    """Where the text may start.

    Where a case does not say, a reader of calls alone knows no thoughts, and one of thoughts alone may take it for
    granted that the prompt opened one.
    """
    if options.get("extract_reasoning") is False or options.get("prefill", {}).get("content"):
        return ("closed",)
    if options.get("starts_in_reasoning") is None:
        return ("auto", "closed", "open") if options.get("extract_tools") is False else ("auto", "closed")
    return ("open",) if options["starts_in_reasoning"] else ("auto",)


def _states(case: dict[str, Any], dialects: Any, start: Any) -> tuple[State, State]:
    """What was read before the end of the text, and with it; a whole answer ends with the server's word for it."""
    parser = sp.StreamParser("openai-chat", dialects=dialects, tools=case["tools"], reasoning=start)
    events = [event for chunk in case["chunks"] for event in parser.feed(_frame({"content": chunk}))]
    before = _state(parser, events)
    end = parser.feed(_frame({}, "stop")) if case["final"] else []
    return before, _state(parser, events + end + parser.close())


def _frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode()


def _state(parser: sp.StreamParser, events: list[sp.Event]) -> State:
    calls: dict[int, Call] = {}
    for event in events:
        if isinstance(event, sp.ToolCallStart):
            calls[event.index] = Call(event.name, event.id, "", None)
        elif isinstance(event, sp.ToolCallDelta):
            call = calls[event.index]
            calls[event.index] = call._replace(raw=call.raw + event.arguments)
        elif isinstance(event, sp.ToolCallComplete):
            calls[event.index] = calls[event.index]._replace(arguments=event.arguments)
        elif isinstance(event, sp.ToolCallRevoked):
            del calls[event.index]
    response = parser.response
    told = "".join(event.text for event in events if isinstance(event, sp.TextDelta | sp.ReasoningDelta))
    return State(_solid(response.content), _solid(response.reasoning), _solid(told), list(calls.values()))


def _solid(text: str) -> str:
    """The text without white space, whose amount beside markers is each reader's own policy."""
    return "".join(text.split())


def _differences(case: dict[str, Any]) -> list[str]:
    """The parts of the expectation that are not met."""
    ways = product(_dialects(case), _starts(case["options"]))
    return min((_differing(case, *_states(case, *way)) for way in ways), key=len)


def _differing(case: dict[str, Any], before: State, after: State) -> list[str]:
    expect = case["expect"]
    fields = {"content": ["content"], "reasoning": ["reasoning"]}
    if expect["reasoning"] is None:
        fields["content"].append("told")
    found = [
        part
        for part in fields
        if expect[part] is not None
        and not any(_same_text(case, part, getattr(before, field), getattr(after, field)) for field in fields[part])
    ]
    if expect["calls"] is None or _same_calls(expect, after.calls):
        return found
    return found if not case["final"] and _same_calls(expect, before.calls) else [*found, "calls"]


def _same_text(case: dict[str, Any], part: str, before: str, after: str) -> bool:
    """Before the end a reader may hold back what it gives in the end."""
    wanted = _solid(case["expect"][part])
    for block in map(_solid, case["expect"].get("blocks_raw", ())):
        before, after = _without(block, before), _without(block, after)
    return after == wanted if case["final"] else wanted.startswith(before) and after.startswith(wanted)


def _without(block: str, text: str) -> str:
    """The text without a block that is no call, and so stays text; the case asserts but where it begins and ends."""
    return text.replace(f"<tool_call>{block}</tool_call>", "", 1)


def _same_calls(expect: dict[str, Any], calls: list[Call]) -> bool:
    wanted = expect["calls"]
    if not any("arguments_text" in call for call in wanted):
        calls = [call for call in calls if call.arguments is not None]
    pairs = zip(wanted, calls, strict=False) if expect.get("calls_loose") else zip_longest(wanted, calls)
    return len(calls) >= len(wanted) and all(want and call and _same_call(want, call) for want, call in pairs)


def _same_call(wanted: dict[str, Any], call: Call) -> bool:
    """Whether a call is the one that was asserted; `wanted` may say only a part of it."""
    said = {"name": call.name, "id": call.id, "arguments_text": call.raw, "arguments": call.arguments}
    return wanted.items() <= said.items() if "arguments" not in wanted else _parts(wanted, said)


def _parts(wanted: dict[str, Any], said: dict[str, Any]) -> bool:
    return all(said[part] == value for part, value in wanted.items())


@pytest.mark.parametrize("id", [id for id in CASES if id not in LISTED])
def test_a_case_that_is_not_listed_gives_what_its_project_asserts(id: str) -> None:
    assert _differences(CASES[id]) == []


@pytest.mark.parametrize("id", [id for id in CASES if id in LISTED])
def test_a_case_that_is_listed_really_differs(id: str) -> None:
    assert _differences(CASES[id])


@pytest.mark.skipif(not CASES, reason="the cases are not here")
def test_every_listed_case_exists_and_few_are_listed() -> None:
    assert CASES.keys() >= LISTED
    assert len(LISTED - RULED) <= len(CASES) * (1 - WANTED)


if __name__ == "__main__":  # the differences, for whoever looks into them
    for each in CASES.values():
        if parts := _differences(each):
            print(each["id"], parts, "(listed)" if each["id"] in LISTED else "")
