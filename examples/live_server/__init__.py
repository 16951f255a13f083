"""A real language model server whose every word the caller decides, without published weights.

`model` writes a llama model of 3.5 MB that copies from its own prompt (`weights` tells how), `serve` puts it behind
llama.cpp's HTTP server, `scripted` writes the requests.  So the bytes are a real server's, and what they say is ours.

    with running_server() as server:
        request = server.chat('<tool_call>\\n{"name": "search", "arguments": {"query": "tea"}}\\n</tool_call>')
        response = httpx.post(server.url + "/v1/chat/completions", json=request)
"""

from live_server.recording import CHAT, record
from live_server.running import is_available, running_proxy, running_server
from live_server.scripted import Scripted

__all__ = [
    "CHAT",
    "Scripted",
    "is_available",
    "record",
    "running_proxy",
    "running_server",
]
