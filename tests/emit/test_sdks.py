"""What is emitted goes through the official clients: their streams, their accumulators, their types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import ollama
import openai
import pytest
from emission import emitted
from serving import Upstream, serving

import streamparse as sp
from streamparse.providers.emitters import EMITTERS

SEARCH = '{"query": "na\\u00efve \\"quoted\\" 🎉 }}", "limit": 3}'
ARGUMENTS = {"query": 'naïve "quoted" 🎉 }}', "limit": 3}


def _call(index: int, name: str, raw: str) -> list[sp.Event]:
    id = f"call_{index}"
    pieces: list[sp.Event] = [sp.ToolCallDelta(index, raw[start : start + 3]) for start in range(0, len(raw), 3)]
    complete = sp.ToolCallComplete(index, id, name, json.loads(raw), "inband", raw)
    return [sp.ToolCallStart(index, id, name), *pieces, complete]


USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
ANSWER: list[sp.Event] = [
    sp.ReasoningDelta("Let me "),
    sp.ReasoningDelta("think."),
    sp.TextDelta("I look\n"),
    sp.TextDelta("for it 🎉."),
    *_call(0, "search", SEARCH),
    *_call(1, "now", "{}"),
    sp.Done("stop", USAGE, True),
]
CUT: list[sp.Event] = [
    sp.TextDelta("Well."),
    *_call(0, "now", "{}"),
    *_call(1, "search", SEARCH)[:-4],
    sp.Error("call", "truncated_call", "cut", 1),
    sp.Done("length", USAGE, True),
]
LATE: list[sp.Event] = [
    *_call(0, "search", SEARCH)[:-1],
    sp.Error("call", "malformed_call", "the end says something else", 0),
    sp.Done("stop", None, True),
]
FAILED: list[sp.Event] = [
    sp.TextDelta("Well."),
    sp.Error("stream", "provider_error", "overloaded_error: too much to do"),
    sp.Done(None, None, False),
]
MALFORMED = "{'query': 'it is', 'limit': 3,}"
REPAIRED: list[sp.Event] = [
    sp.ToolCallStart(0, "call_0", "search"),
    *(sp.ToolCallDelta(0, character) for character in MALFORMED),
    sp.ToolCallComplete(0, "call_0", "search", {"query": "it is", "limit": 3}, "repaired", MALFORMED),
    sp.Done("stop", None, True),
]


@contextmanager
def _told(wire: str, events: list[sp.Event], *, whole: bool = False) -> Iterator[str]:
    """A server that answers with the events; a whole body is made of what they sum to."""
    body, content_type = emitted(wire, events), EMITTERS[wire].content_type
    if whole:
        parser = sp.StreamParser("openai-chat", dialects=())
        parser.feed(emitted("openai-chat", events))
        parser.close()
        body, content_type = EMITTERS[wire](model="m").whole(parser.response), "application/json"
    with serving(Upstream([body], headers=[("content-type", content_type)])) as url:
        yield url


# -- OpenAI -------------------------------------------------------------------------------------------------


def _openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0)


MESSAGES: Any = [{"role": "user", "content": "x"}]


def _openai_completion(events: list[sp.Event]) -> Any:
    """The client's own sum of the chunks."""
    with _told("openai-chat", events) as url, _openai(url) as client:
        stream = client.chat.completions.stream(model="m", messages=MESSAGES)
        with stream as chunks:
            for _ in chunks:
                pass
            return chunks.get_final_completion()


