"""Calls that break off, or are none after all, in every family: text, a thought or an error; nothing is guessed."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from cuts import assert_same_in_every_cut, calls_of, reasoning_of, text_of

import streamparse as sp

TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"a": {"type": ["string", "object", "integer"]}}}}
    for name in ("f", "g")
]
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>0<|tool_call_argument_begin|>%s"
    "<|tool_call_end|><|tool_calls_section_end|>"
)
NEST = "]<]minimax[>["
NESTED = f'{NEST}<tool_call>\n{NEST}<invoke name="f">{NEST}<a>{NEST}<b>%s{NEST}</b>{NEST}</a>{NEST}</invoke>'
NESTED_END = f"\n{NEST}</tool_call>"


class Case(NamedTuple):
    """A text and what it gives, by the name of its dialect."""

    dialects: Any
    text: str
    calls: list[tuple[str, dict[str, Any]]]
    said: str
    thought: str = ""
    codes: tuple[str, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


ONE = [("f", {"a": 1})]
CASES = {
    "an invocation that breaks off where another block begins": Case(
        ["minimax-m2"],
        '<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">1</parameter>\n<minimax:tool_call>\n'
        '<invoke name="g">\n<parameter name="a">2</parameter>\n</invoke>\n</minimax:tool_call>',
        [("f", {"a": 1}), ("g", {"a": 2})], "",
    ),
    "an invocation that breaks off where another one begins": Case(
        ["minimax-m2"],
        '<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">1</parameter>\n'
        '<invoke name="g">\n<parameter name="a">2</parameter>\n</invoke>\n</minimax:tool_call>',
        [("f", {"a": 1}), ("g", {"a": 2})], "",
    ),
    "an object without a key in braces": Case(
        ["gemma4"], '<|tool_call>call:f{a:{<|"|>x<|"|>}}<tool_call|>', [], '<|"|>x<|"|>}}<tool_call|>',
        codes=("malformed_call",),
    ),
    "a thought in a channel where no thoughts are looked for": Case(
        ["harmony"], "<|channel|>analysis<|message|>So.", [], "<|channel|>analysis<|message|>So.",
        options={"reasoning": "closed"},
    ),
    "bare code for the tool python": Case(
        ["harmony"], "<|channel|>analysis to=python code<|message|>print(1)", [], "", codes=("truncated_call",)
    ),
    "a stripped thought": Case(["harmony"], "analysis[So]assistantfinalYes.", [], "Yes.", "[So]"),
    "a stripped thought where no thoughts are looked for": Case(
        "auto", "analysis[So]", [], "analysis[So]", options={"tools": TOOLS, "reasoning": "closed"}
    ),
    "the end of a thought where none are looked for": Case(
        "auto", "/think\nSo.\n</think>", [], "/think\nSo.\n</think>", options={"tools": TOOLS, "reasoning": "closed"}
    ),
    "a string where an object should be": Case(
        ["function_calls-array"], '<function_calls>[ "{": "get"]', [], '<function_calls>[ "{": "get"]'
    ),
    "a form feed before an object whose key is a name": Case(
        ["apertus"], '<|tools_prefix|>[\f{"f": {"a": 1}}]', [], '<|tools_prefix|>[\f{"f": {"a": 1}}]'
    ),
    "a form feed before a key that is a name": Case(
        ["apertus"], '<|tools_prefix|>[{\f"f": {"a": 1}}]', [], '<|tools_prefix|>[{\f"f": {"a": 1}}]'
    ),
    "a form feed before a dict": Case(
        ["sarashina"], "<|tool_calls|>[\f{'name': 'f', 'arguments': {}}]", [],
        "<|tool_calls|>[\f{'name': 'f', 'arguments': {}}]",
    ),
    "an escape of Python that breaks off": Case(
        ["sarashina"], r"<|tool_calls|>[{'name': 'f', 'arguments': {'a': 'x\u12 y'}}]", [("f", {"a": r"x\u12 y"})], ""
    ),
    "arguments that break off behind a counter": Case(
        ["kimi-k2"], KIMI % '{"a": [1}', [],
        '<|tool_call_begin|>0<|tool_call_argument_begin|>{"a": [1}<|tool_call_end|>', options={"tools": TOOLS},
    ),
    "a counter that two tools fit, in a thought": Case(
        ["kimi-k2"], KIMI % '{"a": 1}', [], "",
        '<|tool_call_begin|>0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
        options={"tools": TOOLS, "reasoning": "open"},
    ),
    "a list that begins with an unknown tool": Case(
        "auto", "[h(a=1, b=2), f(a=1)]", [("h", {"a": 1, "b": 2}), *ONE], "", options={"tools": TOOLS}
    ),
    "a list of Python in which an argument has no name": Case(
        "auto", "[h(a=1, 2), f(a=3)]", [], "[h(a=1, 2), f(a=3)]", options={"tools": TOOLS}
    ),
    "a list that begins with what can be no name": Case(
        "auto", "[h/(a=1), f(a=3)]", [], "[h/(a=1), f(a=3)]", options={"tools": TOOLS}
    ),
    "a dict with a key that no call has": Case(
        "auto", "[{'name': 'f', 'city': 1}]", [], "[{'name': 'f', 'city': 1}]", options={"tools": TOOLS}
    ),
    "a list that begins with an unknown tool that takes a dict": Case(
        "auto", "[h(a={'b': [1]}, c=(1,)), f(a=1)]", [("h", {"a": {"b": [1]}, "c": [1]}), *ONE], "",
        options={"tools": TOOLS},
    ),
    "a list of objects that breaks off behind an unknown tool": Case(
        "auto", '[{"name": "h", "arguments": {}} and {"name": "f", "arguments": {}}]', [],
        '[{"name": "h", "arguments": {}} and {"name": "f", "arguments": {}}]', options={"tools": TOOLS},
    ),
    "a dict with a key that no call has, and no value": Case(
        "auto", "[{'name': 'f', 'city': , 'arguments': {}}]", [],
        "[{'name': 'f', 'city': , 'arguments': {}}]", options={"tools": TOOLS},
    ),
    "a function that is described": Case(
        ["tools-tag-json"], '<tools>{"function": {"name": "f"}}</tools>', [],
        '<tools>{"function": {"name": "f"}}</tools>', options={"tools": TOOLS},
    ),
    "a function that has another one": Case(
        ["tools-tag-json"], '<tools>{"name": "f", "function": "g"}</tools>', [],
        '<tools>{"name": "f", "function": "g"}</tools>', options={"tools": TOOLS},
    ),
    "arguments under two names before that of the tool": Case(
        ["hermes"], '<tool_call>{"arguments": {"a": 1}, "parameters": {"a": 2}, "name": "f"}</tool_call>', ONE, ""
    ),
    "arguments under two names after that of the tool": Case(
        ["hermes"], '<tool_call>{"name": "f", "arguments": {"a": 1}, "parameters": {"a": 2}}</tool_call>', ONE, ""
    ),
    "a call without its last brace before a text with quotation marks": Case(
        ["hermes"], '<tool_call>{"name": "f", "arguments": {"a": 1}\n</tool_call>It is "so".', ONE, 'It is "so".'
    ),
    "an envelope of calls in the syntax of Python": Case(
        ["hermes"], "<tool_call>{'tool_calls': [{'name': 'f', 'arguments': {'a': 1}}]}</tool_call>", ONE, ""
    ),
    "an object that is no call between calls of a list": Case(
        ["tools-tag-json"],
        '<tools>[{"name": "f", "arguments": {}}, {"x": 1}]</tools>\n\n<tools>[{"name": "f", "arguments": {}}]</tools>',
        [("f", {}), ("f", {})], '{"x": 1}', codes=("malformed_call",), options={"tools": TOOLS},
    ),
    "a list that ends at the comma before another call": Case(
        ["hermes"], '<tool_call>[{"name": "f", "arguments": {"a": 1}},', ONE, ""
    ),
    "words of two languages in braces": Case(
        ["gemma4"], "<|tool_call>call:f{a:{b:[True,true,False,false,None,null]}}<tool_call|>",
        [("f", {"a": {"b": [True, True, False, False, None, None]}})], "",
    ),
    "numbers of Python": Case(
        ["pythonic"], "[f(a={'b': [1., .5, +2, -3., 1_000, 1.e3]})]",
        [("f", {"a": {"b": [1.0, 0.5, 2, -3.0, 1000, 1000.0]}})], "", options={"tools": TOOLS},
    ),
    "arguments under the word of other formats": Case(
        ["command-r-plus"], 'Action:\n```json\n[{"tool_name": "f", "arguments": {"a": 1}}]\n```', ONE, "",
        options={"tools": TOOLS},
    ),
    "a list of Python that ends inside its second call": Case(
        ["pythonic"], '[h(q=1), f(a="Par', [], '[h(q=1), f(a="Par', codes=("truncated_call",), options={"tools": TOOLS}
    ),
    "JSON inside a tag that the text ends in": Case(
        ["hunyuan-v3"], '<tool_calls>\n<tool_call>f<tool_sep>\n{"a": 1', [], "", codes=("truncated_call",)
    ),
    "a nested value that holds a less-than sign": Case(
        ["minimax-m3"], NESTED % f"1 {NEST}<3" + NESTED_END, [("f", {"a": {"b": f"1 {NEST}<3"}})], ""
    ),
    "a nested value that the text ends in": Case(
        ["minimax-m3"], (NESTED % "1")[: -len(f"{NEST}</b>{NEST}</a>{NEST}</invoke>")], [], "",
        codes=("truncated_call",),
    ),
    "a nested value that is too long": Case(
        ["minimax-m3"], NESTED % ("x" * 300) + NESTED_END, [], "", codes=("limit_args",),
        options={"limits": sp.Limits(max_call_args=200)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_call_that_breaks_off_is_reported_as_far_as_it_is_certain(case: str) -> None:
    dialects, text, calls, said, thought, codes, options = CASES[case]
    events = assert_same_in_every_cut(lambda: sp.TextParser(dialects, **options), text)
    assert (calls_of(events), text_of(events), reasoning_of(events)) == (calls, said, thought)
    assert tuple(event.code for event in events if isinstance(event, sp.Error)) == codes
