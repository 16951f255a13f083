"""The strategies, each a parser of its own: native fields, markup in the text, JSON in the content.

They share the engine, so each gives the whole record of a response (text, thought, reason, usage), and only the calls
that it looks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.dialects import Dialects, Reasoning
from streamparse.limits import Limits
from streamparse.parser.engine import Engine, NativeReader
from streamparse.response import ParsedResponse

__all__ = ["JSONContentParser", "MarkupParser", "NativeParser"]


class NativeParser(NativeReader):
    """Reads the calls in a wire's own fields, and leaves the text as it is.

    Bodies of every wire, whole or streamed, as dict, text, bytes, SDK object, HTTP response or list of chunks; also the
    message alone, without the body around it.  With `wire="auto"` the body must show its wire, or is taken for that of
    `otherwise`.
    """

    def can_parse(self, body: Any) -> bool:
        """Whether a body shows its wire, or the error of a provider."""
        reading = self._engine.read(body)
        return reading.body.wire is not None or any(error.code == "provider_error" for error in reading.response.errors)

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        return self._engine.read(body).response


class MarkupParser:
    """Reads the calls that are written as markup in the text of an answer, or in the text fields of a body.

    The content comes without the markup and without thoughts between tags.  A call that a body holds natively, too, is
    left to `NativeParser`, with the error `duplicate_call`.
    """

    def __init__(
        self,
        dialects: Dialects = "auto",
        *,
        wire: str = "auto",
        otherwise: str = "openai-chat",
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        self._engine = Engine(
            wire, otherwise=otherwise, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits
        )

    def can_parse(self, body: Any) -> bool:
        """Whether there are calls in the text, whole or broken."""
        response = self.parse(body)
        return bool(response.tool_calls or response.broken_calls)

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        reading = self._engine.read(body)
        response = reading.response
        response.tool_calls = [call for call in response.tool_calls if call.source != "native"]
        return response


class JSONContentParser(NativeReader):
    """Reads calls that stand as JSON in the content: envelopes, lists and single calls, in a fence or bare.

    Only whole JSON that begins or ends the message counts, and only if it names a declared tool; without declared tools
    only a message that is nothing but an envelope of calls, such as `{"toolCalls": [...]}`.
    """

    def can_parse(self, body: Any) -> bool:
        """Whether there are such calls."""
        return bool(self.parse(body).tool_calls)

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        response = self._engine.read(body).response
        if not response.ok:
            response.tool_calls = []
            return response
        found = self._engine.json_in(response.content)
        response.content, response.tool_calls, response.order = found.content, found.tool_calls, found.order
        response.formats = found.formats
        return response