def test_openais_client_sums_the_chunks_up() -> None:
    completion = _openai_completion(ANSWER)
    [choice] = completion.choices
    assert choice.message.content == "I look\nfor it 🎉."
    assert choice.message.reasoning_content == "Let me think."
    assert choice.finish_reason == "tool_calls"
    assert [
        (call.id, call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls
    ] == [
        ("call_0", "search", ARGUMENTS),
        ("call_1", "now", {}),
    ]
    assert completion.usage.completion_tokens == 5


def test_openais_chunks_are_valid_to_their_last_field() -> None:
    with _told("openai-chat", [*ANSWER[:-1], sp.RefusalDelta("No."), ANSWER[-1]]) as url, _openai(url) as client:
        for chunk in client.chat.completions.create(model="m", messages=MESSAGES, stream=True):
            type(chunk).model_validate(chunk.model_dump(), strict=True)


def test_a_call_that_was_cut_is_no_json_to_openais_client() -> None:
    with _told("openai-chat", CUT) as url, _openai(url) as client:
        arguments, reason = {0: "", 1: ""}, None
        for chunk in client.chat.completions.create(model="m", messages=MESSAGES, stream=True):
            for call in chunk.choices[0].delta.tool_calls or ():
                arguments[call.index] += (call.function and call.function.arguments) or ""
            reason = chunk.choices[0].finish_reason or reason
    assert arguments[0] == "{}"
    with pytest.raises(ValueError):
        json.loads(arguments[1])
    assert reason == "length"


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_a_call_that_broke_after_its_last_brace_is_not_whole(wire: str) -> None:
    again = sp.StreamParser(wire, dialects=())
    events = again.feed(emitted(wire, LATE)) + again.close()
    assert not any(isinstance(event, sp.ToolCallComplete) for event in events)
    assert again.response.finish_reason in ("length", "max_tokens")


def test_counts_that_a_server_leaves_out_are_numbers_to_openais_client() -> None:
    usage = _openai_completion([sp.TextDelta("Well."), sp.Done("stop", {"prompt_tokens": 7}, True)]).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (7, 0, 7)


@pytest.mark.parametrize("place", ["end", "apart"])
def test_openais_client_sums_the_counts_up_wherever_they_stand(place: Any) -> None:
    emitter = EMITTERS["openai-chat"](model="m", usage=place)
    body = b"".join([emitter.emit(event) for event in ANSWER])
    with (
        serving(Upstream([body])) as url,
        _openai(url) as client,
        client.chat.completions.stream(model="m", messages=MESSAGES) as chunks,
    ):
        for _ in chunks:
            pass
        completion = chunks.get_final_completion()
    assert completion.usage is not None
    assert completion.usage.model_dump(exclude_none=True) == USAGE
    assert (body.count(b'"choices":[]'), body.count(b'"usage":null') > 0) == (
        (1, True) if place == "apart" else (0, False)
    )


def test_an_error_is_an_exception_of_openais_client() -> None:
    with _told("openai-chat", FAILED) as url, _openai(url) as client:
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        assert next(stream).choices[0].delta.content == "Well."
        with pytest.raises(openai.APIError, match="too much to do"):
            next(stream)


def test_openais_client_reads_a_whole_body() -> None:
    with _told("openai-chat", ANSWER, whole=True) as url, _openai(url) as client:
        completion = client.chat.completions.create(model="m", messages=MESSAGES)
    type(completion).model_validate(completion.model_dump(), strict=True)
    [choice] = completion.choices
    assert choice.message.content == "I look\nfor it 🎉."
    calls: Any = choice.message.tool_calls
    assert [json.loads(call.function.arguments) for call in calls] == [ARGUMENTS, {}]
    assert choice.finish_reason == "tool_calls"


# -- Anthropic ----------------------------------------------------------------------------------------------


def _anthropic(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)


def _message(events: list[sp.Event]) -> Any:
    """The client's own sum of the events."""
    with _told("anthropic", events) as url, _anthropic(url) as client:
        stream = client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
        with stream as told:
            return told.get_final_message()


def test_anthropics_client_sums_the_events_up() -> None:
    message = _message(ANSWER)
    thought, text, search, now = message.content
    assert (thought.type, thought.thinking) == ("thinking", "Let me think.")
    assert (text.type, text.text) == ("text", "I look\nfor it 🎉.")
    assert (search.type, search.id, search.name, search.input) == ("tool_use", "call_0", "search", ARGUMENTS)
    assert (now.name, now.input) == ("now", {})
    assert message.stop_reason == "tool_use"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (11, 5)


def test_anthropics_events_are_valid_to_their_last_field() -> None:
    with _told("anthropic", ANSWER) as url, _anthropic(url) as client:
        messages: Any = [{"role": "user", "content": "x"}]
        kinds = []
        for event in client.messages.create(model="m", max_tokens=9, messages=messages, stream=True):
            type(event).model_validate(event.model_dump())
            kinds.append(event.type)
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4


def test_the_block_of_a_call_that_was_cut_never_stops() -> None:
    with _told("anthropic", CUT) as url, _anthropic(url) as client:
        messages: Any = [{"role": "user", "content": "x"}]
        events = list(client.messages.create(model="m", max_tokens=9, messages=messages, stream=True))
    started = [event.index for event in events if event.type == "content_block_start"]
    stopped = [event.index for event in events if event.type == "content_block_stop"]
    assert started == [0, 1, 2]
    assert stopped == [0, 1]
    assert _message(CUT).stop_reason == "max_tokens"


def test_what_had_to_be_repaired_is_json_to_anthropics_client() -> None:
    [block] = _message(REPAIRED).content
    assert block.input == {"query": "it is", "limit": 3}


def test_what_had_to_be_repaired_is_json_to_openais_client() -> None:
    [call] = _openai_completion(REPAIRED).choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"query": "it is", "limit": 3}


