"""Reads what a docstring says about a function and its parameters.

| style | a parameter |
|---|---|
| Google | under `Args:` (or, of a class, `Attributes:`), indented: `name (type): text` |
| NumPy | under `Parameters` and a line of dashes: `name : type` or `a, b : type`, then indented text |
| Sphinx | `:param type name: text` |
"""

from __future__ import annotations

import inspect
import re
from itertools import pairwise
from textwrap import dedent
from typing import NamedTuple

from streamparse.patterns import lazy_re

_PARAMETER_TITLES = {
    "args", "arguments", "attributes", "params", "parameters", "keyword args", "keyword arguments", "other parameters",
}  # fmt: skip
_OTHER_TITLES = {
    "example", "examples", "note", "notes", "raises", "references", "return", "returns", "see also",
    "todo", "warning", "warnings", "warns", "yield", "yields",
}  # fmt: skip
_TITLES = _PARAMETER_TITLES | _OTHER_TITLES

_NAME = lazy_re(r"\w+")
# Google's, NumPy's and Sphinx's style.
_INDENTED_ENTRY = lazy_re(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)")
_UNDERLINED_ENTRY = lazy_re(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?()$")
_FIELD_ENTRY = lazy_re(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_FIELD = lazy_re(r":(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|yields?|meta)\b.*:")


class Docstring(NamedTuple):
    """The prose before the first section, and the text on each parameter."""

    description: str
    parameters: dict[str, str]


class _Section(NamedTuple):
    entry: re.Pattern[str] | None
    body: list[str]


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring of any of the three styles; a docstring of another style is all description."""
    prose, *sections = _split_sections(inspect.cleandoc(text or "").splitlines())
    parameters: dict[str, str] = {}
    for section in sections:
        if section.entry is not None:
            parameters |= _read_entries(section.body, section.entry)
    return Docstring("\n".join(prose.body).strip(), parameters)


def _split_sections(lines: list[str]) -> list[_Section]:
    """Cut the lines before each title; the first section has no title."""
    sections = [_Section(None, [])]
    for line, below in pairwise([*lines, ""]):
        opened = _read_title(line, below)
        if opened is None:
            sections[-1].body.append(line)
        else:
            sections.append(opened)
    return sections


def _read_title(line: str, below: str) -> _Section | None:
    if _FIELD.match(line):
        return _Section(_FIELD_ENTRY, [line])
    title = line.rstrip(": ").lower()
    is_underlined = len(below) >= 3 and not below.strip("-=")
    if title not in _TITLES or not (is_underlined or line.endswith(":")):
        return None
    entry = _UNDERLINED_ENTRY if is_underlined else _INDENTED_ENTRY
    return _Section(entry if title in _PARAMETER_TITLES else None, [])


def _read_entries(body: list[str], entry: re.Pattern[str]) -> dict[str, str]:
    """Read `name: text` entries; a line that is indented deeper goes on with the text of the one above."""
    found: dict[str, list[str]] = {}
    text: list[str] = []
    for line in dedent("\n".join(body)).splitlines():
        if line[:1].isspace() or not line:
            text.append(line.strip())
            continue
        text = []
        if match := entry.match(line):
            text.append(match[2].strip())
            found |= dict.fromkeys(_NAME.findall(match[1]), text)
    return {name: " ".join(filter(None, words)) for name, words in found.items()}
