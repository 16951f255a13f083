"""`python -m peers [--rounds N] [--docs FOLDER] [--json FILE]`: measure, write the page, and check the gates."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path

from peers.gates import check_gates
from peers.measure import measure
from peers.report import write_report

_DOCS = Path(__file__).parents[2] / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="peers", description="Measure streamparse beside other libraries.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--docs", type=Path, default=_DOCS, help="the folder for comparison.md and images/")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    # No library may ask the network for prices or send traces.
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", OPENAI_AGENTS_DISABLE_TRACING="1")
    results = measure(arguments.rounds, lambda what: print(f"measuring {what}", flush=True))
    if arguments.json:
        arguments.json.write_text(json.dumps(dataclasses.asdict(results), indent=1), encoding="utf-8")
    write_report(results, arguments.docs)
    gates = check_gates(results)
    for gate in gates:
        print(f"{'passed' if gate.has_passed else 'FAILED'}  {gate.name}: {gate.figure}")
    return 0 if all(gate.has_passed for gate in gates) else 1


if __name__ == "__main__":
    sys.exit(main())