def test_a_signed_thought_keeps_its_signature() -> None:
    events: list[sp.Event] = [
        sp.ReasoningDelta("Hm."),
        sp.ProviderItem("signature", "c2ln", 0),
        sp.ProviderItem("redacted_thinking", {"type": "redacted_thinking", "data": "x"}, 1),
        sp.TextDelta("Yes."),
        sp.Done("end_turn", {"input_tokens": 1, "output_tokens": 2}, True),
    ]
    thought, hidden, text = _message(events).content
    assert (thought.thinking, thought.signature) == ("Hm.", "c2ln")
    assert hidden.data == "x"
    assert text.text == "Yes."


def test_a_refusal_ends_as_one() -> None:
    message = _message([sp.RefusalDelta("I will not."), sp.Done("stop", None, True)])
    assert (message.content[0].text, message.stop_reason) == ("I will not.", "refusal")


def test_an_error_is_an_exception_of_anthropics_client() -> None:
    with pytest.raises(anthropic.APIStatusError, match="too much to do"):
        _message(FAILED)


def test_anthropics_client_reads_a_whole_body() -> None:
    with _told("anthropic", ANSWER, whole=True) as url, _anthropic(url) as client:
        message: Any = client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
    type(message).model_validate(message.model_dump())
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[2].input == ARGUMENTS
    assert message.stop_reason == "tool_use"


# -- Ollama -------------------------------------------------------------------------------------------------


def _lines(events: list[sp.Event]) -> list[ollama.ChatResponse]:
    with _told("ollama-chat", events) as url, ollama.Client(host=url) as client:
        return list(client.chat("m", MESSAGES, stream=True))


def test_ollamas_client_reads_the_lines() -> None:
    lines = _lines(ANSWER)
    assert "".join(line.message.content or "" for line in lines) == "I look\nfor it 🎉."
    assert "".join(line.message.thinking or "" for line in lines) == "Let me think."
    calls = [call.function for line in lines for call in line.message.tool_calls or ()]
    assert [(call.name, call.arguments) for call in calls] == [("search", ARGUMENTS), ("now", {})]
    assert (lines[-1].done, lines[-1].done_reason, lines[-1].eval_count) == (True, "stop", 5)


def test_a_call_that_was_cut_never_reaches_ollamas_client() -> None:
    lines = _lines(CUT)
    assert [call.function.name for line in lines for call in line.message.tool_calls or ()] == ["now"]
    assert lines[-1].done_reason == "length"


