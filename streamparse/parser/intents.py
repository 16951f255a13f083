"""Prose in which a model says that it is going to use a tool: an intent, never a call.

A sentence counts whose speaker is the model, about now: "I'll use the search tool", "Let me call `read_file`".  Not one
that denies or only offers it ("I won't use ...", "If you like, I'll use ..."), and not one that is quoted or in
code.  Of declared tools the name alone is enough, in any case and with blanks for underscores; where none is
declared, the name must be next to the word "tool" or "function".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final

from streamparse.parser.whole_bodies import WholeParser
from streamparse.patterns import lazy_re
from streamparse.response import ParsedResponse, ToolIntent
from streamparse.tools import Toolset

_WORDS: Final = "will|shall|must|should|need|have|want|am|are|would|me|us"
_WISH: Final = (
    r"\b(?:(?:I|[Ww]e)(?:['’](?:ll|m going to|re going to|d like to)|"
    r" (?:will|shall|must|should|need to|have to|want to|am going to|are going to|would like to))|"
    r"(?:I['’]m|I am|[Ww]e['’]re|[Ww]e are)(?= \w{1,12}ing)|[Ll]et me|[Ll]et us|[Ll]et['’]s)"
)
# Where a wish may begin, by its first letter: `re` is quick where a pattern begins with one character.
_BEGINNINGS: Final = tuple(
    (first, lazy_re(rf"{first}(?={rest}(?:['’](?:ll|m|re|d|s)| (?:{_WORDS})) )"))
    for first, rest in (("I", ""), ("W", "e"), ("w", "e"), ("L", "et"), ("l", "et"))
)
_ADVERBS: Final = r"(?: (?:now|first|then|next|also|just|quickly|try to|start by|begin by|go ahead and)){0,3}"
_VERB: Final = r" (?:us|call|invok|run|execut|query|try)(?:e|ing|n?ning|ying|y)? "
_NAME: Final = r"[A-Za-z_](?:[\w.:-]{0,62}\w)?"
_OPEN: Final = r"[`\"“*]{0,3}"
_CLOSE: Final = r"(?:\(\))?[`\"”*]{0,3}"
_INTENT: Final = lazy_re(
    rf"{_WISH}{_ADVERBS}{_VERB}(?:the |a |an |my |our )?"
    rf"(?:(?:tool|function)(?: (?:called|named))? {_OPEN}(?P<after>{_NAME}){_CLOSE}"
    rf"|{_OPEN}(?P<name>{_NAME}(?: [A-Za-z]{{1,24}}){{0,2}}?){_CLOSE} (?:tool|function)\b"
    rf"|{_OPEN}(?P<bare>{_NAME}){_CLOSE})"
)
_ELSEWHERE: Final = lazy_re(
    r"^[ \t]*(```|~~~)[^\n]*\n(?:.*?^[ \t]*\1[^\n]*$|.*\Z)"
    r"|`[^`\n]{1,500}`|\"[^\"\n]{1,2000}\"|“[^“”]{1,2000}”|^[ \t]*>[^\n]*$",
    re.MULTILINE | re.DOTALL,
)
"""Code, quotations and quoted lines."""
_END: Final = lazy_re(r"[.!?](?=[\s\"'”)*]|\Z)|\n")
_CLAUSE: Final = lazy_re(r"[,;:—–(]")
_DENIED: Final = lazy_re(
    r"\b(?:no|not|never|neither|nor|cannot|without|doubt|refuse|rather than|instead of|\w+n['’]t)\b", re.IGNORECASE
)
_OFFERED: Final = lazy_re(
    r"^\W*(?:if|unless|whether|should you|in case|when|once|would you|do you|shall I)\b", re.IGNORECASE
)
_CONDITIONED: Final = lazy_re(
    r"\b(?:unless|only if|if (?:you|needed|necessary|required|possible|asked)|should you|when you ask)\b", re.IGNORECASE
)
"""A condition, wherever it is in a sentence; any other `if` may be what the tool is to find out."""
_NOT_NAMES: Final = lazy_re(
    "any|another|appropriate|available|best|better|built-in|common|correct|custom|different|each|existing|external|"
    "first|following|given|great|it|more|multiple|necessary|new|next|one|only|other|particular|powerful|previous|"
    "proper|provided|relevant|required|right|same|second|several|simple|some|special|specific|specified|such|suitable|"
    "that|the|their|them|these|this|those|to|tools?|useful|various|your",
    re.IGNORECASE,
)


def find_intents(text: str, tools: Toolset) -> list[ToolIntent]:
    """Find the tools that a text says will be used, each once, in order."""
    # Of words that are not there CPython's `rfind` makes sure in a quarter of the time that `in` takes.
    if not tools and text.rfind("function") < 0 and text.rfind("tool") < 0:
        return []
    known = {_fold_name(name): name for name in tools}
    elsewhere: list[tuple[int, int]] | None = None
    found: dict[str, ToolIntent] = {}
    for match in _find_wishes(text):
        name = _find_name(match, known)
        if name is None or name in found:
            continue
        if elsewhere is None:
            elsewhere = [each.span() for each in _ELSEWHERE.finditer(text)]
        span = bisect_right(elsewhere, (match.start(), len(text))) - 1
        if span >= 0 and match.start() < elsewhere[span][1]:
            continue
        before, sentence = _find_sentence(text, match)
        offered = _OFFERED.search(sentence) or _CONDITIONED.search(sentence)
        if not offered and not _DENIED.search(_CLAUSE.split(before)[-1]):
            found[name] = ToolIntent(name, sentence.strip())
    return list(found.values())


class HeuristicParser(WholeParser):
    """Finds what a model says that it is going to do; makes no calls of it."""

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        response = super().parse(body)
        response.tool_calls = []
        response.intents = find_intents(response.content, self._reader.options.tools)
        return response


def _find_wishes(text: str) -> Iterator[re.Match[str]]:
    found = (pattern.finditer(text) for first, pattern in _BEGINNINGS if first in text)
    starts = sorted(match.start() for matches in found for match in matches)
    end = 0
    for start in starts:
        if start >= end and (match := _INTENT.match(text, start)) is not None:
            end = match.end()
            yield match


def _find_name(match: re.Match[str], known: dict[str, str]) -> str | None:
    """Return the tool's name; None if the words name no tool."""
    written = match["after"] or match["name"] or match["bare"]
    if known:
        return known.get(_fold_name(written)) or known.get(_fold_name(written.removeprefix("functions.")))
    if match["name"] is None or " " in written or _NOT_NAMES.fullmatch(written):
        quoted = match["after"] is not None and match[0][match.start("after") - match.start() - 1] in '`"“*'
        return written if quoted else None
    return written


def _fold_name(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ")


def _find_sentence(text: str, match: re.Match[str]) -> tuple[str, str]:
    """Return the part of the sentence before a match, and the sentence."""
    window, last = max(0, match.start() - 500), match.end() + 500
    ends = [end.end() for end in _END.finditer(text, window, match.start())]
    start = ends[-1] if ends else window
    end = _END.search(text, match.end(), last)
    return text[start : match.start()], text[start : end.end() if end else last]
