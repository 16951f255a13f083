"""Several strategies at once: which calls count, once each, in which order; and the record around them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import events_of, in_random_pieces
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.parser.composite import JSONContentParser, MarkupParser, NativeParser
from streamparse.parser.intents import HeuristicParser
from streamparse.protocols import ToolCallParser
from streamparse.response import Mark
from streamparse.writing.answer_parts import arrange_answer

TOOLS = [{"name": name, "parameters": {"type": "object", "properties": {}}} for name in ("look", "find")]


def _marked(name: str, arguments: str = "{}") -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


def _body(content: str, *calls: tuple[str, str], reason: str = "stop") -> dict[str, Any]:
    told = [{"id": f"c{n}", "function": {"name": name, "arguments": text}} for n, (name, text) in enumerate(calls)]
    message = {"role": "assistant", "content": content, "tool_calls": told}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": {"total_tokens": 3}}


def _every(dialects: Any = "auto") -> list[ToolCallParser]:
    others = JSONContentParser(tools=TOOLS), HeuristicParser(tools=TOOLS)
    return [NativeParser(), MarkupParser(dialects), *others]


def _calls(parsed: sp.ParsedResponse) -> list[tuple[str, str, str]]:
    return [(call.name, call.raw, call.source) for call in parsed.tool_calls]


class _Own:
    """A parser as a user would write one."""

    def __init__(self, *calls: sp.ToolCall) -> None:
        self.response = sp.ParsedResponse(tool_calls=list(calls), content="own")

    def can_parse(self, body: Any) -> bool:
        return body == "body"

    def parse(self, _body: Any) -> sp.ParsedResponse:
        return self.response


def test_merge_takes_the_calls_of_all_parsers_native_ones_first() -> None:
    body = _body(f"{_marked('find')}", ("look", "{}"))
    parsed = sp.CompositeParser(_every()).parse(body)
    assert _calls(parsed) == [("look", "{}", "native"), ("find", "{}", "inband")]
    assert [call.index for call in parsed.tool_calls] == [0, 1]
    assert (parsed.content, parsed.finish_reason, parsed.usage, parsed.ok) == ("", "stop", {"total_tokens": 3}, True)
    assert parsed.raw_response is body


def test_first_takes_the_calls_of_the_first_parser_that_finds_some() -> None:
    body = _body(_marked("find"), ("look", "{}"))
    assert _calls(sp.CompositeParser(_every(), "first").parse(body)) == [("look", "{}", "native")]
    assert _calls(sp.CompositeParser(strategy="first").parse(body)) == [("look", "{}", "native")]
    assert _calls(sp.CompositeParser(strategy="first").parse(_body(_marked("find")))) == [("find", "{}", "inband")]
    assert sp.CompositeParser(strategy="first", dialects=()).parse(_body(_marked("find"))).tool_calls == []


def test_the_usual_parsers_keep_the_order_of_the_answer() -> None:
    parsed = sp.CompositeParser().parse(_body(_marked("find"), ("look", "{}")))
    assert [call.name for call in parsed.tool_calls] == ["find", "look"]


@pytest.mark.parametrize("arguments", ['{"a": 1, "b": [2]}', '{"b":[2],"a":1}'])
def test_the_same_call_of_two_parsers_is_one_whatever_the_order_of_its_keys(arguments: str) -> None:
    body = _body(_marked("look", arguments), ("look", '{"a": 1, "b": [2]}'))
    for parser in (sp.CompositeParser(_every()), sp.CompositeParser(strategy="first")):
        assert [call.source for call in parser.parse(body).tool_calls] == ["native"]
    (call,) = sp.CompositeParser().parse(body).tool_calls
    assert call.source == "native"


DIFFERENT = [1, True, "1", None, 0, False, "", [1, 2], [2, 1], {"b": None}, {}, {"b": [1]}, {"b": [True]}, {1, 2}]


def test_numbers_booleans_and_texts_are_not_the_same() -> None:
    calls = [sp.ToolCall("look", {"a": value}, f"i{number}") for number, value in enumerate(DIFFERENT)]
    assert len(sp.CompositeParser([_Own(call) for call in calls]).parse("body").tool_calls) == len(DIFFERENT)


@pytest.mark.parametrize(
    ("native", "in_text", "calls"),
    [
        ('{"a": 1}', '{"a": 1.0}', 1),
        ('{"a": 1e22}', '{"a": 10000000000000000000000}', 1),
        ('{"a": "\\u00e9", "b": [{"c": 1, "d": 2}]}', '{"b": [{"d": 2, "c": 1.0}], "a": "\u00e9"}', 1),
        ('{"a": 1}', '{"a": true}', 2),
        ('{"a": 0}', '{"a": false}', 2),
        ('{"a": "1"}', '{"a": 1}', 2),
        ('{"a": null}', "{}", 2),
        ('{"a": "e\u0301"}', '{"a": "\u00e9"}', 2),
    ],
)
def test_whether_two_calls_are_one_does_not_depend_on_who_finds_them(native: str, in_text: str, calls: int) -> None:
    body = _body(_marked("look", in_text), ("look", native))
    for parser in (sp.CompositeParser(), sp.CompositeParser(_every()), sp.CompositeParser(_every()[::-1])):
        found = parser.parse(body).tool_calls
        assert len(found) == calls
        assert [call.id for call in found if call.source == "native"] == ["c0"]
    fed = sp.StreamParser("openai-chat")
    events_of(fed, in_random_pieces(json.dumps(body).encode(), 3))
    assert len(fed.response.tool_calls) == calls


def test_a_native_id_that_the_text_has_too_stays_that_of_the_call() -> None:
    text = "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}"
    body = _body(text + "<|tool_call_end|><|tool_calls_section_end|>", ("look", "{}"))
    body["choices"][0]["message"]["tool_calls"][0]["id"] = "functions.look:0"
    (call,) = sp.parse_response(body).tool_calls
    assert (call.id, call.source) == ("functions.look:0", "native")


@pytest.mark.parametrize("ids", [("", "call_0"), ("call_1", ""), ("", "", "call_1"), ("x", "x", "x_1"), ("call_0", "")])
def test_no_two_calls_of_an_answer_have_one_id(ids: tuple[str, ...]) -> None:
    body = _body("", *[("look", "{}") for _ in ids])
    for call, id in zip(body["choices"][0]["message"]["tool_calls"], ids, strict=True):
        call["id"] = id
    for parser in (sp.CompositeParser(), sp.CompositeParser(_every())):
        found = [call.id for call in parser.parse(body).tool_calls]
        assert len({*found}) == len(ids)
        assert found[0] == (ids[0] or "call_0")
    assert len(sp.parse_response(body, limits=sp.Limits(max_id=6)).tool_calls) == len(ids), "no id of ours is too long"


def test_the_same_call_twice_in_one_way_is_two_calls() -> None:
    twice = _marked("look") * 2
    for parser in (sp.CompositeParser(), sp.CompositeParser(_every())):
        assert len(parser.parse(twice).tool_calls) == 2
        assert len(parser.parse(_body(twice, ("look", "{}"))).tool_calls) == 2
        assert len(parser.parse(_body("", ("look", "{}"), ("look", "{}"))).tool_calls) == 2


def test_parsers_of_ones_own_are_asked_and_their_ids_kept_apart() -> None:
    own = _Own(sp.ToolCall("mine", {}, "call_0", "recovered"))
    assert isinstance(own, ToolCallParser)
    parsed = sp.CompositeParser([MarkupParser(), own]).parse(_marked("look"))
    assert [(call.name, call.id, call.index) for call in parsed.tool_calls] == [
        ("look", "call_0", 0),
        ("mine", "call_1", 1),
    ]
    assert parsed.content == ""
    assert sp.CompositeParser([]).parse("x") == sp.ParsedResponse(raw_response="x")


@pytest.mark.parametrize("is_first", [True, False])
def test_what_only_one_of_the_parsers_tells_is_told_wherever_it_stands(is_first: bool) -> None:
    body = _body("Hi.", ("look", "{}"), ("find", '{"a": '))
    body["choices"][0]["message"] |= {"refusal": "No.", "reasoning_content": "Hm.", "annotations": [{"url": "u"}]}
    silent = _Own()
    parsers = [NativeParser(), silent] if is_first else [silent, NativeParser()]
    parsed, told = sp.CompositeParser(parsers).parse(body), NativeParser().parse(body)
    for name in ("reasoning", "refusal", "items", "finish_reason", "usage", "tool_calls", "broken_calls"):
        assert getattr(told, name), name
        assert getattr(parsed, name) == getattr(told, name), name
    whole = _body("Hi.")
    assert sp.CompositeParser(parsers).parse(whole).ok is NativeParser().parse(whole).ok is True
    assert parsed.raw_response is body


def test_what_several_parsers_tell_stands_on_lines_of_its_own() -> None:
    parsers: list[Any] = [_Own(), _Own()]
    for parser, word in zip(parsers, ("one", "two"), strict=True):
        parser.response.reasoning, parser.response.refusal = f"Think {word}.", f"No {word}."
    parsed = sp.CompositeParser(parsers).parse("body")
    assert (parsed.reasoning, parsed.refusal) == ("Think one.\nThink two.", "No one.\nNo two.")


def test_broken_calls_are_numbered_behind_the_others() -> None:
    parsed = sp.CompositeParser(_every()).parse(_body("", ("find", '{"a": '), ("look", "{}")))
    assert [(call.name, call.index) for call in parsed.tool_calls] == [("look", 0)]
    assert [(call.name, call.index) for call in parsed.broken_calls] == [("find", 1)]


def _parts(parsed: sp.ParsedResponse) -> list[Any]:
    """What came, in its order: texts, thoughts, kinds of items and names of calls."""
    return [getattr(part, "text", None) or getattr(part, "kind", None) or part.name for part in arrange_answer(parsed)]


MIXED = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "First. "},
        {"type": "tool_use", "id": "toolu_0", "name": "look", "input": {}},
        {"type": "text", "text": f"Then {_marked('find')} last."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": 1}},
    ],
    "stop_reason": "tool_use",
}


_QUIET = ["Hm.", "signature", "First. ", "look", f"Then {_marked('find')} last.", "look"]
_IN_ORDER = ["Hm.", "signature", "First. ", "look", "Then ", "find", " last.", "look"]
_MERGED = ["Hm.", "signature", "First. Then ", "find", " last.", "look", "look"]


@pytest.mark.parametrize(
    ("parsers", "parts"),
    [
        ([NativeParser()], _QUIET),
        ([MarkupParser()], ["Hm.", "signature", f"First. Then {_marked('find')} last."]),
        (_every(), _QUIET),
        (_every()[::-1], _QUIET),
        (None, _QUIET),
    ],
)
def test_markup_beside_native_calls_is_text_in_its_order_whichever_parsers_are_asked(
    parsers: Any, parts: list[str]
) -> None:
    parsed = sp.CompositeParser(parsers).parse(MIXED)
    assert _parts(parsed) == parts
    assert {(call.source, call.place) for call in parsed.tool_calls} <= {("native", "field")}


@pytest.mark.parametrize(
    ("parsers", "parts"),
    [
        ([MarkupParser(["hermes"])], ["Hm.", "signature", "First. Then ", "find", " last."]),
        (_every(["hermes"]), _MERGED),
        (_every(["hermes"])[::-1], _MERGED),
        (None, _IN_ORDER),
    ],
)
def test_calls_of_parsers_that_left_markup_in_the_text_stand_behind_the_merged_text(
    parsers: Any, parts: list[str]
) -> None:
    parsed = sp.CompositeParser(parsers, dialects=["hermes"]).parse(MIXED)
    assert _parts(parsed) == parts
    assert [(call.source, call.place) for call in parsed.tool_calls if call.name == "find"] == [("inband", "plain")]


@pytest.mark.parametrize(
    ("dialects", "names", "kinds"),
    [
        ("auto", ["look", "look"], ["thinking", "text", "tool_use", "text", "tool_use"]),
        (
            ["hermes"],
            ["find", "look", "look"],
            ["thinking", "text", "tool_use", "text", "tool_use", "tool_use"],
        ),
    ],
)
def test_a_message_to_send_back_has_the_order_of_the_merged_answer(
    dialects: Any, names: list[str], kinds: list[str]
) -> None:
    blocks = sp.as_message(sp.CompositeParser(_every(dialects)).parse(MIXED), "anthropic")["content"]
    assert [block["type"] for block in blocks] == kinds
    assert [block["name"] for block in blocks if "name" in block] == names


def test_the_order_of_the_strategy_first_is_that_of_the_parser_that_found_the_calls() -> None:
    parsed = sp.CompositeParser(strategy="first").parse(f"One {_marked('look')} two {_marked('find')} three.")
    assert _parts(parsed) == ["One ", "look", " two ", "find", " three."]


def test_a_call_whose_place_is_not_known_stands_behind_the_text() -> None:
    text = f"One {_marked('look')} two"
    own = _Own(sp.ToolCall("mine", {}))
    own.response.order.append(Mark("call", 0, 2, 0))
    assert _parts(sp.CompositeParser([MarkupParser(), own]).parse(text)) == ["One ", "look", " two", "mine"]


def test_a_call_that_is_told_natively_and_in_the_text_counts_as_native_and_what_breaks_once() -> None:
    told = _Own(sp.ToolCall("look", {}, "c9", "inband", index=3))
    told.response.dialects[3] = "hermes"
    body = _body("", ("look", "{}"), ("look", '{"a": '))
    parsed = sp.CompositeParser([NativeParser(), told, MarkupParser()]).parse(body)
    assert [(call.id, call.source, call.index) for call in parsed.tool_calls] == [("c0", "native", 0)]
    assert [(call.id, call.index) for call in parsed.broken_calls] == [("c1", 1)]
    assert parsed.dialects == {}
    assert [error.index for error in parsed.errors] == [1]


def test_what_cannot_parse_and_unknown_words_are_errors_of_the_program() -> None:
    with pytest.raises(TypeError, match="can_parse"):
        sp.CompositeParser([object()])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="merge, first"):
        sp.CompositeParser(strategy="second")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="open"):
        sp.CompositeParser(reasoning="ajar")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nope"):
        sp.CompositeParser("nope")
    with pytest.raises(ValueError, match="nope"):
        MarkupParser("nope")


def test_calls_of_a_turn_that_the_server_took_back_are_revoked_by_every_way() -> None:
    body = _body(_marked("find"), ("look", '{"a": 1}'), reason="content_filter")
    for parser in (sp.CompositeParser(), sp.CompositeParser(_every()), NativeParser(), MarkupParser()):
        parsed = parser.parse(body)
        assert parsed.tool_calls
        assert all(call.revoked for call in parsed.tool_calls)
        assert not parsed.ok


WORDS = st.sampled_from(
    [
        "I look. ",
        "<think>hm</think>",
        "<think>",
        "<tool_call>",
        "</tool_call>",
        '{"name": "look", "arguments": {"a": 1}}',
        '{"name": "find", "parameters": {}}',
        "[TOOL_CALLS]look{}",
        "<function=look><parameter=a>1</parameter></function>",
        '{"toolCalls": [{"name": "look", "arguments": {}}]}',
        "\n```json\n",
        "```",
        '"',
        "}",
        "\n",
    ]
)


@given(st.lists(WORDS, max_size=8).map("".join), st.integers(0, 99), st.booleans())
def test_a_whole_text_gives_the_calls_that_streaming_gave(text: str, seed: int, declared: bool) -> None:
    tools = TOOLS if declared else None
    parser = sp.TextParser(tools=tools)
    events_of(parser, in_random_pieces(text, seed))
    fed, whole = parser.response, sp.parse_response({"choices": [{"text": text, "finish_reason": "stop"}]}, tools=tools)
    assert whole.reasoning == fed.reasoning
    if fed.tool_calls or fed.broken_calls:
        assert (whole.tool_calls, whole.broken_calls) == (fed.tool_calls, fed.broken_calls)
    assert {call.source for call in whole.tool_calls} <= {call.source for call in fed.tool_calls} | {
        "recovered",
        "repaired",
    }


def test_a_call_that_came_in_the_text_and_natively_has_its_native_id() -> None:
    body = {
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "content": '<tool_call>{"name": "search", "arguments": {"query": "tea", "limit": 1}}</tool_call>',
                    "tool_calls": [
                        {
                            "id": "call_abc",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"limit":1,"query":"tea"}'},
                        }
                    ],
                },
            }
        ]
    }
    (call,) = sp.parse_response(body).tool_calls
    assert (call.id, call.source, call.raw) == ("call_abc", "native", '{"limit":1,"query":"tea"}')
    assert call.arguments == {"query": "tea", "limit": 1}


@pytest.mark.parametrize("strategy", ["first", "merge"])
def test_every_strategy_reads_a_body_by_the_wire_that_is_named(strategy: Any) -> None:
    body = _body("of chat") | {"type": "message", "content": [{"type": "text", "text": "of anthropic"}]}
    for wire, content in (("openai-chat", "of chat"), ("anthropic", "of anthropic")):
        assert sp.CompositeParser(wire=wire, strategy=strategy).parse(body).content == content


class _Named:
    """Finds calls of these ids."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids

    def can_parse(self, body: Any) -> bool:
        return bool(body)

    def parse(self, body: Any) -> sp.ParsedResponse:
        calls = [sp.ToolCall("look", {"n": number}, id, index=number) for number, id in enumerate(self._ids)]
        return sp.ParsedResponse(content=str(body), tool_calls=calls)


def test_each_call_of_several_parsers_has_an_id_of_its_own() -> None:
    parsed = sp.CompositeParser([_Named("", "a", "a", "call_1"), MarkupParser()]).parse("So.")
    assert [call.id for call in parsed.tool_calls] == ["call_0", "a", "call_2", "call_1"]
