"""The import rule: a module imports only from its own room and from rooms below it, and nothing imports in a circle."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import streamparse

PACKAGE = Path(streamparse.__file__).parent
ROOMS = (
    ("events", "errors", "limits", "finish_reasons", "usage", "patterns", "plugins", "lazy", "loss", "unknown_names",
     "findings"),
    ("json",), ("schema",), ("tools",), ("response",), ("sink", "stats", "protocols"), ("frames",), ("assembler",),
    ("reading",), ("writing",), ("emitting",), ("dialects",), ("providers",), ("parser",),
    ("testing", "negotiate", "detection"), ("repair",), ("middleware",), ("runtime",), ("proxy",), ("bulk",), ("cli",),
    ("__main__",),
)  # fmt: skip
"""From below to above; those of one row do not know each other."""
FLOORS = {"dialects": ("names", "engine", "grammars", "table")}
"""What a room has of its own floors, from below to above; its other modules stand on them."""
SHAPES = {"openai_chat", "anthropic"}
"""Providers' folders that other providers may stand on: API shapes that several speak."""
OUTSIDE = {"msgspec", "regex", "typing_extensions"}
TASKS = {"anyio", "sniffio"}
BY_ROOM = {
    "schema": {"jsonschema_rs"}, "proxy": {"httpx"}, "runtime": {"httpx"}, "bulk": {"pyarrow"},
    "cli": {"tqdm", "uvicorn", "httpx"}, "testing": {"pytest"},
}  # fmt: skip
"""What one room alone may import, in a function or in a module that is imported in one."""
CLIENTS = {"httpx", "httpx_sse", "requests", "aiohttp", "openai", "anthropic", "google", "ollama", "boto3", "mistralai"}
TABLES = {"pyarrow", "ray", "tqdm"}

RANKS = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@cache
def _imports(path: Path) -> set[str]:
    """The dotted names of what a module imports, in or out of functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def _modules_imported(name: str) -> set[str]:
    """The modules of this package that one of them imports, as they are named here."""
    found = set()
    for dotted in _imports(MODULES[name]):
        if dotted.split(".")[0] == "streamparse":
            inside = dotted.removeprefix("streamparse").removeprefix(".")
            while inside and inside not in MODULES:
                inside = inside.rpartition(".")[0]
            found.add(inside or "__init__")
    return found


def _may_import(name: str, other: str) -> bool:
    room, other_room = name.split(".", maxsplit=1)[0], other.split(".", maxsplit=1)[0]
    if room != other_room:
        return other_room != "__init__" and RANKS[other_room] < RANKS[room]
    if room in FLOORS:
        floors = FLOORS[room]
        mine, theirs = ((floors.index(part) if part in floors else len(floors)) for part in (_part(name), _part(other)))
        return theirs <= mine
    if room == "providers" and name.count(".") > 1:
        return _part(other) in {_part(name), *SHAPES}
    return True


def _part(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


@pytest.mark.parametrize("name", [name for name in MODULES if name != "__init__"])
def test_a_module_imports_only_from_its_own_room_and_from_those_below(name: str) -> None:
    upwards = {other for other in _modules_imported(name) if not _may_import(name, other)}
    if name.startswith("cli"):
        upwards.discard("__init__")  # the version
    assert upwards == set()


def test_a_provider_stands_on_at_most_one_shape() -> None:
    folders: dict[str, set[str]] = {}
    for name in MODULES:
        if name.startswith("providers.") and name.count(".") > 1:
            used = {_part(other) for other in _modules_imported(name) if other.startswith("providers.")} & SHAPES
            folders.setdefault(_part(name), set()).update(used - {_part(name)})
    assert {folder: shapes for folder, shapes in folders.items() if len(shapes) > 1} == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    above = {name: _modules_imported(name) - {name} for name in MODULES if name != "__init__"}
    while leaves := [name for name, below in above.items() if not below & above.keys()]:
        for name in leaves:
            del above[name]
    assert sorted(above) == []


@pytest.mark.parametrize("name", MODULES)
def test_nothing_below_the_parsers_knows_of_tasks_and_nothing_of_clients(name: str) -> None:
    room = name.split(".", maxsplit=1)[0]
    outside = {dotted.split(".")[0] for dotted in _imports(MODULES[name])} - {"streamparse"} - sys.stdlib_module_names
    outside -= BY_ROOM.get(room, set())
    assert not outside & CLIENTS
    assert outside <= OUTSIDE | TASKS
    if room != "__init__" and RANKS[room] < RANKS["parser"]:
        assert not outside & TASKS


def test_the_page_about_the_architecture_lists_every_room() -> None:
    page = (PACKAGE.parent / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| layer | room |") : page.index("```text")]
    assert [room for room in RANKS if room != "__main__" and f"`{room}`" not in table] == []
    assert {name.split(".")[0] for name in MODULES} - {"__init__"} == set(RANKS)


def test_importing_the_library_loads_neither_tasks_nor_clients() -> None:
    program = "import sys, streamparse; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "msgspec" in loaded
    assert not {*loaded} & (TASKS | CLIENTS | TABLES | {"trio", "asyncio", "jsonschema_rs"})


def test_importing_the_library_loads_no_room_that_is_not_asked_for() -> None:
    program = "import sys, streamparse; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("streamparse.")}
    assert not rooms & {"bulk", "cli", "emitting", "middleware", "negotiate", "proxy", "repair", "runtime", "writing"}


def test_importing_the_library_loads_no_wire_and_nothing_that_runs_tools() -> None:
    program = "import sys, streamparse; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name.startswith("streamparse.providers.") and name.endswith(".wire")]
    tools = {name.removeprefix("streamparse.tools.") for name in loaded if name.startswith("streamparse.tools.")}
    assert tools == {"declaration", "definitions", "toolset"}


def test_a_wire_is_loaded_when_it_is_asked_for_and_no_other() -> None:
    program = """
import sys, streamparse as sp
sp.StreamParser("anthropic")
print(*(name for name in sys.modules if name.startswith("streamparse.providers.") and name.endswith(".wire")))
"""
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["streamparse.providers.anthropic.wire"]


def test_importing_the_library_compiles_no_pattern_and_a_first_parser_only_those_of_its_tools() -> None:
    program = """
import json, re, msgspec
compiled, compile_pattern = [], re._compile
re._compile = lambda pattern, flags: compiled.append(pattern) or compile_pattern(pattern, flags)
import streamparse as sp
print(len(compiled), end=" ")
sp.StreamParser("openai-chat", tools=[{"name": "look_up", "parameters": {"type": "object"}}])
print(sum(map(len, compiled)))
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    at_import, characters = map(int, printed)
    assert at_import == 0
    assert 0 < characters < 500  # a filter for all markers has some thousands
