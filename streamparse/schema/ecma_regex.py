r"""The regular expressions of JSON Schema, which are ECMA-262's, for the engines of jsonschema-rs.

They are not anchored (JSON Schema 2020-12, core, section 6.4).  jsonschema-rs itself reads `\d`, `\w`, `\s` and `$` as
ECMA-262 does.  What it reads in another way, or not at all, is translated:

| in ECMA-262 | means |
|---|---|
| `.` | any character but line breaks, which include `\r`, U+2028 and U+2029 |
| `\b`, `\B` | the edge of an ASCII word |
| `\ud83d\ude00`, `\0` | one character |
| `\k<name>` | what the group caught |
| `[]`, `[^]` | no character, any character |
| `{` that begins no count, `[` in a class, `-` next to a set | itself |
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

SIZE_LIMIT: Final = 16 << 20  # bound: bytes for one pattern; `(a{1000}){1000}` would need gigabytes
BACKTRACK_LIMIT: Final = 10_000  # bound: the steps back of one search with look-arounds or back-references
HUGE: Final = 1 << 62  # source: more steps than are ever taken
_MOST_STEPS: Final = 300_000_000  # bound: the seconds of one search, at some nanoseconds a step
_FAILURES: Final = ("BacktrackLimitExceeded", "RegexEngineFailure")
_LARGEST: Final = 20_000  # bound: the parts of a pattern once its counts are written out
_LARGE_SET: Final = 10  # source: the parts that a set of Unicode's is compiled to, about

_SETS: Final = r"\\[pP]\{[^{}]*\}|\\[dDwWsS]"
_ESCAPE: Final = (
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\0(?![0-9])|\\u\{[0-9a-fA-F]+\}|\\k<[^<>]*>"
    r"|\\[pP]\{[^{}]*\}|\\[\s\S]"
)
_TOKEN: Final = re.compile(
    rf"{_ESCAPE}|\(\?<(?![=!])[^<>]*>|\((?!\?)|\[\^?\]|\[(?:\\[\s\S]|[^\]\\])+\]?|\.|\{{(?!\d+(?:,\d*)?\}})"
)
_IN_CLASS: Final = re.compile(rf"(?:{_SETS})-?|{_ESCAPE}|--|-(?={_SETS})|[\[&|~]")
_PART: Final = re.compile(
    r"\\u\{[0-9a-fA-F]+\}|\\[pP]\{[^{}]*\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])+\]?|\{(\d+)(?:,(\d*))?\}|[\s\S]"
)

_LOOKS: Final = ("(?=", "(?!", "(?<=", "(?<!")
_BACK_REFERENCE: Final = re.compile(r"\\[1-9k]")
_UNICODE: Final = re.compile(r"\\[pP]")

_WORD: Final = "[0-9A-Za-z_]"
_PLAIN: Final = {
    ".": r"[^\n\r\u2028\u2029]",
    "[]": r"[^\s\S]",
    "[^]": r"[\s\S]",
    "{": r"\{",
}
_LINEAR_EDGES: Final = {"\\b": r"(?-u:\b)", "\\B": r"(?-u:\B)"}
_EDGES: Final = {
    "\\b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "\\B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}


class Pattern(msgspec.Struct, frozen=True):
    """A pattern that an engine can read: `linear` is written for the one whose work is linear in the text, if it can.

    `weight` is the number of its parts, with counts written out: the work for each character, `is_quadratic` whether
    that work may be done anew at each character.
    """

    linear: str | None
    backtracking: str
    weight: int
    is_quadratic: bool = False

    def count_steps(self, text: str) -> int:
        """Return how many steps a search in a text takes at most; `HUGE` if that is not known."""
        length = len(text) + 1
        steps = length * self.weight * (length if self.is_quadratic else 1)
        if self.linear is not None or steps > _MOST_STEPS:
            return steps
        # A search that meets `BACKTRACK_LIMIT` would count as no match, which inside a `not` is a match.
        errors = _compile(self.backtracking, False).iter_errors(text)
        return HUGE if any(type(error.kind).__name__ in _FAILURES for error in errors) else steps


@lru_cache(maxsize=256)
def _compile(written: str, linear: bool) -> Any:
    import jsonschema_rs  # noqa: PLC0415 - an extra

    return jsonschema_rs.Draft202012Validator({"pattern": written}, pattern_options=make_engine_options(linear))


@lru_cache(maxsize=1024)
def read_pattern(source: str) -> Pattern | None:
    """Return the pattern, None if no engine can read it.  Raises ModuleNotFoundError without jsonschema-rs."""
    weight = measure_pattern(source)
    if weight > _LARGEST:
        return None
    linear, backtracking = translate(source, _LINEAR_EDGES), translate(source, _EDGES)
    if linear is not None and _can_read(linear, True):
        return Pattern(linear, backtracking or linear, weight)
    if backtracking is None or not _can_read(backtracking, False):
        return None
    return Pattern(None, backtracking, weight, not _is_linear_backtracking(source))


def make_engine_options(linear: bool) -> Any:
    """The engine, as jsonschema-rs takes it: the linear one, or the one that can look around and steps back."""
    import jsonschema_rs  # noqa: PLC0415 - an extra

    if linear:
        return jsonschema_rs.RegexOptions(size_limit=SIZE_LIMIT)
    return jsonschema_rs.FancyRegexOptions(size_limit=SIZE_LIMIT, backtrack_limit=BACKTRACK_LIMIT)


def _can_read(written: str, linear: bool) -> bool:
    try:
        _compile(written, linear)
    except ValueError:
        return False
    return True


def _is_linear_backtracking(source: str) -> bool:
    """Whether a pattern looks around at the very beginning alone (`^(?!-)…`): there each part is tried once."""
    depth, is_beginning = 0, source.startswith("^")
    for part in _PART.finditer(source, 1):
        if part[0] == "(":
            looks = source.startswith(_LOOKS, part.start())
            if looks and (depth or not is_beginning):
                return False
            is_beginning = is_beginning and (looks or depth > 0)
            depth += 1
        elif part[0] == ")":
            depth -= 1
        elif (part[0] == "|" and depth == 0) or _BACK_REFERENCE.fullmatch(part[0]):
            return False
        elif depth == 0:
            is_beginning = False
    return source.startswith("^")


def measure_pattern(source: str) -> int:
    """Count the parts of a pattern; a part with a count counts as often as it may occur, or must if that has no end."""
    sizes, last = [0], 0
    for part in _PART.finditer(source):
        if part[0] == "(":
            sizes.append(0)
        elif part[1]:
            sizes[-1] += last * (max(_read_count(part[1]), _read_count(part[2] or "1")) - 1)
        else:
            last = sizes.pop() if part[0] == ")" and len(sizes) > 1 else _LARGE_SET if _UNICODE.search(part[0]) else 1
            sizes[-1] += last
    return sum(sizes) + 1


def _read_count(digits: str) -> int:
    return int(digits[:9]) or 1


def translate(source: str, edges: dict[str, str] = _EDGES) -> str | None:
    """Write an ECMA-262 pattern for jsonschema-rs; None if it names a group that it does not have."""
    groups = [match[0] for match in _TOKEN.finditer(source) if match[0].startswith("(")]
    numbers = {f"\\k{group[2:]}": f"(?:\\{number})" for number, group in enumerate(groups, 1) if group != "("}
    plain = {**_PLAIN, **edges, **numbers}
    if any(match[0].startswith("\\k<") and match[0] not in numbers for match in _TOKEN.finditer(source)):
        return None
    return _TOKEN.sub(lambda match: _translate_token(match[0], plain), source)


def _translate_token(token: str, plain: dict[str, str]) -> str:
    if token in plain:
        return plain[token]
    if token.startswith("["):
        return "[" + _IN_CLASS.sub(lambda match: _translate_in_class(match[0]), token[1:])
    return _translate_escape(token)


def _translate_in_class(token: str) -> str:
    """A hyphen next to a set is an ordinary character."""
    if token in ("-", "--"):
        return token[1:] + "\\-"
    if token in ("[", "&", "|", "~"):
        return "\\" + token
    if token == "\\b":
        return "\\x08"
    sets = token.removesuffix("-") if token[1:2] in tuple("dDwWsSpP") else token
    return _translate_escape(sets) + ("\\-" if sets != token else "")


def _translate_escape(token: str) -> str:
    if token == "\\0":
        return "\\x00"
    if token[1:2] == "u" and len(token) == 12:
        return f"\\u{{{0x10000 + (int(token[2:6], 16) - 0xD800) * 0x400 + int(token[8:], 16) - 0xDC00:x}}}"
    return token
