"""The server's side: where a request goes, with which headers, and the HTTP client that sends it.

A request goes to the server, under its base URL, and nowhere else; only the rest of the path is the client's.
`providers.endpoints` knows where the version is in a path.  Headers that concern a single connection do not cross the
proxy (RFC 9110, section 7.6.1).  The HTTP client is an extra, loaded when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from streamparse.providers.endpoints import (
    ANTHROPIC_VERSION,
    KEY_HEADERS,
    is_plain_path,
    join_path,
    write_key_headers,
    write_path,
)
from streamparse.proxy.asgi import Headers, RequestRefused, Scope
from streamparse.proxy.settings import Settings

if TYPE_CHECKING:
    import httpx

_IDLE: Final = 3.0  # source: uvicorn, Node and llama.cpp's server close an idle connection after 5 seconds
_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
_OWN_HEADERS: Final = frozenset((b"host", b"content-length", b"expect"))
_BODY_HEADERS: Final = frozenset(b"content-length content-encoding content-type etag content-md5".split())
_KEY_HEADERS: Final = {wire: name.encode() for wire, name in KEY_HEADERS.items()}
_PRIVATE_HEADERS: Final = frozenset(
    b"authorization x-api-key x-goog-api-key api-key cookie openai-organization openai-project".split()
)
_ANTHROPIC_HEADERS: Final = (b"x-api-key", b"anthropic-")
_ANTHROPIC_VERSION: Final = ANTHROPIC_VERSION.encode()
_GOOGLE_TOKEN: Final = b"ya29."  # an access token of Google's is no key: it is accepted only as a bearer
_UNSAFE: Final = re.compile(r"[^\w.\-$/]", re.ASCII)
_MAX_NAME: Final = 100  # bound: characters of a field's name in a header
_MAX_LOST: Final = 2000  # bound: characters; clients limit the headers of an answer


def read_target(scope: Scope) -> bytes:
    """Return the path and the query that a client asks for, as they came.

    Raises `RequestRefused` for a whole URL, for `*`, and for a path with `.` or `..` in it, which could lead out of the
    server's base.
    """
    path: bytes = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
    query: bytes = scope["query_string"]
    return _check_path(path) + (b"?" + query if query else b"")


def make_path(settings: Settings, model: str, *, streamed: bool) -> bytes:
    """Return the path, and the query, at which the server is asked for an answer.

    Gemini's names the model and the method.  Its version is the base's own if that ends in one, and left out after
    a publisher (Vertex AI).  Raises `RequestRefused` for a model that is no part of a path.
    """
    path = write_path(settings.wire, model, _read_base_path(settings), streamed=streamed)
    return _check_path(path.encode())


def make_url(settings: Settings, target: bytes) -> httpx.URL:
    """Return the URL of a target at the server, without a name and a password; a version is its base's or the target's.

    Raises `RequestRefused`.
    """
    module = load_httpx()
    path = join_path(_read_base_path(settings).encode(), target, settings.wire)
    try:
        url: httpx.URL = module.URL(settings.public_url).copy_with(raw_path=path)
    except module.InvalidURL as error:
        raise RequestRefused(str(error)) from error
    return url


def _read_base_path(settings: Settings) -> str:
    return urlsplit(settings.upstream).path.rstrip("/")


def _check_path(path: bytes) -> bytes:
    if not is_plain_path(path):
        raise RequestRefused("the target of a request must be a plain path")
    return path


def load_httpx() -> Any:
    """Return the module `httpx`."""
    import httpx  # noqa: PLC0415 - the proxy alone needs it

    return httpx


def make_client(settings: Settings) -> httpx.AsyncClient:
    """Return a client that goes nowhere but where it is sent, and adds nothing of its own.

    Neither another host (a redirect, a proxy of the environment) nor a key of ours (.netrc) comes in, and no cookie
    that the server gave to one client is sent with the request of another.
    """
    module = load_httpx()
    timeout = module.Timeout(settings.read_timeout, connect=settings.connect_timeout, pool=None)
    limits = module.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=_IDLE)
    client: httpx.AsyncClient = module.AsyncClient(
        timeout=timeout, limits=limits, follow_redirects=False, trust_env=False
    )
    client.headers.clear()
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client


def make_request_headers(
    headers: Iterable[tuple[bytes, bytes]], client_wire: str | None, wire: str, *, is_read: bool
) -> Headers:
    """Return the headers of a request, its key moved to where the server's wire looks for it.

    A client whose wire is not known (None) is one of Anthropic's if it names their version; all others bring their key
    as OpenAI's do.  An answer that `is_read` here must not be compressed.
    """
    kept = [(name, value) for name, value in keep_end_to_end(headers) if name not in _OWN_HEADERS]
    if client_wire is None:
        client_wire = "anthropic" if get_header(kept, b"anthropic-version") else "openai-chat"
        place = _KEY_HEADERS.get(wire)
        if place is not None and get_header(kept, place):
            client_wire = wire
    moved = _move_key(kept, client_wire, wire)
    if not is_read:
        return moved
    return [*((name, value) for name, value in moved if name != b"accept-encoding"), (b"accept-encoding", b"identity")]


def make_client_headers(headers: Iterable[tuple[bytes, bytes]], content_type: str) -> Headers:
    """Return the headers of an answer whose body is written here."""
    kept = [(name, value) for name, value in keep_end_to_end(headers) if name not in _BODY_HEADERS]
    return [*kept, (b"content-type", content_type.encode())]


def keep_end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers that may cross, with lower-case names, including those about a body that crosses."""
    lower = [(name.lower(), value) for name, value in headers]
    dropped = _HOP_BY_HOP | {
        token.strip().lower() for name, value in lower if name == b"connection" for token in value.split(b",")
    }
    return [(name, value) for name, value in lower if name not in dropped]


