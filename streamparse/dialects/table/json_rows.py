"""Formats of grammars A and B: a marker, then a JSON object or an array of them; and JSON without any marker."""

from __future__ import annotations

from typing import Any

from streamparse.dialects.engine.grammar import Dialect, Opener, Thought, markers
from streamparse.dialects.grammars.call_block import Branch
from streamparse.dialects.grammars.call_json import NAME_KEYS
from streamparse.dialects.grammars.channels import StrippedThought
from streamparse.dialects.grammars.json_calls import GuidedCalls, JsonCalls, KeyedCalls
from streamparse.dialects.grammars.python_calls import CALL_HEAD, LiteralCalls, PythonCalls

_MEMBER = r'"(?:name|arguments|parameters|function|id|type)"\s{0,8}:'
# An object, an array of them, or an object whose opening brace is missing.
JSON = rf"\s{{0,64}}(?:[\[{{]|{_MEMBER})"
_OBJECT = rf"\s{{0,64}}(?:\{{|{_MEMBER})"
_IN_LIST_OR_NOT = r"(?:\[\s{0,64})?\{\s{0,64}"
_CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
_WITH_PARAMETERS = '{"name": "get_weather", "parameters": {"city": "Paris"}}'


def _read_between(*tags: str, **more: Any) -> JsonCalls:
    """What reads JSON between the tags of these words; `more` as of `JsonCalls`."""
    return JsonCalls(tuple(f"</{tag}>" for tag in tags), tuple(f"<{tag}>" for tag in tags), **more)


def _make_tag_row(name: str, tag: str, example: str, follows: str | None = None, **more: Any) -> Dialect:
    """A dialect that writes JSON between the tags of a word; `example` is what they hold, `more` as of `Dialect`."""
    example = f"<{tag}>{example}</{tag}>"
    return Dialect(name, markers(f"<{tag}>"), _read_between(tag), follows, example=example, **more)


_LOOK_ALIKES = ("tools", "function", "function-call", "function_call", "toolcall", "tool_use", "tool")
_PLAIN_WORDS = ("tools", "function", "tool")
_PLUGIN = r"\s{0,8}<\|plugin\|>"
_ROLE = r"(?:\s{0,8}function call<\|role_sep\|>)?"
_TYPED = r"(?:[^<{]{0,256}<\|content_invoke_tool_json\|>)?"
_RWKV_FENCE = r"[ \t]{0,8}\r?\n\s{0,64}```(?:json)?"
_HCX_TURN = "<|im_end|>\n<|im_start|>assistant"
_HCX_ROLE = " -> tool/function_call\n"
_HCX_THOUGHT = Thought("hyperclova", ("/think\n",), (_HCX_TURN + "\n", _HCX_TURN))
_HCX_DROPS = (_HCX_TURN + "\n", "<|im_end|>", "<|stop|>", "<|endofturn|>")
_FENCE = r"[ \t]{0,8}(?:\r?\n)?[ \t]{0,8}```(?:json)?"

_COHERE_TEXT = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")

