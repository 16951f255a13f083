"""The assistant's turn goes back with everything that the provider wants returned, in its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import parsed

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS

THINKING = {"type": "thinking", "thinking": "I look twice.", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "ZW5j"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Bern"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]}
CITATION = {"type": "web_search_result_location", "url": "https://example.org", "encrypted_index": "aW5k"}
SAID = {"type": "text", "text": "It is mild.", "citations": [CITATION]}
AGAIN = {"type": "thinking", "thinking": "And once more.", "signature": "bW9yZQ=="}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Bern", "days": [1, 2]}}
NEXT = {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}
CONTENT = [THINKING, REDACTED, SEARCH, FOUND, SAID, AGAIN, CALL, NEXT]


def anthropic(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}


def _pieces(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """The deltas that a block comes in."""
    match block["type"]:
        case "thinking":
            half = len(block["thinking"]) // 2
            return [
                {"type": "thinking_delta", "thinking": block["thinking"][:half]},
                {"type": "thinking_delta", "thinking": block["thinking"][half:]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "text":
            cited = [{"type": "citations_delta", "citation": each} for each in block.get("citations", ())]
            return [{"type": "text_delta", "text": each} for each in block["text"]] + cited
        case _:
            return []


def streamed(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of a stream of these blocks."""
    empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": "", "citations": []}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"content": []}}]
    for index, block in enumerate(content):
        start = {**block, **empty.get(block["type"], {})}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": each} for each in _pieces(index, block)]
        events.append({"type": "content_block_stop", "index": index})
    return [*events, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


def test_blocks_of_anthropic_come_back_in_order_with_signatures_and_citations() -> None:
    response = parsed(anthropic(CONTENT), wire="anthropic")
    assert sp.as_message(response, "anthropic") == {"role": "assistant", "content": CONTENT}


def test_blocks_of_anthropic_come_back_from_a_stream_as_from_a_whole_message() -> None:
    response = parsed(*streamed(CONTENT), wire="anthropic")
    assert sp.as_message(response, "anthropic") == {"role": "assistant", "content": CONTENT}


def test_a_thought_that_is_not_shown_comes_back_with_its_signature() -> None:
    hidden = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    response = parsed(*streamed([hidden, CALL]), wire="anthropic")
    assert sp.as_message(response, "anthropic")["content"] == [hidden, CALL]


def test_text_of_blanks_alone_and_thought_without_a_signature_are_not_sent_to_anthropic() -> None:
    unsigned = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    response = parsed(anthropic([unsigned, {"type": "text", "text": "\n\n"}, CALL]), wire="anthropic")
    assert sp.as_message(response, "anthropic")["content"] == [CALL]


def test_the_same_answer_speaks_every_providers_language() -> None:
    response = parsed(anthropic(CONTENT), wire="anthropic")
    for name, adapter in ADAPTERS.items():
        message = sp.as_message(response, name)
        (turn,) = adapter.read_messages(message if isinstance(message, list) else [message])
        assert [(call.id, call.name, call.arguments) for call in turn.calls] == [
            (adapter.traits.ids.normalize(call.id), call.name, call.arguments) for call in response.tool_calls
        ]
        assert turn.text == "It is mild."


GEMINI_PARTS = [
    {"text": "Two tools.", "thought": True},
    {"text": "Let me see.", "thoughtSignature": "dGV4dA=="},
    {"functionCall": {"id": "a", "name": "get_weather", "args": {"city": "Bern"}}, "thoughtSignature": "Y2FsbA=="},
    {"functionCall": {"id": "b", "name": "now", "args": {}}},
    {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
    {"text": "Done."},
    {"text": "", "thoughtSignature": "ZW5k"},
]


def test_signatures_of_gemini_come_back_on_the_parts_they_came_with() -> None:
    body = {"candidates": [{"content": {"parts": GEMINI_PARTS}, "finishReason": "STOP", "index": 0}]}
    response = parsed(body, wire="gemini")
    assert sp.as_message(response, "gemini") == {"role": "model", "parts": GEMINI_PARTS}


def _gemini_stream(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]


def test_a_text_of_gemini_that_is_signed_is_not_joined_to_one_that_is_not() -> None:
    plain, more = {"text": "Let me "}, {"text": "think: "}
    signed, end = {"text": "mild.", "thoughtSignature": "c2ln"}, {"text": "", "thoughtSignature": "ZW5k"}
    response = parsed(*_gemini_stream(plain, more, signed, {"text": "Yes."}, end), wire="gemini")
    assert response.content == "Let me think: mild.Yes."
    assert sp.as_message(response, "gemini")["parts"] == [{"text": "Let me think: "}, signed, {"text": "Yes."}, end]


def test_a_thought_of_gemini_that_is_signed_keeps_its_signature() -> None:
    thought = {"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"}
    response = parsed(*_gemini_stream({"text": "So, ", "thought": True}, thought, {"text": "Yes."}), wire="gemini")
    assert sp.as_message(response, "gemini")["parts"] == [{"text": "So, ", "thought": True}, thought, {"text": "Yes."}]


def test_the_signatures_of_a_history_at_gemini_stay_on_their_parts() -> None:
    message = {"role": "model", "parts": GEMINI_PARTS}
    gemini = ADAPTERS["gemini"]
    assert gemini.write_messages(gemini.read_messages([message]), []) == [message]


def test_a_part_of_gemini_that_is_a_signature_alone_is_no_text_elsewhere() -> None:
    response = parsed(*_gemini_stream({"text": "Yes."}, {"text": "", "thoughtSignature": "ZW5k"}), wire="gemini")
    assert sp.as_message(response, "anthropic")["content"] == [{"type": "text", "text": "Yes."}]
    assert sp.as_message(response, "openai-responses") == [{"type": "message", "role": "assistant", "content": "Yes."}]


def test_signatures_of_gemini_find_their_calls_also_without_an_order() -> None:
    body = {"candidates": [{"content": {"parts": GEMINI_PARTS}, "finishReason": "STOP", "index": 0}]}
    response = parsed(body, wire="gemini")
    response.order = []
    calls = [part for part in sp.as_message(response, "gemini")["parts"] if "functionCall" in part]
    assert calls == GEMINI_PARTS[2:4]


def test_a_signature_behind_a_thought_of_gemini_has_a_part_of_its_own() -> None:
    parts = [{"text": "Hm.", "thought": True}, {"text": "", "thoughtSignature": "c2ln"}]
    body = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    assert sp.as_message(parsed(body, wire="gemini"), "gemini")["parts"] == parts


def test_a_signature_of_code_that_gemini_ran_comes_back_on_the_code() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"}
    outcome = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    body = {"candidates": [{"content": {"parts": [code, outcome]}, "finishReason": "STOP"}]}
    assert sp.as_message(parsed(body, wire="gemini"), "gemini")["parts"] == [code, outcome]


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "eA==",
}
WEB = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "Bern"}}


