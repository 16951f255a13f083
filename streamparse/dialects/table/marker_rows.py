"""Formats of grammar C: a name, then JSON arguments, each after a marker of its own."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.name_then_json import NAME, KimiCalls, MarkedCalls, RecipientCalls

# The rest of some dialects where the server strips the special tokens.
_STRIPPED = Opener("", each_tool=True, inclusive=True, position="start", auto="start", declared=True, bare=True)

_MISTRAL_HEAD = rf"{NAME}{GAP}(?:\[CALL_ID\]{GAP}(?P<id>[^\[\s{{\"]{{1,64}}){GAP})?(?:\[ARGS\]?)?"


def _spell_deepseek(*words: str) -> tuple[str, ...]:
    """A marker as DeepSeek writes it, and as tokenizers and templates spell it in ASCII."""
    return tuple(f"<{bar}{blank.join(words)}{bar}>" for bar in "｜|" for blank in "▁_ ")


# As in "from BEGIN to END": a call without arguments has no blanks around its name.
_WORD_OF_PROSE = r" {1,4}[^\s<{]{1,64} {1,4}<"
_DEEPSEEK_SEP = r"<[｜|]tool[▁_ ]sep[｜|]>"
_DEEPSEEK_BEGIN = r"<[｜|]tool[▁_ ]call[▁_ ]begin[｜|]>"
_DEEPSEEK_END = r"<[｜|]tool[▁_ ]calls?[▁_ ]end[｜|]>"
_DEEPSEEK_FENCE = rf"(?:{GAP}```(?:json)?)?+"
_DEEPSEEK_FUNCTION = (
    rf"(?:{_DEEPSEEK_BEGIN}{GAP})?function"
    rf"(?:{GAP}{_DEEPSEEK_SEP}{GAP}{NAME}(?:{GAP}{_DEEPSEEK_SEP})?{_DEEPSEEK_FENCE}|{NAME}{GAP}```(?:json)?)"
)
_DEEPSEEK_NAME = rf"(?:{_DEEPSEEK_BEGIN}{GAP})?{NAME}{GAP}(?:{_DEEPSEEK_SEP})?{_DEEPSEEK_FENCE}"
# With a separator or a fence after the name, a brace is enough.
_DEEPSEEK_SURE = (
    rf"(?:{_DEEPSEEK_FUNCTION}|"
    rf"(?:{_DEEPSEEK_BEGIN}{GAP})?{NAME}{GAP}(?:{_DEEPSEEK_SEP}|{GAP}```(?:json)?){_DEEPSEEK_FENCE})"
)
_DEEPSEEK_OPENERS = markers(*_spell_deepseek("tool", "calls", "begin"), *_spell_deepseek("tool", "call", "begin"))
# The type that is before the separator in V3 comes back now and then in V3.1.
_DEEPSEEK_CALLS = MarkedCalls(
    rf"(?:{_DEEPSEEK_FUNCTION}|{_DEEPSEEK_NAME})",
    closes=("```", *_spell_deepseek("tool", "call", "end")),
    again=rf"{GAP}(?:{_DEEPSEEK_BEGIN}|function{GAP}{_DEEPSEEK_SEP})",
    block_closes=_spell_deepseek("tool", "calls", "end"),
    opens=_spell_deepseek("tool", "call", "begin"),
)
_DEEPSEEK_DROPS = (
    *_spell_deepseek("tool", "calls", "begin"),
    *_spell_deepseek("tool", "calls", "end"),
    *_spell_deepseek("end", "of", "sentence"),
)


_KIMI_BEGIN, _KIMI_ARGUMENTS, _KIMI_END = "<|tool_call_begin|>", r"<\|tool_call_argument_begin\|>", "<|tool_call_end|>"
_KIMI_SECTIONS = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_KIMI_SECTION_ENDS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_KIMI_ID = rf"(?:(?P<id>(?:functions\.)?{NAME}:{GAP}[0-9]{{1,10}})|(?:functions\.)?{NAME})"
_KIMI_HEAD = rf"(?:<\|tool_call_begin\|>{GAP})?{_KIMI_ID}{GAP}(?:{_KIMI_ARGUMENTS})?"


_SOLAR_HEAD = (
    rf"(?:<\|tool_call:begin\|>{GAP})?(?P<id>[^\s<|]{{1,256}})?{GAP}"
    rf"<\|tool_call:name\|>{GAP}{NAME}{GAP}<\|tool_call:args\|>"
)


def _spell_plamo(*words: str) -> tuple[str, ...]:
    return tuple(f"<|plamo:{word}:plamo|>" for word in words)


_PLAMO_BEGINS = _spell_plamo("begin_tool_requests", "begin_tool_request", "begin_tool_name")
_PLAMO_HEAD = (
    rf"(?:<\|plamo:begin_tool_request:plamo\|>{GAP})?(?:<\|plamo:begin_tool_name:plamo\|>{GAP})?"
    rf"{NAME}{GAP}<\|plamo:end_tool_name:plamo\|>{GAP}<\|plamo:begin_tool_arguments:plamo\|>{GAP}"
    rf"(?:<\|plamo:constrain\|>{GAP}json{GAP})?(?:<\|plamo:msg\|>)?"
)


_FUNCTIONARY_NAME = rf"{NAME}[ \t]{{0,8}}\r?\n(?={GAP}\{{)"
_FUNCTIONARY_HEAD = rf"(?:>>>)?{_FUNCTIONARY_NAME}"


_REACT_HEAD = rf"[ \t]{{0,8}}{NAME}[ \t]{{0,8}}\r?\n{GAP}Action Input:(?:{GAP}```(?:json)?)?+(?={GAP}\{{)"


ROWS = (
    Dialect(
        "mistral-v11",
        (*markers("[TOOL_CALLS]"), _STRIPPED),
        # Without [ARGS] a brace alone is not enough: prose may name a tool, and then {something}.
        MarkedCalls(
            _MISTRAL_HEAD, opens=("[TOOL_CALLS]",), again=rf"{NAME.replace('256', '64')}(?:\[ARGS\])?\{{{GAP}[\"}}]"
        ),
        rf"{GAP}{_MISTRAL_HEAD}{GAP}(?:(?<=\])[{{\"]|\{{{GAP}[\"'}}])",
        models="Mistral Small 3.1 and 3.2, Magistral, Devstral, Ministral 3, Mistral Medium 3",
        example='[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
        drops=("</s>",),
        thoughts=("mistral",),
    ),
    Dialect(
        "deepseek-v3",
        (
            *_DEEPSEEK_OPENERS,
            Opener("function", inclusive=True, position="start", auto="start", declared=True, bare=True),
        ),
        _DEEPSEEK_CALLS,
        rf"{GAP}{_DEEPSEEK_FUNCTION}{GAP}\{{",
        models="DeepSeek V3, V3-0324, R1-0528, Cogito v2",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
        '```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        drops=_DEEPSEEK_DROPS,
    ),
    Dialect(
        "deepseek-v3.1",
        (*_DEEPSEEK_OPENERS, _STRIPPED),
        _DEEPSEEK_CALLS,
        rf"{GAP}{_DEEPSEEK_SURE}{GAP}\{{|(?!{_WORD_OF_PROSE}){GAP}(?:{_DEEPSEEK_FUNCTION}|{_DEEPSEEK_NAME}){GAP}"
        rf"(?:\{{{GAP}[\"'}}]|{_DEEPSEEK_END})",
        models="DeepSeek V3.1, V3.1-Terminus, V3.2-Exp",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        '{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        drops=_DEEPSEEK_DROPS,
    ),
    Dialect(
        "kimi-k2",
        (
            *markers(*_KIMI_SECTIONS, _KIMI_BEGIN),
            Opener("functions.", inclusive=True, position="start", auto="start", declared=True, bare=True),
        ),
        KimiCalls(
            _KIMI_HEAD,
            closes=(_KIMI_END,),
            again=rf"{GAP}(?:<\|tool_call_begin\|>|functions\.)",
            block_closes=_KIMI_SECTION_ENDS,
            opens=(_KIMI_BEGIN,),
        ),
        rf"(?!{_WORD_OF_PROSE}){GAP}{_KIMI_HEAD}{GAP}(?:\{{|(?<=>)\"|<\|tool_call_end\|>)",
        thoughts=("think-old-kimi",),
        models="Kimi K2 Instruct, K2 Thinking, K2.5, K2.6",
        example="<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
        # VLLM's tests of Kimi K2 Thinking: the section ends the thought.
        in_thought="ends",
        drops=(*_KIMI_SECTIONS, *_KIMI_SECTION_ENDS, "<|im_end|>"),
    ),
    Dialect(
        "solar-open",
        markers("<|begin|>assistant<|tool_calls|>", "<|tool_calls|>", "<|tool_call:begin|>"),
        MarkedCalls(
            _SOLAR_HEAD,
            closes=("<|tool_call:end|>",),
            again=rf"{GAP}<\|tool_call:begin\|>",
            block_closes=("<|calls|>",),
        ),
        rf"{GAP}{_SOLAR_HEAD}{GAP}[{{\"]",
        models="Solar Open 100B",
        example="<|begin|>assistant<|tool_calls|><|tool_call:begin|>call_0<|tool_call:name|>get_weather<|tool_call:args|>"
        '{"city": "Paris"}<|tool_call:end|><|calls|>',
        opens_text=("<|begin|>assistant<|content|>", "<|content|>"),
        drops=(
            "<|begin|>assistant<|content|>",
            "<|begin|>assistant",
            "<|content|>",
            "<|end|>",
            "<|calls|>",
            "<|flush|>",
        ),
        thoughts=("solar",),
    ),
    Dialect(
        "plamo3",
        markers(*_PLAMO_BEGINS),
        MarkedCalls(
            _PLAMO_HEAD,
            closes=_spell_plamo("end_tool_arguments", "end_tool_request"),
            again=rf"{GAP}<\|plamo:begin_tool_(?:request|name):plamo\|>",
            block_closes=_spell_plamo("end_tool_requests"),
        ),
        rf"{GAP}{_PLAMO_HEAD}{GAP}[{{\"<]",
        models="PLaMo 3",
        example="<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>"
        "get_weather<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>"
        '{"city": "Paris"}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>'
        "<|plamo:end_tool_requests:plamo|>",
        # Its marks are tokens of the model's own; no recording either way.
        in_thought="ends",
        drops=(
            *_spell_plamo("begin_tool_requests", "end_tool_requests", "end_tool_request", "end_think"),
            "<|plamo:tag|>",
        ),
        thoughts=("plamo",),
    ),
    Dialect(
        "functionary-v3.2",
        (Opener(">>>", auto="declared"), Opener("", position="start", auto="named", bare=True), _STRIPPED),
        RecipientCalls(_FUNCTIONARY_HEAD, again=rf"{GAP}>>>", opens=(">>>",)),
        rf"(?:{_FUNCTIONARY_NAME}|all[ \t]{{0,8}}\r?\n)",
        models="Functionary v3.2",
        example='>>>get_weather\n{"city": "Paris"}',
        drops=(">>>all\n", "<|eot_id|>"),
    ),
    Dialect(
        "function-tag-json",
        (Opener("<function=", inclusive=True),),
        MarkedCalls(
            r"<function=(?P<name>[^>\s]{1,256})>",
            closes=("</function>",),
            again=rf"{GAP}<function=",
            block_closes=("<|eom_id|>", "<|eot_id|>"),
        ),
        rf"<function=[^>\s]{{1,256}}>{GAP}\{{",
        models="Functionary v3.1, Llama 3.1 with custom tools",
        example='<function=get_weather>{"city": "Paris"}</function>',
        drops=("<|eom_id|>", "<|eot_id|>"),
    ),
    Dialect(
        "react",
        (Opener("Action:", position="line", auto="declared", bare=True),),
        MarkedCalls(_REACT_HEAD, closes=("```",), opens=("Observation:",)),
        _REACT_HEAD,
        models="any model with a ReAct prompt",
        settles=("Observation:",),
        example='Thought: I look it up.\nAction: get_weather\nAction Input: {"city": "Paris"}',
    ),
)