OBJECTS = (
    Dialect(
        "hermes",
        markers("<tool_call>"),
        _read_between("tool_call", names=("name", "tool_name")),  # the second if other models are asked for the format
        JSON,
        models="Hermes 2 Pro and 3, Qwen2.5, Qwen3, QwQ, SmolLM3, Granite 4",
        example=f"<tool_call>\n{_CALL}\n</tool_call>",
        # SGLang ends a thought at <tool_call>; so do cases of vLLM's tests.
        in_thought="ends",
        drops=("<|im_end|>", "<|endoftext|>"),
    ),
    Dialect(
        "ernie45",
        markers("<tool_call>", auto="named"),  # other dialects read it just as well
        _read_between("tool_call"),
        JSON,
        models="ERNIE 4.5 Thinking",
        example=f"<tool_call>\n{_CALL}\n</tool_call>\n",
        # It shares <tool_call>, so that named and auto agree.
        in_thought="ends",
        drops=("<response>", "</response>"),
    ),
    Dialect(
        "granite-20b-fc",
        markers("<function_call>"),
        _read_between("function_call"),
        _OBJECT,
        models="granite-20b-functioncalling",
        example=f"<function_call> {_CALL}",
        drops=("<|endoftext|>",),
    ),
    Dialect(
        "internlm2",
        markers("<|action_start|>"),
        JsonCalls(
            closes=("<|action_end|>",), opens=("<|action_start|>",), arguments=("parameters", "arguments"), lead=_PLUGIN
        ),
        rf"{_PLUGIN}{_OBJECT}",
        models="InternLM2.5, InternLM3, Intern-S1",
        example=f"<|action_start|><|plugin|>\n{_WITH_PARAMETERS}<|action_end|>",
        drops=("<|action_end|>", "<|im_end|>"),
    ),
    _make_tag_row("minimax-m1", "tool_calls", f"\n{_CALL}\n", _OBJECT, models="MiniMax-M1"),
    Dialect(
        "gigachat3",
        markers("<|message_sep|>", "<|function_call|>"),
        JsonCalls(closes=("</s>",), opens=("<|message_sep|>", "<|function_call|>"), lead=_ROLE),
        rf"{_ROLE}{_OBJECT}",
        models="GigaChat 3 and 3.1",
        example=f"<|function_call|>{_CALL}",
        drops=("<|message_sep|>", "</s>"),
    ),
    Dialect(
        "inkling",
        (
            *markers("<|content_invoke_tool_json|>", "<|message_model|>"),
            # The prompt ended with <|message_model|>.
            Opener("", each_tool=True, inclusive=True, position="start", auto="start", declared=True),
        ),
        JsonCalls(
            closes=("<|end_message|>",),
            opens=("<|message_model|>", "<|content_invoke_tool_json|>"),
            arguments=("args", "arguments"),
            lead=_TYPED,
        ),
        rf"{_TYPED}{_OBJECT}",
        models="Inkling",
        example='<|message_model|>get_weather<|content_invoke_tool_json|>{"name": "get_weather", "args": '
        '{"city": "Paris"}}<|end_message|>',
        drops=("<|message_model|>", "<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>"),
        opens_text=("<|message_model|><|content_text|>", "<|content_text|>"),
        thoughts=("inkling",),
    ),
    # What LM Studio asks of models that have no format of their own: https://lmstudio.ai/docs/developer/openai-compat/tools
    Dialect(
        "lmstudio",
        markers("[TOOL_REQUEST]"),
        JsonCalls(closes=("[END_TOOL_REQUEST]",), opens=("[TOOL_REQUEST]",)),
        _OBJECT,
        models="models without a format of their own in LM Studio",
        example=f"[TOOL_REQUEST]{_CALL}[END_TOOL_REQUEST]",
    ),
    # Written after the block of Anthropic's wire: hence `input`, an id, and `"type": "tool_use"`.
    Dialect(
        "tool-use-json",
        markers("<tool_use>", "<tooluse>"),
        _read_between("tool_use", "tooluse", names=NAME_KEYS, explicit=True, by_name=True),
        JSON,
        models="Claude, Gemini and DeepSeek through proxies, prompted models",
        example='<tool_use>\n{"name": "get_weather", "input": {"city": "Paris"}}\n</tool_use>',
    ),
    Dialect(
        "tools-tag-json",
        tuple(Opener(f"<{tag}>", word=tag in _PLAIN_WORDS) for tag in _LOOK_ALIKES),
        _read_between(*_LOOK_ALIKES, last_closes=("</tool",), arguments=("arguments",), explicit=True, by_name=True),
        JSON,
        models="Qwen2.5-Coder and other drifting fine-tunes",
        example=f"<tools>\n{_CALL}\n</tools>",
    ),
    Dialect(
        "hyperclova-x",
        (
            Opener(_HCX_TURN + _HCX_ROLE),
            # The prompt ended with <|im_start|>assistant.
            *markers(_HCX_ROLE, _HCX_ROLE.lstrip(), position="edge"),
        ),
        JsonCalls(opens=("<|im_end|>",), explicit=True),
        rf'\s{{0,64}}{_IN_LIST_OR_NOT}"',
        models="HyperCLOVA X SEED Think",
        example=f"<|im_end|>\n<|im_start|>assistant -> tool/function_call\n[{_CALL}]",
        drops=_HCX_DROPS,
        thoughts=(_HCX_THOUGHT,),
        companions=(
            # Where the dialect is not named, the word could begin an answer.
            Dialect(
                "hyperclova-x thought",
                (Opener("/think\n", position="start", auto="start"),),
                StrippedThought(_HCX_THOUGHT.closes),
                "",
                drops=_HCX_DROPS,
            ),
        ),
    ),
    Dialect(
        "rwkv",
        (Opener("**Tool Call:**", position="line", auto="declared", bare=True),),
        JsonCalls(closes=("```",), explicit=True, lead=_RWKV_FENCE),
        rf"{_RWKV_FENCE}\s{{0,64}}\{{\s{{0,64}}\"",
        models="RWKV-7 G1",
        example=f"**Tool Call:**\n```json\n{_CALL}\n```",
    ),
    Dialect(
        "llama3-json",
        (Opener("<|python_tag|>"), Opener("{", inclusive=True, auto="named", position="start", bare=True)),
        JsonCalls(closes=("<|eom_id|>", "<|eot_id|>")),
        _OBJECT,
        models="Llama 3.1, 3.2, 3.3, Llama 4 with a JSON template",
        example=f"<|python_tag|>{_WITH_PARAMETERS}",
        drops=("<|eom_id|>", "<|eot_id|>"),
    ),
    Dialect(
        "bare-json",
        markers("{", "[", inclusive=True, auto="start", position="start", bare=True),
        JsonCalls(
            ("<|eom_id|>", "<|eot_id|>"), names=(*NAME_KEYS, "function"), ids=("id", "tool_call_id"), explicit=True
        ),
        rf"{_IN_LIST_OR_NOT}[\"']",
        models="any model without a working template, or whose server strips the markers",
        example=_CALL,
    ),
    Dialect(
        "fenced-json",
        markers("```json", "```JSON", "```tool_call", "```", auto="start", position="line", bare=True),
        JsonCalls(closes=("```",), names=NAME_KEYS, explicit=True),
        rf"[ \t]{{0,8}}\r?\n\s{{0,64}}{_IN_LIST_OR_NOT}[\"']",
        models="Qwen2.5-Coder, xLAM, many small models",
        example=f"```json\n{_CALL}\n```",
    ),
)

