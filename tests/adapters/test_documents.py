"""Documents pass between all that have a place for them, and are told where they have none."""

from __future__ import annotations

import base64
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamparse as sp
from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS, translate_messages
from streamparse.writing.parts import Document, Message, Text

PDF = base64.b64encode(b"%PDF-1.7\n").decode()
NOTES = base64.b64encode("Übung\nmacht".encode()).decode()
OF_ANTHROPIC = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}
OF_BEDROCK = {"document": {"format": "pdf", "name": "guide", "source": {"bytes": PDF}}}
ASK = "Which one?"
TAKE_PDF = ["openai", "openai-responses", "anthropic", "gemini", "gemini-openapi", "bedrock", "generic"]
TAKE_TEXT = ["openai-responses", "anthropic", "gemini", "bedrock", "generic"]
TAKE_NONE = ["ollama", "cohere"]
SHOWN_BY_TOOLS = ["openai-responses", "anthropic", "gemini", "bedrock"]


def _asked(document: Document) -> Message:
    return Message("user", [document, Text(ASK)])


def _sent(document: Document, provider: str) -> tuple[list[dict[str, Any]], list[Loss]]:
    lost: list[Loss] = []
    return ADAPTERS[provider].write_messages([_asked(document)], lost), lost


def _read(messages: list[dict[str, Any]], provider: str) -> list[Document]:
    return [document for turn in ADAPTERS[provider].read_messages(messages) for document in turn.documents]


def _keywords(lost: list[Loss]) -> list[str]:
    return [loss.keyword for loss in lost]


def _of_anthropic(*content: Any, **fields: Any) -> list[dict[str, Any]]:
    called = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]}
    result = {"type": "tool_result", "tool_use_id": "c", "content": list(content), **fields}
    return [{"role": "user", "content": ASK}, called, {"role": "user", "content": [result]}]


# -- of the user ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), list(permutations(TAKE_PDF, 2)))
def test_a_pdf_comes_back_equal_through_every_pair_that_takes_one(first: str, second: str) -> None:
    document = Document(PDF, "application/pdf")
    written, lost = _sent(document, first)
    there = translate_messages(written, first, second)
    assert _read(there.result, second) == [document]
    assert lost == there.lost == []


@settings(max_examples=25, deadline=None)
@given(st.binary(min_size=1, max_size=40), st.sampled_from(["application/pdf", "text/csv", "text/plain"]))
def test_a_document_goes_through_bedrock_and_responses_with_every_byte(held: bytes, kind: str) -> None:
    document = Document(base64.b64encode(held).decode(), kind)
    for first, second in permutations(["bedrock", "openai-responses", "generic"], 2):
        written, _ = _sent(document, first)
        assert _read(translate_messages(written, first, second).result, second) == [document]


@pytest.mark.parametrize(("first", "second"), list(permutations(TAKE_TEXT, 2)))
def test_a_text_of_the_user_s_comes_back_as_the_document_that_it_was(first: str, second: str) -> None:
    document = Document(NOTES, "text/plain")
    written, _ = _sent(document, first)
    assert _read(translate_messages(written, first, second).result, second) == [document]


@pytest.mark.parametrize("provider", ["ollama", "cohere", "openai"])
def test_a_text_is_said_where_it_can_be_no_document_and_that_is_told(provider: str) -> None:
    written, lost = _sent(Document(NOTES, "text/plain"), provider)
    (turn,) = ADAPTERS[provider].read_messages(written)
    assert turn.text == f"Übung\nmacht\n{ASK}"
    assert _keywords(lost) == ["document"]


@pytest.mark.parametrize("provider", TAKE_NONE)
def test_a_pdf_is_named_where_there_can_be_none_and_that_is_told(provider: str) -> None:
    written, lost = _sent(Document(PDF, "application/pdf", name="guide"), provider)
    (turn,) = ADAPTERS[provider].read_messages(written)
    assert turn.text == f"[document: guide]\n{ASK}"
    assert _keywords(lost) == ["document"]


def test_what_is_said_of_a_document_goes_where_it_has_a_place_and_is_told_where_not() -> None:
    document = Document(PDF, "application/pdf", name="guide", context="of 2024", cited=True)
    told = {provider: _keywords(_sent(document, provider)[1]) for provider in TAKE_PDF}
    assert told == {
        "openai": ["context", "cited"],
        "openai-responses": ["context", "cited"],
        "anthropic": [],
        "gemini": ["name", "context", "cited"],
        "gemini-openapi": ["name", "context", "cited"],
        "bedrock": [],
        "generic": [],
    }
    for provider in ("anthropic", "bedrock", "generic"):
        assert _read(_sent(document, provider)[0], provider) == [document]


