"""Start llama.cpp's own HTTP server, from the xllamacpp wheel, on the copy model.

    python -m live_server.serve [--template hermes] [--pad-layers 0] [--slots 2]      (from the folder `examples`)

It prints `READY http://127.0.0.1:PORT` and runs until its standard input ends, so that it never outlives the process
that started it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import xllamacpp  # type: ignore[import-untyped]

from live_server.model import make_model

__all__ = ["main"]

TEMPLATES = Path(__file__).with_name("templates")


def main() -> None:
    """Make the model, serve it, stop at the end of standard input."""
    given = _arguments()
    template = (TEMPLATES / f"{given.template}.jinja").read_text(encoding="utf-8")
    with TemporaryDirectory(prefix="live_server_") as folder:
        model = Path(folder) / "copy.gguf"
        make_model(model, template, given.pad_layers)
        server = xllamacpp.Server(_parameters(model, given))
        print("READY", server.listening_address, flush=True)
        sys.stdin.read()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--template", choices=sorted(file.stem for file in TEMPLATES.glob("*.jinja")), default="hermes")
    parser.add_argument("--pad-layers", type=int, default=0, help="120 slow the model to about 200 tokens a second")
    parser.add_argument("--slots", type=int, default=2, help="answers at one time")
    parser.add_argument("--context", type=int, default=4096, help="tokens of an answer and its prompt")
    parser.add_argument("--pure-content", action="store_true", help="do not read calls out of the answers")
    return parser.parse_args()


def _parameters(model: Path, given: argparse.Namespace) -> xllamacpp.CommonParams:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {"copy"}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = given.slots
    parameters.n_ctx = given.slots * given.context
    # More threads only wait for each other: the matrices are tiny.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_threads_http = given.slots + 2
    parameters.warmup = False
    parameters.ui = False
    parameters.use_jinja = True
    parameters.force_pure_content_parser = given.pure_content
    return parameters


if __name__ == "__main__":
    main()
