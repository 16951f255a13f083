"""Reads one answer of a model for a run: its events by reads, and what of a call is certain so far.

Where the server refused what its model wrote (Groq's `failed_generation`), that text is read in the answer's place, as
if the model had said it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, Final, NamedTuple

from streamparse.events import Done, Error, Event, ToolCallComplete, ToolCallDelta, ToolCallStart
from streamparse.parser import StreamParser, TextParser
from streamparse.parser.composite import parse_response
from streamparse.parser.loops import describe_transport, drain
from streamparse.parser.sources import AsyncSource, open_async_source
from streamparse.repair.refusals import read_refusal
from streamparse.repair.review import find_failed_generation
from streamparse.response import ParsedResponse
from streamparse.runtime.agent_items import Partial
from streamparse.runtime.request import Request
from streamparse.runtime.rounds import Round, WaitingCall
from streamparse.runtime.run import Run
from streamparse.tools import InvalidArguments, Tool, Toolset, read_output

_STEP: Final = 64  # bound: a call is shown again once it has grown by this part of itself, so its copies stay linear


class Answer(AsyncIterator[list[Event]]):
    """The events of an answer, a list for each read.

    `stream` reads them; `parser` is what has read the answer in the end: its `response` is good at any time.
    Raises TypeError for what is not a source.
    """

    def __init__(self, request: Request, source: AsyncSource, tools: Toolset, *, reads_quoted: bool) -> None:
        self.request = request
        self._tools = tools
        self.stream: StreamParser = StreamParser(
            request.wire, dialects=request.dialects, reasoning=request.reasoning, tools=tools,
            quoted="calls" if reads_quoted else "text",
        )  # fmt: skip
        self.stream.stop_when_sealed()
        self.parser: StreamParser | TextParser = self.stream
        self._chunks, self._closing = open_async_source(source)
        self._batches = self._read()

    @property
    def response(self) -> ParsedResponse:
        """What has come so far."""
        return self.parser.response

    @property
    def responses(self) -> list[ParsedResponse]:
        """The refusal and what was read in its place; or the answer alone."""
        return [each.response for each in dict.fromkeys((self.stream, self.parser))]

    def __anext__(self) -> Awaitable[list[Event]]:
        return anext(self._batches)

    async def aclose(self) -> None:
        """End the reading, and close the source."""
        try:
            await self._batches.aclose()
        finally:
            await self._closing.aclose()

    def close(self) -> None:
        """Give the answer its end, if it was left before that."""
        self.parser.close()

    async def _read(self) -> AsyncGenerator[list[Event], None]:
        parser = self.stream
        async with self._closing:
            while True:
                try:
                    chunk = await anext(self._chunks)
                except StopAsyncIteration:
                    break
                except Exception as error:
                    yield parser.abort("transport_error", describe_transport(error))
                    raise
                events = self._replace_refusal(parser.feed(chunk))
                if events:
                    yield events
                if not parser.can_go_on or self.parser is not parser:
                    if events and type(events[-1]) is Done:  # a limit was hit, or a refusal was replaced
                        return
                    break
            yield self._replace_refusal(parser.close())
            await drain(self._chunks)

    def _replace_refusal(self, events: list[Event]) -> list[Event]:
        """Put what the model wrote, and its server refused, in the place of the refusal."""
        if not any(isinstance(event, Error) and event.scope == "stream" for event in events):
            return events
        response = self.stream.response
        generation = find_failed_generation(response)
        if generation is None or response.tool_calls or response.broken_calls:
            return events
        recovered = read_generation(generation, self._tools)
        if recovered is None:
            return events
        self.parser, told = recovered
        return [*takewhile(lambda event: not isinstance(event, (Error, Done)), events), *told]


class RestoredAnswer(AsyncIterator[list[Event]]):
    """An answer that was read before, of which at most some events are told once more."""

    def __init__(self, response: ParsedResponse, told: Sequence[Event] = ()) -> None:
        self.response = response
        self._told = [[*told]] if told else []

    @property
    def responses(self) -> list[ParsedResponse]:
        """None: nothing is learnt of it again."""
        return []

    async def __anext__(self) -> list[Event]:
        if not self._told:
            raise StopAsyncIteration
        return self._told.pop()

    def close(self) -> None:
        """It has its end."""


class OpenAnswer(NamedTuple):
    """An answer that is being read."""

    request: Request
    answer: Answer | RestoredAnswer
    turn: Run


def repeat_calls(last: Round, waiting: Iterable[WaitingCall]) -> list[Event]:
    """Return the events of calls that waited, with the arguments that were checked."""
    ids = {call.index: call.id for call in last.response.tool_calls}
    told: list[Event] = [
        ToolCallComplete(each.index, ids.get(each.index, ""), each.name, each.arguments, "native", "")
        for each in waiting
    ]
    return [*told, Done("tool_calls", None, True)]


def read_generation(text: str, tools: Toolset) -> tuple[TextParser, list[Event]] | None:
    """Read what a model wrote; return its parser and its events, None if no call is in it."""
    parser = TextParser("auto", tools=tools)
    events = [*parser.feed(text), *parser.close(stopped=True)]
    return (parser, events) if any(isinstance(event, ToolCallComplete) for event in events) else None


def find_refused_body(error: BaseException, tools: Toolset) -> Any:
    """Return the body of a refusal that holds what the model wrote (Groq), if calls can be read of it; else None."""
    body = read_refusal(error) if isinstance(error, Exception) else None
    generation = None if body is None else find_failed_generation(parse_response(body))
    return body if generation is not None and read_generation(generation, tools) is not None else None


class Partials:
    """Shows the arguments of the calls of one answer while they are written.

    `output_tool` is the one whose arguments are the run's output.
    """

    def __init__(self, parser: StreamParser, output_tool: Tool | None) -> None:
        self._parser = parser
        self._output_tool = output_tool
        self._names: dict[int, str] = {}
        self._sizes: dict[int, int] = {}
        self._shown: dict[int, int] = {}

    def read(self, event: object) -> Partial | None:
        """Return what is known of a call that is still being written, unless it has hardly grown."""
        if not isinstance(event, (ToolCallStart, ToolCallDelta, ToolCallComplete)):
            return None
        index = event.index
        if isinstance(event, ToolCallStart):
            self._names[index] = event.name
        elif isinstance(event, ToolCallComplete):
            self._names.pop(index, None)
        elif index in self._names:
            size = self._sizes[index] = self._sizes.get(index, 0) + len(event.arguments)
            shown = self._shown.get(index, 0)
            if size - shown >= shown // _STEP and (partial := self._show(index)) is not None:
                self._shown[index] = size
                return partial
        return None

    def _show(self, index: int) -> Partial | None:
        try:
            arguments = self._parser.partial(index)
        except KeyError:  # it broke in this very read
            return None
        if not arguments:
            return None
        name, output, tool = self._names.get(index, ""), None, self._output_tool
        if tool is not None and name == tool.name:
            with suppress(InvalidArguments):
                output = read_output(tool, arguments)
        return Partial(index, arguments, name, output)
