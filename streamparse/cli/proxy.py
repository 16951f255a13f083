"""`streamparse proxy`: an HTTP proxy that gives clients correct tool calls from any server.

The extra `proxy` brings what it needs: an HTTP client and uvicorn.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
from typing import Any

from streamparse import proxy
from streamparse.cli.options import CommandError
from streamparse.cli.proxy_options import add_options, make_proxy

_SHUTDOWN_SECONDS = 3  # bound: the time until the process ends
"""Seconds that answers have to end in once a signal has come."""

_HEAD_SECONDS = 30.0  # bound: connections that send nothing
"""Seconds for the head of a request, from its first byte or from the beginning of the connection."""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `proxy` to the commands."""
    command = commands.add_parser(
        "proxy",
        help="serve clients from a server, and make native calls of calls in its text",
        description="Stand between clients and a server. Clients may speak OpenAI (/v1/chat/completions, or"
        " /v1/responses), Anthropic (/v1/messages) or Ollama (/api/chat), whatever the server speaks; calls in its"
        " text reach them as native ones. Every other request is passed through.",
    )
    add_options(command)
    command.add_argument("--host", default="127.0.0.1", help="where to listen; default: 127.0.0.1, this machine alone")
    command.add_argument("--port", type=int, default=8000, help="default: 8000; 0 takes a free one")
    command.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which the proxy may be asked, and whose pages may ask, besides this machine's own"
        " (gate.example, *.example, * for any); repeatable",
    )
    command.add_argument(
        "--trust-forwarded",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="an address of a reverse proxy whose X-Forwarded-For names the client in the log; repeatable",
    )
    command.add_argument(
        "--record", metavar="DIR", help="record the server's answers to this folder, without credentials"
    )
    command.add_argument("--quiet", action="store_true", help="log failures alone, and not each request")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    application = make_proxy(arguments, allowed_hosts=tuple(arguments.allow_host), record=arguments.record)
    log_to_stderr(logging.WARNING if arguments.quiet else logging.INFO)
    return _serve(application, arguments.host, arguments.port, arguments.trust_forwarded)


def _serve(application: proxy.Proxy, host: str, port: int, trusted: list[str]) -> int:
    """Serve until a signal comes."""
    with listen(host, port) as listener:
        address, number = listener.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        named = f", asking for {application.settings.model}" if application.settings.model else ""
        print(f"listening on http://{shown}:{number}, in front of {application.settings.public_url}{named}", flush=True)
        make_server(application, trusted).run(sockets=[listener])
    return 0


def make_server(application: proxy.Proxy, trusted: list[str]) -> Any:
    """Return uvicorn's server; the headers of the proxy's server are passed on, so uvicorn adds none."""
    import uvicorn  # noqa: PLC0415 - an extra

    config = uvicorn.Config(
        application,
        http=make_timed_protocol(_HEAD_SECONDS),
        ws="none",
        server_header=False,
        date_header=False,
        access_log=False,
        log_level="warning",
        proxy_headers=bool(trusted),
        forwarded_allow_ips=trusted or None,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    return uvicorn.Server(config)


def log_to_stderr(level: int) -> None:
    """Write the proxy's log to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    proxy.LOGGER.addHandler(handler)
    proxy.LOGGER.setLevel(level)
    proxy.LOGGER.propagate = False


def make_timed_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with a time limit for the head of a request.

    uvicorn itself waits for ever.  h11, and not httptools where that is installed: with it uvicorn loses the body of a
    request that asks for an upgrade, as those of Java's client do, and takes heads and trailers of any size.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415 - an extra

    return type("Timed", (_Timed, H11Protocol), {"seconds": seconds})


_PROTOCOL: Any = object  # uvicorn's, which is an extra


class _Timed(_PROTOCOL):  # type: ignore[misc]
    seconds: float
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._timer is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.seconds, self._abort_connection)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _abort_connection(self) -> None:
        proxy.LOGGER.info("%s: no whole head of a request after %g seconds", self.client, self.seconds)
        self.transport.abort()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether a record is more than the traceback of an answer that was cancelled because a signal came."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise CommandError if it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise CommandError(f"cannot listen on {host}:{port}: {error}") from error
