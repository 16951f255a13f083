"""OpenAI's Responses: each part of an item is passed on once, and events are counted once for each response."""

from __future__ import annotations

import json
from typing import Any

import pytest
from call_counts import count_calls
from cuts import assert_same_in_every_cut, calls_of, events_of

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.providers.openai_responses import output
from streamparse.providers.openai_responses.items import PartsItem
from streamparse.providers.openai_responses.wire import SequenceTracker
from streamparse.tools import Toolset

COMPLETED = {"type": "response.completed", "response": {"status": "completed", "output": []}}


def _write(messages: list[dict[str, Any]]) -> bytes:
    return "".join(f"data: {json.dumps(message)}\n\n" for message in messages).encode()


def test_a_part_that_comes_whole_behind_one_that_came_in_pieces_is_new() -> None:
    item = PartsItem()
    item.get_part(("text", 0)).write("first")
    assert item.find_rest(("text", 0), "first") == ""
    assert item.find_rest(("text", 1), "second") == "second"
    assert item.find_rest(("text", 1), "second") == ""


def _text(number: int, text: str) -> tuple[tuple[str, int], str]:
    return ("text", number), text


def test_a_part_is_known_by_its_text_once_however_many_there_are() -> None:
    item = PartsItem()
    for number in range(10):
        item.get_part(("text", number)).write(f"part {number}")
    parts = [(9, "part 9"), (0, "part 0"), (1, "part 1"), (10, "part 9"), (11, "part 2")]
    assert item.find_rests([_text(*part) for part in parts]) == ["", "", "", "part 9", ""]
    assert item.find_rests([_text(12, "part 12")]) == ["part 12"]
    assert item.find_rest(("text", 12), "part 12 and more") == " and more"


def test_a_part_without_a_number_is_new_only_where_nothing_was_told() -> None:
    item = PartsItem()
    assert item.find_rest(None, "first") == "first"
    assert item.find_rest(None, "first") == ""
    assert item.find_rest(("text", 0), "first") == ""


RESTS: dict[str, tuple[dict[tuple[str, int] | None, str], list[tuple[tuple[str, int], str]], list[str | None]]] = {
    "each part goes on": ({("text", 0): "a", ("text", 1): "b"}, [_text(0, "ax"), _text(1, "by")], ["x", "y"]),
    "parts that count from one go on": (
        {("text", 1): "a", ("text", 2): "b"},
        [_text(0, "ax"), _text(1, "by")],
        ["x", "y"],
    ),
    "one part was sent, and it ends in the second": ({("text", 0): "abc"}, [_text(0, "ab"), _text(1, "cd")], ["", "d"]),
    "without numbers": ({None: "abc"}, [_text(0, "ab"), _text(1, "cd"), _text(2, "e")], ["", "d", "e"]),
    "others, without numbers": ({None: "abc"}, [_text(0, "x"), _text(1, "y")], [None, ""]),
    "others": ({("text", 0): "a", ("text", 1): "b"}, [_text(0, "x"), _text(1, "by")], [None, "y"]),
    "less": ({("text", 0): "abc"}, [_text(0, "ab")], [None]),
    "nothing": ({("text", 0): "abc"}, [], []),
}


@pytest.mark.parametrize("case", RESTS)
def test_the_rest_of_what_an_item_lists_is_what_was_not_sent_and_comes_once(case: str) -> None:
    sent, listed, rests = RESTS[case]
    item = PartsItem(has_begun=True)
    for key, text in sent.items():
        item.get_part(key).write(text)
    assert item.find_rests(listed) == rests
    assert item.find_rests(listed) == ["" for _ in listed]


WHOLE: dict[str, tuple[dict[tuple[str, int] | None, str], str, str | None]] = {
    "all of one without a number": ({None: "abc"}, "abc", ""),
    "the end of one without a number": ({None: "abc"}, "bc", ""),
    "as much as one without a number, and other text": ({None: "abc"}, "abd", None),
    "more than one without a number, and other text": ({None: "abc"}, "xabcd", None),
    "all of the last one that has a number": ({("text", 0): "a", ("text", 1): "b"}, "b", ""),
    "the rest of the last one that has a number": ({("text", 0): "a", ("text", 1): "b"}, "bc", "c"),
    "the end of one that has a number": ({("text", 0): "abc"}, "bc", None),
}


