"""A whole call of a declared tool leaves a trace wherever it stands: it is told, it is an error, or it is counted.

In the grid every format is tried in every place that holds its example as it is, on a wire whose text is read for calls
or, in every other cell, on one whose server parses calls itself.  A place that breaks the example up (with a prefix of
each line, escapes, or no line breaks where the format needs them) holds no whole call.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from bodies import make_body
from places import PLACES, Place, flatten
from samples import TOOLS, calls_of_example

import streamparse as sp

SEARCH: list[dict[str, Any]] = [
    {
        "name": "search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    }
]
CALL = '{"name": "search", "arguments": {"query": "tea"}}'

EVERY_PLACE = PLACES | {
    "alone": Place("open", str, str),
    "behind a sentence": Place("open", lambda example: f"I look it up:\n{example}", str),
    "in a sentence": Place("open", lambda example: f"I look it up: {example}", str),
    "behind a thought and a sentence": Place("open", lambda example: f"<think>So.</think>I look:\n{example}", str),
    "behind another call": Place("open", lambda example: f"<tool_call>{CALL}</tool_call>\n\n{example}", str),
    "behind JSON": Place("open", lambda example: f'It is {{"a": [1, {{}}]}} now.\n{example}', str),
    "in a Python block": Place("open", lambda example: f"```python\nx = 1\n```\n{example}\n", str),
}


@cache
def _is_whole(name: str, form: str) -> bool:
    """Whether a text is all the calls of an example, read with the format named."""
    calls = sp.parse_response(form, dialects=[name], tools=TOOLS).tool_calls
    return [(call.name, call.arguments) for call in calls] == calls_of_example(name)


def _read(text: str, wire: str, tools: Any, **options: Any) -> sp.TextParser | sp.StreamParser:
    if wire == "text":
        parser = sp.TextParser(tools=tools, **options)
        parser.feed(text)
        parser.close(stopped=True)
        return parser
    stream = sp.StreamParser(wire, tools=tools, **options)
    stream.feed(make_body(wire, [text]))
    stream.close()
    return stream


def _count_traces(parser: sp.TextParser | sp.StreamParser) -> int:
    response = parser.response
    return len(response.tool_calls) + len(response.errors) + sum(parser.stats.unread_calls.values())


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_whole_call_leaves_a_trace_in_every_place(name: str) -> None:
    example, calls = sp.DIALECTS[name].example, calls_of_example(name)
    lost, asked = [], 0
    for number, (place, how) in enumerate(EVERY_PLACE.items(), list(sp.DIALECTS).index(name)):
        text = how.wrap(example)
        if any(form in text and _is_whole(name, form) for form in (example, flatten(example))):
            asked += 1
            wire = ("text", "anthropic")[number % 2]
            lost += [(place, wire)] if _count_traces(_read(text, wire, TOOLS)) < len(calls) else []
    assert lost == []
    assert asked >= 17


BEHIND_A_SENTENCE = {
    CALL: CALL,
    f"```json\n{CALL}\n```": f"```json\n{CALL}\n```",
    f"[{CALL}]": f"[{CALL}]",
    '[search(query="tea")]': '[search(query="tea")]',
    f"{CALL}\n{CALL}": f"{CALL}\n{CALL}",
    f"functools[{CALL}]": f"functools[{CALL}]",
    'Thought: I need tea.\nAction: search\nAction Input: {"query": "tea"}': (
        'Action: search\nAction Input: {"query": "tea"}'
    ),
    'analysisI need tea.assistantcommentary to=functions.search json{"query": "tea"}': (
        'assistantcommentary to=functions.search json{"query": "tea"}'
    ),
    'search{"query": "tea"}': 'search{"query": "tea"}',
    "See <search>\n<query>tea</query>\n</search>": "<search>\n<query>tea</query>\n</search>",
}
"""What a model writes where it means a call, each with the text of the call."""


@pytest.mark.parametrize("before", ["Sure:\n", "<think>Tea.</think>\nI look it up.\n\n"])
@pytest.mark.parametrize("written", BEHIND_A_SENTENCE)
def test_a_bare_call_that_ends_an_answer_behind_a_sentence_is_counted_and_an_intent(written: str, before: str) -> None:
    intent = sp.ToolIntent("search", BEHIND_A_SENTENCE[written], is_call=True)
    for wire in ("text", "openai-chat", "anthropic"):
        parser = _read(before + written, wire, SEARCH)
        assert parser.response.tool_calls == []
        assert parser.response.intents == [intent]
        assert parser.stats.unread_calls == {"bare": written.count(CALL) or 1}
    assert sp.parse_response(before + written, tools=SEARCH).intents == [intent]


@pytest.mark.parametrize(
    "text",
    [
        f"Sure: `{CALL}`",
        f"Sure:\n\n> {CALL}",
        f'The line is "{CALL}',
        f"Sure:\n{CALL}\nBut no.",
        f"Sure:\n{CALL.replace('query', 'q')}",
        f"Sure:\n{CALL.replace('search', 'find')}",
        f"Sure:\n<tool_call>{CALL}</tool_call>",
        CALL,
        f"<think>Sure:\n{CALL}",
        "search{}.",
    ],
)
def test_what_is_quoted_goes_on_lacks_something_or_is_told_as_a_call_is_no_such_intent(text: str) -> None:
    assert _read(text, "text", SEARCH).response.intents == []


def test_only_an_answer_that_ended_well_has_such_an_intent() -> None:
    text = f"Sure:\n{CALL}"
    for end in ("length", "cut"):
        stream = sp.StreamParser("openai-chat", tools=SEARCH)
        stream.feed(make_body("openai-chat", [text], end))  # type: ignore[arg-type]
        stream.close()
        assert stream.response.intents == []
    unsure = sp.TextParser(tools=SEARCH)
    unsure.feed(text)
    unsure.close()
    assert unsure.response.intents == []
    assert _read(text, "text", SEARCH, dialects=()).response.intents == []


def test_a_sentence_and_a_call_of_one_tool_are_one_intent_and_other_sentences_are_others() -> None:
    text = f"I'll use the search tool, and I'll use the now tool.\n{CALL}"
    found = sp.parse_response(text, tools=[*SEARCH, {"name": "now"}]).intents
    assert [(each.name, each.is_call) for each in found] == [("search", True), ("now", False)]


def test_calls_are_counted_where_they_stand() -> None:
    text = (
        f"<think>I could write {CALL}, or `{CALL}`.</think>Not `{CALL}` nor <tool_call>{CALL}</tool_call>, "
        f"but {CALL} or <tool_call>{CALL.replace('tea', '')}</tool_call>."
    )
    stats = _read(text, "text", SEARCH, dialects="reasoning").stats
    assert stats.unread_calls == {"quoted": 1, "plain": 2, "bare": 1, "thought": 2}


def test_a_call_in_a_thought_that_came_in_a_field_of_its_own_is_counted() -> None:
    message = {"role": "assistant", "reasoning_content": f"Perhaps <tool_call>{CALL}</tool_call>.", "content": "Hi."}
    parser = sp.StreamParser("openai-chat", tools=SEARCH)
    parser.feed(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode())
    parser.close()
    assert (parser.response.tool_calls, parser.stats.unread_calls) == ([], {"thought": 1})


def test_a_call_that_is_longer_than_may_be_held_is_counted() -> None:
    call = CALL.replace("tea", "tea " * 1000)
    for text, place in ((f"So: {call} it is.", "bare"), (f"So: `{call}`", "quoted")):
        parser = sp.TextParser(tools=SEARCH, limits=sp.Limits(max_held_text=100))
        parser.feed(text)
        parser.close(stopped=True)
        assert (parser.response.tool_calls, parser.stats.unread_calls) == ([], {place: 1})


def test_behind_a_turn_that_the_model_invented_calls_are_counted() -> None:
    text = f"<tool_call>{CALL}</tool_call><tool_response>3</tool_response>{CALL}"
    assert _read(text, "text", SEARCH).stats.unread_calls == {"bare": 1}
