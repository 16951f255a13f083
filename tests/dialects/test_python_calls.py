"""Calls written as Python stream while they come; nothing of them is ever evaluated."""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, text_of
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp

SOURCES = sorted((Path(sp.__file__).parent / "dialects").glob("*.py"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc é\"'", max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), VALUES, max_size=4))
def test_every_python_literal_that_json_knows_is_read_as_what_it_says(arguments: dict[str, Any]) -> None:
    text = "<|python_start|>[f(" + ", ".join(f"{key}={value!r}" for key, value in arguments.items()) + ")]"
    events = sp.TextParser(["llama4-pythonic"]).feed(text)
    assert calls_of(events) == [("f", _as_json(arguments))]


def test_arguments_stream_while_they_come() -> None:
    parser = sp.TextParser(["llama4-pythonic"])
    pieces = ["<|python_start|>[f(", "a", "=", '"', "x", "y\\", 'n"', ", b=", "12", ")", "]"]
    told = [
        "".join(event.arguments for event in parser.feed(piece) if isinstance(event, sp.ToolCallDelta))
        for piece in pieces
    ]
    assert told == ["", "", "", '{"a": ', '"x', "y", "\\n", '"', ', "b": ', "12", "}"]


@pytest.mark.parametrize(
    ("dialect", "text", "proof"),
    [
        ("lfm2", '<|tool_call_start|>[f(a=")", b=[1, 2])', "]"),
        ("lfm2", '<|tool_call_start|>[f(a=")", b=[1, 2])', "<|tool_call_end|>"),
        ("lfm2", '<|tool_call_start|>[f(a=")", b=[1, 2])', " , my.g(b=1"),
        ("olmo3", '<function_calls>\nf(a=")", b=[1, 2])', "\ng()"),
        ("olmo3", '<function_calls>\nf(a=")", b=[1, 2])', "; g()"),
        ("olmo3", '<function_calls>\nf(a=")", b=[1, 2])', "\n</function_calls>"),
    ],
)
def test_a_call_is_complete_at_what_proves_that_its_parenthesis_closed_it(dialect: str, text: str, proof: str) -> None:
    parser = sp.TextParser([dialect])
    assert not calls_of(parser.feed(text + proof[:-1]))
    assert calls_of(parser.feed(proof[-1])) == [("f", {"a": ")", "b": [1, 2]})]


def test_a_good_end_of_the_text_proves_a_call_and_another_end_does_not() -> None:
    for stopped, expected in ((True, [("f", {"a": 1})]), (False, [])):
        parser = sp.TextParser(["olmo3"])
        assert not calls_of(parser.feed("<function_calls>\nf(a=1)\n"))
        assert calls_of(parser.close(stopped=stopped)) == expected
        assert [each.code for each in parser.response.broken_calls] == [] if stopped else ["truncated_call"]


CUT_COMMANDS = [
    "'grep ')' file'",
    "'echo ') ; ls'",
    "'f('a'), rm'",
    "'print('a'), print('b')'",
    "'a')\n')",
    "'a')\ng'",
    r"""'\,'))"')""",
    "'a').b()",
    "'a') g(b=1)",
    "'a'), g.(b=1)",
]


@pytest.mark.parametrize("end", [")]<|tool_call_end|>", ")]", "", ") and more."])
@pytest.mark.parametrize("command", CUT_COMMANDS)
def test_a_string_whose_quotes_are_not_escaped_makes_no_cut_call(command: str, end: str) -> None:
    text = f"<|tool_call_start|>[bash(command={command}{end}"
    events = assert_same_in_every_cut(lambda: sp.TextParser(["lfm2"]), text)
    assert not calls_of(events)
    assert [event.code for event in events if isinstance(event, sp.Error)] in (["malformed_call"], ["truncated_call"])
    response = sp.parse_response(text, tools=[{"name": "bash"}])
    assert all(call.arguments["command"] not in ("grep ", "a") for call in response.tool_calls)


def test_brackets_nest_as_deep_as_the_limit_says() -> None:
    most = sp.Limits().max_depth or 0
    for depth, expected in ((most - 1, 1), (most + 1, 0)):
        events = sp.TextParser(["olmo3"]).feed(
            "<function_calls>f(a=" + "[" * depth + "]" * depth + ")</function_calls>"
        )
        assert len(calls_of(events)) == expected