def make_lost_header(names: Iterable[str]) -> Headers:
    """Return a header that names what the server's wire has no place for; no header without names.

    The names are a client's own words: whatever could end a header or begin another is left out of them.
    """
    safe = sorted({_UNSAFE.sub("_", name[:_MAX_NAME]) for name in names})
    text = ", ".join(safe)
    cut = text if len(text) <= _MAX_LOST else text[:_MAX_LOST].rpartition(", ")[0] + ", ..."
    return [(b"streamparse-lost", cut.encode())] if cut else []


def add_credentials(headers: Headers, credentials: bytes) -> Headers:
    """Add the proxy's own credentials, unless the client brought an `authorization`: that stays."""
    if not credentials or get_header(headers, b"authorization"):
        return headers
    return [*headers, (b"authorization", credentials)]


def replace_key(headers: Headers, wire: str, key: str) -> Headers:
    """Return the headers with this key, or none, in place of what a client brought: keys, accounts and cookies."""
    kept = [header for header in headers if header[0] not in _PRIVATE_HEADERS]
    written = write_key_headers(wire, key).items() if key else ()
    return [*kept, *((name.encode(), value.encode()) for name, value in written if name != "anthropic-version")]


def get_header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """Return the first value of a header; empty without one."""
    return next((value for key, value in headers if key.lower() == name), b"")


def _move_key(headers: Headers, client_wire: str, wire: str) -> Headers:
    """Put the key where the server's wire looks for it; other headers of Anthropic's go to Anthropic alone."""
    place = _KEY_HEADERS.get(wire)
    if place == _KEY_HEADERS.get(client_wire):
        return headers
    bearer = _read_bearer(headers)
    key = bearer or get_header(headers, b"x-api-key")
    there = place is not None and bool(get_header(headers, place))
    kept = [header for header in headers if header[0] == place or not header[0].startswith(_ANTHROPIC_HEADERS)]
    version = [(b"anthropic-version", _ANTHROPIC_VERSION)] if wire == "anthropic" else []
    if place is None or bearer.startswith(_GOOGLE_TOKEN):
        named = [(b"authorization", b"Bearer " + key)] if key and not get_header(headers, b"authorization") else []
        return [*kept, *named, *version]
    unnamed = [header for header in kept if header[0] != b"authorization" or not bearer]
    return [*unnamed, *([(place, key)] if key and not there else []), *version]


def _read_bearer(headers: Headers) -> bytes:
    kind, _, token = get_header(headers, b"authorization").partition(b" ")
    return token if kind.lower() == b"bearer" else b""
