"""Where a request goes: to the server, under its base, and to no other; only the rest of the path is the client's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from streamparse.proxy.asgi import Scope
from streamparse.proxy.client import httpx_module

if TYPE_CHECKING:
    import httpx

__all__ = ["BadTarget", "address", "target_of"]

_SLASH: Final = rb"(?:[/\\]|%2f|%5c)"
_DOTS: Final = re.compile(rb"(?i)" + _SLASH + rb"(?:\.|%2e){1,2}(?:" + _SLASH + rb"|$)")


class BadTarget(Exception):
    """A request asks for something that is no path of this server."""


def target_of(scope: Scope) -> bytes:
    """Return the path and the query that a client asks for, as they came.

    Raises `BadTarget` for a whole URL, for `*`, and for a path with `.` or `..` in it, which could lead out of the
    server's base.
    """
    path: bytes = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
    query: bytes = scope["query_string"]
    if not path.startswith(b"/") or _DOTS.search(path):
        raise BadTarget("the target of a request must be a plain path")
    return path + (b"?" + query if query else b"")


def address(upstream: str, target: bytes) -> httpx.URL:
    """Return the URL of a target at the server; `/v1` is its base's or the target's.  Raises `BadTarget`."""
    module = httpx_module()
    path = urlsplit(upstream).path.rstrip("/")
    if path.endswith("/v1") and target.startswith(b"/v1/"):
        path = path.removesuffix("/v1")
    try:
        url: httpx.URL = module.URL(upstream).copy_with(raw_path=path.encode() + target)
    except module.InvalidURL as error:
        raise BadTarget(str(error)) from error
    return url
