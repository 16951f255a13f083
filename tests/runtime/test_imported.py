"""Conversations of others become histories, and are sent on as they were."""

import pytest
from history_answers import WIRES, answer_of, results_of

import streamparse as sp

CALL = {"id": "call_7", "type": "function", "function": {"name": "look", "arguments": '{"at": "a"}'}}
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is there?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_7", "content": "a door"},
    {"role": "assistant", "content": "A door."},
    {"role": "user", "content": "And behind it?"},
]


def test_messages_of_openai_become_a_history_that_writes_them_again():
    history = sp.History.from_messages("openai", OPENAI)
    assert (history.system, len(history.rounds)) == ("Be brief.", 2)
    assert [each.result for each in history.rounds[0].results] == ["a door"]
    assert history.messages("openai") == OPENAI


@pytest.mark.parametrize("provider", WIRES)
def test_what_a_history_has_written_it_reads_again(provider):
    response = answer_of(provider)
    history = sp.History().with_prompt("Hello").with_round(response, results_of(response), provider=provider)
    written = history.messages(provider)
    read = sp.History.from_messages(provider, written)
    assert read.messages(provider) == written
    assert len(read.rounds) == 1


def test_such_a_history_goes_to_other_providers_and_on():
    history = sp.History.from_messages("openai", OPENAI)
    blocks = history.messages("anthropic")
    assert [each["role"] for each in blocks] == ["user", "assistant", "user", "assistant", "user"]
    assert blocks[1]["content"][1]["name"] == "look"


@pytest.mark.parametrize("messages", ["hello", {"role": "user"}, [sp.History()]])
def test_what_is_no_list_of_messages_is_refused(messages):
    with pytest.raises(TypeError, match="list of a provider's messages"):
        sp.History.from_messages("openai", messages)
