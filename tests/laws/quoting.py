"""Law 11 once more, in plain words: whether a marker is quoted, from the whole text before it.

It reads the text from its start each time, line by line, and shares no code with the library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["is_in_code", "is_quoted"]

_MARKS = "`\"'“”„‟‘’‚‛«»‹›「『〝＂＇"
_PAIRS = (
    "“”",
    "„“",
    "„”",
    "‟”",
    "«»",
    "»«",
    "‘’",
    "‚‘",
    "‚’",
    "‛’",
    "‹›",
    "›‹",
    "「」",
    "『』",
    "〝〞",
    "〝〟",
    "＂＂",
    "＇＇",
    "''",
)


@dataclass
class _Blocks:
    """What is open behind the lines that are over."""

    fence: str = ""
    fence_column: int = 0
    """Where the content begins of the list item that the fence is in."""
    items: list[int] = field(default_factory=list)
    """Where the content of each open list item begins, the outermost first."""
    has_text: bool = False
    is_behind_blank: bool = False
    is_in_code: bool = False

    def item_of(self, column: int) -> int:
        """Where the content of the innermost item begins that something at this column belongs to."""
        return max((item for item in self.items if item <= column), default=0)

    def is_code(self, column: int) -> bool:
        """Whether a line that begins at this column is an indented block."""
        is_possible = self.has_text and (self.is_behind_blank or self.is_in_code)
        return is_possible and column >= self.item_of(column) + 4


def is_quoted(before: str, is_token: bool = False) -> bool:
    """Whether a marker is quoted that stands behind this text; a special token may stand in an indented block."""
    blocks, line = _read_blocks(before)
    if blocks.fence or _is_span_open(line) or _count_quotes(line) % 2:
        return True
    if line and (line[-1] in _MARKS or line[-2:] in ("« ", "«\xa0", "«\u202f")) and not _closes(line):
        return True
    column, rest = _read_indent(line)
    if not is_token and blocks.is_code(column) and line:
        return True
    while item := _read_item(rest):
        rest = rest[len(item) :].lstrip(" \t")
    return (rest.startswith(">") and not rest.startswith(">>>")) or _read_fence(rest) != ""


def is_in_code(before: str) -> bool:
    """Whether what stands behind this text is in a fence or a code span."""
    blocks, line = _read_blocks(before)
    return blocks.fence != "" or _is_span_open(line)


def _read_blocks(before: str) -> tuple[_Blocks, str]:
    """What is open before the last line, and that line."""
    *lines, line = re.split(r"\r\n|\r|\n", before)
    blocks = _Blocks()
    for each in lines:
        _end_line(blocks, each)
    return blocks, line


def _end_line(blocks: _Blocks, line: str) -> None:
    column, rest = _read_indent(line)
    if blocks.fence:
        closing = rest.rstrip()
        if set(closing) == {blocks.fence[0]} and len(closing) >= len(blocks.fence):
            blocks.fence = "" if column <= blocks.fence_column + 3 else blocks.fence
        blocks.is_behind_blank = blocks.is_in_code = False
    elif not rest:
        blocks.is_behind_blank = True
    else:
        blocks.is_in_code = blocks.is_code(column)
        blocks.is_behind_blank, blocks.has_text = False, True
        if not blocks.is_in_code and not rest.startswith(">"):
            _open_blocks(blocks, column, rest)


def _open_blocks(blocks: _Blocks, column: int, rest: str) -> None:
    """A line of text leaves the list items that it is not indented for, and may open others, and a fence."""
    blocks.items = [item for item in blocks.items if item <= column]
    while item := _read_item(rest):
        begin = column + len(item)
        end, behind = _read_indent(rest[len(item) :], begin)
        column = end if 1 <= end - begin <= 4 else begin + 1
        if not behind:
            return
        blocks.items.append(column)
        rest = behind
    inside = blocks.items[-1] if blocks.items else 0
    if column < inside + 4:
        blocks.fence, blocks.fence_column = _read_fence(rest), inside


def _read_indent(line: str, column: int = 0) -> tuple[int, str]:
    """At which column the blanks end that begin at one, and what stands behind them."""
    rest = line.lstrip(" \t")
    for blank in line[: len(line) - len(rest)]:
        column += 1 if blank == " " else 4 - column % 4
    return column, rest


def _read_item(rest: str) -> str:
    """The bullet or the number of a list item; empty if there is none."""
    found = re.match(r"([-*+]|\d{1,9}[.)])([ \t]|\Z)", rest)
    return found[1] if found else ""


def _read_fence(rest: str) -> str:
    """The run that opens a fence; empty if there is none."""
    for mark in "`~":
        run = rest[: len(rest) - len(rest.lstrip(mark))]
        if len(run) >= 3 and (mark == "~" or "`" not in rest[len(run) :]):
            return run
    return ""


def _is_span_open(line: str) -> bool:
    """Whether a run of back-ticks has opened a code span that no run of its length has closed."""
    opened = at = 0
    while at < len(line):
        run = len(line) - at - len(line[at:].lstrip("`"))
        if run:
            opened = run if not opened else 0 if opened == run else opened
        at += run or (2 if line[at] == "\\" and not opened else 1)
    return opened > 0


def _closes(line: str) -> bool:
    """Whether the mark at the end of a line closes, or the one before a blank; no code span or `"` is open there."""
    if line[-1] in '`"':
        return line[-1] == '"' and line[-2:-1] != "\\"
    opened: list[str] = []
    closes = False
    for at, mark in enumerate(line):
        before, behind = line[:at][-1:], line[at + 1 : at + 2]
        if mark in "'’" and before.isalnum() and behind.isalnum():
            continue
        is_escaped = mark in "'＂＇" and before == "\\"
        partners = [] if is_escaped else [place for place, one in enumerate(opened) if one + mark in _PAIRS]
        if partners:
            closes = True
            del opened[partners[-1] :]
        elif any(mark in pair for pair in _PAIRS):
            closes = False
            if any(pair[0] == mark for pair in _PAIRS) and not is_escaped and not (mark == "'" and before.isalnum()):
                opened.append(mark)
    return closes


def _count_quotes(line: str) -> int:
    """How many quotation marks no backslash stands before."""
    return len(re.findall('"', re.sub(r"\\.", "", line)))
