"""Calls that are found only at the end of an answer: what is in doubt is read again.

The model ended its turn, and no call was found.  Then the visible text may still hold one: in markup that was not
looked for, in markup that is malformed in a way that has only one reading, or as JSON.  Such calls are reported as
`source="recovered"` with a reason, or as `source="repaired"` where they had to be mended:

| reason | why the call was not found before |
|---|---|
| `wire` | calls in the text are not looked for on this wire |
| `too_long` | it has no marker of its own, and is longer than `Limits.max_held_text` |
| `unnamed` | it is JSON that no dialect reads that was looked for: its tool is not declared, or its dialect not named |

What is quoted is not in doubt, and neither is a value that ran into the end of the text.

JSON with prose around it may be anything: an example, a record, a quotation.  It is believed only where it is whole and
names a declared tool, and is all of the visible content (in a fence or not), or an envelope of calls
(`{"tool_calls": [...]}`).  Where no tool is declared only a message that is nothing but an envelope counts: it can
hardly mean anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from streamparse.assembler import Assembler, ParseHalted
from streamparse.dialects import CATALOGUE, Dialects, InBandParser
from streamparse.dialects.engine.active_markers import ActiveMarkers
from streamparse.dialects.engine.attempt import has_required
from streamparse.dialects.grammars.call_json import ExtractedCall, extract_calls, extract_text
from streamparse.json import JSONError, Reading, read
from streamparse.json.scan import Scanner
from streamparse.limits import Limits
from streamparse.parser.options import ParserOptions
from streamparse.patterns import lazy_re
from streamparse.response import ParsedResponse, ToolCall
from streamparse.tools import Toolset


class JSONRun(NamedTuple):
    """JSON values one after the other, all of them calls, and where they are, with the fence around them."""

    start: int
    end: int
    calls: list[ExtractedCall]
    enveloped: bool
    fenced: bool
    said: str
    """The text that envelopes hold besides their calls."""
    repairs: tuple[str, ...] = ()
    """What had to be mended, by name."""


class MarkedCalls(NamedTuple):
    """Calls in markup that ends the text, and where it begins: at the end if that is not known."""

    calls: list[ToolCall]
    start: int
    is_mended: bool


def recover(content: str, options: ParserOptions, was_read: bool, assembler: Assembler) -> JSONRun | None:
    """Tell the calls that a whole text still holds; return the JSON that they are, if they are JSON.

    `was_read` says that the markup of the dialects was looked for, so that only what is malformed is in doubt.
    """
    if options.dialects in ("reasoning", ("reasoning",)):
        return None
    run = _find_json(content, options.tools, options.limits)
    if run is not None:
        reason = _find_reason(content, options, was_read)
        start = run.start
        for found in run.calls:
            handle = assembler.start_late_call(found.name, found.id, "bare", reason, run.repairs + found.repairs)
            assembler.record.mark_late_call(start, run.end)
            assembler.call_arguments(handle, msgspec.json.encode(found.arguments).decode())
            assembler.call_end(handle)
            start = run.end
        return run
    marked = _find_markup(content, options, was_read)
    start = marked.start
    for call in marked.calls:
        handle = assembler.start_late_call(call.name, call.id, call.place, "wire")
        assembler.record.mark_late_call(start, len(content))
        assembler.call_arguments(handle, call.raw)
        if marked.is_mended or call.reason == "markup":
            assembler.call_repaired(handle)
        assembler.call_end(handle)
        start = len(content)
    return None


def _find_reason(content: str, options: ParserOptions, was_read: bool) -> str:
    """Find out why JSON that is calls was not found before."""
    held = options.limits.max_held_text
    if was_read and (held is None or len(content) <= held):
        return "unnamed"
    unlimited = msgspec.structs.replace(options.limits, max_held_text=None)
    if all(call.revoked for call in _read(content, options.dialects, options.tools, unlimited).tool_calls):
        return "unnamed"
    return "too_long" if was_read else "wire"


# -- calls that are JSON -----------------------------------------------------------------------------------------------

_CANDIDATE: Final = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\r?\n\s*)?(?=[\[{])", re.MULTILINE)
_REST: Final = re.compile(r"[\s;]*(?:```(?!\w)\s*)?")
_FIRST: Final = re.compile(r"\s*[\[{`]")
_TAIL: Final = 256  # bound: blanks and the end of a fence behind JSON; else all prose would be searched
_CANDIDATES: Final = 64  # bound: each line that begins like JSON is one, and is scanned to its end
_ENVELOPES: Final = frozenset(
    {"tool_calls", "toolCalls", "tool_uses", "function_call", "functionCall", "tool_call", "toolCall"}
)
_NAMESPACE: Final = "functions."


def _find_json(content: str, tools: Toolset, limits: Limits) -> JSONRun | None:
    """Find JSON that is calls: all of the visible content, or an envelope that begins or ends it.

    Where tools are declared, it must name one of them; else only an envelope that is all of the content counts.
    """
    # A message begins or ends as JSON does, in a fence or not; one search through prose would cost more.
    if _FIRST.match(content) is None and content[-_TAIL:].rstrip()[-1:] not in ("}", "]", "`", ";"):
        return None
    first, last = len(content) - len(content.lstrip()), len(content.rstrip())
    for run in _find_runs(content, tools, limits):
        at_start, at_end = run.start <= first, run.end >= last
        is_open_envelope = run.enveloped and not run.fenced and (at_start or at_end)
        is_whole = at_start and at_end
        counts = run.enveloped and is_whole
        if tools:  # a call of a declared tool vouches for others, if each such call has what its tool requires
            known = [has_required(tools[each.name], each.arguments) for each in run.calls if each.name in tools]
            counts = (is_whole or is_open_envelope) and bool(known) and all(known)
        if counts:
            return run if at_end else run._replace(end=len(content[: run.end].rstrip()))
    return None


def _resolve_name(found: ExtractedCall, tools: Toolset) -> ExtractedCall:
    """Remove the namespace of a prompt, which OpenAI's models write before a tool's name."""
    bare = found.name.removeprefix(_NAMESPACE)
    return found._replace(name=bare) if found.name not in tools and bare in tools else found


def _find_runs(content: str, tools: Toolset, limits: Limits) -> Iterator[JSONRun]:
    passed = 0
    for number, candidate in enumerate(_CANDIDATE.finditer(content)):
        if number == _CANDIDATES:
            return
        if candidate.start() >= passed and (run := _read_run(content, candidate, limits)) is not None:
            passed = run.end
            yield run._replace(calls=[_resolve_name(found, tools) for found in run.calls])


def _read_run(content: str, candidate: re.Match[str], limits: Limits) -> JSONRun | None:
    """Read values for as long as they are calls."""
    calls: list[ExtractedCall] = []
    said: list[str] = []
    repairs: dict[str, None] = {}
    enveloped = True
    end = at = candidate.end()
    while at < len(content) and content[at] in "[{":
        closed = Scanner(limits.max_depth).scan(content, at)
        try:
            reading = read(content[at:closed], "heal", limits) if closed > at else Reading(None)
        except JSONError:
            break
        found = list(extract_calls(reading.value))
        if not found:
            break
        calls += found
        repairs |= dict.fromkeys(reading.repairs)
        said.append(extract_text(reading.value))
        enveloped = enveloped and isinstance(reading.value, dict) and not _ENVELOPES.isdisjoint(reading.value)
        end = at = _skip(_REST, content, closed)
        at = _skip(_CANDIDATE, content, at)
    fenced = "`" in candidate[0]
    text = "\n".join(filter(None, said))
    return JSONRun(candidate.start(), end, calls, enveloped, fenced, text, tuple(repairs)) if calls else None


def _skip(pattern: re.Pattern[str], content: str, at: int) -> int:
    found = pattern.match(content, at)
    return at if found is None else found.end()


# -- calls in markup ---------------------------------------------------------------------------------------------------

_TAG: Final = lazy_re(
    r"(</?)((?ai:tools?|tool(?:call|[_-]calls?|[_-]use)|function(?:[_-]calls?)?|invoke|parameter|arguments|"
    r"arg[_-](?:key|value)))(?![\w.:-])"
)
"""A tag of one of the formats, in any case, with hyphens or underscores."""
_BRACKETS: Final = lazy_re(r"\[(/?)(?i:tool_call)\]")
_UNOPENED: Final = lazy_re(r"(?<=\n)(?<!tool_call>\n)(?=<function=[\w.:-]{1,256}>\s)")
"""Where a call in Qwen's tags begins after prose, whose block nothing opened: the model left its tag out."""
_FENCE_IN_TAG: Final = lazy_re(
    r"(<tool_calls?>)\s{0,64}```\w{0,16}[ \t]{0,8}\r?\n(.*?)\n?[ \t]{0,8}```\s{0,64}(</tool_calls?>)", re.DOTALL
)
_QUOTES: Final = str.maketrans("“”„‟", '""""')
_TOOL_CODE: Final = lazy_re(r"\s*```tool_code[ \t]*\r?\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)
_PRINT: Final = lazy_re(r"print\((.*)\)\Z", re.DOTALL)
_PYTHON_CALL: Final = lazy_re(r"\s*[A-Za-z_][\w.]{0,255}\(.*\)\s*\Z", re.DOTALL)


def _find_markup(content: str, options: ParserOptions, was_read: bool) -> MarkedCalls:
    """Find calls in open markup, of declared tools if there are any, with nothing visible after them."""
    nothing = MarkedCalls([], len(content), False)
    tools = options.tools
    for text, is_python in _list_readings(content, was_read, bool(tools)):
        calls, before = _find_calls(text, options.dialects, is_python, tools, options.limits)
        if calls and (not tools or all(call.name in tools for call in calls)):
            is_known = before is not None and content.startswith(before)
            return MarkedCalls(calls, len(before or "") if is_known else len(content), text != content)
    return nothing


def _list_readings(content: str, was_read: bool, has_tools: bool) -> Iterator[tuple[str, bool]]:
    """Yield the text as it is, then mended where it is malformed; and whether it is a Python list of calls."""
    if not was_read:
        yield content, False
    if has_tools and _UNOPENED.search(content):
        yield _UNOPENED.sub("<tool_call>\n", content), False
    if ("<" in content and _TAG.search(content)) or ("[" in content and _BRACKETS.search(content)):
        mended = _FENCE_IN_TAG.sub(r"\1\n\2\n\3", _BRACKETS.sub(r"<\1tool_call>", _TAG.sub(_mend_tag, content)))
        if mended != content:
            yield mended, False
        if (straight := mended.translate(_QUOTES)) != mended:
            yield straight, False
    code = _TOOL_CODE.match(content) if "`" in content else None
    if code is not None:
        printed = _PRINT.match(code[1].strip())
        yield f"[{printed[1] if printed is not None else code[1]}]", True
    elif ")" in content and _PYTHON_CALL.match(content) is not None:
        yield f"[{content.strip()}]", True


def _mend_tag(tag: re.Match[str]) -> str:
    """Write a tag in lower case, without hyphens."""
    return tag[1] + tag[2].lower().replace("-", "_")


def _find_calls(
    text: str, dialects: Dialects, is_python: bool, tools: Toolset, limits: Limits
) -> tuple[list[ToolCall], str | None]:
    """Find calls in plain markup that ends the text, or in a text that is nothing but a Python list of calls.

    Returns also the text before them; None if there is text between them, too.
    """
    response = _read(text, ["pythonic"] if is_python else dialects, tools, limits)
    ends = [mark.content for mark in response.order if mark.what == "call"]
    rest = response.content if is_python else response.content[ends[-1] :] if ends else ""
    is_halted = any(error.scope == "stream" for error in response.errors)
    if is_halted or response.broken_calls or rest.strip() or (is_python and not tools):
        return [], None
    calls = [call for call in response.tool_calls if not call.revoked and (is_python or call.place == "plain")]
    starts = [mark.content for mark in response.order if mark.what == "call" and calls and mark.index == calls[0].index]
    is_last = bool(starts) and not response.content[starts[0] :].strip()
    return calls, response.content[: starts[0]] if is_last else None


def _read(text: str, dialects: Dialects, tools: Toolset, limits: Limits) -> ParsedResponse:
    """Read a whole text; it holds no thoughts."""
    markers = ActiveMarkers(CATALOGUE, dialects, tools.names, reasoning=False)
    if not markers.has_start and markers.at_start.may_hold(text) is None:
        return ParsedResponse(content=text)
    scratch = Assembler(tools, limits)
    inband = InBandParser(scratch, CATALOGUE, dialects, tools, "closed", limits)
    try:
        inband.text(text)
        inband.close(stopped=True)
        scratch.stop()
        scratch.close()
    except ParseHalted:  # the response says so
        pass
    return scratch.response
