"""Each text of `fixtures/texts` gives the events beside it, in every cut; its promise is the sentence it proves.

`NAME.json` lists the cases: a promise, a text, and how it is read (`tools`: true, or definitions;
`dialects`, `reasoning`, `quoted`).
`NAME.events.json` holds the merged events by promise; `--update-golden -k NAME` writes those of one file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, plain

import streamparse as sp
from streamparse.tools import Toolset

FOLDER = Path(__file__).parents[2] / "fixtures" / "texts"
NAMES = sorted(file.stem for file in FOLDER.glob("*.json") if not file.stem.endswith(".events"))
TOOLS = [
    {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
]


def _events(case: dict[str, Any]) -> list[dict[str, Any]]:
    tools = Toolset.of(TOOLS if case.get("tools") is True else case.get("tools"))  # read once for all cuts
    dialects, options = case.get("dialects", "auto"), {key: case[key] for key in ("reasoning", "quoted") if key in case}
    try:
        events = assert_same_in_every_cut(lambda: sp.TextParser(dialects, tools=tools, **options), case["text"])
    except AssertionError as error:
        error.add_note(f"the promise: {case['promise']}")
        raise
    return plain(events)


def _as_lines(events: dict[str, list[dict[str, Any]]]) -> str:
    entries = (
        json.dumps(promise, ensure_ascii=False)
        + ": [\n"
        + ",\n".join("  " + json.dumps(event, ensure_ascii=False) for event in told)
        + "\n]"
        for promise, told in events.items()
    )
    return "{\n" + ",\n".join(entries) + "\n}\n"


@pytest.mark.parametrize("name", NAMES)
def test_golden_text(name: str, update_golden: bool) -> None:
    cases = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    golden = FOLDER / f"{name}.events.json"
    events = {case["promise"]: _events(case) for case in cases}
    assert len(events) == len(cases)
    if update_golden:
        golden.write_text(_as_lines(events), encoding="utf-8")
    assert events == json.loads(golden.read_text(encoding="utf-8"))


def test_the_texts_belong_to_dialects() -> None:
    assert set(NAMES) <= {*sp.DIALECTS, "fences", "thoughts"}
