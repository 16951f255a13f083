"""Ask a server once, and keep what it sent, with the time of each read."""

from __future__ import annotations

import json
from typing import Any

import httpx

from streamparse.testing import Recorder, Recording

__all__ = ["CHAT", "record"]

CHAT = "/v1/chat/completions"


def record(url: str, request: Any, path: str = CHAT, *, name: str = "answer") -> Recording:
    """Send the request (JSON, or bytes that are sent as they are) and keep the answer, whatever its status."""
    content = request if isinstance(request, bytes) else json.dumps(request).encode()
    headers = {"content-type": "application/json"}
    recorder = Recorder(url + path, content)
    with httpx.stream("POST", url + path, content=content, headers=headers, timeout=60) as response:
        for chunk in response.iter_raw():
            recorder.read(chunk)
    return recorder.finish(name, response.status_code, response.headers.get("content-type", ""))