def test_an_error_is_an_exception_of_ollamas_client() -> None:
    with pytest.raises(ollama.ResponseError, match="too much to do"):
        _lines(FAILED)


def test_ollamas_client_reads_a_whole_body() -> None:
    with _told("ollama-chat", ANSWER, whole=True) as url, ollama.Client(host=url) as client:
        answer = client.chat("m", MESSAGES)
    assert answer.message.content == "I look\nfor it 🎉."
    assert [call.function.arguments for call in answer.message.tool_calls or ()] == [ARGUMENTS, {}]


def test_separators_of_unicode_end_no_line_of_ollamas_client() -> None:
    text = "one\u2028two\u2029three\x85four"
    call = sp.ToolCallComplete(0, "call_0", "search", {"query": text}, "native", json.dumps({"query": text}))
    events = [sp.ReasoningDelta(text), sp.TextDelta(text), sp.ToolCallStart(0, "call_0", "search"), call]
    thought, said, called, _ = _lines([*events, sp.Done("stop", None, True)])
    assert (thought.message.thinking, said.message.content) == (text, text)
    assert [call.function.arguments for call in called.message.tool_calls or ()] == [{"query": text}]
    with pytest.raises(ollama.ResponseError, match="one"):
        _lines([sp.Error("stream", "provider_error", text), sp.Done(None, None, False)])


# -- what only some answers hold ------------------------------------------------------------------------------


def test_lists_that_grow_are_summed_up_by_openais_client() -> None:
    sources: list[Any] = [{"type": "url_citation", "url": "a"}, {"type": "url_citation", "url": "b"}]
    events: list[sp.Event] = [
        *(sp.ReasoningDelta("One."), sp.ProviderItem("signature", "s1", 0)),
        sp.ProviderItem("redacted_thinking", {"type": "redacted_thinking", "data": "x"}, 1),
        *(sp.ReasoningDelta("Two."), sp.ProviderItem("signature", "s2", 2)),
        *(
            sp.TextDelta("Yes."),
            sp.ProviderItem("annotations", sources[:1]),
            sp.ProviderItem("annotations", sources[1:]),
        ),
        sp.Done("end_turn", None, True),
    ]
    message = _openai_completion(events).choices[0].message
    assert [detail.get("signature", detail.get("data")) for detail in message.reasoning_details] == ["s1", "x", "s2"]
    assert [source.url for source in message.annotations] == ["a", "b"]


def test_a_complete_call_that_nothing_has_left_of_reaches_ollamas_client_whatever_its_text() -> None:
    events: list[sp.Event] = [
        sp.ToolCallStart(0, "call_0", "search"),
        sp.ToolCallDelta(0, '{"query": 7}'),
        sp.ToolCallComplete(0, "call_0", "search", {"query": "7"}, "repaired", '{"query": 7}'),
        sp.Done("stop", None, True),
    ]
    [line, _] = _lines(events)
    assert [call.function.arguments for call in line.message.tool_calls or ()] == [{"query": "7"}]


def test_each_signed_thought_of_a_whole_answer_is_a_block_of_its_own_in_its_place() -> None:
    hidden = {"type": "redacted_thinking", "data": "x"}
    body = [
        {"type": "thinking", "thinking": "One.", "signature": "s1"},
        {"type": "text", "text": "First.", "citations": [{"url": "a"}]},
        hidden,
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": ARGUMENTS},
        {"type": "thinking", "thinking": "Two.", "signature": "s2"},
        {"type": "compaction", "content": "short"},
        {"type": "text", "text": "Second."},
    ]
    turn = {"stop_reason": "tool_use", "stop_sequence": None}
    parser = sp.StreamParser("anthropic", dialects=())
    parser.feed({"type": "message", "role": "assistant", "content": body, **turn})
    parser.close()
    assert json.loads(EMITTERS["anthropic"]().whole(parser.response))["content"] == body