@pytest.mark.parametrize("case", WHOLE)
def test_a_part_that_is_reported_whole_without_a_number_is_the_last_one_or_its_end(case: str) -> None:
    sent, whole, rest = WHOLE[case]
    item = PartsItem(has_begun=True)
    for key, text in sent.items():
        item.get_part(key).write(text)
    assert item.find_rest(None, whole) == rest
    assert item.find_rest(None, whole) == ""


def test_a_response_begins_anew_where_its_first_event_holds_none() -> None:
    answer = [{"type": "response.created"}, _event("output_text.delta", delta="a", content_index=0), COMPLETED]
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write(answer * 2), most=20)
    assert events == [sp.TextDelta("aa"), sp.Done("completed", None, ok=True)]


def test_a_thought_of_the_whole_response_that_may_be_any_of_those_that_came_is_passed_on_and_not_compared() -> None:
    thoughts = [_event("reasoning_text.delta", item_id=id, content_index=0, delta=id) for id in ("one", "two")]
    listed = {"type": "reasoning", "id": "z", "content": [{"type": "reasoning_text", "text": "one and two"}]}
    whole = {"type": "response.completed", "response": {"status": "completed", "output": [listed]}}
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write([*thoughts, whole]), most=20)
    assert events == [
        sp.ReasoningDelta("onetwo"),
        sp.ProviderItem("reasoning", listed),
        sp.Done("completed", None, ok=True),
    ]


def test_the_start_of_another_response_counts_anew_and_that_of_the_same_one_does_not() -> None:
    assembler = Assembler(Toolset.of([]), sp.Limits())
    numbers = SequenceTracker(assembler)
    assert numbers.take(0, "response.created", "one")
    numbers.expected = 4  # three more events came in turn
    assert not numbers.take(0, "response.created", "one")
    assert [event.code for event in assembler.record.take() if isinstance(event, sp.Error)] == ["duplicate_frame"]
    assert numbers.take(0, "response.created", "two")
    assert assembler.record.take() == []


def _event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def _call(kind: str, index: int, id: str = "i", **fields: Any) -> dict[str, Any]:
    return _event(
        f"output_item.{kind}", output_index=index, item={"type": "function_call", "id": id, "call_id": "c", **fields}
    )


def _arguments(kind: str, arguments: str, id: str | None = None, **fields: Any) -> dict[str, Any]:
    text = "delta" if kind == "delta" else "arguments"
    return _event(f"function_call_arguments.{kind}", item_id=id, **{text: arguments}, **fields)


def _numbered(*events: dict[str, Any], missing: int) -> list[dict[str, Any]]:
    numbers = (number for number in range(len(events) + 1) if number != missing)
    return [{**event, "sequence_number": number} for event, number in zip(events, numbers, strict=True)]


_LONG = '{"a": "' + "x" * 50 + '"}'
_ADDED = _call("added", 0, name="f")

