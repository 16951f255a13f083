"""The other end of the proxy's bench, in a process of its own: the server behind it, and the client before it.

It prints the server's port, then takes lines `URL tools|plain` and answers each with two numbers: the bytes that came,
and the median of the microseconds from the server's write of a chunk to the client's read.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from statistics import median
from typing import Any
from urllib.parse import urlsplit

__all__ = ["CHUNKS", "PAUSE"]

PAUSE = 0.0005
"""Seconds between two chunks: each is a read of its own, as from a model."""

TOOL = {"name": "write", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}
PROSE = "A sentence of the usual kind, with words, and commas. " * 7
CALL = '<tool_call>\n{"name": "write", "arguments": {"text": "' + "Some text for a file. " * 14 + '"}}\n</tool_call>'


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    """One event as llama.cpp writes it."""
    choice = {"finish_reason": reason, "index": 0, "delta": delta}
    head = {"created": 1795313421, "id": "chatcmpl-Ou2O4b0bQjQ7JFeZzQpj1QOQMj67gaKS", "model": "copy"}
    rest = {"system_fingerprint": "b0-unknown", "object": "chat.completion.chunk"}
    return b"data: " + json.dumps({"choices": [choice], **head, **rest}).encode() + b"\n\n"


TEXT = PROSE + CALL
CHUNKS = [_chunk({"content": TEXT[start : start + 4]}) for start in range(0, len(TEXT), 4)]
CHUNKS += [_chunk({}, "stop"), b"data: [DONE]\n\n"]


_written = [0.0]
"""When the server wrote last; the next chunk waits far longer than any takes."""


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request on a connection with the chunks."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(size)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for chunk in CHUNKS:
                _written[0] = time.perf_counter()
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await writer.drain()
                await asyncio.sleep(PAUSE)
            writer.write(b"0\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _ask(url: str, tools: bool) -> tuple[int, float]:
    """Ask for a stream; return how many bytes came, and how long each was on its way."""
    address = urlsplit(url)
    request: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    if tools:
        request["tools"] = [{"type": "function", "function": TOOL}]
    body = json.dumps(request).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(head.encode() + body)
    size, under_way = 0, []
    while piece := await reader.read(65536):
        under_way.append(time.perf_counter() - _written[0])
        size += len(piece)
    writer.close()
    return size, median(under_way) * 1e6


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        url, kind = line.split()
        print(*await _ask(url, kind == "tools"), flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(_main())
