"""Whether what comes next in a text is quoted.  What is before it decides that, so it never changes later.

| quoted is | from | to |
|---|---|---|
| a fence | a line of three or more back-ticks or tildes | as many of the same, with nothing after; else the end |
| a code span | a run of back-ticks | a run of the same length, or the end of the line |
| a block quotation | a line that begins with `>` (not `>>>`) | the end of the line |
| an indented block | four columns more than its list item, after a blank line and text | a line with fewer |
| a string | an odd number of `"` in the line | the end of the line |
| what follows a mark | a back-tick right before, or a quotation mark that does not close | the next character |

A quotation mark closes if its partner is open before it in the line; a symmetrical one, if it is open itself.  An
apostrophe between letters or digits is none.

Fences, lists and indentation are those of CommonMark (https://spec.commonmark.org/0.31.2/).
"""

from __future__ import annotations

from typing import Final

from streamparse.dialects.engine.meanings import State
from streamparse.patterns import lazy_re

_MOST_HEAD: Final = 256  # bound: characters of a line in which its indentation, list marker and fence are looked for
_MOST_KEPT: Final = 4096  # bound: characters of an open line that are kept and not looked at
_MOST_OPEN: Final = 64  # bound: open quotation marks of a line
_MARKS: Final = frozenset("'“”„‟‘’‚‛«»‹›「『〝＂＇")
# Which marks each closes; German has „x“ and »x«, French « x ».
_PARTNERS: Final = {
    "”": "“„‟", "“": "„", "»": "«", "«": "»", "’": "‘‚‛", "‘": "‚", "›": "‹", "‹": "›", "」": "「", "』": "『",
    "〞": "〝", "〟": "〝", "'": "'", "＂": "＂", "＇": "＇",
}  # fmt: skip
_SYMMETRICAL: Final = "'＂＇"
_OPENING: Final = frozenset("".join(_PARTNERS.values()))
_APOSTROPHES: Final = "'’"
_SPACES_AFTER_MARK: Final = " \xa0\u202f"
# How a line begins after which no list and no indented block is open: not blank, and no quotation or list item.
_AT_MARGIN = lazy_re(r" ?[^\s>*+0-9-]")
_BLANK_LINES = lazy_re(r"\n(?:[ \t]*\n){2,}")
_ITEM = lazy_re(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]|$)")
_FENCE = lazy_re(r"(`{3,})[^`]*\Z|(~{3,})")
_QUOTATION = lazy_re(r">(?!>>)")
_MARK = lazy_re(f"[{''.join(_OPENING.union(_PARTNERS))}]")
_TOKEN = lazy_re(r"\\+|`+|\"")


