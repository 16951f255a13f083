"""`streamparse run -- COMMAND`: a coding agent, and a proxy for it alone.

The proxy listens on a free port of this machine, takes only a token that is made for this run, and ends with the agent.
The user's keys for other servers reach neither the agent nor the server.
"""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from streamparse import proxy
from streamparse.cli.agents import Launch, Server, make_environment, prepare_launch
from streamparse.cli.options import CommandError
from streamparse.cli.proxy import listen, log_to_stderr, make_server
from streamparse.cli.proxy_options import add_options, make_proxy
from streamparse.proxy.counters import Counters

_USUAL_NAME: Final = "local"
"""The model that an agent is told where the server lists several and none is named."""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `run` to the commands."""
    command = commands.add_parser(
        "run",
        help="run a coding agent on any server: streamparse run --upstream URL -- claude",
        description="Start a proxy in front of a server, and a command (claude, codex, opencode or any other) that asks"
        " it. The exit status is the command's.",
    )
    add_options(command)
    command.add_argument("--keep-tools", action="store_true", help="leave Codex the tools that its own provider runs")
    command.add_argument("--verbose", action="store_true", help="log each request, and not failures alone")
    command.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the agent and its arguments")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    command: list[str] = arguments.command[arguments.command[:1] == ["--"] :]
    if not command:
        raise CommandError("no command to run: streamparse run --upstream URL -- claude")
    token = secrets.token_urlsafe(24)
    application = make_proxy(arguments, token=token)
    log_to_stderr(logging.INFO if arguments.verbose else logging.WARNING)
    settings = application.settings
    with _serve(application) as url:
        server = Server(url, token, settings.model or _USUAL_NAME, settings.context)
        launch = prepare_launch(command, server, keep_tools=arguments.keep_tools)
        _show(launch, settings.public_url)
        status = _run_command(launch)
    print(f"streamparse: {summarize(application.counters)}", file=sys.stderr)
    return status


@contextmanager
def _serve(application: proxy.Proxy) -> Iterator[str]:
    """Serve on a free port of this machine, in a thread; give the URL, where connections wait until it serves."""
    with listen("127.0.0.1", 0) as listener:
        server: Any = make_server(application, [])
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _show(launch: Launch, upstream: str) -> None:
    """Print what was set, without the token, so that a user can see it and set it otherwise."""
    lines = [f"streamparse: a proxy for this run, in front of {upstream}"]
    lines += [f"  {name}={'(made for this run)' if _is_secret(name) else value}" for name, value in _list_plain(launch)]
    print("\n".join(lines), file=sys.stderr)


def _list_plain(launch: Launch) -> list[tuple[str, str]]:
    return [(name, value) for name, value in launch.variables.items() if "CONFIG_CONTENT" not in name]


def _is_secret(name: str) -> bool:
    return name.endswith(("_TOKEN", "_KEY"))


def _run_command(launch: Launch) -> int:
    """Run the agent in the foreground and return its exit status; a signal is the agent's own affair."""
    environment = make_environment(launch, os.environ)
    previous = signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to the agent, too
    try:
        try:
            process = subprocess.Popen(launch.command, env=environment)
        except OSError as error:
            shown = shlex.quote(launch.command[0])
            raise CommandError(f"{shown} cannot be run: {error.strerror or error}") from error
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            status = process.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    finally:
        signal.signal(signal.SIGINT, previous)
    return status if status >= 0 else 128 - status


def summarize(counters: Counters) -> str:
    """Return one line about what the proxy found."""
    calls = ", ".join(f"{number} {dialect}" for dialect, number in counters.list_calls()) or "no"
    counts = {"requests": "requests", "repaired_calls": "repaired", "errors": "errors"}
    requests, repaired, errors = (f"{counters.count(name)} {word}" for name, word in counts.items())
    return f"{requests}, {calls} calls, {repaired}, {errors}"
