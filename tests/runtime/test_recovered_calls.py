"""A call that was found only at the end is in the history once: as a call, not as text, too."""

from __future__ import annotations

import json

import anyio
import pytest

import streamparse as sp

CALL = '<tool_call>{"name": "show", "arguments": {"city": "Bern"}}</tool_call>'


def show(city: str) -> str:
    return city


TOOLS = [sp.Tool("show", "", {"type": "object", "properties": {"city": {}}, "required": ["city"]}, show)]


def _body(wire: str, text: str) -> str:
    if wire == "anthropic":
        block = {"type": "text", "text": text}
        return json.dumps({"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"})
    part = {"type": "output_text", "text": text}
    return json.dumps({"object": "response", "status": "completed", "output": [{"type": "message", "content": [part]}]})


def _ids(sent: str) -> list[str]:
    """The ids of the calls and of the results of a request, in order."""
    keys = ("id", "tool_use_id", "call_id")
    return [pair[1] for pair in _pairs(json.loads(sent)) if pair[0] in keys]


def _pairs(value: object) -> list[tuple[str, str]]:
    if isinstance(value, list):
        return [pair for each in value for pair in _pairs(each)]
    if not isinstance(value, dict):
        return []
    return [*((key, each) for key, each in value.items() if isinstance(each, str)), *_pairs([*value.values()])]


@pytest.mark.parametrize("wire", ["anthropic", "openai-responses"])
def test_each_call_is_sent_once_with_an_id_of_its_own(wire: str) -> None:
    sent: list[str] = []

    async def model(request: sp.Request) -> list[bytes]:
        sent.append(json.dumps(request.body(wire, "m")))
        return [_body(wire, f"I look.\n{CALL}" if len(sent) < 3 else "Done.").encode()]

    result = anyio.run(sp.Agent(model, TOOLS).run, "Look")
    assert (result.output, len(sent)) == ("Done.", 3)
    assert [body.count("<tool_call>") for body in sent] == [0, 0, 0]
    assert [body.count("I look.") for body in sent] == [0, 1, 2]
    assert _ids(sent[-1]) == ["call_0", "call_0", "call_1", "call_1"]


TEXTS = {
    "markup behind text": (f"I look.\n{CALL}", "I look."),
    "two calls": (f"I look.\n{CALL}\n{CALL}\n", "I look."),
    "markup that is mended": (f"I look.\n{CALL.replace('tool_call', 'TOOL_CALL')}", "I look."),
    "markup that is all of it": (CALL, ""),
    "a call in Python": ('show(city="Bern")', ""),
    "JSON that is all of it": ('{"name": "show", "arguments": {"city": "Bern"}}', ""),
    "an envelope and what follows": (
        '{"tool_calls": [{"name": "show", "arguments": {"city": "Bern"}}]}\nI wait.',
        "I wait.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("whole", [False, True])
def test_a_message_holds_such_a_call_once_and_the_answer_all_of_its_text(name: str, whole: bool) -> None:
    text, said = TEXTS[name]
    if whole:
        response = sp.parse_response(_body("anthropic", text), tools=TOOLS)
    else:
        parser = sp.StreamParser("anthropic", tools=TOOLS)
        parser.feed(_body("anthropic", text))
        parser.close()
        response = parser.response
        assert response.content == text
    assert response.tool_calls
    blocks = sp.as_message(response, "anthropic")["content"]
    shown = [block["text"] for block in blocks if block["type"] == "text"] if isinstance(blocks, list) else [blocks]
    assert "".join(shown).strip() == said
    assert [block["input"] for block in blocks if block["type"] == "tool_use"] == [
        call.arguments for call in response.tool_calls
    ]


def test_text_between_such_calls_stays_with_them() -> None:
    text = f"{CALL}\nand\n{CALL}"
    response = sp.parse_response(_body("anthropic", text), tools=TOOLS)
    assert [call.source for call in response.tool_calls] == ["recovered"] * 2
    assert [block.get("text") for block in sp.as_message(response, "anthropic")["content"]] == [text, None, None]


@pytest.mark.parametrize(
    ("heard", "said"),
    [("I lo", "I lo"), ("I look.\n<tool_", "I look.\n"), ("Something else", "Something else")],
)
def test_of_such_an_answer_what_was_heard_is_sent_and_no_markup(heard: str, said: str) -> None:
    response = sp.parse_response(_body("anthropic", f"I look.\n{CALL}"), tools=TOOLS)
    history = sp.History().with_prompt("Look").with_round(response, [], heard=heard)
    _, answer, *_ = history.messages("anthropic", "m")
    assert [block.get("text") for block in answer["content"]] == [said, None]
