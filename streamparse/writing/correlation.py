"""Parts that belong together: results and their calls, and parts that are refused alone.

A result belongs to the call with its id, or where a provider has no ids, to one of its tool, by their order.

A conversation may come without ids (Ollama, Gemini), or with the same ids in each turn (from servers and parsers
that count anew), and results without names (OpenAI, Anthropic, Bedrock) or in another order than their calls.  After
`link_results` every call has an id of its own (Anthropic refuses one that comes twice), every result has its
call's id and the name of its tool, and the results of one message are in the order of the calls, before all else.

Some parts are taken only with others: calls that a server ran with their results, thought with what it led to.

| API | what | refused without |
|---|---|---|
| Anthropic | `server_tool_use`, `mcp_tool_use` | its `..._tool_result`, unless the answer was paused there |
| Anthropic | `..._tool_result` | its `..._tool_use` |
| Responses | calls that the program runs (`computer_call`, `custom_tool_call`, ...) | its `..._output` |
| Responses | `..._output` | its call |
| Responses | `reasoning` | a message, a call or another item after it |
| Anthropic, Bedrock | thought at the end of a message | a text or a call after it |

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool
https://github.com/openai/openai-agents-python/issues/1660
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from streamparse.loss import MAX_SHOWN, Loss
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.json_access import get_str
from streamparse.writing.parts import CITATION, Item, Message, Part, Text, Thought, is_item


def rename_calls(messages: Iterable[Message], names: Mapping[str, str]) -> list[Message]:
    """Return the messages with other names of tools, in calls and results alike."""

    def rename(part: Part) -> Part:
        if isinstance(part, ToolCall):
            return replace(part, name=names.get(part.name, part.name))
        if isinstance(part, ToolResult):
            return replace(part, tool_name=names.get(part.tool_name, part.tool_name))
        return part

    return [replace(message, parts=[*map(rename, message.parts)]) for message in messages]


def link_results(messages: Iterable[Message]) -> list[Message]:
    """Return the messages of a conversation, each result linked to its call."""
    linked: list[Message] = []
    calls = _CallIndex()
    waiting = _PendingCalls(())
    for message in messages:
        parts: list[Part] = message.parts
        if message.role == "assistant":
            pairs = [(call.id, calls.add(call)) for call in message.calls]
            added = iter([call for _, call in pairs])
            parts = [next(added) if isinstance(part, ToolCall) else part for part in parts]
            waiting = _PendingCalls(pairs) if pairs else waiting
        elif message.results:
            results = [waiting.match(result) for result in message.results]
            others = [part for part in parts if not isinstance(part, ToolResult)]
            parts = [*_sort_results(results, calls.by_id, calls.places), *others]
        linked.append(replace(message, parts=parts))
    return linked


def list_unpaired(messages: Iterable[Message]) -> Iterator[Loss]:
    """List the calls of linked messages without a result directly after them, and the results without such a call."""
    waiting: dict[str, Loss] = {}
    for number, message in enumerate(messages):
        place = f"messages[{number}]"
        for result in message.results:
            if waiting.pop(result.call_id, None) is None:
                outcome = f"kept, but refused: the result {result.call_id[:MAX_SHOWN]!r} has no call"
                yield Loss(place, "", "result", outcome, warning=True)
        if message.role == "user":
            yield from waiting.values()
            waiting = {}
        elif message.role == "assistant":  # several in a row count as one
            for call in message.calls:
                outcome = f"kept, but refused: {call.name[:MAX_SHOWN]!r} has no result"
                waiting[call.id] = Loss(place, "", "call", outcome, warning=True)
    yield from waiting.values()


class _CallIndex:
    """The calls of a conversation, each under an id of its own, and their places."""

    def __init__(self) -> None:
        self.by_id: dict[str, ToolCall] = {}
        self.places: dict[str, int] = {}
        self._number = 0

    def add(self, call: ToolCall) -> ToolCall:
        """Add a call under an id of its own: it may come without one, or with the id of an earlier call."""
        id = call.id if call.id and call.id not in self.by_id else self._make_id()
        self.places[id] = len(self.places)
        self.by_id[id] = replace(call, id=id)
        return self.by_id[id]

    def _make_id(self) -> str:
        """An id that no call has had; no number is tried twice."""
        self._number = max(self._number, len(self.by_id))
        while (id := f"call_{self._number}") in self.by_id:
            self._number += 1
        return id


class _PendingCalls:
    """Calls whose results have not come: by the ids that they came with, by the names of their tools, and all."""

    def __init__(self, calls: Iterable[tuple[str, ToolCall]]) -> None:
        self._by_id: dict[str, deque[ToolCall]] = {}
        self._by_name: dict[str, deque[ToolCall]] = {}
        self._all: deque[ToolCall] = deque()
        self._answered: set[str] = set()
        for id, call in calls:
            self._by_id.setdefault(id, deque()).append(call)
            self._by_name.setdefault(call.name, deque()).append(call)
            self._all.append(call)

    def match(self, result: ToolResult) -> ToolResult:
        """Return a result with the id of its call.

        One without an id belongs to the first call of its tool that has no result, or else to the first of all.
        """
        if result.call_id:
            call = self._find_first(self._by_id.get(result.call_id))
        else:
            call = self._find_first(self._by_name.get(result.tool_name)) or self._find_first(self._all)
        if call is None:
            return result
        self._answered.add(call.id)
        return replace(result, call_id=call.id)

    def _find_first(self, calls: deque[ToolCall] | None) -> ToolCall | None:
        """Find the first call without a result; those that have one are never looked at again."""
        while calls and calls[0].id in self._answered:
            calls.popleft()
        return calls[0] if calls else None


def order_results(results: Iterable[ToolResult], calls: Mapping[str, ToolCall]) -> list[ToolResult]:
    """Return results in the order of their calls, and with the names of their tools."""
    return _sort_results(results, calls, {id: number for number, id in enumerate(calls)})


def _sort_results(
    results: Iterable[ToolResult], calls: Mapping[str, ToolCall], places: Mapping[str, int]
) -> list[ToolResult]:
    found = sorted(results, key=lambda result: places.get(result.call_id, len(places)))
    return [_name_result(result, calls.get(result.call_id), number) for number, result in enumerate(found)]


def _name_result(result: ToolResult, call: ToolCall | None, number: int) -> ToolResult:
    name = result.tool_name or (call.name if call is not None else "")
    return replace(result, tool_name=name, index=number)


_SERVER: Final = "server"
_PROGRAM: Final = "program"
"""Who runs a call."""
_USES: Final = ("server_tool_use", "mcp_tool_use")
_RESULT: Final = "_tool_result"
_CALLS: Final = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call", "custom_tool_call")
"""Calls that the program itself is to run."""
_OUTPUTS: Final = tuple(f"{kind}_output" for kind in _CALLS)
_REASONING: Final = "reasoning"
_ABOUT_TEXT: Final = ("phase", "annotation", "citation", "audio", CITATION)
"""Items that say something about a text, and have no place of their own."""
THOUGHT_ITEMS: Final = ("signature", "thinking_blocks", "reasoning_opaque", "redacted_thinking", "redactedContent")
"""Items that sign a thought, or hide it."""


def drop_halves(parts: Iterable[Part], *, is_paused: bool = False) -> list[Part]:
    """Return the parts of an answer without items whose other half is missing.

    With `is_paused` the server may go on with what it has begun, so calls of its own may lack their results.
    """
    kept: list[Part | None] = list(parts)
    waiting: dict[tuple[str, str], int] = {}  # the places of calls whose result has not come
    for place, part in enumerate(kept):
        half = _read_half(part)
        if half is None:
            continue
        if half.is_call and half.key not in waiting:
            waiting[half.key] = place
        elif half.is_call or waiting.pop(half.key, None) is None:  # a second one of the same id, or a result of nothing
            kept[place] = None
    for (who, _), place in waiting.items():
        if who != _SERVER or not is_paused:
            kept[place] = None
    return _drop_idle_reasoning([part for part in kept if part is not None])


class _Half(NamedTuple):
    """One of two items that are taken only together; both have one `key`."""

    key: tuple[str, str]
    is_call: bool


def _read_half(part: Part | None) -> _Half | None:
    if not isinstance(part, Item):
        return None
    if part.kind in _USES:
        return _Half((_SERVER, get_str(part.data, "id")), True)
    if part.kind.endswith(_RESULT):
        return _Half((_SERVER, get_str(part.data, "tool_use_id")), False)
    if part.kind in _CALLS or part.kind in _OUTPUTS:
        id = get_str(part.data, "call_id") or get_str(part.data, "id")
        return _Half((_PROGRAM, id), part.kind in _CALLS)
    return None


def drop_last_thoughts(message: Message) -> Message:
    """Return a message without the thoughts at its end, and what signs them; texts of white space do not count."""
    end = len(message.parts)
    for place, part in reversed(list(enumerate(message.parts))):
        is_blank = isinstance(part, Text) and not part.text.strip()
        if is_blank or isinstance(part, Thought) or is_item(part, *THOUGHT_ITEMS):
            end = place
        elif not is_item(part, *_ABOUT_TEXT):  # these do not count either
            break
    return message if end == len(message.parts) else replace(message, parts=message.parts[:end])


def _drop_idle_reasoning(parts: list[Part]) -> list[Part]:
    """Drop the reasoning that nothing follows."""
    end = max((place for place, part in enumerate(parts) if _can_follow(part)), default=0)
    return [part for place, part in enumerate(parts) if place < end or not is_item(part, _REASONING)]


def _can_follow(part: Part) -> bool:
    """Whether a reasoning may come before a part."""
    if isinstance(part, Text):
        return bool(part.text.strip())
    return isinstance(part, ToolCall) or (isinstance(part, Item) and part.kind not in (_REASONING, *_ABOUT_TEXT))
