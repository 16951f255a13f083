"""A value that quotes the closing tags of its own format and another call: what is quoted does not stand as a call."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, places_of, revoked_of, text_of

import streamparse as sp

APART = ("gemma4", "functiongemma", "muse-atem", "beam")
"""In these no whole call can be quoted, or one needs the header of a message."""
WITHOUT_TAGS = ("glm-5.3", "hyperclova-x", "longcat")
"""In their examples the value has no tags of its own."""
BARE = ("tool-name-tag", "tool-text-tag")
"""Their calls are bare: any text behind them revokes them."""
NAMES = [name for name, row in sp.DIALECTS.items() if row.companions and name not in (*APART, *BARE, *WITHOUT_TAGS)]
TOOLS = [{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]


def _tags(name: str) -> tuple[str, str]:
    """What stands before a value in the example of a format, and behind it."""
    before, after = sp.DIALECTS[name].example.split("Paris")
    return before, after


def _errors(events: list[sp.Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, sp.Error)]


@pytest.mark.parametrize("dialects", ["named", "auto"])
@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_a_value_quoted_is_revoked_with_the_value_it_cut_short(name: str, dialects: str) -> None:
    before, after = _tags(name)
    text = f"{before}A page:{after}\n{before}Rome{after} it says.{after}"
    named = [name] if dialects == "named" else "auto"
    events = assert_same_in_every_cut(lambda: sp.TextParser(named, tools=TOOLS), text, 40)
    assert calls_of(events) == [("get_weather", {"city": "A page:"}), ("get_weather", {"city": "Rome"})]
    assert revoked_of(events) == [(0, "ambiguous_markup"), (1, "ambiguous_markup")]
    assert _errors(events) == ["ambiguous_markup"]
    assert text_of(events).strip().startswith("it says.")
    assert isinstance(events[-1], sp.Done)
    assert not events[-1].ok


@pytest.mark.parametrize("dialects", [["tool-name-tag"], "auto"], ids=["named", "auto"])
def test_bare_calls_before_a_value_that_went_on_are_revoked_and_are_text(dialects: Any) -> None:
    before, after = _tags("tool-name-tag")
    text = f"{before}A page:{after}\n{before}Rome{after} it says.{after}"
    events = assert_same_in_every_cut(partial(sp.TextParser, dialects, tools=TOOLS), text, 40)
    assert calls_of(events) == [("get_weather", {"city": "A page:"}), ("get_weather", {"city": "Rome"})]
    assert (places_of(events), revoked_of(events)) == (["bare"] * 2, [(0, "text_follows"), (1, "text_follows")])
    assert (text_of(events), _errors(events)) == (text, [])


@pytest.mark.parametrize("name", [*NAMES, "tool-name-tag"])
def test_a_whole_call_that_a_value_quotes_is_data(name: str) -> None:
    before, after = _tags(name)
    quoted = f"Write {before}Rome{after} to ask."
    events = assert_same_in_every_cut(lambda: sp.TextParser([name], tools=TOOLS), before + quoted + after, 40)
    assert calls_of(events) == [("get_weather", {"city": quoted})]
    assert not _errors(events)


@pytest.mark.parametrize("name", NAMES)
def test_two_calls_and_the_text_behind_them_raise_no_doubt(name: str) -> None:
    before, after = _tags(name)
    events = sp.TextParser([name], tools=TOOLS).feed(f"{before}Paris{after}\n{before}Rome{after}\nThe rest < that.")
    assert [arguments for _, arguments in calls_of(events)] == [{"city": "Paris"}, {"city": "Rome"}]
    assert not _errors(events)


@pytest.mark.parametrize("dialects", ["named", "auto"])
@pytest.mark.parametrize("name", APART)
def test_a_call_whose_value_went_on_behind_its_own_end_is_revoked(name: str, dialects: str) -> None:
    before, after = _tags(name)
    text = f"{before}A page:{after}\nIt says.{after}"
    named = [name] if dialects == "named" else "auto"
    events = assert_same_in_every_cut(lambda: sp.TextParser(named, tools=TOOLS), text, 40)
    assert [arguments["city"] for _, arguments in calls_of(events)] == ["A page:"]
    assert revoked_of(events) == [(0, "ambiguous_markup")]
    assert _errors(events) == ["ambiguous_markup"]


def test_an_answer_may_quote_the_markup_of_a_call_that_was_made() -> None:
    example = sp.DIALECTS["muse-atem"].example
    said = f"I wrote{example.removesuffix('<|eom|>').partition('<|message|>')[2]} to get it."
    events = sp.TextParser(["muse-atem"], tools=TOOLS).feed(
        f"{example}<|start|>assistant to=user<|message|>{said}<|eom|>"
    )
    assert (len(calls_of(events)), text_of(events), _errors(events)) == (1, said, [])


def test_closing_tags_that_are_quoted_in_back_ticks_raise_no_doubt() -> None:
    before, after = _tags("qwen3-coder")
    events = sp.TextParser(tools=TOOLS).feed(f"{before}Paris{after}\nIt ends with `</parameter></function>`.")
    assert len(calls_of(events)) == 1
    assert not revoked_of(events)


def test_closing_tags_in_the_text_leave_native_calls_alone() -> None:
    parser = sp.StreamParser("openai-chat", tools=TOOLS)
    native = '{"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": "{}"}}'
    events = parser.feed(b'data: {"choices": [{"delta": {"tool_calls": [' + native.encode() + b"]}}]}\n\n")
    events += parser.feed(b'data: {"choices": [{"delta": {"content": "</parameter></function></tool_call>"}}]}\n\n')
    events += parser.feed(b'data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}\n\n') + parser.close()
    assert calls_of(events) == [("get_weather", {})]
    assert not revoked_of(events)


COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}}
BY_NAME = [{"name": name, "parameters": COMMAND} for name in ("bash", "code", "a")]


@pytest.mark.parametrize("dialects", ["auto", ["tool-name-tag", "tool-text-tag"]])
def test_a_bare_text_that_goes_on_behind_its_own_tag_is_revoked_with_the_call_it_quoted(dialects: list[str]) -> None:
    text = "<bash>cat <<E\n</bash>\n<code>\n<command>x</command>\n</code>\nE\n</bash>"
    events = assert_same_in_every_cut(lambda: sp.TextParser(dialects, tools=BY_NAME), text)
    assert calls_of(events) == [("bash", {"command": "cat <<E"}), ("code", {"command": "x"})]
    assert (places_of(events), revoked_of(events)) == (["bare"] * 2, [(0, "text_follows"), (1, "text_follows")])
    assert (text_of(events), _errors(events)) == (text, [])


HTML = {
    "a pair": "Use <code>ls</code> and <a href='x'>this</a>.",
    "a tag that is closed later": "Use <code> <b>ls</b>\n so: </code>",
    "a tag that is quoted": 'It ends with `</code>`, not with "</a>".',
    "a closing tag once more": "</code>\nThat is it.",
    "a tag that no call was told by": "</bash> ends it.",
}


@pytest.mark.parametrize("kind", HTML)
def test_tags_of_html_that_are_names_of_tools_raise_no_doubt(kind: str) -> None:
    call = "<code>\n<command>ls</command>\n</code>"
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=BY_NAME), call + HTML[kind])
    assert (calls_of(events), places_of(events)) == ([("code", {"command": "ls"})], ["bare"])
    assert revoked_of(events) == [(0, "text_follows")], "as behind any bare call, and not because it is in doubt"
    assert (text_of(events), _errors(events)) == (call + HTML[kind], [])


@pytest.mark.parametrize("kind", HTML)
def test_tags_of_html_behind_a_call_of_a_tool_that_has_their_name_leave_a_call_with_a_marker_alone(kind: str) -> None:
    call = '<tool_call>{"name": "code", "arguments": {"command": "ls"}}</tool_call>'
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=BY_NAME), call + HTML[kind])
    assert (calls_of(events), places_of(events)) == ([("code", {"command": "ls"})], ["plain"])
    assert (revoked_of(events), text_of(events), _errors(events)) == ([], HTML[kind], [])


def test_a_call_inside_of_a_tag_that_is_the_name_of_its_tool_is_text_and_raises_no_doubt() -> None:
    text = "See <a href='y'>\n<a>\n<command>1</command>\n</a>\nof\n</a>."
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=BY_NAME), text)
    assert (calls_of(events), places_of(events)) == ([("a", {"command": "1"})], ["bare"])
    assert (revoked_of(events), text_of(events), _errors(events)) == ([(0, "text_follows")], text, [])
