"""Start the server for as long as a `with` block runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from live_server.scripted import Scripted

__all__ = ["is_available", "running_proxy", "running_server"]

EXAMPLES = Path(__file__).parents[1]


def is_available() -> bool:
    """Whether the packages that the server needs are installed (`pip install -e '.[live]'`)."""
    return all(find_spec(name) for name in ("gguf", "numpy", "xllamacpp"))


@contextmanager
def running_server(
    template: str = "hermes",
    *,
    pad_layers: int = 0,
    slots: int = 2,
    context: int = 4096,
    pure_content: bool = False,
) -> Iterator[Scripted]:
    """A real llama.cpp server on a free local port, in a process of its own.

    `template` names a file in `templates/`, `pad_layers` slow the model down (120: about 200 tokens a second on one
    core), `slots` is how many answers it writes at one time, `context` how many tokens each of these and its prompt may
    have (16384 at most).  With `pure_content` the server does not read the calls
    out of an answer, even where the request has tools.  Raises RuntimeError with the server's log when it does not
    start.
    """
    options = ["--template", template, "--pad-layers", str(pad_layers), "--slots", str(slots)]
    options += ["--context", str(context)]
    options += ["--pure-content"] if pure_content else []
    command = [sys.executable, "-m", "live_server.serve", *options]
    with TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, cwd=EXAMPLES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        with process:  # leaving it closes the server's standard input, which ends it
            server = Scripted(_wait_for_url(process, log))
            try:
                yield server
            finally:
                server.close()


@contextmanager
def running_proxy(upstream: str) -> Iterator[str]:
    """`streamparse proxy` in front of a server, on a free local port, in a process of its own; gives its URL."""
    command = [sys.executable, "-m", "streamparse", "proxy", "--quiet", "--port", "0", "--upstream", upstream]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[2].rstrip(",")
        finally:
            process.terminate()


def _wait_for_url(process: subprocess.Popen[str], log: IO[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        word, _, url = line.strip().partition(" ")
        if word == "READY":
            return url
    log.seek(0)
    raise RuntimeError(f"the server did not start:\n{log.read()[-2000:]}")
