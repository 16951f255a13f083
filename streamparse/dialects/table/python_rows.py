"""Formats of grammar F: calls written as Python."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.grammars.branch import Either
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.python_calls import CALL_HEAD, PythonCalls

__all__ = ["ROWS"]

_CALL = rf"\s{{0,64}}{CALL_HEAD}"
_CALLS = rf"\s{{0,64}}(?:\[\s{{0,64}})?{CALL_HEAD}"
_LIST = rf"\s{{0,64}}\[\s{{0,64}}{CALL_HEAD}"
_LIKE_JSON = r"\s{0,64}(?:\[\s{0,64})?\{"
_LFM2_CLOSES = ("<|tool_call_end|>",)
_LLAMA_CLOSES = ("<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>")

_PYTHONIC = Dialect(
    "pythonic",
    (
        Opener("[", inclusive=True, auto="start", position="start", bare=True),
        Opener("[", inclusive=True, auto="start", declared=True, bare=True),
        Opener("<|python_start|>"),
    ),
    _LIST,
    PythonCalls(closes=_LLAMA_CLOSES),
    models="Llama 3.2 1B and 3B, Llama 4, ToolACE-8B, many fine-tunes",
    example='[get_weather(city="Paris", days=3), now()]',
)

_LLAMA4 = Dialect(
    "llama4-pythonic",
    markers("<|python_start|>"),
    _CALLS,
    PythonCalls(closes=_LLAMA_CLOSES),
    models="Llama 4 Scout and Maverick",
    example='<|python_start|>[get_weather(city="Paris", days=3)]<|python_end|>',
)

_LLAMA3_BUILTIN = Dialect(
    "llama3-builtin",
    markers("<|python_tag|>"),
    _CALL,
    PythonCalls(closes=_LLAMA_CLOSES, method=".call"),
    models="Llama 3.1 and 3.2 with built-in tools",
    example='<|python_tag|>brave_search.call(query="weather in Paris")',
)

_LFM2 = Dialect(
    "lfm2",
    # LFM2.5 leaves the markers out at times.
    (
        *markers("<|tool_call_start|>"),
        Opener("[", inclusive=True, auto="start", position="start", declared=True, bare=True),
    ),
    rf"(?:{_CALLS}|{_LIKE_JSON})",
    Either(
        _LIKE_JSON,
        JsonCalls(closes=_LFM2_CLOSES, opens=("<|tool_call_start|>",)),
        PythonCalls(closes=_LFM2_CLOSES),
    ),
    models="LFM2, LFM2-8B-A1B, LFM2.5",
    example='<|tool_call_start|>[get_weather(city="Paris", days=3)]<|tool_call_end|>',
)

_OLMO3 = Dialect(
    "olmo3",
    markers("<function_calls>"),
    _CALLS,
    PythonCalls(closes=("</function_calls>",)),
    models="OLMo 3 Instruct and Think",
    example='<function_calls>\nget_weather(city="Paris", days=3)\nnow()\n</function_calls>',
)

ROWS = (_PYTHONIC, _LLAMA4, _LLAMA3_BUILTIN, _LFM2, _OLMO3)
