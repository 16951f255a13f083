"""The public names are those of the contract, and each module says what it offers."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterable
from typing import get_args

import msgspec
import pytest

import streamparse as sp
from streamparse.dialects import DIALECTS, DialectName
from streamparse.providers.wires import WIRES, WireName
from streamparse.writing.markup import MARKUPS, PromptDialect

CONTRACT = (
    *("StreamParser", "TextParser", "iter_events", "aiter_events", "parse_response", "CompositeParser", "ToolRunner"),
    *("Tool", "tool", "ToolCall", "ToolResult", "ToolIntent", "ParsedResponse", "Limits", "Event", "WIRES", "DIALECTS"),
    *("TextDelta", "ReasoningDelta", "RefusalDelta", "ProviderItem", "Error", "Done"),
    *("ToolCallStart", "ToolCallDelta", "ToolCallComplete", "ToolCallRevoked"),
    *("Turn", "ToolContext", "ToolError", "format_error_for_model", "Progress", "ApprovalRequest"),
    *("Streamed", "CallBroken"),
    *("History", "Image", "Document"),
)
MODULES = [module.name for module in pkgutil.walk_packages(sp.__path__, "streamparse.")]


@pytest.mark.parametrize("name", CONTRACT)
def test_a_name_of_the_contract_is_exported(name: str) -> None:
    assert getattr(sp, name) is not None
    assert name in sp.__all__
    assert name in dir(sp)


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_what_a_module_says_that_it_offers_it_has(module: str) -> None:
    loaded = importlib.import_module(module)
    assert all(hasattr(loaded, name) for name in getattr(loaded, "__all__", ()))


@pytest.mark.parametrize(
    "room", ["parser", "providers", "dialects", "frames", "tools", "runtime", "negotiate", "repair", "bulk"]
)
def test_a_room_that_users_import_says_what_it_offers(room: str) -> None:
    assert importlib.import_module(f"streamparse.{room}").__all__


def test_every_event_is_frozen_and_reads_back_from_its_json() -> None:
    samples = {
        sp.TextDelta: ("a",),
        sp.ReasoningDelta: ("a",),
        sp.RefusalDelta: ("a",),
        sp.ToolCallStart: (0, "i", "n"),
        sp.ToolCallDelta: (0, "{}"),
        sp.ToolCallComplete: (0, "i", "n", {}, "native", "{}"),
        sp.ToolCallRevoked: (0, "i", "r"),
        sp.ProviderItem: ("k", {}, None),
        sp.Error: ("call", "c", "m", 0, 1),
        sp.Done: ("stop", {}, True),
    }
    assert set(samples) == set(get_args(sp.Event))
    for kind, values in samples.items():
        event = kind(*values)
        encoded = msgspec.json.encode(event)
        assert msgspec.json.decode(encoded, type=sp.Event) == event
        words = "".join(word.capitalize() for word in msgspec.json.decode(encoded)["type"].split("_"))
        assert words == kind.__name__
        with pytest.raises(AttributeError):
            setattr(event, kind.__struct_fields__[0], None)


def test_the_parsers_take_what_the_contract_says() -> None:
    stream = list(inspect.signature(sp.StreamParser).parameters)
    assert stream == ["wire", "dialects", "tools", "reasoning", "limits", "strict", "choice", "quoted"]
    assert list(inspect.signature(sp.TextParser).parameters) == ["dialects", "tools", "reasoning", "limits", "quoted"]
    assert list(inspect.signature(sp.TextParser.close).parameters) == ["self", "stopped"]


def test_feeding_after_the_end_is_an_error_of_the_program() -> None:
    for parser in (sp.StreamParser("openai-chat"), sp.StreamParser()):
        parser.close()
        with pytest.raises(RuntimeError, match="close"):
            parser.feed(b"")
        assert parser.close() == []
    text = sp.TextParser()
    text.close()
    with pytest.raises(RuntimeError, match="close"):
        text.feed("")
    assert text.close() == []


def test_an_unknown_wire_names_the_known_ones() -> None:
    for make in (sp.StreamParser, sp.CompositeParser):
        with pytest.raises(ValueError, match="nope") as caught:
            make("nope")
        assert all(name in str(caught.value) for name in sp.WIRES)


def test_an_unknown_dialect_names_the_known_ones() -> None:
    for make in (
        lambda: sp.StreamParser(dialects=["hermes", "nope"]),
        lambda: sp.TextParser(["nope"]),
        lambda: sp.TextParser("nope"),
        lambda: sp.CompositeParser(dialects=["nope"]),
    ):
        with pytest.raises(ValueError, match="nope") as caught:
            make()
        assert all(name in str(caught.value) for name in sp.DIALECTS)


def test_an_unknown_word_for_reasoning_names_the_known_ones() -> None:
    for make in (lambda: sp.StreamParser(reasoning="ajar"), lambda: sp.TextParser(reasoning="ajar")):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="open"):
            make()


def test_the_package_shows_its_public_names_alone_and_they_are_few() -> None:
    assert dir(sp) == sorted(sp.__all__)
    assert len(sp.__all__) <= 75


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("NativeParser", "parser"),
        ("ToolFormat", "protocols"),
        ("to_openai", "providers"),
        ("HeuristicParser", "parser"),
    ],
)
def test_a_name_that_left_the_package_says_where_it_is(name: str, room: str) -> None:
    with pytest.raises(AttributeError, match=rf"it is in streamparse\.{room}$"):
        getattr(sp, name)
    assert getattr(importlib.import_module(f"streamparse.{room}"), name) is not None


@pytest.mark.parametrize(
    ("names", "table"),
    [
        pytest.param(WireName, ["auto", *WIRES], id="wires"),
        pytest.param(DialectName, DIALECTS, id="dialects"),
        pytest.param(PromptDialect, MARKUPS, id="prompts"),
    ],
)
def test_the_names_that_editors_complete_are_those_of_the_table(names: object, table: Iterable[str]) -> None:
    literal, other = get_args(names)
    assert other is str
    assert sorted(get_args(literal)) == sorted(table)


def test_python_proposes_the_nearest_public_name() -> None:
    run = [sys.executable, "-c", "import streamparse; streamparse.StreamParsr"]
    shown = subprocess.run(run, capture_output=True, text=True, check=False).stderr
    assert "Did you mean: 'StreamParser'?" in shown
