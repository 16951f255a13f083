"""Requests for Amazon Bedrock's `ConverseStream`.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

The path names the model (boto3 takes it as `modelId`), and the operation says whether it is a stream, so they are not
in the body.  Bytes (images, documents) are base64, as on the wire; boto3 wants them decoded.
"""

from __future__ import annotations

from typing import Any

from streamparse.loss import Loss
from streamparse.writing.request import Request
from streamparse.writing.request_format import RequestFormat, place_alike

_MODES = {"auto": "auto", "required": "any"}


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
    write_others=_write_others,
    write_system=lambda text: [{"text": text}],
)
