"""Gemini: bodies that are one growing array, and arguments that come in pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, plain, text_of
from fixture_streams import NAMES, make_parser, read_body
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp

STREAMS = [name for name in NAMES if name.startswith("gemini-")]
CHUNKED = [name for name in STREAMS if "interaction" not in name and "bare" not in name and "one-error" not in name]


def _parser(name: str, wire: str = "gemini") -> sp.StreamParser:
    return make_parser(name, wire=wire)


def _without_offsets(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in event.items() if key != "offset"} for event in events]


@pytest.mark.parametrize("name", STREAMS)
def test_the_first_chunk_shows_the_wire(name: str) -> None:
    body = read_body(name)
    parser = _parser(name, "auto")
    assert plain(events_of(parser, [body])) == plain(events_of(_parser(name), [body]))
    assert parser.wire == "gemini"


@pytest.mark.parametrize("name", [name for name in CHUNKED if "end-marker" not in name])
def test_a_growing_array_of_the_same_chunks_gives_the_same_events(name: str) -> None:
    body = read_body(name)
    chunks = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: ")]
    array = b"[" + b"\n,\r\n".join(chunks) + b"\n]\n"
    expected = _without_offsets(plain(events_of(_parser(name), [body])))
    events = assert_same_in_every_cut(lambda: _parser(name, "auto"), array)
    assert _without_offsets(plain(events)) == expected


@pytest.mark.parametrize("together", [1, 2, 3])
def test_elements_that_are_read_one_by_one_or_several_at_once_give_the_same_events(together: int) -> None:
    texts = [f'{{"candidates":[{{"content":{{"parts":[{{"text":"{{{n}],"}}]}}}}]}}\n'.encode() for n in range(7)]
    reads = [b"[" + texts[0], *(b",\r\n" + text for text in texts[1:]), b"]"]
    parser = sp.StreamParser("gemini")
    events = events_of(parser, [b"".join(reads[at : at + together]) for at in range(0, len(reads), together)])
    assert text_of(events) == "".join(f"{{{n}]," for n in range(7))
    assert parser.stats.frames == 7
    assert parser.stats.bytes == sum(map(len, reads))


def test_an_error_as_an_element_of_the_array_is_an_error() -> None:
    error = b'{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}'
    body = b'[{"candidates":[{"content":{"parts":[{"text":"Half"}]}}]}\n,\n' + error + b"]"
    parser = sp.StreamParser("auto")
    assert_same_in_every_cut(lambda: sp.StreamParser("auto"), body)
    done = events_of(parser, [body])[-1]
    assert isinstance(done, sp.Done)
    assert (done.ok, [error.message for error in parser.response.errors]) == (False, ["503: Busy."])


def test_a_chunk_of_a_bad_type_keeps_the_arguments_of_its_call() -> None:
    content = b'{"parts":[{"functionCall":{"name":"f","args":{"n":1}}}]}'
    body = b'data: {"candidates":[{"content":' + content + b',"finishReason":"STOP","index":"x"}]}\n\n'
    assert calls_of(events_of(sp.StreamParser("gemini"), [body])) == [("f", {"n": 1})]


# -- dumps -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"exclude_none": True}, {"mode": "json"}], ids=str)
@pytest.mark.parametrize("wire", ["gemini", "auto"])
def test_what_the_sdk_dumps_gives_the_events_of_what_the_server_sent(wire: str, options: dict[str, Any]) -> None:
    types = pytest.importorskip("google.genai.types")
    body = read_body("gemini-text-thoughts-and-a-signature.sse")
    body += read_body("gemini-two-calls-in-pieces-follow-each-other.sse")
    sent = [json.loads(line.removeprefix(b"data: ")) for line in body.splitlines() if line.startswith(b"data: ")]
    dumped = [types.GenerateContentResponse.model_validate(chunk).model_dump(**options) for chunk in sent]
    as_sent, as_dumped = sp.StreamParser("gemini"), sp.StreamParser(wire)
    expected = [event for chunk in sent for event in as_sent.feed(chunk)] + as_sent.close()
    assert [event for chunk in dumped for event in as_dumped.feed(chunk)] + as_dumped.close() == expected


def test_a_chunk_of_a_bad_type_among_dumps_is_read_though_no_name_of_it_has_to_be_restored() -> None:
    chunks = [
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finish_reason": None}]},
        {"candidates": [{"content": {"parts": [{"text": " there"}]}, "index": "x"}]},
    ]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks).encode()
    assert text_of(events_of(sp.StreamParser("gemini"), [body])) == "Hi there"


MARKS_OF_DUMPS: dict[str, list[str]] = {
    "of a chunk": ["create_time", "model_version", "prompt_feedback", "response_id", "usage_metadata"],
    "of a candidate": ["finish_message", "finish_reason"],
    "of a part": ["function_call", "thought_signature"],
}


@pytest.mark.parametrize(
    ("place", "name"), [(place, name) for place, names in MARKS_OF_DUMPS.items() for name in names]
)
def test_one_name_that_only_a_dump_has_shows_that_all_chunks_are_dumps(place: str, name: str) -> None:
    part = {"text": "Hi"} | ({name: None} if place == "of a part" else {})
    candidate = {"content": {"parts": [part]}} | ({name: None} if place == "of a candidate" else {})
    chunk = {"candidates": [candidate]} | ({name: None} if place == "of a chunk" else {})
    last = {"candidates": [{"finish_reason": "MAX_TOKENS"}]}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in (chunk, last)).encode()
    done = assert_same_in_every_cut(lambda: sp.StreamParser("gemini"), body)[-1]
    assert isinstance(done, sp.Done)
    assert (done.finish_reason, done.ok) == ("MAX_TOKENS", True)


@pytest.mark.parametrize("together", [1, 2])
def test_dumps_in_an_array_are_read_however_they_are_cut(together: int) -> None:
    call = {"content": {"parts": [{"function_call": {"name": "f", "args": {}}}]}, "finish_reason": None}
    reads = [json.dumps({"candidates": [call]}).encode() + b"," for _ in range(4)]
    pairs = [b"".join(reads[at : at + together]) for at in range(0, 4, together)]
    assert calls_of(events_of(sp.StreamParser("gemini"), [b"[", *pairs, b"]"])) == [("f", {})] * 4


def test_the_users_own_keys_are_left_alone_in_a_dump() -> None:
    call = {"function_call": {"name": "f", "args": {"a_b": {"c_d": None}, "finish_reason": 1}}}
    answer = {"function_response": {"name": "f", "response": {"e_f": None}}}
    message = {"candidates": [{"content": {"parts": [call, answer]}, "finish_reason": "STOP"}]}
    parser = sp.StreamParser("gemini")
    assert calls_of(parser.feed(message)) == [("f", {"a_b": {"c_d": None}, "finish_reason": 1})]
    assert [item["data"] for item in parser.response.items] == [{"name": "f", "response": {"e_f": None}}]


def test_arguments_whose_keys_look_like_a_dump_keep_their_text() -> None:
    call = b'{"functionCall":{"name":"f","args":{"finish_reason": 1.50e1}}}'
    body = b'data: {"candidates":[{"content":{"parts":[' + call + b']},"finishReason":"STOP"}]}\n\n'
    parser = sp.StreamParser("gemini")
    events_of(parser, [body])
    assert parser.response.tool_calls[0].raw == '{"finish_reason": 1.50e1}'


def test_a_field_of_a_bad_type_costs_a_dump_only_this_field() -> None:
    message = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finish_reason": "STOP", "index": "x"}]}
    parser = sp.StreamParser("gemini")
    events = [*parser.feed(message), *parser.close()]
    assert (text_of(events), parser.response.finish_reason) == ("Hi", "STOP")


# -- arguments in pieces -----------------------------------------------------------------------------------

_KEYS = st.text(st.characters(blacklist_characters=".[]'\"", blacklist_categories=("Cs",)), min_size=1, max_size=4)
_SCALARS = st.one_of(
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=6), st.integers(), st.booleans(), st.none()
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3), st.dictionaries(_KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def _fragments(value: Any, path: str) -> list[dict[str, Any]]:
    """A value as Gemini sends it, its strings in two pieces."""
    match value:
        case dict():
            return [part for key, item in value.items() for part in _fragments(item, f"{path}.{key}")]
        case list():
            return [part for number, item in enumerate(value) for part in _fragments(item, f"{path}[{number}]")]
        case str():
            half = len(value) // 2
            first = {"jsonPath": path, "stringValue": value[:half], "willContinue": True}
            return [first, {"jsonPath": path, "stringValue": value[half:]}]
        case bool():
            return [{"jsonPath": path, "boolValue": value}]
        case None:
            return [{"jsonPath": path, "nullValue": None}]
    return [{"jsonPath": path, "numberValue": value}]


def _chunk(function_call: dict[str, Any], **candidate: Any) -> bytes:
    part = {"functionCall": function_call}
    return b"data: " + json.dumps({"candidates": [{"content": {"parts": [part]}, **candidate}]}).encode() + b"\n\n"


@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_arguments_in_pieces_sum_to_the_object(arguments: dict[str, Any]) -> None:
    pieces = [_chunk({"partialArgs": [part], "willContinue": True}) for part in _fragments(arguments, "$")]
    parser = sp.StreamParser("gemini")
    events = events_of(parser, [_chunk({"name": "f", "willContinue": True}), *pieces, _chunk({}, finishReason="STOP")])
    assert calls_of(events) == [("f", arguments)]
    raw = "".join(event.arguments for event in events if isinstance(event, sp.ToolCallDelta))
    assert (json.loads(raw), parser.response.tool_calls[0].raw) == (arguments, raw)


@pytest.mark.parametrize("path", ["", "city", "$", "$.", "$[0]", "$.a[1]", "$.a[", "$.a..b", "$.a['b"])
def test_a_path_that_leads_nowhere_is_a_malformed_call(path: str) -> None:
    parser = sp.StreamParser("gemini")
    parts = [{"jsonPath": path, "numberValue": 1}]
    events_of(
        parser, [_chunk({"name": "f", "willContinue": True, "partialArgs": parts}), _chunk({}, finishReason="STOP")]
    )
    assert [call.code for call in parser.response.broken_calls] == ["malformed_call"]


_OPEN = {"jsonPath": "$.a", "stringValue": "x", "willContinue": True}


@pytest.mark.parametrize(
    "parts", [[_OPEN, {"jsonPath": "$.b", "numberValue": 1}], [{"jsonPath": "$.a", "numberValue": 1}] * 2]
)
def test_a_path_that_the_text_so_far_cannot_lead_to_is_a_malformed_call(parts: list[dict[str, Any]]) -> None:
    parser = sp.StreamParser("gemini")
    pieces = [_chunk({"partialArgs": [part], "willContinue": True}) for part in parts]
    events_of(parser, [_chunk({"name": "f", "willContinue": True}), *pieces, _chunk({}, finishReason="STOP")])
    assert [call.code for call in parser.response.broken_calls] == ["malformed_call"]


def test_a_path_that_is_announced_writes_nothing() -> None:
    parts = [{"jsonPath": "$.a", "willContinue": True}, _OPEN, {"jsonPath": "$.a", "stringValue": "y"}]
    pieces = [_chunk({"partialArgs": [part], "willContinue": True}) for part in parts]
    body = b"".join([_chunk({"name": "f", "willContinue": True}), *pieces, _chunk({}, finishReason="STOP")])
    assert calls_of(assert_same_in_every_cut(lambda: sp.StreamParser("gemini"), body)) == [("f", {"a": "xy"})]


def test_a_piece_with_another_name_ends_the_call_before_it() -> None:
    pieces = [
        {"name": name, "willContinue": True, "partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]} for name in "fg"
    ]
    body = b"".join([*map(_chunk, pieces), _chunk({}, finishReason="STOP")])
    events = assert_same_in_every_cut(lambda: sp.StreamParser("gemini"), body)
    assert calls_of(events) == [("f", {"a": 1}), ("g", {"a": 1})]


# -- interactions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "end"), [("step", "interaction.completed"), ("content", "interaction.complete")])
def test_the_parts_of_an_interaction_have_either_name(part: str, end: str) -> None:
    search = {"type": "google_search_call", "id": "s", "arguments": {"query": "tea"}}
    messages: list[dict[str, Any]] = [
        {"event_type": f"{part}.start", "index": 0, part: {"type": "text", "text": "Yes."}},
        {"event_type": f"{part}.stop", "index": 0},
        {"event_type": f"{part}.start", "index": 1, part: {"type": "function_call", "id": "c", "name": "f"}},
        {"event_type": f"{part}.delta", "index": 1, "delta": {"type": "arguments_delta", "arguments": '{"a": 1}'}},
        {"event_type": f"{part}.stop", "index": 1},
        {"event_type": f"{part}.start", "index": 2, part: {"type": "function_call", "id": "d", "name": "g"}},
        {"event_type": f"{part}.stop", "index": 2},
        {"event_type": f"{part}.start", "index": 3, part: search},
        {"event_type": f"{part}.stop", "index": 3},
        {"event_type": end, "interaction": {"status": "requires_action", "usage": {"total_tokens": 9}}},
    ]
    body = b"".join(b"data: " + json.dumps(message).encode() + b"\n\n" for message in messages)
    events = assert_same_in_every_cut(lambda: sp.StreamParser("gemini"), body, most=20)
    assert (text_of(events), calls_of(events)) == ("Yes.", [("f", {"a": 1}), ("g", {})])
    assert [event.data for event in events if isinstance(event, sp.ProviderItem)] == [search]
    assert events[-1] == sp.Done("requires_action", {"total_tokens": 9}, ok=True)
    parser = sp.StreamParser("gemini")
    ended = [[type(event) for event in parser.feed(message)][-1:] for message in messages]
    assert (ended[6], ended[8]) == ([sp.ToolCallComplete], [sp.ProviderItem])


@pytest.mark.parametrize("line", ["foo: bar\n", "keepalive\n", ": alive\n", "}\n"])
def test_a_stray_line_behind_bare_json_in_a_stream_is_no_part_of_it(line: str) -> None:
    text = {name: {"candidates": [{"content": {"parts": [{"text": name}]}}]} for name in "abc"}
    bare = json.dumps(text["b"], indent=1)
    body = f"data: {json.dumps(text['a'])}\n\n{bare}\n{line}data: {json.dumps(text['c'])}\n\n"
    events = assert_same_in_every_cut(lambda: sp.StreamParser("gemini"), body.encode())
    assert text_of(events) == "abc"
    assert [event for event in events if isinstance(event, sp.Error) and event.scope == "frame"] == []


@pytest.mark.parametrize(("other", "id"), [("g", "i"), ("f", "j")])
def test_a_piece_of_another_name_or_id_begins_a_call_though_the_last_is_open(other: str, id: str) -> None:
    def piece(name: str, id: str, text: str, *, more: bool) -> dict[str, Any]:
        arguments = [{"jsonPath": "$.a", "stringValue": text, "willContinue": more}]
        call = {"name": name, "id": id, "partialArgs": arguments, "willContinue": True}
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}

    pieces = [piece("f", "i", "x", more=True), piece(other, id, "y", more=False)]
    end = {"candidates": [{"finishReason": "STOP"}]}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in (*pieces, end))
    events = assert_same_in_every_cut(lambda: sp.StreamParser("gemini"), body.encode(), most=20)
    assert [event.name for event in events if isinstance(event, sp.ToolCallStart)] == ["f", other]
    assert calls_of(events) == [(other, {"a": "y"})]
