"""Takes credentials out of what is recorded.

Headers are not recorded at all.  In a target and in bodies these go: the credentials that the request itself carried
(in its headers, its address, its query), wherever they stand; the values of fields whose names say that they are
secret; and what has the form of a well-known key.  As many `x` stand in its place, so that no offset moves.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

__all__ = ["find_secrets", "redact", "redact_target"]

_NAMES_SECRET: Final = re.compile(
    r"auth(?:orization)?$|(?:api|access|secret|private)[-_]?key|^(?:x-)?key$|password|passwd|secret"
    r"|(?:access|auth|bearer|refresh|session|security|id)[-_]?token|^token$|cookie|credential|^(?:code|sig|signature)$",
    re.IGNORECASE,
)
"""Names of headers and of parameters of a query whose values are credentials."""
_FIELD_SECRET: Final = re.compile(
    r"^authorization$|(?:api|access|secret|private)[-_]?key$|password|passwd|client[-_]?secret"
    r"|(?:access|auth|bearer|refresh|session|security)[-_]?token$|^(?:set-)?cookie$",
    re.IGNORECASE,
)
"""Names of fields of a body.  A `token` of an answer is what the model wrote, and a `signature` signs a thought."""
_FIELD: Final = re.compile(rb'"([A-Za-z0-9_.-]{1,60})"\s*:\s*"((?:[^"\\]|\\.)*)"')
_KEYS: Final = re.compile(
    rb"\b(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|csk|fw|pplx|tgp|AIza|ya29|AKIA|ASIA|ghp|gho|github_pat|glpat|xox[abp])"
    rb"(?:[-_.]|(?<=AIza)|(?<=AKIA)|(?<=ASIA))[A-Za-z0-9_\-.]{12,}"
)
"""The forms of keys of well-known services."""
_JWT: Final = re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*")
_LEAST: Final = 6  # bound: shorter "credentials" (none, test) stand in ordinary texts


def find_secrets(url: str, headers: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> list[bytes]:
    """Return the credentials that a request carries, longest first."""
    parts = urlsplit(url)
    found = {unquote(parts.password or ""), unquote(parts.username or "") if parts.password is None else ""}
    for name, value in (*parse_qsl(parts.query), *(headers.items() if isinstance(headers, Mapping) else headers)):
        if _NAMES_SECRET.search(name):
            found |= {value, value.rpartition(" ")[2], *_read_basic(value)}
    written = found | {quote(value, safe="") for value in found}
    return sorted((value.encode() for value in written if len(value) >= _LEAST), key=len, reverse=True)


def _read_basic(value: str) -> set[str]:
    """Return the password of `Basic` credentials."""
    scheme, _, coded = value.partition(" ")
    if scheme.lower() != "basic":
        return set()
    try:
        return {b64decode(coded, validate=True).decode("utf-8", "replace").partition(":")[2]}
    except (Base64Error, ValueError):
        return set()


def redact(data: bytes, secrets: Iterable[bytes] = ()) -> bytes:
    """Return a body without credentials; it is as long as before."""
    for secret in secrets:
        data = data.replace(secret, b"x" * len(secret))
    for pattern in (_KEYS, _JWT):
        data = pattern.sub(lambda found: b"x" * len(found[0]), data)
    return _FIELD.sub(_redact_field, data)


def _redact_field(found: re.Match[bytes]) -> bytes:
    if not _FIELD_SECRET.search(found[1].decode()):
        return found[0]
    start = found.start(2) - found.start()
    return found[0][:start] + b"x" * len(found[2]) + b'"'


def redact_target(url: str, secrets: Iterable[bytes] = ()) -> str:
    """Return the path and the query of an address, without host, user and credentials."""
    parts = urlsplit(url)
    query = [
        name + ("=" + ("x" * len(value) if _NAMES_SECRET.search(unquote(name)) else value) if sign else "")
        for name, sign, value in (pair.partition("=") for pair in parts.query.split("&"))
    ]
    target = (parts.path or "/") + ("?" + "&".join(query) if parts.query else "")
    return redact(target.encode(), secrets).decode()
