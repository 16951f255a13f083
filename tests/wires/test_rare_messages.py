"""Messages that few servers send: what each gives, in every cut."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, plain

import streamparse as sp

NO_NAME = {"type": "error", "code": "call_without_name"}
STOPPED = {
    "id": "x",
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
}


def _chunk(**delta: Any) -> dict[str, Any]:
    return {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def _gemini(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def _step(**fields: Any) -> dict[str, Any]:
    return {"event_type": "step.start", "index": 0, "step": fields}


def _delta(**fields: Any) -> dict[str, Any]:
    return {"event_type": "step.delta", "index": 0, "delta": fields}


def _wrapped(**event: Any) -> dict[str, Any]:
    return {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}


def _cohere_call(index: int, id: str, arguments: str) -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": call}}}


def _custom(id: str, input: str) -> dict[str, Any]:
    return _chunk(tool_calls=[{"index": 0, "id": id, "type": "custom", "custom": {"name": "sql", "input": input}}])


def _custom_item(id: str, input: str) -> dict[str, Any]:
    data = {"id": id, "type": "custom", "custom": {"name": "sql", "input": input}}
    return {"type": "provider_item", "kind": "custom_tool_call", "data": data}


TEXT = {"type": "text_delta", "text": "Yes."}
COMPLETED = {"type": "response.completed", "response": {"status": "completed", "output": []}}
COHERE_TEXT = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Yes."}}}}
COMPLETE = {"event_type": "interaction.complete", "interaction": {"status": "completed"}}
STOP = {"event_type": "step.stop", "index": 0}

CASES: dict[str, tuple[str, list[Any], list[dict[str, Any]]]] = {
    "a call of Ollama without a function": (
        "ollama-chat",
        [{"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [{}]}, "done": False},
         {"model": "m", "message": {"role": "assistant", "content": "Hm."}, "done": True, "done_reason": "stop"}],
        [NO_NAME, {"type": "text_delta", "text": "Hm."}],
    ),
    "a call of Gemini without a name": (
        "gemini",
        [_gemini({"functionCall": {"args": {"a": 1}}}), _gemini({"text": "Hm."}, finishReason="STOP")],
        [NO_NAME, {"type": "text_delta", "text": "Hm."}],
    ),
    "text of an interaction in its step": (
        "gemini",
        [_step(type="model_output", content=[{"type": "text", "text": "So. "}]), _delta(type="text", text="Yes."),
         STOP, COMPLETE],
        [{"type": "text_delta", "text": "So. Yes."}],
    ),
    "an annotation of an interaction": (
        "gemini",
        [_step(type="model_output"), _delta(type="text", text="Yes.", annotations=[{"url": "u"}]), STOP, COMPLETE],
        [{"type": "text_delta", "text": "Yes."}, {"type": "provider_item", "kind": "annotation", "data": {"url": "u"}}],
    ),
    "a thought of an interaction, and the counts of its metadata": (
        "gemini",
        [_step(type="thought"), _delta(type="thought", text="So."), STOP, _step(type="model_output"),
         _delta(type="text", text="Yes.") | {"metadata": {"usage": {"total_tokens": 3}}}, STOP,
         {"event_type": "interaction.complete", "interaction": {"status": "completed"}, "metadata": {}}],
        [{"type": "reasoning_delta", "text": "So."}, TEXT],
    ),
    "pieces of an interaction that say what the signatures and the annotations say": (
        "gemini",
        [_step(type="model_output"), _delta(type="thought_signature"), _delta(type="text_annotation"),
         _delta(type="text", text="Yes."), STOP, COMPLETE],
        [TEXT],
    ),
    "an item of an interaction in no step of its own": (
        "gemini",
        [_step(type="model_output"), _delta(type="image", name="n"), _delta(type="text", text="Yes."), STOP, COMPLETE],
        [{"type": "provider_item", "kind": "image"}, {"type": "text_delta", "text": "Yes."}],
    ),
    "arguments of an interaction that belong to no call": (
        "gemini",
        [_step(type="model_output"), _delta(type="arguments_delta", arguments="{}"), _delta(type="text", text="Yes."),
         STOP, COMPLETE],
        [{"type": "error", "code": "orphan_arguments"}, {"type": "text_delta", "text": "Yes."}],
    ),
    "a call of an interaction without a name": (
        "gemini",
        [_step(type="model_output"), _delta(type="function_call", arguments={"a": 1}), _delta(type="text", text="Yes."),
         STOP, COMPLETE],
        [NO_NAME, {"type": "text_delta", "text": "Yes."}],
    ),
    "a step that the server takes, in pieces": (
        "gemini",
        [_step(type="search_call", id="s", content=["a"], text="x"),
         _delta(type="search_call", content=["b"], text="y"),
         _delta(type="search_call", text="z"), STOP,
         _step(type="model_output"), _delta(type="text", text="Yes."), STOP, COMPLETE],
        [{"type": "provider_item", "kind": "search_call",
          "data": {"type": "search_call", "id": "s", "content": ["a", "b"], "text": "xyz"}},
         {"type": "text_delta", "text": "Yes."}],
    ),
    "a list of parts in a chat": (
        "openai-chat",
        [_chunk(content=[{"type": "text", "text": "So. "}, {"type": "reference", "reference_ids": [1]}]),
         _chunk(content="Yes."), STOPPED],
        [{"type": "text_delta", "text": "So. "}, {"type": "provider_item", "kind": "reference"},
         {"type": "text_delta", "text": "Yes."}],
    ),
    "a call of Cohere on Bedrock without a name, and a citation": (
        "bedrock-converse",
        [_wrapped(event_type="tool-calls-generation", tool_calls=[{"parameters": {}}]),
         _wrapped(event_type="text-generation", text="Yes.", citations=[{"start": 0}]),
         _wrapped(event_type="stream-end", finish_reason="COMPLETE")],
        [NO_NAME, {"type": "text_delta", "text": "Yes."},
         {"type": "provider_item", "kind": "citation", "data": {"start": 0}}],
    ),
    "a prompt of Gemini that was refused with words": (
        "gemini",
        [{"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "No."}}],
        [{"type": "error", "code": "provider_error"}],
    ),
    "a step of an interaction that is not there": (
        "gemini",
        [{"event_type": "step.start", "index": 0}, _delta(type="text", text="Yes."), STOP, COMPLETE],
        [TEXT],
    ),
    "arguments of a call of an interaction that began without a name": (
        "gemini",
        [_step(type="function_call", id="c"), _delta(type="arguments_delta", arguments="{}"),
         _delta(type="text", text="Yes."), STOP, COMPLETE],
        [NO_NAME, {"type": "error", "code": "orphan_arguments"}, TEXT],
    ),
    "a call of an interaction that began without a name, with its arguments": (
        "gemini",
        [_step(type="function_call", id="c", arguments={"a": 1}), STOP, _step(type="model_output"),
         _delta(type="text", text="Yes."), STOP, COMPLETE],
        [NO_NAME, TEXT],
    ),
    "a dump of Gemini in an envelope": (
        "gemini",
        [{"response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]},
                                       "finish_reason": "STOP"}],
                       "usage_metadata": {"total_token_count": 3}}}],
        [TEXT],
    ),
    "a thought that the content repeats up to its end": (
        "openai-chat",
        [_chunk(reasoning_content="So.", content="<think>So.</think>"), _chunk(content="Yes."), STOPPED],
        [{"type": "reasoning_delta", "text": "So."}, TEXT],
    ),
    "a thought beside a list of parts": (
        "openai-chat",
        [_chunk(reasoning_content="So.", content=[{"type": "text", "text": "Yes."}]), STOPPED],
        [{"type": "reasoning_delta", "text": "So."}, TEXT],
    ),
    "a thought that is one text among parts, one of which is empty": (
        "openai-chat",
        [_chunk(content=[{"type": "thinking", "thinking": "So."}, {"type": "text", "text": ""},
                         {"type": "text", "text": "Yes."}]), STOPPED],
        [{"type": "reasoning_delta", "text": "So."}, TEXT],
    ),
    "another custom call at the same place": (
        "openai-chat",
        [_custom("a", "1"), _custom("b", "2"), _chunk(content="Yes."), STOPPED],
        [_custom_item("a", "1"), TEXT, _custom_item("b", "2")],
    ),
    "contents of Snowflake that are no calls": (
        "openai-chat",
        [_chunk(content_list=[{"type": "image", "url": "u"}, {"type": "text", "text": "Yes."}]), STOPPED],
        [{"type": "provider_item", "kind": "image", "data": {"type": "image", "url": "u"}}, TEXT],
    ),
    "a call of Snowflake that begins without input": (
        "openai-chat",
        [_chunk(tool_use_id="c", name="f"), _chunk(input='{"a": 1}'), STOPPED],
        [{"type": "tool_call_start", "id": "c", "name": "f"}, {"type": "tool_call_delta", "arguments": '{"a": 1}'},
         {"type": "tool_call_complete", "id": "c", "arguments": {"a": 1}}],
    ),
    "a call of Snowflake without an id": (
        "openai-chat",
        [_chunk(name="f", input={"a": 1}), STOPPED],
        [{"type": "tool_call_start", "name": "f"}, {"type": "tool_call_delta", "arguments": '{"a": 1}'},
         {"type": "tool_call_complete", "arguments": {"a": 1}}],
    ),
    "contents of Snowflake of another kind": (
        "openai-chat",
        [_chunk(content_list=["x", {"text": "Yes."}, {"type": "text"}]), STOPPED],
        [TEXT],
    ),
    "an error of a choice that has no finish reason": (
        "openai-chat",
        [_chunk(content="Yes."), {"choices": [{"index": 0, "delta": {}, "error": {"message": "down", "code": 502}}]}],
        [TEXT, {"type": "error", "code": "provider_error", "message": "502: down"}],
    ),
    "a signature of no call": (
        "openai-chat",
        [_chunk(tool_calls=[{"index": 0, "extra_content": {"google": {"thought_signature": "s"}}}]),
         _chunk(content="Yes."), STOPPED],
        [{"type": "provider_item", "kind": "extra_content", "data": {"google": {"thought_signature": "s"}}}, TEXT],
    ),
    "a thought of Responses without an id": (
        "openai-responses",
        [{"type": "response.output_item.done", "output_index": 0,
          "item": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "So."}]}},
         {"type": "response.output_text.delta", "delta": "Yes."}, COMPLETED],
        [{"type": "reasoning_delta", "text": "So."}, TEXT],
    ),
    "an annotation of Responses that is null": (
        "openai-responses",
        [{"type": "response.output_text.delta", "delta": "Yes."},
         {"type": "response.output_text.annotation.added", "annotation": None}, COMPLETED],
        [TEXT],
    ),
    "an error of a web framework behind the first events of Responses": (
        "openai-responses",
        [{"type": "response.output_text.delta", "delta": "Yes."}, {"detail": "Not Found"}],
        [TEXT, {"type": "error", "code": "provider_error", "message": "Not Found"}],
    ),
    "the end of a call of Cohere that did not begin": (
        "cohere",
        [COHERE_TEXT, {"type": "tool-call-end", "index": 3},
         {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}],
        [TEXT],
    ),
    "a second call of Cohere without arguments, behind which the model moved on": (
        "cohere",
        [_cohere_call(0, "a", "{}"), _cohere_call(1, "b", ""), {"type": "tool-call-end", "index": 1},
         _cohere_call(2, "c", "{"), {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}}],
        [{"type": "tool_call_start", "id": "a"}, {"type": "tool_call_delta", "arguments": "{}", "index": 0},
         {"type": "tool_call_complete", "id": "a"}, {"type": "tool_call_start", "id": "b"},
         {"type": "tool_call_delta", "arguments": "{}", "index": 1}, {"type": "tool_call_complete", "id": "b"},
         {"type": "tool_call_start", "id": "c"}, {"type": "error", "code": "truncated_call", "index": 2}],
    ),
    "an error of Cohere of a type": (
        "cohere",
        [COHERE_TEXT, {"type": "quota", "message": "too many requests"}],
        [TEXT, {"type": "error", "code": "provider_error", "message": "quota: too many requests"}],
    ),
    "an error of Responses that is a message alone": (
        "openai-responses",
        [{"type": "response.output_text.delta", "delta": "Yes."}, {"message": "too many requests"}],
        [TEXT, {"type": "error", "code": "provider_error", "message": "too many requests"}],
    ),
    "an error of Cohere that is a message alone": (
        "cohere",
        [COHERE_TEXT, {"message": "too many requests"}],
        [TEXT, {"type": "error", "code": "provider_error", "message": "too many requests"}],
    ),
    "a call of Converse without an id": (
        "bedrock-converse",
        [{"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"name": "f"}}}},
         {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}},
         {"contentBlockStop": {"contentBlockIndex": 0}}, {"messageStop": {"stopReason": "tool_use"}}],
        [{"type": "tool_call_start", "id": "call_0"}, {"type": "tool_call_delta"},
         {"type": "tool_call_complete", "id": "call_0", "arguments": {}}],
    ),
    "an exception of Converse that is a text": (
        "bedrock-converse",
        [{"throttlingException": "slow down"}],
        [{"type": "error", "code": "provider_error", "message": "throttlingException: throttlingException"}],
    ),
    "an answer of Converse without a message": (
        "bedrock-converse",
        [{"output": {}, "stopReason": "end_turn"}],
        [],
    ),
    "edits of the context of Anthropic, of which there are none": (
        "anthropic",
        [{"type": "message_start", "message": {"content": []}},
         {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "context_management": {"applied_edits": []}},
         {"type": "message_delta", "delta": {}, "context_management": {"applied_edits": [1], "more": []}},
         {"type": "message_stop"}],
        [{"type": "provider_item", "kind": "context_management", "data": {"applied_edits": [1], "more": []}}],
    ),
    "a tool of the server in a whole answer of Converse": (
        "bedrock-converse",
        [{"output": {"message": {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "s", "name": "search", "input": {"q": 1}, "type": "server_tool_use"}},
            {"text": "Yes."}]}}, "stopReason": "end_turn"}],
        [{"type": "provider_item", "kind": "server_tool_use",
          "data": {"toolUseId": "s", "name": "search", "input": {"q": 1}, "type": "server_tool_use"}}, TEXT],
    ),
    "text on Bedrock that names the field of the metrics": (
        "bedrock-converse",
        [_wrapped(event_type="text-generation", text="See amazon-bedrock-invocationMetrics."),
         _wrapped(event_type="stream-end", finish_reason="COMPLETE")],
        [{"type": "text_delta", "text": "See amazon-bedrock-invocationMetrics."}],
    ),
}  # fmt: skip


def _body(wire: str, messages: list[Any]) -> bytes:
    lines = [json.dumps(message) for message in messages]
    return "".join(f"{line}\n" if wire == "ollama-chat" else f"data: {line}\n\n" for line in lines).encode()


@pytest.mark.parametrize("case", CASES)
def test_a_rare_message_gives_what_stands_beside_it(case: str) -> None:
    wire, messages, expected = CASES[case]
    events = plain(assert_same_in_every_cut(lambda: sp.StreamParser(wire), _body(wire, messages)))
    assert [event["type"] for event in events] == [*(event["type"] for event in expected), "done"]
    for event, parts in zip(events, expected, strict=False):
        assert {key: event[key] for key in parts} == parts


def test_a_step_of_the_server_that_the_end_of_the_body_cuts_is_sent_as_far_as_it_came() -> None:
    parser = sp.StreamParser("gemini")
    parser.feed(_body("gemini", [_step(type="search_call", id="s", text="x"), _delta(type="search_call", text="y")]))
    assert plain(parser.close())[0]["data"] == {"type": "search_call", "id": "s", "text": "xy"}


def test_a_step_of_the_server_that_grows_beyond_the_limit_is_an_error_and_the_text_goes_on() -> None:
    pieces = [_delta(type="search_call", text="y" * 60)] * 3
    ending = [STOP, _step(type="model_output"), _delta(type="text", text="Yes."), STOP, COMPLETE]
    body = _body("gemini", [_step(type="search_call", text="x"), *pieces, *ending])
    events = plain(
        assert_same_in_every_cut(lambda: sp.StreamParser("gemini", limits=sp.Limits(max_call_args=100)), body)
    )
    assert [(event["type"], event.get("code")) for event in events[:-1]] == [
        ("error", "limit_args"),
        ("text_delta", None),
    ]


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "ollama-chat", "openai-chat", "openai-responses"])
def test_a_frame_that_is_too_deep_to_read_is_an_error_where_depth_has_no_limit(wire: str) -> None:
    parser = sp.StreamParser(wire, limits=sp.Limits(max_depth=None))
    body = '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    events = parser.feed(body if wire == "ollama-chat" else f"data: {body}\n")
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["json_depth"]


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        ("gemini", '{"event_type": "step.delta", "index": 0, "delta": {"type": "thought", "content": %s}}'),
        ("gemini", '{"event_type": "step.start", "index": 0, "step": {"type": "thought", "content": %s}}'),
        ("openai-responses", '{"type": "response.output_text.annotation.added", "annotation": %s}'),
    ],
)
def test_a_value_of_any_depth_is_read_or_is_an_error(wire: str, message: str) -> None:
    for depth in [*range(100, 900, 100), *range(900, 1000)]:
        parser = sp.StreamParser(wire)
        events = [*parser.feed(f"data: {message % ('[' * depth + ']' * depth)}\n\n"), *parser.close()]
        assert isinstance(events[-1], sp.Done)