def test_items_of_responses_come_back_whole_and_in_order() -> None:
    more = {**REASONING, "id": "rs_2", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_x", "name": "now", "arguments": '{ "zone": "CET" }'}
    message = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "One moment."}]}
    body = {"object": "response", "id": "r", "status": "completed", "output": [REASONING, WEB, message, more, call]}
    assert sp.as_message(parsed(body, wire="openai-responses"), "openai-responses") == [
        REASONING,
        WEB,
        {"type": "message", "role": "assistant", "content": "One moment."},
        more,
        {"type": "function_call", "call_id": "call_x", "name": "now", "arguments": '{ "zone": "CET" }'},
    ]


def _chat(message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "tool_calls"}
    return {"object": "chat.completion", "choices": [choice]}


CHAT_CALL = {"id": "call_9", "type": "function", "function": {"name": "now", "arguments": '{"zone":  "CET"}'}}


def test_arguments_go_back_letter_by_letter_as_the_model_wrote_them() -> None:
    response = parsed(_chat({"content": None, "tool_calls": [CHAT_CALL]}), wire="openai-chat")
    assert sp.as_message(response, "openai") == {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}


def test_thought_goes_back_to_who_wants_it_and_to_no_one_else() -> None:
    response = parsed(_chat({"content": "Yes.", "reasoning_content": "Hm."}), wire="openai-chat")
    assert sp.as_message(response, "openai") == {"role": "assistant", "content": "Yes."}
    assert sp.as_message(response, "deepseek") == {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    assert sp.as_message(response, "ollama") == {"role": "assistant", "content": "Yes.", "thinking": "Hm."}


def test_reasoning_details_of_openrouter_come_back_whole_from_pieces() -> None:
    encrypted = {
        "type": "reasoning.encrypted",
        "data": "eA==",
        "id": "rs_1",
        "format": "openai-responses-v1",
        "index": 1,
    }
    pieces = [
        [{"type": "reasoning.text", "text": "I look ", "index": 0}],
        [{"type": "reasoning.text", "text": "twice.", "index": 0}],
        [{"type": "reasoning.text", "signature": "c2ln", "index": 0}],
        [encrypted],
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"reasoning_details": details}}]} for details in pieces]
    end = {
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **CHAT_CALL}]}, "finish_reason": "tool_calls"}]
    }
    message = sp.as_message(parsed(*chunks, end, wire="openai-chat"), "openrouter")
    signed, sealed = message["reasoning_details"]
    assert (signed["type"], signed["text"], signed["signature"]) == ("reasoning.text", "I look twice.", "c2ln")
    assert (sealed["data"], sealed["id"]) == ("eA==", "rs_1")
    assert message["reasoning"] == "I look twice."


