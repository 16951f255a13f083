"""Dialects of grammars D and E: a tag for the call, with its name, and one tag or two for each parameter."""

from __future__ import annotations

from typing import Any

from streamparse.dialects.engine.grammar import Dialect, Opener
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.call_block import Branch
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.name_then_json import NAME, MarkedCalls
from streamparse.dialects.grammars.tag_calls import TagCalls
from streamparse.dialects.table.json_rows import JSON
from streamparse.dialects.table.tag_families import (
    NAMED_KEY,
    build_child_tags,
    build_function_tags,
    build_invoke_tags,
    build_pair_tags,
    make_tag_row,
)
from streamparse.schema.kinds import STRING

_FUNCTION = Opener("<function=", inclusive=True, auto="start")


_NS = "antml:"
_BLOCK = r"(?:[\w-]{1,32}:)?function_calls"
_NAMESPACE = r"(?:[\w-]{1,32}:)?"
_INVOKE = build_invoke_tags(_NAMESPACE, ("invoke", "parameter", _NS, "function_calls"), _BLOCK)
_OLD_INVOKE = build_child_tags(
    call=rf"(?:<{_BLOCK}>{GAP}){{0,3}}<{_NAMESPACE}invoke>{GAP}<{_NAMESPACE}tool_name>{GAP}(?P<name>[^<>\s]{{1,256}})"
    rf"{GAP}</{_NAMESPACE}tool_name>",
    call_begin=rf"<(?:{_BLOCK}|{_NAMESPACE}invoke)>",
    call_close=rf"(?:</{_NAMESPACE}parameters>{GAP})?</{_NAMESPACE}invoke>",
    begins=("<invoke>", "<function_calls>"),
    block_close=f"</{_BLOCK}>",
    lead=f"<{_NAMESPACE}parameters>",
)


_DOTS_TAGS = build_invoke_tags("", ("invoke", "parameter", "dots_function_call"), "dots_function_call")
_DOTS_JSON = JsonCalls(
    closes=("</dots_function_call>",), opens=("<dots_function_call>",), lead=rf"(?:<dots_function_call>{GAP}){{1,3}}"
)

_PARAM = TagCalls(
    call=r"<function\s{1,8}name=[\"']?(?P<name>[^<>\s\"']{1,256}?)[\"']?\s{0,8}"
    rf"(?:(?P<empty>/)>|>(?={GAP}(?:<param\s|<arguments>|</function>|\{{)))",
    call_begin=r"<function\s",
    call_close=rf"(?:</arguments>{GAP})?</function>",
    parameter=rf"<param\s{{1,8}}name={NAMED_KEY}(?:\s[^<>]{{0,64}})?>",
    parameter_begin=r"<param\s",
    parameter_close="</param>",
    stops=("</param>", "<param ", "</function>", "<function "),
    lead="<arguments>",
    value_open=rf"{GAP}(?P<cdata><!\[CDATA\[)",
)

# The mark of DeepSeek's tags, first as it is written, then as models have been seen to write it.
_SPELLINGS = ("｜DSML｜", "｜｜DSML｜｜", "|DSML|", "||DSML||", " | DSML | ", " ｜ DSML ｜ ", " |DSML| ")
_DSML = build_invoke_tags(
    r"\s?[｜|]{1,2}\s?DSML\s?[｜|]{1,2}\s?",
    _SPELLINGS,
    r"\s?[｜|]{1,2}\s?DSML\s?[｜|]{1,2}\s?(?:function_calls|tool_?calls|calls|tool_use|tool)",
)


def _make_dsml(name: str, *own: str, models: str, block: str, space: str = "") -> Dialect:
    """A version of the dialect: the openers that are its own, and those that no version claims."""
    mark = f"｜DSML｜{space}"
    return make_tag_row(
        name,
        (f"<{text}" for text in (*own, *_SPELLINGS)),
        _DSML,
        closes=(f"</{text}" for text in _SPELLINGS),
        models=models,
        example=f'<{mark}{block}>\n<{mark}invoke name="get_weather">\n'
        f'<{mark}parameter name="city" string="true">Paris</{mark}parameter>\n</{mark}invoke>\n</{mark}{block}>',
        # SGLang's and vLLM's tests: a block of calls ends the thought.
        in_thought="ends",
        drops=("<｜end▁of▁sentence｜>",),
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
    entities=(("&quot;", '"'), ("&amp;", "&")),
)

