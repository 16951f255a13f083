"""`streamparse proxy`: an HTTP proxy that gives clients correct tool calls from any server.

The extra `proxy` brings what it needs: an HTTP client and uvicorn.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
from importlib.util import find_spec
from typing import Any

from streamparse import proxy
from streamparse.cli.options import CommandError, add_dialect_option, read_dialects

NEEDED = ("httpx", "uvicorn")

_SHUTDOWN_SECONDS = 3  # bound: the time until the process ends
"""Seconds that answers have to end in once a signal has come."""

_HEAD_SECONDS = 30.0  # bound: connections that send nothing
"""Seconds for the head of a request, from its first byte or from the beginning of the connection."""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `proxy` to the commands."""
    command = commands.add_parser(
        "proxy",
        help="serve clients from a server, and make native calls of calls in its text",
        description="Stand between clients and a server. Clients may speak OpenAI chat (/v1/chat/completions),"
        " Anthropic (/v1/messages) or Ollama (/api/chat), whatever the server speaks; calls in its text reach them as"
        " native ones. Every other request is passed through.",
    )
    command.add_argument("--upstream", required=True, metavar="URL", help="the server: http://127.0.0.1:8080")
    wires = ", ".join(name for name in proxy.PATHS if name != "openai-chat")
    command.add_argument("--wire", default="openai-chat", help=f"what it speaks: openai-chat (the default), {wires}")
    add_dialect_option(command)
    command.add_argument("--host", default="127.0.0.1", help="where to listen; default: 127.0.0.1, this machine alone")
    command.add_argument("--port", type=int, default=8000, help="default: 8000; 0 takes a free one")
    command.add_argument(
        "--tools",
        choices=("native", "prompt"),
        default="native",
        help="hand the tools to the server (the default), or teach them to the model in the system prompt",
    )
    command.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which the proxy may be asked, and whose pages may ask, besides this machine's own"
        " (gate.example, *.example, * for any); repeatable",
    )
    command.add_argument(
        "--record", metavar="DIR", help="record the server's answers to this folder, without credentials"
    )
    command.add_argument("--quiet", action="store_true", help="log failures alone, and not each request")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CommandError(f"{' and '.join(missing)} not found: pip install 'llm-streamparse[proxy]'")
    dialects = read_dialects(arguments)
    try:
        application = proxy.app(
            arguments.upstream,
            arguments.wire,
            dialects=dialects,
            tools=arguments.tools,
            allowed_hosts=arguments.allow_host,
            record=arguments.record,
        )
    except ValueError as error:
        raise CommandError(str(error)) from error
    _log_to_stderr(logging.WARNING if arguments.quiet else logging.INFO)
    return _serve(application, arguments.host, arguments.port)


def _serve(application: proxy.Proxy, host: str, port: int) -> int:
    """Serve until a signal comes; the server's own headers are passed on, so uvicorn adds none."""
    import uvicorn  # noqa: PLC0415 - an extra

    config = uvicorn.Config(
        application,
        http=make_timed_protocol(_HEAD_SECONDS),
        ws="none",
        server_header=False,
        date_header=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    with _listen(host, port) as listener:
        address, number = listener.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        print(f"listening on http://{shown}:{number}, in front of {application.settings.public_url}", flush=True)
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _log_to_stderr(level: int) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    proxy.LOGGER.addHandler(handler)
    proxy.LOGGER.setLevel(level)
    proxy.LOGGER.propagate = False


def make_timed_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with a time limit for the head of a request.

    uvicorn itself waits for ever.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol  # noqa: PLC0415 - an extra

    base: Any = AutoHTTPProtocol

    class Timed(base):  # type: ignore[misc]
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
            self._timer = self.loop.call_later(seconds, self._abort_connection)

        def _stop_waiting(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _abort_connection(self) -> None:
            proxy.LOGGER.info("%s: no whole head of a request after %g seconds", self.client, seconds)
            self.transport.abort()

    return Timed


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether a record is more than the traceback of an answer that was cancelled because a signal came."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise CommandError(f"cannot listen on {host}:{port}: {error}") from error