def test_a_name_that_bedrock_refuses_is_written_in_its_letters_and_told() -> None:
    written, lost = _sent(Document(PDF, "application/pdf", name="guide.v2  (final).pdf"), "bedrock")
    assert written[0]["content"][0]["document"]["name"] == "guide v2 (final) pdf"
    assert _keywords(lost) == ["name"]


def test_documents_without_a_name_have_different_ones_at_bedrock() -> None:
    contents = [_sent(Document(data, "application/pdf"), "bedrock")[0][0]["content"] for data in (PDF, NOTES)]
    assert len({content[0]["document"]["name"] for content in contents}) == 2


@pytest.mark.parametrize("provider", ["openai-responses", "openrouter", "anthropic", "gemini"])
def test_a_document_at_an_address_goes_on_as_such(provider: str) -> None:
    document = Document(media_type="application/pdf", url="https://example.com/a.pdf")
    written, lost = _sent(document, provider)
    assert (_read(written, provider), lost) == ([document], [])


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
def test_a_document_at_an_address_is_named_where_none_is_loaded(provider: str) -> None:
    written, lost = _sent(Document(media_type="application/pdf", url="https://example.com/a.pdf"), provider)
    (turn,) = ADAPTERS[provider].read_messages(written)
    assert turn.text == f"[document: https://example.com/a.pdf]\n{ASK}"
    assert _keywords(lost) == ["document"]


def test_a_document_that_anthropic_keeps_under_an_id_is_told() -> None:
    kept = {"type": "document", "source": {"type": "file", "file_id": "f"}}
    message = {"role": "user", "content": [kept, {"type": "text", "text": ASK}]}
    assert _keywords(translate_messages([message], "anthropic", "bedrock").lost) == ["document"]
    anthropic = ADAPTERS["anthropic"]
    assert anthropic.write_messages(anthropic.read_messages([message]), []) == [message]


@pytest.mark.parametrize(
    "file",
    [
        {"file_data": "data:application/json;base64,e30=", "filename": "a.json"},
        {"file_data": "QUJD", "filename": "slides.pptx"},
        {"file_data": "data:text/plain,plain"},
    ],
)
def test_a_file_of_a_kind_that_is_not_known_stays_as_it_is_among_those_who_speak_of_files(file: dict[str, str]) -> None:
    message = {"role": "user", "content": [{"type": "file", "file": file}]}
    there = translate_messages([message], "openai", "openrouter")
    assert (there.result, there.lost) == ([message], [])
    assert _keywords(translate_messages([message], "openai", "gemini").lost) == ["file"]


def test_a_document_of_bedrock_s_in_a_format_that_is_not_known_is_told() -> None:
    document = {"document": {"format": "pages", "name": "n", "source": {"bytes": PDF}}}
    assert _keywords(translate_messages([{"role": "user", "content": [document]}], "bedrock", "openai").lost) == [
        "document"
    ]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://example.com/a.csv?sign=x.y", "text/csv"),
        ("https://example.com/a.pdf#page=2", "application/pdf"),
        ("https://example.com/1706.03762", "application/pdf"),
        ("http://[", "application/pdf"),
    ],
)
def test_the_path_of_an_address_tells_what_is_there(url: str, kind: str) -> None:
    message = {"role": "user", "content": [{"type": "input_file", "file_url": url}]}
    (turn,) = ADAPTERS["openai-responses"].read_messages([message])
    assert turn.documents == [Document(media_type=kind, url=url)]


def test_documents_and_pictures_of_boto3_are_read_with_their_bytes() -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    document = {"document": {"format": "txt", "name": "n", "source": {"bytes": b"hi"}}}
    (turn,) = ADAPTERS["bedrock"].read_messages([{"role": "user", "content": [image, document]}])
    assert turn.images[0].data == base64.b64encode(b"\x89PNG").decode()
    assert turn.documents == [Document(base64.b64encode(b"hi").decode(), "text/plain", name="n")]


# -- of tools ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["openai-responses", "gemini", "bedrock"])
def test_a_document_in_a_result_of_anthropic_goes_on_where_results_hold_documents(target: str) -> None:
    translated = translate_messages(
        _of_anthropic({"type": "text", "text": "Page 1"}, OF_ANTHROPIC), "anthropic", target
    )
    assert [loss for loss in translated.lost if not loss.warning] == []
    (result,) = ADAPTERS[target].read_results(translated.result)
    assert result.result == [{"type": "text", "text": "Page 1"}, OF_ANTHROPIC]


