"""Parsers by the name of a provider.

A provider's parser reads whatever its servers send, for many speak several wires; the one of the table is that of a
body which shows none.  Names count without regard to case, blanks, dots, dashes and underscores.  A name that is not
known is looked for among the entry points of installed distributions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from streamparse.plugins import find
from streamparse.protocols import ToolCallParser
from streamparse.recover.composite import CompositeParser
from streamparse.recover.intents import HeuristicParser
from streamparse.recover.strategies import JSONContentParser, MarkupParser, NativeParser
from streamparse.wires import WIRES

__all__ = ["PROVIDERS", "STRATEGIES", "ParserFactory", "parser_for", "register_parser"]

ParserFactory: TypeAlias = Callable[[Iterable[Any] | None], ToolCallParser]
"""Makes a parser for the tools of a request, if there are any."""

_GROUP: Final = "streamparse.parsers"

PROVIDERS: Final[dict[str, str]] = {
    **dict.fromkeys(("openai", "azure", "openrouter", "xai", "deepseek", "groq", "mistral", "together"), "openai-chat"),
    **dict.fromkeys(("fireworks", "cerebras", "sambanova", "nvidia", "perplexity", "huggingface"), "openai-chat"),
    **dict.fromkeys(("moonshot", "zhipu", "minimax", "alibaba", "databricks", "cloudflare", "github"), "openai-chat"),
    **dict.fromkeys(("vllm", "sglang", "llamacpp", "lmstudio", "tgi", "litellm", "llamafile"), "openai-chat"),
    "anthropic": "anthropic",
    **dict.fromkeys(("google", "gemini", "vertex"), "gemini"),
    "ollama": "ollama-chat",
    "cohere": "cohere",
    "bedrock": "bedrock-converse",
}
"""Providers and servers, each with its wire."""

STRATEGIES: Final[dict[str, ParserFactory]] = {
    "composite": lambda tools: CompositeParser(tools=tools),
    "native": lambda tools: NativeParser(tools=tools),
    "markup": lambda tools: MarkupParser(tools=tools),
    "json-content": lambda tools: JSONContentParser(tools=tools),
    "heuristic": lambda tools: HeuristicParser(tools=tools),
}
"""The parsers of this room, for bodies of any provider."""

_factories: dict[str, tuple[str, ParserFactory]] = {}


def register_parser(name: str, factory: ParserFactory) -> None:
    """Let `parser_for(name, tools=...)` return what `factory(tools)` makes.

    Raises ValueError if the name is taken, TypeError if the factory cannot be called.
    """
    if not isinstance(name, str) or not _key(name):
        raise ValueError(f"a parser needs a name, got {name!r}")
    if _key(name) in _factories or _key(name) in map(_key, (*PROVIDERS, *WIRES, *STRATEGIES)):
        raise ValueError(f"there is a parser {name!r} already")
    if not callable(factory):
        raise TypeError(f"the parser {name!r} needs a factory, got {factory!r}")
    _factories[_key(name)] = (name, factory)


def parser_for(provider: str, *, tools: Iterable[Any] | None = None) -> ToolCallParser:
    """Return a parser of whole responses for a provider, a wire, one of `STRATEGIES`, or a registered name.

    Raises ValueError for an unknown name, and TypeError if a registered factory makes no parser.
    """
    key = _key(provider)
    if key in PROVIDERS:
        return CompositeParser(otherwise=PROVIDERS[key], tools=tools)
    if (wire := next((name for name in WIRES if _key(name) == key), None)) is not None:
        return CompositeParser(wire=wire, tools=tools)
    if (strategy := next((make for name, make in STRATEGIES.items() if _key(name) == key), None)) is not None:
        return strategy(tools)
    if key not in _factories:
        find(_GROUP, provider)
    if key not in _factories:
        known = ", ".join((*PROVIDERS, *WIRES, *STRATEGIES, *(name for name, _ in _factories.values())))
        raise ValueError(f"unknown provider {provider!r}; known are: {known}")
    return _made(provider, _factories[key][1](tools))


def _key(name: str) -> str:
    return re.sub(r"[\s._-]", "", name).casefold()


def _made(name: str, parser: object) -> ToolCallParser:
    if not isinstance(parser, ToolCallParser):
        raise TypeError(f"the factory of {name!r} made no parser, but {parser!r}")
    return parser
