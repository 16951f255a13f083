"""Formats of grammar B: a marker, then an array of calls."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.grammars.json_calls import GuidedCalls, JsonCalls, KeyedCalls
from streamparse.dialects.grammars.python_calls import LiteralCalls

_JSON = r"\s{0,64}[\[{]"
_ARRAY = r"\s{0,64}\["


def _named(*texts: str) -> tuple[Opener, ...]:
    """Openers that other dialects read just as well, so that they count only if this one is named."""
    return tuple(Opener(text, auto="named") for text in texts)


_FENCE = r"[ \t]{0,8}(?:\r?\n)?[ \t]{0,8}```(?:json)?"


ROWS = (
    Dialect(
        "mistral-array",
        markers("[TOOL_CALLS]"),
        JsonCalls(closes=("[/TOOL_CALLS]", "</s>"), opens=("[TOOL_CALLS]",)),
        models="Mistral 7B v0.3, Mixtral 8x22B, Mistral Nemo, Mistral Large 2407, Codestral",
        example='[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "123456789"}]',
        drops=("[/TOOL_CALLS]", "</s>"),
        thoughts=("mistral",),
    ),
    Dialect(
        "tool_calls-array",
        markers("<tool_calls>"),
        JsonCalls(closes=("</tool_calls>",), opens=("<tool_calls>",)),
        models="Jamba 1.5, Hunyuan-A13B, Apriel 1.5 and 1.6",
        example='<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>',
        thoughts=("apriel",),
        drops=("<answer>", "</answer>"),
    ),
    Dialect(
        "toolcall-upper",
        markers("<TOOLCALL>"),
        JsonCalls(closes=("</TOOLCALL>",), opens=("<TOOLCALL>",)),
        models="Llama-Nemotron Super and Ultra, Nemotron Nano v2",
        example='<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>',
    ),
    Dialect(
        "granite-array",
        (*markers("<|tool_call|>"), *_named("<tool_call>")),
        JsonCalls(closes=("</tool_call>",), opens=("<|tool_call|>", "<tool_call>")),
        models="Granite 3.0 to 3.3",
        example='<|tool_call|> [{"name": "get_weather", "arguments": {"city": "Paris"}}]',
        drops=("<response>", "</response>", "<|end_of_text|>"),
        thoughts=("granite-phrase",),
    ),
    Dialect(
        "functools",
        (Opener("functools", auto="start", bare=True),),
        JsonCalls(),
        r"[ \t]{0,4}\[",
        models="Phi-4-mini, FireFunction v2",
        example='functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
        drops=("<|end|>", "<|endoftext|>"),
    ),
    Dialect(
        "cohere-action",
        markers("<|START_ACTION|>"),
        JsonCalls(
            closes=("<|END_ACTION|>",),
            opens=("<|START_ACTION|>",),
            names=("tool_name", "name"),
            arguments=("parameters", "arguments"),
            ids=("tool_call_id", "id"),
        ),
        models="Command R7B, Command A, Command A Reasoning, Command 4",
        example='<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", '
        '"parameters": {"city": "Paris"}}\n]<|END_ACTION|>',
        drops=(
            "<|START_RESPONSE|>",
            "<|END_RESPONSE|>",
            "<|START_TEXT|>",
            "<|END_TEXT|>",
            "<|END_ACTION|>",
            "<|CHATBOT_TOKEN|>",
            "<|END_OF_TURN_TOKEN|>",
        ),
        opens_text=("<|START_RESPONSE|>", "<|START_TEXT|>"),
        thoughts=("cohere",),
    ),
    Dialect(
        "command-r-plus",
        (Opener("Action:", position="line", auto="declared", bare=True),),
        JsonCalls(
            closes=("```",),
            names=("tool_name", "name"),
            arguments=("parameters", "arguments"),
            explicit=True,
            lead=_FENCE,
        ),
        rf"{_FENCE}{_ARRAY}",
        models="Command R, Command R+",
        settles=("Observation:",),
        example='Action:\n```json\n[{"tool_name": "get_weather", "parameters": {"city": "Paris"}}]\n```',
        drops=("<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
    ),
    Dialect(
        "apertus",
        markers("<|tools_prefix|>"),
        KeyedCalls(closes=("<|tools_suffix|>",), opens=("<|tools_prefix|>",)),
        r"\s{0,64}\[\s{0,64}\{\s{0,64}\"",
        models="Apertus 8B and 70B",
        example='<|tools_prefix|>[{"get_weather": {"city": "Paris"}}]<|tools_suffix|>',
        drops=("<|tools_suffix|>", "<|assistant_end|>"),
        thoughts=("apertus",),
    ),
    Dialect(
        "xlam",
        (
            *_named("[TOOL_CALLS]", "<tool_call>"),
            Opener("```json", position="line", auto="named", bare=True),
            Opener("```", position="line", auto="named", bare=True),
            Opener("[", inclusive=True, position="start", auto="named", bare=True),
        ),
        JsonCalls(closes=("```", "</tool_call>", "[/TOOL_CALLS]"), explicit=True),
        r"\s{0,64}\[\s{0,64}\{",
        models="xLAM-2, Llama-xLAM",
        example='[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    ),
    Dialect(
        "guided-json-array",
        (
            Opener("[", inclusive=True, position="start", auto="named", bare=True),
            Opener("{", inclusive=True, position="start", auto="named", bare=True),
        ),
        GuidedCalls(explicit=True),
        r"(?:\[\s{0,64})?\{\s{0,64}\"",
        models='every model under constrained decoding (`tool_choice="required"`)',
        example='[{"name": "get_weather", "parameters": {"city": "Paris"}}]',
    ),
    Dialect(
        "sarashina",
        (*markers("<|tool_calls|>"), Opener("[", inclusive=True, position="start", auto="start", bare=True)),
        LiteralCalls(),
        r"\s{0,64}\[\s{0,64}\{\s{0,64}['\"]",
        models="Sarashina 2 and 3",
        example="<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]",
        drops=("</s>",),
    ),
    Dialect(
        "function_calls-array",
        markers("<function_calls>"),
        JsonCalls(closes=("</function_calls>",), opens=("<function_calls>",)),
        models="models with a prompt of the older literature",
        example='<function_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</function_calls>',
    ),
)