def test_a_document_in_a_result_moves_behind_the_results_in_chat() -> None:
    translated = translate_messages(
        _of_anthropic({"type": "text", "text": "Page 1"}, OF_ANTHROPIC), "anthropic", "openai"
    )
    assert [message["role"] for message in translated.result] == ["user", "assistant", "tool", "user"]
    assert translated.result[2]["content"] == "Page 1\n[document: application/pdf]"
    file = {"filename": "document.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}
    assert translated.result[3]["content"] == [{"type": "file", "file": file}]
    assert _keywords(translated.lost) == ["document"]


@pytest.mark.parametrize("target", TAKE_NONE)
def test_a_document_in_a_result_is_named_where_results_hold_none(target: str) -> None:
    translated = translate_messages(
        _of_anthropic({"type": "text", "text": "Page 1"}, OF_ANTHROPIC), "anthropic", target
    )
    assert _keywords(translated.lost) == ["document"]
    assert ADAPTERS[target].read_results(translated.result)[0].result == "Page 1\n[document: application/pdf]"


def test_a_document_in_a_result_of_bedrock_is_one_of_anthropic_s() -> None:
    called = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "look", "input": {}}}]}
    content = [{"text": "before"}, OF_BEDROCK, {"text": "behind"}]
    result = {"toolResult": {"toolUseId": "c", "content": content, "status": "success"}}
    translated = translate_messages([called, {"role": "user", "content": [result]}], "bedrock", "anthropic")
    (block,) = translated.result[-1]["content"]
    texts = [{"type": "text", "text": "before"}, {"type": "text", "text": "behind"}]
    assert block["content"] == [texts[0], {**OF_ANTHROPIC, "title": "guide"}, texts[1]]
    assert translated.lost == []


@pytest.mark.parametrize(
    ("target", "told"), [("gemini", ["text"]), ("ollama", ["document"]), ("bedrock", []), ("openai-responses", [])]
)
def test_a_text_behind_a_document_is_told_where_the_text_stands_before_all(target: str, told: list[str]) -> None:
    content = [{"type": "text", "text": "before"}, OF_ANTHROPIC, {"type": "text", "text": "behind"}]
    lost = translate_messages(_of_anthropic(*content), "anthropic", target).lost
    assert [loss.keyword for loss in lost if not loss.warning] == told


def test_a_document_in_an_error_is_told() -> None:
    translated = translate_messages(_of_anthropic(OF_ANTHROPIC, is_error=True), "anthropic", "bedrock")
    assert _keywords(translated.lost) == ["document"]


@pytest.mark.parametrize("provider", SHOWN_BY_TOOLS)
def test_what_a_tool_of_mcp_reads_is_a_document(provider: str) -> None:
    resource = {"uri": "file:///guide", "mimeType": "application/pdf", "blob": PDF}
    result = sp.ToolResult("c", "look", [{"type": "resource", "resource": resource}])
    (back,) = ADAPTERS[provider].read_results(ADAPTERS[provider].format_results([result]))
    assert back.result[0]["source"] == OF_ANTHROPIC["source"]


# -- to the official SDKs ------------------------------------------------------------------------------


def test_documents_are_what_the_sdks_take() -> None:
    assert_taken = pytest.importorskip("sdk_types").assert_taken
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    messages = pytest.importorskip("anthropic.types")
    genai = pytest.importorskip("google.genai.types")
    document = Document(PDF, "application/pdf", name="guide", context="of 2024", cited=True)
    result = sp.ToolResult("c", "look", [OF_ANTHROPIC])
    assert_taken(list[chat.ChatCompletionUserMessageParam], _sent(document, "openai")[0])
    assert_taken(list[responses.EasyInputMessageParam], _sent(document, "openai-responses")[0])
    assert_taken(list[messages.MessageParam], _sent(document, "anthropic")[0])
    assert_taken(list[genai.Content], _sent(document, "gemini")[0])
    outputs = list[responses.response_input_item_param.FunctionCallOutput]
    assert_taken(outputs, ADAPTERS["openai-responses"].format_results([result]))
    assert_taken(list[messages.MessageParam], ADAPTERS["anthropic"].format_results([result]))
    assert_taken(list[genai.Content], ADAPTERS["gemini"].format_results([result]))
