"""The tables of the documents are those of the code.

`pytest tests/docs --update-golden` writes them, every other run compares.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from fixture_streams import NAMES, read_golden, read_index
from tables import read_table, show_table, write_table

import streamparse as sp
from streamparse import errors
from streamparse.dialects.engine.meanings import KINDS, STATES, find_meaning
from streamparse.errors import CODES
from streamparse.limits import Limits
from streamparse.negotiate import FormatNegotiator, list_families, list_providers
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.quirks import Habit, profile
from streamparse.repair.reasons import RECOVERED, REPAIRED
from streamparse.response import FACTS
from streamparse.runtime import loop
from streamparse.runtime.loop import MAX_COMPLAINTS
from streamparse.writing.prompts import PROMPTS

ROOT = Path(__file__).parents[2]
ERRORS = ROOT / "docs" / "errors.md"
STREAMS = ROOT / "docs" / "parser" / "streams.md"
GUARANTEES = ROOT / "docs" / "parser" / "guarantees.md"
WIRES = ROOT / "docs" / "internals" / "wires.md"
CODE_ARGUMENT = {
    "error": 1,
    "call_error": 1,
    "calls_doubted": 0,
    "halt": 0,
    "abort": 0,
    "JSONError": 0,
    "FramingError": 0,
    "stop": 0,
}
"""Which argument of the functions that report an error is its code."""

SCOPES = {
    "stream": "The stream as a whole; `Done(ok=False)` follows",
    "frame": "One frame; the stream goes on",
    "call": "One call; it will not be completed",
}


def _sentence(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split())


def _wires() -> str:
    rows = []
    for name, wire in sp.WIRES.items():
        about = _sentence(wire.__doc__)
        rows.append((f"`{name}`", about))
    return show_table(("wire", "what it is"), rows)


def _limits() -> str:
    source = inspect.getsource(Limits)
    told = re.findall(r'^    (\w+): int \| None = ([^\n]+)\n    """(.+?)"""', source, re.MULTILINE | re.DOTALL)
    assert {name for name, *_ in told} == set(Limits.__struct_fields__), "a limit is undocumented"
    return show_table(
        ("limit", "default", "bounds"),
        (
            (f"`{name}`", default.replace(" * ", " ").replace("MIB", "MiB").replace("KIB", "KiB"), _sentence(text))
            for name, default, text in told
        ),
    )


def _errors() -> str:
    sections = re.split(r"^    # .*\n", inspect.getsource(errors), flags=re.MULTILINE)[1:]
    parts = []
    for scope, section in zip(SCOPES, sections, strict=True):
        codes = re.findall(r'^    "(\w+)":', section, re.MULTILINE)
        parts.append(
            f"## {SCOPES[scope]}\n\n" + show_table(("code", "meaning"), ((f"`{code}`", CODES[code]) for code in codes))
        )
    return "\n".join(parts)


def _habits(habits: Iterable[Habit]) -> str:
    rows = list(habits)
    columns = {
        "what servers do": [each.does for each in rows],
        "seen with": [each.seen_with for each in rows],
        "what is read": [each.read_as for each in rows],
        "evidence": [", ".join(f"`{name}`" for name in each.evidence) for each in rows],
    }
    said = {head: cells for head, cells in columns.items() if any(cells)}
    return show_table(tuple(said), zip(*said.values(), strict=True))


def _reasons() -> str:
    rows = (
        (f"`{source}`", f"`{word}`", reason.for_model, reason.for_developer)
        for source, reasons in (("recovered", RECOVERED), ("repaired", REPAIRED))
        for word, reason in reasons.items()
    )
    return show_table(("source", "reason", "what the model reads", "what you read"), rows)


EVENTS = {
    "text": "text_delta", "thought": "reasoning_delta", "refusal": "refusal_delta", "calls": "tool_call_complete",
    "token counts": "usage",
}  # fmt: skip


def _facts() -> str:
    """What reaches the user, by wire: of events what the golden files have, of facts where the server writes them."""
    wires = [*sp.WIRES]
    cells: dict[tuple[str, str], dict[str, None]] = {}
    for name in NAMES:
        wire = str(read_index()[name].get("wire"))
        for event in read_golden(name):
            kind = "usage" if event.get("usage") else event["type"]
            for row in (row for row, known in EVENTS.items() if known == kind):
                cells.setdefault((row, wire), {})["yes"] = None
    rows = dict.fromkeys((*EVENTS, *FACTS))
    for case in json.loads((ROOT / "fixtures" / "facts.json").read_text()):
        for _, name, field, _ in [*case["facts"], *case["items"]]:
            rows[name] = None
            cells.setdefault((name, case["wire"]), {})[f"`{field}`"] = None
    head = ("", *(f"`{wire}`" for wire in wires))
    lines = (
        (row if row in EVENTS else f"`{row}`", *(", ".join(cells.get((row, wire), ())) for wire in wires))
        for row in rows
    )
    return show_table(head, lines)


ENDS: dict[str | None, tuple[str, str]] = {
    None: ("the output", "the model answered with text, or called a tool that ends the run"),
    "length": ("the text so far", "the server cut the text at its limit of tokens"),
    "refusal": ("`None`", "the model refused"),
    "filter": ("`None`", "a filter of the server took the answer"),
    "approval": ("`None`", "an awaited run reached a call that needs approval; `result.approvals` has it"),
    "fatal": ("`None`", 'a tool raised `ToolError("fatal", …)`'),
    "broken_answers": ("`None`", f"{MAX_COMPLAINTS + 1} answers in a row could not be used"),
    "model_failed": ("`None`", "no model answered; the client's own exception is raised"),
    "cancelled": ("`None`", "`run.cancel()`, or the block was left"),
}


def _ends() -> str:
    """What ends a run: the words that the loop says, and those of the stops."""
    tree = ast.parse(inspect.getsource(loop))
    said = {
        each.value
        for node in ast.walk(tree)
        if (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finish" and node.args)
        or (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "stopped_by")
        for each in ast.walk(node.args[0] if isinstance(node, ast.Call) else node.value)
        if isinstance(each, ast.Constant) and isinstance(each.value, str | None)
    } - {"length"} | {None, "length"}
    assert said == set(ENDS)
    stops = [sp.max_turns(20), sp.max_seconds(60), sp.max_tokens(50_000), sp.max_repeats(3)]
    assert {stop.name for stop in stops} == {name for name in sp.__all__ if name.startswith("max_")}
    rows = [(f'`"{word}"`' if word else "`None`", *says) for word, says in ENDS.items()]
    for stop in stops:
        about = _sentence(getattr(sp, stop.name).__doc__).partition(".")[0]
        rows.append((f'`"{stop.name}: {stop.most:g}"`', "`None`", f"{about[0].lower()}{about[1:]}"))
    rows.append(("the reason of your own stop", "`None`", "it returned one"))
    return show_table(("`result.stopped_by`", "`result.output`", "why"), rows)


def _models() -> str:
    """Which models write which dialects, by the patterns of their names."""
    patterns: dict[tuple[str, ...], list[str]] = {}
    for family in list_families().values():
        patterns.setdefault(family.dialects, []).extend(family.models)
    return show_table(
        ("names of models", "dialects, the likeliest first"),
        (
            (", ".join(f"`{name}`" for name in names), ", ".join(f"`{name}`" for name in dialects))
            for dialects, names in patterns.items()
            if dialects
        ),
    )


def _servers() -> str:
    """What is looked for on a server: in general, and for a model that writes Hermes' dialect."""
    prints = {True: "yes", None: "not known"}
    rows = []
    for name, provider in list_providers().items():
        if provider.calls_in_text is False:
            continue
        chosen = FormatNegotiator().negotiate(name, "qwen3:8b")
        dialects = chosen.dialects if isinstance(chosen.dialects, str) else list(chosen.dialects)
        shown = f"`{json.dumps(dialects)}`"
        rows.append((f"`{name}`", f"`{chosen.wire}`", prints[provider.calls_in_text], shown))
    return show_table(("server", "wire", "calls come as text", "`dialects` for `qwen3:8b`"), rows)


