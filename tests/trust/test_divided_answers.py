"""Calls in the text that something else in the answer divides or follows: what of them runs.

`fixtures/runtime/divided_answers.json` holds the answers, each with what must run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from running import make_frames, run_answer

import streamparse as sp

ANSWERS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "runtime" / "divided_answers.json").read_text("utf-8")
)["answers"]
REQUIRED = {"read": "path", "write": "path", "backup": "path", "bash": "command", "nope": "x"}


def make_tools(effect: str, ran: list[str]) -> list[sp.Tool]:
    def make(name: str) -> sp.Tool:
        async def run(**arguments: str) -> str:
            ran.append(f"{name} {arguments[REQUIRED[name]]}")
            return "done"

        parameter = REQUIRED[name]
        schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
        declared: Any = "read" if name == "read" else effect
        return sp.Tool(name, "", schema, run, effect=declared)

    return [make(name) for name in REQUIRED if name != "nope"]


def write_parts(answer: dict[str, Any]) -> list[Any]:
    def write(part: Any) -> Any:
        if isinstance(part, str) or "reasoning_content" in part:
            return part
        name = part.get("text_call") or part["native_call"]
        arguments = {REQUIRED[name]: part["with"]}
        if "native_call" in part:
            return {"native": (name, arguments)}
        return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"

    return [write(part) for part in answer["parts"]]


@pytest.mark.parametrize("effect", ["write", "idempotent"])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["name"])
def test_of_a_divided_answer_runs_what_is_written_next_to_it(answer: dict[str, Any], effect: str) -> None:
    ran: list[str] = []
    tools = make_tools(effect, ran)
    results = anyio.run(run_answer, make_frames(write_parts(answer)), tools)
    assert sorted(ran) == sorted(answer["runs"])
    refused = [
        result.failure for result in results if result.failure is not None and result.tool_name in ("write", "bash")
    ]
    assert {failure.code for failure in refused} <= {"divided", "duplicate_call"}


def test_there_are_answers_enough() -> None:
    assert len(ANSWERS) == 26
