"""The proxy between real sockets: what the client gets, and what the server is asked."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import httpx
import pytest
from cuts import calls_of, in_pieces, text_of
from serving import Upstream, proxied, serving

import streamparse as sp
from streamparse import proxy
from streamparse.dialects import dialect_from_template
from streamparse.proxy.settings import choose_dialect_to_teach

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
    }
]
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}\n</tool_call>'
ZURICH = ("get_weather", {"city": "Zürich", "days": 3})
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Weather?"}],
    "stream": True,
    "tools": TOOLS,
}
CHAT = "/v1/chat/completions"
COUNTS = {"prompt_tokens": 7, "completion_tokens": 0, "total_tokens": 7}


def chat_stream(text: str, size: int = 3) -> list[bytes]:
    """The text as a server without a tool parser streams it."""
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in in_pieces(text, size)]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7}}
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in [*chunks, end]] + [b"data: [DONE]\n\n"]


def events_of(wire: str, body: bytes) -> list[sp.Event]:
    parser = sp.StreamParser(wire, dialects=())
    return parser.feed(body) + parser.close()


def ask(url: str, request: Any = REQUEST, path: str = CHAT, **options: Any) -> httpx.Response:
    return httpx.post(url + path, json=request, timeout=60, **options)


def test_a_call_in_the_text_reaches_the_client_as_a_native_one() -> None:
    with proxied(Upstream(chat_stream("I look. " + CALL))) as url:
        answer = ask(url)
    events = events_of("openai-chat", answer.content)
    assert calls_of(events) == [ZURICH]
    assert text_of(events).strip() == "I look."
    assert events[-1] == sp.Done("tool_calls", COUNTS, True)
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_a_whole_answer_is_read_too() -> None:
    message = {"role": "assistant", "content": "I look. " + CALL}
    body = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    upstream = Upstream([json.dumps(body).encode()], headers=[("content-type", "application/json")])
    with proxied(upstream) as url:
        answer = ask(url, REQUEST | {"stream": False}).json()
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"].strip() == "I look."
    [call] = choice["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ZURICH


def test_a_whole_answer_in_which_nothing_is_to_be_changed_stays_as_it_is() -> None:
    message = {"role": "assistant", "content": "Nothing to call."}
    body = json.dumps({"own": 1, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    with proxied(Upstream([body], headers=[("content-type", "application/json")])) as url:
        assert ask(url, REQUEST | {"stream": False}).content == body


def test_without_tools_an_answer_is_passed_through_byte_for_byte() -> None:
    chunks = chat_stream("Text with " + CALL)
    with proxied(Upstream(chunks)) as url:
        assert ask(url, REQUEST | {"tools": None}).content == b"".join(chunks)
        assert ask(url, REQUEST | {"tool_choice": "none"}).content == b"".join(chunks)
        assert ask(url, REQUEST | {"n": 2}).content == b"".join(chunks)


def test_any_other_request_is_passed_through() -> None:
    upstream = Upstream([b"\x00\x01", b"\xff"], status=418, headers=[("content-type", "x/y"), ("x-own", "1")])
    with proxied(upstream) as url:
        headers = {"x-mine": "2", "authorization": "Bearer k"}
        answer = httpx.get(url + "/v1/files?a=%2Fb", headers=headers, timeout=60)
    assert (answer.status_code, answer.content) == (418, b"\x00\x01\xff")
    assert (answer.headers["content-type"], answer.headers["x-own"]) == ("x/y", "1")
    method, path, headers, _ = upstream.asked[0]
    assert (method, path) == ("GET", "/v1/files?a=%2Fb")
    assert (headers["x-mine"], headers["authorization"]) == ("2", "Bearer k")


def test_a_request_with_tools_reaches_the_server_unchanged_in_its_own_wire() -> None:
    upstream = Upstream(chat_stream("x"))
    with proxied(upstream) as url:
        ask(url, headers={"authorization": "Bearer k", "connection": "x-secret", "x-secret": "1", "te": "trailers"})
    _, path, headers, body = upstream.asked[0]
    assert path == CHAT
    assert json.loads(body) == REQUEST
    assert headers["authorization"] == "Bearer k"
    assert headers["accept-encoding"] == "identity"
    assert headers["host"].startswith("127.0.0.1:")
    assert not {"x-secret", "te"} & {*headers}


@pytest.mark.parametrize("root", ["/models", "/models/", "/mo dels"])
def test_an_application_that_is_mounted_under_a_path_reads_its_own_part_of_it(root: str) -> None:
    upstream = Upstream(chat_stream(CALL))
    with serving(upstream) as url:
        front = proxy.app(url)

        async def mounting(scope: Any, receive: Any, send: Any) -> None:
            await front({**scope, "root_path": root}, receive, send)

        with serving(mounting) as outer:
            base = outer + root.rstrip("/").replace(" ", "%20")
            answer = ask(base)
            httpx.get(base + "/v1/files", timeout=60)
    assert calls_of(events_of("openai-chat", answer.content)) == [ZURICH]
    assert [path for _, path, _, _ in upstream.asked] == [CHAT, "/v1/files"]


class _SixthVersion(HTTPServer):
    address_family = socket.AF_INET6


class _Answering(BaseHTTPRequestHandler):
    hosts: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Answer with a call in the text, and close."""
        self.hosts.append(self.headers["host"])
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"".join(chat_stream(CALL)))

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_a_server_may_be_at_an_address_of_the_sixth_version() -> None:
    try:
        server = _SixthVersion(("::1", 0), _Answering)
    except OSError:
        pytest.skip("this machine has no such addresses")
    with server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        host = f"[::1]:{server.server_port}"
        with serving(proxy.app(f"http://{host}/v1")) as front:
            assert calls_of(events_of("openai-chat", ask(front).content)) == [ZURICH]
    assert _Answering.hosts == [host]


