"""What the pieces around a stream look like: who reads answers, who writes tools and results, what a format is.

Each is a `typing.Protocol`, and checkable with `isinstance` (by the names of the members): a piece of one's own
needs no base class.  Formats stay on the far side of these: what comes out is always the internal types.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from streamparse.response import ParsedResponse
from streamparse.tools import ToolResult

__all__ = ["ToolCallParser", "ToolDefinitionAdapter", "ToolFormat", "ToolResultAdapter"]


@runtime_checkable
class ToolCallParser(Protocol):
    """Reads whole responses."""

    def can_parse(self, body: Any, /) -> bool:
        """Whether this parser finds what it looks for in a body; never raises."""

    def parse(self, body: Any, /) -> ParsedResponse:
        """Read a body of any type; what is wrong with it is in `ParsedResponse.errors`, and nothing raises."""


@runtime_checkable
class ToolDefinitionAdapter(Protocol):
    """Writes the tools of a request in one provider's words."""

    def format_tools(self, tools: Iterable[Any], /) -> Any:
        """Return what the provider takes as `tools`."""

    def format_system_prompt(self, tools: Iterable[Any], /) -> str:
        """Return the tools as text for a model that has no other way to learn of them; may be empty."""


@runtime_checkable
class ToolResultAdapter(Protocol):
    """Writes what came of a call in one provider's words."""

    def format_result(self, result: ToolResult, /) -> Any:
        """Return what the provider takes as the result of one call."""


@runtime_checkable
class ToolFormat(Protocol):
    """How to speak with one model on one server: all that must be known of it, under one name."""

    @property
    def name(self) -> str:
        """The name of the format, for people."""

    @property
    def wire(self) -> str:
        """The wire of the answers, or "auto"."""

    @property
    def dialects(self) -> Any:
        """The dialects to look for in the text: names, "auto" or `()`."""

    @property
    def definitions(self) -> ToolDefinitionAdapter:
        """Who writes the tools."""

    @property
    def results(self) -> ToolResultAdapter:
        """Who writes the results."""

    @property
    def capabilities(self) -> Any:
        """What the model and its server can do."""
