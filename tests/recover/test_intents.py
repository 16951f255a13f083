"""Intents: what a model says it is going to do, and not what it denies, offers, quotes or writes in code."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.parser.intents import HeuristicParser

TOOLS = [{"name": name, "parameters": {}} for name in ("search", "read_file", "web_search")]


def _intents(text: str, tools: object = TOOLS) -> list[tuple[str, str]]:
    parsed = HeuristicParser(tools=tools).parse(text)  # type: ignore[arg-type]
    assert parsed.tool_calls == []
    assert parsed.content == text
    return [(intent.name, intent.text) for intent in parsed.intents]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'll use the search tool for that.", "search"),
        ("I’ll use the `search` tool for that.", "search"),
        ("I will now call read_file to see it.", "read_file"),
        ("Let me call `read_file()` first.", "read_file"),
        ("I'm going to use the function read_file.", "read_file"),
        ("I am using the search function now.", "search"),
        ("We need to use the Web Search tool.", "web_search"),
        ("I should first run the tool named **read_file**.", "read_file"),
        ("Let's try the functions.search tool.", "search"),
        ("I could not find it, so I'll use the search tool.", "search"),
        ("I'll use the search tool to see if it rains.", "search"),
    ],
)
def test_a_sentence_that_announces_a_declared_tool_is_an_intent(text: str, name: str) -> None:
    assert _intents(f"Hm. {text} Wait.") == [(name, text)]


@pytest.mark.parametrize(
    "text",
    [
        "I won't use the search tool.",
        "I will not use the search tool.",
        "I don't need to use the search tool.",
        "There is no way I'll use the search tool.",
        "If you like, I'll use the search tool.",
        "I'll use the search tool if you like.",
        "I'll use the search tool for that, unless you object",
        "I should use the search tool only if asked.",
        "I doubt that I should use the search tool.",
        "I would refuse to say that I'll use the search tool.",
        "You could use the search tool.",
        "I used the search tool.",
        "I'll use the magic tool.",
        "I'll use my knowledge.",
        "I'll search for it.",
        'It said "I\'ll use the search tool" and stopped.',
        "> I'll use the search tool.",
        "```\nI'll use the search tool.\n```",
        "```\nI'll use the search tool.",
        "Write `I'll use the search tool` there.",
        "Should I use the search tool?",
        "",
    ],
)
def test_what_is_denied_offered_past_quoted_or_code_is_none(text: str) -> None:
    assert _intents(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I'll use the search tool for that.", ["search"]),
        ("I'll call the tool `find_it`.", ["find_it"]),
        ("I'll use the right tool.", []),
        ("I'll use the following tool:", []),
        ("I'll use the function to find it.", []),
        ("I'll use Python.", []),
        ("I'll call them tomorrow.", []),
    ],
)
def test_without_declared_tools_only_a_plainly_named_one_counts(text: str, names: list[str]) -> None:
    assert [name for name, _ in _intents(text, None)] == names


def test_each_tool_counts_once_and_a_tool_that_is_called_is_no_intent() -> None:
    text = "I'll use the search tool. Then I'll call read_file. Again I will use the search tool."
    assert [name for name, _ in _intents(text)] == ["search", "read_file"]
    call = '<tool_call>{"name": "search", "arguments": {}}</tool_call>'
    for parser in (sp.CompositeParser(tools=TOOLS), sp.CompositeParser(strategy="first", tools=TOOLS)):
        parsed = parser.parse(text + call)
        assert [intent.name for intent in parsed.intents] == ["read_file"]
        assert [call.name for call in parsed.tool_calls] == ["search"]


def test_the_calls_of_an_answer_are_left_to_the_other_parsers() -> None:
    call = {"id": "c0", "function": {"name": "read_file", "arguments": "{}"}}
    message = {"role": "assistant", "content": "I'll use the search tool.", "tool_calls": [call]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    parsed = HeuristicParser(tools=TOOLS).parse(body)
    assert ([intent.name for intent in parsed.intents], parsed.tool_calls) == (["search"], [])


def test_nothing_is_looked_for_in_the_text_with_dialects_off() -> None:
    assert sp.parse_response("I'll use the search tool.", dialects=(), tools=TOOLS).intents == []


WISHES = (
    "I'll", "I’ll", "We'll", "Then we'll", "I will", "I shall", "I must", "I should", "I need to", "I have to",
    "I want to", "I am going to", "We are going to", "I would like to", "I'm going to", "We're going to", "I'd like to",
    "Let me", "Let us", "Let's", "So let me",
)  # fmt: skip
ADVERBS = ("now", "first", "then", "next", "also", "just", "quickly", "try to", "start by", "begin by", "go ahead and")
VERBS = ("use", "call", "invoke", "run", "execute", "query", "try")
DOING = ("using", "calling", "invoking", "running", "executing", "querying", "trying")
SAID = [
    *(f"{wish} use the search tool." for wish in WISHES),
    *(f"I'll {adverb} use search." for adverb in (*ADVERBS, "now then also")),
    *(f"I'll {verb} {article}search." for verb in VERBS for article in ("", "the ", "a ", "an ", "my ", "our ")),
    *(f"{who} {doing} search." for who in ("I'm", "I am", "We're", "we are") for doing in DOING),
    *(f"I'll use {open}search{close}{word}." for word in ("", " tool", " function")
      for open, close in (("`", "`"), ('"', '"'), ("“", "”"), ("**", "**"), ("**`", "()`**"))),
    *(f"I'll use the {word} search." for word in ("tool", "function", "tool called", "function named")),
    *(f"{before} I'll use search." for before in ("I'll use Python.", "Never: I'll use Python.", "`I'll use search`.")),
    "I'll use functions.search.", "I’m SURE. I'll use SEARCH!", "I'll use search\nOr not?",
]  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_whoever_says_in_whatever_words_that_a_tool_is_used_means_it(text: str) -> None:
    assert [name for name, _ in _intents(text)] == ["search"]


@pytest.mark.parametrize("text", [
    "I'll now then also next use search.", "I'll user search.", "I'll use searches.", "I'll usesearch.",
    "Ill use search.",
    "We ll use search.", "I'll reuse search.", "I'm use search.", "He'll use search.", "I will, use search.",
    *(f"{word} I'll use search." for word in ("If", "Unless", "Whether", "Should you,", "In case", "When", "Once",
                                             "Would you mind if", "Do you think", "Shall I say that")),
    *(f"I'll use search {word}." for word in ("unless", "only if", "if you", "if needed", "if necessary",
                                             "if required", "if possible", "if asked", "should you", "when you ask")),
    *(f"{word} that I'll use search." for word in ("No", "Not", "Never say", "Neither", "Nor", "I cannot say",
                                                  "Without",
                                                  "I doubt", "I refuse", "Rather than", "Instead of", "I can’t say")),
    "~~~\nI'll use search.\n~~~", "  > I'll use search.", "He said “I'll use search” and left.",
])  # fmt: skip
def test_other_words_and_other_places_mean_no_tool(text: str) -> None:
    assert _intents(text) == []


def test_each_of_several_wishes_is_looked_at() -> None:
    text = "I won't use read_file. `I'll use search.` I'll use read_file, I'll use Python; I'll use search."
    assert [name for name, _ in _intents(f"{text} We'll use the web search tool")] == [
        "read_file",
        "search",
        "web_search",
    ]
    assert [
        name for name, _ in _intents("I'll use **`ab`**. I'll use the `right` tool. I'll run the c tool.", None)
    ] == ["c"]
    assert [name for name, _ in _intents("I'll use the tool \"right\". I'll use the function b.", None)] == ["right"]


@pytest.mark.parametrize("before", ["", "Yes. ", "Yes! ", "Yes? ", "Yes\n", "a.b v1.2. "])
@pytest.mark.parametrize("behind", ["", " No.", "\nNo", " Then more, and more.", '" No.'])
def test_an_intent_has_its_whole_sentence_and_no_other(before: str, behind: str) -> None:
    for sentence in ("So I'll use search for v1.5 of it.", "So I'll use search now!", "I'll use search now?"):
        assert _intents(f"{before}{sentence}{behind}") == [("search", sentence)]
    assert _intents(f"{before}I'll use search\nNo.") == [("search", "I'll use search")]
