"""Work by counting: the calls that the interpreter makes, and the text within their reach.

The characters of all text that the called functions of the library were given, or hold in a buffer, are summed: a
buffer that is searched again with each piece shows there.  Functions of `json`, but for the scanner, count only as
calls: they share one text, and are given the place where each of them goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from cuts import in_pieces

import streamparse as sp
from streamparse.dialects.engine.reader import Reader

__all__ = ["assert_linear", "read", "repeated", "work"]

PACKAGE = Path(sp.__file__).parent
READS_IN_PLACE, SCANNER = str(PACKAGE / "json"), str(PACKAGE / "json" / "scan.py")
GROWTH = 1.15
TEXTS = {str, bytes, bytearray}


def repeated(text: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """What makes a text of about so many characters of another one, again and again."""
    return lambda size: before + text * (size // len(text)) + after


@cache
def _names_of(code: CodeType) -> tuple[str, ...] | None:
    """The arguments of a function whose text counts; None of any other."""
    path = code.co_filename
    counts = path.startswith(str(PACKAGE)) and (path == SCANNER or not path.startswith(READS_IN_PLACE))
    return code.co_varnames[: code.co_argcount] if counts else None


def _held(values: dict[str, Any], names: tuple[str, ...]) -> int:
    """The text within reach of a function that is about to run."""
    held = 0
    for name in names:
        value = values.get(name)
        if type(value) in TEXTS:
            held += len(value)
        elif type(value) is Reader and hasattr(value, "buffer"):
            held += len(value.buffer)
    return held


def read(parser: Any, pieces: list[Any]) -> None:
    for piece in pieces:
        parser.feed(piece)
    parser.close()


def work(parser: Any, pieces: list[Any]) -> tuple[int, int]:
    """Feed and close; how many calls that took, and how many characters they were within reach of."""
    calls = reach = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls, reach
        if event == "call":
            calls += 1
            if names := _names_of(frame.f_code):
                reach += _held(frame.f_locals, names)
        elif event == "c_call":
            calls += 1

    sys.setprofile(count)
    try:
        read(parser, pieces)
    finally:
        sys.setprofile(None)
    return calls, reach


def assert_linear(
    parser: Callable[[], Any], body: Callable[[int], Any], piece: int, sizes: tuple[int, int], growth: float = GROWTH
) -> None:
    """Assert that neither of the figures grows, for each byte or character, between two sizes of a body."""
    per_byte = []
    read(parser(), in_pieces(body(sizes[0]), piece))  # patterns are compiled when they are first used
    for size in sizes:
        data = body(size)
        calls, reach = work(parser(), in_pieces(data, piece))
        per_byte.append((calls / len(data), reach / len(data)))
    (few_calls, little), (many_calls, much) = per_byte
    assert many_calls <= few_calls * growth, "calls"
    assert much <= little * growth, "characters"
