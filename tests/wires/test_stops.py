"""Why an answer ended and how many tokens it took, in one word and one shape for all wires."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from typing import Any

import pytest
from fixture_streams import NAMES, make_parser, read_body

import streamparse as sp
from streamparse.finish_reasons import COMMON_STOPS, STOPS, find_stop
from streamparse.usage import TokenCounts, count_tokens

CALL = {"type": "function", "id": "c1", "function": {"name": "now", "arguments": "{}"}}
BLOCK = {"type": "tool_use", "id": "c1", "name": "now", "input": {}}
ITEM = {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"}


def _chat(word: str, called: bool) -> Any:
    message = {"role": "assistant", "content": "x", **({"tool_calls": [CALL]} if called else {})}
    return {"choices": [{"index": 0, "message": message, "finish_reason": word}]}


def _anthropic(word: str, called: bool) -> Any:
    content = [{"type": "text", "text": "x"}, *([BLOCK] if called else [])]
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": word}


def _gemini(word: str, called: bool) -> Any:
    parts = [{"text": "x"}, *([{"functionCall": {"name": "now", "args": {}}}] if called else [])]
    return {"candidates": [{"content": {"parts": parts}, "finishReason": word}]}


def _responses(word: str, called: bool) -> Any:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    details = {} if word in ("completed", "failed", "cancelled") else {"incomplete_details": {"reason": word}}
    status = "incomplete" if details else word
    return {"object": "response", "status": status, "output": [said, *([ITEM] if called else [])], **details}


def _ollama(word: str, called: bool) -> Any:
    calls = {"tool_calls": [{"function": {"name": "now", "arguments": {}}}]} if called else {}
    return {"model": "m", "message": {"role": "assistant", "content": "x", **calls}, "done": True, "done_reason": word}


def _converse(word: str, called: bool) -> Any:
    use = [{"toolUse": {"toolUseId": "c1", "name": "now", "input": {}}}] if called else []
    message = {"role": "assistant", "content": [{"text": "x"}, *use]}
    return {"output": {"message": message}, "stopReason": word, "usage": {"inputTokens": 1, "outputTokens": 1}}


def _cohere(word: str, called: bool) -> Any:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "x"}],
        **({"tool_calls": [CALL]} if called else {}),
    }
    return {"id": "m", "message": message, "finish_reason": word}


Body = Callable[[str, bool], Any]
BODIES: dict[str, Body] = {
    "openai-chat": _chat,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "openai-responses": _responses,
    "ollama-chat": _ollama,
    "bedrock-converse": _converse,
    "cohere": _cohere,
}
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "openai-chat": {
        "end": ("stop", "eos"),
        "length": ("length", "model_length", "model_context_window_exceeded", "MAX_TOKENS"),
        "filter": (
            *("content_filter", "sensitive", "refusal", "SAFETY", "prohibited_content", "guardrail_intervened"),
            *("content_filter: SAFETY", "content_filter: RECITATION", "content_filter: A_WORD_OF_NEXT_YEAR"),
        ),
        "error": (
            *("error", "abort", "network_error", "insufficient_system_resource", "timeout", "malformed_function_call"),
            *("function_call_filter: MALFORMED_FUNCTION_CALL", "function_call_filter: UNEXPECTED_TOOL_CALL"),
        ),
        "tools": ("tool_calls", "function_call"),
    },
    "anthropic": {
        "end": ("end_turn", "stop_sequence", "pause_turn", "compaction"),
        "length": ("max_tokens", "model_context_window_exceeded"),
        "filter": ("refusal",),
        "tools": ("tool_use",),
    },
    "gemini": {
        "end": ("STOP", "FINISH_REASON_UNSPECIFIED", "1"),
        "length": ("MAX_TOKENS", "CONTINUATION", "2"),
        "filter": (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"),
            *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION", "PUP_LIMITED_DISABLED"),
            *("3", "4"),
        ),
        "error": (
            *("OTHER", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "NO_IMAGE"),
            *("TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "IMAGE_OTHER", "5", "12"),
        ),
    },
    "openai-responses": {
        "end": ("completed",),
        "length": ("max_output_tokens", "max_messages", "steered"),
        "filter": ("content_filter",),
        "error": ("failed", "cancelled"),
    },
    "ollama-chat": {"end": ("stop", "load"), "length": ("length",)},
    "bedrock-converse": {
        "end": ("end_turn", "stop_sequence"),
        "length": ("max_tokens", "model_context_window_exceeded"),
        "filter": ("content_filtered", "guardrail_intervened"),
        "error": ("malformed_model_output", "malformed_tool_use"),
        "tools": ("tool_use",),
    },
    "cohere": {
        "end": ("COMPLETE", "STOP_SEQUENCE"),
        "length": ("MAX_TOKENS",),
        "filter": ("ERROR_TOXIC",),
        "error": ("ERROR", "ERROR_LIMIT", "TIMEOUT", "USER_CANCEL"),
        "tools": ("TOOL_CALL",),
    },
}
CASES = [(wire, word, stop) for wire, stops in WORDS.items() for stop, words in stops.items() for word in words]


@pytest.mark.parametrize(("wire", "word", "stop"), CASES)
def test_each_word_of_each_wire_is_one_common_word(wire: str, word: str, stop: str) -> None:
    response = sp.parse_response(BODIES[wire](word, stop == "tools"), wire)
    assert response.content == "x"
    assert response.stop == stop
    assert response.ok == (stop in ("end", "tools", "length"))


@pytest.mark.parametrize("wire", BODIES)
def test_an_answer_with_calls_waits_for_their_results_whatever_its_word(wire: str) -> None:
    word = WORDS[wire]["end"][0]
    response = sp.parse_response(BODIES[wire](word, True), wire)
    assert [call.name for call in response.tool_calls] == ["now"]
    assert response.stop == "tools"


@pytest.mark.parametrize(("wire", "word"), [(wire, word) for wire, word, stop in CASES if stop in ("filter", "error")])
def test_a_turn_that_was_taken_back_waits_for_no_results(wire: str, word: str) -> None:
    response = sp.parse_response(BODIES[wire](word, True), wire)
    assert response.stop in ("filter", "error")
    assert all(call.revoked for call in response.tool_calls)


def test_each_word_that_an_sdk_knows_has_a_common_one() -> None:
    anthropic, genai = pytest.importorskip("anthropic.types.beta"), pytest.importorskip("google.genai.types")
    chat = pytest.importorskip("openai.types.chat.chat_completion")
    response = pytest.importorskip("openai.types.responses.response")
    details = typing.get_args(response.IncompleteDetails.model_fields["reason"].annotation)[0]
    words = [
        *typing.get_args(anthropic.BetaStopReason),
        *(reason.value for reason in genai.FinishReason),
        *(f"BLOCKED:{reason.value}" for reason in genai.BlockedReason),
        *typing.get_args(chat.Choice.model_fields["finish_reason"].annotation),
        *typing.get_args(details),
    ]
    assert len(words) > 45
    assert [word for word in words if find_stop(word) is None] == []


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "ollama-chat"])
@pytest.mark.parametrize("word", sorted(STOPS.keys() - COMMON_STOPS.keys()))
def test_a_word_of_another_providers_own_list_takes_no_call_back(wire: str, word: str) -> None:
    response = sp.parse_response(BODIES[wire](word, True), wire)
    assert response.ok
    assert not response.tool_calls[0].revoked


@pytest.mark.parametrize("word", ["content_filter: SAFETY", "function_call_filter: MALFORMED_FUNCTION_CALL"])
def test_an_answer_that_is_empty_and_ends_in_a_filter_is_not_ok(word: str) -> None:
    response = sp.parse_response({"choices": [{"index": 0, "message": {}, "finish_reason": word}]}, "openai-chat")
    assert not response.ok
    assert response.stop in ("filter", "error")


def test_an_unknown_word_before_a_colon_says_nothing() -> None:
    response = sp.parse_response(_chat("brand_new: SAFETY", True), "openai-chat")
    assert response.ok
    assert not response.tool_calls[0].revoked


@pytest.mark.parametrize("name", NAMES)
def test_every_stream_of_the_fixtures_ends_in_a_common_word(name: str) -> None:
    parser = make_parser(name)
    parser.feed(read_body(name))
    parser.close()
    response = parser.response
    standing = [call for call in response.tool_calls if not call.revoked]
    if response.finish_reason == "BRAND_NEW":
        assert response.stop is None
    elif response.ok:
        assert response.stop in ("end", "tools", "length")
    else:
        assert response.stop in ("filter", "error", "length")
    if response.stop in ("filter", "error"):
        assert not response.ok
    if response.stop == "end":
        assert not standing
    assert response.tokens.total == response.tokens.prompt + response.tokens.completion


def test_an_answer_that_has_not_ended_has_no_word_yet() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n')
    assert parser.response.stop is None
    parser.feed(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    assert parser.response.stop == "end"
    parser.close()
    assert parser.response.stop == "end"


def test_an_answer_that_was_cut_is_an_error() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n')
    parser.close()
    assert parser.response.stop == "error"


def test_a_tool_turn_without_a_call_is_an_error() -> None:
    assert sp.parse_response(_chat("tool_calls", False), "openai-chat").stop == "error"


def test_a_turn_whose_call_broke_waits_for_its_answer() -> None:
    body = _chat("tool_calls", True)
    body["choices"][0]["message"]["tool_calls"][0] = {**CALL, "function": {"name": "now", "arguments": "[1]"}}
    response = sp.parse_response(body, "openai-chat")
    assert [call.name for call in response.broken_calls] == ["now"]
    assert response.stop == "tools"


def test_a_refusal_in_words_that_takes_calls_back_is_a_filter() -> None:
    body = _chat("tool_calls", True)
    body["choices"][0]["message"]["refusal"] = "No."
    assert sp.parse_response(body, "openai-chat").stop == "filter"


def test_an_error_of_the_server_is_an_error_whatever_came_before() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(b'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')
    parser.feed(b'data: {"error":{"message":"overloaded"}}\n\n')
    parser.close()
    assert parser.response.stop == "error"


def test_text_by_itself_ends_or_waits() -> None:
    text = sp.TextParser(["hermes"])
    text.feed("Hello.")
    text.close()
    assert text.response.stop == "end"
    call = sp.TextParser(["hermes"])
    call.feed('<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>')
    call.close()
    assert call.response.stop == "tools"


def test_a_word_that_nobody_knows_is_none() -> None:
    assert find_stop("brand_new") is None
    assert find_stop(None) is None
    assert set(STOPS.values()) == {"end", "tools", "length", "filter", "error"}


COUNTS: list[tuple[str, dict[str, Any], TokenCounts]] = [
    (
        "openai-chat",
        {
            "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 12},
        },
        TokenCounts(100, 20, 120, 64, 12),
    ),
    (
        "openai-chat, a relay with Anthropic's counts",
        {"prompt_tokens": 99, "completion_tokens": 20, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 9},
        TokenCounts(99, 20, 119, 64, 0),
    ),
    (
        "openai-chat, xAI: the thought is beside the answer",
        {
            "prompt_tokens": 46, "completion_tokens": 6, "total_tokens": 80,
            "completion_tokens_details": {"reasoning_tokens": 28},
        },
        TokenCounts(46, 34, 80, 0, 28),
    ),
    (
        "openai-chat, Mistral: sound is in the total alone",
        {"prompt_tokens": 11, "completion_tokens": 15, "total_tokens": 401, "prompt_audio_seconds": 5},
        TokenCounts(386, 15, 401),
    ),
    (
        "openai-responses",
        {
            "input_tokens": 80, "output_tokens": 48, "total_tokens": 128,
            "input_tokens_details": {"cached_tokens": 10}, "output_tokens_details": {"reasoning_tokens": 40},
        },
        TokenCounts(80, 48, 128, 10, 40),
    ),
    (
        "anthropic",
        {
            "input_tokens": 6, "cache_creation_input_tokens": 33, "cache_read_input_tokens": 62, "output_tokens": 19,
            "output_tokens_details": {"thinking_tokens": 4}, "cache_creation": {"ephemeral_5m_input_tokens": 33},
        },
        TokenCounts(101, 19, 120, 62, 4),
    ),
    (
        "bedrock-converse",
        {"inputTokens": 9, "outputTokens": 18, "totalTokens": 30, "cacheReadInputTokens": 3},
        TokenCounts(12, 18, 30, 3),
    ),
    ("bedrock, Titan", {"inputTextTokenCount": 5, "totalOutputTextTokenCount": 7}, TokenCounts(5, 7, 12)),
    ("bedrock, Llama", {"prompt_token_count": 5, "generation_token_count": 7}, TokenCounts(5, 7, 12)),
    (
        "gemini",
        {
            "promptTokenCount": 19, "toolUsePromptTokenCount": 69, "cachedContentTokenCount": 8,
            "candidatesTokenCount": 47, "thoughtsTokenCount": 117, "totalTokenCount": 252,
        },
        TokenCounts(88, 164, 252, 8, 117),
    ),
    (
        "gemini, interactions",
        {
            "total_input_tokens": 11, "total_output_tokens": 42, "total_thought_tokens": 126, "total_cached_tokens": 3,
            "total_tool_use_tokens": 0, "total_tokens": 179,
        },
        TokenCounts(11, 168, 179, 3, 126),
    ),
    ("ollama", {"prompt_eval_count": 195, "eval_count": 575, "total_duration": 9**9}, TokenCounts(195, 575, 770)),
    (
        "cohere",
        {
            "billed_units": {"input_tokens": 84, "output_tokens": 314}, "cached_tokens": 100,
            "tokens": {"input_tokens": 150, "output_tokens": 346, "reasoning_tokens": 304},
        },
        TokenCounts(150, 346, 496, 100, 304),
    ),
    ("nothing", {}, TokenCounts()),
    ("counts that are none", {"prompt_tokens": "many", "completion_tokens": -3, "total_tokens": None}, TokenCounts()),
    ("counts that have no end", {"prompt_tokens": 1e400, "completion_tokens": float("nan")}, TokenCounts()),
    (
        "what DeepSeek found in its cache",
        {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3},
        TokenCounts(9, 2, 11, 6),
    ),
    ("parts that are more than the whole", {"prompt_tokens": 5, "cached_tokens": 9}, TokenCounts(5, 0, 5, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "counts"), [case[1:] for case in COUNTS], ids=[case[0] for case in COUNTS])
def test_the_counts_of_each_server_have_one_shape(usage: dict[str, Any], counts: TokenCounts) -> None:
    assert count_tokens(usage) == counts
    assert sp.ParsedResponse(usage=json.loads(json.dumps(usage))).tokens == counts


def test_counts_add_up() -> None:
    assert TokenCounts(1, 2, 3, 1, 2) + TokenCounts(10, 20, 30, 4, 5) == TokenCounts(11, 22, 33, 5, 7)
    assert sp.ParsedResponse().tokens == TokenCounts()


def test_details_that_count_nothing_hide_no_others() -> None:
    usage = {
        "prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}, "input_tokens_details": {"cached_tokens": 2},
        "completion_tokens": 4, "completion_tokens_details": {}, "output_tokens_details": {"thinking_tokens": 3},
    }  # fmt: skip
    assert count_tokens(usage) == TokenCounts(5, 4, 9, 2, 3)
