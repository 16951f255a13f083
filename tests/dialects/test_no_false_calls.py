"""Text that only mentions calls gives none, with `"auto"`, with declared tools and without, however it is cut.

`fixtures/prose` holds texts by name; every marker of every dialect is put into sentences of several kinds.
`calls.toml` holds the texts in which whole calls of declared tools stand, and where they stand.
"""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cuts import (
    assert_same_in_every_cut,
    calls_of,
    events_of,
    in_pieces,
    places_of,
    reasoning_of,
    revoked_of,
    text_of,
)
from test_contract import FOLDER as CONTRACT

import streamparse as sp
from streamparse.dialects import THOUGHTS

FOLDER = Path(__file__).parents[2] / "fixtures" / "prose"
APART = {"calls"}
TOOLS = [
    {
        "name": name,
        "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in ("city", "query", "path")}},
    }
    for name in ("get_weather", "search", "bash", "read_file", "now")
]

OPENERS = sorted({opener.text for row in sp.DIALECTS.values() for opener in row.openers if opener.text.strip()})
REASONING = sorted({marker for row in THOUGHTS.values() for marker in (*row.opens, *row.closes, *row.echoes)})
STRUCTURE = sorted({marker for row in sp.DIALECTS.values() for marker in row.drops if marker != ">>>all\n"})
"""Without what is the whole address of the user: it is passed over wherever its format is looked for."""
WRAPPERS = [marker for row in sp.DIALECTS.values() for marker in row.opens_text]
"""Tokens before a visible text: there they are none."""
HEADER = "<|message|>"
"""Where it begins the answer, the prompt ended inside of a header; it is no text there."""

SENTENCES = {
    "in back-ticks": "The model writes `{}` before it calls a tool, and nothing after it.\n",
    "in a sentence": "A template puts {} in front of the name; see the model card.\n",
    "in quotation marks": 'Search the log for "{}" and count the lines, not the words.\n',
    "in a fence": "For example:\n\n```text\n{}\n```\n\nThat is all.\n",
    "on a line of its own": "These markers matter:\n{}\nNothing else does.\n",
    "in a list": "- `{}`: opens a call\n- `get_weather`: a tool\n",
    "in a table": "| marker | meaning |\n|---|---|\n| {} | a call follows |\n",
    "at the end": "It stopped in the middle of a sentence, right after {}",
}
FIRST = "{} is the marker that opens a call.\n"


