"""Messages in envelopes are routed by their headers, and told while they come."""

from __future__ import annotations

import json

import pytest
from cuts import calls_of, events_of, reasoning_of, text_of

import streamparse as sp

ANALYSIS, FINAL = "<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"
CALL = "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>"


def test_thoughts_and_answers_stream() -> None:
    parser = sp.TextParser(["harmony"])
    parser.feed(ANALYSIS)
    assert parser.feed("Hm") == [sp.ReasoningDelta("Hm")]
    parser.feed("<|end|>" + FINAL)
    assert parser.feed("So") == [sp.TextDelta("So")]


def test_a_call_is_complete_at_the_brace_that_closes_its_arguments() -> None:
    parser = sp.TextParser(["harmony"])
    assert not calls_of(parser.feed(ANALYSIS + "Hm.<|end|>" + CALL + '{"a": "}"'))
    assert calls_of(parser.feed("}")) == [("f", {"a": "}"})]


def test_a_header_is_believed_only_up_to_its_longest() -> None:
    text = "<|channel|>" + "x" * 300 + "<|message|>So."
    parser = sp.TextParser(["harmony"])
    assert text_of(parser.feed(text) + parser.close()) == text


def test_many_messages_need_no_recursion() -> None:
    parser = sp.TextParser(["harmony"])
    message = "<|start|>assistant" + ANALYSIS + "a<|end|>"
    events = parser.feed(message * 3000) + parser.close()
    assert reasoning_of(events) == "\n".join("a" * 3000)


def test_a_thought_that_waits_for_its_end_is_given_back_as_text_when_it_is_too_long() -> None:
    text = "analysisWe " + "think " * 2000 + "assistantfinalSo."
    parser = sp.TextParser(tools=[{"name": "f"}], limits=sp.Limits(max_held_text=4096))
    assert text_of(parser.feed(text) + parser.close()) == text


def test_a_text_that_begins_like_a_recipient_is_not_held_back_for_a_header() -> None:
    for dialect in ("harmony", "muse-atem", "beam"):
        parser = sp.TextParser([dialect])
        assert text_of(parser.feed("to=work means") + parser.feed(" to ")) == "to=work means to "


def test_where_the_server_takes_the_stop_token_out_of_the_text_its_word_that_the_model_stopped_ends_the_call() -> None:
    text = ' to=f<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name="a">\nx\n</rfl:parameter>'
    found = {}
    for reason in ("stop", "length", None):
        parser = sp.StreamParser("openai-chat", dialects=["beam"])
        events = [*_told(parser, {"content": text}), *_told(parser, {}, reason), *parser.close()]
        found[reason] = (calls_of(events), [event.code for event in events if isinstance(event, sp.Error)][:1])
    assert found == {
        "stop": ([("f", {"a": "x"})], []),
        "length": ([], ["truncated_call"]),
        None: ([], ["stream_truncated"]),
    }


def _told(parser: sp.StreamParser, delta: dict[str, str], reason: str | None = None) -> list[sp.Event]:
    frame = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return parser.feed(b"data: %s\n\n" % json.dumps(frame).encode())


@pytest.mark.parametrize("size", range(1, len("<|call|>")))
def test_the_beginning_of_an_end_marker_behind_a_call_is_no_text_however_little_of_it_came(size: int) -> None:
    events = events_of(sp.TextParser(["harmony"]), [CALL + '{"a": 1}' + "<|call|>"[:size]])
    assert (calls_of(events), text_of(events)) == ([("f", {"a": 1})], "")


@pytest.mark.parametrize(("size", "text"), [(1, "So<"), *((size, "So") for size in range(2, len("<|return|>")))])
def test_two_characters_of_an_end_marker_behind_a_text_are_no_text_and_one_is(size: int, text: str) -> None:
    for start in (FINAL, "<|channel|>final<|message|>"):
        assert text_of(events_of(sp.TextParser(["harmony"]), [start + "So" + "<|return|>"[:size]])) == text
    thought = events_of(sp.TextParser(["harmony"]), [ANALYSIS + "So" + "<|return|>"[:size]])
    assert reasoning_of(thought) == text


def test_bare_code_that_the_end_of_the_text_cuts_makes_no_call() -> None:
    parser = sp.TextParser(["harmony"])
    parser.feed("<|channel|>commentary to=python<|message|>print(1")
    parser.close(stopped=True)
    assert (parser.response.tool_calls, [error.code for error in parser.response.errors]) == ([], ["truncated_call"])


def test_where_no_reasoning_is_looked_for_words_of_a_channel_are_text() -> None:
    text = "analysisWe look.assistantfinalHello."
    assert text_of(events_of(sp.TextParser(["harmony"], reasoning="closed"), [text])) == text


@pytest.mark.parametrize("said", ["It is assistantanalysis here.", "So assistantcommentary.", "assistantfinal. Yes."])
def test_after_the_stripped_header_of_the_final_answer_all_is_text(said: str) -> None:
    tools = [{"name": "get_weather", "parameters": {}}]
    for before, thought in (
        ("analysisThe user asks.", "The user asks."),
        ("analysisOne.assistantanalysisTwo.", "One.Two."),
    ):
        parser = sp.TextParser("auto", tools=tools)
        parser.feed(f"{before}assistantfinal{said}")
        parser.close(stopped=True)
        assert (parser.response.content, parser.response.reasoning) == (said, thought)
    call = 'assistantcommentary to=functions.get_weather json{"city": "Paris"}'
    parser = sp.TextParser("auto", tools=tools)
    parser.feed(f"analysisThe user asks.{call}assistantfinal{said}")
    parser.close(stopped=True)
    assert [told.revoked for told in parser.response.tool_calls] == [True]
    assert (parser.response.content, parser.response.reasoning) == (f"{call}assistantfinal{said}", "The user asks.")
