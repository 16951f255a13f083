"""What a client raises for a refused request is the answer of a server: real clients, and a server on a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import httpx
import pytest

from streamparse.repair import FallbackChain, Repaired, SwitchMode, SwitchModel
from streamparse.repair.refusals import read_refusal

pytest.importorskip("jsonschema")

SCHEMA_MODE = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
OBJECT_MODE = SwitchMode("json_object", response_format={"type": "json_object"})
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "response_format": SCHEMA_MODE}
REFUSAL = {"error": {"message": "This model does not support json_schema.", "type": "invalid_request_error"}}
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": '{"a": 1}'}, "finish_reason": "stop"}],
}
OLLAMA = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": '{"a": 1}'}}


class Handler(BaseHTTPRequestHandler):
    """Refuses whatever asks for a JSON Schema, and every model called `none`."""

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(request)
        if b"json_schema" in request or isinstance(asked.get("format"), dict):
            self._say(400, {"error": REFUSAL["error"]["message"]} if self.path == "/api/chat" else REFUSAL)
        elif asked["model"] == "none":
            self._say(404, {"error": {"message": "no such model"}})
        else:
            self._say(200, {**OLLAMA, "done": True} if self.path == "/api/chat" else ANSWER)

    def _say(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


async def _with_httpx(url: str, request: dict[str, Any]) -> Any:
    async with httpx.AsyncClient(base_url=url) as client:
        response = await client.post("/v1/chat/completions", json=request)
        response.raise_for_status()
        return response


async def _with_unread_httpx(url: str, request: dict[str, Any]) -> Any:
    path = "/v1/chat/completions"
    async with httpx.AsyncClient(base_url=url) as client, client.stream("POST", path, json=request) as response:
        response.raise_for_status()
        return await response.aread()


async def _with_requests(url: str, request: dict[str, Any]) -> Any:
    requests = pytest.importorskip("requests")
    response = requests.post(f"{url}/v1/chat/completions", json=request, timeout=60)
    response.raise_for_status()
    return response


async def _with_openai(url: str, request: dict[str, Any]) -> Any:
    openai = pytest.importorskip("openai")
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        return await client.chat.completions.create(**request)


async def _with_anthropic(url: str, request: dict[str, Any]) -> Any:
    anthropic = pytest.importorskip("anthropic")
    async with anthropic.AsyncAnthropic(base_url=url, api_key="none") as client:
        return await client.post("/v1/chat/completions", body=request, cast_to=object)


async def _with_ollama(url: str, request: dict[str, Any]) -> Any:
    ollama = pytest.importorskip("ollama")
    wanted = request["response_format"]
    format = "json" if wanted["type"] == "json_object" else wanted["json_schema"]["schema"]
    client = ollama.AsyncClient(host=url)
    try:
        return await client.chat(request["model"], request["messages"], format=format)
    finally:
        await client._client.aclose()


CLIENTS = [_with_httpx, _with_unread_httpx, _with_requests, _with_openai, _with_anthropic, _with_ollama]


def _run(send: Callable[..., Any], url: str, request: dict[str, Any], *strategies: Any) -> Repaired:
    async def run() -> Repaired:
        return await FallbackChain(lambda asked: send(url, asked), strategies, []).run(request)

    return anyio.run(run)


@pytest.mark.parametrize("send", CLIENTS)
def test_where_a_json_schema_is_refused_a_json_object_is_asked_for(send: Callable[..., Any], server: str) -> None:
    result = _run(send, server, REQUEST, OBJECT_MODE)
    assert result.ok
    assert result.response.content == '{"a": 1}'
    assert [step.action for step in result.log] == ["answered", "json_object"]
    expected = "400" if send is _with_unread_httpx else "does not support json_schema"
    assert expected in result.log[0].message


@pytest.mark.parametrize("send", CLIENTS)
def test_where_every_request_is_refused_the_last_refusal_passes_through(send: Callable[..., Any], server: str) -> None:
    with pytest.raises(Exception, match=r"404|no such model"):
        _run(send, server, REQUEST, SwitchMode("other", response_format={"type": "json_object"}, model="none"))


def test_where_nobody_answers_what_the_client_raises_passes_through_at_once() -> None:
    with pytest.raises(httpx.ConnectError):
        _run(_with_httpx, "http://127.0.0.1:9", REQUEST, OBJECT_MODE)


def test_an_answer_that_came_before_a_refusal_is_given_as_text(server: str) -> None:
    async def send(request: dict[str, Any]) -> Any:
        return {**ANSWER, "choices": []} if request["model"] == "m" else await _with_httpx(server, request)

    result = anyio.run(FallbackChain(send, [SwitchModel("none")], []).run, {**REQUEST, "response_format": None})
    assert not result.ok
    assert "no such model" in result.log[-1].message


class StatusError(Exception):
    """What clients that are not installed here raise, by what they document of it."""

    def __init__(self, **fields: Any) -> None:
        super().__init__("request failed")
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(StatusError(code=400, status="INVALID_ARGUMENT", details=REFUSAL), id="google-genai"),
        pytest.param(StatusError(status=400, message="it does not support json_schema"), id="aiohttp"),
        pytest.param(StatusError(status_code=422, body='{"error": "it does not support json_schema"}'), id="mistralai"),
        pytest.param(StatusError(status_code=400, body={"message": "it does not support json_schema"}), id="cohere"),
        pytest.param(
            StatusError(
                response={
                    "Error": {"Code": "ValidationException", "Message": "it does not support json_schema"},
                    "ResponseMetadata": {"HTTPStatusCode": 400},
                }
            ),
            id="boto3",
        ),
        pytest.param(StatusError(status_code=502, body="<html>it does not support json_schema</html>"), id="a page"),
        pytest.param(StatusError(status_code=502, body="it does not support json_schema"), id="a text"),
    ],
)
def test_the_exceptions_of_other_clients_are_seen_too(error: Exception) -> None:
    async def send(request: dict[str, Any]) -> Any:
        if request["response_format"] == SCHEMA_MODE:
            raise error
        return ANSWER

    result = anyio.run(FallbackChain(send, [OBJECT_MODE], []).run, REQUEST)
    assert result.ok
    assert "does not support json_schema" in result.log[0].message


class Unprintable(StatusError):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Broken:
    @property
    def content(self) -> bytes:
        raise OSError("the connection is closed")


CYCLE: dict[str, Any] = {}
CYCLE["cycle"] = CYCLE


@pytest.mark.parametrize(
    "error",
    [Unprintable(status_code=500), StatusError(status_code=500, response=Broken()), StatusError(code=500, body=CYCLE)],
    ids=["no text", "no content", "no JSON"],
)
def test_what_an_exception_cannot_say_of_itself_does_not_take_its_place(error: Exception) -> None:
    async def send(_request: dict[str, Any]) -> Any:
        raise error

    with pytest.raises(StatusError) as raised:
        anyio.run(FallbackChain(send, [OBJECT_MODE], []).run, REQUEST)
    assert raised.value is error


@pytest.mark.parametrize("error", [StatusError(), StatusError(code="rate_limited"), StatusError(status=True)])
def test_an_exception_without_a_status_is_no_answer(error: Exception) -> None:
    async def send(_request: dict[str, Any]) -> Any:
        raise error

    with pytest.raises(StatusError):
        anyio.run(FallbackChain(send, [OBJECT_MODE], []).run, REQUEST)


class Refused(Exception):
    """An error as some clients raise it: a status, and the bytes that the server sent."""

    status_code = 400
    body = "the model is \N{EM DASH} elsewhere".encode()


def test_the_bytes_of_a_refusal_in_no_known_form_are_its_words() -> None:
    assert read_refusal(Refused()) == {"error": {"message": "the model is \N{EM DASH} elsewhere", "code": 400}}


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ({"message": "no", "type": "bad"}, {"error": {"message": "no", "type": "bad"}}),
        ({"error": {"message": "no"}}, {"error": {"message": "no"}}),
        ({"detail": "no"}, {"error": {"detail": "no"}}),
    ],
)
def test_what_a_client_decoded_of_a_refusal_is_read_with_and_without_its_key(body: Any, read: Any) -> None:
    error = StatusError(status_code=400)
    error.body = body  # type: ignore[attr-defined]
    assert read_refusal(error) == read
