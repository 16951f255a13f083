"""The protocols of the pieces around a stream: parsers of whole answers, writers of tools and results, formats.

Each is a `typing.Protocol` and can be checked with `isinstance`, by the names of its members: a piece of your own needs
no base class.  Providers' formats stay outside of these; the results are always of the library's own types.
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
        """Whether this parser finds a call in a body, whole or broken, or an intent; never raises."""

    def parse(self, body: Any, /) -> ParsedResponse:
        """Read a body of any type.  Never raises: errors are in `ParsedResponse.errors`."""


@runtime_checkable
class ToolDefinitionAdapter(Protocol):
    """Writes the tools of a request in one provider's format."""

    def format_tools(self, tools: Iterable[Any], /) -> Any:
        """Return what the provider takes as `tools`."""

    def format_system_prompt(self, tools: Iterable[Any], /) -> str:
        """Return the tools as text, for models that take no `tools`; may be empty."""


@runtime_checkable
class ToolResultAdapter(Protocol):
    """Writes the result of a call in one provider's format."""

    def format_result(self, result: ToolResult, /) -> Any:
        """Return what the provider takes as the result of one call."""


@runtime_checkable
class ToolFormat(Protocol):
    """How to speak with one model on one server."""

    @property
    def name(self) -> str:
        """A name for people."""

    @property
    def wire(self) -> str:
        """The wire of the answers, or "auto"."""

    @property
    def dialects(self) -> Any:
        """The dialects to look for in the text: names, "auto" or `()`."""

    @property
    def definitions(self) -> ToolDefinitionAdapter:
        """The writer of the tools."""

    @property
    def results(self) -> ToolResultAdapter:
        """The writer of the results."""

    @property
    def capabilities(self) -> Any:
        """What the model and its server can do."""
