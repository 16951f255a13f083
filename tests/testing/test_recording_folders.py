"""Recordings keep bytes and times, hold no credential, and are replayed in order and at their pace."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import streamparse as sp
from streamparse.testing import (
    Read,
    Recorder,
    Recording,
    check_cuts,
    list_recordings,
    make_fixture,
    merge,
    pace,
    redact,
    replaying,
)
from streamparse.testing.replay import Player

RECORDED = Path(__file__).parents[2] / "fixtures" / "recorded"
COMMAND = [sys.executable, "-m", "streamparse"]


class FakeClock:
    """A clock that moves when it is told to, or slept on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def parse(recording: Recording) -> list[sp.Event]:
    parser = sp.StreamParser()
    return [event for _, piece in recording.chunks() for event in parser.feed(piece)] + parser.close()


def test_a_recorder_keeps_each_read_with_its_time() -> None:
    clock = FakeClock()
    recorder = Recorder("http://host/v1/chat?x=1", b'{"model": "m"}', clock=clock)
    for seconds, piece in ((0.25, b"data: {}\n\n"), (0.125, b"data: [DONE]\n\n")):
        clock.sleep(seconds)
        recorder.read(piece)
    made = recorder.finish("answer", 200, "text/event-stream")
    assert made.reads == [Read(250.0, 0, 10), Read(375.0, 10, 14)]
    assert (made.path, made.request, made.body) == ("/v1/chat?x=1", {"model": "m"}, b"data: {}\n\ndata: [DONE]\n\n")


def test_what_was_saved_is_what_is_loaded(tmp_path: Path) -> None:
    made = Recording("a", "/p", {"q": "é"}, b"ab", [Read(1.5, 0, 2)], "POST", 429, "application/json")
    assert Recording.load(made.save(tmp_path)) == made
    assert list_recordings(tmp_path) == [made]


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("llamacpp-*.body")))
def test_the_recordings_of_the_project_have_this_form(name: str, tmp_path: Path) -> None:
    recording = Recording.load(RECORDED / name)
    assert b"".join(piece for _, piece in recording.chunks()) == recording.body
    assert recording.path == "/v1/chat/completions"


PLANTED = "sk-planted0123456789abcdef"
SHORT = "hunter2-hunter2"
BASIC = b64encode(f"user:{SHORT}".encode()).decode()
HEADERS = [("authorization", f"Bearer {PLANTED}"), ("x-api-key", f"{SHORT}-header"), ("cookie", f"{SHORT}-cookie")]
ASKED = json.dumps({"messages": [{"content": f"my key is {PLANTED}"}], "api_key": f"{SHORT}-field"}).encode()
ECHOED = f'data: {{"error": "Incorrect API key: {PLANTED}; {SHORT}-header, {SHORT}-url, {SHORT}-query"}}\n\n'.encode()


def test_no_credential_is_in_any_file_of_a_recording(tmp_path: Path) -> None:
    url = f"https://user:{SHORT}-url@host.example/v1/x?key={SHORT}-query&alt=sse"
    recorder = Recorder(url, ASKED, [*HEADERS, ("Authorization", f"Basic {BASIC}")])
    for start in range(0, len(ECHOED), 7):
        recorder.read(ECHOED[start : start + 7])
    made = recorder.finish("answer")
    made.save(tmp_path)
    files = list(tmp_path.iterdir())
    assert len(files) == 3
    for file in files:
        for secret in (PLANTED, SHORT, BASIC, "planted"):
            assert secret not in file.read_text(encoding="utf-8"), file
    assert "alt=sse" in made.path
    assert "host.example" not in made.path
    assert len(made.body) == len(ECHOED)


def test_what_a_model_says_is_no_credential() -> None:
    said = b'data: {"token": {"text": "Hello", "logprob": -0.3}, "signature": "EqQBCkYICxgCKkD", "token": "Hi"}'
    assert redact(said) == said


def test_pieces_come_in_order_and_never_early() -> None:
    clock = FakeClock()
    came = []
    chunks = [(0.5, b"a"), (0.5, b"b"), (2.0, b"c")]
    for piece in pace(chunks, clock=clock, sleep=clock.sleep):
        came.append((clock.now, piece))
    assert came == [(0.5, b"a"), (0.5, b"b"), (2.0, b"c")]


def test_a_slow_reader_delays_no_later_piece() -> None:
    clock = FakeClock()
    came = []
    for piece in pace([(1.0, b"a"), (2.0, b"b"), (9.0, b"c")], clock=clock, sleep=clock.sleep):
        came.append((clock.now, piece))
        clock.sleep(4.0 if piece == b"a" else 0.0)
    assert came == [(1.0, b"a"), (5.0, b"b"), (9.0, b"c")]


@pytest.mark.parametrize(("speed", "moments"), [(4.0, [0.25, 0.5]), (0.0, [0.0, 0.0])])
def test_a_replay_may_be_faster(speed: float, moments: list[float]) -> None:
    clock = FakeClock()
    chunks = [(1.0, b"a"), (2.0, b"b")]
    assert [clock.now for _ in pace(chunks, speed, clock=clock, sleep=clock.sleep)] == moments


def test_a_client_gets_the_answer_to_its_request_with_its_status() -> None:
    right = Recording("a", "/v1/x", {"q": 1}, b'{"a": 1}', [], "POST", 200, "application/json")
    wrong = Recording("b", "/v1/x", {"q": 2}, b'{"error": {}}', [], "POST", 429, "application/json")
    with replaying([right, wrong], speed=0) as url:
        answers = [httpx.post(f"{url}/v1/x", json={"q": number}) for number in (2, 1, 1)]
        other = httpx.post(f"{url}/v1/x", json={"q": 3})
    assert [(one.status_code, one.content) for one in answers] == [
        (429, wrong.body),
        (200, right.body),
        (200, right.body),
    ]
    assert other.content == wrong.body  # which was played less
    assert answers[0].headers["content-type"] == "application/json"


