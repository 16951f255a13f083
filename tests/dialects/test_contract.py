"""Every dialect answers every universal case: `fixtures/dialects/NAME.toml` says what a text of its gives.

A case is a table, and answers in one of three ways:

* `text`, and what comes of it: `calls` that stand (name, arguments, and the id where the format carries one), the
  reasons for which others were `revoked`, `content`, `reasoning`, `errors` (their codes), `sources` of the calls where
  they are not all "inband";
* `not_applicable`: why the format cannot say such a thing;
* `broken`: what is wrong today, beside the text and the wrong answer, so that whoever mends it has to come here.

The dialect is named; all texts are read with the same tools.  Blanks at the edge of a call are structure, so the
content around calls is compared run by run without them; where no call is, every character counts.
"""

from __future__ import annotations

import tomllib
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, reasoning_of, text_of

import streamparse as sp
from streamparse.tools import Toolset

FOLDER = Path(__file__).parents[2] / "fixtures" / "dialects"
CASES = (
    "single",
    "parallel",
    "same_tool_twice",
    "zero_arguments",
    "zero_arguments_then_call",
    "text_before",
    "text_between",
    "text_after",
    "nested_values",
    "unicode",
    "quotes_and_backslashes",
    "empty_string",
    "blank_string",
    "json_looking_string",
    "number_like_string",
    "null_like_string",
    "brackets_in_string",
    "own_close_marker_in_string",
    "think_in_string",
    "unknown_tool_then_known",
    "prose_that_mentions_the_marker",
    "malformed",
    "truncated",
    "reasoning_first",
)
ANSWER = {"text", "calls", "revoked", "content", "reasoning", "errors", "sources"}
STRING = {"type": "string"}


BOOLEAN = {"type": "boolean"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


DEEP = _object(levels=_list({"type": "number"}), exact=BOOLEAN)
PARAMETERS = {
    "get_weather": _object(city=STRING, days={"type": "integer"}),
    "note": _object(text=STRING),
    "search": _object(query=STRING),
    "now": _object(),
    "configure": _object(options=_object(unit=STRING, deep=DEEP), tags=_list(STRING), on=BOOLEAN),
}
TOOLS = Toolset.of(sp.Tool(name=name, description="", parameters=each) for name, each in PARAMETERS.items())


def _fixture(dialect: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))


def _content(events: list[sp.Event]) -> str:
    """The visible text: as it is, or around calls each run of it without the blanks at its edges."""
    if not any(isinstance(event, sp.ToolCallStart | sp.Error) for event in events):
        return text_of(events)
    runs = groupby(events, lambda event: isinstance(event, sp.TextDelta | sp.ReasoningDelta))
    texts = (text_of(run).strip() for is_text, run in runs if is_text)
    return "\n".join(text for text in texts if text)


def _told(events: list[sp.Event]) -> dict[str, Any]:
    """What came of a text, in the words of the fixtures."""
    revoked = {event.index: event.reason for event in events if isinstance(event, sp.ToolCallRevoked)}
    told = [event for event in events if isinstance(event, sp.ToolCallComplete)]
    complete = [event for event in told if event.index not in revoked]
    return {
        "revoked": list(revoked.values()),
        "calls": [(event.name, event.arguments) for event in complete],
        "content": _content(events),
        "reasoning": reasoning_of(events),
        "errors": [event.code for event in events if isinstance(event, sp.Error)],
        "sources": [event.source for event in complete],
    }


def _wanted(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["arguments"]) for call in answer.get("calls", [])]


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_every_case_is_answered(dialect: str) -> None:
    fixture = _fixture(dialect)
    assert tuple(fixture) == CASES
    for case, answer in fixture.items():
        if "not_applicable" in answer:
            assert set(answer) == {"not_applicable"}, case
            assert answer["not_applicable"], case
        else:
            assert "text" in answer, case
            assert set(answer) <= ANSWER | {"broken"}, case
            assert answer.get("broken") != "", case


def test_the_fixtures_belong_to_dialects() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(sp.DIALECTS)


