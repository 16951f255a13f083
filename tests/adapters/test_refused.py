"""What a provider refuses is not sent: texts of blanks, errors without words, pictures of other kinds, nothing."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PICTURE

import streamparse as sp
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, REQUEST_WRITERS, translate_messages, translate_request

WANT_WORDS = ["anthropic", "bedrock"]
_TEXT = {"type": "text", "text": "Yes."}
BLANKS = ["", "  ", "\n\n", "\t"]


def _generic(*parts: Any, **result: Any) -> list[dict[str, Any]]:
    call = {"id": "c1", "name": "f", "arguments": {}}
    answer = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    told = [{"role": "tool", "call_id": "c1", "name": "f", **result}] if result else []
    return [*(answer if result else []), *told, *({"role": "user", "content": part} for part in parts)]


def _texts(value: Any) -> list[str]:
    """All texts that stand under `text` or as a `content`, wherever."""
    if isinstance(value, dict):
        own = [value[key] for key in ("text", "content") if isinstance(value.get(key), str)]
        return own + [text for each in value.values() for text in _texts(each)]
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []


@pytest.mark.parametrize("provider", WANT_WORDS)
@pytest.mark.parametrize("blank", BLANKS)
def test_an_error_without_words_gets_some_and_it_is_told(blank: str, provider: str) -> None:
    written = translate_messages(_generic(error=blank), "generic", provider)
    (result,) = ADAPTERS[provider].read_results(written.result)
    assert result.error is not None
    assert result.error.strip()
    assert [loss.keyword for loss in written.lost] == ["error"]


@pytest.mark.parametrize("provider", WANT_WORDS)
@pytest.mark.parametrize("blank", BLANKS)
def test_no_text_of_blanks_alone_stands_beside_a_picture(blank: str, provider: str) -> None:
    picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    shown = [{"type": "text", "text": blank}, picture]
    written = ADAPTERS[provider].format_results([sp.ToolResult("c1", "f", shown)])
    assert _texts(written) == []
    assert ADAPTERS[provider].read_results(written)[0].result == [picture]


@pytest.mark.parametrize("provider", WANT_WORDS)
@pytest.mark.parametrize("blank", BLANKS[1:])
def test_a_text_of_blanks_alone_is_left_out_and_told(blank: str, provider: str) -> None:
    for messages, keyword in ((_generic(blank), "text"), (_generic(result=blank), "result")):
        written = translate_messages(messages, "generic", provider)
        assert [loss.keyword for loss in written.lost] == [keyword]
        assert not any(text and not text.strip() for text in _texts(written.result))
        assert not any(message["content"] == [] for message in written.result)


@pytest.mark.parametrize("provider", WANT_WORDS)
def test_a_picture_of_a_kind_that_is_refused_becomes_a_word_and_is_told(provider: str) -> None:
    picture = {"type": "image", "data": "Qk0=", "mimeType": "image/bmp"}
    for messages in (_generic([picture, {"type": "text", "text": "this?"}]), _generic(result=[picture])):
        written = translate_messages(messages, "generic", provider)
        assert [(loss.keyword, loss.outcome) for loss in written.lost] == [
            ("image", "written as text: image/bmp is refused")
        ]
        assert "[image: image/bmp]" in "".join(_texts(written.result))


def test_a_picture_s_media_type_is_said_in_the_word_that_is_taken() -> None:
    picture = {"type": "image", "data": "/9j/", "mimeType": "image/jpg"}
    (bedrock,) = ADAPTERS["bedrock"].format_results([sp.ToolResult("c1", "f", [picture])])
    assert bedrock["content"][0]["toolResult"]["content"][0]["image"]["format"] == "jpeg"
    (anthropic,) = ADAPTERS["anthropic"].format_results([sp.ToolResult("c1", "f", [picture])])
    assert anthropic["content"][0]["content"][0]["source"]["media_type"] == "image/jpeg"


@pytest.mark.parametrize("provider", ["bedrock", "ollama"])
def test_a_picture_at_an_address_is_named_and_told_where_none_is_loaded(provider: str) -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}}
    here = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    for messages in (_generic([picture, here]), _generic(result=[picture, here])):
        written = translate_messages(messages, "generic", provider)
        assert [loss.keyword for loss in written.lost] == ["image"]
        assert "[image: https://example.org/x.png]" in "".join(_texts(written.result))


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_answer_of_nothing_goes_back_with_words(provider: str) -> None:
    written = sp.as_message(sp.ParsedResponse(), provider)
    if provider == "openai-responses":  # a list of items, which may be empty
        assert written == []
    elif provider in ("anthropic", "bedrock", "gemini", "gemini-openapi", "cohere", "mistral"):
        assert "(no answer)" in str(written)
    else:
        assert written["content"] == ""


def test_what_is_taken_loses_nothing() -> None:
    picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    messages = _generic([{"type": "text", "text": "this?"}, picture], result=[picture])
    for provider in ("anthropic", "bedrock", "gemini", "openai-responses"):
        assert all(loss.warning for loss in translate_messages(messages, "generic", provider).lost)


def test_a_text_of_blanks_is_told_with_its_place() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "user", "content": " "}]
    lost = translate_messages(messages, "openai", "anthropic").lost
    assert lost == [Loss("messages[1]", "", "text", "dropped: a text of blanks alone is refused")]


def test_between_results_and_a_user_s_message_mistral_gets_an_answer() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a map"},
        {"role": "user", "content": "And?"},
    ]
    translated = translate_messages(messages, "openai", "mistral").result
    asked = translate_request({"model": "m", "messages": messages}, "openai", "mistral").result["messages"]
    for written in (translated, asked):
        assert [each["role"] for each in written] == ["user", "assistant", "tool", "assistant", "user"]
        assert written[3]["content"] == "(no answer)"


def test_no_text_of_nothing_goes_to_gemini_but_with_a_signature() -> None:
    messages = [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "Yes?"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "x"}, _TEXT]},
    ]
    written = translate_messages(messages, "anthropic", "gemini").result
    assert written == [{"role": "user", "parts": [{"text": "Yes?"}]}, {"role": "model", "parts": [{"text": "Yes."}]}]
    gemini = ADAPTERS["gemini"]
    signed = [{"role": "model", "parts": [{"text": "", "thoughtSignature": "x"}]}]
    assert gemini.write_messages(gemini.read_messages(signed), []) == signed


def test_an_answer_of_nothing_is_no_message_for_cohere() -> None:
    nothing = {"role": "assistant", "content": [{"type": "text", "text": ""}]}
    messages = [{"role": "user", "content": "Hi"}, nothing]
    assert translate_messages(messages, "openai", "cohere").result == messages[:1]


def test_an_answer_of_nothing_has_words_for_mistral_and_a_thought_or_a_call_is_enough() -> None:
    nothing = {"role": "assistant", "content": [{"type": "text", "text": ""}]}
    messages = [{"role": "user", "content": "Hi"}, nothing, {"role": "user", "content": "Yes?"}]
    written = translate_messages(messages, "openai", "mistral").result
    assert [each["content"] for each in written] == ["Hi", "(no answer)", "Yes?"]
    thought = [{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}]}]
    (message,) = translate_messages(thought, "anthropic", "mistral").result
    assert message["content"][0]["type"] == "thinking"
    call = ADAPTERS["mistral"].write_messages(ADAPTERS["generic"].read_messages(_generic(result="x")), [])[0]
    assert call["content"] is None


MADE_UP = [" now ", "my now", "db.now", "", "функция", "x" * 200]


@pytest.mark.parametrize("target", sorted(REQUEST_WRITERS))
@pytest.mark.parametrize("is_declared", [True, False], ids=["tools", "no tools"])
@pytest.mark.parametrize("name", MADE_UP)
def test_a_request_with_a_name_that_a_model_made_up_has_one_that_is_taken(
    name: str, is_declared: bool, target: str
) -> None:
    if target == "openai":
        source, message = "anthropic", {"role": "user", "content": "Hi."}
        calls: Any = {"type": "tool_use", "id": "c1", "name": name, "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": "12:00"}
        said = [{"role": "assistant", "content": [calls]}, {"role": "user", "content": [answer]}]
        tools: Any = {"name": "now", "input_schema": {"type": "object"}}
    else:
        source, message = "openai", {"role": "user", "content": "Hi."}
        calls = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        said = [
            {"role": "assistant", "tool_calls": [calls]},
            {"role": "tool", "tool_call_id": "c1", "content": "12:00"},
        ]
        tools = {"type": "function", "function": {"name": "now"}}
    request = {"model": "m", "messages": [message, *said]} | ({"tools": [tools]} if is_declared else {})
    written = translate_request(request, source, target)
    adapter, policy = ADAPTERS[target], ADAPTERS[target].traits.names
    messages = next(written.result[key] for key in ("messages", "contents", "input") if key in written.result)
    (called,) = [call.name for message in adapter.read_messages(messages, []) for call in message.calls]
    assert called == policy.normalize(name)
    assert policy.normalize(called) == called
    assert any(loss.keyword == "name" and "replaced" in loss.outcome for loss in written.lost) == (called != name)
    declared = adapter.read_tools(written.result["toolConfig"]["tools"]) if target == "bedrock" else []
    assert [tool.name for tool in declared] == ([] if target != "bedrock" else ["now"] if is_declared else [called])
