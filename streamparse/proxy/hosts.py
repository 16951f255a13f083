"""Which requests are answered: of which hosts and pages, with which key, in which method.

A name that a stranger owns can be made to lead to 127.0.0.1 (DNS rebinding): his page then reaches whatever listens
there, and reads the answers.  His name is what gives it away, for the browser sends it as `Host`.  A page can also ask
without reading the answer; the browser then names the page as `Origin`.

| asked for as `Host` | |
|---|---|
| `localhost`, `*.localhost`, an address of this machine alone (127.0.0.1, ::1, 0.0.0.0) | answered |
| the address at which the connection arrived | answered: no name leads there |
| a name of `allowed_hosts` | answered |
| anything else | refused |

The same holds for the host of an `Origin`; one that is no web page (an extension, an application) is answered, and
`null` is refused, for any page can send it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hmac import compare_digest
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from streamparse.proxy.asgi import RequestRefused, Scope

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/\s]+)(?::[0-9]*)?", re.IGNORECASE)


def check_hosts(scope: Scope, allowed: Sequence[str]) -> None:
    """Raise `RequestRefused` if a request is for a foreign host, or from a page of one.

    Its message says how to allow it.  Without `allowed` only connections that arrive on this machine's own address
    (127.0.0.1, ::1) are looked at.
    """
    server = scope.get("server")
    arrived = server[0] if server else ""
    if "*" in allowed or not (allowed or _is_local_address(arrived)):
        return
    for name, value in scope["headers"]:
        text = value.decode("latin-1")
        if name.lower() == b"host":
            _check("host", _read_host(text), arrived, allowed)
        elif name.lower() == b"origin" and (page := _read_page(text)) is not None:
            _check("origin", page, arrived, allowed)


_TUNNELS: Final = ("CONNECT", "TRACE")
_BEARER: Final = re.compile(rb"\Abearer +", re.IGNORECASE)
_KEYS: Final = (b"authorization", b"x-api-key", b"x-goog-api-key")


def check_request(scope: Scope) -> None:
    """Raise `RequestRefused` for what no client of a model sends: a tunnel, an echo, a body of two lengths.

    A body with both a length and a coding may be read otherwise by the next server (RFC 9112, section 6.1).
    """
    if scope["method"] in _TUNNELS:
        raise RequestRefused(f"{scope['method']} is not answered here", 405, is_read=False)
    names = {name.lower() for name, _ in scope["headers"]}
    if {b"content-length", b"transfer-encoding"} <= names:
        raise RequestRefused("a body has a length or a transfer coding, and not both", is_read=False)


def check_token(scope: Scope, token: str) -> None:
    """Raise `RequestRefused` if there is a token and a request does not bring it as its key."""
    if not token:
        return
    brought = [_BEARER.sub(b"", value) for name, value in scope["headers"] if name.lower() in _KEYS]
    if not any(compare_digest(value, token.encode()) for value in brought):
        raise RequestRefused("the key of the request is not the one for this proxy", 401, "invalid_api_key")


def _check(header: str, host: str, arrived: str, allowed: Sequence[str]) -> None:
    if host in ("localhost", arrived) or host.endswith(".localhost") or _is_local_address(host):
        return
    if not any(_is_match(host, name.lower()) for name in allowed):
        words = f"the {header} {host!r} may not ask here: see --allow-host (allowed_hosts) if it is yours"
        raise RequestRefused(words, 403, "permission_error", is_read=False)


def _is_match(host: str, name: str) -> bool:
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _read_host(authority: str) -> str:
    """Return the host of `host:port` in lower case; anything else as it came, which matches nothing."""
    found = _HOST.fullmatch(authority)
    return found[1].strip("[]").lower().removesuffix(".") if found else authority


def _read_page(origin: str) -> str | None:
    """Return the host of the page that an origin names; None if it is no web page."""
    scheme, separator, authority = origin.partition("://")
    if not separator:
        return origin
    return _read_host(authority) if scheme.lower() in ("http", "https") else None


def _is_local_address(host: str) -> bool:
    """Whether it is an address by which a machine reaches itself."""
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified
