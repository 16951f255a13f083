"""Requests for Amazon Bedrock's `ConverseStream`.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

The path names the model (boto3 takes it as `modelId`), and the operation says whether it is a stream, so they are not
in the body.  Bytes (images, documents) are base64, as on the wire; boto3 wants them decoded.

A request whose messages hold calls or results must declare tools: https://github.com/vercel/ai/pull/7537
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.tools import Tool
from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.request import Request
from streamparse.writing.request_format import RequestFormat, place_alike
from streamparse.writing.traits import NO_NAME

_NO_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
_MAX_SHOWN = 200  # characters of a loss that names tools
_MODES = {"auto": "auto", "required": "any"}


def _restrict(request: Request, lost: list[Loss]) -> Request:
    """Declare the tools that the conversation calls, where the request declares none."""
    called = [call.name for message in request.messages for call in message.calls]
    answered = [NO_NAME for message in request.messages if message.results]
    if request.tools or not (called or answered):
        return request
    names = dict.fromkeys(called or answered)
    outcome = f"declared, without schemas, for the messages call them: {', '.join(names)}"
    lost.append(Loss("request", "", "tools", outcome[:_MAX_SHOWN], warning=True))
    return replace(request, tools=[DeclaredTool(Tool(name, parameters=_NO_SCHEMA)) for name in names])


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    choice = request.choice
    if not request.tools:
        return {}
    if choice.name:
        return {"toolConfig.toolChoice": {"tool": {"name": choice.name}}}
    if choice.mode == "none":  # tools must be declared where the history has calls, so they stay
        lost.append(Loss("request", "", "tool_choice", "dropped: the model decides"))
    return {"toolConfig.toolChoice": {_MODES[choice.mode]: {}} if choice.mode in _MODES else None}


BEDROCK_REQUESTS = RequestFormat(
    fields=place_alike("messages", "system")
    | place_alike("temperature", section="inferenceConfig")
    | {
        "top_p": "inferenceConfig.topP",
        "max_tokens": "inferenceConfig.maxTokens",
        "stop": "inferenceConfig.stopSequences",
        "tools": "toolConfig.tools",
    },
    bounds={"temperature": (0, 1), "top_p": (0, 1)},
    dropped={
        "schema": ("response_format", "dropped: each model has other words for it here"),
        "think": ("thinking", "dropped: each model has other words for it here"),
    },
    restrict=_restrict,
    write_others=_write_others,
    write_system=lambda text: [{"text": text}],
)
