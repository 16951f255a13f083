"""`streamparse proxy`, run as a user runs it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from cuts import calls_of
from emitting import CALLS, stream_of
from serving import Upstream, serving

import streamparse as sp
from streamparse.cli import main

COMMAND = [sys.executable, "-m", "streamparse", "proxy"]


@contextmanager
def _running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command at work, and the URL that it says it listens on."""
    command = [*COMMAND, "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[2].rstrip(",")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_the_command_listens_on_this_machine_and_stops_when_told() -> None:
    content_type, chunks = stream_of("openai-chat")
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    request = {"model": "m", "stream": True, "messages": [], "tools": [tool]}
    with (
        serving(Upstream(chunks, headers=[("content-type", content_type)])) as upstream,
        _running("--upstream", upstream) as (process, url),
    ):
        assert url.startswith("http://127.0.0.1:")
        answer = httpx.post(url + "/v1/chat/completions", json=request, timeout=300)
    parser = sp.StreamParser("openai-chat", dialects=())
    assert calls_of(parser.feed(answer.content)) == CALLS
    assert process.returncode == 130


@pytest.mark.parametrize(("arguments", "statuses"), [([], ["200", "403"]), (["--quiet"], ["403"])])
def test_the_command_logs_a_line_for_each_request_and_tells_foreign_hosts_how_they_are_allowed(
    arguments: list[str], statuses: list[str]
) -> None:
    with serving(Upstream([b"{}"], headers=[("content-type", "application/json")])) as upstream:
        allowed = ["--allow-host", "gate.example", *arguments]
        with _running("--upstream", upstream, *allowed) as (process, url):
            assert httpx.get(url + "/a", headers={"host": "gate.example"}, timeout=60).status_code == 200
            refused = httpx.get(url + "/b", headers={"host": "evil.example"}, timeout=60)
            assert (refused.status_code, "--allow-host" in refused.text) == (403, True)
            process.send_signal(signal.SIGINT)
            process.wait(60)
            assert process.stderr is not None
            lines = process.stderr.read().splitlines()
    # A client may ask again before the line of its first request is written.
    assert sorted(line.split()[6].rstrip(",") for line in lines) == statuses


@pytest.mark.parametrize(("trusted", "client"), [("127.0.0.1", "203.0.113.9:"), ("192.0.2.1", "127.0.0.1:")])
def test_the_log_names_the_client_that_a_trusted_reverse_proxy_names(trusted: str, client: str) -> None:
    with (
        serving(Upstream([b"{}"], headers=[("content-type", "application/json")])) as upstream,
        _running("--upstream", upstream, "--trust-forwarded", trusted) as (process, url),
    ):
        httpx.get(url + "/a", headers={"x-forwarded-for": "198.51.100.7, 203.0.113.9"}, timeout=60)
        process.send_signal(signal.SIGINT)
        process.wait(60)
        assert process.stderr is not None
        [line] = process.stderr.read().splitlines()
    assert line.split()[3].startswith(client)


def test_an_answer_that_goes_on_is_broken_off_when_the_command_is_told_to_stop() -> None:
    content_type, chunks = stream_of("openai-chat")
    upstream = Upstream(chunks, headers=[("content-type", content_type)])
    # The command asks for the models first.
    upstream.gate = lambda number: upstream.left.wait(60) if number == 1 and len(upstream.asked) > 1 else None
    request = {"model": "m", "stream": True, "messages": []}
    with (
        serving(upstream) as server,
        _running("--upstream", server) as (process, url),
        httpx.stream("POST", url + "/v1/chat/completions", json=request, timeout=300) as answer,
    ):
        pieces = answer.iter_raw()
        next(pieces)
        process.send_signal(signal.SIGINT)
        with pytest.raises(httpx.RemoteProtocolError):
            next(pieces)
        process.wait(60)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert upstream.left.wait(60)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--upstream", "nonsense"], "no http:// or https:// URL"),
        (["--upstream", "http://127.0.0.1:9", "--wire", "openapi"], "unknown wire"),
        (["--upstream", "http://127.0.0.1:9", "--wire", "bedrock-converse"], "secret of an AWS account"),
        (["--upstream", "http://127.0.0.1:9", "--wire", "ollama-generate"], "no messages"),
        (["--upstream", "http://127.0.0.1:9", "--wire", "openai-completions"], "no messages"),
        (["--upstream", "http://127.0.0.1:9", "--wire", "auto"], "before the server has said anything"),
        (["--upstream", "http://127.0.0.1:99999"], "no http:// or https:// URL"),
        (["--upstream", "http://[::1"], "no http:// or https:// URL"),
        (["--upstream", "http://a b"], "no http:// or https:// URL"),
        (["--upstream", "http://127.0.0.1:9", "--dialect", "nil"], "unknown dialect"),
        (["--upstream", "http://127.0.0.1:9", "--dialect", "beam", "--tools", "prompt"], "has a prompt"),
    ],
)
def test_what_cannot_be_carried_out_is_told_in_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["proxy", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--upstream", "http://127.0.0.1:9", "--port", "99999"], "cannot listen"), ([], "--upstream")],
)
def test_it_is_the_status_of_the_process_too(arguments: list[str], words: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*COMMAND, "--upstream", "http://127.0.0.1:9", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot listen" in done.stderr


_WITHOUT_EXTRAS = ("streamparse", "msgspec", "regex", "anyio", "idna", "sniffio", "typing_extensions")


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ((), "httpx and uvicorn not found"),
        (("httpx",), "streamparse: uvicorn not found"),
        (("uvicorn",), "streamparse: httpx not found"),
    ],
)
def test_a_missing_extra_is_named_with_the_way_to_get_it(tmp_path: Path, there: tuple[str, ...], words: str) -> None:
    for name in (*_WITHOUT_EXTRAS, *there):
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            found = origin.parent if spec.submodule_search_locations else origin
            (tmp_path / found.name).symlink_to(found)
    command = [sys.executable, "-S", "-m", "streamparse", "proxy", "--upstream", "http://127.0.0.1:9"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "pip install 'llm-streamparse[proxy]'" in done.stderr
    assert done.stderr.count("\n") == 1
