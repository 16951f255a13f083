"""Several answers of one conversation: each turn of the dictation gets its own."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from dictation import TOOLS, hermes_call
from live_server import CHAT, Scripted

pytestmark = pytest.mark.live

CALL = hermes_call("search", {"query": "tea", "limit": 2})
RESULT = "a page about <tea>, and one about }{ tea\n" * 20


def _answer(server: Scripted, messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = {"messages": messages, "tools": TOOLS, "temperature": 0, "max_tokens": 500}
    reply = httpx.post(server.url + CHAT, json=body, timeout=60)
    message: dict[str, Any] = reply.raise_for_status().json()["choices"][0]["message"]
    return message


def test_each_turn_of_a_conversation_gets_the_answer_that_its_first_message_dictates(hermes: Scripted) -> None:
    script = hermes.script_turns([f"I look.\n{CALL}", CALL, "Tea is a drink."], "What is tea?", TOOLS)
    messages: list[dict[str, Any]] = [{"role": "user", "content": script}]
    for text in ("I look.", ""):
        messages.append(_answer(hermes, messages))
        assert messages[-1]["content"].strip() == text
        (call,) = messages[-1]["tool_calls"]
        assert call["function"]["arguments"] == '{"query": "tea", "limit": 2}'
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": RESULT})
    messages.append(_answer(hermes, messages))
    assert messages[-1]["content"] == "Tea is a drink."
    messages.append({"role": "user", "content": "And then?"})
    with pytest.raises(httpx.HTTPStatusError):
        _answer(hermes, messages)


def test_a_later_message_may_dictate_anew(hermes: Scripted) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": hermes.script_turns(["One."], "First.", TOOLS)}]
    messages.append(_answer(hermes, messages))
    messages.append({"role": "user", "content": hermes.script_turns(["Two."], "Second.", TOOLS)})
    assert [messages[1]["content"], _answer(hermes, messages)["content"]] == ["One.", "Two."]
