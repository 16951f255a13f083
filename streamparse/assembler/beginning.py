"""What the arguments of a native call are, as soon as their first characters show it.

| the text so far | what it is |
|---|---|
| blanks, or `{` and blanks | undecided |
| `{}` and blanks, for a tool that takes arguments | a placeholder: real arguments may follow |
| the same, and another `{` | a placeholder that is replaced |
| `{` and anything else | an object |
| anything else | a value: `null`, or a string that may hold the object |
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from streamparse.patterns import BLANKS, lazy_re

Beginning: TypeAlias = Literal["undecided", "placeholder", "replaced", "object", "value"]

_UNDECIDED: Final = lazy_re(r"[ \t\r\n]*(?:\{[ \t\r\n]*)?")
_PLACEHOLDER: Final = lazy_re(r"[ \t\r\n]*\{[ \t\r\n]*\}")
_MAX_UNDECIDED: Final = 64  # bound: characters that are looked at again with each fragment


def judge_beginning(text: str, takes_nothing: bool) -> tuple[Beginning, int]:
    """Judge the text so far: what it is, and where a placeholder ends, or what replaces it begins; else 0.

    `takes_nothing`: the tool requires no arguments, so `{}` is all of them.
    """
    undecided = _UNDECIDED.match(text)
    assert undecided is not None
    if undecided.end() == len(text) <= _MAX_UNDECIDED:
        return "undecided", 0
    placeholder = _PLACEHOLDER.match(text)
    if placeholder is None:
        return ("object" if "{" in undecided[0] else "value"), 0
    rest = text[placeholder.end() :].lstrip(BLANKS)
    if takes_nothing or (rest and rest[0] != "{"):
        return "object", 0
    return ("replaced", len(text) - len(rest)) if rest else ("placeholder", placeholder.end())
