"""Ways to mark reasoning in text.

Some dialects mark it in the header of a message; there the grammar of the envelope opens the thought, and the row
says what ends one that was open from the start.
"""

from __future__ import annotations

from functools import partial

from streamparse.dialects.engine.grammar import Thought

_HARMONY = "<|channel|>analysis<|message|>"
_MUSE = "to=self<|message|>"
_MUSE_ANSWER = "<|start|>assistant to=user<|message|>"  # the end before it may be missing
_MUSE_ECHOES = (_MUSE, " " + _MUSE, "<|start|>assistant " + _MUSE, "<|message|>")  # the prompt may name the recipient

_token = partial(Thought, token=True)

_ROWS = (
    Thought("think", ("<think>",), ("</think>",), models="DeepSeek R1, Qwen3, QwQ, GLM, MiniMax-M2, and more"),
    Thought("thinking", ("<thinking>",), ("</thinking>",), models="prompted in the style of Claude"),
    # Gemini writes it by Google's OpenAI endpoint.
    Thought("thought", ("<thought>",), ("</thought>",), models="EXAONE Deep, Gemini"),
    # Each piece of a stream has tags of its own.
    Thought("reasoning", ("<reasoning>",), ("</reasoning>",), models="gpt-oss on Amazon Bedrock", pieces=True),
    Thought("think-old-kimi", ("◁think▷",), ("◁/think▷",), models="Kimi-VL, Kimi k1.5"),
    _token("mistral", ("[THINK]",), ("[/THINK]",), models="Magistral, Ministral 3"),
    _token("seed", ("<seed:think>",), ("</seed:think>",), models="Seed-OSS"),
    _token("mm", ("<mm:think>",), ("</mm:think>",), models="MiniMax-M3"),
    # As released, each token of the model has this suffix.
    _token("hy", ("<think:opensource>",), ("</think:opensource>",), models="Hy3, Hy4"),
    _token("ifm", ("<ifm|think>",), ("</ifm|think>",), models="K2 Horizon"),
    _token("ifm-fast", ("<ifm|think_fast>",), ("</ifm|think_fast>",), models="K2 Horizon"),
    _token("ifm-faster", ("<ifm|think_faster>",), ("</ifm|think_faster>",), models="K2 Horizon"),
    _token("cohere", ("<|START_THINKING|>",), ("<|END_THINKING|>",), models="Command A Reasoning, Command R7B"),
    _token("apertus", ("<|inner_prefix|>",), ("<|inner_suffix|>",), models="Apertus"),
    _token("gemma4", ("<|channel>thought\n", "<|channel>"), ("<channel|>",), models="Gemma 4"),
    Thought("harmony", (), ("<|end|>",), models="gpt-oss, Beam", echoes=(_HARMONY, "<|start|>assistant" + _HARMONY)),
    Thought("muse", (), ("<|eom|>", "<|eot|>", _MUSE_ANSWER), models="Muse-Glimmer, Muse Spark", echoes=_MUSE_ECHOES),
    _token(
        "inkling",
        ("<|message_model|><|content_thinking|>", "<|content_thinking|>"),
        ("<|end_message|>",),
        models="Inkling",
    ),
    _token("kimi-k3", ("<|open|>think<|sep|>",), ("<|close|>think<|sep|>",), models="Kimi K3"),
    _token("plamo", ("<|plamo:begin_think:plamo|>",), ("<|plamo:end_think:plamo|>",), models="PLaMo 3"),
    _token("solar", ("<|begin|>assistant<|think|>", "<|think|>"), ("<|end|>",), models="Solar Open"),
    _token("solar2", ("<|think:start|>",), ("<|think:end|>",), models="Solar Open 2"),
    Thought(
        "granite-phrase",
        ("Here is my thought process:", "Here's my thought process:"),
        ("Here is my response:", "Here's my response:"),
        models="Granite 3.2",
    ),
    Thought("apriel", ("Here are my reasoning steps:\n",), ("[BEGIN FINAL RESPONSE]",), models="Apriel 1.5 and 1.6"),
)

THOUGHTS: dict[str, Thought] = {row.name: row for row in _ROWS}
"""Every way to mark reasoning in text, by name."""