def test_a_name_and_a_password_of_the_server_are_not_shown() -> None:
    assert proxy.app("http://me:secret@127.0.0.1:9/v1").settings.public_url == "http://127.0.0.1:9/v1"


def test_the_base_of_the_upstream_may_end_in_v1() -> None:
    upstream = Upstream(chat_stream("x"))
    with serving(upstream) as url, serving(proxy.app(url + "/v1/")) as front:
        ask(front)
        httpx.get(front + "/v1/files", timeout=60)
    assert [path for _, path, _, _ in upstream.asked] == [CHAT, "/v1/files"]


def test_a_compressed_answer_is_read_and_leaves_plain() -> None:
    import gzip

    body = gzip.compress(b"".join(chat_stream(CALL)))
    headers = [("content-type", "text/event-stream"), ("content-encoding", "gzip"), ("content-length", str(len(body)))]
    with proxied(Upstream([body], headers=headers)) as url:
        answer = ask(url)
    assert "content-encoding" not in answer.headers
    assert calls_of(events_of("openai-chat", answer.content)) == [ZURICH]


def test_an_error_of_the_server_is_passed_on_with_its_status_and_body() -> None:
    body = b'{"error":{"message":"no such model"}}'
    headers = [("content-type", "application/json"), ("retry-after", "7")]
    with proxied(Upstream([body], status=429, headers=headers)) as url:
        answer = ask(url)
    assert (answer.status_code, answer.content, answer.headers["retry-after"]) == (429, body, "7")


def test_a_server_that_cannot_be_reached_is_an_error_in_the_clients_words() -> None:
    with serving(proxy.app("http://127.0.0.1:9")) as url:
        answer = ask(url)
        assert answer.status_code == 502
        assert answer.json()["error"]["code"] == "upstream_error"
        assert httpx.get(url + "/v1/files", timeout=60).status_code == 502


def test_a_connection_that_breaks_is_an_error_in_the_stream_and_no_call_is_whole() -> None:
    upstream = Upstream(chat_stream("Well. " + CALL)[:20])
    upstream.breaks = True
    with proxied(upstream) as url:
        answer = ask(url)
    events = events_of("openai-chat", answer.content)
    assert calls_of(events) == []
    assert [event.code for event in events if isinstance(event, sp.Error) and event.scope == "stream"] == [
        "provider_error"
    ]
    assert b"transport_error" in answer.content
    assert b"[DONE]" not in answer.content


def test_a_body_that_ends_too_early_is_told_as_such() -> None:
    with proxied(Upstream(chat_stream("Well. " + CALL)[:20])) as url:
        answer = ask(url)
    assert b"stream_truncated" in answer.content
    assert b"[DONE]" not in answer.content


def test_every_piece_leaves_before_the_next_one_is_made() -> None:
    text = "One two three, and four."
    upstream = Upstream(chat_stream(text, 6))
    turn = threading.Semaphore(0)
    upstream.gate = lambda _number: turn.acquire(timeout=60)
    with proxied(upstream) as url, httpx.stream("POST", url + CHAT, json=REQUEST, timeout=60) as answer:
        parser = sp.StreamParser("openai-chat", dialects=())
        chunks = answer.iter_raw()
        told = ""
        for size in range(6, len(text) + 1, 6):
            turn.release()  # the server makes one more piece, and no other before the next time
            while told != text[:size]:
                told += text_of(parser.feed(next(chunks)))
        turn.release(2)
        assert [event for chunk in chunks for event in parser.feed(chunk)] == []
    assert parser.close()[-1] == sp.Done("stop", COUNTS, True)