def test_the_plan_of_cohere_goes_back_beside_its_calls() -> None:
    message = {"role": "assistant", "tool_plan": "I ask the clock.", "tool_calls": [CHAT_CALL]}
    response = parsed({"id": "1", "message": message, "finish_reason": "TOOL_CALL"}, wire="cohere")
    assert sp.as_message(response, "cohere") == message


def test_blocks_of_bedrock_come_back_in_order() -> None:
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eA=="}},
        {"text": "One moment."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "now", "input": {"zone": "CET"}}},
    ]
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}
    assert sp.as_message(parsed(body, wire="bedrock-converse"), "bedrock") == {"role": "assistant", "content": content}


def test_a_minted_id_is_the_same_in_the_call_and_in_its_result() -> None:
    call = {"function": {"name": "now", "arguments": {}}}
    line = {
        "message": {"role": "assistant", "content": "", "tool_calls": [call, call]},
        "done": True,
        "done_reason": "stop",
    }
    response = parsed(line, wire="ollama-chat")
    results = [sp.ToolResult(call.id, call.name, "noon", index=call.index) for call in response.tool_calls]
    for provider, adapter in ADAPTERS.items():
        message = sp.as_message(response, provider)
        (turn,) = adapter.read_messages(message if isinstance(message, list) else [message])
        back = adapter.read_results(adapter.format_results(results))
        assert [call.id for call in turn.calls] == [result.call_id for result in back]
        assert len({call.id for call in turn.calls}) == 2


def test_calls_in_the_text_go_back_as_native_ones() -> None:
    text = 'So be it.\n<tool_call>\n{"name": "now", "arguments": {"zone": "CET"}}\n</tool_call>'
    response = parsed(_chat({"content": text}), wire="openai-chat")
    message = sp.as_message(response, "openai")
    assert message["content"].strip() == "So be it."
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["now"]


def test_calls_that_were_taken_back_do_not_go_back() -> None:
    chunk = {
        "choices": [
            {"index": 0, "delta": {"tool_calls": [{"index": 0, **CHAT_CALL}]}, "finish_reason": "content_filter"}
        ]
    }
    response = parsed(chunk, wire="openai-chat")
    assert response.tool_calls[0].revoked
    assert sp.as_message(response, "openai") == {"role": "assistant", "content": ""}


def test_a_refusal_goes_back_as_the_text_that_it_is() -> None:
    response = parsed(_chat({"content": None, "refusal": "I would rather not."}), wire="openai-chat")
    assert sp.as_message(response, "openai") == {"role": "assistant", "content": "I would rather not."}


MARKUP = {"type": "text", "text": 'So.\n<tool_call>{"name": "now", "arguments": {}}</tool_call> Well. '}
IN_TEXT = [THINKING, MARKUP, CALL]


@pytest.mark.parametrize("content", [CONTENT, IN_TEXT])
def test_the_order_of_an_answer_does_not_depend_on_how_its_bytes_are_cut(content: list[dict[str, Any]]) -> None:
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in streamed(content))
    turns = []
    for size in (len(body), 1, 7):
        parser = sp.StreamParser("anthropic")
        for at in range(0, len(body), size):
            parser.feed(body[at : at + size])
        parser.close()
        turns.append((parser.response.order, sp.as_message(parser.response, "anthropic")))
    assert turns[0] == turns[1] == turns[2]


def test_an_answer_without_an_order_has_thought_then_text_then_calls() -> None:
    response = sp.ParsedResponse(content="Yes.", reasoning="Hm.", tool_calls=[sp.ToolCall("now", {}, "c1")])
    parts = sp.as_message(response, "gemini")["parts"]
    assert [next(iter(part)) for part in parts] == ["text", "text", "functionCall"]
    assert parts[0] == {"text": "Hm.", "thought": True}


def test_an_unknown_provider_raises_and_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"unknown provider 'klingon'; .*known are: openai, openai-responses"):
        sp.as_message(sp.ParsedResponse(), "klingon")