ARRAYS = (
    Dialect(
        "mistral-array",
        markers("[TOOL_CALLS]"),
        JsonCalls(closes=("[/TOOL_CALLS]", "</s>"), opens=("[TOOL_CALLS]",)),
        models="Mistral 7B v0.3, Mixtral 8x22B, Mistral Nemo, Mistral Large 2407, Codestral",
        example=f'[TOOL_CALLS] [{_CALL[:-1]}, "id": "123456789"}}]',
        drops=("[/TOOL_CALLS]", "</s>"),
        thoughts=("mistral",),
    ),
    _make_tag_row(
        "tool_calls-array",
        "tool_calls",
        f"[{_CALL}]",
        models="Jamba 1.5, Hunyuan-A13B, Apriel 1.5 and 1.6",
        thoughts=("apriel",),
        drops=("<answer>", "</answer>"),
    ),
    Dialect(
        "toolcall-upper",
        markers("<TOOLCALL>"),
        # Llama-Nemotron Nano 4B writes Python.
        Branch(rf"\s{{0,64}}\[\s{{0,64}}{CALL_HEAD}", PythonCalls(closes=("</TOOLCALL>",)), _read_between("TOOLCALL")),
        models="Llama-Nemotron Super and Ultra, Nano 4B v1.1, Nemotron Nano v2",
        example=f"<TOOLCALL>[{_CALL}]</TOOLCALL>",
    ),
    Dialect(
        "granite-array",
        (*markers("<|tool_call|>"), *markers("<tool_call>", auto="named")),
        JsonCalls(closes=("</tool_call>",), opens=("<|tool_call|>", "<tool_call>")),
        models="Granite 3.0 to 3.3",
        example=f"<|tool_call|> [{_CALL}]",
        drops=("<response>", "</response>", "<|end_of_text|>"),
        thoughts=("granite-phrase",),
    ),
    Dialect(
        "functools",
        (Opener("functools", auto="start", bare=True),),
        JsonCalls(),
        r"[ \t]{0,4}\[",
        models="Phi-4-mini, FireFunction v2",
        example=f"functools[{_CALL}]",
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
        drops=(*_COHERE_TEXT, "<|END_ACTION|>", "<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
        opens_text=("<|START_RESPONSE|>", "<|START_TEXT|>", "<|CHATBOT_TOKEN|>"),
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
        rf"{_FENCE}\s{{0,64}}\[",
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
        # Its template writes calls after a thought that it does not close.
        in_thought="ends",
        drops=("<|tools_suffix|>", "<|assistant_end|>"),
        thoughts=("apertus",),
    ),
    Dialect(
        "xlam",
        (
            *markers("[TOOL_CALLS]", "<tool_call>", auto="named"),
            *markers("```json", "```", position="line", auto="named", bare=True),
            Opener("[", inclusive=True, position="start", auto="named", bare=True),
        ),
        JsonCalls(closes=("```", "</tool_call>", "[/TOOL_CALLS]"), explicit=True),
        r"\s{0,64}\[\s{0,64}\{",
        models="xLAM-2, Llama-xLAM",
        example=f"[{_CALL}]",
    ),
    Dialect(
        "guided-json-array",
        markers("[", "{", inclusive=True, position="start", auto="named", bare=True),
        GuidedCalls(explicit=True),
        rf'{_IN_LIST_OR_NOT}"',
        models='every model under constrained decoding (`tool_choice="required"`)',
        example=f"[{_WITH_PARAMETERS}]",
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
    _make_tag_row(
        "function_calls-array", "function_calls", f"[{_CALL}]", models="models with a prompt of the older literature"
    ),
)

ROWS = (*OBJECTS, *ARRAYS)
