"""Where the servers of each wire are asked for an answer, and where they look for the key.

The version in a path is the base's own if it has one: what is `/v1/models` elsewhere is `/api/paas/v4/models` at a
server whose base is `/api/paas/v4`, and `/v1beta/openai/models` under `/v1beta/openai`.  As in the
official clients, a base for OpenAI's wires has the version wherever it is in it, and one for others if it ends in it.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, urlsplit

from streamparse.unknown_names import list_known

PATHS: Final = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
    "ollama-chat": "/api/chat",
    "cohere": "/v2/chat",
}
"""Where each wire is asked; Gemini is asked for a stream by another method."""

KEY_HEADERS: Final = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}
"""Where a server looks for the key, by its wire; all others take `authorization: Bearer`."""

ANTHROPIC_VERSION: Final = "2023-06-01"
"""The `anthropic-version` that is written and read here."""

USUAL_WIRE: Final = "openai-chat"
"""What a server speaks of which nothing else is known."""

CLIENTS: Final = frozenset(
    (
        *("httpx", "httpcore", "aiohttp", "requests", "urllib3", "http", "anyio"),
        *("openai", "anthropic", "google", "botocore"),
    )
)
"""The packages of HTTP clients and of the SDKs whose exceptions say that the transport failed."""

_ENDPOINTS: Final = {
    "openai-chat": re.compile(r"/chat/completions$"),
    "openai-responses": re.compile(r"/responses$"),
    "anthropic": re.compile(r"/messages$"),
    "gemini": re.compile(r":(?:streamG|g)enerateContent$"),
    "ollama-chat": re.compile(r"/api/chat$"),
    "cohere": re.compile(r"/v\d/chat$"),
    "bedrock-converse": re.compile(r"/converse-stream$"),
}
"""How the path of a URL ends that is the endpoint already, and no base."""

_SLASH: Final = rb"(?:[/\\]|%2f|%5c)"
_DOTS: Final = re.compile(rb"(?i)" + _SLASH + rb"(?:\.|%2e){1,2}(?:" + _SLASH + rb"|$)")
_VERSION: Final = re.compile(rb"/v\d\w*(?=/)")
_OWN_VERSION: Final = re.compile(rb"/v\d\w*$")
_OWN_VERSION_OPENAI: Final = re.compile(rb"/v\d\w*(?:/|$)")
_USUAL_VERSION: Final = b"/v1"
_GEMINI_BASE: Final = re.compile(r"/(?:v\d\w*|publishers/[^/]+)$")
_COLLECTIONS: Final = ("models", "tunedModels")


def find_answer_url(url: str, wire: str, model: str) -> str:
    """Return the URL that is asked for a stream: under a server's base, or the endpoint itself if `url` is one.

    A query stays.  Raises ValueError for what is not an HTTP URL, a wire that is not asked by HTTP with a key, and a
    model that cannot be part of a path.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or any(sign.isspace() for sign in url):
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")  # no password, no key
        shown = bare.geturl()
        raise ValueError(f"{shown!r} is no http:// or https:// URL")
    if wire not in _ENDPOINTS:
        raise ValueError(f"no path is known at which a server of {wire!r} is asked; {list_known(wire, _ENDPOINTS)}")
    base = parts.path.rstrip("/")
    if _ENDPOINTS[wire].search(base):
        return parts._replace(path=base, fragment="").geturl()
    path, _, query = write_path(wire, model, base, streamed=True).partition("?")
    if not is_plain_path(path.encode()):
        raise ValueError(f"the model {model!r} cannot be part of a path")
    joined = join_path(base.encode(), path.encode(), wire).decode()
    queries = "&".join(filter(None, (parts.query, query)))
    return parts._replace(path=joined, query=queries, fragment="").geturl()


def is_local(url: str) -> bool:
    """Whether a server runs on this machine or near it: its host is `localhost`, or an address that is not public.

    Such a server runs open models, and may print their calls as text on any wire.
    """
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_private or address.is_link_local


def write_key_headers(wire: str, key: str | None) -> dict[str, str]:
    """Return the headers that a server of this wire wants with each request: the key, and the version of the API."""
    written = {"anthropic-version": ANTHROPIC_VERSION} if wire == "anthropic" else {}
    place = KEY_HEADERS.get(wire)
    if key:
        written |= {place: key} if place else {"authorization": f"Bearer {key}"}
    return written


def write_path(wire: str, model: str, base: str, *, streamed: bool) -> str:
    """Return the path, and the query, at which a server is asked for an answer; `base` is the path of its base URL.

    Gemini's names the model and the method.  Its version is the base's own if that ends in one, and left out after a
    publisher (Vertex AI).  Bedrock's is that of a stream.
    """
    if wire == "bedrock-converse":
        return f"/model/{quote(model, safe='')}/converse-stream"
    if wire != "gemini":
        return PATHS[wire]
    collection, slash, name = model.partition("/")
    if not slash or collection not in _COLLECTIONS:
        collection, name = "models", model
    method = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    version = "" if _GEMINI_BASE.search(base) else "/v1beta"
    return f"{version}/{collection}/{quote(name, safe='')}:{method}"


def join_path(base: bytes, target: bytes, wire: str) -> bytes:
    """Return the target's path under a base path; a version that the base has is left out of the target."""
    version = _VERSION.match(target)
    if version and _has_version(base, version[0], wire):
        target = target[version.end() :]
    return base + target


def is_plain_path(path: bytes) -> bool:
    """Whether a path begins with `/` and has no `.` or `..` in it, which could lead out of a server's base."""
    return path.startswith(b"/") and _DOTS.search(path) is None


def _has_version(base: bytes, version: bytes, wire: str) -> bool:
    """Whether a base has this version, or one in place of the version that clients usually name."""
    own = _OWN_VERSION_OPENAI if wire.startswith("openai-") else _OWN_VERSION
    return base.endswith(version) or (version == _USUAL_VERSION and own.search(base) is not None)
