"""What ends calls and turns, and what begins the turn of somebody else, whatever the dialect.

Next to a call, with nothing but white space up to the end of the text or to another call, it is no text: models close
a call twice, or with the tag of another dialect, or leave out only the opening tag; and some servers leave the token
that stops the model.  Before visible text it is text.  Next to a call without a marker of its own only the ends of
turns count.

A model that is not stopped behind its call may go on with the answer of the tool, as it invents it, and with calls that
rest on it.  The markers that begin such a turn in the templates of models are here; everything after one is text.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ENDINGS", "OTHER_TURNS", "OWN_ENDS", "TURN_ENDS"]

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
        "<|ifm|im_end|>",  # K2 Horizon
        "</longcat_s>",  # LongCat
        "[|endofturn|]",  # EXAONE
        "[e~[",  # MiniMax
        "<seed:eos>",
        "<|hy_eos:opensource|>",  # Hy3
    )
)
"""Those of them that end a turn."""

OWN_ENDS: Final = frozenset(
    (
        "<|role_end|>",  # Ling
        "<|END_OF_TURN_TOKEN|>",  # Command
        "<|ifm|im_end|>",  # K2 Horizon
        "[|endofturn|]",  # EXAONE
        "<seed:eos>",
        "<|hy_eos:opensource|>",  # Hy3
    )
)
"""Tokens that end the turns of one family of models, and of no other: right behind text they are none of it."""

ENDINGS: Final = TURN_ENDS.union(_CLOSERS)
"""The markers that are structure next to a call."""

_HEADERS: Final = tuple(
    before + role + behind
    for before, behind, roles in (
        ("<|im_start|>", "", "user tool system environment observation"),  # ChatML; `tool_response` of Step too
        ("<|start_header_id|>", "<|end_header_id|>", "user tool system ipython"),  # Llama 3
        ("<|start_header_id|>", "", "tool:"),  # CWM, with the tool's name
        ("<|header_start|>", "<|header_end|>", "user tool system ipython"),  # Llama 4
        ("<|start_of_role|>", "<|end_of_role|>", "user tool system tool_response"),  # Granite 3 and 4
        ("<|start|>", "", "user system developer functions."),  # Harmony
        ("<start_of_turn>", "", "user developer"),  # Gemma 3, FunctionGemma
        ("<|turn>", "", "user tool system"),  # Gemma 4
        ("<|begin|>", "", "user"),  # Solar Open
        ("<|im:start|>", "", "user system"),  # Solar Open 2
        ("<|ifm|im_start|>", "", "user tool system"),  # K2 Horizon
        ("<seed:bos>", "", "user tool system"),  # Seed-OSS
        ("]~b]", "", "user tool system"),  # MiniMax-M2
        ("<beginning_of_sentence>", "", "user tool system"),  # MiniMax-M1
        ("<|open|>message role=", "", '"user" "tool" "system"'),  # Kimi K3
        ("<role>", "</role>", "HUMAN OBSERVATION SYSTEM"),  # Ling
        ("<SPECIAL_11>", "", "User"),  # Nemotron Nano 2
        ("<extra_id_1>", "", "User Tool"),  # Nemotron 4
        ("[|", "|]", "user tool system"),  # EXAONE
        ("<|message_", "|>", "user tool system"),  # Inkling
        ("<|START_OF_TURN_TOKEN|><|", "_TOKEN|>", "USER SYSTEM"),  # Command
    )
    for role in roles.split()
)

_TOKENS: Final = (
    *("<|user|>", "<|tool|>", "<|observation|>", "<|system|>"),  # Phi, GLM, Zephyr
    *("<|im_user|>", "<|im_system|>"),  # Kimi K2
    *("<|user_start|>", "<|system_start|>", "<|developer_start|>"),  # Apertus
    *("<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|START_TOOL_RESULT|>"),  # Command
    *("<｜User｜>", "<｜tool▁outputs▁begin｜>", "<｜tool▁output▁begin｜>"),  # DeepSeek
    *("<｜tool_outputs_begin｜>", "<｜tool_output_begin｜>"),  # without its own underscore
    *("<｜hy_User｜>", "<|hy_User|>", "<longcat_user>"),  # Hunyuan, LongCat
    *("[INST]", "[TOOL_RESULTS]", "[SYSTEM_PROMPT]"),  # Mistral
    "[TOOL_RESULT]",  # LM Studio
)

_RESULTS: Final = (
    *("<tool_response>", "<tool_responses>"),  # Hermes, Qwen, GLM; Hunyuan
    "<TOOL_RESPONSE>",  # Nemotron
    "<|tool_response>",  # Gemma 4
    "<|tool_response|>",  # Phi-4 and Granite tunes
    "<|tool_response_start|>",  # LFM2
    *("<|tool_response:begin|>", "<|tool_response:start|>"),  # Solar Open and Solar Open 2
    "<start_function_response>",  # FunctionGemma
    *("<function_results>", "<function_response>"),  # Claude
    *("<tool_result>", "<tool_results>", "<tool_output>"),  # prompts
)

OTHER_TURNS: Final = frozenset((*_HEADERS, *_TOKENS, *_RESULTS))
"""The markers that begin somebody else's turn: a user's, a system's, a tool's."""
