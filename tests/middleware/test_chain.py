"""Steps around a client: requests pass them in order, answers in the opposite one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import httpx
import pytest

import streamparse as sp
from streamparse.middleware import (
    LearnFormats,
    MiddlewareChain,
    NormaliseTools,
    ParseAnswer,
    ReadStream,
    Transform,
    TranslateTools,
    ValidateCalls,
)

pytest.importorskip("jsonschema_rs")


def search(query: str, limit: int = 10) -> str:
    """Search the web."""
    return f"{query} {limit}"


def _message(*inputs: Any) -> dict[str, Any]:
    """A whole Anthropic message with calls of `search`."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "search", "input": each} for n, each in enumerate(inputs)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Well."}, *blocks],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }


class Noted:
    """Notes when it is passed."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name = name
        self._log = log

    def process_request(self, request: dict[str, Any]) -> dict[str, Any]:
        self._log.append(f"> {self._name}")
        return {**request, "path": [*request.get("path", ()), self._name]}

    def process_response(self, response: Any, request: Mapping[str, Any]) -> Any:
        self._log.append(f"< {self._name} {request.get('path', [])}")
        return response


def test_answers_pass_in_the_opposite_order_each_with_the_request_as_its_step_was_given_it() -> None:
    log: list[str] = []
    send = MiddlewareChain(Noted("a", log), Noted("b", log)).wrap_sync(lambda request: request["path"])
    assert send({}) == ["a", "b"]
    assert log == ["> a", "> b", "< b ['a']", "< a []"]


def test_tools_are_normalised_and_translated_the_answer_parsed_and_its_calls_validated() -> None:
    sent: list[Any] = []

    async def client(request: dict[str, Any]) -> Any:
        sent.append(request)
        return _message({"query": "tea", "limit": "3"}, {"limit": 3})

    chain = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer("anthropic"), TranslateTools("anthropic"))
    request = {"model": "m", "tools": [search]}
    response = anyio.run(chain.wrap(client), request)

    (tool,) = sent[0]["tools"]
    assert (tool["name"], tool["description"]) == ("search", "Search the web.")
    assert tool["input_schema"]["required"] == ["query"]
    assert request["tools"] == [search], "what was given stays as it is"
    assert response.content == "Well."
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("search", {"query": "tea", "limit": 3})]
    (broken,) = response.broken_calls
    assert (broken.id, broken.name, broken.code) == ("toolu_1", "search", "missing_parameter")
    assert "query" in response.errors[-1].message


def test_the_two_ways_can_be_walked_by_hand() -> None:
    chain = MiddlewareChain(ParseAnswer(), TranslateTools("openai"))
    request = {"tools": [search]}
    assert chain.process_request(request)["tools"][0]["type"] == "function"
    text = '<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>'
    assert chain.process_response(text, request).tool_calls[0].arguments == {"query": "tea"}


def test_a_transform_changes_what_it_is_told_to() -> None:
    chain = MiddlewareChain(
        Transform(lambda request: {**request, "temperature": 0}, lambda response: response.content.upper()),
        ParseAnswer(),
    )
    assert chain.process_request({"model": "m"}) == {"model": "m", "temperature": 0}
    assert chain.process_response("hello", {}) == "HELLO"
    assert MiddlewareChain(Transform()).process_response("hello", {}) == "hello"


def test_a_request_without_tools_passes() -> None:
    chain = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer(), TranslateTools("gemini"))
    assert chain.process_request({"model": "m"}) == {"model": "m"}
    assert chain.process_response("hello", {"model": "m"}).content == "hello"


def test_validation_without_parsing_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="ParseAnswer"):
        MiddlewareChain(ValidateCalls()).process_response("hello", {})


@pytest.mark.parametrize(
    "step", [lambda: TranslateTools("nope"), lambda: ParseAnswer("nope"), lambda: ReadStream("nope")]
)
def test_unknown_names_are_refused_at_once(step: Any) -> None:
    with pytest.raises(ValueError, match="unknown"):
        step()


def test_what_the_client_raises_passes_through() -> None:
    def client(_: Any) -> Any:
        raise OSError("no route")

    with pytest.raises(OSError, match="no route"):
        MiddlewareChain(ParseAnswer()).wrap_sync(client)({})


def test_a_tool_above_its_tier_is_not_kept_as_a_call() -> None:
    chain = MiddlewareChain(ValidateCalls(), ParseAnswer())
    request = {"tools": [sp.Tool("wipe", parameters={"type": "object"}, tier=1)]}
    body = '<tool_call>\n{"name": "wipe", "arguments": {}}\n</tool_call>'
    assert chain.process_response(body, request).tool_calls == []


def test_tools_that_only_their_provider_runs_are_no_functions_elsewhere_and_no_list_is_left_empty() -> None:
    request = {"model": "m", "tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    for steps in ((NormaliseTools(), TranslateTools("openai")), (TranslateTools("openai"),)):
        assert MiddlewareChain(*steps).process_request(request) == {"model": "m"}


def _definition(strict: bool) -> dict[str, Any]:
    """A function as OpenAI takes it."""
    function = {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}
    return {"type": "function", "function": {**function, "strict": strict}}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("tool", [_definition, lambda strict: sp.Tool("search", strict=strict)])
def test_a_schema_that_is_to_be_enforced_still_is_after_tools_are_normalised(tool: Any, strict: bool) -> None:
    request = {"tools": [tool(strict)]}
    normal = NormaliseTools().process_request(request)
    assert [(type(each), each.strict) for each in normal["tools"]] == [(sp.Tool, strict)]
    for steps in ((TranslateTools("openai"),), (NormaliseTools(), TranslateTools("openai"))):
        (written,) = MiddlewareChain(*steps).process_request(request)["tools"]
        assert written["function"].get("strict", False) is strict
    (written,) = TranslateTools("anthropic").process_request(normal)["tools"]
    assert written.get("strict", False) is strict


OWN: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600},
    ],
    "openai": [{"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}],
    "openai-responses": [
        {"type": "web_search_preview_2025_03_11", "search_context_size": "low"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}},
    ],
    "gemini": [{"googleSearch": {}}, {"codeExecution": {}, "url_context": {}}],
    "bedrock": [{"systemTool": {"name": "nova_grounding"}}, {"cachePoint": {"type": "default"}}],
    "openrouter": [{"type": "openrouter:web_search"}],
}
"""Tools that providers bring themselves."""


@pytest.mark.parametrize("target", OWN)
@pytest.mark.parametrize("source", OWN)
@pytest.mark.parametrize("before", [(), (NormaliseTools(),)])
def test_a_providers_own_tools_come_to_it_unchanged_and_to_another_are_told_as_lost(
    source: str, target: str, before: Any
) -> None:
    told: list[Any] = []
    chain = MiddlewareChain(*before, TranslateTools(target, tell=told.extend))
    request = {"tools": [OWN[source][0], search, *OWN[source][1:]]}
    written = chain.process_request(request)["tools"]
    functions = TranslateTools(target).process_request({"tools": [search]})["tools"]
    kept = [tool for tool in written if tool not in functions]
    assert len(written) == len(kept) + len(functions)
    if source == target:
        assert kept == OWN[source]
    else:
        # Tools that take text are OpenAI's own, but both of its wires have them.
        both = {source, target} == {"openai", "openai-responses"}
        assert [tool["type"] for tool in kept] == ["custom"] * both
    dropped = [each.outcome for each in told if each.place != "search"]
    assert len(dropped) == len(OWN[source]) - len(kept)
    assert all(each.startswith("dropped: ") for each in dropped)


def test_functions_declared_beside_a_providers_own_tool_are_translated_alone() -> None:
    mixed = {"functionDeclarations": [{"name": "find", "parameters": {"type": "OBJECT"}}], "googleSearch": {}}
    for steps in ((), (NormaliseTools(),)):
        own = MiddlewareChain(*steps, TranslateTools("gemini")).process_request({"tools": [mixed]})["tools"]
        assert [list(each) for each in own] == [["functionDeclarations"], ["googleSearch"]]
        (other,) = MiddlewareChain(*steps, TranslateTools("anthropic")).process_request({"tools": [mixed]})["tools"]
        assert (other["name"], other["input_schema"]["type"]) == ("find", "object")


def test_own_tools_of_an_unknown_shape_stay_where_the_request_was_written_for_the_same_provider() -> None:
    tool = {"type": "browser_search", "depth": 2}
    assert TranslateTools("openai").process_request({"tools": [tool]}) == {}
    assert TranslateTools("openai", source="openai").process_request({"tools": [tool]}) == {"tools": [tool]}
    assert TranslateTools("anthropic", source="openai").process_request({"tools": [tool]}) == {}
    with pytest.raises(ValueError, match="unknown provider 'nope'"):
        TranslateTools("openai", source="nope")


def test_the_calls_of_a_providers_own_tool_that_the_client_runs_are_kept() -> None:
    tool = {"type": "bash_20250124", "name": "bash"}
    block = {"type": "tool_use", "id": "toolu_0", "name": "bash", "input": {"command": "ls"}}
    body = {**_message(), "content": [block]}
    chain = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer("anthropic"), TranslateTools("anthropic"))
    response = chain.process_response(body, {"tools": [tool]})
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("bash", {"command": "ls"})]


def test_a_learner_is_told_of_every_answer_before_its_calls_are_validated() -> None:
    learner = sp.CapabilityLearner()
    chain = MiddlewareChain(ValidateCalls(), LearnFormats(learner), ParseAnswer())
    request = {"model": "m", "tools": [search]}
    text = (
        '<tool_call>{"name": "search", "arguments": {"query": 1}}</tool_call><tool_call>{"name": "no", "arguments": {}}'
    )
    chain.process_response(text, request)
    chain.process_response("hello", {"tools": [search]})
    (format_name,) = learner.get_figures("m")
    figures = learner.get_figures("m")[format_name]
    assert (format_name, figures.parsed, figures.unknown_tool) == ("hermes", 1, 1)


@pytest.mark.parametrize("provider", OWN)
def test_answers_to_requests_with_a_providers_own_tools_are_parsed_and_validated(provider: str) -> None:
    chain = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer(), TranslateTools(provider))
    text = '<tool_call>{"name": "search", "arguments": {"query": "tea"}}</tool_call>'
    response = chain.process_response(text, {"tools": [*OWN[provider], search]})
    assert [call.arguments for call in response.tool_calls] == [{"query": "tea"}]


CHUNKS = [
    b'data: {"choices": [{"index": 0, "delta": {"content": "<tool_call>{\\"name\\": \\"search\\", "}}]}\n\n',
    b'data: {"choices": [{"index": 0, "delta": {"content": "\\"arguments\\": {\\"query\\": \\"tea\\"}}"}}]}\n\n',
    b'data: {"choices": [{"index": 0, "delta": {"content": "</tool_call>"}, "finish_reason": "stop"}]}\n\n',
    b"data: [DONE]\n\n",
]


class Stream:
    """A client's stream, which notes what is read of it and that it is closed."""

    def __init__(self) -> None:
        self.read = 0
        self.closed = False

    def _next(self) -> bytes | None:
        self.read += 1
        return CHUNKS[self.read - 1] if self.read <= len(CHUNKS) else None


