"""The patterns of a checkpoint's declaration, in so far as they are bounded or can be made so.

A declaration may hold any regular expression, and an arbitrary one can neither be fed piece by piece nor be trusted
to be linear.  Literals, white space, one named group of a character class, and `.*?` are enough for what checkpoints
declare; they are translated, with bounds, and anything else is refused.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from streamparse.patterns import plain

__all__ = ["Bounded", "bounded_pattern", "literals_of"]

_TOKEN = plain(
    r"(?P<blanks>\\s[*+]\??)|(?P<any>\.[*+]\?)"
    r"|\(\?P<(?P<group>\w+)>(?P<kind>\\[wS]|\[\^?[^\]\\]*(?:\\.[^\]\\]*)*\])[+*]\??\)"
    r"|\\(?P<newline>n)|\\(?P<escaped>\W)|(?P<plain>[^\\.^$*+?{}\[\]|()])"
)
_REPEATED = plain(r"[*+?{]")


class Bounded(NamedTuple):
    """A translated pattern: the literal that it begins with, and what follows that."""

    literal: str
    rest: str
    groups: tuple[str, ...]


def bounded_pattern(pattern: str) -> Bounded:
    """Translate a pattern; raises ValueError with the place that cannot be."""
    literal, rest, groups = "", "", []
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise ValueError(f"{pattern!r} holds what cannot be read piece by piece: {pattern[at : at + 20]!r}")
        at = token.end()
        text = _character(token)
        if text is None or _REPEATED.match(pattern, at):
            if text is not None:
                raise ValueError(f"{pattern!r} repeats a character: {pattern[at - 1 : at + 19]!r}")
            rest += _part(token)
        elif rest:
            rest += re.escape(text)
        else:
            literal += text
        if token["group"]:
            groups.append(token["group"])
    return Bounded(literal, rest, tuple(groups))


def _character(token: re.Match[str]) -> str | None:
    if token["newline"]:
        return "\n"
    character = token["escaped"] or token["plain"]
    return character if isinstance(character, str) else None


def _part(token: re.Match[str]) -> str:
    if token["blanks"]:
        return r"\s{0,64}" if "*" in token["blanks"] else r"\s{1,64}"
    if token["any"]:
        return r"[^\n]{0,256}?"
    return f"(?P<{token['group']}>{token['kind']}{{1,256}})"


def literals_of(pattern: str) -> tuple[str, ...]:
    """The literals that a pattern stands for, white space around them aside; raises ValueError if there are others."""
    inner = re.sub(r"^(?:\\s[*+]|\\n\?)|(?:\\s[*+]|\\n\?)$", "", pattern)
    group = re.fullmatch(r"\(\?:(.*)\)", inner, re.DOTALL)
    parts = re.split(r"(?<!\\)\|", group[1] if group else inner)
    found = [bounded_pattern(re.sub(r"\\s[*+]$", "", part)) for part in parts if part != "^"]
    for each in found:
        if each.rest or not each.literal:
            raise ValueError(f"{pattern!r} is no literal")
    return tuple(each.literal for each in found)