@pytest.mark.parametrize(
    "text",
    ["[x] done", "[f(a=1), b=2)] is no list", "[get_weather] is a tool.", "[1](http://a.b/c(d=e))", "[a, b](c=d)"],
)
def test_lists_and_links_are_text(text: str) -> None:
    for dialects in ("auto", ["pythonic"], ["lfm2"]):
        events = assert_same_in_every_cut(
            lambda: sp.TextParser(dialects, tools=[{"name": "get_weather"}]),  # noqa: B023
            text,
        )
        assert text_of(events) == text


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_no_dialect_evaluates_what_it_reads(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not called & {"eval", "exec", "compile", "__import__"}
    assert not imported & {"ast", "pickle", "yaml", "xml"}


@pytest.mark.parametrize(
    "call",
    [
        "{'name': 'f', 'arguments': {'a': 1}, 'type': 'function'}",
        "{'name': 'f', 'type': 'function', 'arguments': {'a': 1}}",
        "{'id': 7, 'arguments': {'a': 1}, 'index': [0], 'name': 'f'}",
    ],
)
def test_a_member_that_is_neither_the_name_nor_the_arguments_is_passed_over(call: str) -> None:
    events = assert_same_in_every_cut(lambda: sp.TextParser(["sarashina"]), f"<|tool_calls|>[{call}]")
    assert calls_of(events) == [("f", {"a": 1})]


def test_a_dict_behind_the_list_of_calls_is_text() -> None:
    call = "{'name': 'f', 'arguments': {'a': 1}}"
    events = assert_same_in_every_cut(lambda: sp.TextParser(["sarashina"]), f"<|tool_calls|>[{call}] {call}")
    assert (calls_of(events), text_of(events)) == ([("f", {"a": 1})], f" {call}")


def test_nothing_of_a_key_that_is_none_is_lost() -> None:
    parser = sp.TextParser(["sarashina"])
    parser.feed("<|tool_calls|>[{'name': 'f', 'arguments': {'path': 'a', 'con'tent of it'}}]")
    parser.close()
    assert parser.response.broken_calls[0].raw == '{"path": "a", "con\'tent of it"'


@pytest.mark.parametrize("key", ["", "5"])
def test_a_member_of_a_call_without_a_string_for_its_key_makes_no_call(key: str) -> None:
    text = f"<|tool_calls|>[{{'name': 'f', {key}: 1, 'arguments': {{}}}}]"
    parser = sp.TextParser(["sarashina"])
    parser.feed(text)
    parser.close(stopped=True)
    assert (len(parser.response.tool_calls), parser.response.content) == (0, text)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"a" + "b"', "ab"),
        ("'a' + \"b\"\n    + 'c'", "abc"),
        ('["a" + "b", "c"]', ["ab", "c"]),
        ('"""a""" + "b"', "ab"),
        ('"say "a" + "b" again"', 'say "a" + "b" again'),
    ],
)
def test_strings_that_are_added_are_one_and_marked_as_repaired(value: str, said: Any) -> None:
    events = assert_same_in_every_cut(
        lambda: sp.TextParser(["olmo3"]), f"<function_calls>f(a={value}, b=1)</function_calls>"
    )
    told = [(event.arguments, event.source) for event in events if isinstance(event, sp.ToolCallComplete)]
    assert told == [({"a": said, "b": 1}, "repaired")]


@pytest.mark.parametrize("opening", ["'", '"', "'''", '"""', "r'", 'u"'])
@pytest.mark.parametrize(
    "escape",
    [
        *(rf"\{letter}" for letter in "abfnrtv\\"),
        r"\'x",
        r"\"x",
        r"\0",
        r"\101",
        r"\x41",
        r"\u00e9",
        r"\U0001F600",
        r"\d",
    ],
)
def test_an_escape_means_what_it_means_in_python(escape: str, opening: str) -> None:
    literal = f"{opening}a{escape}b{opening.lstrip('ru')}"
    text = f"<|python_start|>[f(a={literal})]"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an escape that Python does not know
        value = ast.literal_eval(literal)
    assert calls_of(events_of(sp.TextParser(["llama4-pythonic"]), list(text))) == [("f", {"a": value})]


@pytest.mark.parametrize("half", [r"\ud83d", r"\ude00", r"\U0000dfff"])
def test_half_of_a_character_is_replaced(half: str) -> None:
    text = f"<|python_start|>[f(a='{half}')]"
    assert calls_of(events_of(sp.TextParser(["llama4-pythonic"]), [text])) == [("f", {"a": "\ufffd"})]
