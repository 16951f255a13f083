"""What a history holds: prompts of the user, and rounds, each an answer and the results of its calls."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from streamparse.response import ParsedResponse
from streamparse.tools import ToolResult
from streamparse.writing.parts import Document, Image, Text

__all__ = ["Entry", "Prompt", "PromptPart", "Round"]

PromptPart: TypeAlias = Text | Image | Document


class Prompt(msgspec.Struct, frozen=True, tag_field="type", tag="prompt"):
    """What the user said."""

    parts: tuple[PromptPart, ...]


class Round(msgspec.Struct, frozen=True, tag_field="type", tag="round"):
    """One answer of the model, and the results of its calls.

    `provider` is the name of the adapter that the answer came from, and `model` the model's: signatures, thoughts and
    items go back to these alone.  Where one is "", it is not known, and only the kind of an item says whose it is.
    `heard` is what the user heard of the visible text before the answer was cancelled; None if that is not known, or
    all of it.
    """

    response: ParsedResponse
    results: tuple[ToolResult, ...] = ()
    provider: str = ""
    model: str = ""
    heard: str | None = None


Entry: TypeAlias = Prompt | Round
