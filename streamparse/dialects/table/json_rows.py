"""Formats of grammar A: a marker, then a JSON object; and JSON without any marker."""

from __future__ import annotations

from streamparse.dialects.envelope import ARGUMENT_KEYS, NAME_KEYS
from streamparse.dialects.grammar import Dialect, Opener, markers
from streamparse.dialects.json_calls import JsonCalls

__all__ = ["ROWS"]

_JSON = r"\s{0,64}[\[{]"
_OBJECT = r"\s{0,64}\{"
_LOOK_ALIKES = ("tools", "function", "function-call", "function_call", "toolcall", "tool_use", "tool")

_HERMES = Dialect(
    "hermes",
    markers("<tool_call>"),
    _JSON,
    JsonCalls(closes=("</tool_call>",), opens=("<tool_call>",)),
    models="Hermes 2 Pro and 3, Qwen2.5, Qwen3, QwQ, SmolLM3, Granite 4",
    example='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    in_thought="ends",
)

_GRANITE_20B = Dialect(
    "granite-20b-fc",
    markers("<function_call>"),
    _OBJECT,
    JsonCalls(closes=("</function_call>",), opens=("<function_call>",)),
    models="granite-20b-functioncalling",
    example='<function_call> {"name": "get_weather", "arguments": {"city": "Paris"}}',
)

_TOOLS_TAG = Dialect(
    "tools-tag-json",
    markers(*(f"<{tag}>" for tag in _LOOK_ALIKES)),
    _JSON,
    # Without "parameters": a model that echoes the schemas of its prompt, in <tools>, makes no call.
    JsonCalls(
        closes=tuple(f"</{tag}>" for tag in _LOOK_ALIKES),
        opens=tuple(f"<{tag}>" for tag in _LOOK_ALIKES),
        last_closes=("</tool",),
        arguments=("arguments",),
        explicit=True,
    ),
    models="Qwen2.5-Coder and other drifting fine-tunes",
    example='<tools>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tools>',
)

_LLAMA3 = Dialect(
    "llama3-json",
    (Opener("<|python_tag|>"), Opener("{", inclusive=True, auto="start", placed="start")),
    _OBJECT,
    JsonCalls(closes=("<|eom_id|>", "<|eot_id|>")),
    models="Llama 3.1, 3.2, 3.3, Llama 4 with a JSON template",
    example='<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}',
)

_BARE = Dialect(
    "bare-json",
    (
        Opener("{", inclusive=True, auto="start", placed="start"),
        Opener("[", inclusive=True, auto="start", placed="start"),
    ),
    r"(?:\[\s{0,64})?\{\s{0,64}[\"']",
    JsonCalls(
        closes=("<|eom_id|>", "<|eot_id|>"),
        names=(*NAME_KEYS, "function"),
        arguments=ARGUMENT_KEYS,
        explicit=True,
    ),
    models="any model without a working template, or whose server strips the markers",
    example='{"name": "get_weather", "arguments": {"city": "Paris"}}',
)

_FENCED = Dialect(
    "fenced-json",
    tuple(Opener(f"```{label}", auto="start", placed="line") for label in ("json", "JSON", "tool_call", "")),
    r"[ \t]{0,8}\r?\n\s{0,64}(?:\[\s{0,64})?\{\s{0,64}[\"']",
    JsonCalls(
        closes=("```",),
        names=NAME_KEYS,
        arguments=ARGUMENT_KEYS,
        explicit=True,
    ),
    models="Qwen2.5-Coder, xLAM, many small models",
    example='```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
)

ROWS = (_HERMES, _GRANITE_20B, _TOOLS_TAG, _LLAMA3, _BARE, _FENCED)
