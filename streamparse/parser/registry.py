"""Parsers by the name of a provider.

A provider's parser reads whatever its servers send, for many speak several wires; the one of the table is that of a
body which shows none.  Names count without regard to case, blanks, dots, dashes and underscores.  A name that is not
known is looked for among the entry points of installed distributions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from streamparse.dialects import GROUPS
from streamparse.parser.composite import CompositeParser, JSONContentParser, MarkupParser, NativeParser
from streamparse.parser.intents import HeuristicParser
from streamparse.plugins import load
from streamparse.protocols import ToolCallParser
from streamparse.providers.names import NATIVE_FORMATS, normalize_name
from streamparse.providers.names import PROVIDERS as _ROWS
from streamparse.providers.wires import WIRES
from streamparse.unknown_names import list_known

ParserFactory: TypeAlias = Callable[[Iterable[Any] | None], ToolCallParser]
"""Makes a parser for the tools of a request, if there are any."""

_GROUP: Final = "streamparse.parsers"

PROVIDERS: Final[dict[str, str]] = {word: row.wire for name, row in _ROWS.items() for word in (name, *row.aliases)}
"""Providers and servers, by each of their names, with their wires."""


def _make_composite(dialects: tuple[str, ...]) -> ParserFactory:
    return lambda tools: CompositeParser(dialects=dialects, tools=tools)


STRATEGIES: Final[dict[str, ParserFactory]] = {
    "composite": lambda tools: CompositeParser(tools=tools),
    "auto": lambda tools: CompositeParser(tools=tools),
    "markup": lambda tools: MarkupParser(tools=tools),
    "json-content": lambda tools: JSONContentParser(tools=tools),
    "heuristic": lambda tools: HeuristicParser(tools=tools),
    **dict.fromkeys(("native", *NATIVE_FORMATS), lambda tools: NativeParser(tools=tools)),
    **{name: _make_composite(dialects) for name, dialects in GROUPS.items()},
}
"""The parsers of this room, for bodies of any provider; those of `GROUPS` read native fields and these formats."""

_factories: dict[str, tuple[str, ParserFactory]] = {}


def register_parser(name: str, factory: ParserFactory) -> None:
    """Let `parser_for(name, tools=...)` return what `factory(tools)` makes.

    Raises ValueError if the name is taken, TypeError if the factory cannot be called.
    """
    if not isinstance(name, str) or not normalize_name(name):
        raise ValueError(f"a parser needs a name, got {name!r}")
    if normalize_name(name) in _factories or normalize_name(name) in map(
        normalize_name, (*PROVIDERS, *WIRES, *STRATEGIES)
    ):
        raise ValueError(f"there is a parser {name!r} already")
    if not callable(factory):
        raise TypeError(f"the parser {name!r} needs a factory, got {factory!r}")
    _factories[normalize_name(name)] = (name, factory)


def parser_for(provider: str, *, tools: Iterable[Any] | None = None) -> ToolCallParser:
    """Return a parser of whole responses for a provider, a wire, one of `STRATEGIES`, or a registered name.

    Raises ValueError for an unknown name, and TypeError if a registered factory makes no parser.
    """
    return _check_parser(provider, find_factory(provider)(tools))


def find_factory(name: str) -> ParserFactory:
    """Return what makes the parser of this name; raises ValueError for an unknown one."""
    key = normalize_name(name) if isinstance(name, str) else ""
    if not key:
        raise ValueError(f"unknown parser {name!r}; {list_known(name, _list_names())}")
    if (otherwise := next((row for word, row in PROVIDERS.items() if normalize_name(word) == key), None)) is not None:
        return lambda tools: CompositeParser(otherwise=otherwise, tools=tools)
    if (wire := next((each for each in WIRES if normalize_name(each) == key), None)) is not None:
        return lambda tools: CompositeParser(wire=wire, tools=tools)
    if (strategy := next((make for each, make in STRATEGIES.items() if normalize_name(each) == key), None)) is not None:
        return strategy
    if key not in _factories:
        load(_GROUP, name)
    if key not in _factories:
        raise ValueError(f"unknown parser {name!r}; {list_known(name, _list_names())}")
    return _factories[key][1]


def _list_names() -> list[str]:
    return [*PROVIDERS, *WIRES, *STRATEGIES, *(each for each, _ in _factories.values())]


def _check_parser(name: str, parser: object) -> ToolCallParser:
    if not isinstance(parser, ToolCallParser):
        raise TypeError(f"the factory of {name!r} made no parser, but {parser!r}")
    return parser