DESIGN = ROOT / "docs" / "internals" / "design.md"


def _states() -> str:
    return show_table(("state", "the text before the marker"), STATES.items())


def _kinds() -> str:
    """What a marker of each kind means, by the state; in states that are not listed it means nothing."""
    rows = []
    for kind, about in KINDS.items():
        states: dict[str, list[str]] = {}
        for state in STATES:
            if (meaning := find_meaning((kind,), state)) != "text":
                states.setdefault(meaning, []).append(state)
        means = "; ".join(f"**{meaning}** {', '.join(where)}" for meaning, where in states.items())
        rows.append((kind, about, means))
    return show_table(("kind", "a marker that", "means"), rows)


TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "states of the text": (DESIGN, _states),
    "kinds of markers": (DESIGN, _kinds),
    "wires": (STREAMS, _wires),
    "limits": (GUARANTEES, _limits),
    "errors": (ERRORS, _errors),
    "reasons": (ERRORS, _reasons),
    "ends": (ROOT / "docs" / "agents" / "agents.md", _ends),
    "models": (ROOT / "docs" / "local.md", _models),
    "servers": (ROOT / "docs" / "local.md", _servers),
    "facts": (WIRES, _facts),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_documents_is_that_of_the_code(name: str, update_golden: bool) -> None:
    page, written = TABLES[name]
    if update_golden:
        write_table(page, name, written())
    assert read_table(page, name) == f"\n{written()}\n"


