"""What a library costs that reads the arguments so far again at every delta: growth, not only speed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

__all__ = ["ARGUMENT_READERS", "ArgumentReader"]

Run = Callable[[Iterable[str]], Any]
"""Takes the pieces of one JSON text and gives the value at the end, having looked at it after each piece."""


class ArgumentReader(NamedTuple):
    name: str
    distribution: str
    make: Callable[[], Run]


def _again(load: Callable[[str], Any]) -> Run:
    """Read all that has come, after each piece."""

    def run(pieces: Iterable[str]) -> Any:
        text, value = "", None
        for piece in pieces:
            text += piece
            value = load(text)
        return value

    return run


def _ours() -> Run:
    from streamparse.json.partial import PartialReader

    def run(pieces: Iterable[str]) -> Any:
        reader, value = PartialReader(), None
        for piece in pieces:
            reader.feed(piece)
            value = reader.value
        return value

    return run


def _jiter() -> Run:
    import jiter

    return _again(lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings"))


def _pydantic_core() -> Run:
    import pydantic_core

    return _again(lambda text: pydantic_core.from_json(text, allow_partial="trailing-strings"))


def _partial_json_parser() -> Run:
    import partial_json_parser

    return _again(partial_json_parser.loads)


def _json_repair() -> Run:
    import json_repair

    return _again(json_repair.loads)


def _json_tried() -> Run:
    def load(text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return None

    return _again(load)


ARGUMENT_READERS = [
    ArgumentReader("streamparse", "llm-streamparse", _ours),
    ArgumentReader("json.loads, tried", "Python", _json_tried),
    ArgumentReader("jiter", "jiter", _jiter),
    ArgumentReader("pydantic_core", "pydantic-core", _pydantic_core),
    ArgumentReader("partial-json-parser", "partial-json-parser", _partial_json_parser),
    ArgumentReader("json_repair", "json-repair", _json_repair),
]
"""All of them, ours first."""
