"""The tokens that a chat template puts around answers and calls are no text."""

from __future__ import annotations

from itertools import product

import pytest
from cuts import assert_same_in_every_cut, text_of

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
    "gemma4": ("<turn|>", "<eos>", "<end_of_turn>"),
    "muse-atem": HARMONY,
    "harmony": HARMONY,
    "beam": HARMONY,
}


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_of_a_template_is_no_text_where_its_dialect_is_named(name: str) -> None:
    for token in TOKENS[name]:
        events = assert_same_in_every_cut(lambda: sp.TextParser([name]), f"So.{token}", most=4)
        assert text_of(events) == "So.", token
