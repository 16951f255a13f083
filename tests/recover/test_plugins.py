"""Entry points of other distributions: found when a name is asked for, checked, and never in the way.

Each test installs a real distribution into a folder of its own and asks a fresh interpreter.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import streamparse as sp
from streamparse import plugins
from streamparse.dialects import DIALECTS, register_dialect
from streamparse.plugins import load, load_plugins, register_group
from streamparse.providers.ollama.wire import OllamaChat
from streamparse.providers.wires import WIRES, find_wire, register_wire
from streamparse.reading.wire import WireTable

MODULE = """
import streamparse as sp
from streamparse.dialects import DIALECTS
from streamparse.dialects.engine.grammar import markers
from streamparse.parser import CompositeParser
from streamparse.providers.ollama.wire import OllamaChat
from msgspec.structs import replace

print("loaded")
acme = replace(DIALECTS["hermes"], name="acme", openers=markers("<acme>"))
misnamed = replace(acme, name="other")
unpatterned = replace(acme, name="unpatterned", follows="(")

class Wire(OllamaChat):
    @staticmethod
    def claims(message, event, /):
        return "acme" in message

def parser(tools):
    return CompositeParser(wire="acme-wire", tools=tools)

number = 7
"""
ENTRIES = """
[streamparse.dialects]
acme = acme_plugin:acme

[streamparse.wires]
acme-wire = acme_plugin:Wire

[streamparse.parsers]
acme = acme_plugin:parser
"""
CALL = '<acme>{"name": "look", "arguments": {"a": 1}}'
LINE = json.dumps({"acme": 1, "done": True, "message": {"content": CALL}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the module search path with the distribution `acme-plugin` in it."""
    (tmp_path / "acme_plugin.py").write_text(MODULE, encoding="utf-8")
    _install(tmp_path, ENTRIES)
    return tmp_path


def _install(folder: Path, entries: str) -> None:
    information = folder / "acme_plugin-1.2.dist-info"
    information.mkdir(exist_ok=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-plugin\nVersion: 1.2\n", encoding="utf-8")
    (information / "entry_points.txt").write_text(entries, encoding="utf-8")


def _run(folder: Path, program: str) -> list[Any]:
    """What a program prints, as JSON values, with the folder on the module search path."""
    start = f"import sys, json; sys.path.insert(0, {str(folder)!r})\nimport streamparse as sp\n"
    result = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) if line != "loaded" else line for line in result.stdout.splitlines()]


def test_nothing_is_loaded_until_an_unknown_name_is_asked_for(folder: Path) -> None:
    program = f"""
sp.parse_response({CALL!r}, dialects=["hermes", "reasoning"])
print(json.dumps("acme" in sp.DIALECTS))
parser = sp.TextParser(["acme"])
events = parser.feed({CALL!r}) + parser.close()
print(json.dumps([call.arguments for call in parser.response.tool_calls]))
print(json.dumps("acme-wire" in sp.WIRES))
"""
    assert _run(folder, program) == [False, "loaded", [{"a": 1}], False]


def test_each_entry_point_is_taken_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[str, Any]] = []
    monkeypatch.setattr(plugins, "_groups", {})
    monkeypatch.syspath_prepend(folder)
    _install(folder, "[acme.group]\nseven = acme_plugin:number\n")
    register_group("acme.group", lambda name, value: taken.append((name, value)))
    assert [load("acme.group", name) for name in ("seven", "other", "seven")] == [True, False, True]
    assert load_plugins() == {"acme.group": ["seven"]}
    assert taken == [("seven", 7)]


def test_a_wire_and_a_parser_of_another_distribution_are_used_by_name(folder: Path) -> None:
    program = f"""
from streamparse.parser import parser_for
stream = sp.StreamParser("acme-wire", dialects=["acme"])
stream.feed({LINE!r} + "\\n")
stream.close()
print(json.dumps([call.name for call in stream.response.tool_calls]))
print(json.dumps(parser_for("acme").parse({LINE!r}).ok))
"""
    assert _run(folder, program) == ["loaded", ["look"], True]


def test_what_another_distribution_offers_may_stand_in_a_configuration(folder: Path) -> None:
    program = """
from streamparse.negotiate import Configuration, ConfigurationError
tools = {"call_parser": "acme"}
profile = {"wire": "acme-wire", "dialects": ["acme"], "tools": tools}
print(json.dumps(list(Configuration.of({"profiles": {"p": profile}}).profiles)))
try:
    Configuration.of({"profiles": {"p": {"wire": "acme"}}})
except ConfigurationError as error:
    print(json.dumps(str(error).partition(";")[0]))
"""
    assert _run(folder, program) == ["loaded", ["p"], "profiles.p.wire: unknown wire 'acme'"]


