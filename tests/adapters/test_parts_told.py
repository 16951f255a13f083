"""What of a message's parts a translation cannot keep is told: documents, films, files, and what stands beside them."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PICTURE

from streamparse.loss import Loss
from streamparse.providers.adapters import translate_messages, translate_request

PDF = "JVBERi0xLjcK"
ASKED = {"role": "user", "content": "Which one?"}
CALLED = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def _keywords(lost: list[Loss], *, warnings: bool = False) -> list[str]:
    return [loss.keyword for loss in lost if loss.warning is warnings]


def _cohere(*content: Any) -> list[dict[str, Any]]:
    result = {"role": "tool", "tool_call_id": "c", "content": list(content)}
    return [ASKED, {"role": "assistant", "tool_calls": [CALLED]}, result]


def _anthropic(*content: Any, **fields: Any) -> list[dict[str, Any]]:
    called = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]}
    result = {"type": "tool_result", "tool_use_id": "c", "content": list(content), **fields}
    return [ASKED, called, {"role": "user", "content": [result]}]


def _bedrock(*content: Any, status: str = "success") -> list[dict[str, Any]]:
    called = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "look", "input": {}}}]}
    result = {"toolResult": {"toolUseId": "c", "content": list(content), "status": status}}
    return [called, {"role": "user", "content": [result]}]


def _gemini(*parts: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "parts": [*parts, {"text": "Which one?"}]}]


def _answered(**fields: Any) -> list[dict[str, Any]]:
    called = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
    response = {"name": "look", "response": {"output": "seen"}, **fields}
    return [called, {"role": "user", "parts": [{"functionResponse": response}]}]


# -- results -------------------------------------------------------------------------------------------


def test_all_documents_of_a_result_at_cohere_are_read() -> None:
    documents = [{"type": "document", "document": {"data": {"n": n}}} for n in (1, 2)]
    translated = translate_messages(_cohere({"type": "text", "text": "Two:"}, *documents), "cohere", "openai")
    assert translated.result[-1]["content"] == '["Two:",{"n":1},{"n":2}]'
    assert translated.lost == []


def test_one_document_of_a_result_at_cohere_is_its_value_and_its_id_is_told() -> None:
    document = {"type": "document", "document": {"id": "1", "data": {"n": 1}}}
    translated = translate_messages(_cohere(document), "cohere", "gemini")
    assert translated.result[-1]["parts"][0]["functionResponse"]["response"] == {"n": 1}
    assert _keywords(translated.lost) == ["id"]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
def test_a_file_in_a_result_of_openai_is_told(target: str) -> None:
    file = {"type": "file", "file": {"file_id": "f"}}
    result = {"role": "tool", "tool_call_id": "c", "content": [file]}
    messages = [ASKED, {"role": "assistant", "tool_calls": [CALLED]}, result]
    assert _keywords(translate_messages(messages, "openai", target).lost) == ["file"]
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_file", "file_id": "f"}]}
    assert "input_file" in _keywords(translate_messages([call, output], "openai-responses", target).lost)


def test_a_picture_in_an_error_is_told() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    translated = translate_messages(_anthropic(picture, is_error=True), "anthropic", "bedrock")
    assert _keywords(translated.lost) == ["image"]


def test_an_object_alone_in_a_result_of_bedrock_stays_that_object() -> None:
    translated = translate_messages(_bedrock({"json": {"n": 1}}), "bedrock", "gemini")
    assert translated.result[-1]["parts"][0]["functionResponse"]["response"] == {"n": 1}
    assert _keywords(translated.lost) == []


def test_a_film_beside_a_result_of_gemini_is_told() -> None:
    media = {"inlineData": {"mimeType": "video/mp4", "data": "AA"}}
    translated = translate_messages(_answered(parts=[media]), "gemini", "openai")
    assert _keywords(translated.lost) == ["inlineData"]


def test_the_name_of_a_picture_of_gemini_is_told_wherever_it_stands() -> None:
    media = {"inlineData": {"mimeType": "image/png", "data": PICTURE, "displayName": "a map"}}
    assert _keywords(translate_messages(_gemini(media), "gemini", "anthropic").lost) == ["displayName"]
    assert _keywords(translate_messages(_answered(parts=[media]), "gemini", "anthropic").lost) == ["displayName"]


def test_that_more_of_a_result_will_come_is_told_unless_none_will() -> None:
    assert _keywords(translate_messages(_answered(willContinue=True), "gemini", "openai").lost) == ["willContinue"]
    assert translate_messages(_answered(will_continue=False), "gemini", "openai").lost == []


def test_a_picture_beside_a_result_is_read_in_either_spelling() -> None:
    media = {"inline_data": {"mime_type": "image/png", "data": PICTURE}}
    translated = translate_messages(_answered(parts=[media]), "gemini", "anthropic")
    assert [block["type"] for block in translated.result[-1]["content"][0]["content"]] == ["text", "image"]
    assert translated.lost == []


# -- what the user shows -------------------------------------------------------------------------------


def test_a_block_that_only_has_the_name_of_one_of_openai_is_told() -> None:
    translated = translate_messages([{"role": "user", "content": [{"file": 5}, {"text": "q"}]}], "bedrock", "openai")
    assert translated.result == [{"role": "user", "content": [{"type": "text", "text": "q"}]}]
    assert _keywords(translated.lost) == ["file"]


def test_a_bare_text_among_the_blocks_of_anthropic_is_text() -> None:
    message = {"role": "user", "content": ["One. ", {"type": "text", "text": "Two."}]}
    translated = translate_messages([message], "anthropic", "ollama")
    assert translated.result == [{"role": "user", "content": "One. Two."}]


@pytest.mark.parametrize("kind", ["video/mp4", "application/zip", "audio/wav"])
def test_a_file_at_gemini_that_is_no_picture_is_not_taken_for_one(kind: str) -> None:
    file = {"fileData": {"mimeType": kind, "fileUri": "https://example.com/a"}}
    translated = translate_messages(_gemini(file), "gemini", "openai")
    assert "example.com" not in str(translated.result)
    assert _keywords(translated.lost) == ["fileData"]


def test_a_file_that_does_not_say_its_kind_is_a_picture_with_a_warning() -> None:
    translated = translate_messages(_gemini({"fileData": {"fileUri": "https://example.com/a"}}), "gemini", "openai")
    assert translated.result[0]["content"][0]["type"] == "image_url"
    assert _keywords(translated.lost, warnings=True) == ["mimeType"]


def test_what_of_a_film_is_to_be_seen_is_told() -> None:
    film = {"inlineData": {"mimeType": "video/mp4", "data": "AA"}, "videoMetadata": {"fps": 1}}
    lost = translate_messages(_gemini(film), "gemini", "openai").lost
    assert _keywords(lost) == ["videoMetadata", "inlineData"]


def test_files_of_gemini_stay_as_they_are_for_its_older_servers() -> None:
    files = [
        {"fileData": {"mimeType": "image/webp", "fileUri": "https://example.com/a"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/b"}},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    ]
    translated = translate_messages(_gemini(*files), "gemini", "gemini-openapi")
    assert translated.result == _gemini(*files)
    assert translated.lost == []


# -- whole requests ------------------------------------------------------------------------------------


def test_what_is_no_text_in_a_system_prompt_is_told() -> None:
    media = {"inlineData": {"mimeType": "image/png", "data": PICTURE}}
    system = {"parts": [{"text": "Be brief."}, media]}
    request = {"systemInstruction": system, "contents": _gemini()}
    translated = translate_request(request, "gemini", "anthropic")
    assert translated.result["system"] == "Be brief."
    assert "image" in _keywords(translated.lost)
    file = {"type": "file", "file": {"file_data": PDF}}
    messages = [{"role": "system", "content": [file, {"type": "text", "text": "Be brief."}]}, ASKED]
    for target in ("anthropic", "gemini"):
        assert "document" in _keywords(translate_request({"messages": messages}, "openai", target).lost)


def test_a_system_prompt_that_json_cannot_hold_is_told() -> None:
    request = {"system": [b"x", {"type": "text", "text": "Be brief."}], "messages": [ASKED]}
    translated = translate_request(request, "anthropic", "ollama")
    assert translated.result["messages"][0] == {"role": "system", "content": "Be brief."}
    assert Loss("system", "/0", "bytes", "dropped: JSON cannot hold it") in translated.lost
    broken = {"parts": [{"functionCall": {"name": "look", "args": {"a": b"x"}}}]}
    lost = translate_request({"systemInstruction": broken, "contents": _gemini()}, "gemini", "ollama").lost
    assert "bytes" in _keywords(lost)


def test_what_a_configuration_of_tools_says_beside_their_choice_is_told() -> None:
    request = {"contents": _gemini(), "tool_config": {"retrieval_config": {"language_code": "de"}}}
    assert _keywords(translate_request(request, "gemini", "openai").lost) == ["retrievalConfig"]


def test_a_mark_of_caching_within_a_result_is_told() -> None:
    marked = {"type": "text", "text": "seen", "cache_control": {"type": "ephemeral"}}
    request = {"max_tokens": 9, "messages": _anthropic(marked)}
    assert _keywords(translate_request(request, "anthropic", "openai").lost) == ["cache_control"]
