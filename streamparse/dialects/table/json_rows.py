"""Formats of grammar A: a marker, then a JSON object; and JSON without any marker."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, Thought, markers
from streamparse.dialects.grammars.call_json import ARGUMENT_KEYS, NAME_KEYS
from streamparse.dialects.grammars.channels import StrippedThought
from streamparse.dialects.grammars.json_calls import JsonCalls

_MEMBER = r'"(?:name|arguments|parameters|function|id|type)"\s{0,8}:'
# An object, an array of them, or an object whose opening brace is missing.
_JSON = rf"\s{{0,64}}(?:[\[{{]|{_MEMBER})"
_OBJECT = rf"\s{{0,64}}(?:\{{|{_MEMBER})"
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


ROWS = (
    Dialect(
        "hermes",
        markers("<tool_call>"),
        JsonCalls(closes=("</tool_call>",), opens=("<tool_call>",)),
        _JSON,
        models="Hermes 2 Pro and 3, Qwen2.5, Qwen3, QwQ, SmolLM3, Granite 4",
        example='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
        # SGLang ends a thought at <tool_call>; so do cases of vLLM's tests.
        in_thought="ends",
        drops=("<|im_end|>", "<|endoftext|>"),
    ),
    Dialect(
        "longcat",
        markers("<longcat_tool_call>"),
        JsonCalls(closes=("</longcat_tool_call>",), opens=("<longcat_tool_call>",)),
        _JSON,
        models="LongCat-Flash",
        example='<longcat_tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</longcat_tool_call>',
        # Its tag is Hermes' with another name; no recording either way.
        in_thought="ends",
    ),
    Dialect(
        "ernie45",
        (Opener("<tool_call>", auto="named"),),
        JsonCalls(closes=("</tool_call>",), opens=("<tool_call>",)),
        _JSON,
        models="ERNIE 4.5 Thinking",
        example='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>\n',
        # It shares <tool_call>, so that named and auto agree.
        in_thought="ends",
        drops=("<response>", "</response>"),
    ),
    Dialect(
        "granite-20b-fc",
        markers("<function_call>"),
        JsonCalls(closes=("</function_call>",), opens=("<function_call>",)),
        _OBJECT,
        models="granite-20b-functioncalling",
        example='<function_call> {"name": "get_weather", "arguments": {"city": "Paris"}}',
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
        example='<|action_start|><|plugin|>\n{"name": "get_weather", "parameters": {"city": "Paris"}}<|action_end|>',
        drops=("<|action_end|>", "<|im_end|>"),
    ),
    Dialect(
        "minimax-m1",
        markers("<tool_calls>"),
        JsonCalls(closes=("</tool_calls>",), opens=("<tool_calls>",)),
        _OBJECT,
        models="MiniMax-M1",
        example='<tool_calls>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_calls>',
    ),
    Dialect(
        "gigachat3",
        markers("<|message_sep|>", "<|function_call|>"),
        JsonCalls(closes=("</s>",), opens=("<|message_sep|>", "<|function_call|>"), lead=_ROLE),
        rf"{_ROLE}{_OBJECT}",
        models="GigaChat 3 and 3.1",
        example='<|function_call|>{"name": "get_weather", "arguments": {"city": "Paris"}}',
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
    # Written after the block of Anthropic's wire: hence `input`, an id, and `"type": "tool_use"`.
    Dialect(
        "tool-use-json",
        markers("<tool_use>", "<tooluse>"),
        JsonCalls(
            closes=("</tool_use>", "</tooluse>"),
            opens=("<tool_use>", "<tooluse>"),
            names=NAME_KEYS,
            arguments=ARGUMENT_KEYS,
            explicit=True,
            by_name=True,
        ),
        _JSON,
        models="Claude, Gemini and DeepSeek behind proxies, prompted models",
        example='<tool_use>\n{"name": "get_weather", "input": {"city": "Paris"}}\n</tool_use>',
    ),
    Dialect(
        "tools-tag-json",
        tuple(Opener(f"<{tag}>", word=tag in _PLAIN_WORDS) for tag in _LOOK_ALIKES),
        JsonCalls(
            closes=tuple(f"</{tag}>" for tag in _LOOK_ALIKES),
            opens=tuple(f"<{tag}>" for tag in _LOOK_ALIKES),
            last_closes=("</tool",),
            arguments=("arguments",),
            explicit=True,
            by_name=True,
        ),
        _JSON,
        models="Qwen2.5-Coder and other drifting fine-tunes",
        example='<tools>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tools>',
    ),
    Dialect(
        "hyperclova-x",
        (
            Opener(_HCX_TURN + _HCX_ROLE),
            # The prompt ended with <|im_start|>assistant.
            Opener(_HCX_ROLE, position="edge"),
            Opener(_HCX_ROLE.lstrip(), position="edge"),
        ),
        JsonCalls(opens=("<|im_end|>",), arguments=ARGUMENT_KEYS, explicit=True),
        r"\s{0,64}(?:\[\s{0,64})?\{\s{0,64}\"",
        models="HyperCLOVA X SEED Think",
        example="<|im_end|>\n<|im_start|>assistant -> tool/function_call\n"
        '[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
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
        example='**Tool Call:**\n```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    ),
    Dialect(
        "llama3-json",
        (Opener("<|python_tag|>"), Opener("{", inclusive=True, auto="named", position="start", bare=True)),
        JsonCalls(closes=("<|eom_id|>", "<|eot_id|>")),
        _OBJECT,
        models="Llama 3.1, 3.2, 3.3, Llama 4 with a JSON template",
        example='<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}',
        drops=("<|eom_id|>", "<|eot_id|>"),
    ),
    Dialect(
        "bare-json",
        (
            Opener("{", inclusive=True, auto="start", position="start", bare=True),
            Opener("[", inclusive=True, auto="start", position="start", bare=True),
        ),
        JsonCalls(
            closes=("<|eom_id|>", "<|eot_id|>"),
            names=(*NAME_KEYS, "function"),
            arguments=ARGUMENT_KEYS,
            ids=("id", "tool_call_id"),
            explicit=True,
        ),
        r"(?:\[\s{0,64})?\{\s{0,64}[\"']",
        models="any model without a working template, or whose server strips the markers",
        example='{"name": "get_weather", "arguments": {"city": "Paris"}}',
    ),
    Dialect(
        "fenced-json",
        tuple(
            Opener(f"```{label}", auto="start", position="line", bare=True)
            for label in ("json", "JSON", "tool_call", "")
        ),
        JsonCalls(
            closes=("```",),
            names=NAME_KEYS,
            arguments=ARGUMENT_KEYS,
            explicit=True,
        ),
        r"[ \t]{0,8}\r?\n\s{0,64}(?:\[\s{0,64})?\{\s{0,64}[\"']",
        models="Qwen2.5-Coder, xLAM, many small models",
        example='```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    ),
)