class Quotes:
    """Follows the text whose pieces are added to `pieces`; `is_open` says whether the next character is quoted.

    The text is looked at only when that is asked.  A caller that adds many pieces calls `trim` now and then, so that
    they are not all kept.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []  # what has come and was not looked at
        self._fence: tuple[str, int] | None = None  # the run that opened it, and where the content around it begins
        self._items: list[int] = []  # the columns at which the content of the open list items begins
        self._is_blank_before = False  # the line before is blank
        self._in_code = False  # the line before is part of an indented block
        self._seen = False  # a line before holds text
        self._is_after_cr = False  # the text ends with a carriage return
        self._begin_line()

    def trim(self) -> None:
        """Look at the lines that are complete, and keep the rest."""
        self._read(is_asked=False)

    @property
    def is_at_margin(self) -> bool:
        """Whether the line is empty so far."""
        self._read()
        return not self._head

    @property
    def is_in_code(self) -> bool:
        """Whether what comes next is in a fence or a code span."""
        self._read()
        return self._fence is not None or self._is_span_open()

    def find_state(self, is_token: bool) -> State:
        """Return whether what comes next is quoted, and what is before it in the line if it is not."""
        if self.is_open(is_token):
            return "quoted"
        if not self._head:
            return "at a line"
        if self._last[-1:] in (" ", "\t"):
            return "after a blank"
        return "after a token" if self._last in ("|>", "｜>") else "in text"

    def is_open(self, is_token: bool = False) -> bool:
        """Whether what comes next is quoted; indentation does not quote a special token (`is_token`)."""
        self._read()
        if self._fence is not None or self._is_odd or self._is_span_open() or self._is_after_mark():
            return True
        indent, head = _measure_indentation(self._head)
        rest = head
        while (item := _ITEM.match(rest)) is not None:
            _, rest = _measure_indentation(rest[item.end() :])
        if _QUOTATION.match(rest) is not None:
            return True
        if _FENCE.match(rest) is not None:
            return True
        return not is_token and self._is_code(indent, head)

    # -- lines ---------------------------------------------------------------------------------------

    def _begin_line(self) -> None:
        self._head = ""  # the line so far
        self._last = ""  # its last two characters
        self._is_odd = False  # the number of quotation marks in it
        self._backslashes = 0  # at its end
        self._run = 0  # the back-ticks at its end, of which more may come
        self._span = 0  # the size of the run that opened the code span
        self._open_marks = ""  # quotation marks whose partners have not come
        self._closes = False  # the last quotation mark, one of these
        self._before_apostrophe: tuple[str, bool] | None = None  # both, if the line may end within a word

    def _read(self, is_asked: bool = True) -> None:
        """Look at what has come; at a line that is not complete only if that is asked, or if it is long."""
        if not self.pieces:
            return
        text = "".join(self.pieces)
        self.pieces.clear()
        if self._is_after_cr and text.startswith("\n"):
            text = text[1:]
            self._is_after_cr = False
        self._is_after_cr = text.endswith("\r") if text else self._is_after_cr
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        end = text.rfind("\n")
        if end >= 0:
            first = text.index("\n")
            self._head = (self._head + text[:first])[:_MOST_HEAD]
            self._end_line(self._head)
            if first < end:
                self._read_lines(text[first + 1 : end])
            self._begin_line()
        rest = text[end + 1 :]
        if is_asked or len(rest) > _MOST_KEPT:
            self._read_line(rest)
        elif rest:
            self.pieces.append(rest)

    def _read_lines(self, text: str) -> None:
        """Look at whole lines."""
        # Where no fence is near, only the lines from the last one at the margin on matter.
        at = 0
        if "```" not in text and "~~~" not in text:
            end = len(text)
            while end >= 0:
                start = text.rfind("\n", 0, end) + 1
                if _AT_MARGIN.match(text, start) is not None:
                    at = start
                    break
                end = start - 1
        for line in _BLANK_LINES.sub("\n\n", text[at:]).split("\n"):  # several blank lines are as one
            self._end_line(line[:_MOST_HEAD])

    def _read_line(self, text: str) -> None:
        """Look at a piece of the line."""
        if not text:
            return
        if len(self._head) < _MOST_HEAD:
            self._head += text[:_MOST_HEAD]
        self._read_marks(text)
        self._last = (self._last + text[-2:])[-2:]
        if not (self._run or self._backslashes or "`" in text or "\\" in text):
            self._is_odd ^= text.count('"') % 2 == 1
            return
        self._read_tokens(text)

    def _read_tokens(self, text: str) -> None:
        """Look at the back-ticks, backslashes and quotation marks of a piece of the line."""
        escaped = 0 if self._backslashes % 2 else -1  # where the character after an odd number of backslashes is
        run_before, self._run, self._backslashes = self._run, 0, 0
        for token in _TOKEN.finditer(text):
            start, end = token.span()
            character = text[start]
            if run_before and (start > 0 or character != "`"):
                self._end_run(run_before)
                run_before = 0
            if character == "\\":
                size = end - start + (1 if escaped == start == 0 else 0)
                escaped = end if size % 2 else -1
                self._backslashes = size if end == len(text) else 0
            elif character == '"':
                self._is_odd ^= start != escaped
            else:
                size = end - start + run_before - (start == escaped and not self._span)
                run_before = 0
                if end == len(text):
                    self._run = size
                else:
                    self._end_run(size)
        if run_before:
            self._end_run(run_before)

    def _read_marks(self, text: str) -> None:
        """Note which quotation marks are open after a piece of the line."""
        if self._before_apostrophe is not None:
            if text[0].isalnum():
                self._open_marks, self._closes = self._before_apostrophe
            self._before_apostrophe = None
        for found in _MARK.finditer(text):
            at, mark = found.start(), found[0]
            before, after = text[at - 1] if at else self._last[-1:], text[at + 1 : at + 2]
            if mark in _APOSTROPHES and before.isalnum():
                if after.isalnum():
                    continue
                if not after:
                    self._before_apostrophe = self._open_marks, self._closes
            self._note_mark(mark, before)

    def _note_mark(self, mark: str, before: str) -> None:
        """Note a quotation mark of the line, and the character before it."""
        is_escaped = mark in _SYMMETRICAL and before == "\\"
        at = -1 if is_escaped else max(map(self._open_marks.rfind, _PARTNERS.get(mark, "")), default=-1)
        self._closes = at >= 0
        if at >= 0:
            self._open_marks = self._open_marks[:at]
        elif mark in _OPENING and not is_escaped and not (mark == "'" and before.isalnum()):
            self._open_marks = (self._open_marks + mark)[-_MOST_OPEN:]

    def _end_run(self, size: int) -> None:
        """A run of back-ticks has ended: it opens a code span, closes the one of its size, or is part of it."""
        if not self._span:
            self._span = size
        elif self._span == size:
            self._span = 0

    def _is_span_open(self) -> bool:
        """Whether a code span is open if the run at the end of the line has ended."""
        if not self._run:
            return bool(self._span)
        return self._span != self._run

    def _is_after_mark(self) -> bool:
        """Whether a quotation mark that does not close is right before, in a line where no `"` is open."""
        last = self._last
        if last.endswith('"'):
            return last == '\\"'
        is_mark = last[-1:] in _MARKS or (last[:-1] == "«" and last[-1] in _SPACES_AFTER_MARK)
        return last.endswith("`") or (is_mark and not self._closes)

    # -- blocks --------------------------------------------------------------------------------------

    def _end_line(self, line: str) -> None:
        """A line has ended: note what is open after it."""
        indent, rest = _measure_indentation(line)
        if self._fence is not None:
            run, column = self._fence
            stripped = rest.rstrip(" \t")
            closes = stripped.startswith(run) and not stripped.strip(run[0])
            if closes and indent <= column + 3 and len(line) < _MOST_HEAD:
                self._fence = None
        elif not rest:
            self._is_blank_before = True
        else:
            self._end_text_line(indent, rest)

    def _end_text_line(self, indent: int, rest: str) -> None:
        self._in_code = self._is_code(indent, rest)
        self._is_blank_before = False
        self._seen = True
        if self._in_code or rest.startswith(">"):
            return
        while self._items and indent < self._items[-1]:
            self._items.pop()
        while (item := _ITEM.match(rest)) is not None:
            indent += item.end()
            width, after = _measure_indentation(rest[item.end() :], indent)
            indent += width if 0 < width < 5 else 1
            if not after:
                break
            self._items.append(indent)
            rest = after
        fence = _FENCE.match(rest)
        column = self._find_content_column()
        if fence is not None and indent < column + 4:
            self._fence = fence[1] or fence[2], column

    def _is_code(self, indent: int, rest: str) -> bool:
        """Whether a line belongs to an indented block."""
        if not self._seen or not (self._is_blank_before or self._in_code):
            return False
        return indent >= self._find_content_column(indent) + 4 and (bool(rest) or indent > 0)

    def _find_content_column(self, indent: int | None = None) -> int:
        """The column at which the content begins of the list item that a line is in; 0 outside lists."""
        columns = [column for column in self._items if indent is None or column <= indent]
        return columns[-1] if columns else 0


def _measure_indentation(line: str, column: int = 0) -> tuple[int, str]:
    """The columns of blanks that a text from a column on begins with, with tab stops every four; what follows them."""
    rest = line.lstrip(" \t")
    blanks = line[: len(line) - len(rest)]
    return len((" " * (column % 4) + blanks).expandtabs(4)) - column % 4, rest
