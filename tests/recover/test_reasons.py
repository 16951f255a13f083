"""Each call that was recovered or repaired says why, and no other call does."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest
from cuts import calls_of

import streamparse as sp
from streamparse.parser.composite import CompositeParser, JSONContentParser
from streamparse.repair import reasons
from streamparse.repair.reasons import RECOVERED, REPAIRED, find_reason

SHOW = sp.Tool("show", "", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
CALL = '{"name": "show", "arguments": {"city": "Bern"}}'

BODIES: dict[str, Callable[[str], Any]] = {
    "anthropic": lambda text: {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    },
    "bedrock-converse": lambda text: {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": "end_turn",
    },
    "cohere": lambda text: {
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "finish_reason": "COMPLETE",
    },
    "gemini": lambda text: {
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]
    },
    "openai-responses": lambda text: {
        "object": "response",
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
    },
    "ollama-chat": lambda text: {"message": {"content": text}, "done": True, "done_reason": "stop"},
    "ollama-generate": lambda text: {"response": text, "done": True, "done_reason": "stop"},
    "openai-chat": lambda text: {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
    },
    "openai-completions": lambda text: {
        "object": "text_completion",
        "choices": [{"index": 0, "text": text, "finish_reason": "stop"}],
    },
}
READS_CALLS = [wire for wire in BODIES if sp.WIRES[wire].parses_calls]
LEAVES_CALLS = [wire for wire in BODIES if wire not in READS_CALLS]

MARKED = {
    "hermes": f"<tool_call>{CALL}</tool_call>",
    "anthropic-invoke": '<invoke name="show"><parameter name="city">Bern</parameter></invoke>',
    "kimi-k2": '<|tool_call_begin|>functions.show:0<|tool_call_argument_begin|>{"city": "Bern"}<|tool_call_end|>',
    "mistral-v11": '[TOOL_CALLS]show[ARGS]{"city": "Bern"}',
}


def _read(wire: str, text: str, **options: Any) -> list[sp.ToolCall]:
    """The calls of an answer, by whichever way it is read."""
    options = {"tools": [SHOW], **options}
    if wire == "text":
        parser: Any = sp.TextParser(options.pop("dialects", "auto"), **options)
        events = [*parser.feed(text), *parser.close(stopped=True)]
    else:
        parser = sp.StreamParser(wire, **options)
        events = [*parser.feed(json.dumps(BODIES[wire](text)).encode()), *parser.close()]
    calls = parser.response.tool_calls
    told = [event for event in events if isinstance(event, sp.ToolCallComplete)]
    assert [(each.source, each.reason) for each in told] == [(each.source, each.reason) for each in calls]
    assert calls_of(events) == [(call.name, call.arguments) for call in calls if not call.revoked]
    if wire != "text":
        whole = sp.parse_response(BODIES[wire](text), wire, **options).tool_calls
        assert [(each.source, each.reason) for each in whole] == [(each.source, each.reason) for each in calls]
    return [call for call in calls if not call.revoked]


def _reasons(wire: str, text: str, **options: Any) -> list[tuple[str, str]]:
    return [(call.source, call.reason) for call in _read(wire, text, **options)]


@pytest.mark.parametrize("wire", READS_CALLS)
@pytest.mark.parametrize("text", [*MARKED.values(), CALL, f"```json\n{CALL}\n```"])
def test_what_is_not_looked_for_on_a_wire_is_recovered_for_that_reason_alone(wire: str, text: str) -> None:
    assert _reasons(wire, text) == [("recovered", "wire")]
    assert _reasons(wire, text, dialects="all") == [("inband", "")]


@pytest.mark.parametrize("wire", READS_CALLS)
@pytest.mark.parametrize("name", MARKED)
def test_with_its_dialect_named_such_a_call_needs_no_reason(wire: str, name: str) -> None:
    assert _reasons(wire, MARKED[name], dialects=[name]) == [("inband", "")]


@pytest.mark.parametrize("wire", ["text", *LEAVES_CALLS])
@pytest.mark.parametrize("text", [*MARKED.values(), CALL, f"```json\n{CALL}\n```"])
def test_where_calls_in_the_text_are_looked_for_they_need_no_reason(wire: str, text: str) -> None:
    assert _reasons(wire, text) == [("inband", "")]


@pytest.mark.parametrize("wire", ["text", *LEAVES_CALLS])
def test_a_bare_call_is_too_long_only_beyond_what_is_held(wire: str) -> None:
    limits = sp.Limits(max_held_text=len(CALL))
    longer = CALL.replace("Bern", "Bern and Zürich")
    assert _reasons(wire, CALL, limits=limits) == [("inband", "")]
    assert _reasons(wire, longer, limits=limits) == [("recovered", "too_long")]
    assert _reasons(wire, longer, limits=limits, dialects=["bare-json"]) == [("recovered", "too_long")]
    assert _reasons(wire, longer, limits=sp.Limits(max_held_text=None)) == [("inband", "")]
    assert _reasons(wire, longer, limits=limits, dialects=["hermes"]) == [("recovered", "unnamed")]


UNNAMED = {
    "an envelope where no tool is declared": (f'{{"tool_calls": [{CALL}]}}', None),
    "an envelope behind a sentence": (f'I look.\n{{"tool_calls": [{CALL}]}}', [SHOW]),
    "beside one that is declared": (f'[{{"action": "go", "action_input": {{}}}}, {CALL}]', [SHOW]),
    "words of no dialect": ('{"toolName": "show", "args": {"city": "Bern"}}', [SHOW]),
}


@pytest.mark.parametrize("wire", ["text", *BODIES])
@pytest.mark.parametrize("name", UNNAMED)
def test_json_that_no_dialect_reads_is_unnamed_on_every_wire(wire: str, name: str) -> None:
    text, tools = UNNAMED[name]
    assert set(_reasons(wire, text, tools=tools)) == {("recovered", "unnamed")}


@pytest.mark.parametrize("wire", ["text", *LEAVES_CALLS])
def test_json_whose_dialect_was_not_named_is_unnamed(wire: str) -> None:
    assert _reasons(wire, CALL, dialects=["hermes"]) == [("recovered", "unnamed")]
    assert _reasons(wire, CALL, dialects=["hermes", "bare-json"]) == [("inband", "")]


REPAIRED_TEXTS = {
    MARKED["hermes"].replace('"}}<', '",}}<'): "trailing_comma",
    MARKED["hermes"].replace("Bern", "Be\nrn"): "control_char",
    MARKED["hermes"].replace("Bern", "Be\\qrn"): "bad_escape",
    MARKED["hermes"].replace('"name"', "'name'"): "markup",
    MARKED["hermes"].upper().replace(CALL.upper(), CALL): "markup",
    MARKED["hermes"].upper().replace(CALL.upper(), CALL.replace('"}}', '",}}')): "markup",
    MARKED["hermes"].replace('"', "“").replace("“ ", "” "): "markup",
}


@pytest.mark.parametrize("wire", ["text", *BODIES])
@pytest.mark.parametrize("text", REPAIRED_TEXTS)
def test_a_call_in_the_text_that_had_to_be_mended_is_repaired_wherever_it_was_found(wire: str, text: str) -> None:
    assert _reasons(wire, text) == [("repaired", REPAIRED_TEXTS[text])]


@pytest.mark.parametrize("wire", ["text", *BODIES])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I look.\n{'tool_calls': [{'name': 'show', 'arguments': {'city': 'Bern'}}]}", "single_quotes"),
        (f'I look.\n{{"tool_calls": [{CALL},]}}', "trailing_comma"),
        ('I look.\n{"tool_calls": [{"name": "show", "arguments": "{\\"city\\": \\"Bern\\",}"}]}', "trailing_comma"),
    ],
)
def test_json_that_is_found_late_is_repaired_if_it_had_to_be_mended(wire: str, text: str, reason: str) -> None:
    assert _reasons(wire, text) == [("repaired", reason)]


def test_json_in_the_content_has_the_same_reasons_by_itself() -> None:
    for text, told in ((CALL, ("recovered", "unnamed")), (CALL.replace('"', "'"), ("repaired", "single_quotes"))):
        (call,) = JSONContentParser(tools=[SHOW]).parse(text).tool_calls
        assert (call.source, call.reason) == told


def _native(arguments: str, content: str = "") -> dict[str, Any]:
    calls = [{"id": "a", "type": "function", "function": {"name": "show", "arguments": arguments}}]
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


NATIVE = {
    '{"city": "Bern"}': ("native", ""),
    '{"city": "Bern",}': ("repaired", "trailing_comma"),
    "{'city': 'Bern'}": ("repaired", "single_quotes"),
    '{city: "Bern"}': ("repaired", "unquoted_key"),
    '{"city": "Bern" /* the capital */}': ("repaired", "comment"),
    '{"city": "Rome", "city": "Bern"}': ("repaired", "duplicate_key"),
    '```json\n{"city": "Bern"}\n```': ("repaired", "fence"),
    '"{\\"city\\": \\"Bern\\"}"': ("repaired", "encoded_twice"),
    '\ufeff{"city": "Bern"}': ("repaired", "bom"),
    '{"city": "Bern", "sure": True}': ("repaired", "python_literal"),
    '{"city": "Bern", "x": "\\ud800"}': ("repaired", "lone_surrogate"),
}


@pytest.mark.parametrize("arguments", NATIVE)
def test_a_native_call_whose_arguments_were_mended_is_repaired(arguments: str) -> None:
    tool = sp.Tool("show", "", {"type": "object"})
    for call in (
        *sp.parse_response(_native(arguments), tools=[tool]).tool_calls,
        *sp.parse_response(_native(arguments), "openai-chat", dialects=()).tool_calls,
    ):
        assert (call.source, call.reason, call.place) == (*NATIVE[arguments], "field")
        assert call.arguments["city"] == "Bern"


@pytest.mark.parametrize("arguments", ['{"city": "Bern"}', '{"city": "Bern",}'])
def test_a_native_double_that_is_kept_in_place_of_a_call_in_the_text_says_whether_it_was_mended(arguments: str) -> None:
    parsed = CompositeParser(dialects=["hermes"], tools=[SHOW]).parse(_native(arguments, MARKED["hermes"]))
    assert [(call.id, call.source, call.reason) for call in parsed.tool_calls] == [("a", *NATIVE[arguments])]


# -- the words ---------------------------------------------------------------------------------------------------------


def test_every_reason_that_the_library_gives_has_its_words_once() -> None:
    root = Path(sp.__file__).parent
    given = {"markup", "encoded_twice"}
    for path in (root / "json").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("repair", "_repair"):
                given |= {
                    each.value
                    for each in ast.walk(node.args[0])
                    if isinstance(each, ast.Constant) and each.value != "control"
                }
    assert given == set(REPAIRED)
    late = (root / "parser" / "late_calls.py").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", late, re.MULTILINE)) == set(RECOVERED)
    words = [word for reason in (*RECOVERED.values(), *REPAIRED.values()) for word in reason]
    assert len(set(words)) == len(words)


def test_an_event_that_does_not_say_why_is_described_by_its_source() -> None:
    for source in ("recovered", "repaired"):
        event = sp.ToolCallComplete(0, "a", "show", {}, source, "{}")  # type: ignore[arg-type]
        assert find_reason(event) is reasons._UNKNOWN[source]


async def _run(events: Iterable[sp.Event], tool: sp.Tool) -> list[sp.ToolResult]:
    async with sp.ToolRunner([tool]) as runner:
        return [item async for item in runner.run(events) if isinstance(item, sp.ToolResult)]


@pytest.mark.parametrize("wire", READS_CALLS)
def test_the_model_reads_the_true_reason_and_the_developer_finds_it_in_the_result(wire: str) -> None:
    show = sp.Tool("show", "", SHOW.parameters, lambda city: city)
    for text, source, reason in (
        (MARKED["hermes"], "recovered", "wire"),
        (MARKED["hermes"].replace('"}}<', '",}}<'), "repaired", "trailing_comma"),
    ):
        (result,) = anyio.run(_run, sp.iter_events([json.dumps(BODIES[wire](text))], wire, tools=[show]), show)
        words = {**RECOVERED, **REPAIRED}[reason]
        assert result.failure is not None
        assert result.failure.code == source
        assert result.failure.details == {"reason": reason, "explanation": words.for_developer}
        assert (result.error or "").startswith(f"the call was not run: {words.for_model}; to call it, ")
