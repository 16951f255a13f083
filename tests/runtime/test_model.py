"""A model behind HTTP: a real server is asked on a socket, and everything that may go wrong goes wrong."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from serving import Upstream, serving

import streamparse as sp
from streamparse.negotiate import FormatNegotiator
from streamparse.providers.endpoints import is_local
from streamparse.providers.names import PROVIDERS
from streamparse.runtime import Model, build_model, describe_failure, find_model_delay, open_model

httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.anyio

HISTORY = sp.History(system="Be brief.").with_prompt("Hi.")
CHAT = [
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
]
OLLAMA = [
    b'{"model":"m","message":{"role":"assistant","content":"Hel"},"done":false}\n',
    b'{"model":"m","message":{"role":"assistant","content":"lo"},"done":true,"done_reason":"stop"}\n',
]


@sp.tool(effect="read")
def now(zone: str) -> str:
    """The time in a zone."""
    return zone


def request(**settings: Any) -> sp.Request:
    return sp.Request(HISTORY, [now], settings)


async def ask(model: Model, asked: sp.Request | None = None) -> sp.ParsedResponse:
    """The answer of a model, read as its request says."""
    asked = asked or request()
    source = await model(asked)
    events = sp.aiter_events(source, asked.wire, dialects=asked.dialects, reasoning=asked.reasoning, tools=asked.tools)
    async for _ in events:
        pass
    return events.parser.response


async def refused(url: str, **options: Any) -> sp.ModelError:
    async with sp.http_model(url, "openai-chat", "m", **options) as model:
        with pytest.raises(sp.ModelError) as raised:
            await model(request())
    return raised.value


# -- asking ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "chunks", "path"),
    [
        ("openai-chat", CHAT, "/v1/chat/completions"),
        ("ollama-chat", OLLAMA, "/api/chat"),
        ("mistral", CHAT, "/v1/chat/completions"),
    ],
)
async def test_a_model_is_asked_at_its_path_and_its_answer_streams(wire: str, chunks: Any, path: str) -> None:
    upstream = Upstream(chunks)
    with serving(upstream) as url:
        async with sp.http_model(url, wire, "some-model", temperature=0.5) as model:
            response = await ask(model)
    assert (response.content, response.ok, response.stop) == ("Hello", True, "end")
    [(method, asked, _headers, body)] = upstream.asked
    sent = json.loads(body)
    assert (method, asked, sent["model"], sent["stream"]) == ("POST", path, "some-model", True)
    assert 0.5 in (sent.get("temperature"), sent.get("options", {}).get("temperature"))


async def test_the_answer_streams_before_it_is_over() -> None:
    upstream, first = Upstream(CHAT), threading.Event()
    upstream.gate = lambda number: number == 0 or first.wait(30)
    with serving(upstream) as url:
        async with sp.http_model(url, "openai-chat", "m") as model:
            events = sp.aiter_events(await model(request()), "openai-chat")
            assert await anext(events) == sp.TextDelta("Hel")
            first.set()
            assert [event async for event in events][-1] == sp.Done("stop", None, True)


@pytest.mark.parametrize(
    ("wire", "header", "value"),
    [
        ("openai-chat", "authorization", "Bearer k-1"),
        ("openai-responses", "authorization", "Bearer k-1"),
        ("ollama-chat", "authorization", "Bearer k-1"),
        ("cohere", "authorization", "Bearer k-1"),
        ("bedrock-converse", "authorization", "Bearer k-1"),
        ("anthropic", "x-api-key", "k-1"),
        ("gemini", "x-goog-api-key", "k-1"),
    ],
)
async def test_the_key_stands_where_the_wire_wants_it_and_nowhere_else(wire: str, header: str, value: str) -> None:
    upstream = Upstream([b"{}"])
    with serving(upstream) as url:
        async with sp.http_model(url, wire, "m", api_key="k-1", headers={"X-Extra": "yes"}) as model:
            await ask(model)
    [(_, path, headers, body)] = upstream.asked
    assert {name: text for name, text in headers.items() if "k-1" in text} == {header: value}
    assert "k-1" not in path + body.decode()
    assert headers["x-extra"] == "yes"
    assert headers.get("anthropic-version") == ("2023-06-01" if wire == "anthropic" else None)


async def test_headers_of_the_caller_stand_over_our_own() -> None:
    upstream = Upstream(CHAT)
    with serving(upstream) as url:
        model = sp.http_model(url, "openai-chat", "m", api_key="k-1", headers={"Authorization": "Basic abc"})
        async with model:
            await ask(model)
    assert upstream.asked[0][2]["authorization"] == "Basic abc"


@pytest.mark.parametrize(
    ("url", "wire", "asked"),
    [
        ("https://api.openai.com", "openai-chat", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "openai-responses", "https://api.openai.com/v1/responses"),
        ("https://api.z.ai/api/paas/v4", "openai-chat", "https://api.z.ai/api/paas/v4/chat/completions"),
        ("https://g.example/v1beta/openai", "openai-chat", "https://g.example/v1beta/openai/chat/completions"),
        ("https://api.anthropic.com", "anthropic", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "anthropic", "https://api.anthropic.com/v1/messages"),
        ("http://127.0.0.1:11434", "ollama-chat", "http://127.0.0.1:11434/api/chat"),
        ("https://api.cohere.com/v2", "cohere", "https://api.cohere.com/v2/chat"),
        ("https://g.example", "gemini", "https://g.example/v1beta/models/some:streamGenerateContent?alt=sse"),
        ("https://g.example/v1", "gemini", "https://g.example/v1/models/some:streamGenerateContent?alt=sse"),
        ("https://b.example", "bedrock-converse", "https://b.example/model/some/converse-stream"),
        ("https://a.example/d/chat/completions?v=1", "openai-chat", "https://a.example/d/chat/completions?v=1"),
        ("https://a.example/d/messages/", "anthropic", "https://a.example/d/messages"),
        ("https://a.example/api/chat", "ollama-chat", "https://a.example/api/chat"),
        ("https://a.example/x:streamGenerateContent", "gemini", "https://a.example/x:streamGenerateContent"),
        ("https://a.example/base?v=1", "openai-chat", "https://a.example/base/v1/chat/completions?v=1"),
    ],
)
def test_a_base_with_or_without_a_version_and_an_endpoint_are_all_asked(url: str, wire: str, asked: str) -> None:
    assert sp.http_model(url, wire, "some").url == asked


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("ftp://x", "openai-chat", "m"), ValueError, "'ftp://x' is no http:// or https:// URL"),
        (("x.example:8", "openai-chat", "m"), ValueError, "'x.example:8' is no http:// or https:// URL"),
        (("http://x", "auto", "m"), ValueError, "requests of 'auto' are not known"),
        (("http://x", "ollama-generate", "m"), ValueError, "requests of the wire 'ollama-generate' are not known"),
        (("http://x", "gemini", "../x"), ValueError, "the model '../x' cannot be part of a path"),
    ],
)
def test_what_cannot_be_asked_is_refused_when_the_model_is_made(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        sp.http_model(*arguments)


def test_misspelt_settings_and_dialects_are_refused_when_the_model_is_made() -> None:
    with pytest.raises(TypeError, match="unknown settings"):
        sp.http_model("http://x", "openai-chat", "m", temprature=1)
    with pytest.raises(ValueError, match="unknown dialect"):
        sp.http_model("http://x", "openai-chat", "m", dialects=("nobodys",))


def test_what_is_taught_is_read_whatever_else_is_looked_for() -> None:
    with pytest.raises(ValueError, match="no prompt for the dialect 'deepseek-r1-nobody'"):
        sp.http_model("http://x", "ollama-chat", "m", tools_in="prompt", dialect="deepseek-r1-nobody")


CALL = '<tool_call>\n{"name": "now", "arguments": {"zone": "UTC"}}\n</tool_call>'
ANTHROPIC = [
    f"event: {message['type']}\ndata: {json.dumps(message)}\n\n".encode()
    for message in (
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": CALL}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    )
]


async def test_a_local_server_that_prints_its_calls_is_read_on_every_wire() -> None:
    with serving(Upstream(ANTHROPIC)) as url:
        async with sp.http_model(url, "anthropic", "m") as model:
            (call,) = (await ask(model)).tool_calls
        assert (call.source, call.place) == ("inband", "plain")
        async with sp.http_model(url, "anthropic", "m", dialects="reasoning") as model:
            assert (await ask(model)).tool_calls == []


LOCAL = [
    *("localhost", "api.localhost", "127.0.0.1:8080", "127.8.9.1", "[::1]:8080", "10.1.2.3", "192.168.0.9"),
    *("172.20.0.1", "169.254.10.1", "[fe80::1]", "[fd00::5]:1234", "[::ffff:10.0.0.1]"),
]
ELSEWHERE = [
    *("api.anthropic.com", "localhost.example", "10.example.com", "8.8.8.8", "172.64.0.1", "[2606:4700::1]"),
    *("[::ffff:8.8.8.8]", "1localhost"),
]


@pytest.mark.parametrize("host", [*LOCAL, *ELSEWHERE])
def test_a_server_is_local_by_its_address_alone(host: str) -> None:
    assert is_local(f"http://{host}/v1") == (host in LOCAL)
    assert is_local(f"https://me:localhost@{host}/127.0.0.1?host=localhost") == (host in LOCAL)


@pytest.mark.parametrize("name", ["llamacpp", "vllm", "sglang", "ollama", "lmstudio"])
def test_a_server_of_open_models_prints_calls_wherever_it_runs(name: str) -> None:
    parser = sp.StreamParser(PROVIDERS[name].wire, tools=[now])
    whole = {"content": CALL}
    chat = {"choices": [{"index": 0, "delta": whole, "finish_reason": "stop"}]}
    chunk = (
        {"message": {"role": "assistant", **whole}, "done": True, "done_reason": "stop"} if name == "ollama" else chat
    )
    parser.feed(json.dumps(chunk) + "\n" if name == "ollama" else f"data: {json.dumps(chunk)}\n\n")
    parser.close()
    assert [call.source for call in parser.response.tool_calls] == ["inband"]


def test_a_models_name_in_words_shows_no_key() -> None:
    model = sp.http_model("https://me:secret@x.example/v1?key=hidden", "openai-chat", "m", api_key="k-1")
    assert repr(model) == "HTTPModel('https://x.example/v1/chat/completions', 'openai-chat', 'm')"


# -- failures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 404, 408, 409, 429, 500, 503, 529])
async def test_a_status_of_failure_is_an_error_that_says_what_the_server_said(status: int) -> None:
    body = b'{"error":{"type":"some_error","message":"not today"}}'
    with serving(Upstream([body], status=status, headers=[("retry-after", "7")])) as url:
        error = await refused(url)
    assert (error.status, error.retry_after, error.text) == (status, 7, body.decode())
    assert f"{status} " in str(error)
    assert str(error).endswith("from " + url + "/v1/chat/completions: some_error: not today")
    failure = describe_failure(error)
    assert (failure.status, failure.retry_after) == (status, 7)
    assert failure.is_retryable == (status in (408, 409, 429) or status >= 500)
    assert find_model_delay(failure, 0, "k") == (7 if failure.is_retryable else None)


async def test_the_body_of_an_error_is_bounded_decoded_and_without_the_key() -> None:
    headers = [("content-encoding", "gzip"), ("content-type", "text/plain")]
    body = gzip.compress(b"bad key sk-12345 \xff" + b"x" * 1_000_000)
    with serving(Upstream([body], status=401, headers=headers)) as url:
        error = await refused(url, api_key="sk-12345")
    assert len(error.text) <= 64 * 1024
    assert error.text.startswith("bad key [api key] \ufffdxxx")
    assert len(str(error)) < 700
    assert "sk-12345" not in str(error) + error.text


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", {"headers": {"Authorization": "Bearer sk-12345"}}),
        ("", {"headers": {"api-key": "sk-12345"}}),
        ("?key=sk-12345", {}),
        ("", {"api_key": "sk-12345"}),
    ],
)
@pytest.mark.parametrize("place", ["text", "escapes", "location"])
async def test_no_error_shows_a_key_wherever_it_was_given(query: str, options: dict[str, Any], place: str) -> None:
    body = {"text": b"bad key sk-12345", "escapes": rb'{"error":{"message":"bad key sk-1234\u0035"}}', "location": b""}
    moved = [("location", "https://x.example/a?key=sk-12345")] if place == "location" else []
    with serving(Upstream([body[place]], status=401 if not moved else 307, headers=moved)) as url:
        error = await refused(f"{url}/v1{query}", **options)
    assert "sk-12345" not in str(error) + error.text


async def test_an_error_without_a_body_says_its_status() -> None:
    with serving(Upstream(status=502)) as url:
        error = await refused(url)
    assert str(error) == f"502 Bad Gateway from {url}/v1/chat/completions"


async def test_an_error_whose_body_breaks_off_is_the_status_all_the_same() -> None:
    upstream = Upstream([b"half"], status=500, headers=[("content-length", "100")])
    upstream.breaks = True
    with serving(upstream) as url:
        assert (await refused(url)).status == 500


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_an_error_and_the_key_goes_to_no_other_host(status: int) -> None:
    other = Upstream(CHAT)
    with serving(other) as elsewhere:
        redirect = Upstream(status=status, headers=[("location", elsewhere + "/v1/chat/completions")])
        with serving(redirect) as url:
            async with httpx.AsyncClient(follow_redirects=True) as client:
                error = await refused(url, api_key="k-1", client=client)
    assert (error.status, other.asked) == (status, [])
    assert elsewhere in str(error)
    assert not describe_failure(error).is_retryable


async def test_a_server_that_is_not_there_is_a_failure_that_may_be_tried_again() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with sp.http_model(f"{url}?key=secret", "openai-chat", "m") as model:
            with pytest.raises(httpx.ConnectError) as raised:
                await model(request())
    assert raised.value.__notes__ == [f"asked: {url}/v1/chat/completions"]
    failure = describe_failure(raised.value)
    assert (failure.status, failure.is_retryable) == (None, True)


async def test_a_server_that_says_nothing_is_given_up_and_may_be_tried_again() -> None:
    upstream, let_go = Upstream(CHAT), threading.Event()
    upstream.gate = lambda _: let_go.wait(30)
    with serving(upstream) as url:
        async with sp.http_model(url, "openai-chat", "m", timeout=0.05) as model:
            with pytest.raises(httpx.ReadTimeout) as raised:
                await ask(model)
        let_go.set()
    assert describe_failure(raised.value).is_retryable


# -- clients and connections -------------------------------------------------------------------------------


async def test_a_model_that_is_not_entered_says_so_when_it_is_called() -> None:
    model = sp.http_model("http://127.0.0.1:9", "openai-chat", "m")
    with pytest.raises(RuntimeError, match="has no client: enter it with `async with`"):
        await model(request())
    async with model:
        with pytest.raises(RuntimeError, match="already entered"):
            await model.__aenter__()
    with pytest.raises(RuntimeError, match="has no client"):
        await model(request())


async def test_a_model_that_is_not_entered_is_opened_for_as_long_as_a_run_needs_it() -> None:
    upstream = Upstream(CHAT)
    with serving(upstream) as url:
        model = sp.http_model(url, "openai-chat", "m")
        async with open_model(model) as one, open_model(model) as other:
            assert (await ask(one)).content == (await ask(other)).content == "Hello"
        with pytest.raises(RuntimeError):
            await model(request())
        with pytest.raises(RuntimeError, match="has no client"):
            await one(request())


async def test_an_entered_model_serves_several_runs_at_once_and_stays_open() -> None:
    upstream = Upstream(CHAT)
    answers: list[str] = []

    async def run(model: Model) -> None:
        async with open_model(model) as opened:
            answers.append((await ask(opened)).content)

    with serving(upstream) as url:
        async with sp.http_model(url, "openai-chat", "m") as model:
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(run, model)
            assert (await ask(model)).content == "Hello"
    assert answers == ["Hello"] * 5


async def test_a_client_that_was_given_is_used_and_never_closed() -> None:
    upstream = Upstream(CHAT)
    with serving(upstream) as url:
        async with httpx.AsyncClient(headers={"x-of": "client"}) as client:
            model = sp.http_model(url, "openai-chat", "m", client=client)
            async with open_model(model) as opened:
                await ask(opened)
            async with model:
                await ask(model)
            await ask(model)
            assert not client.is_closed
    assert [headers["x-of"] for _, _, headers, _ in upstream.asked] == ["client"] * 3


async def test_a_stream_that_is_left_early_closes_its_connection() -> None:
    upstream, never = Upstream(CHAT), threading.Event()
    upstream.gate = lambda number: number == 0 or never.wait(30)
    with serving(upstream) as url:
        async with sp.http_model(url, "openai-chat", "m") as model:
            events = sp.aiter_events(await model(request()), "openai-chat")
            await anext(events)
            await events.aclose()
            assert await anyio.to_thread.run_sync(upstream.left.wait, 30)
        never.set()


async def test_a_question_that_is_cancelled_closes_its_connection() -> None:
    upstream, never, asked = Upstream(CHAT), threading.Event(), threading.Event()

    def gate(_number: int) -> None:
        asked.set()
        never.wait(30)

    upstream.gate = gate
    with serving(upstream) as url:
        async with sp.http_model(url, "openai-chat", "m") as model, anyio.create_task_group() as tasks:
            tasks.start_soon(ask, model)
            await anyio.to_thread.run_sync(asked.wait, 30)
            tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            assert await anyio.to_thread.run_sync(upstream.left.wait, 30)
        never.set()


# -- what else is a model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make_source", [lambda: b"".join(CHAT), lambda: CHAT, lambda: iter(CHAT), lambda: json.loads(CHAT[1][6:])]
)
async def test_any_async_function_that_gives_a_source_is_a_model(make_source: Callable[[], Any]) -> None:
    async def model(asked: sp.Request) -> Any:
        asked.body("vllm", "m")
        return make_source()

    async with open_model(model) as opened:
        assert opened is model
        assert (await ask(opened)).content in ("Hello", "lo")


async def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match="a model is an async function, an HTTPModel or a NegotiatedFormat, not str"):
        async with open_model("gpt-5"):  # type: ignore[arg-type]
            pass


async def test_a_profile_is_a_model() -> None:
    upstream = Upstream(OLLAMA)
    with serving(upstream) as url:
        profile = {"provider": "ollama", "model": "qwen3:8b", "url": url, "instructions": "Paths are absolute."}
        found = FormatNegotiator({"profiles": {"local": profile}}).negotiate(profile="local")
        async with open_model(found) as model:
            asked = request()
            response = await ask(model, asked)
    assert (response.content, asked.wire, asked.dialects) == ("Hello", found.wire, found.dialects)
    body = json.loads(upstream.asked[0][3])
    assert body["model"] == "qwen3:8b"
    assert body["messages"][0] == {"role": "system", "content": "Be brief.\n\nPaths are absolute."}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["now"]


async def test_a_profile_is_asked_with_a_key() -> None:
    upstream = Upstream([b"{}"])
    with serving(upstream) as url:
        profile = {"provider": "anthropic", "model": "claude", "url": url}
        found = FormatNegotiator({"profiles": {"far": profile}}).negotiate(profile="far")
        async with build_model(found, api_key="k-1", headers={"anthropic-beta": "b"}) as model:
            await ask(model)
    headers = upstream.asked[0][2]
    assert (headers["x-api-key"], headers["anthropic-beta"], upstream.asked[0][1]) == ("k-1", "b", "/v1/messages")


async def test_a_profile_of_a_server_without_tools_teaches_them_in_its_own_format() -> None:
    call = b'<tool_call>\n{"name": "now", "arguments": {"zone": "CET"}}\n</tool_call>'
    line = {"message": {"role": "assistant", "content": call.decode()}, "done": True, "done_reason": "stop"}
    upstream = Upstream([json.dumps(line).encode() + b"\n"])
    with serving(upstream) as url:
        profile = {
            "provider": "ollama", "model": "m", "url": url, "dialects": ["hermes"],
            "capabilities": {"native_tools": False},
        }  # fmt: skip
        found = FormatNegotiator({"profiles": {"local": profile}}).negotiate(profile="local")
        async with open_model(found) as model:
            response = await ask(model)
    body = json.loads(upstream.asked[0][3])
    assert "tools" not in body
    assert "<tool_call>" in body["messages"][0]["content"]
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("now", {"zone": "CET"})]
    assert response.stop == "tools"


@pytest.mark.parametrize(("missing", "given"), [("url", {"model": "m"}), ("model", {"url": "http://x"})])
async def test_a_profile_that_names_no_server_or_no_model_is_none_to_ask(missing: str, given: dict[str, str]) -> None:
    found = FormatNegotiator({"profiles": {"p": {"provider": "vllm", **given}}}).negotiate(profile="p")
    with pytest.raises(ValueError, match=f"the profile 'p' names no {missing}"):
        async with open_model(found):
            pass


async def test_tools_are_taught_to_a_model_whose_server_knows_none() -> None:
    upstream = Upstream(OLLAMA)
    with serving(upstream) as url:
        async with sp.http_model(url, "ollama-chat", "m", tools_in="prompt", dialect="qwen3-coder") as model:
            asked = request()
            await ask(model, asked)
        assert asked.dialects == ("qwen3-coder", "all")  # the server is local
        model = sp.http_model(url, "ollama-chat", "m", tools_in="prompt", dialects=("kimi-k2",))
        async with model:
            await ask(model, asked)
        assert asked.dialects == ("hermes", "kimi-k2")
    assert "<function=now>" in json.loads(upstream.asked[0][3])["messages"][0]["content"]
