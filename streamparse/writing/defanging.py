"""Takes the markup out of what tools return, before it goes into a prompt as text.

A page, a file or a mail may hold the very markers with which a model calls tools, ends its turn, or is told who speaks.
In a prompt of plain text nothing else tells them from those of the format itself, and a model that repeats them calls.
So the first character of each is replaced by one that looks alike and belongs to no format; all else stays.

| what | becomes |
|---|---|
| `<tool_call>`, `</invoke>`, `<think>`: tags of the formats, and of tools that are named | `‹tool_call>` |
| `<|im_start|>`, `<｜tool▁calls▁begin｜>`: special tokens | `‹|im_start|>` |
| `>>>search`, `-> tool/function_call`: what says whom a message is for | `›››search`, `→ tool/function_call` |
| `[TOOL_CALLS]`, `[/INST]`, `functools[` | `⁅TOOL_CALLS]`, `functools⁅` |
| `Action:`, `Observation:` and the like at the beginning of a line | `Action :` |
| a code fence of back-ticks or tildes | as many `'` |
| invisible characters: zero width, directions, tags | nothing; those that join letters or emoji stay |

A call without any marker of its own (bare JSON) is not touched: it counts only as the whole of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["defang"]

_WORDS: Final = (
    "tool", "function", "invoke", "param", "arg", "call", "think", "thought", "reason", "action", "reflection", "plan",
    "observation", "response", "result", "answer", "start_", "end_", "escape", "message", "content", "system", "user",
    "assistant", "bos", "eos", "s", "seed", "minimax", "mm", "ifm", "atem", "antml", "steptml", "dots", "longcat",
    "iquest", "x.ai", "xai", "plamo", "plugin", "ds", "dsml", "gcml", "model", "unused", "extra", "channel", "turn",
    "command", "code", "json", "xml",
)  # fmt: skip
"""What tags of the formats begin with; a whole word where it is a single letter."""
_BEGINNINGS: Final = "|".join(rf"{re.escape(word)}(?![a-z])" if len(word) < 3 else re.escape(word) for word in _WORDS)
_TAG: Final = re.compile(rf"<(?=\s?/?\s?[|｜\]]|/?(?:[\w.]{{1,32}}:)?(?:{_BEGINNINGS}))", re.IGNORECASE)
_WORD_IN_BRACKETS: Final = re.compile(r"\[(?=/?[A-Z][A-Z_]{2,40}\])")
_FUNCTOOLS: Final = re.compile(r"(?<=functools)\[", re.IGNORECASE)
_RECIPIENT: Final = re.compile(r">>>(?=\w)")
_HEADER: Final = re.compile(r"->(?=[ \t]{0,8}tool/function_call)", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"^([ \t>*#-]{0,16}(?:Action(?: Input)?|Observation|Thought|Final Answer|Question|Human|User"
    r"|Assistant|System))(?=:)",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_JOINER: Final = re.compile("(?<![^\x00-\x7f\u200c\u200d\ufe00-\ufe0f])[\u200c\u200d\ufe00-\ufe0f]")
"""Joiners and variant selectors stay behind characters beyond ASCII, where they are part of a word or of an emoji."""


def defang(text: str, tools: Iterable[str] = ()) -> str:
    """Return a text in which no marker of a format in which calls are written as text stands any more.

    `tools` are names that count as tags, too (`<search>`), for formats that write calls so.  What is defanged stays so
    if it is defanged again.
    """
    text = _JOINER.sub("", _INVISIBLE.sub("", text))
    text = _TAG.sub("‹", text)
    for name in tools:
        text = re.sub(rf"<(?=/?{re.escape(name)}\b)", "‹", text)
    text = _HEADER.sub("→", _RECIPIENT.sub("›››", text))
    text = _FUNCTOOLS.sub("⁅", _WORD_IN_BRACKETS.sub("⁅", text))
    text = _LABEL.sub(r"\1 ", text)
    return _FENCE.sub(lambda match: "'" * len(match[0]), text)