def _texts(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


PROSE = {
    f"{file.stem}: {name}": text
    for file in sorted(FOLDER.glob("*.toml"))
    if file.stem not in APART
    for name, text in _texts(file.stem).items()
}


def _is_text(text: str) -> None:
    """Assert that a text comes out unchanged and that nothing else does."""
    for tools in (TOOLS, None):
        for pieces in ([text], in_pieces(text, 3)):
            events = events_of(sp.TextParser("auto", tools=tools), pieces)
            assert [event for event in events if not isinstance(event, (sp.TextDelta, sp.Done))] == [], (tools, pieces)
            assert text_of(events) == text, (tools, pieces)


def test_there_are_texts_enough() -> None:
    assert len(PROSE) > 200
    assert len(set(PROSE.values())) == len(PROSE)


@pytest.mark.parametrize("name", PROSE)
def test_prose_is_text(name: str) -> None:
    _is_text(PROSE[name])


TOKENS = tuple(marker for row in THOUGHTS.values() if row.token for marker in row.opens)
"""Tokens of a model that begin a thought, also behind text; a line of its own is no mention."""


@pytest.mark.parametrize("marker", [*OPENERS, *REASONING, *STRUCTURE])
def test_a_marker_that_is_mentioned_is_text(marker: str) -> None:
    for kind, sentence in SENTENCES.items():
        text = sentence.replace("{}", marker.strip("\n"))
        if marker.startswith(TOKENS) and kind == "on a line of its own":
            assert reasoning_of(events_of(sp.TextParser("auto"), [text])), kind
        else:
            _is_text(text)


@pytest.mark.parametrize("marker", sorted({*OPENERS, *STRUCTURE}.difference(REASONING, WRAPPERS, [HEADER])))
def test_a_marker_that_begins_a_sentence_is_text(marker: str) -> None:
    _is_text(FIRST.replace("{}", marker))


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_markup_before_a_tools_name_is_text(name: str) -> None:
    example = sp.DIALECTS[name].example
    begin = min(example.find(tool) for tool in ("get_weather", "bash", "brave_search") if tool in example)
    for kind, sentence in SENTENCES.items():
        if kind != "at the end":
            _is_text(sentence.replace("{}", example[:begin].strip("\n")))


@pytest.mark.parametrize("name", _texts("calls"))
def test_a_complete_call_of_a_declared_tool_says_where_it_stands_and_is_text_where_it_is_quoted(name: str) -> None:
    case = _texts("calls")[name]
    calls = [(call["name"], call["arguments"]) for call in case["calls"]]
    asked = assert_same_in_every_cut(lambda: sp.TextParser("auto", tools=TOOLS, quoted="calls"), case["text"])
    assert (calls_of(asked), places_of(asked), revoked_of(asked)) == (calls, case["places"], [])
    if "quoted" in case["places"]:
        _is_text(case["text"])
    else:
        assert assert_same_in_every_cut(lambda: sp.TextParser("auto", tools=TOOLS), case["text"]) == asked


CALL = '<tool_call>{{"name": "{}", "arguments": {{"city": "Paris"}}}}</tool_call>'
WRAPPED = {
    "in back-ticks": "Hm. `{}` So.",
    "in quotation marks": 'Hm. "{}" So.',
    "in a fence": "Hm.\n```xml\n{}\n```\nSo.",
    "in a fence that another text opened": "Hm.\n  ````\n```\n~~~\n{}\n```\n````\nSo.",
    "in a fence of tildes": "Hm.\n  ~~~~ xml\n```\n~~~\n{}\n~~~~\nSo.",
    "in a code span": "Hm. `it is {} here` So.",
    "in a code span of two back-ticks": "Hm. ``it is `x` and {}`` So.",
    "in a fence in a list": "1. Hm.\n\n    - ```xml\n      x\n      ```\n\n      ```xml\n      {}\n      ```\nSo.",
    "in German quotation marks": "Hm. „{}“ So.",
    "in French quotation marks": "Hm. « {} » So.",
}


@pytest.mark.parametrize("dialects", ["auto", ["hermes"]], ids=["auto", "named"])
@pytest.mark.parametrize("kind", WRAPPED)
def test_a_quoted_call_is_text(kind: str, dialects: Any) -> None:
    for name, tools in (("get_weather", TOOLS), ("f", TOOLS), ("get_weather", None)):
        text = WRAPPED[kind].format(CALL.format(name))
        events = assert_same_in_every_cut(partial(sp.TextParser, dialects, tools=tools), text)
        assert events == [sp.TextDelta(text), sp.Done(finish_reason=None, usage=None, ok=True)]


@pytest.mark.parametrize("dialects", ["auto", ["hermes"]], ids=["auto", "named"])
@pytest.mark.parametrize("kind", WRAPPED)
def test_where_quoted_calls_are_asked_for_those_of_declared_tools_are_told_and_others_are_text(
    kind: str, dialects: Any
) -> None:
    for name, tools, calls in (("get_weather", TOOLS, 1), ("f", TOOLS, 0), ("get_weather", None, 0)):
        text = WRAPPED[kind].format(CALL.format(name))
        events = assert_same_in_every_cut(partial(sp.TextParser, dialects, tools=tools, quoted="calls"), text)
        assert calls_of(events) == [("get_weather", {"city": "Paris"})] * calls
        assert (places_of(events), revoked_of(events)) == (["quoted"] * calls, [])
        assert text_of(events) == (text if not calls else WRAPPED[kind].format(""))


@pytest.mark.parametrize("quote", ['"', "`", "'", "“"])
def test_a_block_that_is_quoted_is_quoted_with_what_stands_in_it(quote: str) -> None:
    text = f"Write {quote}{sp.DIALECTS['anthropic-invoke'].example}{quote} to call."
    for tools in ([{"name": "f"}], None):
        events = assert_same_in_every_cut(partial(sp.TextParser, tools=tools), text)
        assert (calls_of(events), text_of(events)) == ([], text)


@pytest.mark.parametrize("opening", ['<tool name="search">', '<tool_call name="search">', '<function name="search">'])
def test_the_opening_tag_of_a_declared_tool_in_a_sentence_is_text(opening: str) -> None:
    _is_text(f"The tag {opening} opens a call, and another one closes it.")


@pytest.mark.parametrize("kind", WRAPPED)
def test_a_quoted_call_that_is_cut_off_is_text(kind: str) -> None:
    text = WRAPPED[kind].split("{}")[0] + CALL.format("get_weather")[:-18]
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), text)
    assert events == [sp.TextDelta(text), sp.Done(finish_reason=None, usage=None, ok=True)]


