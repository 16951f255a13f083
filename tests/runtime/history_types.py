"""Asserts that messages are what the providers' own libraries take, where these are installed."""

from __future__ import annotations

import base64
from importlib.util import find_spec
from typing import Any

import pytest

__all__ = ["check_types", "has_types"]

JSON = dict[str, Any]


def check_types(provider: str, messages: list[JSON]) -> None:
    """Assert that a provider's own types take these messages, and know all that stands in them."""
    _CHECKS.get(provider, lambda _: None)(messages)


def has_types(provider: str) -> bool:
    """Whether the library that knows a provider's types is installed."""
    return all(find_spec(name) is not None for name in _LIBRARIES.get(provider, ()))


def _says(kind: Any, written: Any) -> None:
    """Assert that a type takes this, knows each field of it, and would send the same."""
    pydantic = pytest.importorskip("pydantic")
    adapter = pydantic.TypeAdapter(kind)
    read = adapter.validate_python(written)
    assert adapter.dump_python(read, mode="json", by_alias=True, exclude_unset=True, warnings=False) == written


def _check_openai(messages: list[JSON]) -> None:
    chat = pytest.importorskip("openai.types.chat")
    for message in messages:
        _says(getattr(chat, f"ChatCompletion{message['role'].capitalize()}MessageParam"), message)


def _check_responses(items: list[JSON]) -> None:
    responses = pytest.importorskip("openai.types.responses")
    kinds = {
        "function_call": responses.ResponseFunctionToolCallParam,
        "function_call_output": responses.response_input_item_param.FunctionCallOutput,
        "reasoning": responses.ResponseReasoningItemParam,
        "message": responses.EasyInputMessageParam,
    }
    for item in items:
        _says(kinds[item.get("type", "message")], item)


def _check_anthropic(messages: list[JSON]) -> None:
    types = pytest.importorskip("anthropic.types")
    pydantic = pytest.importorskip("pydantic")
    for message in messages:
        pydantic.TypeAdapter(types.MessageParam).validate_python(message)
        for block in message["content"] if isinstance(message["content"], list) else ():
            _says(types.ContentBlockParam, block)


def _check_gemini(contents: list[JSON]) -> None:
    genai = pytest.importorskip("google.genai.types")
    for content in contents:
        genai.Content.model_validate(content)  # forbids what it does not know


def _check_ollama(messages: list[JSON]) -> None:
    ollama = pytest.importorskip("ollama")
    for message in messages:
        images = [ollama.Image(value=image) for image in message.get("images", ())]  # as its client does
        ollama.Message.model_validate({**message, "images": images})


def _check_bedrock(messages: list[JSON]) -> None:
    session = pytest.importorskip("botocore.session")
    validate = pytest.importorskip("botocore.validate")
    operation = session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")
    found = validate.ParamValidator().validate(
        {"modelId": "m", "messages": [_with_bytes(message) for message in messages]}, operation.input_shape
    )
    assert not found.has_errors(), found.generate_report()


def _with_bytes(value: Any) -> Any:
    """What boto3 takes: bytes where the wire has base64."""
    if isinstance(value, list):
        return [_with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64decode(each) if key == "bytes" and isinstance(each, str) else _with_bytes(each)
        for key, each in value.items()
    }


def _check_cohere(messages: list[JSON]) -> None:
    cohere = pytest.importorskip("cohere")
    pydantic = pytest.importorskip("pydantic")
    pydantic.TypeAdapter(list[cohere.ChatMessageV2]).validate_python(messages)


def _check_mistral(messages: list[JSON]) -> None:
    protocol = pytest.importorskip("mistral_common.protocol.instruct.messages")
    validator = pytest.importorskip("mistral_common.protocol.instruct.validator")
    pydantic = pytest.importorskip("pydantic")
    read = pydantic.TypeAdapter(list[protocol.ChatMessage]).validate_python(messages)
    asked = [] if messages[-1]["role"] in ("user", "tool") else [protocol.UserMessage(content="And then?")]
    validator.MistralRequestValidatorV13().validate_messages([*read, *asked])


_LIBRARIES = {"bedrock": ["botocore"], "cohere": ["cohere"], "mistral": ["mistral_common"]}
"""Libraries that are large, or pull in many others."""
_CHECKS = {
    "openai": _check_openai,
    "openai-responses": _check_responses,
    "anthropic": _check_anthropic,
    "gemini": _check_gemini,
    "gemini-openapi": _check_gemini,
    "ollama": _check_ollama,
    "bedrock": _check_bedrock,
    "cohere": _check_cohere,
    "mistral": _check_mistral,
}