def _read(dialect: str, case: str, text: str) -> list[sp.Event]:
    """The events of a text, which are the same in every cut."""
    try:
        return assert_same_in_every_cut(lambda: sp.TextParser([dialect], tools=TOOLS), text)
    except AssertionError as error:
        error.add_note(f"the case: {case}")
        raise


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_the_text_gives_what_the_contract_says(dialect: str) -> None:
    answers = {case: answer for case, answer in _fixture(dialect).items() if "not_applicable" not in answer}
    events = {case: _read(dialect, case, answer["text"]) for case, answer in answers.items()}
    told = {case: _told(found) | {"ids": _ids(found)} for case, found in events.items()}
    assert told == {case: _promised(answer, told[case]["ids"]) for case, answer in answers.items()}


def _ids(events: list[sp.Event]) -> list[str]:
    """The ids of the calls that stand."""
    revoked = {event.index for event in events if isinstance(event, sp.ToolCallRevoked)}
    return [e.id for e in events if isinstance(e, sp.ToolCallComplete) and e.index not in revoked]


def _promised(answer: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    """What must come of a text.  An id that the answer leaves open is the one that was told."""
    calls = answer.get("calls", [])
    return {
        "revoked": answer.get("revoked", []),
        "calls": _wanted(answer),
        "content": answer.get("content", ""),
        "reasoning": answer.get("reasoning", ""),
        "errors": answer.get("errors", []),
        "sources": answer.get("sources", ["inband"] * len(calls)),
        "ids": [call.get("id", id) for call, id in zip_longest(calls, ids, fillvalue={})],
    }


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_a_call_that_is_cut_anywhere_is_whole_or_truncated(dialect: str) -> None:
    answer = _fixture(dialect)["single"]
    for end in range(len(answer["text"])):
        parser = sp.TextParser([dialect], tools=TOOLS)
        events = [*parser.feed(answer["text"][:end]), *parser.close()]
        told = _told(events)
        assert told["calls"] in ([], _wanted(answer)), end
        assert set(told["errors"]) <= {"truncated_call"}, end
        started = any(isinstance(event, sp.ToolCallStart) for event in events)
        assert not started or told["calls"] or told["errors"] or told["revoked"], end


CUT_BLOCKS = (
    *("minimax-m1", "hyperclova-x", "llama3-json", "mistral-array", "tool_calls-array", "toolcall-upper"),
    *("granite-array", "cohere-action", "function_calls-array", "deepseek-v3", "deepseek-v3.1", "kimi-k2"),
    *("solar-open", "plamo3", "functionary-v3.2", "function-tag-json", "glm-5.3", "harmony", "beam"),
)
"""Dialects in which what comes after a call can only be another one; in the others the text may go on."""


@pytest.mark.parametrize("dialect", CUT_BLOCKS)
def test_a_block_that_ends_in_the_head_of_another_call_is_cut_and_its_markup_is_no_text(dialect: str) -> None:
    answer = _fixture(dialect)["parallel"]
    first, second = answer["calls"]
    told = _told(_read(dialect, "parallel", answer["text"][: answer["text"].rindex(second["name"]) + 2]))
    assert told["calls"] == [(first["name"], first["arguments"])]
    assert (told["content"], told["errors"]) == ("", ["truncated_call"])


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_without_tools_and_thoughts_a_text_is_read_in_every_cut(dialect: str) -> None:
    text = _fixture(dialect)["single"]["text"]
    assert_same_in_every_cut(lambda: sp.TextParser([dialect], reasoning="closed"), text)


def test_every_dialect_says_whose_it_is() -> None:
    assert all(row.models for row in sp.DIALECTS.values())


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_an_example_is_calls_and_no_text(dialect: str) -> None:
    parser = sp.TextParser([dialect], tools=[*TOOLS.values(), sp.Tool("bash", "", _object(command=STRING))])
    events = parser.feed(sp.DIALECTS[dialect].example) + parser.close(stopped=True)
    assert text_of(events) == ("Thought: I look it up.\n" if dialect == "react" else "")


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_no_event_of_a_text_is_empty(dialect: str) -> None:
    text = _fixture(dialect)["reasoning_first"].get("text", "")
    parser = sp.TextParser([dialect], tools=TOOLS)
    events = [event for character in text for event in parser.feed(character)] + parser.close()
    assert all(event.text for event in events if isinstance(event, sp.TextDelta | sp.ReasoningDelta))
    assert all(event.arguments for event in events if isinstance(event, sp.ToolCallDelta))
