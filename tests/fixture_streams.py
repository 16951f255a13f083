"""The streams of `fixtures/streams`: their names, and for each its body, how it is parsed and what must come of it.

`NAME.sse`, `NAME.ndjson` or `NAME.bin` is the body, a line of `index.toml` says how it is parsed, and
`NAME.events.json` holds the merged events.  Tests collect the names, which are those of the files; all else is read
when a test asks for it, so that a stream that is still being written stops no other test.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import streamparse as sp
from streamparse.tools import Toolset

__all__ = [
    "FOLDER",
    "NAMES",
    "golden_of",
    "make_parser",
    "read_body",
    "read_golden",
    "read_index",
    "read_lines",
    "read_tools",
]

FOLDER = Path(__file__).parents[1] / "fixtures" / "streams"
NAMES = sorted(file.name for file in FOLDER.iterdir() if file.suffix in (".sse", ".ndjson", ".bin"))


@cache
def read_index() -> dict[str, dict[str, Any]]:
    """The options of each stream's parser: `wire`, the names of its `tools`, and whatever else `StreamParser` takes.

    A new stream that the file lacks is of the wire with whose name its own begins.
    """
    return {name: {"wire": wire} for name in NAMES for wire in sp.WIRES if name.startswith(f"{wire}-")} | read_lines()


def read_lines() -> dict[str, dict[str, Any]]:
    """What is written in `index.toml`."""
    return tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))


@cache
def read_tools() -> dict[str, dict[str, Any]]:
    """The definitions of the tools, by name."""
    return {tool["name"]: tool for tool in json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))}


@cache
def _read_toolset(*names: str) -> Toolset:
    return Toolset.of(read_tools()[name] for name in names)


@cache
def read_body(name: str) -> bytes:
    """The bytes of a stream."""
    return (FOLDER / name).read_bytes()


def golden_of(name: str) -> Path:
    """The file with the events of a stream."""
    return (FOLDER / name).with_suffix(".events.json")


def read_golden(name: str) -> list[dict[str, Any]]:
    """The events that must come of a stream."""
    events: list[dict[str, Any]] = json.loads(golden_of(name).read_text(encoding="utf-8"))
    return events


def make_parser(name: str, **changed: Any) -> sp.StreamParser:
    """A new parser for a stream, with the options of the index but for those that are changed."""
    options = read_index()[name] | changed
    tools = _read_toolset(*options.pop("tools", ()))
    return sp.StreamParser(options.pop("wire"), tools=tools, **options)
