"""Which headers cross the proxy, and which are between two neighbours only (RFC 9110, section 7.6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from streamparse.providers.endpoints import ANTHROPIC_VERSION, KEY_HEADERS

__all__ = [
    "Headers",
    "crossing",
    "for_client",
    "for_passing",
    "for_upstream",
    "lost_header",
    "unaddressed",
    "value_of",
    "with_credentials",
]

Headers: TypeAlias = list[tuple[bytes, bytes]]

_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
_OURS_TO_UPSTREAM: Final = frozenset((b"host", b"content-length", b"expect"))
_OF_THE_BODY: Final = frozenset(b"content-length content-encoding content-type etag content-md5".split())
_KEY_HEADERS: Final = {wire: name.encode() for wire, name in KEY_HEADERS.items()}
_ANTHROPICS: Final = (b"x-api-key", b"anthropic-")
_ANTHROPIC_VERSION: Final = ANTHROPIC_VERSION.encode()
_GOOGLES_TOKEN: Final = b"ya29."  # an access token of Google's is no key: it is taken as a bearer's alone
_NO_NAME: Final = re.compile(r"[^\w.\-$/]", re.ASCII)
_LONGEST_NAME: Final = 100
_MOST_LOST: Final = 2000  # characters: clients bound the headers of an answer


def for_upstream(headers: Iterable[tuple[bytes, bytes]], client_wire: str, wire: str) -> Headers:
    """The headers of a request that is read here: its body may change, and its answer must not be compressed.

    The key goes where the server's wire looks for it.
    """
    kept = [(name, value) for name, value in crossing(headers) if name != b"accept-encoding"]
    return [*_with_key(kept, client_wire, wire), (b"accept-encoding", b"identity")]


def for_passing(headers: Iterable[tuple[bytes, bytes]], wire: str) -> Headers:
    """The headers of a request that passes as it is: only a key that lies where the server does not look is moved.

    Who names a version of Anthropic's is a client of theirs; all others bring their key as OpenAI's do.
    """
    kept = unaddressed(crossing(headers))
    place = _KEY_HEADERS.get(wire)
    if place is not None and value_of(kept, place):
        return kept
    return _with_key(kept, "anthropic" if value_of(kept, b"anthropic-version") else "openai-chat", wire)


def for_client(headers: Iterable[tuple[bytes, bytes]], content_type: str) -> Headers:
    """The headers of an answer whose body is written here."""
    kept = [(name, value) for name, value in crossing(headers) if name not in _OF_THE_BODY]
    return [*kept, (b"content-type", content_type.encode())]


def crossing(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that may cross, with lower-case names; a body that crosses too keeps its length and encoding."""
    lower = [(name.lower(), value) for name, value in headers]
    dropped = _HOP_BY_HOP | {
        token.strip().lower() for name, value in lower if name == b"connection" for token in value.split(b",")
    }
    return [(name, value) for name, value in lower if name not in dropped]


def unaddressed(headers: Headers) -> Headers:
    """Without what the client of the upstream writes itself."""
    return [(name, value) for name, value in headers if name not in _OURS_TO_UPSTREAM]


def lost_header(names: Iterable[str]) -> Headers:
    """Tell what the server's wire could not be told.

    The names are a client's own words: whatever could end a header or begin another is left out of them.
    """
    safe = sorted({_NO_NAME.sub("_", name[:_LONGEST_NAME]) for name in names})
    text = ", ".join(safe)
    cut = text if len(text) <= _MOST_LOST else text[:_MOST_LOST].rpartition(", ")[0] + ", ..."
    return [(b"streamparse-lost", cut.encode())] if cut else []


def with_credentials(headers: Headers, credentials: bytes) -> Headers:
    """Add the proxy's own credentials, unless the client brought an `authorization`: that stays."""
    if not credentials or value_of(headers, b"authorization"):
        return headers
    return [*headers, (b"authorization", credentials)]


def value_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The first value of a header; empty if there is none."""
    return next((value for key, value in headers if key.lower() == name), b"")


def _with_key(headers: Headers, client_wire: str, wire: str) -> Headers:
    """Put the key where the server's wire looks for it; what else is Anthropic's own stays with Anthropic."""
    headers = unaddressed(headers)
    place = _KEY_HEADERS.get(wire)
    if place == _KEY_HEADERS.get(client_wire):
        return headers
    bearer = _bearer(headers)
    key = bearer or value_of(headers, b"x-api-key")
    there = place is not None and bool(value_of(headers, place))
    kept = [header for header in headers if header[0] == place or not header[0].startswith(_ANTHROPICS)]
    version = [(b"anthropic-version", _ANTHROPIC_VERSION)] if wire == "anthropic" else []
    if place is None or bearer.startswith(_GOOGLES_TOKEN):
        named = [(b"authorization", b"Bearer " + key)] if key and not value_of(headers, b"authorization") else []
        return [*kept, *named, *version]
    unnamed = [header for header in kept if header[0] != b"authorization" or not bearer]
    return [*unnamed, *([(place, key)] if key and not there else []), *version]


def _bearer(headers: Headers) -> bytes:
    kind, _, token = value_of(headers, b"authorization").partition(b" ")
    return token if kind.lower() == b"bearer" else b""
