"""One answer on the three wires that llama.cpp speaks: whatever the wire, the events say the same."""

from __future__ import annotations

from typing import Any

import pytest
from dictation import TOOLS, cut_at_random, hermes_call, merged, nasty
from live_server import CHAT, Scripted, record

import streamparse as sp

pytestmark = pytest.mark.live

PATHS = {"openai-chat": CHAT, "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}
PARIS = hermes_call("get_weather", {"city": "Paris", "days": 3})
QUOTED = hermes_call("search", {"query": 'naïve "quoted" }} </tool_call> \n 🎉 \\', "limit": 10})
ANSWERS = {
    "text": "Hello, {world} 🎉.",
    "one call": PARIS,
    "text, then parallel calls": f"I will look.\n{PARIS}\n{QUOTED}\n{PARIS}",
    "thought, then text": "<think>\nIs 1 < 2?\n</think>\n\nYes.",
    "thought, text and calls": f"<think>\nHm.\n</think>\n\nWell.\n{QUOTED}\n{PARIS}",
    "nasty text": nasty(7),
    "nasty arguments": hermes_call("search", {"query": nasty(8), "limit": 1}),
}


def _request(wire: str, server: Scripted, answer: str, native: bool, tokens: int) -> dict[str, Any]:
    """The request for one answer, in the words of the wire."""
    content = server.script(answer, TOOLS if native else ())
    message = {"role": "user", "content": content}
    functions = [tool["function"] for tool in TOOLS]
    request: dict[str, Any]
    match wire:
        case "openai-chat":
            request = {"messages": [message], "max_tokens": tokens, "stream_options": {"include_usage": True}}
            tools = TOOLS
        case "openai-responses":
            request = {"input": [message], "max_output_tokens": tokens}
            tools = [{"type": "function", **each} for each in functions]
        case _:
            request = {"messages": [message], "max_tokens": tokens}
            tools = [{"name": each["name"], "input_schema": each["parameters"]} for each in functions]
    request |= {"model": "copy", "stream": True, "temperature": 0}
    return request | ({"tools": tools, "parallel_tool_calls": True} if native else {})


def _body(wire: str, server: Scripted, answer: str, native: bool, tokens: int = 3000) -> bytes:
    return record(server.url, _request(wire, server, answer, native, tokens), PATHS[wire]).body


def _events(wire: str, chunks: list[bytes], dialects: Any = "auto") -> list[sp.Event]:
    parser = sp.StreamParser(wire, dialects=dialects, tools=TOOLS)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return merged(events + parser.close())


def _said(event: sp.Event) -> Any:
    """What an event says of the answer, without what is the wire's own: ids, and words for the end."""
    match event:
        case sp.ToolCallStart():
            return ("start", event.index, event.name)
        case sp.ToolCallComplete():
            return ("complete", event.index, event.name, event.arguments, event.raw, event.source)
        case sp.Error():
            return ("error", event.scope, event.code, event.index)
        case sp.Done():
            return ("done", event.ok)
        case _:
            return event


def _sayings(wire: str, body: bytes) -> list[Any]:
    """The events but for white space at the ends of text, which each wire's writer trims in its own way."""
    events = [event for event in _events(wire, [body], "all") if not isinstance(event, sp.ProviderItem)]
    said = [_said(event) for event in merged(events)]  # where an item was, two pieces of one text meet
    trimmed = [(type(each), each.text.strip()) if hasattr(each, "text") else each for each in said]
    return [each for each in trimmed if not (isinstance(each, tuple) and each[-1] == "")]


@pytest.mark.parametrize("native", [True, False], ids=["native", "inband"])
@pytest.mark.parametrize("name", ANSWERS)
def test_the_same_answer_gives_the_same_events_on_each_wire(hermes: Scripted, name: str, native: bool) -> None:
    chat, *others = (_sayings(wire, _body(wire, hermes, ANSWERS[name], native)) for wire in PATHS)
    assert chat[-1] == ("done", True)
    for other in others:
        assert other == chat


@pytest.mark.parametrize("tokens", [3, 20, 45])
def test_an_answer_cut_by_its_limit_completes_the_same_calls_on_each_wire(hermes: Scripted, tokens: int) -> None:
    answer = ANSWERS["text, then parallel calls"]
    chat, *others = (_sayings(wire, _body(wire, hermes, answer, False, tokens)) for wire in PATHS)
    for other in others:
        assert other[:-1] == chat[:-1]


@pytest.mark.parametrize("wire", ["openai-responses", "anthropic"])
def test_where_servers_parse_calls_themselves_calls_at_the_end_of_the_text_are_recovered_and_stay_text(
    hermes: Scripted, wire: str
) -> None:
    events = _events(wire, [_body(wire, hermes, ANSWERS["text, then parallel calls"], False)])
    assert (
        "".join(event.text for event in events if isinstance(event, sp.TextDelta))
        == (ANSWERS["text, then parallel calls"])
    )
    calls = [event for event in events if isinstance(event, sp.ToolCallComplete)]
    assert [(call.name, call.source) for call in calls] == [
        ("get_weather", "recovered"),
        ("search", "recovered"),
        ("get_weather", "recovered"),
    ]


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("native", [True, False], ids=["native", "inband"])
def test_the_real_bytes_of_each_wire_cut_anywhere_give_the_same_events(
    hermes: Scripted, wire: str, native: bool
) -> None:
    body = _body(wire, hermes, ANSWERS["thought, text and calls"], native)
    whole = _events(wire, [body])
    assert _events("auto", [body]) == whole
    assert _events(wire, [body[i : i + 1] for i in range(len(body))]) == whole
    for seed in range(10):
        assert _events(wire, cut_at_random(body, seed)) == whole
