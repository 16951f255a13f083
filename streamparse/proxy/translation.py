"""What the server is asked, of what a client asked in another way."""

from __future__ import annotations

from typing import Any

from streamparse.proxy.settings import Settings

__all__ = ["for_server"]


def for_server(request: dict[str, Any], wire: str, settings: Settings, body: bytes) -> bytes:  # noqa: ARG001
    """Return the body of the request to the server."""
    return body
