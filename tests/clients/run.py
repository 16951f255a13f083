"""Run every client through the proxy in front of a real llama.cpp that leaves calls in its text: `make clients`.

What is expected is what the model was made to say: three rounds, three calls, the last text.  `--write` puts the
table into the page of clients.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

TESTS: Final = Path(__file__).parents[1]
ROOT: Final = TESTS.parent
sys.path[:0] = [str(TESTS), str(ROOT / "examples")]

from coding_agents import AGENTS, run_agent  # noqa: E402 - from the paths above
from libraries import CALLED, LIBRARIES, Run  # noqa: E402
from live_server import Scripted, running_server  # noqa: E402
from serving import serving  # noqa: E402

from streamparse import proxy  # noqa: E402

PAGE: Final = ROOT / "docs" / "proxy" / "clients.md"
MARKS: Final = ("<!-- clients: written by make clients -->", "<!-- end of clients -->")
CALLS: Final = [
    ("get_weather", {"city": "Zürich", "days": 3}),
    ("search", {"query": 'the "Rock", é'}),
    ("get_weather", {"city": "Tromsø", "days": 1}),
]
WRITTEN: Final = [
    'I look first.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}\n</tool_call>',
    '<tool_call>\n{"name": "search", "arguments": {"query": "the \\"Rock\\", é"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Tromsø"}}\n</tool_call>',
    "It is sunny everywhere, é.",
]
"""What the model says in the three rounds."""
OBJECTS: Final = [
    ("get_weather", {"city": city, "days": days}) for city, days in (("Zürich", 3), ('"Rock", é', 1), ("x", 2))
]
ANSWERS: Final = {
    "instructor": (
        [
            f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"
            for name, arguments in OBJECTS
        ],
        OBJECTS,
        "",
    )
}
"""What it says to a client without a loop, the calls in it, and the last text."""


def main() -> int:
    """Run all clients, and print a table; the status is 1 if one of them failed."""
    given = _read_arguments()
    os.environ.update(OPENAI_API_KEY="none", ANTHROPIC_API_KEY="none", LITELLM_LOCAL_MODEL_COST_MAP="True")
    rows = [] if given.agents else run_libraries(given.only)
    rows += [] if given.libraries else run_agents(given.only)
    table = "\n".join(["| client | API | streamed | whole |", "|---|---|---|---|", *rows])
    print(table)
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(MARKS[0])
        PAGE.write_text(before + f"{MARKS[0]}\n\n{table}\n\n{MARKS[1]}" + rest.partition(MARKS[1])[2], encoding="utf-8")
    return int(any("fails" in row for row in rows))


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only clients whose name holds this")
    parser.add_argument("--libraries", action="store_true", help="no coding agents")
    parser.add_argument("--agents", action="store_true", help="coding agents alone")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    return parser.parse_args()


def run_libraries(only: str) -> list[str]:
    """Run the libraries, streaming and whole; return the rows of the table."""
    rows = []
    with running_server("hermes", pure_content=True) as server, serving(proxy.app(server.url)) as url:
        for (name, distribution, api), run in LIBRARIES.items():
            if only.lower() in name.lower():
                script = ANSWERS.get(name, (WRITTEN, CALLS, WRITTEN[-1]))
                found = [_try(run, script, server, url, streamed=streamed) for streamed in (True, False)]
                rows.append(f"| {distribution} {version(distribution)} | {api} | {found[0]} | {found[1]} |")
                print(rows[-1], file=sys.stderr)
    return rows


def _try(run: Run, script: tuple[list[str], list[Any], str], server: Scripted, url: str, *, streamed: bool) -> str:
    written, expected, last = script
    CALLED.clear()
    try:
        text = run(url, server.script_turns(written, "Weather?"), streamed)
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its result
        return f"fails: {type(error).__name__}: {str(error)[:200]}".replace("\n", " ")
    if sorted(map(str, CALLED)) != sorted(map(str, expected)):  # some run the tools of a round at once
        return f"fails: called {CALLED}"
    return "works" if text.strip() == last else f"fails: said {text!r}"


def run_agents(only: str) -> list[str]:
    """Run the coding agents; return the rows of the table."""
    rows = []
    for name, agent in AGENTS.items():
        if only.lower() in name.lower():
            rows.append(f"| {name} {agent.read_version()} | {agent.api} | {run_agent(agent)} | |")
            print(rows[-1], file=sys.stderr)
    return rows


if __name__ == "__main__":
    sys.exit(main())
