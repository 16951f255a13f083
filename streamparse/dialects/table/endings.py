"""What ends calls and turns, whatever the format.

Next to a call, with nothing but white space up to the end of the text or to another call, it is no text: models close
a call twice, or with the tag of another format, or leave out only the opening tag; and some servers leave the token
that stops the model.  Before visible text it is text.  Next to a call without a marker of its own only the ends of
turns count.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ENDINGS", "TURN_ENDS"]

_CLOSERS = (
    "</tool_call>",
    "<tool_call>",  # Hermes' tag without its slash
    "</tool_calls>",
    "</function>",
    "</function_invocation>",  # Qwen3.6
    "</minimax:tool_call>",
    "</seed:tool_call>",
    "<|/tool_call|>",  # Phi-4-mini with Ollama's template
)

TURN_ENDS: Final = frozenset(
    (
        *("<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<end_of_turn>", "</s>"),
        *("<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>"),  # Llama 3 and 4
        "<|role_end|>",  # Ling
        "[|endofturn|]",  # EXAONE
        "[e~[",  # MiniMax
        "<seed:eos>",
        "<|hy_eos:opensource|>",  # Hy3
    )
)
"""Those of them that end a turn."""

ENDINGS: Final = TURN_ENDS.union(_CLOSERS)
"""The markers that are structure next to a call."""
