"""Where a request goes: to the server, under its base, and to no other; only the rest of the path is the client's.

Where the version stands in a path is known to `adapters.requests.endpoints`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamparse.providers.endpoints import is_plain_path, join_path, write_path
from streamparse.proxy.asgi import Scope
from streamparse.proxy.client import httpx_module
from streamparse.proxy.settings import Settings

if TYPE_CHECKING:
    import httpx

__all__ = ["Refused", "address", "asked_at", "target_of"]


class Refused(Exception):
    """A request that the server is not asked; the message tells the client why."""


def target_of(scope: Scope) -> bytes:
    """Return the path and the query that a client asks for, as they came.

    Raises `Refused` for a whole URL, for `*`, and for a path with `.` or `..` in it, which could lead out of the
    server's base.
    """
    path: bytes = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
    query: bytes = scope["query_string"]
    return _plain(path) + (b"?" + query if query else b"")


def asked_at(settings: Settings, model: str, *, streamed: bool) -> bytes:
    """Return the path, and the query, at which the server is asked for an answer.

    Gemini's names the model and the method.  Its version is the base's own if that ends in one, and left out behind
    a publisher (Vertex AI).  Raises `Refused` for a model that is no part of a path.
    """
    path = write_path(settings.wire, model, _base_path(settings), streamed=streamed)
    return _plain(path.encode())


def address(settings: Settings, target: bytes) -> httpx.URL:
    """Return the URL of a target at the server, without a name and a password; a version is its base's or the target's.

    Raises `Refused`.
    """
    module = httpx_module()
    path = join_path(_base_path(settings).encode(), target, settings.wire)
    try:
        url: httpx.URL = module.URL(settings.shown).copy_with(raw_path=path)
    except module.InvalidURL as error:
        raise Refused(str(error)) from error
    return url


def _base_path(settings: Settings) -> str:
    return urlsplit(settings.upstream).path.rstrip("/")


def _plain(path: bytes) -> bytes:
    if not is_plain_path(path):
        raise Refused("the target of a request must be a plain path")
    return path
