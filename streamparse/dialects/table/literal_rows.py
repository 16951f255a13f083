"""Formats of grammars F and G: calls written as Python, or as brace literals."""

from __future__ import annotations

from msgspec.structs import replace

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.grammars.brace_calls import BraceCalls
from streamparse.dialects.grammars.call_block import Branch, IfDeclared
from streamparse.dialects.grammars.channels import StrippedThought
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.python_calls import CALL_HEAD, PythonCalls
from streamparse.dialects.grammars.stray_closers import find_stray_closer

_CALL = rf"\s{{0,64}}{CALL_HEAD}"
_LIST = rf"\s{{0,64}}\[\s{{0,64}}{CALL_HEAD}"
_LIKE_JSON = r"\s{0,64}(?:\[\s{0,64})?\{"
_LFM2_CLOSES = ("<|tool_call_end|>",)
_LFM2_JSON = JsonCalls(closes=_LFM2_CLOSES, opens=("<|tool_call_start|>",))
_LLAMA_CLOSES = ("<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>")

# How a call goes on after a string, as a pattern.
_ON = r"(?:[\]}]|,[\w-]{1,64}+:)"

# A thought that holds nothing, not even the line break behind its label.
_GEMMA4_EMPTY = "<|channel>thought<channel|>"

# The server took the opening token away, or the prompt ended with it.
_GEMMA4_THOUGHT = Dialect(
    "gemma4 thought",
    (Opener("thought\n", position="start", auto="start"),),
    StrippedThought(("<channel|>",), ("<|tool_call>",)),
    "",
)

ROWS = (
    Dialect(
        "pythonic",
        (
            Opener("[", inclusive=True, auto="start", position="start", bare=True),
            Opener("[", inclusive=True, auto="start", declared=True, bare=True),
            Opener("<|python_start|>"),
        ),
        PythonCalls(closes=_LLAMA_CLOSES),
        _LIST,
        models="Llama 3.2 1B and 3B, Llama 4, ToolACE-8B, many fine-tunes",
        example='[get_weather(city="Paris", days=3), now()]',
    ),
    Dialect(
        "llama4-pythonic",
        markers("<|python_start|>"),
        PythonCalls(closes=_LLAMA_CLOSES),
        models="Llama 4 Scout and Maverick",
        example='<|python_start|>[get_weather(city="Paris", days=3)]<|python_end|>',
    ),
    Dialect(
        "llama3-builtin",
        markers("<|python_tag|>"),
        PythonCalls(closes=_LLAMA_CLOSES, method=".call"),
        _CALL,
        models="Llama 3.1 and 3.2 with built-in tools",
        example='<|python_tag|>brave_search.call(query="weather in Paris")<|eom_id|>',
    ),
    Dialect(
        "lfm2",
        # LFM2.5 leaves the markers out at times.
        (
            *markers("<|tool_call_start|>"),
            Opener("[", inclusive=True, auto="start", position="start", declared=True, bare=True),
        ),
        Branch(
            _LIKE_JSON,
            # Without its marker a list of objects that only have names could be any list.
            IfDeclared(replace(_LFM2_JSON, explicit=True), _LFM2_JSON),
            PythonCalls(closes=_LFM2_CLOSES),
        ),
        models="LFM2, LFM2-8B-A1B, LFM2.5",
        example='<|tool_call_start|>[get_weather(city="Paris", days=3)]<|tool_call_end|>',
    ),
    Dialect(
        "olmo3",
        markers("<function_calls>"),
        PythonCalls(closes=("</function_calls>",)),
        models="OLMo 3 Instruct and Think",
        example='<function_calls>\nget_weather(city="Paris", days=3)\nnow()\n</function_calls>',
    ),
    Dialect(
        "gemma4",
        markers("<|tool_call>"),
        BraceCalls('<|"|>', closes=("<tool_call|>",)),
        models="Gemma 4",
        example='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>',
        # Dynamo reads calls in its open thought, and the thought goes on.
        in_thought="resumes",
        thoughts=("gemma4",),
        # The first one stops the model after its calls; some servers let it repeat it.
        drops=("<|tool_response>", "<turn|>", "<eos>", "<end_of_turn>", _GEMMA4_EMPTY),
        opens_text=(_GEMMA4_EMPTY,),
        companions=(find_stray_closer(r'<\|"\|>' + _ON, '<|"|>'), _GEMMA4_THOUGHT),
    ),
    Dialect(
        "functiongemma",
        markers("<start_function_call>"),
        BraceCalls("<escape>", closes=("<end_function_call>",)),
        models="FunctionGemma 270M",
        example="<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call>",
        companions=(find_stray_closer("<escape>" + _ON, "<escape>"),),
        drops=("<start_function_response>",),  # it stops the model after its calls
    ),
)
