"""The import rule: a module imports only from rooms of a lower rank; rooms of one rank never import each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import streamparse

PACKAGE = Path(streamparse.__file__).parent
RANKS = {
    **dict.fromkeys(("events", "errors", "limits", "patterns", "plugins", "providers", "finish_reasons", "usage"), 0),
    **dict.fromkeys(("sink", "jsonscan", "jsonread", "tools", "response", "coercion", "stats"), 1),
    **dict.fromkeys(("frames", "assembler", "protocols"), 2),
    **dict.fromkeys(("wires", "dialects", "adapters", "emit"), 3),
    **dict.fromkeys(("recover", "negotiate"), 4),
    **dict.fromkeys(("parser", "streams", "repair"), 5),
    **dict.fromkeys(("runtime", "middleware", "proxy"), 6),
    **dict.fromkeys(("cli", "__main__"), 7),
    "streamparse": 8,  # the front door
}
ONE_ROOM = ({"parser", "streams"}, {"cli", "__main__"})
"""Modules that are one room though two files."""
WITHIN_RANK_ONE = {("jsonread", "jsonscan"), ("coercion", "jsonread"), ("stats", "response"), ("tools", "coercion")}
"""Rank 1 holds small rooms that stand on each other, in this order."""
OUTSIDE = {"msgspec", "regex", "typing_extensions"}
FROM_RANK_5 = {"anyio", "sniffio"}
BY_ROOM = {"repair": {"jsonschema_rs"}, "proxy": {"httpx"}, "runtime": {"httpx"}, "cli": {"uvicorn"}}
"""What one room alone may import, and only in a function: each is an extra."""
CLIENTS = {"httpx", "httpx_sse", "requests", "aiohttp", "openai", "anthropic", "google", "ollama", "boto3", "mistralai"}

MODULES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}


DESIGN = PACKAGE.parent / "docs" / "design.md"


def _room(parts: tuple[str, ...]) -> str:
    return parts[0] if parts and parts[0] != "__init__" else "streamparse"


def _imports(path: Path) -> set[tuple[str, ...]]:
    """The dotted names a module imports, in or out of functions, split."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {tuple(alias.name.split(".")) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            base = tuple((node.module or "").split("."))
            found |= {(*base, alias.name) for alias in node.names} if base == ("streamparse",) else {base}
    return found


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_lower_rooms(name: str) -> None:
    room = _room(Path(name).with_suffix("").parts)
    for parts in _imports(MODULES[name]):
        if parts[0] != "streamparse":
            continue
        other = _room(parts[1:])
        allowed = (
            other == room
            or RANKS[other] < RANKS[room]
            or any({room, other} <= pair for pair in ONE_ROOM)
            or (room, other) in WITHIN_RANK_ONE
        )
        assert allowed or (RANKS[room] == 7 and other == "streamparse"), f"{room} imports {other}"


@pytest.mark.parametrize("name", MODULES)
def test_nothing_below_the_parsers_knows_of_tasks_and_nothing_of_clients(name: str) -> None:
    room = _room(Path(name).with_suffix("").parts)
    outside = {parts[0] for parts in _imports(MODULES[name])} - {"streamparse"} - sys.stdlib_module_names
    outside -= BY_ROOM.get(room, set())
    assert not outside & CLIENTS
    assert outside <= OUTSIDE | FROM_RANK_5
    if RANKS[room] < 5:
        assert not outside & FROM_RANK_5


def test_the_page_about_the_design_lists_every_room_with_its_rank() -> None:
    rows = re.findall(r"^\| (\d) \| ((?:`\w+`(?:, )?)+) \|", DESIGN.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {room: int(rank) for rank, rooms in rows for room in re.findall(r"\w+", rooms)}
    assert listed == {room: rank for room, rank in RANKS.items() if room not in ("streamparse", "__main__")}
    assert {_room(Path(name).with_suffix("").parts) for name in MODULES} == set(RANKS)


def test_importing_the_library_loads_neither_tasks_nor_clients() -> None:
    program = "import sys, streamparse; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "msgspec" in loaded
    assert not {*loaded} & (FROM_RANK_5 | CLIENTS | {"trio", "asyncio"})


def test_importing_the_library_loads_no_room_that_is_not_asked_for() -> None:
    program = "import sys, streamparse; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("streamparse.")}
    assert not rooms & {"adapters", "cli", "emit", "middleware", "negotiate", "proxy", "repair", "runtime"}
    read = {"streamparse.recover.chunks", "streamparse.recover.records", "streamparse.recover.responses"}
    assert {name for name in loaded if name.startswith("streamparse.recover.")} <= read  # by the parsers and the loops
