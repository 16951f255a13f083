"""Whole responses by several strategies at once.

By default one reading finds what streaming finds (native fields and markup, in the order of the answer, the same call
told both ways only once, with its native id); where it finds no call, JSON in the content counts; then come intents.
Parsers of one's own choice are asked one after the other, and what they find is put together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, get_args

from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.limits import Limits
from streamparse.parser.engine import Engine
from streamparse.parser.intents import HeuristicParser, find_intents
from streamparse.parser.merge import merged, native_first
from streamparse.parser.strategies import JSONContentParser, MarkupParser, NativeParser
from streamparse.protocols import ToolCallParser
from streamparse.providers.wires import WireName
from streamparse.response import ParsedResponse

__all__ = ["CompositeParser", "Strategy", "parse_response"]

Strategy: TypeAlias = Literal["merge", "first"]
"""Whose calls count: those of all parsers, or those of the first that finds some."""


class CompositeParser:
    """Parses whole responses: dict, text, bytes, SDK object or list of chunks, of any wire, or the text of an answer.

    `parsers` are asked in their order; a wire's name in their place is short for `wire=`.  With "merge" the calls of
    all of them count, the same call (name and arguments) of two parsers once.  The other options are those of
    `StreamParser`, and `otherwise`: the wire of a body that shows none.

    Unknown names raise ValueError, and what is no response TypeError.  No response raises: what is wrong with it is in
    `ParsedResponse.errors`.
    """

    def __init__(
        self,
        parsers: Iterable[ToolCallParser] | str | None = None,
        strategy: Strategy = "merge",
        *,
        wire: WireName = "auto",
        otherwise: str = "openai-chat",
        dialects: Dialects = "auto",
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        quoted: Quoted = "text",
    ) -> None:
        if strategy not in get_args(Strategy):
            raise ValueError(f"unknown strategy {strategy!r}; known are: {', '.join(get_args(Strategy))}")
        if isinstance(parsers, str):
            wire = parsers
        given = None if isinstance(parsers, str) else parsers
        self._engine = Engine(
            wire, otherwise=otherwise, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits, quoted=quoted
        )
        self._strategy: Strategy = strategy
        self._parsers = None if given is None else tuple(_checked(given))
        if given is None and strategy == "first":
            options: dict[str, Any] = {"wire": wire, "otherwise": otherwise, "tools": self._engine.tools}
            markup = MarkupParser(self._engine.dialects, reasoning=reasoning, limits=limits, **options)
            others = (JSONContentParser(limits=limits, **options), HeuristicParser(limits=limits, **options))
            in_text = (markup, *others) if self._engine.dialects else ()
            self._parsers = (NativeParser(limits=limits, **options), *in_text)

    def can_parse(self, body: Any) -> bool:
        """Whether there are calls, whole or broken, or intents."""
        response = self.parse(body)
        return bool(response.tool_calls or response.broken_calls or response.intents)

    def parse(self, body: Any) -> ParsedResponse:
        """Parse one body; `raw_response` is the body itself."""
        if self._parsers is None:
            return self._parse_at_once(body)
        return merged(self._parsers, self._strategy, body)

    def _parse_at_once(self, body: Any) -> ParsedResponse:
        engine = self._engine
        if not engine.dialects:
            return engine.read(body).response
        response = engine.read_json(body).response
        native_first(response)
        called = {call.name for call in response.tool_calls}
        intents = find_intents(response.content, engine.tools)
        response.intents = [intent for intent in intents if intent.name not in called]
        return response


def _checked(parsers: Iterable[ToolCallParser]) -> Iterable[ToolCallParser]:
    for parser in parsers:
        if not isinstance(parser, ToolCallParser):
            raise TypeError(f"a parser needs can_parse and parse, got {parser!r}")
        yield parser


def parse_response(
    body: Any,
    wire: WireName = "auto",
    *,
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Reasoning = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    quoted: Quoted = "text",
) -> ParsedResponse:
    """Parse a whole response in one call; see `CompositeParser`."""
    parser = CompositeParser(
        wire=wire, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits, quoted=quoted
    )
    return parser.parse(body)
