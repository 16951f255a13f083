"""What many streams cost in the proxy, beside a relay that only copies bytes: `python benches/proxy_streams.py`.

Server and clients are in this process, what stands in between each in one of its own.  Every stream is 20 tokens a
second, with tools in the request, so that the proxy reads and writes each anew.  By turns each gets the same load.  A
token holds the moment at which it was written, so its lateness is known where it is read.

Where the environment variable `LITELLM_BIN` names the command `litellm` (of an environment of its own, with
`pip install 'litellm[proxy]'`), its proxy is measured too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from proxy_load import TOOL

__all__ = ["LITELLM", "measure_memory", "measure_streams"]

RATE = 20
"""Tokens a second of each stream."""
SECONDS = 4
ROUNDS = 3
OPEN = 1_000
"""Streams that are open at once where memory is measured."""
LITELLM = os.environ.get("LITELLM_BIN", "")
"""The command of LiteLLM; "" if it is not there."""
_KEY = "sk-bench"  # LiteLLM's proxy refuses to start without a key; the others pass it on


# -- what stands in between, each in a process of its own ------------------------------------------------------


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

    async with await asyncio.start_server(serve, "127.0.0.1", 0, backlog=2 * OPEN) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


def serve_proxy(port: int) -> None:
    """Run the proxy as its command does."""
    from streamparse import proxy
    from streamparse.cli.proxy import listen, make_server

    with listen("127.0.0.1", 0) as listener:
        print(listener.getsockname()[1], flush=True)
        make_server(proxy.app(f"http://127.0.0.1:{port}"), []).run([listener])


class _Between(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def read_cpu(self) -> float:
        """Return the CPU seconds of the process, of all its threads: Linux has a clock for each process."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def read_memory(self) -> float:
        """Return its memory in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def _start(kind: str, port: int) -> _Between:
    if kind == "litellm":
        return _start_litellm(port)
    process = subprocess.Popen([sys.executable, __file__, kind, str(port)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return _Between(process, int(process.stdout.readline()))


def _start_litellm(port: int) -> _Between:
    """Start LiteLLM's proxy, in one process and with nothing but a model, and wait until it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        own: int = free.getsockname()[1]
    model = {"model": "openai/m", "api_base": f"http://127.0.0.1:{port}/v1", "api_key": _KEY}
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        config.write_text(json.dumps({"model_list": [{"model_name": "m", "litellm_params": model}]}), encoding="utf-8")
        process = subprocess.Popen(
            [LITELLM, "--config", str(config), "--host", "127.0.0.1", "--port", str(own), "--num_workers", "1"],
            env={**os.environ, "LITELLM_MASTER_KEY": _KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", own)).close()
            except ConnectionRefusedError:
                time.sleep(0.2)
            else:
                return _Between(process, own)
    raise RuntimeError(f"{LITELLM} ended with status {process.returncode}")


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
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n"
        head += f"content-type: application/json\r\nauthorization: Bearer {_KEY}\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + body)
        async for line in reader:
            now = time.perf_counter()
            self.late += [now - float(moment) for moment in _MOMENT.findall(line)]
            if b"[DONE]" in line:
                break
        writer.close()


class Cost(NamedTuple):
    """Microseconds of CPU a token, and milliseconds that a token is late at the median."""

    cpu: float
    late: float


async def _run(between: _Between, load: Load, streams: int) -> Cost:
    load.late.clear()
    load.go_on.set()
    before = between.read_cpu()
    await asyncio.gather(*(load.ask(between.port) for _ in range(streams)))
    after = between.read_cpu()
    assert len(load.late) == streams * load.tokens
    return Cost((after - before) * 1e6 / (streams * load.tokens), median(load.late) * 1e3)


async def measure_streams(streams: int, rounds: int = ROUNDS, kinds: Sequence[str] = ("relay", "proxy")) -> list[Cost]:
    """Return what each kind costs: medians of rounds by turns; the first round warms up."""
    load = Load(SECONDS * RATE)
    server = await asyncio.start_server(load.answer, "127.0.0.1", 0, backlog=2 * OPEN)
    with ExitStack() as stack:
        stack.callback(server.close)
        started = []
        for kind in kinds:
            started.append(_start(kind, server.sockets[0].getsockname()[1]))
            stack.callback(started[-1].stop)
        found = [[await _run(each, load, streams) for each in started] for _ in range(rounds + 1)][1:]
    return [Cost(*map(median, zip(*column, strict=True))) for column in zip(*found, strict=True)]


async def measure_memory(streams: int = OPEN) -> float:
    """Return the memory of the proxy in MB while so many streams are open, each with tokens written already."""
    load = Load(2)
    server = await asyncio.start_server(load.answer, "127.0.0.1", 0, backlog=2 * OPEN)
    between = _start("proxy", server.sockets[0].getsockname()[1])
    asking = [asyncio.create_task(load.ask(between.port)) for _ in range(streams)]
    while len(load.late) < 2 * streams:
        await asyncio.sleep(0.1)
    memory = between.read_memory()
    load.go_on.set()
    await asyncio.gather(*asking)
    between.stop()
    server.close()
    return memory


def main() -> None:
    """Print the figures, or be one of those in between."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="?", choices=("relay", "proxy"))
    parser.add_argument("port", nargs="?", type=int)
    given = parser.parse_args()
    if given.kind:
        asyncio.run(relay(given.port)) if given.kind == "relay" else serve_proxy(given.port)
        return
    kinds = ("relay", "proxy", "litellm") if LITELLM else ("relay", "proxy")
    for streams in (100, 20):
        costs = asyncio.run(measure_streams(streams, kinds=kinds))
        for kind, cost in zip(kinds, costs, strict=True):
            share = f"{cost.cpu / costs[0].cpu:.2f} x the relay, proxy {costs[1].cpu / cost.cpu:.2f} x this"
            print(f"{streams} streams, {kind}: CPU a token {cost.cpu:.0f} µs ({share}), late {cost.late:.2f} ms")
    print(f"{OPEN} open streams: {asyncio.run(measure_memory()):.0f} MB")


if __name__ == "__main__":
    main()
