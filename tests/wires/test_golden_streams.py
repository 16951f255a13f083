"""Each stream of `fixtures/streams` gives the events beside it, in every cut; its name is the sentence it proves.

`NAME.sse` or `NAME.ndjson` is the body, `NAME.events.json` the merged events, a line of `index.toml` how it is parsed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, plain

import streamparse as sp
from streamparse.tools import Toolset

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
INDEX: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
TOOLS = {tool["name"]: tool for tool in json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))}


def _maker(name: str) -> Callable[[], sp.StreamParser]:
    options = dict(INDEX[name])
    tools = Toolset.of(TOOLS[tool] for tool in options.pop("tools", ()))
    return partial(sp.StreamParser, options.pop("wire"), tools=tools, **options)


def _as_lines(events: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(event, ensure_ascii=False) for event in events) + "\n]\n"


def test_every_stream_is_in_the_index() -> None:
    assert {file.name for file in FOLDER.iterdir() if file.suffix in (".sse", ".ndjson")} == set(INDEX)


@pytest.mark.parametrize("name", INDEX)
def test_golden_stream(name: str, update_golden: bool) -> None:
    stream = FOLDER / name
    golden = stream.with_suffix(".events.json")
    events = plain(assert_same_in_every_cut(_maker(name), stream.read_bytes()))
    if update_golden:
        golden.write_text(_as_lines(events), encoding="utf-8")
    assert events == json.loads(golden.read_text(encoding="utf-8"))
