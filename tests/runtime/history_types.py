"""Asserts that messages are what the providers' own libraries take, where these are installed."""

from __future__ import annotations

import base64
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest
from sdk_types import assert_taken, validator_of

__all__ = ["check_types", "has_types"]

JSON = dict[str, Any]


def check_types(provider: str, messages: list[JSON]) -> None:
    """Assert that a provider's own types take these messages, and know all that stands in them."""
    _CHECKS.get(provider, lambda _: None)(messages)


def has_types(provider: str) -> bool:
    """Whether the library that knows a provider's types is installed."""
    return all(find_spec(name) is not None for name in _LIBRARIES.get(provider, ()))


def _check_openai(messages: list[JSON]) -> None:
    chat = pytest.importorskip("openai.types.chat")
    for message in messages:
        assert_taken(getattr(chat, f"ChatCompletion{message['role'].capitalize()}MessageParam"), message)


def _check_responses(items: list[JSON]) -> None:
    responses = pytest.importorskip("openai.types.responses")
    kinds = {
        "function_call": responses.ResponseFunctionToolCallParam,
        "function_call_output": responses.response_input_item_param.FunctionCallOutput,
        "reasoning": responses.ResponseReasoningItemParam,
        "message": responses.EasyInputMessageParam,
    }
    for item in items:
        assert_taken(kinds[item.get("type", "message")], item)


def _check_anthropic(messages: list[JSON]) -> None:
    types = pytest.importorskip("anthropic.types")
    for message in messages:
        validator_of(types.MessageParam).validate_python(message)
        for block in message["content"] if isinstance(message["content"], list) else ():
            assert_taken(types.ContentBlockParam, block)


def _check_gemini(contents: list[JSON]) -> None:
    genai = pytest.importorskip("google.genai.types")
    for content in contents:
        genai.Content.model_validate(content)  # forbids what it does not know


def _check_ollama(messages: list[JSON]) -> None:
    ollama = pytest.importorskip("ollama")
    for message in messages:
        images = [ollama.Image(value=image) for image in message.get("images", ())]  # as its client does
        ollama.Message.model_validate({**message, "images": images})


@cache
def _converse() -> Any:
    """What Bedrock's Converse takes."""
    session = pytest.importorskip("botocore.session").get_session()
    return session.get_service_model("bedrock-runtime").operation_model("Converse").input_shape


def _check_bedrock(messages: list[JSON]) -> None:
    validate = pytest.importorskip("botocore.validate")
    found = validate.ParamValidator().validate(
        {"modelId": "m", "messages": [_with_bytes(message) for message in messages]}, _converse()
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
    validator_of(list[cohere.ChatMessageV2]).validate_python(messages)


def _check_mistral(messages: list[JSON]) -> None:
    protocol = pytest.importorskip("mistral_common.protocol.instruct.messages")
    validator = pytest.importorskip("mistral_common.protocol.instruct.validator")
    read = validator_of(list[protocol.ChatMessage]).validate_python(messages)
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
