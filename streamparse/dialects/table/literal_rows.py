"""Formats of grammar G: brace literals."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.grammars.brace_calls import BRACE_HEAD, BraceCalls
from streamparse.dialects.grammars.stray_closers import leftover
from streamparse.dialects.grammars.stripped_thought import StrippedThought

__all__ = ["ROWS"]

_ON = r"(?:[\]}]|,[\w-]{1,64}+:)"
"""How a call goes on behind a string, as a pattern."""

_GEMMA4_THOUGHT = Dialect(
    "gemma4 thought",
    (Opener("thought\n", position="start", auto="start"),),
    "",
    StrippedThought(("<channel|>",), ("<|tool_call>",)),
)
"""The server took the opening token away, or the prompt ended with it."""

_GEMMA4 = Dialect(
    "gemma4",
    markers("<|tool_call>"),
    BRACE_HEAD,
    BraceCalls('<|"|>', closes=("<tool_call|>",)),
    models="Gemma 4",
    example='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>',
    # Dynamo reads calls in its open thought, and the thought goes on.
    in_thought="resumes",
    thoughts=("gemma4",),
    drops=("<turn|>", "<eos>", "<end_of_turn>"),
    companions=(leftover("gemma4", r'<\|"\|>' + _ON, '<|"|>'), _GEMMA4_THOUGHT),
)

_FUNCTIONGEMMA = Dialect(
    "functiongemma",
    markers("<start_function_call>"),
    BRACE_HEAD,
    BraceCalls("<escape>", closes=("<end_function_call>",)),
    models="FunctionGemma 270M",
    example="<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call>",
    companions=(leftover("functiongemma", "<escape>" + _ON, "<escape>"),),
)

ROWS = (_GEMMA4, _FUNCTIONGEMMA)
