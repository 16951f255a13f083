"""Which headers cross the proxy, and which are between two neighbours only (RFC 9110, section 7.6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

__all__ = ["Headers", "crossing", "for_client", "for_upstream", "lost_header", "unaddressed", "value_of"]

Headers: TypeAlias = list[tuple[bytes, bytes]]

_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
_OURS_TO_UPSTREAM: Final = frozenset((b"host", b"content-length", b"expect"))
_OF_THE_BODY: Final = frozenset(b"content-length content-encoding content-type etag content-md5".split())
_ANTHROPIC_VERSION: Final = b"2023-06-01"
_NO_NAME: Final = re.compile(r"[^\w.\-$/]", re.ASCII)
_LONGEST_NAME: Final = 100
_MOST_LOST: Final = 2000  # characters: clients bound the headers of an answer


def for_upstream(headers: Iterable[tuple[bytes, bytes]], client_wire: str, wire: str) -> Headers:
    """The headers of a request that is read here: its body may change, and its answer must not be compressed.

    The key goes where the server's wire looks for it.
    """
    kept = [(name, value) for name, value in crossing(headers) if name != b"accept-encoding"]
    return [*_with_key(kept, client_wire, wire), (b"accept-encoding", b"identity")]


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


def value_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The first value of a header; empty if there is none."""
    return next((value for key, value in headers if key.lower() == name), b"")


def _with_key(headers: Headers, client_wire: str, wire: str) -> Headers:
    headers = unaddressed(headers)
    if (client_wire == "anthropic") == (wire == "anthropic"):
        return headers
    if wire == "anthropic":
        kind, _, key = value_of(headers, b"authorization").partition(b" ")
        named = [(b"x-api-key", key)] if kind.lower() == b"bearer" and key else []
        kept = [header for header in headers if header[0] != b"authorization" or not named]
        return [*kept, *named, (b"anthropic-version", _ANTHROPIC_VERSION)]
    key = value_of(headers, b"x-api-key")
    named = [(b"authorization", b"Bearer " + key)] if key and not value_of(headers, b"authorization") else []
    return [*(header for header in headers if header[0] not in (b"x-api-key", b"anthropic-version")), *named]