@pytest.mark.parametrize("kind", WRAPPED)
def test_a_call_behind_what_was_quoted_streams(kind: str) -> None:
    parser = sp.TextParser()
    quoted = WRAPPED[kind].format(CALL.format("f"))
    assert text_of(parser.feed(quoted + "\n")) == quoted + "\n"
    assert sp.ToolCallStart in map(type, parser.feed('<tool_call>{"name": "f", "arguments": {'))


@pytest.mark.parametrize("kind", WRAPPED)
def test_a_thought_that_quotes_a_call_goes_on(kind: str) -> None:
    thought = WRAPPED[kind].format(CALL.format("get_weather"))
    for tools in (TOOLS, None):
        events = assert_same_in_every_cut(partial(sp.TextParser, tools=tools), f"<think>{thought}</think>Done.")
        assert (reasoning_of(events), text_of(events), calls_of(events)) == (thought, "Done.", [])


@pytest.mark.parametrize(
    "before", ["It`s so.\n", "`a` and `b` ", "``a`` ", "a ~ b\n~~ ", "~~~\nx\n~~~\n", "```\n~~~\n```\n"]
)
def test_a_call_behind_code_that_has_ended_is_no_quotation(before: str) -> None:
    events = assert_same_in_every_cut(sp.TextParser, before + CALL.format("f"))
    assert (calls_of(events), text_of(events)) == ([("f", {"city": "Paris"})], before)


def test_a_call_in_an_open_thought_names_a_declared_tool_or_is_thought() -> None:
    text = f"<think>Hm.\n{CALL.format('f')}"
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), text)
    assert (reasoning_of(events), text_of(events), calls_of(events)) == (text.removeprefix("<think>"), "", [])


@pytest.mark.parametrize(("behind", "reason"), [("\nSo.", "thought_goes_on"), ("\n", "thought_closed")])
def test_a_call_in_a_thought_that_goes_on_or_closes_is_revoked_and_is_thought(behind: str, reason: str) -> None:
    thought = f"Hm.\n{CALL.format('get_weather')}{behind}"
    text = f"<think>{thought}</think>Done, but not by `</think>`."
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), text)
    assert (reasoning_of(events), text_of(events)) == (thought, "Done, but not by `</think>`.")
    assert (calls_of(events), places_of(events)) == ([("get_weather", {"city": "Paris"})], ["thought"])
    assert revoked_of(events) == [(0, reason)]


def test_a_call_that_ends_an_open_thought_stands_at_a_good_end_and_is_thought_at_a_cut() -> None:
    thought = f"Hm.\n{CALL.format('get_weather')}\n"
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), f"<think>{thought}")
    assert (reasoning_of(events), places_of(events), revoked_of(events)) == ("Hm.\n", ["thought"], [])
    parser = sp.TextParser(tools=TOOLS)
    cut = parser.feed(f"<think>{thought}") + parser.close()
    assert (reasoning_of(cut), places_of(cut), revoked_of(cut)) == (thought, ["thought"], [(0, "cut")])


@pytest.mark.parametrize("name", [name for name, row in sp.DIALECTS.items() if row.drops])
def test_structure_that_is_quoted_is_text_where_its_dialect_is_named(name: str) -> None:
    for marker in sp.DIALECTS[name].drops:
        text = f'So `{marker}` and "{marker}" are its marks.\n\n```\n x {marker}\n```\n'
        for tools in (TOOLS, None):
            events = assert_same_in_every_cut(partial(sp.TextParser, [name], tools=tools), text, most=20)
            assert text_of(events) == text


