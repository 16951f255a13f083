"""Calls that are found only at the end of an answer: what is in doubt is read again.

The model ended its turn, and no call was found.  Then the visible text may still hold one: in markup that was not
looked for, in markup that is malformed in a way that has only one reading, or as JSON.  Such calls are told as
`source="recovered"`.  What is quoted is not in doubt, and neither is a value that ran into the end of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from streamparse.assembler import Assembler, Halt
from streamparse.dialects import CATALOGUE, Dialects, InBandParser
from streamparse.limits import Limits
from streamparse.parser.content_json import Run, find_run, tell
from streamparse.patterns import plain
from streamparse.response import ParsedResponse, ToolCall
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["count_calls", "find_markup", "recover"]

_SIGNS: Final = "<[`("
_TAG: Final = plain(r"(</?)([A-Za-z][\w.:-]{0,63})")
_WORDS: Final = frozenset(
    {
        "tool_call", "tool_calls", "toolcall", "tools", "tool", "tool_use", "function_call", "function_calls",
        "function", "invoke", "parameter", "arguments", "arg_key", "arg_value",
    }
)  # fmt: skip
_BRACKETS: Final = plain(r"\[(/?)(?i:tool_call)\]")
_FENCE_IN_TAG: Final = plain(
    r"(<tool_calls?>)\s{0,64}```\w{0,16}[ \t]{0,8}\r?\n(.*?)\n?[ \t]{0,8}```\s{0,64}(</tool_calls?>)", re.DOTALL
)
_QUOTES: Final = str.maketrans("“”„‟", '""""')
_TOOL_CODE: Final = plain(r"\s*```tool_code[ \t]*\r?\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)
_PRINT: Final = plain(r"print\((.*)\)\Z", re.DOTALL)
_PYTHON_CALL: Final = plain(r"\s*[A-Za-z_][\w.]{0,255}\(.*\)\s*\Z", re.DOTALL)


def recover(content: str, dialects: Dialects, was_read: bool, tools: Toolset, sink: Sink, limits: Limits) -> Run | None:
    """Tell the calls that a whole text still holds; return the JSON that they are, if they are JSON.

    `was_read` says that the markup of the dialects was looked for, so that only what is malformed is in doubt.
    """
    if dialects in ("reasoning", ("reasoning",)):
        return None
    run = find_run(content, tools, limits)
    if run is not None:
        tell(run, sink)
        return run
    for call in find_markup(content, dialects, was_read, tools, limits):
        handle = sink.call_start(call.name, call.id or None, "recovered", call.place)
        sink.call_arguments(handle, call.raw)
        sink.call_repaired(handle)
        sink.call_end(handle)
    return None


def find_markup(content: str, dialects: Dialects, was_read: bool, tools: Toolset, limits: Limits) -> list[ToolCall]:
    """The calls in open markup, of declared tools if there are any, with nothing visible behind them."""
    if not _has_signs(content):
        return []
    armed: Dialects = "all" if "auto" in dialects or "all" in dialects else dialects
    for text, reads in _readings(content, was_read):
        calls = reads(text, armed, tools, limits)
        if calls and (not tools or all(call.name in tools for call in calls)):
            return calls
    return []


_Reads = Callable[[str, Dialects, Toolset, Limits], list[ToolCall]]


def _has_signs(content: str) -> bool:
    """Whether a text holds what all markup does; each sign is looked for by itself, which is quickest."""
    return any(sign in content for sign in _SIGNS)


def _readings(content: str, was_read: bool) -> Iterator[tuple[str, _Reads]]:
    """The text as it stands, then as it is meant where it is malformed; each with what reads it."""
    if not was_read:
        yield content, _read_open
    if _BRACKETS.search(content) or any(_word_of(tag) in _WORDS for tag in _TAG.finditer(content)):
        mended = _FENCE_IN_TAG.sub(r"\1\n\2\n\3", _BRACKETS.sub(r"<\1tool_call>", _TAG.sub(_mend_tag, content)))
        if mended != content:
            yield mended, _read_open
        if (straight := mended.translate(_QUOTES)) != mended:
            yield straight, _read_open
    code = _TOOL_CODE.match(content)
    if code is not None:
        printed = _PRINT.match(code[1].strip())
        yield f"[{printed[1] if printed is not None else code[1]}]", _read_python
    elif _PYTHON_CALL.match(content) is not None:
        yield f"[{content.strip()}]", _read_python


def _word_of(tag: re.Match[str]) -> str:
    return tag[2].lower().replace("-", "_")


def _mend_tag(tag: re.Match[str]) -> str:
    """A tag of the formats in another case, or with a hyphen."""
    word = _word_of(tag)
    return tag[1] + word if word in _WORDS else tag[0]


def _read_open(text: str, dialects: Dialects, tools: Toolset, limits: Limits) -> list[ToolCall]:
    """The calls in plain markup that ends the text."""
    response = _read(text, dialects, tools, limits)
    ends = [mark.content for mark in response.order if mark.what == "call"]
    if not ends or response.broken_calls or response.content[ends[-1] :].strip():
        return []
    return [call for call in response.tool_calls if call.place == "plain" and not call.revoked]


def _read_python(text: str, dialects: Dialects, tools: Toolset, limits: Limits) -> list[ToolCall]:  # noqa: ARG001
    """The calls of a text that is nothing else but a list of them."""
    response = _read(text, ["pythonic"], tools, limits) if tools else ParsedResponse()
    if response.content.strip() or response.broken_calls:
        return []
    return [call for call in response.tool_calls if not call.revoked]


def _read(text: str, dialects: Dialects, tools: Toolset, limits: Limits) -> ParsedResponse:
    """Read a whole text, in which no thought is looked for."""
    scratch = Assembler(tools, limits)
    inband = InBandParser(scratch, CATALOGUE, dialects, tools, "closed", limits)
    try:
        inband.text(text)
        inband.close(stopped=True)
        scratch.stop()
        scratch.close()
    except Halt:
        return ParsedResponse()
    return scratch.response


def count_calls(content: str, tools: Toolset, limits: Limits) -> dict[str, int]:
    """Count the whole calls of declared tools that stand in a text, by place."""
    if not _has_signs(content) and "{" not in content:
        return {}
    scratch = Assembler(tools, limits)
    inband = InBandParser(scratch, CATALOGUE, "all", tools, "closed", limits, quoted="calls")
    try:
        inband.text(content)
        inband.close(stopped=True)
    except Halt:
        pass
    return dict(Counter(call.place for call in scratch.response.tool_calls if call.name in tools))
