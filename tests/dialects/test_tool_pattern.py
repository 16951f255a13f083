"""A pattern that refers back to a tool's name matches what one that was compiled for the tool would."""

from __future__ import annotations

import re

import pytest
import regex
from cuts import assert_same_in_every_cut, calls_of
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.dialects.engine.markers import GAP, write_any
from streamparse.dialects.grammars.tool_tags import A_KEY, NAME, ToolPattern

NAMES = ["bash", "a.b", "now", "Öl", "b[s]h"]
MEMBERS = [frozenset(), frozenset({"cmd", "cmd2", "größe"}), frozenset({"a.b"})]
CLOSE = rf"(?:\r?\n)?</{NAME}>(?=\s{{0,256}}\Z|{GAP}</?{NAME}\s{{0,8}}/?>)"
FIRST = "(?P<first>[^<>/][^<>]{0,255})"
OPEN = rf"(?:\r?\n)?<(?P<name>{NAME})\s{{0,8}}(?:(?P<empty>/)>|>(?={GAP}(?:<{FIRST}>|</{NAME}>|\{{\s{{0,64}}[\"'}}])))"
PIECES = [*NAMES, *'</> \n{}"', "\r\n", "</", "cmd", "cmd2", "größe", "axb", "b", "x"]


def _compiled(source: str, name: str, members: frozenset[str]) -> regex.Pattern[str]:
    first = f"(?P<first>{write_any(members) if members else A_KEY})"
    return regex.compile(source.replace(FIRST, first).replace(NAME, re.escape(name)))


@st.composite
def _texts(draw: st.DrawFn, name: str, members: frozenset[str]) -> str:
    pieces = [*PIECES, f"<{name}>", f"</{name}>", f"<{name} />", *(f"<{member}>" for member in members)]
    return "".join(draw(st.lists(st.sampled_from(pieces), max_size=6)))


@pytest.mark.parametrize("source", [CLOSE, OPEN])
@given(st.data())
def test_a_pattern_for_all_tools_matches_as_the_pattern_of_one(source: str, data: st.DataObject) -> None:
    name, members = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(MEMBERS))
    before, text = data.draw(st.text("<b", max_size=3)), data.draw(_texts(name, members))
    for size in range(len(text) + 1):
        for partial in (False, True):
            found = ToolPattern(source, name, members).match(before + text[:size], len(before), partial=partial)
            exact = _compiled(source, name, members).match(text[:size], partial=partial)
            assert (found is None) == (exact is None)
            if found is not None and exact is not None:
                assert found.partial == exact.partial
                assert found.partial or found[0] == exact[0]
                assert found.partial or found.groupdict() == exact.groupdict() | {"NAME": name}


@pytest.mark.parametrize("names", [["été"], ["ciel", "ciél"], ["ciel", "été"]])
def test_a_tag_that_is_the_name_of_a_tool_may_have_any_letters(names: list[str]) -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools = [{"name": name, "parameters": parameters} for name in names]
    for name in names:
        events = assert_same_in_every_cut(lambda: sp.TextParser(tools=tools), f"<{name}>\n<a>x</a>\n</{name}>")
        assert calls_of(events) == [(name, {"a": "x"})]
