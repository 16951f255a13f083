"""What OpenAI-chat servers send besides text and calls, and how they report errors without a wrapper."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp


def _fed(*messages: dict[str, Any], limits: sp.Limits = sp.Limits()) -> tuple[list[sp.Event], sp.StreamParser]:  # noqa: B008
    parser = sp.StreamParser("openai-chat", limits=limits)
    return [event for message in messages for event in parser.feed(message)] + parser.close(), parser


def _delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def test_encrypted_reasoning_is_kept_for_the_provider() -> None:
    detail = {"type": "reasoning.encrypted", "data": "c2VjcmV0", "format": "x-v1", "index": 0}
    events, parser = _fed(_delta(reasoning="so", reasoning_details=[detail]))
    assert sp.ProviderItem("reasoning.encrypted", detail) in events
    assert sp.ReasoningDelta("so") in events
    assert parser.response.items == [{"kind": "reasoning.encrypted", "data": detail, "index": None}]


@pytest.mark.parametrize("sealed", ["data", "signature"])
def test_each_hidden_or_signed_piece_of_reasoning_is_an_item(sealed: str) -> None:
    details = [{"type": "reasoning.encrypted", sealed: word, "index": 0} for word in ("one", "two")]
    _, parser = _fed(*(_delta(reasoning_details=[detail]) for detail in details))
    assert [item["data"] for item in parser.response.items] == details


def test_a_hidden_thought_among_the_parts_is_an_item_whole() -> None:
    part = {"type": "reasoning", "summary": [], "encrypted_content": "c2VjcmV0"}
    events, _ = _fed(_delta(content=[part]))
    assert sp.ProviderItem("reasoning", part) in events


def test_a_thought_among_the_parts_that_anthropic_signed_goes_back_to_it_signed() -> None:
    summary = [{"type": "summary_text", "text": "so", "signature": "c2ln"}]
    _, parser = _fed(_delta(content=[{"type": "reasoning", "summary": summary}]), _delta(content="Yes."))
    signed, said = sp.as_message(parser.response, "anthropic")["content"]
    assert signed == {"type": "thinking", "thinking": "so", "signature": "c2ln"}
    assert said == {"type": "text", "text": "Yes."}


def test_empty_text_beside_a_thought_is_no_event() -> None:
    events, _ = _fed(_delta(content="", reasoning="so"), _delta(content="", reasoning_content="what"))
    assert [event for event in events if isinstance(event, (sp.TextDelta, sp.ReasoningDelta))] == [
        sp.ReasoningDelta("so"),
        sp.ReasoningDelta("what"),
    ]


def test_annotations_and_tools_of_the_server_are_items() -> None:
    cited, ran = [{"type": "url_citation"}], [{"name": "search", "output": "x"}]
    events, _ = _fed(_delta(content="a", annotations=cited), _delta(executed_tools=ran))
    assert sp.ProviderItem("annotations", cited) in events
    assert sp.ProviderItem("executed_tools", ran) in events


@pytest.mark.parametrize(
    "body", [{"object": "error", "message": "busy", "code": 503}, {"message": "busy", "type": "t"}, {"detail": "busy"}]
)
def test_an_error_without_a_wrapper_is_the_providers_error(body: dict[str, Any]) -> None:
    events, _ = _fed(_delta(content="a"), body)
    (error,) = [event for event in events if isinstance(event, sp.Error)]
    assert (error.scope, error.code) == ("stream", "provider_error")
    assert "busy" in error.message
    assert events[-1] == sp.Done(None, None, ok=False)


def test_the_leniencies_that_were_used_are_counted() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a": 1,}'}}
    _, parser = _fed(_delta(tool_calls=[call]))
    assert parser.response.tool_calls[0].source == "repaired"
    assert parser.stats.leniencies == {"trailing_comma": 1}


def test_a_frame_that_is_refused_is_counted_once() -> None:
    parser = sp.StreamParser("openai-chat")
    for body in (b'data: {"choices":[]}\n\n', b'data: {"choices":[]}\n\n', b"data: {bad\n\n"):
        parser.feed(body)
    assert parser.stats.frames == 3


def test_a_message_that_is_no_json_leaves_the_offsets_of_later_errors_alone() -> None:
    parser = sp.StreamParser("openai-chat")
    good, bad = b'data: {"choices":[]}\n\n', b"data: {bad\n\n"
    parser.feed(good)
    (refused,) = parser.feed({"choices": [], "n": 10**5000})
    assert isinstance(refused, sp.Error)
    (error,) = parser.feed(bad)
    assert isinstance(error, sp.Error)
    assert error.offset is not None
    assert len(good) <= error.offset <= len(good) + len(bad)


def _custom(index: int, text: str, **fields: Any) -> dict[str, Any]:
    return _delta(tool_calls=[{"index": index, "custom": {"name": f"tool{index}", "input": text}, **fields}])


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def test_a_custom_call_is_an_item_with_the_sum_of_its_input() -> None:
    pieces = [_custom(0, "a", id="c", type="custom"), _custom(0, "", type="custom"), _custom(0, "b", type="custom")]
    _, parser = _fed(*pieces, END, limits=sp.Limits(max_call_args=2))
    assert [item["data"] for item in parser.response.items] == [
        {"id": "c", "type": "custom", "custom": {"name": "tool0", "input": "ab"}}
    ]
    assert parser.response.errors == []


def test_a_custom_call_whose_input_is_too_long_is_an_error_and_no_item() -> None:
    pieces = [_custom(index, text, type="custom") for text in ("12345", "67", "8") for index in (0, 1)]
    _, parser = _fed(*pieces, END, limits=sp.Limits(max_call_args=13))
    assert [item["data"]["custom"]["input"] for item in parser.response.items] == ["12345678"]
    assert [error.code for error in parser.response.errors] == ["limit_args"]


def test_custom_calls_are_no_more_than_calls_may_be() -> None:
    _, parser = _fed(*[_custom(index, "x", type="custom") for index in range(5)], END, limits=sp.Limits(max_calls=3))
    assert len(parser.response.items) == 3
    assert [error.code for error in parser.response.errors] == ["limit_calls"]


def test_content_that_google_does_not_flag_is_text_and_the_closing_tag_may_come_alone() -> None:
    flag = {"google": {"thought": True}}
    deltas: list[dict[str, Any]] = [
        {"content": "<thought>", "extra_content": flag},
        {"content": "Hm.", "extra_content": flag},
        *({"content": content} for content in ("\n", "</thought>", "So.")),
        {"content": " Yes.", "extra_content": {"google": {}}},
    ]
    parser = sp.StreamParser("openai-chat")
    for delta in deltas:
        parser.feed({"choices": [{"index": 0, "delta": delta}]})
    parser.close()
    assert (parser.response.reasoning, parser.response.content) == ("Hm.", "\nSo. Yes.")
