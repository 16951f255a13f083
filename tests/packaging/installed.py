"""What must work where the library alone is installed: `make dist` runs it in a new environment, not in the checkout.

python installed.py CHECKOUT
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from typing import Any

LAZY = ("httpx", "jsonschema_rs", "asyncio")


def main() -> None:
    """Try each thing; an exception ends it."""
    checkout = Path(sys.argv[1])
    import_lightly(checkout)
    run_first_program(checkout)
    parse_on_the_command_line(checkout)
    check_a_schema()


def import_lightly(checkout: Path) -> None:
    """The import is that of the environment, and loads nothing that is imported on use only."""
    program = f"import sys, streamparse; print(streamparse.__file__, *({LAZY!r} & sys.modules.keys()))"
    program = program.replace(repr(LAZY), repr(set(LAZY)))
    where, *loaded = run("-c", program).split()
    assert not Path(where).is_relative_to(checkout / "streamparse"), where
    assert not loaded, loaded


def run_first_program(checkout: Path) -> None:
    """The README's first program gives an answer, with the base install alone."""
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```\n", readme, re.MULTILINE | re.DOTALL)[0]
    Path("README.md").write_text("A library.", encoding="utf-8")
    server = HTTPServer(("127.0.0.1", 0), make_handler(checkout / "tests" / "docs" / "model_server.py"))
    Thread(target=server.serve_forever, daemon=True).start()
    shown = run("-c", program.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{server.server_port}"))
    server.shutdown()
    assert shown == "This is what the README says.\n", shown


def parse_on_the_command_line(checkout: Path) -> None:
    """The command reads a recorded body."""
    body = checkout / "fixtures" / "recorded" / "vllm-parallel-calls.body"
    events = [json.loads(line) for line in run("-m", "streamparse", "parse", "--json", str(body)).splitlines()]
    assert events[-1]["type"] == "done", events[-1]
    assert run("-m", "streamparse", "--version").startswith("streamparse ")


def check_a_schema() -> None:
    """Arguments are checked against a schema of a tool's own, for which jsonschema-rs is needed."""
    run(
        "-c",
        "import streamparse as sp; from streamparse.repair import preflight\n"
        "tool = sp.Tool('go', 'Go.', {'type': 'object', 'properties': {'n': {'type': 'integer', 'minimum': 3}}})\n"
        "call = lambda n: sp.ToolCall(id='c', name='go', arguments={'n': n}, raw='', source='native')\n"
        "assert preflight(call(3), [tool]).ok and not preflight(call(2), [tool]).ok",
    )


def make_handler(script: Path) -> type[BaseHTTPRequestHandler]:
    """Return what answers each request as the scripted model does."""
    spec = spec_from_file_location("model_server", script)
    assert spec is not None
    assert spec.loader is not None
    model: Any = module_from_spec(spec)
    spec.loader.exec_module(model)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for data in model.answer(request):
                self.wfile.write(b"data: " + data + b"\n\n")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


def run(*arguments: str) -> str:
    """Run Python with warnings as errors, and return what it printed."""
    done = subprocess.run([sys.executable, "-W", "error", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    main()