class SyncStream(Stream):
    """One for a `for` loop."""

    def __iter__(self) -> SyncStream:
        return self

    def __next__(self) -> bytes:
        if (chunk := self._next()) is None:
            raise StopIteration
        return chunk

    def close(self) -> None:
        self.closed = True


class AsyncStream(Stream):
    """One for an `async for` loop."""

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> bytes:
        if (chunk := self._next()) is None:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        self.closed = True


STREAMING = MiddlewareChain(NormaliseTools(), ReadStream("openai-chat"), TranslateTools("openai"))
REQUEST = {"model": "m", "stream": True, "tools": [search]}


def test_a_stream_is_read_as_events_while_it_comes_and_closed_at_its_end() -> None:
    stream = SyncStream()
    events = STREAMING.wrap_sync(lambda _: stream)(REQUEST)
    assert stream.read == 0
    read = [(stream.read, event) for event in events]
    assert [(at, event.arguments) for at, event in read if isinstance(event, sp.ToolCallComplete)] == [
        (2, {"query": "tea"})
    ]
    assert stream.closed
    assert [call.name for call in events.parser.response.tool_calls] == ["search"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_stream_of_an_async_client_is_read_so_too_and_closed_when_it_is_left_early(backend: str) -> None:
    stream = AsyncStream()

    async def client(_: Any) -> AsyncStream:
        return stream

    async def first() -> Any:
        async with await STREAMING.wrap(client)(REQUEST) as events:
            async for event in events:
                if isinstance(event, sp.ToolCallComplete):
                    return event
            return None

    assert anyio.run(first, backend=backend).arguments == {"query": "tea"}
    assert stream.closed


def _served(_: Any) -> httpx.Response:
    return httpx.Response(200, content=b"".join(CHUNKS))


def test_the_response_of_an_http_client_is_a_stream() -> None:
    with httpx.Client(transport=httpx.MockTransport(_served)) as client:

        def send(_: Any) -> httpx.Response:
            return client.send(client.build_request("POST", "http://test/"), stream=True)

        events = STREAMING.wrap_sync(send)(REQUEST)
        assert [event.name for event in events if isinstance(event, sp.ToolCallComplete)] == ["search"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_response_of_an_async_http_client_is_a_stream(backend: str) -> None:
    async def names() -> list[str]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(_served)) as client:

            async def send(_: Any) -> httpx.Response:
                return await client.send(client.build_request("POST", "http://test/"), stream=True)

            async with await STREAMING.wrap(send)(REQUEST) as events:
                return [event.name async for event in events if isinstance(event, sp.ToolCallComplete)]

    assert anyio.run(names, backend=backend) == ["search"]


@pytest.mark.parametrize("stream", [SyncStream, AsyncStream])
def test_a_stream_is_not_taken_for_a_whole_answer_and_nothing_of_it_is_read(stream: type[Stream]) -> None:
    given = stream()
    with pytest.raises(TypeError, match="ReadStream"):
        MiddlewareChain(ParseAnswer()).process_response(given, REQUEST)
    assert given.read == 0


def test_chunks_that_were_collected_are_a_whole_answer() -> None:
    for answer in (CHUNKS, b"".join(CHUNKS)):
        assert MiddlewareChain(ParseAnswer()).process_response(answer, REQUEST).tool_calls[0].name == "search"


def test_what_is_no_stream_cannot_be_read_as_one() -> None:
    with pytest.raises(TypeError, match="source"):
        STREAMING.process_response(3, REQUEST)


@pytest.mark.parametrize("way", ["request", "response"])
def test_what_a_step_raises_passes_through_and_the_steps_before_it_see_no_answer(way: str) -> None:
    def broken(_: Any) -> Any:
        raise LookupError(way)

    log: list[str] = []
    chain = MiddlewareChain(Noted("a", log), Transform(**{way: broken}), Noted("b", log))
    sent: list[Any] = []
    with pytest.raises(LookupError, match=way):
        chain.wrap_sync(sent.append)({})
    assert log == (["> a"] if way == "request" else ["> a", "> b", "< b ['a']"])
    assert len(sent) == (way == "response")


def test_a_chain_of_no_steps_is_the_client_itself_and_chains_may_be_steps_of_a_chain() -> None:
    assert MiddlewareChain().wrap_sync(lambda request: request)({"a": 1}) == {"a": 1}
    log: list[str] = []
    inner = MiddlewareChain(Noted("b", log), Noted("c", log))
    MiddlewareChain(Noted("a", log), inner, Noted("d", log)).wrap_sync(lambda _: None)({})
    assert [each[:3] for each in log] == ["> a", "> b", "> c", "> d", "< d", "< c", "< b", "< a"]


def _completion(request: httpx.Request) -> httpx.Response:
    if json.loads(request.content).get("stream"):
        return httpx.Response(200, content=b"".join(CHUNKS), headers={"content-type": "text/event-stream"})
    message = {
        "role": "assistant",
        "content": '<tool_call>{"name": "search", "arguments": {"query": "tea"}}</tool_call>',
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return httpx.Response(200, json={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]})


WHOLE = MiddlewareChain(NormaliseTools(), ValidateCalls(), ParseAnswer(), TranslateTools("openai"))
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Tea?"}], "tools": [search]}


def test_the_official_client_may_stand_behind_a_chain() -> None:
    openai = pytest.importorskip("openai")
    served = httpx.Client(transport=httpx.MockTransport(_completion))
    with openai.OpenAI(api_key="x", base_url="http://test/v1", http_client=served) as client:

        def send(request: dict[str, Any]) -> Any:
            return client.chat.completions.create(**request)

        assert WHOLE.wrap_sync(send)(ASKED).tool_calls[0].arguments == {"query": "tea"}
        with STREAMING.wrap_sync(send)({**ASKED, "stream": True}) as events:
            (call,) = [event for event in events if isinstance(event, sp.ToolCallComplete)]
        assert call.arguments == {"query": "tea"}
        with pytest.raises(TypeError, match="ReadStream"):
            WHOLE.wrap_sync(send)({**ASKED, "stream": True})


def test_the_official_async_client_may_stand_behind_a_chain() -> None:
    openai = pytest.importorskip("openai")

    async def calls() -> list[Any]:
        served = httpx.AsyncClient(transport=httpx.MockTransport(_completion))
        async with openai.AsyncOpenAI(api_key="x", base_url="http://test/v1", http_client=served) as client:

            async def send(request: dict[str, Any]) -> Any:
                return await client.chat.completions.create(**request)

            whole = await WHOLE.wrap(send)(ASKED)
            async with await STREAMING.wrap(send)({**ASKED, "stream": True}) as events:
                streamed = [event async for event in events if isinstance(event, sp.ToolCallComplete)]
            return [whole.tool_calls[0].arguments, *(event.arguments for event in streamed)]

    assert anyio.run(calls) == [{"query": "tea"}] * 2


class _Marked(MiddlewareChain):
    """A chain that does more than its steps."""

    def process_request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().process_request(request), "marked": True}


def test_a_chain_of_the_users_own_kind_is_asked_itself_within_another() -> None:
    chain = MiddlewareChain(_Marked(Transform(lambda request: {**request, "seen": True})))
    assert chain.process_request({}) == {"seen": True, "marked": True}
