"""The assistant's turn sent back, block by block: what is cited, what belongs to which entry, what begins where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import parsed

import streamparse as sp
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, translate_messages
from streamparse.providers.emitters import EMITTERS
from streamparse.writing.parts import Item, Message, Text, Thought

CITE = {"type": "char_location", "cited_text": "The lake is cold.", "document_index": 0}
MORE = {"type": "char_location", "cited_text": "In May.", "document_index": 1}
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "By the guide, "},
    {"type": "text", "text": "the lake is cold", "citations": [CITE, MORE]},
    {"type": "text", "text": ", and "},
    {"type": "text", "text": "so is May", "citations": [MORE]},
]


def _stream(blocks: list[dict[str, Any]], citations_first: bool) -> bytes:
    """The blocks as Anthropic streams them, its citations before or behind the text of their block."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"content": []}}]
    for index, block in enumerate(blocks):
        cites = [{"type": "citations_delta", "citation": each} for each in block.get("citations", ())]
        texts = [{"type": "text_delta", "text": each} for each in block["text"].partition(" ") if each]
        deltas = [*cites, *texts] if citations_first else [*texts, *cites]
        events.append({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def _whole(blocks: list[dict[str, Any]]) -> bytes:
    return json.dumps({"type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}).encode()


BODIES = {"before": _stream(BLOCKS, True), "behind": _stream(BLOCKS, False), "whole": _whole(BLOCKS)}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_citations_go_back_on_the_text_that_they_came_with(body: bytes, size: int) -> None:
    parser = sp.StreamParser("anthropic", dialects=())
    for at in range(0, len(body), size):
        parser.feed(body[at : at + size])
    parser.close()
    assert sp.as_message(parser.response, "anthropic") == {"role": "assistant", "content": BLOCKS}
    assert parser.response.content == "".join(block["text"] for block in BLOCKS)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_emitted_answer_has_each_citation_on_its_text(body: bytes) -> None:
    parser = sp.StreamParser("anthropic", dialects=())
    emitter = EMITTERS["anthropic"](model="m")
    again = b"".join(emitter.emit(event) for event in [*parser.feed(body), *parser.close()])
    assert sp.as_message(sp.parse_response(again, "anthropic"), "anthropic")["content"] == BLOCKS
    assert json.loads(EMITTERS["anthropic"](model="m").whole(parser.response))["content"] == BLOCKS


def test_a_turn_with_citations_is_read_and_written_alike() -> None:
    message = {"role": "assistant", "content": BLOCKS}
    anthropic = ADAPTERS["anthropic"]
    assert anthropic.write_messages(anthropic.read_messages([message]), []) == [message]


def test_the_block_that_marks_a_fallback_stays_in_its_place() -> None:
    hop = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}
    content: list[dict[str, Any]] = [{"type": "text", "text": "One."}, hop, {"type": "text", "text": "Two."}]
    assert sp.as_message(sp.parse_response(_whole(content), "anthropic"), "anthropic")["content"] == content


# -- chat completions ----------------------------------------------------------------------------------


def _chat(message: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    return {"object": "chat.completion", "choices": [choice]}


def _chunks(*deltas: dict[str, Any]) -> list[dict[str, Any]]:
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


SIGNED = {"google": {"thought_signature": "c2ln"}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": '{"zone": "CET"}'}}


@pytest.mark.parametrize("provider", ["openai", "openrouter", "deepseek"])
@pytest.mark.parametrize(
    "extra", [{"extra_content": SIGNED}, {"provider_specific_fields": {"thought_signature": "c2ln"}}]
)
def test_googles_signature_goes_back_beside_its_call(provider: str, extra: dict[str, Any]) -> None:
    call = {**CALL, **extra}
    whole = parsed(_chat({"tool_calls": [call]}, "tool_calls"), wire="openai-chat")
    pieces = parsed(*_chunks({"tool_calls": [{**call, "index": 0}]}), wire="openai-chat")
    for response in (whole, pieces):
        assert sp.as_message(response, provider)["tool_calls"] == [call]
        assert sp.as_message(response, "gemini")["parts"][0]["thoughtSignature"] == "c2ln"
        again = json.loads(EMITTERS["openai-chat"](model="m").whole(response))
        assert again["choices"][0]["message"]["tool_calls"] == [call]
    assert ADAPTERS["openai"].read_messages([{"role": "assistant", "tool_calls": [call]}])[0].parts[-1].index == 0


def test_calls_of_tools_that_take_text_go_back_among_the_calls() -> None:
    custom = {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    message = {"role": "assistant", "content": None, "tool_calls": [CALL, custom]}
    response = parsed(_chat({"tool_calls": [CALL, custom]}, "tool_calls"), wire="openai-chat")
    openai = ADAPTERS["openai"]
    assert sp.as_message(response, "openai") == message
    assert openai.write_messages(openai.read_messages([message]), []) == [message]
    assert [call.name for call in openai.read_messages([message])[0].calls] == ["now"]


def test_a_spoken_answer_goes_back_by_its_id() -> None:
    spoken = {"id": "audio_1", "data": "AA==", "transcript": "Hello.", "expires_at": 1}
    pieces = ({"audio": {"id": "audio_1"}}, {"audio": {"data": "AA=="}}, {"audio": {"transcript": "Hello."}})
    expected = {"role": "assistant", "audio": {"id": "audio_1"}}
    assert sp.as_message(parsed(_chat({"audio": spoken}), wire="openai-chat"), "openai") == expected
    assert sp.as_message(parsed(*_chunks(*pieces), wire="openai-chat"), "openai") == expected


LITELLM = [
    {"type": "thinking", "thinking": "First.", "signature": "czE="},
    {"type": "redacted_thinking", "data": "eA=="},
    {"type": "thinking", "thinking": "Second.", "signature": "czI="},
]


def test_the_signed_thoughts_of_litellm_go_back_to_it_and_to_anthropic() -> None:
    message = {"content": "Yes.", "reasoning_content": "First.Second.", "thinking_blocks": LITELLM}
    response = parsed(_chat(message), wire="openai-chat")
    assert sp.as_message(response, "openai")["thinking_blocks"] == LITELLM
    assert sp.as_message(response, "anthropic")["content"] == [*LITELLM, {"type": "text", "text": "Yes."}]
    assert "thinking_blocks" not in sp.as_message(response, "mistral")


def test_a_signed_thought_of_litellm_is_whole_again_from_its_pieces() -> None:
    thought = [{"reasoning_content": each, "thinking_blocks": [{**LITELLM[0], "thinking": each, "signature": ""}]}
               for each in ("Fi", "rst")]  # fmt: skip
    end = {"reasoning_content": ".", "thinking_blocks": [{**LITELLM[0], "thinking": "."}]}
    response = parsed(*_chunks(*thought, end, {"content": "Yes."}), wire="openai-chat")
    assert sp.as_message(response, "openai")["thinking_blocks"] == LITELLM[:1]
    assert sp.as_message(response, "anthropic")["content"] == [LITELLM[0], {"type": "text", "text": "Yes."}]


def test_the_sealed_thought_of_copilot_goes_back_to_it_with_its_text() -> None:
    sealed = {"reasoning_text": "A plan.", "reasoning_opaque": "c2VhbA=="}
    expected = {"role": "assistant", "content": "Yes.", **sealed}
    seal = {"reasoning_opaque": "c2VhbA=="}
    deltas = ({"reasoning_text": "A pl"}, {"reasoning_text": "an."}, seal, {"content": "Yes."})
    openai = ADAPTERS["openai"]
    whole = parsed(_chat({"content": "Yes.", **sealed}), wire="openai-chat")
    pieces = parsed(*_chunks(*deltas), wire="openai-chat")
    for response in (whole, pieces):
        assert sp.as_message(response, "openai") == expected
        assert "c2VhbA==" not in str(sp.as_message(response, "anthropic"))
        again = json.loads(EMITTERS["openai-chat"](model="m").whole(response))["choices"][0]["message"]
        assert (again["reasoning_content"], again["reasoning_opaque"]) == ("A plan.", "c2VhbA==")
    assert openai.write_messages(openai.read_messages([expected]), []) == [expected]


def test_of_two_sealed_thoughts_in_one_message_the_last_goes_back() -> None:
    one, two = Item("reasoning_opaque", "MQ=="), Item("reasoning_opaque", "Mg==")
    message = Message("assistant", [Thought("One."), one, Thought("Two."), two, Text("Yes.")])
    (written,) = ADAPTERS["openai"].write_messages([message], [])
    assert (written["reasoning_text"], written["reasoning_opaque"]) == ("Two.", "Mg==")


DETAILS = [
    {"type": "reasoning.summary", "summary": "A plan.", "format": "openai-responses-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "eA==", "id": "rs_1", "format": "openai-responses-v1", "index": 0},
    {"type": "reasoning.text", "text": "A thought.", "format": "unknown", "index": 1},
    {"type": "reasoning.text", "text": "A vow.", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 2},
]


def _in_pieces(detail: dict[str, Any]) -> list[dict[str, Any]]:
    """An entry as it is streamed: its text in two pieces, then its signature; one that is encrypted at once."""
    field = next((name for name in ("text", "summary") if name in detail), None)
    if field is None:
        return [detail]
    head = {key: value for key, value in detail.items() if key not in (field, "signature")}
    texts = [{**head, field: detail[field][:3]}, {**head, field: detail[field][3:]}]
    return [*texts, *([{**head, "signature": detail["signature"]}] if "signature" in detail else [])]


def _said(detail: dict[str, Any]) -> str:
    return str(detail.get("text") or detail.get("summary") or "")


@pytest.mark.parametrize("beside", [True, False])
def test_the_entries_of_openrouters_thought_go_back_unmodified(beside: bool) -> None:
    entries = [{"reasoning_details": [piece], **({"reasoning": _said(piece) or None} if beside else {})}
               for detail in DETAILS for piece in _in_pieces(detail)]  # fmt: skip
    whole = _chat({"content": "Yes.", "reasoning": "".join(map(_said, DETAILS)), "reasoning_details": DETAILS})
    for response in (
        parsed(*_chunks(*entries, {"content": "Yes."}), wire="openai-chat"),
        parsed(whole, wire="openai-chat"),
    ):
        assert response.reasoning == "".join(map(_said, DETAILS))
        message = sp.as_message(response, "openrouter")
        assert message["reasoning_details"] == DETAILS
        assert (message["reasoning"], message["content"]) == (response.reasoning, "Yes.")


def test_thought_before_text_stays_before_it_whatever_follows() -> None:
    open_entry = {"type": "reasoning.text", "text": "A thought.", "index": 0}
    sealed = {"type": "reasoning.encrypted", "data": "eA==", "index": 1}
    deltas = ({"reasoning_details": [open_entry]}, {"content": "Yes."}, {"reasoning_details": [sealed]})
    parts = sp.as_message(parsed(*_chunks(*deltas), wire="openai-chat"), "gemini")["parts"]
    assert [part["text"] for part in parts] == ["A thought.", "Yes."]


def test_the_entries_of_openrouters_thought_reach_a_client_of_the_same_wire() -> None:
    entries = [{"reasoning_details": [piece]} for detail in DETAILS for piece in _in_pieces(detail)]
    parser = sp.StreamParser("openai-chat", dialects=())
    events = [event for chunk in _chunks(*entries, {"content": "Yes."}) for event in parser.feed(chunk)]
    events += parser.close()
    emitter = EMITTERS["openai-chat"](model="m")
    again = sp.parse_response(b"".join(emitter.emit(event) for event in events), "openai-chat")
    numbered = [{**detail, "index": place} for place, detail in enumerate(DETAILS)]
    assert sp.as_message(again, "openrouter")["reasoning_details"] == numbered
    assert again.reasoning == "".join(map(_said, DETAILS))
    body = json.loads(EMITTERS["openai-chat"](model="m").whole(parser.response))
    assert body["choices"][0]["message"]["reasoning_details"] == numbered


def test_the_thought_of_mistral_goes_back_in_its_content() -> None:
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Yes."},
    ]
    message = {"role": "assistant", "content": content}
    response = parsed(_chat({"content": content}), wire="openai-chat")
    mistral = ADAPTERS["mistral"]
    assert response.reasoning == "Hm."
    assert sp.as_message(response, "mistral") == message
    assert translate_messages([message], "mistral", "deepseek").result == [
        {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    ]
    assert mistral.write_messages(mistral.read_messages([message]), []) == [message]


# -- Responses -----------------------------------------------------------------------------------------


def _response(*output: dict[str, Any]) -> dict[str, Any]:
    return {"object": "response", "id": "r", "status": "completed", "output": list(output)}


def _message(id: str, text: str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": fields.pop("annotations", [])}]
    return {"type": "message", "id": id, "role": "assistant", **fields, "content": content}


def _streamed(*output: dict[str, Any]) -> list[dict[str, Any]]:
    """The output as it is streamed, with an annotation in the middle of its text."""
    events: list[dict[str, Any]] = []
    for index, item in enumerate(output):
        place = {"item_id": item["id"], "output_index": index, "content_index": 0}
        events.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}})
        for part in item["content"]:
            half = len(part["text"]) // 2
            events += [{"type": "response.output_text.delta", **place, "delta": part["text"][:half]}]
            events += [{"type": "response.output_text.annotation.added", **place, "annotation": annotation}
                       for annotation in part["annotations"]]  # fmt: skip
            events += [{"type": "response.output_text.delta", **place, "delta": part["text"][half:]}]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return [*events, {"type": "response.completed", "response": _response(*output)}]


SOURCE = {"type": "url_citation", "url": "https://example.org", "title": "Example", "start_index": 0, "end_index": 4}
TWO = (
    _message("msg_1", "I look it up.", phase="commentary"),
    _message("msg_2", "It is mild.", phase="final_answer", annotations=[SOURCE]),
)
SENT = [
    {"type": "message", "role": "assistant", "phase": "commentary", "content": "I look it up."},
    {"type": "message", "role": "assistant", "phase": "final_answer", "content": "It is mild."},
]


def test_messages_of_responses_stay_apart_and_keep_their_phase() -> None:
    responses = ADAPTERS["openai-responses"]
    for bodies in ([_response(*TWO)], _streamed(*TWO)):
        response = parsed(*bodies, wire="openai-responses")
        assert sp.as_message(response, "openai-responses") == SENT
        assert response.content == "I look it up.It is mild."
    assert responses.write_messages(responses.read_messages(SENT), []) == SENT


def test_messages_without_a_phase_stay_apart() -> None:
    output = (_message("msg_1", "One."), _message("msg_2", "Two."))
    for bodies in ([_response(*output)], _streamed(*output)):
        written = sp.as_message(parsed(*bodies, wire="openai-responses"), "openai-responses")
        message = {"type": "message", "role": "assistant"}
        assert written == [{**message, "content": "One."}, {**message, "content": "Two."}]


def test_an_annotation_does_not_divide_a_message() -> None:
    output = (_message("msg_1", "It is sunny today.", annotations=[SOURCE]),)
    for bodies in ([_response(*output)], _streamed(*output)):
        response = parsed(*bodies, wire="openai-responses")
        message = {"type": "message", "role": "assistant", "content": "It is sunny today."}
        assert sp.as_message(response, "openai-responses") == [message]
        assert [item["kind"] for item in response.items] == ["annotation"]


def test_what_a_search_for_tools_found_goes_back_to_responses() -> None:
    found = {"type": "tool_search_output", "id": "tso_1", "execution": "server", "tools": [], "status": "completed"}
    search = {"type": "tool_search_call", "id": "tsc_1", "execution": "server", "arguments": {}, "status": "completed"}
    response = parsed(_response(search, found), wire="openai-responses")
    assert sp.as_message(response, "openai-responses") == [search, found]


def test_a_picture_of_the_assistant_is_lost_to_responses_and_its_text_is_not() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "eA=="}}
    message = {"role": "model", "parts": [{"text": "See."}, picture]}
    written = translate_messages([message], "gemini", "openai-responses")
    assert written.result == [{"type": "message", "role": "assistant", "content": "See."}]
    assert [(loss.keyword, loss.warning) for loss in written.lost] == [("image", False)]


# -- Gemini --------------------------------------------------------------------------------------------


def test_calls_without_a_signature_are_told_to_who_sends_them_to_gemini() -> None:
    signed = {**CALL, "extra_content": SIGNED}
    for calls, told in (([CALL, signed], True), ([signed, CALL], False)):
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        lost = translate_messages([message], "openai", "gemini").lost
        assert [(loss.place, loss.keyword, loss.warning) for loss in lost] == [
            ("messages[0]", "thought_signature", True)
        ] * told
        assert all(isinstance(loss, Loss) for loss in lost)


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_a_thought_that_only_a_citation_of_no_text_follows_ends_no_message(provider: str) -> None:
    cited = Item("citations_delta", {"type": "citations_delta", "cited_text": "x"})
    turn = Message("assistant", [Text("Yes."), Item("signature", "sig"), cited])
    assert ADAPTERS[provider].adapt_messages([turn], "", is_thinking=False) == [Message("assistant", [Text("Yes.")])]


def test_a_thought_of_responses_is_a_thought_and_the_item_that_goes_back() -> None:
    item = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "So."}]}
    responses = ADAPTERS["openai-responses"]
    (message,) = responses.read_messages([item])
    assert (message.thought, message.role) == ("So.", "assistant")
    assert responses.write_messages([message], []) == [item]
