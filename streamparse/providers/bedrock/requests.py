"""Requests for Amazon Bedrock's `ConverseStream`.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

The model is said by the path (for boto3 by `modelId`), and whether it is a stream by the operation, so they are not in
the body.  Bytes (pictures, documents) are base64, as on the wire; boto3 wants them decoded.
"""

from __future__ import annotations

from typing import Any

from streamparse.loss import Loss
from streamparse.writing.adapter import Adapter
from streamparse.writing.json_access import drop_empty
from streamparse.writing.request import (
    Request,
    clamp,
    join_system_text,
    lose_schema_name,
    lose_serial,
    lose_unwritten,
    pick,
    warn_of_no_messages,
)

_SAMPLING = {"temperature": "temperature", "top_p": "topP"}
_BOUNDS: dict[str, tuple[float, float]] = {"temperature": (0, 1), "top_p": (0, 1)}
_MODES = {"auto": "auto", "required": "any"}


def write_bedrock(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write the body of a request for a conversation."""
    messages = adapter.write_messages([turn for turn in request.turns if turn.role != "system"], lost)
    warn_of_no_messages(messages, lost)
    written: dict[str, Any] = {"messages": messages}
    system = join_system_text(request, lost)
    written |= drop_empty(system=[{"text": system}] if system else None)
    written |= drop_empty(inferenceConfig=_config(request, lost), toolConfig=_tools(adapter, request, lost))
    lose_serial(request, lost)
    lose_schema_name(request, lost)
    if request.schema is not None:
        lost.append(Loss("request", "", "response_format", "dropped: each model has other words for it here"))
    if request.think is not None:
        lost.append(Loss("request", "", "thinking", "dropped: each model has other words for it here"))
    return written


def _config(request: Request, lost: list[Loss]) -> dict[str, Any]:
    lose_unwritten(request, _SAMPLING, lost)
    sampling = clamp(pick(request.sampling, _SAMPLING), _BOUNDS, lost)
    config = {_SAMPLING[name]: value for name, value in sampling.items()}
    return config | drop_empty(maxTokens=request.max_tokens, stopSequences=request.stop)


def _tools(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any] | None:
    """The tools; where the history has calls they must be declared, so none of them is left out for `none`."""
    tools = adapter.write_tools(request.tools, lost)
    if not tools:
        return None
    choice = request.choice
    if choice.mode == "none":
        lost.append(Loss("request", "", "tool_choice", "dropped: the model decides"))
    if choice.name:
        return {"tools": tools, "toolChoice": {"tool": {"name": choice.name}}}
    mode = _MODES.get(choice.mode or "")
    return {"tools": tools, **drop_empty(toolChoice={mode: {}} if mode else None)}
