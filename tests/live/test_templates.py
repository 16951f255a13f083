"""Every way of writing calls that a template of ours teaches: the server's own reader is the judge of ours.

With `tools` in the request llama.cpp reads the calls out of the answer, by the template; without them the same answer
comes as text, and the parser reads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import live_server
import pytest
from dictation import Call, calls_of, cut_at_random, events_of, listen, merged, nasty, text_of
from live_server import Scripted
from thoroughness import spread

import streamparse as sp

pytestmark = pytest.mark.live

WEATHER: Call = ("get_weather", {"city": "Zürich", "days": 3})
SEARCH: Call = ("search", {"query": 'two\nlines "quoted" <b> & é 🎉 }', "limit": 10})
SHORT: Call = ("search", {"query": "tea"})


def _json(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def _joined(call: Callable[[Call], str], between: str = "", before: str = "", after: str = "") -> Callable[..., str]:
    return lambda *calls: before + between.join(map(call, calls)) + after


def _parameters(arguments: dict[str, Any], one: str) -> str:
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    return "".join(one.format(key, text) for key, text in texts.items())


WRITTEN: dict[str, Callable[..., str]] = {
    "deepseek-v3.1": _joined(
        lambda call: f"<｜tool▁call▁begin｜>{call[0]}<｜tool▁sep｜>{_json(call[1])}<｜tool▁call▁end｜>",
        before="<｜tool▁calls▁begin｜>",
        after="<｜tool▁calls▁end｜>",
    ),
    "function-tag": _joined(lambda call: f"<function={call[0]}>{_json(call[1])}</function>"),
    "glm-4.5": _joined(
        lambda call: (
            f"<tool_call>{call[0]}\n"
            + _parameters(call[1], "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n")
            + "</tool_call>"
        ),
        "\n",
    ),
    "granite": _joined(
        lambda call: _json({"name": call[0], "arguments": call[1]}), ", ", before="<|tool_call|>[", after="]"
    ),
    "hermes": _joined(
        lambda call: f"<tool_call>\n{_json({'name': call[0], 'arguments': call[1]})}\n</tool_call>", "\n"
    ),
    "llama3-json": _joined(lambda call: _json({"name": call[0], "parameters": call[1]})),
    "minimax-m2": _joined(
        lambda call: (
            f'<invoke name="{call[0]}">\n'
            + _parameters(call[1], '<parameter name="{}">{}</parameter>\n')
            + "</invoke>\n"
        ),
        before="<minimax:tool_call>\n",
        after="</minimax:tool_call>",
    ),
    "mistral": _joined(lambda call: f"[TOOL_CALLS]{call[0]}[ARGS]{_json(call[1])}"),
    "qwen3-coder": _joined(
        lambda call: (
            f"<tool_call>\n<function={call[0]}>\n"
            + _parameters(call[1], "<parameter={}>\n{}\n</parameter>\n")
            + "</function>\n</tool_call>"
        ),
        "\n",
    ),
    "seed-oss": _joined(
        lambda call: (
            f"<seed:tool_call>\n<function={call[0]}>\n"
            + _parameters(call[1], "<parameter={}>{}</parameter>\n")
            + "</function>\n</seed:tool_call>"
        ),
        "\n",
    ),
}

ONE_CALL = {"function-tag", "llama3-json", "minimax-m2"}
"""What llama.cpp makes of these templates reads one call an answer; another one it drops."""
ONLY_A_CALL = {"function-tag"}
"""The server fails where text stands before the call."""
AT_THE_START = {"llama3-json"}
"""Without a marker a call is one at the start of the answer alone."""


def _heard_both_ways(server: Scripted, answer: str) -> tuple[list[sp.Event], list[sp.Event]]:
    native, inband = (listen(server, answer, native=native).events for native in (True, False))
    for events, source in ((native, "native"), (inband, "inband")):
        assert {event.source for event in events if isinstance(event, sp.ToolCallComplete)} <= {source}
    return native, inband


def test_every_template_has_its_way_of_writing() -> None:
    folder = Path(live_server.__file__).parent / "templates"
    assert {path.stem for path in folder.glob("*.jinja")} == WRITTEN.keys()


def test_a_call_in_the_text_is_the_one_that_the_server_reads(template: str, reading: Scripted) -> None:
    for call in (WEATHER, SEARCH, SHORT):
        native, inband = _heard_both_ways(reading, WRITTEN[template](call))
        assert calls_of(native) == calls_of(inband) == [call]
        assert text_of(native).strip() == text_of(inband).strip() == ""


def test_parallel_calls_in_the_text_are_those_that_the_server_reads(template: str, reading: Scripted) -> None:
    calls = [WEATHER, SEARCH, WEATHER, SHORT]
    native, inband = _heard_both_ways(reading, WRITTEN[template](*calls))
    assert calls_of(inband) == calls
    assert calls_of(native) == (calls[:1] if template in ONE_CALL else calls)


def test_text_and_thought_before_a_call_are_what_the_server_reads(template: str, reading: Scripted) -> None:
    before = "" if template in AT_THE_START else "I will look.\n"
    native, inband = _heard_both_ways(reading, before + WRITTEN[template](SEARCH))
    assert calls_of(inband) == [SEARCH]
    assert text_of(inband) == before
    if template not in ONLY_A_CALL:
        assert calls_of(native) == [SEARCH]
        assert text_of(native).strip() == before.strip()


def test_nasty_values_are_what_the_server_reads(template: str, reading: Scripted) -> None:
    for seed in spread(range(8), [*WRITTEN].index(template), 2):
        call: Call = ("search", {"query": nasty(seed, 20), "limit": seed})
        native, inband = _heard_both_ways(reading, WRITTEN[template](call))
        assert calls_of(inband) == calls_of(native) == [call]


def test_the_real_text_cut_anywhere_gives_the_same_events(template: str, reading: Scripted) -> None:
    body = listen(reading, WRITTEN[template](WEATHER, SEARCH)).body
    whole = merged(events_of([body]))
    for seed in range(10):
        assert merged(events_of(cut_at_random(body, seed))) == whole