CALLS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any]]], list[str]]] = {
    "a piece of no known call behind one that is complete": (
        [_call("added", 0, name="f", arguments='{"a": 1}'), _arguments("delta", '{"b": 2}', "z")],
        [("f", {"a": 1})],
        ["orphan_arguments"],
    ),
    "arguments of another name than the last call's": (
        [_ADDED, _arguments("done", '{"b": 2}', "z", name="g"), _arguments("done", '{"a": 1}', "i")],
        [("f", {"a": 1}), ("g", {"b": 2})],
        [],
    ),
    "a call that is added again under another id of its item, without its name": (
        [_ADDED, _call("added", 0, "j", name=None), _arguments("done", '{"a": 1}', "j")],
        [("f", {"a": 1})],
        [],
    ),
    "whole arguments of an unknown item, which are the last call's": (
        [_ADDED, _arguments("done", '{"a": 1}', "z")],
        [("f", {"a": 1})],
        [],
    ),
    "calls that are done one after the other at the same place": (
        [
            _call("done", 0, "i", name="f", arguments='{"a": 1}'),
            _call("done", 0, "j", call_id="d", name="f", arguments='{"b": 2}'),
            _call("done", 0, "k", call_id="e", name="f", arguments='{"b": 2}'),
        ],
        [("f", {"a": 1}), ("f", {"b": 2}), ("f", {"b": 2})],
        [],
    ),
    "a call that is done where one of another name has begun": (
        [
            _call("added", 0, "i", name="f"),
            _call("done", 0, "j", call_id="d", name="g", arguments='{"b": 2}'),
            _arguments("done", '{"a": 1}', "i"),
        ],
        [("g", {"b": 2}), ("f", {"a": 1})],
        [],
    ),
    "pieces of an unknown item, which is done at their place under other ids": (
        [
            _arguments("delta", '{"a": 1}', "z", output_index=0),
            _call("done", 0, "j", call_id="d", name="f", arguments='{"a": 1}'),
        ],
        [("f", {"a": 1})],
        [],
    ),
    "a call with the id of another one, at the place of a third": (
        [
            _call("added", 0, "i", name="f"),
            _call("added", 1, "k", call_id="d", name="h"),
            _call("done", 1, "z", name="g", arguments='{"a": 1}'),
            _arguments("done", '{"b": 2}', "i"),
            _arguments("done", '{"c": 3}', "k"),
        ],
        [("g", {"a": 1}), ("f", {"b": 2}), ("h", {"c": 3})],
        [],
    ),
    "a call that is added again at another place": (
        [_ADDED, _call("added", 1, name="f"), _call("done", 1, name="f", arguments='{"a": 1}')],
        [("f", {"a": 1})],
        [],
    ),
    "a call that is done again at another place, under another id of its item": (
        [_call("done", 0, name="f", arguments='{"a": 1}'), _call("done", 1, "j", name="f", arguments='{ "a":1}')],
        [("f", {"a": 1})],
        [],
    ),
    "a call with the id of one that is done, with other arguments": (
        [_call("done", 0, name="f", arguments='{"a": 1}'), _call("done", 1, "j", name="f", arguments='{"a": 2}')],
        [("f", {"a": 1}), ("f", {"a": 2})],
        [],
    ),
    "a call with the id of one that has begun": (
        [
            _ADDED,
            _call("added", 1, "j", name="f"),
            _arguments("done", '{"a": 1}', "i"),
            _arguments("done", '{"a": 2}', "j"),
        ],
        [("f", {"a": 1}), ("f", {"a": 2})],
        [],
    ),
    "a call that has neither a name nor an id": (
        [_event("output_item.added", output_index=0, item={"type": "function_call"})],
        [],
        ["call_without_name"],
    ),
    "an item that cannot be read": (
        [_event("output_item.done", output_index=0, item=5), _call("done", 1, name="f", arguments='{"a": 1}')],
        [("f", {"a": 1})],
        ["unexpected_shape"],
    ),
    "arguments that are reported whole before they come": (
        [_ADDED, _arguments("done", "", "i"), _call("done", 0, name="f", arguments='{"a": 1}')],
        [("f", {"a": 1})],
        [],
    ),
    "no arguments, of a call that is known only when it is done": (
        [_arguments("done", "", "i", output_index=0, name="f"), _call("done", 0, name="f", arguments="")],
        [("f", {})],
        [],
    ),
    "pieces of a call that is known only when it is done, without arguments": (
        [_arguments("delta", '{"a": 1}', "i", output_index=0), _call("done", 0, name="f", arguments="")],
        [("f", {"a": 1})],
        [],
    ),
    "a call that is done without a name": ([_call("done", 0, arguments='{"a": 1}')], [], ["call_without_name"]),
    "a call that never has a name": ([_call("added", 0)], [], ["call_without_name"]),
    "too many arguments before the name": (
        [_arguments("delta", _LONG, "i", output_index=0), _call("done", 0, name="f", arguments="")],
        [],
        ["limit_args"],
    ),
    "a call that is done at another place, under another id of its item": (
        [_ADDED, _call("done", 1, "j", name="f", arguments='{"a": 1}')],
        [("f", {"a": 1})],
        [],
    ),
    "a piece of an unknown item without a place": (
        [_ADDED, _arguments("delta", '{"a": ', "i", output_index=0), _arguments("delta", "1}", "other")],
        [("f", {"a": 1})],
        [],
    ),
    "an empty piece before the first": (
        [_ADDED, _arguments("delta", "", "i", output_index=0), _arguments("delta", '{"a": 1}', "i", output_index=0)],
        [("f", {"a": 1})],
        [],
    ),
    "an event that is missing before the first piece": (
        _numbered(
            _event("created", response={"id": "r"}), _event("in_progress"), _ADDED,
            _arguments("delta", '{"a": 1}', "i", output_index=0), missing=3,
        ),
        [("f", {"a": 1})],
        ["missing_frame"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_a_call_whose_events_are_out_of_the_ordinary_comes_once_or_is_an_error(case: str) -> None:
    messages, calls, codes = CALLS[case]
    body = _write([*messages, COMPLETED])
    events = assert_same_in_every_cut(
        lambda: sp.StreamParser("openai-responses", limits=sp.Limits(max_call_args=40)), body
    )
    assert (calls_of(events), [event.code for event in events if isinstance(event, sp.Error)]) == (calls, codes)
    assert all(event.source == "native" for event in events if isinstance(event, sp.ToolCallComplete))


TEXTS: dict[str, list[dict[str, Any]]] = {
    "pieces without a number, then the item": [
        _event("output_text.delta", delta="Yes."),
        _event("output_item.done", item={"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}),
        _event("completed", response={"status": "completed"}),
    ],
    "pieces of numbered parts, then all of them without a number": [
        _event("output_text.delta", item_id="m", output_index=0, content_index=0, delta="Y"),
        _event("output_text.delta", item_id="m", output_index=0, content_index=1, delta="es."),
        _event("output_text.done", item_id="m", output_index=0, text="Yes."),
        COMPLETED,
    ],
    "pieces, then an output in which the message has another id and place": [
        _event("output_text.delta", item_id="m", output_index=0, delta="Yes."),
        _event("completed", response={"status": "completed", "output": [
            {"type": "reasoning"},
            {"type": "message", "id": "n", "content": [{"type": "output_text", "text": "Yes."}]},
        ]}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_that_is_reported_again_comes_once(case: str) -> None:
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write(TEXTS[case]))
    assert events == [sp.TextDelta("Yes."), sp.Done("completed", None, ok=True)]


def test_a_piece_of_a_text_call_that_is_done_is_no_part_of_it() -> None:
    item = {"type": "custom_tool_call", "id": "t", "name": "sql", "input": "select 1"}
    messages = [
        _event("output_item.added", output_index=0, item={**item, "input": ""}),
        _event("output_item.done", output_index=0, item=item),
        _event("custom_tool_call_input.delta", item_id="t", output_index=0, delta=" late"),
        COMPLETED,
    ]
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write(messages))
    assert events == [sp.ProviderItem("custom_tool_call", item), sp.Done("completed", None, ok=True)]


def test_many_messages_that_come_in_whole_parts_cost_the_same_each() -> None:
    def count(size: int) -> int:
        events = [
            event
            for number in range(size)
            for event in (
                _event("output_item.added", output_index=number, item={"type": "message", "id": f"m{number}"}),
                _event("content_part.done", item_id=f"m{number}", output_index=number, part={"text": "x"}),
            )
        ]
        body = _write([*events, COMPLETED])
        return count_calls(lambda: events_of(sp.StreamParser("openai-responses"), [body]))

    count(20)
    assert count(800) <= 9 * count(100)


THOUGHTS: dict[str, dict[str, Any]] = {
    "in its summary": {"summary": [{"type": "summary_text"}, {"text": "Hm."}], "content": [{"text": "No."}]},
    "in its content": {"summary": [], "content": [{"text": None}, {"text": "Hm."}]},
    "in one text": {"content": "Hm."},
}


@pytest.mark.parametrize("place", THOUGHTS)
def test_a_thought_that_comes_whole_is_sent_once_wherever_it_is(place: str) -> None:
    item = {"type": "reasoning", "id": "r", **THOUGHTS[place]}
    messages = [
        _event("output_item.added", output_index=0, item={"type": "reasoning", "id": "r"}),
        _event("output_item.done", output_index=0, item=item),
        _event("completed", response={"status": "completed", "output": [item]}),
    ]
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write(messages))
    done = sp.Done("completed", None, ok=True)
    assert events == [sp.ReasoningDelta("Hm."), sp.ProviderItem("reasoning", item, None), done]


_AT = {"item_id": "i", "output_index": 0}
PARTS: dict[str, tuple[str, dict[str, Any], str | None, list[sp.Event]]] = {
    "text": ("content", {"type": "output_text", "text": "all"}, "output_text", [sp.TextDelta("all")]),
    "refusal": ("content", {"type": "refusal", "refusal": "no"}, None, [sp.RefusalDelta("no")]),
    "audio": ("content", {"type": "audio", "transcript": "all"}, "audio.transcript", [sp.TextDelta("all")]),
    "thought": ("content", {"type": "reasoning_text", "text": "all"}, "reasoning_text", [sp.ReasoningDelta("all")]),
    "part of a thought": ("reasoning", {"type": "reasoning_text", "text": "all"}, None, [sp.ReasoningDelta("all")]),
    "summary": (
        "reasoning_summary", {"type": "summary_text", "text": "all"}, "reasoning_summary_text",
        [sp.ReasoningDelta("all")],
    ),
    "nothing": ("content", {"type": "output_text", "text": ""}, None, []),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTS)
def test_a_part_that_is_reported_whole_is_sent_once(case: str) -> None:
    kind, part, deltas, told = PARTS[case]
    number = {**_AT, "summary_index" if "summary" in kind else "content_index": 0}
    whole = _event(f"{kind}_part.done", **number, part=part)
    pieces = [_event(f"{deltas}.delta", **number, delta=piece) for piece in ("a", "ll")] if deltas else []
    for events in ([whole], [*pieces, whole]):
        *seen, _ = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write([*events, COMPLETED]))
        assert seen == told


_PARTS = [{"type": "output_text", "text": text} for text in ("Hello ", "World", "World")]
ODD_PARTS: dict[str, tuple[list[dict[str, Any]], list[sp.Event]]] = {
    "without numbers, then the item": (
        [
            *(_event("content_part.done", **_AT, part=part) for part in _PARTS),
            _event("output_item.done", output_index=0, item={"type": "message", "id": "i", "content": _PARTS}),
        ],
        [sp.TextDelta("Hello WorldWorld")],
    ),
    "of two messages that share an index, listed at the end": (
        [
            *(
                _event("content_part.done", item_id=part["text"], output_index=0, content_index=0, part=part)
                for part in _PARTS[:2]
            ),
            _event("completed", response={"status": "completed", "output": [
                {"type": "message", "id": part["text"], "content": [part]} for part in _PARTS[:2]
            ]}),
        ],
        [sp.TextDelta("Hello "), sp.ProviderItem("phase", None), sp.TextDelta("World")],
    ),
    "of a thought, behind deltas, without a type": (
        [
            _event("output_item.added", output_index=0, item={"type": "reasoning", "id": "i"}),
            _event("reasoning_text.delta", **_AT, content_index=0, delta="Hm."),
            _event("reasoning_part.done", **_AT, content_index=0, part={"text": "Hm."}),
            _event("content_part.done", **_AT, content_index=1, part={"type": "text", "text": "Hm."}),
        ],
        [sp.ReasoningDelta("Hm.")],
    ),
    "of a thought whose summary came in pieces": (
        [
            _event("reasoning_summary_text.delta", **_AT, summary_index=0, delta="Short."),
            *(
                _event("content_part.done", **_AT, content_index=number, part={"type": "reasoning_text", "text": text})
                for number, text in enumerate(("It is ", "long."))
            ),
        ],
        [sp.ReasoningDelta("Short.")],
    ),
    "missing, null, and with notes of another kind": (
        [
            _event("reasoning_summary_part.done", **_AT, summary_index=0),
            _event("content_part.done", **_AT, content_index=0, part=None),
            _event("content_part.done", **_AT, content_index=0, part={"text": "Yes.", "annotations": {}}),
        ],
        [sp.TextDelta("Yes.")],
    ),
    "under another id in each event": (
        [
            _event("output_text.delta", item_id="x", content_index=0, delta="Yes."),
            _event("content_part.done", item_id="y", content_index=0, part={"type": "output_text", "text": "Yes."}),
        ],
        [sp.TextDelta("Yes.")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD_PARTS)
def test_parts_that_are_reported_in_other_ways_are_sent_once(case: str) -> None:
    events, told = ODD_PARTS[case]
    *seen, _ = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write([*events, COMPLETED]))
    assert seen == told


def _message(text: str, id: str | None = None) -> dict[str, Any]:
    return {"type": "message", "id": id, "content": [{"type": "output_text", "text": text}]}


LISTS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], str, list[str]]] = {
    "under another id": ([_AT], [_message("one more", "z")], "one more", []),
    "under another id and place": ([_AT], [{"type": "reasoning"}, _message("one more", "z")], "one more", []),
    "without ids": ([{}], [_message("one more")], "one more", []),
    "two, the first under another id and place": (
        [_AT, {"item_id": "j", "output_index": 7}],
        [{"type": "reasoning"}, _message("one", "j"), _message("one more", "z")],
        "oneone more",
        [],
    ),
    "as two where one was sent under other ids": (
        [{"item_id": "i"}],
        [_message("o", "y"), _message("ne", "z")],
        "one",
        [],
    ),
    "others": ([_AT], [_message("two", "i")], "one", ["contradicting_frame"]),
}


@pytest.mark.parametrize("case", LISTS)
def test_the_whole_output_adds_what_no_delta_had_and_contradicts_them_with_an_error(case: str) -> None:
    places, output, text, codes = LISTS[case]
    pieces = [_event("output_text.delta", **place, delta="one") for place in places]
    end = _event("completed", response={"status": "completed", "output": output})
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write([*pieces, end]))
    told = "".join(event.text for event in events if isinstance(event, sp.TextDelta))
    assert (told, [event.code for event in events if isinstance(event, sp.Error)]) == (text, codes)


@pytest.mark.parametrize(("content", "told"), [("Yes.", [sp.TextDelta("Yes.")]), (None, []), ([], [])])
def test_a_message_that_comes_whole_has_its_phase_before_its_text(content: Any, told: list[sp.Event]) -> None:
    item = {"type": "message", "id": "m", "phase": "commentary", "content": content}
    events = assert_same_in_every_cut(
        lambda: sp.StreamParser("openai-responses"), _write([_event("output_item.done", item=item), COMPLETED])
    )
    assert events == [sp.ProviderItem("phase", "commentary"), *told, sp.Done("completed", None, ok=True)]


def test_between_two_messages_of_a_whole_response_stands_an_item() -> None:
    output = [{"type": "message", "content": [{"type": "output_text", "text": text}]} for text in "ab"]
    response = sp.parse_response({"object": "response", "status": "completed", "output": output})
    assert (response.content, response.items) == ("ab", [{"kind": "phase", "data": None, "index": None}])


def test_an_annotation_of_nothing_is_none() -> None:
    note = {"type": "url_citation", "url": "u"}
    added = [_event("output_text.annotation.added", annotation=each) for each in (None, note)]
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write([*added, COMPLETED]), most=20)
    assert events == [sp.ProviderItem("annotation", note), sp.Done("completed", None, ok=True)]


