"""Writes the binary messages of an AWS event stream, sound ones and damaged ones."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any
from zlib import crc32

__all__ = ["events", "header", "invoked", "message"]


def header(name: str, value: str) -> bytes:
    """One header with a string."""
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


def message(headers: bytes, payload: bytes = b"") -> bytes:
    """One message with both checksums."""
    start = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = start + struct.pack(">I", crc32(start)) + headers + payload
    return body + struct.pack(">I", crc32(body))


def events(*pairs: tuple[str, Any]) -> bytes:
    """A body of events (or exceptions), each a name and a JSON value."""
    return b"".join(_event(name, value) for name, value in pairs)


def invoked(*inner: Any) -> bytes:
    """A body as `invoke` sends it: the events of the model's own API in base64."""
    return events(*(("chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}) for event in inner))


def _event(name: str, value: Any) -> bytes:
    kind = "exception" if name.endswith("Exception") else "event"
    headers = header(f":{kind}-type", name) + header(":content-type", "application/json")
    return message(headers + header(":message-type", kind), json.dumps(value, ensure_ascii=False).encode())
