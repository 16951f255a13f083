"""Calls that stand as JSON in the content of an answer, without any markup.

JSON in the middle of prose may be anything: an example, a record, a quotation.  It is believed only where it is whole,
stands alone on its lines (in a fence or not), begins or ends the message, and names a declared tool.  Where none is
declared only a message that is nothing but an envelope of calls counts: it can hardly mean anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from streamparse.dialects.envelope import Found, calls_in
from streamparse.jsonread import JSONError, read
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Run", "believable", "recover", "tell"]

_CANDIDATE: Final = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\r?\n\s*)?(?=[\[{])", re.MULTILINE)
_REST: Final = re.compile(r"[\s;]*(?:```(?!\w)\s*)?")
_CANDIDATES: Final = 64
_ENVELOPES: Final = frozenset(
    {"tool_calls", "toolCalls", "tool_uses", "function_call", "functionCall", "tool_call", "toolCall"}
)
_NAMESPACE: Final = "functions."


class Run(NamedTuple):
    """JSON values one after the other, all of them calls, and where they stand with the fence around them."""

    start: int
    end: int
    calls: list[Found]
    enveloped: bool


def recover(content: str, tools: Toolset, sink: Sink, limits: Limits) -> None:
    """Tell the calls that stand as JSON at the end of a text, if one of them names a declared tool."""
    if not tools:
        return
    run = next((run for run in _runs(content, tools, limits) if run.end == len(content)), None)
    if run is not None and _declared(run, tools):
        tell(run, sink)


def believable(content: str, tools: Toolset, limits: Limits) -> Run | None:
    """The run of calls that ends a whole message, as in a stream, or else begins it; None if none is to be believed."""
    first = len(content) - len(content.lstrip())
    runs = [run for run in _runs(content, tools, limits) if run.start <= first or run.end == len(content)]
    for run in runs[::-1]:
        if _declared(run, tools) if tools else (run.enveloped and run.start <= first and run.end == len(content)):
            return run if run.end == len(content) else run._replace(end=len(content[: run.end].rstrip()))
    return None


def tell(run: Run, sink: Sink) -> None:
    """Tell the calls of a run."""
    for found in run.calls:
        call = sink.call_start(found.name, found.id, "recovered")
        sink.call_arguments(call, msgspec.json.encode(found.arguments).decode())
        sink.call_end(call)


def _declared(run: Run, tools: Toolset) -> bool:
    """Whether some call is of a declared tool: the one vouches for those beside it."""
    return any(found.name in tools for found in run.calls)


def _meant(found: Found, tools: Toolset) -> Found:
    """The call by its tool's own name: OpenAI's models write the namespace of a prompt before it."""
    bare = found.name.removeprefix(_NAMESPACE)
    return found._replace(name=bare) if found.name not in tools and bare in tools else found


def _runs(content: str, tools: Toolset, limits: Limits) -> Iterator[Run]:
    passed = 0
    for number, candidate in enumerate(_CANDIDATE.finditer(content)):
        if number == _CANDIDATES:
            return
        if candidate.start() >= passed and (run := _run(content, candidate, limits)) is not None:
            passed = run.end
            yield run._replace(calls=[_meant(found, tools) for found in run.calls])


def _run(content: str, candidate: re.Match[str], limits: Limits) -> Run | None:
    """Read values for as long as they are calls."""
    calls: list[Found] = []
    enveloped = True
    end = at = candidate.end()
    while at < len(content) and content[at] in "[{":
        closed = Scanner(limits.max_depth).scan(content, at)
        value = _value(content[at:closed], limits) if closed > at else None
        found = list(calls_in(value))
        if not found:
            break
        calls += found
        enveloped = enveloped and isinstance(value, dict) and not _ENVELOPES.isdisjoint(value)
        end = at = _after(_REST, content, closed)
        at = _after(_CANDIDATE, content, at)
    return Run(candidate.start(), end, calls, enveloped) if calls else None


def _after(pattern: re.Pattern[str], content: str, at: int) -> int:
    found = pattern.match(content, at)
    return at if found is None else found.end()


def _value(text: str, limits: Limits) -> Any:
    try:
        return read(text, "heal", limits).value
    except JSONError:
        return None