def test_annotations_that_are_too_deep_to_be_compared_are_all_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> bytes:
        raise RecursionError

    monkeypatch.setattr(output, "_encode_sorted", refuse)
    parser = sp.StreamParser("openai-responses")
    events = parser.feed(_write([_event("output_text.annotation.added", annotation={"url": "u"})] * 2))
    assert events == [sp.ProviderItem("annotation", {"url": "u"})] * 2


def test_a_number_of_an_annotation_that_no_float_holds_is_null() -> None:
    added = _event("output_text.annotation.added", annotation={"score": "SCORE", "url": "u"})
    item = {"type": "web_search_call", "id": "w", "score": "SCORE"}
    done = _event("output_item.done", output_index=0, item=item)
    body = _write([added, done, COMPLETED]).replace(b'"SCORE"', b"1e999")
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), body, most=20)
    assert [event.data.get("score", "") for event in events if isinstance(event, sp.ProviderItem)] == [None, None]


def test_other_arguments_behind_those_that_had_to_be_mended_are_late() -> None:
    messages = [_ADDED, _arguments("delta", "{'a': 1}", "i"), _call("done", 0, name="f")]
    late = _arguments("done", '{"a": 2}', "i")
    events = assert_same_in_every_cut(
        lambda: sp.StreamParser("openai-responses"), _write([*messages, late, COMPLETED]), most=20
    )
    assert calls_of(events) == [("f", {"a": 1})]
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["late_arguments"]