def test_record_and_replay_give_the_same_events(tmp_path: Path) -> None:
    served = Recording.load(RECORDED / "llamacpp-parallel-calls")
    asked = tmp_path / "request.json"
    asked.write_text(json.dumps(served.request), encoding="utf-8")
    with replaying(served, speed=20) as url:
        command = [*COMMAND, "record", url + served.path, "-d", f"@{asked}", "-H", f"Authorization: Bearer {PLANTED}"]
        done = subprocess.run([*command, "-o", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [recording] = list_recordings(tmp_path)
    assert recording.body == served.body
    assert len(recording.reads) > 3
    assert merge(parse(recording)) == merge(parse(served))
    replay = [*COMMAND, "replay", str(tmp_path), "--port", "0", "--speed", "20"]
    with subprocess.Popen(replay, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[2].rstrip(",")
        again = httpx.post(url + served.path, json=served.request)
        process.terminate()
    assert again.content == served.body


def test_the_name_of_a_recording_holds_no_credential_of_the_address(tmp_path: Path) -> None:
    served = Recording("a", "/v1/x", {}, b"{}")
    with replaying(served, speed=0) as url:
        address = url.replace("://", f"://user:{PLANTED}@") + f"/v1/x?key={PLANTED}"
        program = "import sys; sys.stdout.write('{}')"
        for asked in ([address], ["--", sys.executable, "-c", program, address]):
            done = subprocess.run(
                [*COMMAND, "record", "-o", str(tmp_path), *asked], capture_output=True, text=True, check=False
            )
            assert (done.returncode, PLANTED in done.stdout + done.stderr) == (0, False)
    names = [path.name for path in tmp_path.iterdir()]
    assert len(names) == 6
    assert all("v1-x-00" in name and PLANTED not in name and "user" not in name for name in names)


def test_a_replay_reads_the_body_of_any_request_and_bears_with_clients_that_leave(
    capfd: pytest.CaptureFixture[str],
) -> None:
    right = Recording("a", "/v1/x", {"q": 1}, b"right")
    slow = Recording("b", "/v1/x", {"q": 2}, b"x" * 2_000_000, [Read(number, 0, 0) for number in range(200)])
    with replaying([right, slow]) as url, httpx.Client() as client:
        in_chunks = [client.post(f"{url}/v1/x", content=iter([b'{"q"', b": 1}"])).content for _ in range(2)]
        with socket.create_connection(urlsplit(url).netloc.split(":"), timeout=60) as connection:
            connection.sendall(b"POST /v1/x HTTP/1.1\r\ncontent-length: x\r\n\r\n")
            wrong = connection.recv(12)
        with client.stream("POST", f"{url}/v1/x", json={"q": 2}) as answer:
            assert answer.status_code == 200
    assert (in_chunks, wrong) == ([b"right"] * 2, b"HTTP/1.1 400")
    assert capfd.readouterr().err == ""


def test_a_command_is_recorded_too(tmp_path: Path) -> None:
    body = RECORDED / "vllm-parallel-calls.body"
    program = f"import sys; sys.stdout.buffer.write(open({str(body)!r}, 'rb').read())"
    done = subprocess.run(
        [*COMMAND, "record", "-o", str(tmp_path), "--name", "mine", "--", sys.executable, "-c", program],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Recording.load(tmp_path / "mine").body == body.read_bytes()


def test_a_cut_that_changes_the_events_is_named() -> None:
    class Bad:
        """Loses what comes in a second piece."""

        def __init__(self) -> None:
            self.fed: list[bytes] = []

        def feed(self, chunk: bytes, /) -> list[sp.Event]:
            self.fed.append(chunk)
            return [sp.TextDelta(chunk.decode())] if len(self.fed) == 1 else []

        def close(self) -> list[sp.Event]:
            return [sp.Done("stop", None, True)]

    with pytest.raises(AssertionError, match="byte by byte gives other events: event 0 is"):
        check_cuts(Bad, b"ab")
    body = (RECORDED / "ollama-chat-one-call.body").read_bytes()
    assert check_cuts(sp.StreamParser, body) == merge(parse(Recording.load(RECORDED / "ollama-chat-one-call")))


def test_a_cut_that_loses_an_event_is_told_by_the_numbers() -> None:
    class Forgetful:
        """Ends with a refusal only if all came at once."""

        def __init__(self) -> None:
            self.fed: list[bytes] = []

        def feed(self, chunk: bytes, /) -> list[sp.Event]:
            self.fed.append(chunk)
            return [sp.TextDelta(chunk.decode())]

        def close(self) -> list[sp.Event]:
            return [] if self.fed[1:] else [sp.RefusalDelta("no")]

    with pytest.raises(AssertionError, match="1 events, and there were 2"):
        check_cuts(Forgetful, b"ab")


def test_a_player_without_recordings_is_refused() -> None:
    with pytest.raises(ValueError, match="no recordings"):
        Player([])


def test_deltas_of_one_kind_and_one_call_are_joined() -> None:
    deltas = [sp.TextDelta("a"), sp.TextDelta("b"), sp.ToolCallDelta(0, "{"), sp.ToolCallDelta(0, "}")]
    other = [sp.ToolCallDelta(1, "{"), sp.ReasoningDelta("x"), sp.TextDelta("c")]
    assert merge([*deltas, *other]) == [sp.TextDelta("ab"), sp.ToolCallDelta(0, "{}"), *other]


recording = make_fixture(RECORDED)


def test_a_recording_is_a_fixture(recording: Recording) -> None:
    assert recording.body
    assert isinstance(parse(recording)[-1], sp.Done)
