"""The dialects, as data: which markers open a call, and which grammar reads it.

The facts of each format are in `docs/formats.md`: who writes it, and what of it was seen in the wild.
"""

from __future__ import annotations

import regex

from streamparse.dialects.envelope import ARGUMENT_KEYS, NAME_KEYS
from streamparse.dialects.grammar import Dialect, Opener, Thought
from streamparse.dialects.json_calls import JsonCalls
from streamparse.dialects.xml_params import XmlParams

__all__ = ["DIALECTS", "THOUGHTS"]

_JSON = regex.compile(r"\s{0,64}[\[{]")
_OBJECT = regex.compile(r"\s{0,64}\{")
_NS = "antml:"
_LOOK_ALIKES = ("tools", "function", "function-call", "function_call", "toolcall", "tool_use", "tool")


def _markers(*texts: str) -> tuple[Opener, ...]:
    return tuple(Opener(text) for text in texts)


_HERMES = Dialect(
    "hermes",
    _markers("<tool_call>"),
    _JSON,
    JsonCalls(closes=("</tool_call>",), opens=("<tool_call>",)),
    models="Hermes 2 Pro and 3, Qwen2.5, Qwen3, QwQ, SmolLM3, Granite 4",
    example='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    in_thought="ends",
)

_QWEN3_CODER = Dialect(
    "qwen3-coder",
    (Opener("<tool_call>"), Opener("<function=", inclusive=True, auto="start")),
    regex.compile(r"\s{0,64}<function="),
    XmlParams(
        call=r"<function=(?P<name>[^>\s]{1,256})>",
        parameter=r"<parameter=(?P<key>[^>\n]{1,256})>",
        parameter_closes=("</parameter>",),
        call_closes=("</function>",),
        block_closes=("</tool_call>",),
        call_begins=("<function=", "<tool_call>"),
        parameter_begins=("<parameter=",),
    ),
    models="Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Step-3.5",
    example="<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    in_thought="ends",
)

_ANTHROPIC_INVOKE = Dialect(
    "anthropic-invoke",
    (
        *_markers("<function_calls>", f"<{_NS}function_calls>"),
        Opener("<invoke name=", inclusive=True),
        Opener(f"<{_NS}invoke name=", inclusive=True),
    ),
    regex.compile(rf"\s{{0,64}}<(?:{_NS})?invoke\s"),
    XmlParams(
        call=rf"""<(?:{_NS})?invoke\s+name=(?P<q>["']?)(?P<name>[^"'>\s]{{1,256}})(?P=q)\s{{0,8}}>""",
        parameter=rf"""<(?:{_NS})?parameter\s+name=(?P<p>["']?)(?P<key>[^"'>]{{1,256}})(?P=p)[^>]{{0,64}}>""",
        parameter_closes=("</parameter>", f"</{_NS}parameter>"),
        call_closes=("</invoke>", f"</{_NS}invoke>"),
        block_closes=("</function_calls>", f"</{_NS}function_calls>"),
        call_begins=("<invoke ", f"<{_NS}invoke "),
        parameter_begins=("<parameter ", f"<{_NS}parameter "),
        trim=False,
    ),
    models="Claude 2 and 3 prompts; MiniMax-M2, Kimi K2.5, GLM behind proxies",
    example='<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
    "</function_calls>",
)

_GRANITE_20B = Dialect(
    "granite-20b-fc",
    _markers("<function_call>"),
    _OBJECT,
    JsonCalls(closes=("</function_call>",), opens=("<function_call>",)),
    models="granite-20b-functioncalling",
    example='<function_call> {"name": "get_weather", "arguments": {"city": "Paris"}}',
)

_TOOLS_TAG = Dialect(
    "tools-tag-json",
    _markers(*(f"<{tag}>" for tag in _LOOK_ALIKES)),
    _JSON,
    # Without "parameters": a model that echoes the schemas of its prompt, in <tools>, makes no call.
    JsonCalls(
        closes=tuple(f"</{tag}>" for tag in _LOOK_ALIKES),
        opens=tuple(f"<{tag}>" for tag in _LOOK_ALIKES),
        last_closes=("</tool",),
        arguments=("arguments",),
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
    regex.compile(r"(?:\[\s{0,64})?\{\s{0,64}[\"']"),
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
    regex.compile(r"[ \t]{0,8}\r?\n\s{0,64}(?:\[\s{0,64})?\{\s{0,64}[\"']"),
    JsonCalls(
        closes=("```",),
        names=NAME_KEYS,
        arguments=ARGUMENT_KEYS,
        explicit=True,
    ),
    models="Qwen2.5-Coder, xLAM, many small models",
    example='```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
)

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        _HERMES,
        _QWEN3_CODER,
        _ANTHROPIC_INVOKE,
        _GRANITE_20B,
        _TOOLS_TAG,
        _LLAMA3,
        _BARE,
        _FENCED,
    )
}
"""Every dialect by name.  Where two share an opener and both could read what follows, the first does."""

THOUGHTS: dict[str, Thought] = {
    "think": Thought("think", ("<think>",), ("</think>",), models="DeepSeek R1, Qwen3, QwQ, GLM, MiniMax-M2, and more"),
    "thinking": Thought("thinking", ("<thinking>",), ("</thinking>",), models="Claude-style prompts"),
}
"""Every way to mark reasoning in text, by name."""
