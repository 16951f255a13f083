"""Names beside `"auto"`: these formats are preferred, and the rest of `"auto"` stays armed."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp

TOOL: dict[str, Any] = {
    "name": "search",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
HERMES = '<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>'
TOOLS_TAG = '<tools>{"name": "search", "arguments": {"query": "tea"}}</tools>'
BARE = '{"name": "search", "arguments": {"query": "tea"}}'


def _read(dialects: Any, text: str, tools: list[Any] | None = None) -> sp.TextParser:
    parser = sp.TextParser(dialects, tools=tools)
    parser.feed(text)
    parser.close()
    return parser


@pytest.mark.parametrize("text", [HERMES, TOOLS_TAG, f"Well.\n{TOOLS_TAG}"])
def test_a_format_that_is_not_named_is_read_beside_one_that_is(text: str) -> None:
    for dialects in (["hermes", "auto"], ("auto", "hermes"), ["glm-4.5", "hermes", "auto"]):
        calls = _read(dialects, text, [TOOL]).response.tool_calls
        assert [(call.name, call.arguments) for call in calls] == [("search", {"query": "tea"})]


def test_of_two_formats_that_share_a_marker_the_named_one_reads_it() -> None:
    text = "<tool_call>\n<function=search>\n<parameter=query>\ntea\n</parameter>\n</function>\n</tool_call>"
    assert _read("auto", text).stats.dialect == "qwen3-coder"
    assert _read(["mimo", "auto"], text).stats.dialect == "mimo"
    assert _read(["mimo", "auto"], HERMES).stats.dialect == "hermes"


def test_a_named_format_without_a_marker_counts_behind_text_as_if_it_stood_alone() -> None:
    text = f"Sure.\nfunctools[{BARE}]"
    assert _read(["functools", "auto"], text, [TOOL]).stats.dialect == "functools"
    assert _read(["hermes", "auto"], text, [TOOL]).stats.dialect is None


def test_auto_in_a_list_is_auto() -> None:
    for text in (HERMES, TOOLS_TAG, BARE, "No call."):
        for tools in ([TOOL], None):
            assert _read(["auto"], text, tools).response == _read("auto", text, tools).response


def test_an_unknown_name_beside_auto_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown dialect 'klingon'; .*known are: .*hermes"):
        sp.TextParser(["klingon", "auto"])


def test_the_thoughts_of_every_format_are_read_beside_a_named_one() -> None:
    response = _read(["hermes", "auto"], f"<seed:think>Hm.</seed:think>{HERMES}").response
    assert (response.reasoning, response.content) == ("Hm.", "")
    assert len(response.tool_calls) == 1


def test_a_dialect_of_ones_own_may_stand_beside_auto() -> None:
    own = sp.DIALECTS["hermes"]
    calls = _read([own, "auto"], TOOLS_TAG, [TOOL]).response.tool_calls
    assert [call.name for call in calls] == ["search"]


def test_auto_beside_a_name_is_thoughts_alone_where_the_server_reads_the_calls_itself() -> None:
    named = "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{}"
    for dialects, text, called in (
        (["auto", "kimi-k2"], f"<think>Hm.</think>{HERMES}", []),
        (["all", "kimi-k2"], f"<think>Hm.</think>{HERMES}", ["search"]),
        (["auto", "kimi-k2"], f"<think>Hm.</think>{named}", ["search"]),
    ):
        parser = sp.StreamParser("anthropic", dialects=dialects)
        parser.feed({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}})
        parser.close()
        assert [call.name for call in parser.response.tool_calls] == called
        assert parser.response.reasoning == "Hm."