COMMON = "## Common to all\n"


@pytest.mark.parametrize("wire", [*sp.WIRES, "all"])
def test_the_chapter_of_a_wire_has_the_tables_of_what_its_servers_do(wire: str, update_golden: bool) -> None:
    tables = {f"habits {wire} {topic}": _habits(habits) for topic, habits in profile(wire).topics.items()}
    if update_golden:
        _complete_chapter(wire, tables)
        for name, table in tables.items():
            write_table(WIRES, name, table)
    for name, table in tables.items():
        assert read_table(WIRES, name) == f"\n{table}\n"


def _complete_chapter(wire: str, tables: Iterable[str]) -> None:
    """Write the chapter of a wire that has none, with what its module says, and places for the tables that it lacks."""
    text = WIRES.read_text(encoding="utf-8")
    heading = COMMON if wire == "all" else f"## `{wire}`\n"
    if heading not in text:
        about = inspect.cleandoc(sys.modules[sp.WIRES[wire].__module__].__doc__ or "")
        text = text.replace(COMMON, f"{heading}\n{about}\n\n{COMMON}")
    end = text.find("\n## ", text.index(heading))
    chapter = text[text.index(heading) : end if end >= 0 else len(text)]
    places = (f"\n<!-- {name} -->\n<!-- /{name} -->\n" for name in tables if f"<!-- {name} -->" not in chapter)
    WIRES.write_text(text.replace(chapter, chapter + "".join(places)), encoding="utf-8")


def test_every_code_of_an_error_is_explained_once() -> None:
    text = read_table(ERRORS, "errors")
    assert sorted(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) == sorted(CODES)


def test_every_code_that_the_library_uses_is_explained() -> None:
    used = set()
    for path in sorted((ROOT / "streamparse").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                place = CODE_ARGUMENT.get(name.lstrip("_"), len(node.args))
                used |= {each.value for each in node.args[place : place + 1] if isinstance(each, ast.Constant)}
    assert len(used) > 20
    assert not {code for code in used if code} - set(CODES)


def test_the_readme_counts_the_wires_and_dialects() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\n{len(sp.WIRES)} wires: " in readme
    assert f" {len(sp.DIALECTS)} [dialects](docs/internals/dialects.md)" in readme


def test_the_page_of_the_adapters_has_every_provider_and_every_prompt() -> None:
    folder = ROOT / "docs"
    for page, title in (("providers/adapters", "Definitions"), ("reference/results", "Where results are")):
        chapter = (folder / f"{page}.md").read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
        first = re.findall(r"^\| (`[^|]+?) \|", chapter, re.MULTILINE)
        assert sorted(re.findall(r"`([\w-]+)`", " ".join(first))) == sorted(ADAPTERS), title
    page = (folder / "providers" / "prompts.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"`([\w.-]+)`", page.split("There is a prompt for each of:")[1])) == sorted(PROMPTS)


def test_every_wire_has_its_chapter() -> None:
    chapters = re.findall(
        r"`([\w-]+)`",
        "".join(re.findall(r"^## .*", WIRES.read_text(encoding="utf-8"), re.MULTILINE)),
    )
    assert sorted(chapters) == sorted(sp.WIRES)


def test_the_evidence_of_every_quirk_is_a_fixture_that_exists() -> None:
    text = WIRES.read_text(encoding="utf-8")
    known = {
        path.name.split(".")[0] for folder in ("streams", "recorded") for path in (ROOT / "fixtures" / folder).iterdir()
    }
    named = [
        name
        for row in re.findall(r"^\|.*\|$", text, re.MULTILINE)
        for name in re.findall(r"`((?:[a-z0-9]+-){2,}[a-z0-9]+)`", row.split("|")[-2])
    ]
    assert named
    assert not [name for name in named if name not in known]


def test_every_public_name_has_its_place_in_the_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md"))]
    named = re.findall(r"^::: streamparse\.(\w+)$", "\n".join(pages), re.MULTILINE)
    assert sorted(named) == sorted(sp.__all__)


def test_every_type_that_the_reference_names_is_where_it_says() -> None:
    page = (ROOT / "docs" / "reference" / "types.md").read_text(encoding="utf-8")
    named = [path.rsplit(".", 1) for path in re.findall(r"^::: (\S+)$", page, re.MULTILINE)]
    assert named
    assert [name for module, name in named if not hasattr(importlib.import_module(module), name)] == []