def test_after_loading_all_auto_knows_them(folder: Path) -> None:
    program = f"""
from streamparse.plugins import load, load_plugins, register_group
print(json.dumps([call.name for call in sp.parse_response({CALL!r}).tool_calls]))
print(json.dumps(load_plugins()))
print(json.dumps([call.name for call in sp.parse_response({CALL!r}).tool_calls]))
print(json.dumps([call.name for call in sp.parse_response({LINE!r}).tool_calls]))
print(json.dumps(load_plugins()))
"""
    groups = {"streamparse.dialects": ["acme"], "streamparse.wires": ["acme-wire"], "streamparse.parsers": ["acme"]}
    before, loaded, first, text, body, again = _run(folder, program)
    assert (before, loaded, first, text, body, again) == ([], "loaded", groups, ["look"], ["look"], groups)


BROKEN = {
    "missing = acme_plugin:missing": "AttributeError",
    "missing = no_such_module_of_acme:x": "ModuleNotFoundError",
    "missing = acme_plugin:number": "TypeError",
    "missing = acme_plugin:misnamed": "ValueError",
    "unpatterned = acme_plugin:unpatterned": "error",
    "hermes = acme_plugin:acme": "ValueError",
}


@pytest.mark.parametrize("entry", BROKEN)
def test_a_broken_plugin_is_named_in_a_warning_and_the_others_are_loaded(folder: Path, entry: str) -> None:
    _install(folder, ENTRIES.replace("[streamparse.dialects]", f"[streamparse.dialects]\n{entry}"))
    program = """
import warnings
from streamparse.plugins import PluginWarning, load_plugins
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    loaded = load_plugins()
words = [str(each.message) for each in told if each.category is PluginWarning]
print(json.dumps([loaded["streamparse.dialects"], words]))
"""
    names, told = _run(folder, program)[-1]
    assert names == ["acme"]
    (message,) = told
    assert all(
        word in message for word in (entry.partition(" ")[0], "acme-plugin 1.2", "streamparse.dialects", BROKEN[entry])
    )


def test_a_broken_plugin_that_is_asked_for_by_name_is_an_error_that_names_it(folder: Path) -> None:
    _install(
        folder, "[streamparse.wires]\nbad = acme_plugin:number\n[streamparse.parsers]\nbad = acme_plugin:nothing\n"
    )
    program = """
from streamparse.parser import parser_for
for ask in (lambda: sp.StreamParser("bad"), lambda: parser_for("bad")):
    try:
        ask()
    except ValueError as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""
    told = [line for line in _run(folder, program) if line != "loaded"]
    assert [kind for kind, _ in told] == ["PluginError", "PluginError"]
    assert all("'bad' of acme-plugin 1.2" in message for _, message in told)


def test_without_other_distributions_nothing_is_loaded_and_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(load_plugins()) == {"streamparse.dialects", "streamparse.wires", "streamparse.parsers"}


def test_a_wire_of_ones_own_is_registered_by_its_name_and_found() -> None:
    assert find_wire("openai-chat") is WIRES["openai-chat"]
    register_wire("own", OllamaChat)
    try:
        assert find_wire("own") is OllamaChat
        parser = sp.StreamParser("own")
        assert parser.wire == "own"
    finally:
        del WIRES["own"]
    with pytest.raises(ValueError, match="unknown wire 'own'"):
        sp.StreamParser("own")


def test_the_table_of_wires_is_a_mapping_of_classes_whether_they_were_loaded_or_not() -> None:
    table = WireTable()
    table.declare({"chat": "streamparse.providers.openai_chat.wire:OpenAIChat", "none": "streamparse.limits:Missing"})
    assert ("chat" in table, "other" in table, [*table], len(table)) == (True, False, ["chat", "none"], 2)
    assert repr(table) == "WireTable(['chat', 'none'])"
    assert table["chat"] is table["chat"] is WIRES["openai-chat"]
    with pytest.raises(AttributeError, match="Missing"):
        table["none"]
    del table["none"]
    assert {**table} == dict(table.items()) == {"chat": WIRES["openai-chat"]}
    with pytest.raises(KeyError):
        table["none"]


def test_what_does_not_fit_is_not_registered() -> None:
    for name, dialect in (("hermes", DIALECTS["hermes"]), ("other", DIALECTS["hermes"])):
        with pytest.raises(ValueError, match=name):
            register_dialect(name, dialect)
    with pytest.raises(TypeError, match="Dialect"):
        register_dialect("other", object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="openai-chat"):
        register_wire("openai-chat", WIRES["openai-chat"])
    for wire in (object, WIRES["openai-chat"].__init__, None):
        with pytest.raises(TypeError, match="claims"):
            register_wire("other", wire)  # type: ignore[arg-type]
    assert "other" not in {*DIALECTS, *WIRES}
