"""A model that is not stopped behind its call invents the answer to it, and calls that rest on that: they are text."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from call_counts import count_calls
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
from msgspec.structs import replace

import streamparse as sp
from streamparse.dialects import Thought
from streamparse.dialects.table import OTHER_TURNS

TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}]
EXAMPLE_TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in keys.split()}}}
    for name, keys in {"get_weather": "city", "brave_search": "query", "search": "query", "bash": "command"}.items()
]
BARE = '{"name": "look", "arguments": {"at": "sea"}}'
CALL = f"<tool_call>\n{BARE}\n</tool_call>"
TURNS = sorted(OTHER_TURNS)
ANSWER = f"\n18 degrees\n{CALL}\n<think>Warm.</think> It is warm.\n```\n{CALL}\n```\n{BARE}"
"""What is invented: the answer to a call, and what no turn but this may hold."""


def _read(text: str, dialects: Any = "auto", **options: Any) -> list[sp.Event]:
    """The events, in every cut."""
    return assert_same_in_every_cut(lambda: sp.TextParser(dialects, tools=TOOLS, **options), text, most=4)


def _errors(events: list[sp.Event]) -> list[tuple[str, str, int | None, int | None]]:
    return [(each.scope, each.code, each.index, each.offset) for each in events if isinstance(each, sp.Error)]


def _is_invented(events: list[sp.Event]) -> bool:
    return [code for _, code, _, _ in _errors(events)] == ["invented_turn"]


@pytest.mark.parametrize("turn", TURNS)
def test_what_is_behind_the_turn_of_somebody_else_is_text(turn: str) -> None:
    events = _read(f"Hm. {CALL}\n{turn}{ANSWER}")
    at = len(f"Hm. {CALL}\n")
    assert (len(calls_of(events)), revoked_of(events)) == (1, [])
    assert (text_of(events), _errors(events)) == (f"Hm. \n{turn}{ANSWER}", [("frame", "invented_turn", None, at)])
    done = events[-1]
    assert isinstance(done, sp.Done)
    assert done.ok


def _standing(row: str, text: str) -> tuple[list[sp.Event], list[int]]:
    """The events, and which calls stand."""
    events = events_of(sp.TextParser([row, "auto"], tools=EXAMPLE_TOOLS), [text])
    revoked = {index for index, _ in revoked_of(events)}
    found = [event.index for event in events if isinstance(event, sp.ToolCallComplete)]
    return events, [index for index in found if index not in revoked]


@pytest.mark.parametrize("row", sp.DIALECTS)
def test_behind_the_calls_of_each_dialect_nothing_is_a_call(row: str) -> None:
    dialect = sp.DIALECTS[row]
    _, standing = _standing(row, f"{dialect.example}\nSo be it.")
    for turn in TURNS:
        if turn in dialect.drops:  # it is this format's own
            continue
        for gap in ("", "\nWell.\n"):
            rest = f"{turn}\n18 degrees\n{dialect.example}\nWarm."
            events, found = _standing(row, dialect.example + gap + rest)
            is_turn = bool(standing) or not gap  # text has revoked bare calls, so that nothing was called
            assert (found, _is_invented(events)) == (standing, is_turn), (turn, gap)
            assert text_of(events).endswith(rest), (turn, gap)


@pytest.mark.parametrize("row", sp.DIALECTS)
def test_the_turn_behind_the_calls_of_each_dialect_is_the_same_in_every_cut(row: str) -> None:
    dialect = sp.DIALECTS[row]
    for turn in TURNS[len(row) % 9 :: 31]:
        text = f"{dialect.example}\n{turn}\n18 degrees\n{dialect.example}"
        assert_same_in_every_cut(lambda: sp.TextParser([row], tools=EXAMPLE_TOOLS), text)


@pytest.mark.parametrize(
    "before",
    [
        *("", "\n", "\n\n", " \n ", " " * 256, "</tool_call>\n", "<|im_end|>\n", "</function></tool_call>\n<|eot_id|>"),
        *("\nI wait.\n", "\nI wait.<|im_end|>\n", "\n```\ncode\n```\n", " " * 257 + "\n", "</tool_call>" * 17 + "\n"),
    ],
)
def test_it_is_next_to_a_call_or_at_the_start_of_a_line(before: str) -> None:
    events = _read(f"{CALL}{before}<tool_response>{ANSWER}")
    assert (len(calls_of(events)), _is_invented(events)) == (1, True)
    assert text_of(events).endswith(f"<tool_response>{ANSWER}")


@pytest.mark.parametrize(
    "before",
    [
        *(
            " I wait for ",
            "\n `",
            '\n"',
            "\n> ",
            "\n```\n",
            "\nSo:\n  ",
            "\n- ",
            "\n```\ncode\n\n",
            "\n~~~\n",
            " " * 257,
        ),
        *("\n<think>", "\nSo.\n<think>\n", "</tool_call>" * 17),
    ],
)
def test_a_marker_that_is_only_mentioned_is_no_turn(before: str) -> None:
    end = {
        "\n `": "`",
        "\n```\n": "\n```\n",
        "\n```\ncode\n\n": "\n```\n",
        "\n~~~\n": "\n~~~\n",
        "\n<think>": "</think>",
        "\nSo.\n<think>\n": "</think>",
    }
    events = _read(f"{CALL}{before}<tool_response>{end.get(before, '')} and\n{CALL}\n")
    assert (len(calls_of(events)), _errors(events)) == (2, [])


@pytest.mark.parametrize("turn", TURNS)
def test_before_all_calls_it_is_text(turn: str) -> None:
    events = _read(f"{turn}\nHm.\n{turn} {CALL}", ["hermes"])
    assert (len(calls_of(events)), text_of(events), _errors(events)) == (1, f"{turn}\nHm.\n{turn} ", [])


def test_behind_a_thought_or_a_broken_beginning_it_is_text() -> None:
    for before in ("<|channel|>analysis<|message|>Hm.<|end|>", "<think>Hm.</think>", "<tool_call>\n{x\n", "{"):
        events = _read(f"{before}<tool_response>\n{CALL}")
        assert (len(calls_of(events)), _errors(events)) == (1, []), before


@pytest.mark.parametrize("turn", TURNS)
def test_with_nothing_visible_behind_it_nothing_changes(turn: str) -> None:
    for behind in ("", "\n", " \r\n\t" * 300):
        events = _read(f"{CALL}\n{turn}{behind}")
        assert (len(calls_of(events)), _errors(events), revoked_of(events)) == (1, [], [])
        assert text_of(events) == f"\n{turn}{behind}"


def test_what_begins_like_a_turn_and_does_not_go_on_is_text() -> None:
    for turn in TURNS:
        events = _read(f"{CALL}\n{turn[:-1]}", ["hermes"])
        assert (text_of(events), _errors(events)) == (f"\n{turn[:-1]}", []), turn


def test_bare_calls_are_revoked_by_it_as_by_any_text() -> None:
    text = f"{BARE}\n<|im_start|>user\n18\n{CALL}"
    events = _read(text)
    assert (revoked_of(events), text_of(events), places_of(events)) == ([(0, "text_follows")], text, ["bare"])
    assert _is_invented(events)


def test_the_observation_of_react_is_part_of_its_format() -> None:
    call = 'Action: look\nAction Input: {"at": "sea"}\n'
    events = _read(f"Thought: Hm.\n{call}Observation: 18\nThought: So.\n{call}", ["react"])
    assert (len(calls_of(events)), _errors(events)) == (2, [])
    events = _read(f"Thought: Hm.\n{call}Observation: 18\n<|im_start|>user\nThought: So.\n{call}", ["react"])
    assert (len(calls_of(events)), revoked_of(events), _is_invented(events)) == (1, [], True)


@pytest.mark.parametrize("row", ["glm-4.5", "gemma4", "functiongemma"])
def test_what_a_dialect_drops_stays_its_own(row: str) -> None:
    dialect = sp.DIALECTS[row]
    (turn,) = OTHER_TURNS.intersection(dialect.drops)
    make_parser = partial(sp.TextParser, [row], tools=EXAMPLE_TOOLS)
    events = assert_same_in_every_cut(make_parser, f"{dialect.example}{turn}")
    assert (text_of(events), _errors(events)) == ("", [])


def test_the_tag_of_a_tool_is_the_call_of_that_tool() -> None:
    tools = [{"name": name, "parameters": TOOLS[0]["parameters"]} for name in ("look", "tool_result")]
    text = "<look>\n<at>sea</at>\n</look>\n<tool_result>\n<at>sea</at>\n</tool_result>\n<look>\n<at>sky</at>\n</look>"
    events = assert_same_in_every_cut(lambda: sp.TextParser("auto", tools=tools), text)
    assert ([name for name, _ in calls_of(events)], _errors(events)) == (["look", "tool_result", "look"], [])
    events = assert_same_in_every_cut(lambda: sp.TextParser("auto", tools=tools[:1]), text)
    assert _is_invented(events)


def test_what_opens_a_thought_of_a_dialect_is_no_turn() -> None:
    thought = Thought("own", opens=("<tool_response>",), closes=("</tool_response>",))
    row = replace(sp.DIALECTS["hermes"], name="own", thoughts=(thought,))
    events = _read(f"{CALL}\n<tool_response>\nHm.\n</tool_response>\n{CALL}", [row])
    assert (len(calls_of(events)), reasoning_of(events), _errors(events)) == (2, "\nHm.\n", [])


def test_no_marker_of_a_turn_begins_with_one_that_a_dialect_reads() -> None:
    own = {opener.text for row in sp.DIALECTS.values() for opener in row.openers if len(opener.text) > 1}
    own |= {marker for row in sp.DIALECTS.values() for marker in (*row.drops, *row.settles, *row.opens_text)}
    shared = {(turn, marker) for turn in TURNS for marker in own if turn.startswith(marker)}
    assert shared == {(turn, turn) for turn in ("<|observation|>", "<|tool_response>", "<start_function_response>")}


def test_a_turn_behind_quoted_calls_is_quoted_with_them() -> None:
    text = f"```\n{CALL}\n<tool_response>\n18\n{CALL}\n```\n"
    events = _read(text, quoted="calls")
    assert (places_of(events), _errors(events)) == (["quoted", "quoted"], [])
    # A call that is only quoted asks nobody, so nothing answers it: what follows is read as if it were not there.
    events = _read(f"{text}<tool_response>\n{CALL}", quoted="calls")
    assert (places_of(events), _errors(events)) == (["quoted", "quoted", "plain"], [])
    assert _read(text) == [sp.TextDelta(text), sp.Done(None, None, True)]


@pytest.mark.parametrize("before", [f"<think>{CALL} no</think>\nIt comes as\n", f"{BARE} is how it looks, and then\n"])
def test_behind_a_call_that_was_revoked_there_is_no_turn(before: str) -> None:
    events = _read(f"{before}<tool_response>\n{CALL}")
    assert (len(calls_of(events)), len(revoked_of(events)), _errors(events)) == (2, 1, [])


@pytest.mark.parametrize("end", ["", "</think>\nSo."])
def test_behind_a_turn_in_a_thought_no_call_counts(end: str) -> None:
    text = f"{CALL}\n<tool_response>\n18\n{CALL}\n"
    parser = sp.TextParser(["hermes"], tools=TOOLS)
    events = parser.feed(f"<think>{text}{end}") + parser.close(stopped=True)
    assert (len(calls_of(events)), revoked_of(events)) == (1, [(0, "thought_goes_on")])
    assert (reasoning_of(events), text_of(events)) == (text, end.removeprefix("</think>"))


@pytest.mark.parametrize(
    ("row", "between"),
    [
        ("llama4-pythonic", "\nI wait.<|eot|><|header_start|>ipython<|header_end|>\n18<|eot|>"),
        ("deepseek-v3.1", "\nI wait.<｜end▁of▁sentence｜><｜User｜>18<｜Assistant｜>"),
        ("k2-horizon", "<|ifm|im_end|><|ifm|im_start|>tool\n18<|ifm|im_end|>"),
        ("longcat", "</longcat_s><longcat_user>18<longcat_assistant>"),
        ("cwm", "<|eot_id|><|start_header_id|>tool: python<|end_header_id|>\n18<|eot_id|>"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_turn_may_begin_right_behind_the_end_of_another(row: str, between: str, named: bool) -> None:
    example = sp.DIALECTS[row].example
    make_parser = partial(sp.TextParser, [row] if named else "auto", tools=EXAMPLE_TOOLS)
    events = assert_same_in_every_cut(make_parser, example + between + example)
    assert (len(calls_of(events)), _is_invented(events)) == (1, True)
    mentioned = assert_same_in_every_cut(make_parser, f"{example}\nThat is <tool_response>.")
    assert _errors(mentioned) == []


def test_a_thought_that_closes_behind_it_revokes_nothing() -> None:
    events = _read(f"{CALL}\n<tool_response>\n18\n</think>\nSo.")
    assert (len(calls_of(events)), revoked_of(events)) == (1, [])
    assert text_of(events) == "\n<tool_response>\n18\n</think>\nSo."


def test_stray_closers_behind_it_cast_no_doubt_on_calls_before_it() -> None:
    call = "<tool_call>\n<function=look>\n<parameter=at>\nsea\n</parameter>\n</function>\n</tool_call>"
    events = _read(f"{call}\n<tool_response>\n18\n</parameter>\n</function>\n</tool_call>\nSo.")
    assert (len(calls_of(events)), revoked_of(events), _is_invented(events)) == (1, [], True)


def test_a_call_that_was_doubted_makes_no_turn() -> None:
    call = "<tool_call>\n<function=look>\n<parameter=at>\nsea\n</parameter>\n</function>\n</tool_call>"
    events = _read(f"{call}\n</parameter>\n</function>\n</tool_call>\n<tool_response>\n{call}")
    assert [code for _, code, _, _ in _errors(events)] == ["ambiguous_markup"]


def test_native_calls_thoughts_and_refusals_pass_behind_it() -> None:
    deltas: list[dict[str, Any]] = [
        {"content": f"{CALL}\n<tool_response>"},
        {"reasoning_content": "Hm."},
        {"content": f"\n18 {CALL}"},
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "look", "arguments": '{"at": "sky"}'}}]},
        {"content": f"\n{CALL}"},
    ]
    parser = sp.StreamParser("openai-chat", tools=TOOLS, dialects=["hermes"])
    frames: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": each}]} for each in deltas]
    frames.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    events = [event for frame in frames for event in parser.feed(frame)] + parser.feed("[DONE]") + parser.close()
    response = parser.response
    assert (calls_of(events), response.reasoning) == ([("look", {"at": "sea"}), ("look", {"at": "sky"})], "Hm.")
    assert response.content == f"\n<tool_response>\n18 {CALL}\n{CALL}"
    assert _is_invented([event for event in events if getattr(event, "code", "") == "invented_turn"])


@pytest.mark.parametrize("dialects", [["hermes"], ["hermes", "auto"]])
def test_a_native_call_between_changes_nothing(dialects: list[str]) -> None:
    native = {"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"}}
    rest = f"\n<tool_response>{ANSWER}"
    parser = sp.StreamParser("openai-chat", tools=TOOLS, dialects=dialects)
    for delta in ({"content": CALL}, {"tool_calls": [native]}, *({"content": letter} for letter in rest)):
        parser.feed({"choices": [{"index": 0, "delta": delta}]})
    assert (len(parser.response.tool_calls), parser.response.content) == (2, rest)


@pytest.mark.parametrize(
    "answer", [ANSWER, f'\n{{"tool_calls": [{BARE}]}}', "\n<Tool_Call>\n" + BARE + "\n</Tool_Call>"]
)
def test_a_whole_body_gives_the_same_and_nothing_is_recovered_from_it(answer: str) -> None:
    for call, stands in ((CALL, [False]), (BARE, [True])):
        text = f"{call}\n<tool_response>{answer}"
        message = {"role": "assistant", "content": text}
        body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        response = sp.parse_response(body, tools=TOOLS)
        assert [found.revoked for found in response.tool_calls] == stands
        assert text.endswith(response.content)
        assert [error.code for error in response.errors] == ["invented_turn"]
        assert response.ok


def test_a_call_before_it_is_a_turn_of_calls() -> None:
    message = {"role": "assistant", "content": f"{CALL}\n<tool_response>{ANSWER}"}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    assert sp.parse_response(body, tools=TOOLS).stop == "tools"


@pytest.mark.parametrize(
    "unit", [*TURNS[::12], "<tool_response>\n", "Hm <tool_response> ", "Hm. <|im_start|>user and\n"]
)
def test_a_flood_of_them_is_linear(unit: str) -> None:
    def count(size: int, piece: int) -> int:
        pieces = [CALL, *in_pieces((unit * (size // len(unit) + 1))[:size], piece)]
        return count_calls(lambda: events_of(sp.TextParser(tools=TOOLS), pieces))

    for piece in (7, 64 * 1024):
        count(8 * 1024, piece)
        few, many = count(8 * 1024, piece), count(64 * 1024, piece)
        assert many <= 9 * few


@pytest.mark.parametrize("piece", [7, 64 * 1024])
def test_what_is_invented_costs_no_more_than_prose(piece: int) -> None:
    def count(lead: str) -> int:
        pieces = [CALL, lead, *in_pieces("And so it goes on, word by word. " * 1000, piece)]
        return count_calls(lambda: events_of(sp.TextParser(tools=TOOLS), pieces))

    count("<tool_response>\n")  # patterns are compiled when first used
    assert count("<tool_response>\n") <= count("Hm. ") + 400
