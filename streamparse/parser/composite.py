"""Parsers of whole responses: by one strategy each, by all at once, and what several found put together.

| parser | its calls |
|---|---|
| `NativeParser` | in a wire's own fields |
| `MarkupParser` | markup in the text |
| `JSONContentParser` | JSON that is the content, or begins or ends it |
| `CompositeParser` | all of these |

By default `CompositeParser` reads a body once, and finds what streaming finds: native fields and markup, in the order
of the answer, the same call written both ways only once, with its native id.  Where that finds no call, JSON in the
content counts; then come intents.  Parsers of your own choice are asked one after the other, and what they find is
merged.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from msgspec.structs import replace

from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Source
from streamparse.json import JSONError, read
from streamparse.limits import Limits
from streamparse.parser.intents import find_intents
from streamparse.parser.whole_bodies import WholeParser
from streamparse.protocols import ToolCallParser
from streamparse.providers.wires import DEFAULT_WIRE, WireName
from streamparse.response import FACTS, BrokenCall, Mark, ParsedResponse, ToolCall
from streamparse.unknown_names import list_known

Strategy: TypeAlias = Literal["merge", "first"]
"""Whose calls count: those of all parsers, or those of the first that finds some."""
_STRATEGIES: Final[tuple[str, ...]] = get_args(Strategy)

Made = TypeVar("Made", ToolCall, BrokenCall)
Same: TypeAlias = list[tuple[int, Made]]
"""What several readings hold of one call, each with the number of its reading; the first represents all of them."""


class CompositeParser(WholeParser):
    """Parses whole responses: dict, text, bytes, SDK object or list of chunks, of any wire, or the text of an answer.

    `parsers` are asked in their order; a wire's name in their place is short for `wire=`.  With "merge" the calls of
    all of them count, the same call (name and arguments) of two parsers once.  The other options are those of
    `StreamParser`, and `otherwise`: the wire of a body that shows none.

    Unknown names raise ValueError, and other objects TypeError.  No response raises: what is wrong with it is in
    `ParsedResponse.errors`.
    """

    def __init__(
        self,
        parsers: Iterable[ToolCallParser] | str | None = None,
        strategy: Strategy = "merge",
        *,
        wire: WireName = "auto",
        otherwise: str = DEFAULT_WIRE,
        dialects: Dialects = "auto",
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        quoted: Quoted = "text",
    ) -> None:
        if strategy not in _STRATEGIES:
            raise ValueError(f"unknown strategy {strategy!r}; {list_known(strategy, _STRATEGIES)}")
        wire, given = (parsers, None) if isinstance(parsers, str) else (wire, parsers)
        super().__init__(
            wire, otherwise=otherwise, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits, quoted=quoted
        )
        self._strategy: Strategy = strategy
        self._parsers = None if given is None else tuple(given)
        for parser in self._parsers or ():
            if not isinstance(parser, ToolCallParser):
                raise TypeError(f"a parser needs can_parse and parse, got {parser!r}")

    def parse(self, body: Any) -> ParsedResponse:
        """Parse one body; `raw_response` is the body itself."""
        if self._parsers is None:
            return self._parse_at_once(body)
        return merge_readings(self._parsers, self._strategy, body)

    def _parse_at_once(self, body: Any) -> ParsedResponse:
        options = self._reader.options
        if not options.dialects:
            return self._reader.read(body).response
        response = self._reader.read(body, recovers=True).response
        if response.broken_calls:
            _put_native_first(response)
        native = [call for call in response.tool_calls if call.index not in response.dialects]
        if self._strategy == "first" and native:
            response.tool_calls = native
        intents = find_intents(response.content, options.tools)
        if intents:
            known = {call.name for call in response.tool_calls} | {intent.name for intent in response.intents}
            response.intents += [intent for intent in intents if intent.name not in known]
        return response


def parse_response(
    body: Any,
    wire: WireName = "auto",
    *,
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Reasoning = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    quoted: Quoted = "text",
) -> ParsedResponse:
    """Parse a whole response in one call; see `CompositeParser`."""
    parser = CompositeParser(
        wire=wire, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits, quoted=quoted
    )
    return parser.parse(body)


# -- single strategies -------------------------------------------------------------------------------------------------


class NativeParser(WholeParser):
    """Reads the calls in a wire's own fields, and leaves the text as it is.

    Bodies of every wire, whole or streamed, as dict, text, bytes, SDK object, HTTP response or list of chunks; also the
    message alone, without the body around it.  With `wire="auto"` the body must show its wire, or is taken for that of
    `otherwise`.
    """


class MarkupParser(WholeParser):
    """Reads the calls that are written as markup in the text of an answer, or in the text fields of a body.

    The content comes without the markup and without thoughts between tags.  A call that a body holds natively, too, is
    left to `NativeParser`, with the error `duplicate_call`.
    """

    def __init__(
        self,
        dialects: Dialects = "auto",
        *,
        wire: str = "auto",
        otherwise: str = DEFAULT_WIRE,
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__(
            wire, otherwise=otherwise, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits
        )  # fmt: skip

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        response = super().parse(body)
        response.tool_calls = [call for call in response.tool_calls if call.source != "native"]
        return response


class JSONContentParser(WholeParser):
    """Reads calls that are JSON in the content: envelopes, lists and single calls, in a fence or bare.

    Only whole JSON that begins or ends the message counts, and only if it names a declared tool; without declared tools
    only a message that is nothing but an envelope of calls, such as `{"toolCalls": [...]}`.
    """

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        response = super().parse(body)
        if not response.ok:
            response.tool_calls = []
            return response
        found = self._reader.read_text(response.content, recovers=True)
        for name in ("content", "tool_calls", "order", "dialects"):
            setattr(response, name, getattr(found, name))
        return response


# -- merging -----------------------------------------------------------------------------------------------------------


def merge_readings(parsers: Sequence[ToolCallParser], strategy: Strategy, body: Any) -> ParsedResponse:
    """Let each parser read a body, and put together what they found: native calls first, then in their order.

    What is there once is taken from the first that has it.  Places are those of the parsers that have the same text,
    and those before all text; other calls stand behind it.
    """
    readings = [parser.parse(body) for parser in parsers]
    calls = _merge_calls(readings, strategy)
    broken = _group_equal(
        (number, reading.broken_calls, attrgetter("name", "raw", "code")) for number, reading in enumerate(readings)
    )
    response = ParsedResponse(
        content=_clean_content(parsers, readings),
        reasoning="\n".join(_drop_repeats(reading.reasoning for reading in readings if reading.reasoning)),
        refusal="\n".join(_drop_repeats(reading.refusal for reading in readings if reading.refusal)),
        tool_calls=_assign_ids(replace(same[0][1], index=index) for index, same in enumerate(calls)),
        broken_calls=[replace(same[0][1], index=index) for index, same in enumerate(broken, len(calls))],
        ok=any(reading.ok for reading in readings),
        raw_response=body,
    )
    for name in ("items", "finish_reason", "usage", *FACTS):
        if found := next(filter(None, (getattr(reading, name) for reading in readings)), None):
            setattr(response, name, found)
    called = {call.name for call in response.tool_calls}
    response.intents = _drop_repeats(
        each for reading in readings for each in reading.intents if each.name not in called
    )
    _renumber(response, readings, [*calls, *broken])
    return response


def _merge_calls(readings: Sequence[ParsedResponse], strategy: Strategy) -> list[Same[ToolCall]]:
    calling = [number for number, reading in enumerate(readings) if reading.tool_calls]
    counting = calling if strategy == "merge" else calling[:1]
    calls = _group_equal((number, readings[number].tool_calls, _identify) for number in counting)
    for same in calls:
        same.sort(key=_is_not_native)
    return sorted(calls, key=lambda same: _is_not_native(same[0]))


def _is_not_native(found: tuple[int, ToolCall]) -> bool:
    """The key that sorts native calls first."""
    return found[1].source != "native"


def _renumber(response: ParsedResponse, readings: Sequence[ParsedResponse], groups: list[Same[Any]]) -> None:
    """Take over the errors, dialects and places of the readings, in which calls are known by other numbers."""
    order: dict[tuple[str, int], Mark] = {}
    response.dialects = {}
    for at, reading in enumerate(readings):
        numbers = {made.index: index for index, same in enumerate(groups) for owner, made in same if owner == at}
        response.errors += [
            error if error.index is None else replace(error, index=numbers.get(error.index)) for error in reading.errors
        ]
        is_same = (reading.content, reading.reasoning) == (response.content, response.reasoning)
        for mark in reading.order:
            is_own = mark.what == "call" or reading.items is response.items
            index = numbers.get(mark.index) if mark.what == "call" else mark.index
            if is_own and index is not None and (is_same or not mark.content):
                order.setdefault((mark.what, index), replace(mark, index=index))
    for index, same in enumerate(groups):
        at, first = same[0]
        if first.index in readings[at].dialects:
            response.dialects[index] = readings[at].dialects[first.index]
    response.errors = _drop_repeats(response.errors)
    response.order = sorted(order.values(), key=attrgetter("content"))


def _put_native_first(response: ParsedResponse) -> None:
    """Where a call came in the text and then natively, keep the native one: it has the server's own id.

    In a stream the first one is kept, for it may run already; of a whole response nothing does.
    """
    doubles = [place for place, broken in enumerate(response.broken_calls) if broken.code == "duplicate_call"]
    in_text: defaultdict[object, deque[int]] = defaultdict(deque)
    for at, call in enumerate(response.tool_calls if doubles else ()):
        if call.index in response.dialects:  # its source does not tell: a native call may have been repaired
            in_text[_identify(call)].append(at)
    for place in doubles:
        double = response.broken_calls[place]
        try:
            reading = read(double.raw)
        except JSONError:
            continue
        if places := in_text[double.name, _make_comparable(reading.value)]:
            _exchange(response, places.popleft(), place, reading.repairs)


def _exchange(response: ParsedResponse, at: int, place: int, repairs: tuple[str, ...]) -> None:
    call, double = response.tool_calls[at], response.broken_calls[place]
    shared = double.id == f"{call.id}_{double.index}"  # it came second, so it could not have its own
    kept, left = (call.id, double.id) if shared else (double.id, call.id)
    source: Source = "repaired" if repairs else "native"
    response.tool_calls[at] = replace(call, id=kept, source=source, reason="".join(repairs[:1]), raw=double.raw)
    response.broken_calls[place] = replace(double, id=left, raw=call.raw)
    response.dialects[double.index] = response.dialects.pop(call.index)


def _group_equal(found: Iterable[tuple[int, Iterable[Made], Callable[[Made], object]]]) -> list[Same[Made]]:
    """Group equal calls of several readings; the same call twice in one reading is two calls."""
    together: list[Same[Made]] = []
    for at, calls, key in found:
        earlier: defaultdict[object, deque[Same[Made]]] = defaultdict(deque)
        for same in together:
            earlier[key(same[0][1])].append(same)
        for call in calls:
            if equal := earlier[key(call)]:
                equal.popleft().append((at, call))
            else:
                together.append([(at, call)])
    return together


def _assign_ids(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Give each call an id that no other has."""
    found = list(calls)
    ids = {call.id for call in found}
    minted = (id for number in count() if (id := f"call_{number}") not in ids)
    taken: set[str] = set()
    for place, call in enumerate(found):
        found[place] = replace(call, id=next(minted) if call.id in taken or not call.id else call.id)
        taken.add(found[place].id)
    return found


def _identify(call: ToolCall) -> tuple[str, object]:
    return call.name, _make_comparable(call.arguments)


def _make_comparable(value: Any) -> object:
    """Return what is equal for equal JSON (RFC 8785), and hashable: keys have no order, `1.0` is `1`, `true` is not."""
    if isinstance(value, dict):
        return dict, frozenset((key, _make_comparable(inner)) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return list, tuple(map(_make_comparable, value))
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else repr(value).encode()


def _clean_content(parsers: Sequence[ToolCallParser], readings: Sequence[ParsedResponse]) -> str:
    """Return the content without what any of the parsers removed."""
    content = next((reading.content for reading in readings if reading.content or reading.tool_calls), "")
    for parser, reading in zip(parsers, readings, strict=True):
        if reading.content != content and len(reading.content) < len(content) and parser.can_parse(content):
            content = parser.parse(content).content
    return content


def _drop_repeats(values: Iterable[Any]) -> list[Any]:
    """Keep each value once, in order; not all of them can be hashed."""
    kept: list[Any] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept
