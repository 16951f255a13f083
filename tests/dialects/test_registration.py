"""Dialects of one's own, under names of one's own."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.dialects import CATALOGUE, DIALECTS, GROUPS, dialect_from_template, register_dialect

DECLARED = {"fields": {"tool_calls": {"open": "<do>", "close": "</do>", "content": "json"}}}
TOOL = {"name": "search_registered", "parameters": {}}
CALL = '<do>{"name": "search_registered", "arguments": {"query": "tea"}}</do>'


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers."""
    monkeypatch.setattr(CATALOGUE, "dialects", dict(sp.DIALECTS))


def test_a_dialect_of_a_template_is_registered_under_any_name_and_found_by_auto() -> None:
    register_dialect("do", dialect_from_template(DECLARED))
    register_dialect("do-too", dialect_from_template(DECLARED))
    for dialects, name in (("auto", "do"), (["do-too"], "do-too")):
        parser = sp.TextParser(dialects, tools=[TOOL])
        parser.feed(CALL)
        parser.close()
        assert [call.arguments for call in parser.response.tool_calls] == [{"query": "tea"}]
        assert parser.stats.dialect == name


def test_a_dialect_that_has_a_name_is_not_registered_under_another() -> None:
    with pytest.raises(ValueError, match="'do' calls itself 'did'"):
        register_dialect("do", dialect_from_template(DECLARED, "did"))
    for name in ("", "auto", "all", "reasoning", "hermes"):
        with pytest.raises(ValueError, match=repr(name)):
            register_dialect(name, dialect_from_template(DECLARED))


def test_the_formats_that_go_by_one_name_are_known() -> None:
    assert {name: [DIALECTS[each].name for each in names] for name, names in GROUPS.items()} == {
        "anthropic_xml": ["anthropic-invoke"],
        "qwen_xml": ["qwen3-coder", "hermes"],
    }
