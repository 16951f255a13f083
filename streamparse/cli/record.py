"""`streamparse record` and `streamparse replay`: keep what a server sends with its times, and serve it again.

    streamparse record http://127.0.0.1:8080/v1/chat/completions --data @request.json -o recorded/
    streamparse record -o recorded/ -- curl -sN http://127.0.0.1:8080/v1/chat/completions -d @request.json
    streamparse replay recorded/ --speed 10

Credentials are taken out before anything is written; headers are not written at all.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from streamparse.cli.options import CommandError, name_in_errors, read_file
from streamparse.testing import Recorder, Recording, list_recordings
from streamparse.testing.recording import make_name
from streamparse.testing.redaction import find_secrets, redact_target
from streamparse.testing.replay import Player, make_server

_READ_SIZE: Final = 64 * 1024  # bound: of one read; a server's write is smaller
_URL: Final = re.compile(r"https?://\S+")


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `record` and `replay` to the commands."""
    record = commands.add_parser("record", help="keep an answer with the times of its reads", description=__doc__)
    record.add_argument(
        "command", nargs="+", metavar="URL", help="where to ask; or, behind --, a command that prints the body"
    )
    record.add_argument("-d", "--data", help="the body of the request, or @FILE; default: none, and a GET")
    record.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE", help="repeatable")
    record.add_argument("-o", "--output", default=".", metavar="DIR", help="where to write; default: this folder")
    record.add_argument("--name", help="of the recording; default: the host and the path, and a number")
    record.set_defaults(run=_record)
    replay = commands.add_parser("replay", help="serve recordings over HTTP", description=__doc__)
    replay.add_argument("folder", type=Path, metavar="DIR", help="a folder of recordings")
    replay.add_argument("--speed", type=float, default=1.0, metavar="N", help="so many times faster; 0: at once")
    replay.add_argument("--host", default="127.0.0.1", help="where to listen; default: 127.0.0.1")
    replay.add_argument("--port", type=int, default=8001, help="default: 8001; 0 takes a free one")
    replay.set_defaults(run=_replay)


def _record(arguments: argparse.Namespace) -> int:
    """Record one answer; the status is 1 if the server refused, or the command failed."""
    words: list[str] = arguments.command
    if len(words) == 1 and _URL.fullmatch(words[0]):
        recorder, url, status, kind = _ask(words[0], arguments)
    else:
        recorder, url, status, kind = _run_command(words)
    name = arguments.name or make_name(arguments.output, _name_source(url))
    recording = recorder.finish(name, status, kind)
    with name_in_errors(arguments.output):
        path = recording.save(arguments.output)
    print(f"{path}: {len(recording.body):,} bytes in {len(recording.reads):,} reads, status {status}")
    return 0 if status < 400 else 1


def _ask(url: str, arguments: argparse.Namespace) -> tuple[Recorder, str, int, str]:
    import httpx  # noqa: PLC0415 - imported on use

    data: str | None = arguments.data
    content = b"" if data is None else read_file(Path(data[1:])) if data.startswith("@") else data.encode()
    headers = dict(_split_header(line) for line in arguments.header)
    if data is not None and not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = "application/json"
    method = "GET" if data is None else "POST"
    recorder = Recorder(url, content, headers, method=method)
    try:
        with httpx.stream(
            method, url, content=content, headers=headers | {"accept-encoding": "identity"}, timeout=600
        ) as response:
            for piece in response.iter_raw():
                recorder.read(piece)
            return recorder, url, response.status_code, response.headers.get("content-type", "")
    except httpx.HTTPError as error:
        raise CommandError(f"{type(error).__name__}: {error}") from error


def _split_header(line: str) -> tuple[str, str]:
    name, sign, value = line.partition(":")
    if not sign:
        raise CommandError(f"{name!r} is no header: write NAME: VALUE")
    return name.strip(), value.strip()


def _run_command(words: list[str]) -> tuple[Recorder, str, int, str]:
    """Record what a command prints; its words tell which credentials to take out."""
    url = next((word for word in words if _URL.fullmatch(word)), "")
    headers = [_split_header(word) for word in words if re.match(r"[A-Za-z][\w-]*:\s*[^/\s]", word)]
    recorder = Recorder(url, b"", headers)
    try:
        with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
            for piece in _read_pieces(process):
                recorder.read(piece)
    except OSError as error:
        raise CommandError(f"{words[0]}: {error.strerror or error}") from error
    if process.returncode:
        raise CommandError(f"{words[0]} ended with status {process.returncode}: nothing is recorded")
    return recorder, url or Path(words[0]).name, 200, ""


def _name_source(source: str) -> str:
    """Return host and path of an address, without credentials; the name of a program stays."""
    host = urlsplit(source).netloc.rpartition("@")[2]
    return host + redact_target(source, find_secrets(source)).partition("?")[0] if host else source


def _read_pieces(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    while piece := os.read(process.stdout.fileno(), _READ_SIZE):
        yield piece


def _replay(arguments: argparse.Namespace) -> int:
    with name_in_errors(arguments.folder):
        recordings: list[Recording] = list_recordings(arguments.folder)
        player = Player(recordings)
    try:
        server = make_server(player, arguments.speed, arguments.host, arguments.port)
    except (OSError, OverflowError) as error:
        raise CommandError(f"cannot listen on {arguments.host}:{arguments.port}: {error}") from error
    host, port = server.server_address[:2]
    print(f"listening on http://{host!s}:{port}, with {len(recordings)} recordings", flush=True)
    try:
        server.serve_forever()
    finally:
        server.server_close()
        sys.stdout.flush()
    return 0
