"""What a parser learns of a flood of markers changes nothing that it reports."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from cuts import in_pieces, merged
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.dialects.engine import floods

TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {key: {"type": "string"}}}}
    for name, key in (("get_weather", "city"), ("bash", "command"))
]
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
UNITS = [
    *("<tool_call>", "<tool_ca", "<tool_call>{", "<tool_call>x ", "<tool_call>\n", "`<tool_call>` ", '"<tool_call>'),
    *("<think>", "</think>", "<think></think>", "<bash>", "</bash>", "<bash></bash>", "<function=", "[TOOL_CALLS]"),
    *('[{"', '{"name": "', "Action:", "Action:\n", "```json\n", "```\n", "> <tool_call>\n", "<|im_end|>", "<|call|>"),
    *("<|channel|>analysis<|message|>", "<|start|>assistant to=user<|message|>", "<|python_tag|>", ">>>", "[", "<"),
    *("Some words. ", "a < b and c > d ", "\n", "    ", "- ", CALL, CALL[:30], CALL[30:], "<bash>ls</bash>\n"),
]


def read(pieces: list[str], **options: Any) -> tuple[list[sp.Event], sp.ParsedResponse]:
    """The events, with adjacent deltas joined, and the response."""
    parser = sp.TextParser(**options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return merged([*events, *parser.close()]), parser.response


def assert_same_without_floods(pieces: list[str], **options: Any) -> None:
    """Assert that nothing is different if no flood is noticed."""
    learnt = read(pieces, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floods, "_MOST_VAIN", sys.maxsize)
        assert learnt == read(pieces, **options)


@pytest.mark.parametrize("size", [5, 16, 100_000])
@pytest.mark.parametrize("unit", UNITS)
def test_a_flood_and_what_comes_after_it_is_read_as_without_learning(unit: str, size: int) -> None:
    for after in (CALL, f"\n\n{CALL}\nThat is all.", f"`{CALL}`", "</think>" + CALL, ""):
        text = unit * (4000 // len(unit)) + after
        assert_same_without_floods(in_pieces(text, size), tools=TOOLS)


TAGGED = "<get_weather>\n<city>Paris</city>\n</get_weather>"
BARE = '{"name": "get_weather", "arguments": {"city": "Paris"}}'


@pytest.mark.parametrize("size", [16, 100_000])
@pytest.mark.parametrize("dialects", ["auto", "all", ["tool-name-tag", "hermes"], ["llama3-json", "hermes"]])
@pytest.mark.parametrize("call", [TAGGED, BARE, CALL])
def test_a_flood_around_a_call_is_read_as_without_learning(call: str, dialects: Any, size: int) -> None:
    for unit in (
        "<get_weather>",
        "</get_weather>",
        "<get_weather></get_weather>",
        "</city>",
        "\n<tool_call>",
        " <bash ",
    ):
        flood = unit * (1500 // len(unit))
        for text in (call + flood, flood + call, f"{flood}\n{call}\n{flood}", f"Words.\n{call}{flood}</tool_call>"):
            assert_same_without_floods(in_pieces(text, size), tools=TOOLS, dialects=dialects)


@pytest.mark.parametrize("size", [13, 16, 100_000])
@pytest.mark.parametrize("dialects", ["auto", ["tool-name-tag"]])
def test_tags_of_a_flood_are_counted_as_without_learning(dialects: Any, size: int) -> None:
    for before in ("<get_weather>", "Some words here, well.\n<get_weather>", "</get_weather>"):
        text = before * 100 + TAGGED + "</get_weather>" * 100
        assert_same_without_floods(in_pieces(text, size), tools=TOOLS, dialects=dialects)


@given(data=st.data())
def test_mixed_floods_are_read_as_without_learning(data: st.DataObject) -> None:
    unit = st.lists(st.sampled_from(UNITS), min_size=1, max_size=3).map("".join)
    part = st.builds(lambda text, count: text * count, unit, st.sampled_from([1, 2, 6, 30, 100]))
    text = "".join(data.draw(st.lists(part, min_size=1, max_size=4)))[:6000]
    pieces = in_pieces(text, data.draw(st.sampled_from([3, 7, 16, 64, 700, 100_000])))
    options = {
        "tools": data.draw(st.sampled_from([None, TOOLS])),
        "dialects": data.draw(st.sampled_from(["auto", "all", ["hermes", "tool-name-tag"], ["harmony"]])),
        "limits": data.draw(st.sampled_from([sp.Limits(), sp.Limits(max_held_text=300)])),
        "quoted": data.draw(st.sampled_from(["text", "calls"])),
        "reasoning": data.draw(st.sampled_from(["auto", "open", "closed"])),
    }
    assert_same_without_floods(pieces, **options)


@pytest.mark.parametrize("marker", ["<tool_call>", "<bash>", "[TOOL_CALLS]"])
def test_a_flood_among_messages_with_thoughts_and_native_calls_is_read_as_without_learning(marker: str) -> None:
    def say(**delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    function = {"name": "bash", "arguments": "{}"}
    between = [
        say(reasoning_content="Well."),
        say(tool_calls=[{"index": 0, "id": "call_1", "type": "function", "function": function}]),
    ]
    messages = [say(content=marker) for _ in range(60)]
    messages = [*messages, between[0], *messages, between[1], *messages, say(content=CALL)]

    def read_messages() -> tuple[list[sp.Event], sp.ParsedResponse]:
        parser = sp.StreamParser("openai-chat", tools=TOOLS, dialects="all")
        events = [event for message in messages for event in parser.feed(message)]
        return merged([*events, *parser.close()]), parser.response

    learnt = read_messages()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floods, "_MOST_VAIN", sys.maxsize)
        assert learnt == read_messages()