def test_when_the_client_leaves_the_server_is_left_too() -> None:
    upstream = Upstream(chat_stream("word " * 40))
    upstream.gate = lambda number: upstream.left.wait(60) if number > 2 else None
    with proxied(upstream) as url:
        with httpx.stream("POST", url + CHAT, json=REQUEST, timeout=60) as answer:
            next(answer.iter_raw())
        assert upstream.left.wait(60)


def test_a_server_is_read_only_as_fast_as_the_client_takes() -> None:
    text = "x" * 65_536
    upstream = Upstream(chat_stream(text * 600, len(text)))  # 39 MB: more than the sockets between can hold
    with proxied(upstream) as url, httpx.stream("POST", url + CHAT, json=REQUEST, timeout=60) as answer:
        chunks = answer.iter_raw()
        next(chunks)
        seen = -1
        while seen != upstream.sent:  # until it stands still
            seen = upstream.sent
            threading.Event().wait(0.3)
        assert seen < 30_000_000
        size = sum(len(chunk) for chunk in chunks)
    assert size > 39_000_000


def test_a_request_that_is_too_large_is_refused() -> None:
    settings = proxy.Settings(upstream="http://127.0.0.1:9", max_request=100)
    with serving(proxy.Proxy(settings)) as url:
        assert ask(url).status_code == 413


def test_a_passed_answer_whose_connection_breaks_is_broken_off() -> None:
    upstream = Upstream([b"x" * 100, b"y"], headers=[("content-type", "text/plain")])
    upstream.breaks = True
    with proxied(upstream) as url, pytest.raises(httpx.RemoteProtocolError):
        httpx.get(url + "/anything", timeout=60)


def test_an_answer_over_a_limit_is_an_error_and_the_server_is_left() -> None:
    upstream = Upstream(chat_stream("word " * 2000))
    upstream.gate = lambda number: upstream.left.wait(60) if number > 1000 else None
    with proxied(upstream, limits=sp.Limits(max_total=20_000)) as url:
        answer = ask(url)
        assert upstream.left.wait(60)
    assert b"limit_total" in answer.content
    assert b"[DONE]" not in answer.content


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b'{"tools":7}', b'{"tools":[7],"stream":"x"}', b"\xff"])
def test_a_strange_request_is_for_the_server_to_judge(body: bytes) -> None:
    upstream = Upstream(
        [b'{"error":{"message":"strange"}}'], status=400, headers=[("content-type", "application/json")]
    )
    with proxied(upstream) as url:
        answer = httpx.post(url + CHAT, content=body, timeout=60)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "strange")
    assert upstream.asked[0][3] == body


@pytest.mark.parametrize(
    "options",
    [
        *({"upstream": "ftp://x"}, {"upstream": "nonsense"}, {"wire": "bedrock-converse"}),
        *({"dialects": ["nil"]}, {"dialects": "nil"}, {"dialects": ["auto", "nil"]}, {"tools": "x"}),
        {"dialects": "reasoning", "tools": "prompt"},
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        proxy.app(**({"upstream": "http://127.0.0.1:9"} | options))


@pytest.mark.parametrize("dialects", ["auto", "all", "reasoning", ("auto",), ["hermes", "all"], ("reasoning",), ()])
def test_a_proxy_takes_the_dialects_that_a_parser_takes(dialects: Any) -> None:
    assert proxy.app("http://127.0.0.1:9", dialects=dialects).settings.dialects == dialects


@pytest.mark.parametrize(
    ("dialects", "dialect"),
    [
        ("auto", "hermes"),
        ("all", "hermes"),
        (("auto",), "hermes"),
        (["olmo3", "all"], "olmo3"),
        (["all", "olmo3"], "olmo3"),
    ],
)
def test_the_first_dialect_that_has_a_prompt_is_taught(dialects: Any, dialect: str) -> None:
    assert choose_dialect_to_teach(dialects) == dialect


def test_a_proxy_looks_for_dialects_of_ones_own_and_can_teach_none_without_a_prompt() -> None:
    calls = {"open": "<do>", "close": "</do>", "content": "json"}
    own = dialect_from_template({"fields": {"tool_calls": calls}}, "own")
    assert proxy.app("http://127.0.0.1:9", dialects=[own]).settings.dialects == [own]
    with pytest.raises(ValueError, match=r"no dialect of \['own'\] has a prompt"):
        proxy.app("http://127.0.0.1:9", dialects=[own], tools="prompt")
