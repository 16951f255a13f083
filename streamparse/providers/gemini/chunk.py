"""The shape of a `GenerateContentResponse`, or of an event of an interaction: only the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.providers.gemini.interaction_event import InteractionEvent
from streamparse.providers.gemini.partial_args import PartialArg

__all__ = ["Candidate", "Chunk", "Content", "Feedback", "FunctionCall", "Part"]


class FunctionCall(msgspec.Struct, gc=False):
    """A call, or a piece of one."""

    name: str | None = None
    args: msgspec.Raw = msgspec.Raw()
    id: str | None = None
    partialArgs: list[PartialArg] | None = None
    willContinue: bool | None = None


class Part(msgspec.Struct, gc=False):
    """One of many things."""

    text: str | None = None
    thought: bool | None = None
    functionCall: FunctionCall | None = None
    thoughtSignature: str | None = None
    executableCode: Any = None
    codeExecutionResult: Any = None
    inlineData: Any = None
    fileData: Any = None
    toolCall: Any = None
    toolResponse: Any = None
    functionResponse: Any = None


class Content(msgspec.Struct, gc=False):
    parts: list[Part] | None = None


class Candidate(msgspec.Struct, gc=False):
    content: Content | None = None
    finishReason: str | int | None = None
    index: int | None = None
    finishMessage: str | None = None
    groundingMetadata: Any = None
    citationMetadata: Any = None
    urlContextMetadata: Any = None


class Feedback(msgspec.Struct, gc=False):
    """Why the prompt was refused."""

    blockReason: str | int | None = None
    blockReasonMessage: str | None = None


class Chunk(InteractionEvent, gc=False):
    """A chunk; Code Assist sends each in an envelope: `{"response": {...}, "traceId": ...}`."""

    candidates: list[Candidate] | None = None
    usageMetadata: dict[str, Any] | None = None
    promptFeedback: Feedback | None = None
    error: Any = None
    detail: Any = None
    message: Any = None
    code: Any = None
    response: Chunk | None = None
