"""Formats of grammar D: a tag for the call, with its name, and a tag for each parameter."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.branch import Either
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.stray_closers import leftovers
from streamparse.dialects.grammars.xml_params import XmlParams
from streamparse.dialects.table.tags import NAMED_KEY, child_tags, function_tags, invoke_tags
from streamparse.schema.kinds import STRING

__all__ = ["ROWS"]


def _inside(*texts: str) -> tuple[Opener, ...]:
    """Openers that are a part of the body: the block's tag, or the call's own where the block is missing."""
    return tuple(Opener(text, inclusive=True) for text in texts)


_FUNCTION = Opener("<function=", inclusive=True, auto="start")

_QWEN3_CODER = Dialect(
    "qwen3-coder",
    (*_inside("<tool_call>"), _FUNCTION),
    (_TAGS := function_tags("tool_call")).call,
    _TAGS,
    models="Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Step-3.5, Step-5, Nanbeige 4",
    example="<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    # SGLang ends a thought at <tool_call>.
    in_thought="ends",
    beside=(leftovers("qwen3-coder", _TAGS, "</parameter"),),
)

_MIMO = Dialect(
    "mimo",
    (*_inside("<tool_call>"), _FUNCTION),
    (_VERBATIM := function_tags("tool_call", trim=False, untyped=STRING)).call,
    _VERBATIM,
    models="MiMo-V2-Flash, MiMo-V2.5",
    # It shares <tool_call>, so that named and auto agree.
    in_thought="ends",
    example="<tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</tool_call>",
    beside=(leftovers("mimo", _VERBATIM, "</parameter"),),
)

_SEED_OSS = Dialect(
    "seed-oss",
    (*_inside("<seed:tool_call>"), _FUNCTION),
    (_SEED := function_tags("seed:tool_call", trim=False)).call,
    _SEED,
    thoughts=("seed",),
    models="Seed-OSS-36B",
    example="<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n"
    "</seed:tool_call>",
    beside=(leftovers("seed-oss", _SEED, "</parameter"),),
)

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
_ANTHROPIC_INVOKE = Dialect(
    "anthropic-invoke",
    _inside("<function_calls>", f"<{_NS}function_calls>", "<invoke name=", f"<{_NS}invoke name=", "<invoke>"),
    f"(?:{_INVOKE.call})|(?:{_OLD_INVOKE.call})",
    Either(_INVOKE.call, _INVOKE, _OLD_INVOKE),
    thoughts=("thinking",),
    models="Claude 2 and 3 prompts; MiniMax-M2, Kimi K2.5, GLM behind proxies",
    example='<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
    "</function_calls>",
    beside=(leftovers("anthropic-invoke", _INVOKE, "</parameter", f"</{_NS}parameter"),),
)

_MINIMAX_M2 = Dialect(
    "minimax-m2",
    _inside("<minimax:tool_call>", "<invoke name="),
    (_MINIMAX := invoke_tags("", ("invoke", "parameter", "minimax:tool_call"), "minimax:tool_call")).call,
    _MINIMAX,
    models="MiniMax-M2, M2.1, M2.5, M2.7",
    example='<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    beside=(leftovers("minimax-m2", _MINIMAX, "</parameter"),),
)

_STEP3 = Dialect(
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
    ).call,
    _STEPTML,
    models="Step-3",
    example='<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">'
    '<steptml:parameter name="city">Paris</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n'
    "<｜tool_calls_end｜>",
    beside=(leftovers("step3", _STEPTML, "</steptml:parameter"),),
)

_DOTS_TAGS = invoke_tags("", ("invoke", "parameter", "dots_function_call"), "dots_function_call")
_DOTS_JSON = JsonCalls(
    closes=("</dots_function_call>",), opens=("<dots_function_call>",), lead=rf"(?:<dots_function_call>{GAP}){{1,3}}"
)
_DOTS = Dialect(
    "dots",
    _inside("<dots_function_call>", "<invoke name="),
    rf"(?:{_DOTS_TAGS.call})|<dots_function_call>{GAP}[\[{{]",
    Either(_DOTS_TAGS.call, _DOTS_TAGS, _DOTS_JSON),
    models="dots.llm2",
    example='<dots_function_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
    "</dots_function_call>",
    beside=(leftovers("dots", _DOTS_TAGS, "</parameter"),),
)

_PARAM = XmlParams(
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
_MINICPM5 = Dialect(
    "minicpm5",
    _inside("<function name="),
    _PARAM.call,
    _PARAM,
    models="MiniCPM5",
    example='<function name="get_weather"><param name="city">Paris</param></function>',
    beside=(leftovers("minicpm5", _PARAM, "</param>"),),
)

ROWS = (_QWEN3_CODER, _MIMO, _SEED_OSS, _ANTHROPIC_INVOKE, _MINIMAX_M2, _STEP3, _DOTS, _MINICPM5)