_SOLAR_INSIDE = rf"(?={GAP}<\|tool_(?:arg:start|call:end)\|>)"
_SOLAR_TAGS = TagCalls(
    # Seen: a fence in place of the opening token, if arguments follow.
    call=rf"(?:<\|tool_call:start\|>{GAP}(?P<name>[^\s<>`|]{{1,256}}?){_SOLAR_INSIDE}"
    rf"|(?P<odd>)```(?P<name>[\w.-]{{1,256}})[ \t]{{0,8}}\r?\n(?=<\|tool_arg:start\|>))",
    call_begin=r"(?:<\|tool_call:start\|>|```[\w.-]{1,256}[ \t]{0,8}\r?\n<\|tool_arg:start\|>)",
    call_close=r"<\|tool_call:end\|>",
    parameter=rf"<\|tool_arg:start\|>{GAP}(?P<key>[^<>|]{{1,256}}?){GAP}<\|tool_arg:value\|>",
    parameter_begin=r"<\|tool_arg:start\|>",
    parameter_close=r"<\|tool_arg:end\|>",
    stops=("<|tool_arg:", "<|tool_call:"),
)

_ROWS = (
    make_tag_row(
        "qwen3-coder",
        ("<tool_call>", _FUNCTION),
        build_function_tags("tool_call"),
        models="Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Step-3.5, Step-5, Nanbeige 4",
        example="<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
        # SGLang ends a thought at <tool_call>.
        in_thought="ends",
    ),
    make_tag_row(
        "mimo",
        ("<tool_call>", _FUNCTION),
        build_function_tags("tool_call", trim=False, untyped=STRING),
        models="MiMo-V2-Flash, MiMo-V2.5",
        # It shares <tool_call>, so that named and auto agree.
        in_thought="ends",
        example="<tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</tool_call>",
    ),
    make_tag_row(
        "seed-oss",
        ("<seed:tool_call>", _FUNCTION),
        build_function_tags("seed:tool_call", trim=False),
        thoughts=("seed",),
        models="Seed-OSS-36B",
        example="<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n"
        "</seed:tool_call>",
    ),
    make_tag_row(
        "anthropic-invoke",
        ("<function_calls>", f"<{_NS}function_calls>", "<invoke name=", f"<{_NS}invoke name=", "<invoke>"),
        _INVOKE,
        Branch(_INVOKE.call, _INVOKE, _OLD_INVOKE),
        thoughts=("thinking",),
        closes=("</parameter", f"</{_NS}parameter"),
        models="Claude 2 and 3 prompts; MiniMax-M2, Kimi K2.5, GLM through proxies",
        example='<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
        "</function_calls>",
    ),
    make_tag_row(
        "minimax-m2",
        ("<minimax:tool_call>", "<invoke name="),
        build_invoke_tags("", ("invoke", "parameter", "minimax:tool_call"), "minimax:tool_call"),
        models="MiniMax-M2, M2.1, M2.5, M2.7",
        example='<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</invoke>\n</minimax:tool_call>",
    ),
    make_tag_row(
        "step3",
        ("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "<steptml:invoke"),
        build_invoke_tags(
            "steptml:",
            ("steptml:",),
            "｜tool_calls_begin｜",
            lead=rf"(?:<｜tool_call_begin｜>{GAP}(?:function)?{GAP}(?:<｜tool_sep｜>)?{GAP})?",
            block_close="<｜tool_calls?_end｜>",
        ),
        closes=("</steptml:parameter",),
        models="Step-3",
        example='<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">'
        '<steptml:parameter name="city">Paris</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n'
        "<｜tool_calls_end｜>",
    ),
    make_tag_row(
        "dots",
        ("<dots_function_call>", "<invoke name="),
        _DOTS_TAGS,
        Branch(_DOTS_TAGS.call, _DOTS_TAGS, _DOTS_JSON),
        follows=rf"(?:{_DOTS_TAGS.call})|<dots_function_call>{GAP}[\[{{]",
        models="dots.llm2",
        example='<dots_function_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</invoke>\n</dots_function_call>",
    ),
    make_tag_row(
        "minicpm5",
        ("<function name=",),
        _PARAM,
        closes=("</param>",),
        models="MiniCPM5",
        example='<function name="get_weather"><param name="city">Paris</param></function>',
    ),
    _make_dsml(
        "dsml-v3.2", "｜DSML｜function_calls>", "｜DSML｜invoke ", models="DeepSeek-V3.2", block="function_calls"
    ),
    _make_dsml("dsml-v4", "｜DSML｜tool_calls>", models="DeepSeek-V4-Pro, V4-Flash", block="tool_calls"),
    _make_dsml("dsml-v4.1", "｜DSML｜ ", models="DeepSeek-V4.1", block="calls", space=" "),
    make_tag_row(
        "gcml",
        ("<｜GCML｜",),
        build_invoke_tags("｜GCML｜", ("｜GCML｜",), "｜GCML｜tool_calls"),
        closes=("</｜GCML｜parameter",),
        models="GigaChat 3.5",
        drops=("<|message_sep|>",),
        example='<｜GCML｜tool_calls>\n<｜GCML｜invoke name="get_weather">\n'
        '<｜GCML｜parameter name="city" string="true">Paris</｜GCML｜parameter>\n</｜GCML｜invoke>\n'
        "</｜GCML｜tool_calls>",
    ),
    make_tag_row(
        "kimi-k3",
        ("<|open|>tools<|sep|>", "<|open|>call "),
        _XTML,
        thoughts=("kimi-k3",),
        closes=("<|close|>argument",),
        models="Kimi K3",
        # SGLang's tests: the tools channel ends the thought.
        in_thought="ends",
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
    make_tag_row(
        "solar-open-2",
        ("<|tool_call:start|>", Opener("```", inclusive=True, position="line", auto="declared", each_tool=True)),
        _SOLAR_TAGS,
        thoughts=("solar2",),
        closes=("<|tool_arg:end|>",),
        models="Solar Open 2, Solar Pro 4",
        drops=("<|im:start|>assistant<|im:content|>", "<|im:end|>"),
        example="<|tool_call:start|>get_weather\n<|tool_arg:start|>city<|tool_arg:value|>Paris<|tool_arg:end|>\n"
        "<|tool_call:end|>",
    ),
)


# Dialects of grammar E: a tag for the call, its name, and a pair of tags for each parameter.

_PAIRS = build_pair_tags("", "tool_call")
_PAIR_ENDS = ("</arg_value",)
_PAIR = "<arg_key>city</arg_key>{}<arg_value>Paris</arg_value>"


def _make_pair_row(name: str, *opens: str, **more: Any) -> Dialect:
    """One of the dialects that differ only in white space and in the block around the calls; `more` as of `Dialect`."""
    # SGLang ends a thought at <tool_call>; cases of Ling 3.
    return make_tag_row(name, opens, _PAIRS, closes=_PAIR_ENDS, in_thought="ends", **more)


_GLM_JSON_HEAD = rf"<tool_call>{GAP}{NAME}>"
_GLM_JSON = MarkedCalls(_GLM_JSON_HEAD, closes=("</tool_call>",), again=rf"{GAP}<tool_call>", opens=("<tool_call>",))

# Seen: Hermes' JSON in this block.
_BLOCK_OF_JSON = rf"<tool_calls>{GAP}<tool_call>"
_BLOCK_JSON = JsonCalls(
    closes=("</tool_call>", "</tool_calls>"), opens=("<tool_call>", "<tool_calls>"), lead=_BLOCK_OF_JSON
)

_IFM = build_pair_tags("ifm|", "tool_call")
_IFM_OPEN = rf"(?:<ifm\|tool_calls>{GAP})?<ifm\|tool_call>"
_IFM_JSON = JsonCalls(closes=("</ifm|tool_call>",), opens=("<ifm|tool_call>",), lead=_IFM_OPEN)

_LONGCAT = build_pair_tags("longcat_", "tool_call")
_LONGCAT_OPEN = "<longcat_tool_call>"
_LONGCAT_JSON = JsonCalls(closes=("</longcat_tool_call>",), opens=(_LONGCAT_OPEN,), lead=_LONGCAT_OPEN)

_PAIR_ROWS = (
    _make_pair_row(
        "glm-4.5",
        "<tool_call>",
        models="GLM-4.5, GLM-4.6, Ling-3, Laguna",
        example="<tool_call>get_weather\n" + _PAIR.format("\n") + "\n</tool_call>",
        drops=("<|observation|>", "<|role_end|>"),  # Ling 3 ends each turn with the second
    ),
    _make_pair_row(
        "glm-4.7",
        "<tool_call>",
        models="GLM-4.7, GLM-5",
        example="<tool_call>get_weather" + _PAIR.format("") + "</tool_call>",
        drops=("<|observation|>",),
    ),
    _make_pair_row(
        "spark2.5",
        "<tool_call>",
        models="iFlytek Spark 2.5",
        example="<tool_call>get_weather\n" + _PAIR.format("") + "\n</tool_call>",
    ),
    make_tag_row(
        "glm-5.3",
        ("<tool_call>",),
        _PAIRS,
        Branch(rf"{_GLM_JSON_HEAD}{GAP}\{{", _GLM_JSON, _PAIRS),
        closes=_PAIR_ENDS,
        models="GLM-5.3-Flash",
        example='<tool_call>get_weather>{"city": "Paris"}</tool_call>',
        # VLLM's parser: a call may come without a closing think token.
        in_thought="ends",
        drops=("<|observation|>",),
    ),
    # Each model of IQuest has a word of its own for the tag.
    make_tag_row(
        "iquest-q1",
        ("<iquest_tool_call>",),
        build_pair_tags("", "iquest_tool_call"),
        closes=_PAIR_ENDS,
        models="IQuest-Q1",
        example="<iquest_tool_call>get_weather" + _PAIR.format("") + "</iquest_tool_call>",
    ),
    make_tag_row(
        "iquest-coder-v2",
        ("<iquestcoder_tool_call>",),
        build_pair_tags("", "iquestcoder_tool_call"),
        closes=_PAIR_ENDS,
        models="IQuest Coder V2",
        example="<iquestcoder_tool_call>get_weather" + _PAIR.format("") + "</iquestcoder_tool_call>",
        # As SGLang and vLLM do for this opener.
        in_thought="ends",
    ),
    # LongCat-Flash-Chat writes JSON, Flash-Lite and the API's models pairs of tags.
    make_tag_row(
        "longcat",
        (_LONGCAT_OPEN,),
        _LONGCAT,
        Branch(_LONGCAT.call, _LONGCAT, _LONGCAT_JSON),
        closes=("</longcat_arg_value",),
        follows=rf"(?:{_LONGCAT.call})|{_LONGCAT_OPEN}{JSON}",
        models="LongCat-Flash, LongCat-Flash-Lite",
        example='<longcat_tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</longcat_tool_call>',
        # Its tag is Hermes' with another name; no recording either way.
        in_thought="ends",
    ),
    _make_pair_row(
        "hunyuan-v3",
        *("<tool_calls>", "<tool_calls:", "<tool_call>", "<tool_call:"),
        models="Hunyuan V3, Hy3",
        thoughts=("hy",),
        example="<tool_calls>\n<tool_call>get_weather<tool_sep>\n"
        + _PAIR.format("\n")
        + "\n</tool_call>\n</tool_calls>",
    ),
    _make_pair_row(
        "hunyuan-v4",
        *("<tool_calls>", "<tool_calls:", "<tool_call>", "<tool_call:"),
        body=Branch(rf"{_BLOCK_OF_JSON}{GAP}[\[{{]", _BLOCK_JSON, _PAIRS),
        models="Hy4",
        thoughts=("hy",),
        example="<tool_calls><tool_call>get_weather" + _PAIR.format("") + "</tool_call></tool_calls>",
    ),
    make_tag_row(
        "k2-horizon",
        ("<ifm|tool_calls>", "<ifm|tool_call>"),
        _IFM,
        Branch(_IFM.call, _IFM, _IFM_JSON),
        closes=("</ifm|arg_value",),
        follows=rf"(?:{_IFM.call})|{_IFM_OPEN}{GAP}[\[{{]",
        thoughts=("ifm", "ifm-fast", "ifm-faster"),
        models="K2-v3, K2 Horizon",
        # VLLM's tests: an implicit boundary at the call.
        in_thought="ends",
        drops=("</ifm|tool_calls>",),
        example="<ifm|tool_calls><ifm|tool_call>get_weather<ifm|arg_key>city</ifm|arg_key>"
        "<ifm|arg_value>Paris</ifm|arg_value></ifm|tool_call></ifm|tool_calls>",
    ),
)

ROWS = (*_ROWS, *_PAIR_ROWS)
