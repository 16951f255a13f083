"""The HTTP client: an extra, loaded when it is needed; it talks to one server and to no other."""

from __future__ import annotations

from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final

from streamparse.proxy.settings import Settings

if TYPE_CHECKING:
    import httpx

__all__ = ["client_of", "httpx_module"]

_IDLE: Final = 3.0  # seconds: uvicorn, Node and llama.cpp's server let go of an idle connection after 5


def httpx_module() -> Any:
    """Return the module `httpx`."""
    import httpx  # noqa: PLC0415 - the proxy alone needs it

    return httpx


def client_of(settings: Settings) -> httpx.AsyncClient:
    """Return a client that goes nowhere but where it is sent, and adds nothing of its own.

    Neither another host (a redirect, a proxy of the environment) nor a key of ours (.netrc) comes in, and no cookie
    that the server gave to one client is sent with the request of another.
    """
    module = httpx_module()
    timeout = module.Timeout(settings.read_timeout, connect=settings.connect_timeout, pool=None)
    limits = module.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=_IDLE)
    client: httpx.AsyncClient = module.AsyncClient(
        timeout=timeout, limits=limits, follow_redirects=False, trust_env=False
    )
    client.headers.clear()
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client
