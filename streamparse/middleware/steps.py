"""The steps that most chains want."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack

import msgspec

from streamparse.dialects import Dialects
from streamparse.events import Error
from streamparse.loss import Loss
from streamparse.middleware.chain import Middleware
from streamparse.negotiate import CapabilityLearner
from streamparse.parser import StreamParser
from streamparse.parser.composite import CompositeParser
from streamparse.parser.loops import AsyncEventStream, EventStream, aiter_events, iter_events
from streamparse.providers.adapters import adapter_for
from streamparse.repair import CallChecks, Preflight, judge
from streamparse.response import BrokenCall, ParsedResponse
from streamparse.tools import Toolset
from streamparse.writing.definitions import read_entry, split_server_tools

_TOOLS = "tools"
# Where the stream itself is found: of an event source, of a response of HTTPX, of one of aiohttp.
_BODIES = ("response", "stream", "content")


class NormaliseTools(Middleware):
    """Makes `Tool`s of the request's `tools`, whatever they are: functions, definitions of any provider, `Tool`s.

    Tools that a provider offers itself (search, code execution) stay as they are, after the others.
    """

    def process_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make the tools.  Raises TypeError or ValueError for anything that is no tool."""
        if not request.get(_TOOLS):
            return request
        others, own = split_server_tools(request[_TOOLS], lambda _: True)
        tools = Toolset(declared.tool for place, tool in others for declared in read_entry(tool, place, []))
        return {**request, _TOOLS: [*tools.values(), *own]}


class TranslateTools(Middleware):
    """Writes the request's tools as one provider wants them; it comes last, next to the client.

    Tools that this provider brings itself stay as they are: by their shape, or all if the request was written for it
    (`source`).  `tell` is given the losses of each request's tools, if there are any.
    Raises ValueError for unknown providers.
    """

    def __init__(
        self, provider: str, *, source: str | None = None, tell: Callable[[list[Loss]], object] | None = None
    ) -> None:
        self._adapter = adapter_for(provider)
        self._source = source if source is None else adapter_for(source).name
        self._tell = tell

    def process_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Translate the tools; where none is left there is no list, because an empty one is refused."""
        lost: list[Loss] = []
        written = self._adapter.translate_tools(request.get(_TOOLS) or (), lost, self._source)
        if lost and self._tell is not None:
            self._tell(lost)
        kept = {key: value for key, value in request.items() if key != _TOOLS}
        return {**kept, _TOOLS: written} if written else kept


class _Reader(Middleware):
    """Reads answers on a wire; raises ValueError for unknown names."""

    def __init__(self, wire: str = "auto", *, dialects: Dialects = "auto") -> None:
        self._wire = wire
        self._dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        StreamParser(wire, dialects=self._dialects)  # raises at once if a name is unknown


class ParseAnswer(_Reader):
    """Makes a `ParsedResponse` of whatever the client returned, by the tools of the request.

    Of a whole answer: a client that returns a stream needs `ReadStream`.  Raises ValueError for unknown names.
    """

    def process_response(self, response: Any, request: Mapping[str, Any]) -> Any:
        """Parse an answer, unless it is parsed already.  Raises TypeError for a stream, of which nothing is read."""
        if isinstance(response, ParsedResponse):
            return response
        if isinstance(response, (Iterator, AsyncIterable)):
            raise TypeError(f"ParseAnswer takes a whole answer, not a stream: use ReadStream for {response!r}")
        return CompositeParser(self._wire, dialects=self._dialects, tools=request.get(_TOOLS)).parse(response)


class ReadStream(_Reader):
    """Makes the loop of events of whatever stream the client returned, by the tools of the request.

    That is what `iter_events` returns, or for an async client's stream `aiter_events`: its `parser` has the whole
    response at the end, and closing it closes the client's stream.  Raises ValueError for unknown names.
    """

    def process_response(self, response: Any, request: Mapping[str, Any]) -> EventStream | AsyncEventStream:
        """Open the stream; nothing is read yet.  Raises TypeError for anything else."""
        open_stream: Callable[..., EventStream | AsyncEventStream]
        open_stream = aiter_events if _is_async(response) else iter_events
        return open_stream(response, self._wire, dialects=self._dialects, tools=request.get(_TOOLS))


def _is_async(stream: Any) -> bool:
    """Whether a stream, or its contents, is read with `async for`."""
    if isinstance(stream, (Iterable, AsyncIterable)):
        return isinstance(stream, AsyncIterable)
    inner = next((name for name in _BODIES if hasattr(stream, name)), None)
    return inner is not None and _is_async(getattr(stream, inner))


class LearnFormats(Middleware):
    """Lets a learner observe each answer, as one of the request's `model`; comes after `ValidateCalls`.

    Streams pass: `learner.observe` takes their `parser` at the end.
    """

    def __init__(self, learner: CapabilityLearner) -> None:
        self._learner = learner

    def process_response(self, response: Any, request: Mapping[str, Any]) -> Any:
        """Count the calls of an answer that is parsed, to a request that names its model."""
        model = request.get("model")
        if isinstance(response, ParsedResponse) and isinstance(model, str):
            self._learner.observe(model, response, tool_names=Toolset.of(request.get(_TOOLS)).names)
        return response


class ValidateCalls(Middleware):
    """Keeps the calls that may be run, coerced as `preflight` does; the others are broken calls, each with an error.

    The keywords are those of `preflight`.
    """

    def __init__(self, **checks: Unpack[CallChecks]) -> None:
        self._checks: CallChecks = {**checks, "guards": tuple(checks.get("guards", ()))}
        judge((), **self._checks)  # raises at once if a keyword is unknown

    def process_response(self, response: Any, request: Mapping[str, Any]) -> Any:
        """Look at each call.  Raises TypeError if no step has parsed the answer."""
        if not isinstance(response, ParsedResponse):
            raise TypeError("ValidateCalls needs a ParsedResponse: put ParseAnswer after it")
        verdict = judge(request.get(_TOOLS) or (), **self._checks)(response)
        unfit = [each for each in verdict.preflights if not each.ok]
        return msgspec.structs.replace(
            response,
            tool_calls=[each.call for each in verdict.preflights if each.ok],
            broken_calls=[*response.broken_calls, *map(_make_broken, unfit)],
            errors=[*response.errors, *map(_make_error, unfit)],
        )


def _make_broken(unfit: Preflight) -> BrokenCall:
    call = unfit.call
    return BrokenCall(call.name, call.raw, call.id, _find_code(unfit), call.index)


def _make_error(unfit: Preflight) -> Error:
    return Error("call", _find_code(unfit), unfit.message, index=unfit.call.index)


def _find_code(unfit: Preflight) -> str:
    """The code of the first thing that keeps a call from running."""
    return next(finding.code for finding in unfit.findings if finding.fatal)


class Transform(Middleware):
    """Changes requests and answers by two functions of the user; None lets them pass."""

    def __init__(
        self,
        request: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        response: Callable[[Any], Any] | None = None,
    ) -> None:
        self._request = request
        self._response = response

    def process_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Apply the function for requests."""
        return self._request(request) if self._request is not None else request

    def process_response(self, response: Any, _request: Mapping[str, Any]) -> Any:
        """Apply the function for answers."""
        return self._response(response) if self._response is not None else response
