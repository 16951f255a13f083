"""What many streams cost in the proxy, beside a relay that only copies bytes: `python benches/proxy_streams.py`.

Server and clients are in this process, the relay and the proxy each in one of their own.  Every stream is 20 tokens a
second, with tools in the request, so that the proxy reads and writes each anew.  By turns the relay and the proxy get
the same load.  A token holds the moment at which it was written, so its lateness is known where it is read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from proxy_load import TOOL

__all__ = ["measure_memory", "measure_streams"]

RATE = 20
"""Tokens a second of each stream."""
SECONDS = 4
ROUNDS = 3
OPEN = 1_000
"""Streams that are open at once where memory is measured."""


# -- the two in between, each in a process of its own ------------------------------------------------------


async def relay(port: int) -> None:
    """Copy bytes between clients and the server at a port: no more than any proxy must do."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=2 * OPEN)
    await asyncio.to_thread(_report, server.sockets[0].getsockname()[1])


def serve_proxy(port: int) -> None:
    """Run the proxy as its command does."""
    from streamparse import proxy
    from streamparse.cli.proxy import listen, make_server

    with listen("127.0.0.1", 0) as listener:
        server = make_server(proxy.app(f"http://127.0.0.1:{port}"), [])

        def report() -> None:
            _report(listener.getsockname()[1])
            server.should_exit = True

        threading.Thread(target=report).start()
        server.run([listener])


def _report(port: int) -> None:
    """Print the port, and at each line of the input the CPU seconds and the memory in MB of this process."""
    print(port, flush=True)
    while sys.stdin.readline():
        print(time.process_time(), _read_memory(), flush=True)


def _read_memory() -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


# -- server and clients ------------------------------------------------------------------------------------

_MOMENT = re.compile(rb"@([0-9.]+)")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"


def _write_chunk(text: str, reason: str | None = None) -> bytes:
    choice = {"finish_reason": reason, "index": 0, "delta": {"content": text}}
    head = {"created": 1795313421, "id": "chatcmpl-Ou2O4b0bQjQ7JFeZzQpj1QOQMj67gaKS", "model": "copy"}
    data = b"data: " + json.dumps({"choices": [choice], **head, "object": "chat.completion.chunk"}).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


class Load:
    """The server, and as many clients as are asked for."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.late: list[float] = []
        self.open = 0
        self.go_on = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Stream the tokens, each at its time; the streams begin spread over one interval."""
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_HEAD)
        self.open += 1
        begun = time.perf_counter() + (self.open * 0.618 % 1) / RATE
        for number in range(self.tokens):
            await asyncio.sleep(begun + number / RATE - time.perf_counter())
            writer.write(_write_chunk(f"@{time.perf_counter():.6f} "))
        await self.go_on.wait()
        writer.write(_write_chunk("", "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        writer.close()

    async def ask(self, port: int) -> None:
        """Ask for one stream, and note how late each token is."""
        tools = [{"type": "function", "function": TOOL}]
        question = [{"role": "user", "content": "x"}]
        body = json.dumps({"model": "m", "stream": True, "messages": question, "tools": tools}).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + body)
        while b"[DONE]" not in (piece := await reader.read(65_536)):
            now = time.perf_counter()
            assert piece
            self.late += [now - float(moment) for moment in _MOMENT.findall(piece)]
        writer.close()


class Cost(NamedTuple):
    """Microseconds of CPU a token, and milliseconds that a token is late at the median."""

    cpu: float
    late: float


class _Between(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def read(self) -> tuple[float, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        cpu, memory = self.process.stdout.readline().split()
        return float(cpu), float(memory)


def _start(kind: str, port: int) -> _Between:
    command = [sys.executable, __file__, kind, str(port)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return _Between(process, int(process.stdout.readline()))


async def _run(between: _Between, load: Load, streams: int) -> Cost:
    load.late.clear()
    load.go_on.set()
    before, _ = between.read()
    await asyncio.gather(*(load.ask(between.port) for _ in range(streams)))
    after, _ = between.read()
    return Cost((after - before) * 1e6 / (streams * load.tokens), median(load.late) * 1e3)


async def measure_streams(streams: int, rounds: int = ROUNDS) -> tuple[Cost, Cost]:
    """Return the cost of the relay and of the proxy: medians of rounds by turns; the first round warms up."""
    load = Load(SECONDS * RATE)
    server = await asyncio.start_server(load.answer, "127.0.0.1", 0, backlog=2 * OPEN)
    both = [_start(kind, server.sockets[0].getsockname()[1]) for kind in ("relay", "proxy")]
    found = [[await _run(each, load, streams) for each in both] for _ in range(rounds + 1)][1:]
    _stop(both)
    server.close()
    first, second = (Cost(*map(median, zip(*column, strict=True))) for column in zip(*found, strict=True))
    return first, second


async def measure_memory(streams: int = OPEN) -> float:
    """Return the memory of the proxy in MB while so many streams are open, each with tokens written already."""
    load = Load(2)
    server = await asyncio.start_server(load.answer, "127.0.0.1", 0, backlog=2 * OPEN)
    between = _start("proxy", server.sockets[0].getsockname()[1])
    asking = [asyncio.create_task(load.ask(between.port)) for _ in range(streams)]
    while len(load.late) < 2 * streams:
        await asyncio.sleep(0.1)
    _, memory = between.read()
    load.go_on.set()
    await asyncio.gather(*asking)
    _stop([between])
    server.close()
    return memory


def _stop(all_between: list[_Between]) -> None:
    for each in all_between:
        each.process.communicate()


def main() -> None:
    """Print the figures, or be one of the two in between."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="?", choices=("relay", "proxy"))
    parser.add_argument("port", nargs="?", type=int)
    given = parser.parse_args()
    if given.kind:
        asyncio.run(relay(given.port)) if given.kind == "relay" else serve_proxy(given.port)
        return
    for streams in (100, 20):
        base, ours = asyncio.run(measure_streams(streams))
        print(
            f"{streams} streams: CPU a token {base.cpu:.0f} µs (relay), {ours.cpu:.0f} µs ({ours.cpu / base.cpu:.2f} x)"
        )
        print(f"{streams} streams: late at the median {base.late:.2f} ms (relay), {ours.late:.2f} ms")
    print(f"{OPEN} open streams: {asyncio.run(measure_memory()):.0f} MB")


if __name__ == "__main__":
    main()
