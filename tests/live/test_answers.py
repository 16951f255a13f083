"""What a real server sends, of an answer that the test dictated."""

from __future__ import annotations

import random

import pytest
from dictation import (
    TOOLS,
    Call,
    calls_of,
    cut_at_random,
    done_of,
    events_of,
    hermes_call,
    listen,
    merged,
    nasty,
    text_of,
)
from live_server import Scripted, record

import streamparse as sp

pytestmark = pytest.mark.live

PARIS: Call = ("get_weather", {"city": "Paris", "days": 3})
QUOTED: Call = ("search", {"query": 'na\u00efve "quoted" }} </tool_call> \n \U0001f389 \\', "limit": 10})
ZURICH: Call = ("get_weather", {"city": "Zürich"})

ANSWERS: dict[str, tuple[str, list[Call]]] = {
    "one call": ("{0}", [PARIS]),
    "three calls": ("{0}\n{1}\n{2}", [PARIS, QUOTED, ZURICH]),
    "the same call twice": ("{0}\n{1}", [PARIS, PARIS]),
    "text, then calls": ("I will look, {{really}}.\n{0}\n{1}", [QUOTED, ZURICH]),
}
AROUND: dict[str, tuple[str, list[Call]]] = {
    "text between calls": ("First\n{0}\nthen\n{1}", [PARIS, QUOTED]),
    "text after calls": ("{0}\n{1}\nThat was all.", [QUOTED, PARIS]),
    "text before, between and after": ("Now {0} and {1} and so on.", [ZURICH, QUOTED]),
}


def _written(template: str, calls: list[Call]) -> str:
    return template.format(*(hermes_call(*call) for call in calls))


def _prose(template: str) -> list[str]:
    return template.format("", "", "").split()


@pytest.mark.parametrize("seed", range(25))
def test_text_comes_out_as_the_model_said_it(hermes: Scripted, seed: int) -> None:
    said = nasty(seed)
    heard = listen(hermes, said)
    assert text_of(heard.events) == said
    assert text_of(events_of([heard.body], dialects=(), tools=None)) == said
    assert done_of(heard.events).ok


@pytest.mark.parametrize("name", ANSWERS)
def test_calls_are_the_same_whether_the_server_or_the_parser_reads_them(hermes: Scripted, name: str) -> None:
    template, calls = ANSWERS[name]
    for native in (True, False):
        events = listen(hermes, _written(template, calls), native=native).events
        assert calls_of(events) == calls
        assert text_of(events).split() == _prose(template)
        sources = {event.source for event in events if isinstance(event, sp.ToolCallComplete)}
        assert sources == {"native" if native else "inband"}


@pytest.mark.parametrize("name", AROUND)
def test_text_around_calls_stays_text(hermes: Scripted, name: str) -> None:
    template, calls = AROUND[name]
    events = listen(hermes, _written(template, calls)).events
    assert calls_of(events) == calls
    assert text_of(events).split() == _prose(template)


@pytest.mark.parametrize("seed", range(12))
def test_nasty_arguments_survive_both_ways(hermes: Scripted, seed: int) -> None:
    dice = random.Random(seed)
    calls: list[Call] = [("search", {"query": nasty(seed * 10 + k, 30), "limit": k}) for k in range(1 + seed % 3)]
    answer = "\n".join(hermes_call(*call, ascii_only=dice.random() < 0.5) for call in calls)
    assert calls_of(listen(hermes, answer, native=True).events) == calls
    assert calls_of(listen(hermes, answer).events) == calls


@pytest.mark.parametrize("native", [True, False], ids=["native", "inband"])
@pytest.mark.parametrize("tokens", range(2, 100, 7))
def test_a_call_cut_by_max_tokens_is_an_error_and_never_complete(hermes: Scripted, tokens: int, native: bool) -> None:
    template, calls = ANSWERS["three calls"]
    events = listen(hermes, _written(template, calls), native=native, max_tokens=tokens).events
    whole = calls_of(events)
    started = [event.index for event in events if isinstance(event, sp.ToolCallStart)]
    spoiled = [event for event in events if isinstance(event, sp.Error) and event.scope == "call"]
    assert whole == calls[: len(whole)]
    assert len(whole) < len(calls)
    assert [event.index for event in spoiled] == started[len(whole) :]
    assert {event.code for event in spoiled} <= {"truncated_call"}
    assert done_of(events).finish_reason == "length"


@pytest.mark.parametrize("native", [True, False], ids=["native", "inband"])
def test_real_bytes_cut_anywhere_give_the_same_events(hermes: Scripted, native: bool) -> None:
    template, calls = ANSWERS["text, then calls"]
    body = listen(hermes, "<think>\nHm.\n</think>\n\n" + _written(template, calls), native=native).body
    whole = merged(events_of([body]))
    assert merged(events_of(body[i : i + 1] for i in range(len(body)))) == whole
    for seed in range(40):
        assert merged(events_of(cut_at_random(body, seed))) == whole


def test_a_thought_is_reasoning(hermes: Scripted) -> None:
    events = listen(hermes, "<think>\nIs 1 < 2?\n</think>\n\nYes.\n" + hermes_call(*PARIS), native=True).events
    thought = "".join(event.text for event in events if isinstance(event, sp.ReasoningDelta))
    assert thought.strip() == "Is 1 < 2?"
    assert text_of(events).strip() == "Yes."
    assert calls_of(events) == [PARIS]


def test_an_error_response_is_an_error_event(hermes: Scripted) -> None:
    events = events_of([record(hermes.url, b'{"messages": ').body])
    assert [(event.scope, event.code) for event in events if isinstance(event, sp.Error)] == [
        ("stream", "provider_error")
    ]
    assert not done_of(events).ok


def test_usage_is_the_servers_own_count(hermes: Scripted) -> None:
    done = done_of(listen(hermes, "xxx").events)
    assert done.usage is not None
    assert done.usage["completion_tokens"] == 4  # three letters, each a token, and the end


CODER = """\
I will look.
<tool_call>
<function=get_weather>
<parameter=city>
Paris <b> & "Lyon"
</parameter>
<parameter=days>
3
</parameter>
</function>
</tool_call>
<tool_call>
<function=search>
<parameter=query>
two
lines: é 🎉 }
</parameter>
</function>
</tool_call>"""


def test_xml_like_calls_are_the_same_whether_the_server_or_the_parser_reads_them(qwen3_coder: Scripted) -> None:
    calls = [
        ("get_weather", {"city": 'Paris <b> & "Lyon"', "days": 3}),
        ("search", {"query": "two\nlines: é 🎉 }"}),
    ]
    for native in (True, False):
        events = listen(qwen3_coder, CODER, native=native).events
        assert calls_of(events) == calls
        assert text_of(events).strip() == "I will look."


FAMILIES = {
    "kimi-k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris", "days": 3}<|tool_call_end|><|tool_calls_section_end|>',
    "deepseek-v3.1": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris", "days": 3}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "glm-4.5": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    "mistral-v11": '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris", "days": 3}',
    "minimax-m2": '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
    '<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
}


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_of_other_families_are_found_in_the_text_of_a_real_stream(hermes: Scripted, family: str) -> None:
    heard = listen(hermes, "Well.\n" + FAMILIES[family])
    assert calls_of(heard.events) == [PARIS]
    assert text_of(heard.events).strip() == "Well."
    whole = merged(heard.events)
    for seed in range(10):
        assert merged(events_of(cut_at_random(heard.body, seed), tools=TOOLS)) == whole