def test_a_placeholder_between_tags_is_a_call_only_where_no_tools_are_known() -> None:
    """It is what GLM writes for a tool without arguments; only a list of the tools can tell."""
    text = "Write <tool_call>JSON</tool_call>, <function=...>...</function> and [TOOL_CALLS][{...}] as it says."
    told = {tools: calls_of(sp.TextParser(tools=tools and TOOLS).feed(text)) for tools in (True, None)}
    assert told == {True: [], None: [("JSON", {})]}


WRAPPED_TEXTS = {
    "cohere-action": "<|START_THINKING|>Hm.<|END_THINKING|><|START_TEXT|>{}<|END_TEXT|>",
    "cohere-action ": "<|START_RESPONSE|>{}<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
    "kimi-k3": "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>{}<|close|>response<|sep|>",
    "inkling": "<|message_model|><|content_text|>{}<|end_message|>",
    "solar-open": "<|begin|>assistant<|content|>{}<|end|>",
}


@pytest.mark.parametrize("name", WRAPPED_TEXTS)
def test_the_tokens_around_a_visible_text_are_no_text_though_no_call_was_found(name: str) -> None:
    said = "It rains, and `<|END_TEXT|>` is quoted."
    for dialects in ("auto", [name.strip()]):
        events = assert_same_in_every_cut(
            partial(sp.TextParser, dialects, tools=TOOLS), WRAPPED_TEXTS[name].format(said)
        )
        assert (text_of(events), calls_of(events)) == (said, [])


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("pythonic", "Well. [other(a=1)]"),
        ("lfm2", "[other(a=1)]"),
        ("kimi-k2", 'functions.other:0{"a": 1}'),
        ("deepseek-v3", "functionother\n```json\n{}\n```"),
    ],
)
def test_what_may_only_name_a_declared_tool_is_text_where_none_is_declared(dialect: str, text: str) -> None:
    for tools, calls in ((None, 0), ([{"name": "other", "parameters": {}}], 1)):
        parser = sp.TextParser([dialect], tools=tools)
        parser.feed(text)
        parser.close(stopped=True)
        assert len(parser.response.tool_calls) == calls


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("bare-json", '{"name": "now", "arguments": {}}'),
        ("llama3-json", '{"name": "now", "parameters": {}}'),
        ("xlam", '[{"name": "now", "arguments": {}}]'),
        ("guided-json-array", '[{"name": "now", "parameters": {}}]'),
        ("sarashina", "[{'name': 'now', 'arguments': {}}]"),
        ("lfm2", "[now()]"),
    ],
)
def test_a_bracket_that_is_no_marker_opens_a_call_on_a_line_of_its_own_and_not_within_one(
    dialect: str, call: str
) -> None:
    for text, calls in ((f"Well.\n{call}", 1), (f"Well: {call}", 0)):
        parser = sp.TextParser([dialect], tools=TOOLS)
        parser.feed(text)
        parser.close(stopped=True)
        assert len(parser.response.tool_calls) == calls


@pytest.mark.parametrize(("name", "calls"), [("f", 1), ("g", 0)])
def test_a_fence_in_place_of_a_marker_is_one_only_before_the_name_of_a_tool(name: str, calls: int) -> None:
    text = f"```{name}\n<|tool_arg:start|>a<|tool_arg:value|>1<|tool_arg:end|><|tool_call:end|>"
    parser = sp.TextParser(["solar-open-2"], tools=[{"name": "f", "parameters": {}}])
    parser.feed(text)
    parser.close(stopped=True)
    assert (len(parser.response.tool_calls), parser.response.content) == (calls, "" if calls else text)


@pytest.mark.parametrize("dialect", sorted(sp.DIALECTS.keys() - {"harmony", "tool-text-tag"}))
def test_what_could_be_no_name_makes_no_call(dialect: str) -> None:
    """Harmony's recipients may be any word, and a tag of `tool-text-tag` is a tool's own name."""
    cases = tomllib.loads((CONTRACT / f"{dialect}.toml").read_text(encoding="utf-8"))
    for name in ("13:", "get_weather.", "get weather"):
        text = cases["single"]["text"].replace("get_weather", name)
        parser = sp.TextParser([dialect], tools=TOOLS)
        events = events_of(parser, in_pieces(text, 3))
        assert calls_of(events) == []
        assert "Paris" in parser.response.content
