"""Calls that stand as JSON in the content of an answer, without any markup.

JSON beside prose may be anything: an example, a record, a quotation.  It is believed only where it is whole and names a
declared tool, and is all of the visible content (in a fence or not), or an envelope of calls (`{"tool_calls": [...]}`).
Where no tool is declared only a message that is nothing but an envelope counts: it can hardly mean anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from streamparse.dialects.engine.attempt import has_required
from streamparse.dialects.grammars.call_json import Found, calls_in, text_beside_calls
from streamparse.json import JSONError, read
from streamparse.json.scan import Scanner
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Run", "find_run", "tell"]

_CANDIDATE: Final = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\r?\n\s*)?(?=[\[{])", re.MULTILINE)
_REST: Final = re.compile(r"[\s;]*(?:```(?!\w)\s*)?")
_FIRST: Final = re.compile(r"\s*[\[{`]")
_TAIL: Final = 256
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
    fenced: bool
    said: str
    """The text that envelopes hold beside their calls."""


def find_run(content: str, tools: Toolset, limits: Limits) -> Run | None:
    """The JSON of a message that is calls: all of the visible content, or an envelope that begins or ends it.

    Where tools are declared, it must name one of them; else only an envelope that is all of the content counts.
    """
    if not _may_hold_run(content):
        return None
    first, last = len(content) - len(content.lstrip()), len(content.rstrip())
    for run in _runs(content, tools, limits):
        at_start, at_end = run.start <= first, run.end >= last
        is_open_envelope = run.enveloped and not run.fenced and (at_start or at_end)
        is_whole = at_start and at_end
        if (is_whole or is_open_envelope) and _declared(run, tools) if tools else (run.enveloped and is_whole):
            return run if at_end else run._replace(end=len(content[: run.end].rstrip()))
    return None


def _may_hold_run(content: str) -> bool:
    """Whether a message begins or ends as JSON does, in a fence or not; one search through prose costs more."""
    begins, ends = _FIRST.match(content), content[-_TAIL:].rstrip()[-1:]
    return begins is not None or ends in ("}", "]", "`", ";")


def tell(run: Run, sink: Sink) -> None:
    """Tell the calls of a run."""
    for found in run.calls:
        call = sink.call_start(found.name, found.id, "recovered", "bare")
        sink.call_arguments(call, msgspec.json.encode(found.arguments).decode())
        sink.call_end(call)


def _declared(run: Run, tools: Toolset) -> bool:
    """Whether some call is of a declared tool, with what it requires: the one vouches for those beside it."""
    return any(found.name in tools and has_required(tools[found.name], found.arguments) for found in run.calls)


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
    said: list[str] = []
    enveloped = True
    end = at = candidate.end()
    while at < len(content) and content[at] in "[{":
        closed = Scanner(limits.max_depth).scan(content, at)
        value = _value(content[at:closed], limits) if closed > at else None
        found = list(calls_in(value))
        if not found:
            break
        calls += found
        said.append(text_beside_calls(value))
        enveloped = enveloped and isinstance(value, dict) and not _ENVELOPES.isdisjoint(value)
        end = at = _after(_REST, content, closed)
        at = _after(_CANDIDATE, content, at)
    fenced = "`" in candidate[0]
    return Run(candidate.start(), end, calls, enveloped, fenced, "\n".join(filter(None, said))) if calls else None


def _after(pattern: re.Pattern[str], content: str, at: int) -> int:
    found = pattern.match(content, at)
    return at if found is None else found.end()


def _value(text: str, limits: Limits) -> Any:
    try:
        return read(text, "heal", limits).value
    except JSONError:
        return None
