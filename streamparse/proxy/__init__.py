"""A proxy in front of a server: a client that speaks one wire gets correct tool calls from a server of another.

    uvicorn.run(streamparse.proxy.app(upstream="http://127.0.0.1:8080"))

It needs the extra `proxy`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.dialects import Dialects
from streamparse.limits import Limits
from streamparse.providers.endpoints import PATHS
from streamparse.proxy.application import Proxy
from streamparse.proxy.asgi import LOGGER
from streamparse.proxy.settings import Settings, ToolMode

__all__ = ["LOGGER", "PATHS", "Proxy", "Settings", "app"]


def app(
    upstream: str,
    wire: str = "openai-chat",
    *,
    dialects: Dialects = "auto",
    tools: ToolMode = "native",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    allowed_hosts: Iterable[str] = (),
    record: str | None = None,
    **others: Any,
) -> Proxy:
    """Return the ASGI application in front of `upstream`, a server that speaks `wire`.

    `dialects` are looked for in its text.  With `tools="prompt"` the server gets the tools in the system prompt, and
    not in a field of their own.  `allowed_hosts` are the names by which it may be asked besides those of this machine
    (`"*"`: any).  With `record` the server's answers are recorded to that folder, without credentials.  `others` are
    further fields of `Settings`, such as `model`, `key` and `token`.  Raises ValueError for an unknown name and for
    what is not a URL.
    """
    hosts = (allowed_hosts,) if isinstance(allowed_hosts, str) else tuple(allowed_hosts)
    settings = Settings(
        upstream=upstream,
        wire=wire,
        dialects=dialects,
        tools=tools,
        limits=limits,
        allowed_hosts=hosts,
        record=record,
        **others,
    )
    return Proxy(settings)
