"""The tokens that a chat template puts around answers and calls are no text."""

from __future__ import annotations

from itertools import product

import pytest
from cuts import assert_same_in_every_cut, calls_of, revoked_of, text_of

import streamparse as sp


def _spell(*words: str) -> tuple[str, ...]:
    """How servers write a token of DeepSeek: in its own characters, or in those of ASCII."""
    return tuple(f"<{bar}{word.replace(' ', gap)}{bar}>" for word, bar, gap in product(words, "｜|", "▁_ "))


HARMONY = ("<|call|>", "<|end|>", "<|return|>", "<|eom|>", "<|eot|>")
TOKENS: dict[str, tuple[str, ...]] = {
    "hermes": ("<|im_end|>", "<|endoftext|>"),
    "ernie45": ("<response>", "</response>"),
    "granite-20b-fc": ("<|endoftext|>",),
    "internlm2": ("<|action_end|>", "<|im_end|>"),
    "gigachat3": ("<|message_sep|>", "</s>"),
    "inkling": ("<|message_model|>", "<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>"),
    "hyperclova-x": ("<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>", "<|stop|>", "<|endofturn|>"),
    "llama3-json": ("<|eom_id|>", "<|eot_id|>"),
    "mistral-array": ("[/TOOL_CALLS]", "</s>"),
    "tool_calls-array": ("<answer>", "</answer>"),
    "granite-array": ("<response>", "</response>", "<|end_of_text|>"),
    "functools": ("<|end|>", "<|endoftext|>"),
    "cohere-action": (
        *("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>", "<|END_ACTION|>"),
        *("<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
    ),
    "command-r-plus": ("<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
    "apertus": ("<|tools_suffix|>", "<|assistant_end|>"),
    "sarashina": ("</s>",),
    "mistral-v11": ("</s>",),
    "deepseek-v3": _spell("tool calls begin", "tool calls end", "end of sentence"),
    "deepseek-v3.1": _spell("tool calls begin", "tool calls end", "end of sentence"),
    "kimi-k2": (
        *("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
        *("<|tool_calls_section_end|>", "<|tool_call_section_end|>", "<|im_end|>"),
    ),
    "solar-open": ("<|begin|>assistant<|content|>", "<|begin|>assistant", "<|content|>", "<|calls|>", "<|flush|>"),
    "plamo3": (
        *("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
        *("<|plamo:end_tool_request:plamo|>", "<|plamo:tag|>"),
    ),
    "functionary-v3.2": (">>>all\n", "<|eot_id|>"),
    "function-tag-json": ("<|eom_id|>", "<|eot_id|>"),
    "dsml-v3.2": ("<｜end▁of▁sentence｜>",),
    "dsml-v4": ("<｜end▁of▁sentence｜>",),
    "dsml-v4.1": ("<｜end▁of▁sentence｜>",),
    "gcml": ("<|message_sep|>",),
    "kimi-k3": (
        *("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>tools<|sep|>", "<|close|>message<|sep|>"),
    ),
    "solar-open-2": ("<|im:start|>assistant<|im:content|>", "<|im:end|>"),
    "glm-4.5": ("<|observation|>", "<|role_end|>"),
    "glm-4.7": ("<|observation|>",),
    "glm-5.3": ("<|observation|>",),
    "k2-horizon": ("</ifm|tool_calls>",),
    "gemma4": ("<|tool_response>", "<turn|>", "<eos>", "<end_of_turn>"),
    "functiongemma": ("<start_function_response>",),
    "muse-atem": HARMONY,
    "harmony": HARMONY,
    "beam": HARMONY,
}


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_of_a_template_is_no_text_where_its_dialect_is_named(name: str) -> None:
    for token in TOKENS[name]:
        events = assert_same_in_every_cut(lambda: sp.TextParser([name]), f"So.{token}", most=4)
        assert text_of(events) == "So.", token


TOOLS = [{"name": "now", "parameters": {"type": "object", "properties": {}}}]
CALLS = {
    "marked": '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    "bare": '{"name": "now", "arguments": {}}',
}


@pytest.mark.parametrize("kind", CALLS)
def test_where_the_end_cuts_a_longer_token_the_shorter_one_in_it_is_structure(kind: str) -> None:
    for blanks in ("", "\n", "\n\n"):  # with one line break HyperCLOVA X's token of the next turn begins
        answer = f"{CALLS[kind]}<|im_end|>{blanks}"
        events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), answer)
        assert (len(calls_of(events)), revoked_of(events), text_of(events)) == (1, [], ""), blanks


def test_of_a_longer_token_that_the_end_cuts_only_the_shorter_one_is_structure() -> None:
    answer = f"{CALLS['marked']}<|im_end|>\n<|im_start|>assis"
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), answer)
    assert text_of(events) == "\n<|im_start|>assis"


@pytest.mark.parametrize(
    ("name", "token"), [("gemma4", "<|tool_response>"), ("functiongemma", "<start_function_response>")]
)
def test_the_token_that_stops_a_model_after_its_calls_is_no_text_however_often_it_comes(name: str, token: str) -> None:
    answer = sp.DIALECTS[name].example + 99 * token
    events = assert_same_in_every_cut(sp.TextParser, answer, most=4)
    assert (len(calls_of(events)), text_of(events)) == (1, "")


@pytest.mark.parametrize("dialects", ["auto", ["anthropic-invoke"]])
@pytest.mark.parametrize("name", ["", "antml:"])
def test_the_tags_around_the_calls_are_no_text_with_a_namespace_either(dialects: str | list[str], name: str) -> None:
    invoke = f'<{name}invoke name="now">\n</{name}invoke>'
    answer = f"Look.\n<{name}function_calls>\n{invoke}\n</{name}function_calls>"
    events = assert_same_in_every_cut(lambda: sp.TextParser(dialects, tools=TOOLS), answer)
    assert (len(calls_of(events)), text_of(events)) == (1, "Look.\n")
