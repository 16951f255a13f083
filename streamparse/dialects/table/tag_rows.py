"""Formats of grammar D: a tag for the call, with its name, and a tag for each parameter."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.call_block import Either
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.stray_closers import leftovers
from streamparse.dialects.grammars.tag_calls import TagCalls
from streamparse.dialects.table.tag_families import NAMED_KEY, child_tags, function_tags, invoke_tags
from streamparse.schema.kinds import STRING


def _inside(*texts: str) -> tuple[Opener, ...]:
    """Openers that are a part of the body: the block's tag, or the call's own where the block is missing."""
    return tuple(Opener(text, inclusive=True) for text in texts)


_FUNCTION = Opener("<function=", inclusive=True, auto="start")


_NS = "antml:"
_BLOCK = r"(?:[\w-]{1,32}:)?function_calls"
_NAMESPACE = r"(?:[\w-]{1,32}:)?"
_INVOKE = invoke_tags(_NAMESPACE, ("invoke", "parameter", _NS, "function_calls"), _BLOCK)
_OLD_INVOKE = child_tags(
    call=rf"(?:<{_BLOCK}>{GAP}){{0,3}}<{_NAMESPACE}invoke>{GAP}<{_NAMESPACE}tool_name>{GAP}(?P<name>[^<>\s]{{1,256}})"
    rf"{GAP}</{_NAMESPACE}tool_name>",
    call_begin=rf"<(?:{_BLOCK}|{_NAMESPACE}invoke)>",
    call_close=rf"(?:</{_NAMESPACE}parameters>{GAP})?</{_NAMESPACE}invoke>",
    begins=("<invoke>", "<function_calls>"),
    block_close=f"</{_BLOCK}>",
    lead=f"<{_NAMESPACE}parameters>",
)


_DOTS_TAGS = invoke_tags("", ("invoke", "parameter", "dots_function_call"), "dots_function_call")
_DOTS_JSON = JsonCalls(
    closes=("</dots_function_call>",), opens=("<dots_function_call>",), lead=rf"(?:<dots_function_call>{GAP}){{1,3}}"
)

_PARAM = TagCalls(
    call=r"<function\s{1,8}name=[\"']?(?P<name>[^<>\s\"']{1,256}?)[\"']?\s{0,8}"
    rf"(?:(?P<empty>/)>|>(?={GAP}(?:<param\s|<arguments>|</function>|\{{)))",
    call_begin=r"<function\s",
    call_close=rf"(?:</arguments>{GAP})?</function>",
    block_close="(?!)",
    parameter=rf"<param\s{{1,8}}name={NAMED_KEY}(?:\s[^<>]{{0,64}})?>",
    parameter_begin=r"<param\s",
    parameter_close="</param>",
    stops=("</param>", "<param ", "</function>", "<function "),
    lead="<arguments>",
    value_open=rf"{GAP}(?P<cdata><!\[CDATA\[)",
    trim=False,
)

# The mark of DeepSeek's tags, first as it is written, then as models have been seen to write it.
_SPELLINGS = ("｜DSML｜", "｜｜DSML｜｜", "|DSML|", "||DSML||", " | DSML | ", " ｜ DSML ｜ ", " |DSML| ")
_DSML = invoke_tags(
    r"\s?[｜|]{1,2}\s?DSML\s?[｜|]{1,2}\s?",
    _SPELLINGS,
    r"\s?[｜|]{1,2}\s?DSML\s?[｜|]{1,2}\s?(?:function_calls|tool_?calls|calls|tool_use|tool)",
)

_DSML_LEFT = leftovers("dsml", _DSML, *(f"</{text}" for text in _SPELLINGS))


def _dsml(name: str, *own: str, models: str, block: str, space: str = "") -> Dialect:
    """A version of the format: the openers that are its own, and those that no version claims."""
    mark = f"｜DSML｜{space}"
    return Dialect(
        name,
        tuple(Opener(f"<{text}", inclusive=True) for text in (*own, *_SPELLINGS)),
        _DSML,
        models=models,
        example=f'<{mark}{block}>\n<{mark}invoke name="get_weather">\n'
        f'<{mark}parameter name="city" string="true">Paris</{mark}parameter>\n</{mark}invoke>\n</{mark}{block}>',
        # SGLang's and vLLM's tests: a block of calls ends the thought.
        in_thought="ends",
        drops=("<｜end▁of▁sentence｜>",),
        companions=(_DSML_LEFT,),
    )


_OPEN, _CLOSE, _SEP = r"<\|open\|>", r"<\|close\|>", r"<\|sep\|>"
_XTML = TagCalls(
    call=rf"(?:{_OPEN}tools{_SEP}{GAP}){{0,3}}{_OPEN}call\s{{1,8}}tool=\"(?P<name>[^\"<>]{{1,256}})\"[^<>]{{0,64}}{_SEP}",
    call_begin=rf"{_OPEN}(?:tools{_SEP}|call\s)",
    call_close=rf"{_CLOSE}call{_SEP}",
    block_close=rf"{_CLOSE}tools{_SEP}",
    parameter=rf"{_OPEN}argument\s{{1,8}}key=\"(?P<key>[^\"<>]{{1,256}})\"(?:\s{{1,8}}type=\"(?P<type>\w{{1,16}})\")?"
    rf"[^<>]{{0,64}}{_SEP}",
    parameter_begin=rf"{_OPEN}argument\s",
    parameter_close=rf"{_CLOSE}argument{_SEP}",
    stops=("<|open|>", "<|close|>"),
    trim=False,
    entities=(("&quot;", '"'), ("&amp;", "&")),
)

_SOLAR_INSIDE = rf"(?={GAP}<\|tool_(?:arg:start|call:end)\|>)"
_SOLAR_TAGS = TagCalls(
    # Seen: a fence in place of the opening token, if arguments follow.
    call=rf"(?:<\|tool_call:start\|>{GAP}(?P<name>[^\s<>`|]{{1,256}}?){_SOLAR_INSIDE}"
    rf"|(?P<odd>)```(?P<name>[\w.-]{{1,256}})[ \t]{{0,8}}\r?\n(?=<\|tool_arg:start\|>))",
    call_begin=r"(?:<\|tool_call:start\|>|```[\w.-]{1,256}[ \t]{0,8}\r?\n<\|tool_arg:start\|>)",
    call_close=r"<\|tool_call:end\|>",
    block_close="(?!)",
    parameter=rf"<\|tool_arg:start\|>{GAP}(?P<key>[^<>|]{{1,256}}?){GAP}<\|tool_arg:value\|>",
    parameter_begin=r"<\|tool_arg:start\|>",
    parameter_close=r"<\|tool_arg:end\|>",
    stops=("<|tool_arg:", "<|tool_call:"),
    trim=False,
)

ROWS = (
    Dialect(
        "qwen3-coder",
        (*_inside("<tool_call>"), _FUNCTION),
        (_TAGS := function_tags("tool_call")),
        models="Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Step-3.5, Step-5, Nanbeige 4",
        example="<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
        # SGLang ends a thought at <tool_call>.
        in_thought="ends",
        companions=(leftovers("qwen3-coder", _TAGS, "</parameter"),),
    ),
    Dialect(
        "mimo",
        (*_inside("<tool_call>"), _FUNCTION),
        (_VERBATIM := function_tags("tool_call", trim=False, untyped=STRING)),
        models="MiMo-V2-Flash, MiMo-V2.5",
        # It shares <tool_call>, so that named and auto agree.
        in_thought="ends",
        example="<tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</tool_call>",
        companions=(leftovers("mimo", _VERBATIM, "</parameter"),),
    ),
    Dialect(
        "seed-oss",
        (*_inside("<seed:tool_call>"), _FUNCTION),
        (_SEED := function_tags("seed:tool_call", trim=False)),
        thoughts=("seed",),
        models="Seed-OSS-36B",
        example="<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n"
        "</seed:tool_call>",
        companions=(leftovers("seed-oss", _SEED, "</parameter"),),
    ),
    Dialect(
        "anthropic-invoke",
        _inside("<function_calls>", f"<{_NS}function_calls>", "<invoke name=", f"<{_NS}invoke name=", "<invoke>"),
        Either(_INVOKE.call, _INVOKE, _OLD_INVOKE),
        thoughts=("thinking",),
        models="Claude 2 and 3 prompts; MiniMax-M2, Kimi K2.5, GLM behind proxies",
        example='<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
        "</function_calls>",
        companions=(leftovers("anthropic-invoke", _INVOKE, "</parameter", f"</{_NS}parameter"),),
    ),
    Dialect(
        "minimax-m2",
        _inside("<minimax:tool_call>", "<invoke name="),
        (_MINIMAX := invoke_tags("", ("invoke", "parameter", "minimax:tool_call"), "minimax:tool_call")),
        models="MiniMax-M2, M2.1, M2.5, M2.7",
        example='<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</invoke>\n</minimax:tool_call>",
        companions=(leftovers("minimax-m2", _MINIMAX, "</parameter"),),
    ),
    Dialect(
        "step3",
        _inside("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "<steptml:invoke"),
        (
            _STEPTML := invoke_tags(
                "steptml:",
                ("steptml:",),
                "｜tool_calls_begin｜",
                lead=rf"(?:<｜tool_call_begin｜>{GAP}(?:function)?{GAP}(?:<｜tool_sep｜>)?{GAP})?",
                block_close="<｜tool_calls?_end｜>",
            )
        ),
        models="Step-3",
        example='<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">'
        '<steptml:parameter name="city">Paris</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n'
        "<｜tool_calls_end｜>",
        companions=(leftovers("step3", _STEPTML, "</steptml:parameter"),),
    ),
    Dialect(
        "dots",
        _inside("<dots_function_call>", "<invoke name="),
        Either(_DOTS_TAGS.call, _DOTS_TAGS, _DOTS_JSON),
        rf"(?:{_DOTS_TAGS.call})|<dots_function_call>{GAP}[\[{{]",
        models="dots.llm2",
        example='<dots_function_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</invoke>\n</dots_function_call>",
        companions=(leftovers("dots", _DOTS_TAGS, "</parameter"),),
    ),
    Dialect(
        "minicpm5",
        _inside("<function name="),
        _PARAM,
        models="MiniCPM5",
        example='<function name="get_weather"><param name="city">Paris</param></function>',
        companions=(leftovers("minicpm5", _PARAM, "</param>"),),
    ),
    _dsml("dsml-v3.2", "｜DSML｜function_calls>", "｜DSML｜invoke ", models="DeepSeek-V3.2", block="function_calls"),
    _dsml("dsml-v4", "｜DSML｜tool_calls>", models="DeepSeek-V4-Pro, V4-Flash", block="tool_calls"),
    _dsml("dsml-v4.1", "｜DSML｜ ", models="DeepSeek-V4.1", block="calls", space=" "),
    Dialect(
        "gcml",
        (Opener("<｜GCML｜", inclusive=True),),
        (_GCML := invoke_tags("｜GCML｜", ("｜GCML｜",), "｜GCML｜tool_calls")),
        models="GigaChat 3.5",
        drops=("<|message_sep|>",),
        companions=(leftovers("gcml", _GCML, "</｜GCML｜parameter"),),
        example='<｜GCML｜tool_calls>\n<｜GCML｜invoke name="get_weather">\n'
        '<｜GCML｜parameter name="city" string="true">Paris</｜GCML｜parameter>\n</｜GCML｜invoke>\n'
        "</｜GCML｜tool_calls>",
    ),
    Dialect(
        "kimi-k3",
        (Opener("<|open|>tools<|sep|>", inclusive=True), Opener("<|open|>call ", inclusive=True)),
        _XTML,
        thoughts=("kimi-k3",),
        models="Kimi K3",
        # SGLang's tests: the tools channel ends the thought.
        in_thought="ends",
        companions=(leftovers("kimi-k3", _XTML, "<|close|>argument"),),
        opens_text=("<|open|>response<|sep|>",),
        drops=(
            "<|open|>response<|sep|>",
            "<|close|>response<|sep|>",
            "<|close|>tools<|sep|>",
            "<|close|>message<|sep|>",
        ),
        example='<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>'
        '<|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|><|close|>call<|sep|>'
        "<|close|>tools<|sep|>",
    ),
    Dialect(
        "solar-open-2",
        (
            Opener("<|tool_call:start|>", inclusive=True),
            Opener("```", inclusive=True, position="line", auto="declared", each_tool=True),
        ),
        _SOLAR_TAGS,
        thoughts=("solar2",),
        models="Solar Open 2, Solar Pro 4",
        drops=("<|im:start|>assistant<|im:content|>", "<|im:end|>"),
        companions=(leftovers("solar-open-2", _SOLAR_TAGS, "<|tool_arg:end|>"),),
        example="<|tool_call:start|>get_weather\n<|tool_arg:start|>city<|tool_arg:value|>Paris<|tool_arg:end|>\n"
        "<|tool_call:end|>",
    ),
)
