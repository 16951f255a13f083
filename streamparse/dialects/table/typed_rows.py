"""Formats of grammar D whose tags say the types of the values, or are tokens of the model's own."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.stray_closers import leftovers
from streamparse.dialects.grammars.xml_params import XmlParams
from streamparse.dialects.table.tags import invoke_tags

__all__ = ["ROWS"]

_SPELLINGS = ("｜DSML｜", "｜｜DSML｜｜", "|DSML|", "||DSML||", " | DSML | ", " ｜ DSML ｜ ", " |DSML| ")
"""The mark of DeepSeek's tags, first as it is written, then as models have been seen to write it."""
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
        _DSML.call,
        _DSML,
        models=models,
        example=f'<{mark}{block}>\n<{mark}invoke name="get_weather">\n'
        f'<{mark}parameter name="city" string="true">Paris</{mark}parameter>\n</{mark}invoke>\n</{mark}{block}>',
        # SGLang's and vLLM's tests: a block of calls ends the thought.
        in_thought="ends",
        drops=("<｜end▁of▁sentence｜>",),
        companions=(_DSML_LEFT,),
    )


_DSML_V3_2 = _dsml(
    "dsml-v3.2", "｜DSML｜function_calls>", "｜DSML｜invoke ", models="DeepSeek-V3.2", block="function_calls"
)
_DSML_V4 = _dsml("dsml-v4", "｜DSML｜tool_calls>", models="DeepSeek-V4-Pro, V4-Flash", block="tool_calls")
_DSML_V4_1 = _dsml("dsml-v4.1", "｜DSML｜ ", models="DeepSeek-V4.1", block="calls", space=" ")

_GCML = Dialect(
    "gcml",
    (Opener("<｜GCML｜", inclusive=True),),
    (_TAGS := invoke_tags("｜GCML｜", ("｜GCML｜",), "｜GCML｜tool_calls")).call,
    _TAGS,
    models="GigaChat 3.5",
    drops=("<|message_sep|>",),
    companions=(leftovers("gcml", _TAGS, "</｜GCML｜parameter"),),
    example='<｜GCML｜tool_calls>\n<｜GCML｜invoke name="get_weather">\n'
    '<｜GCML｜parameter name="city" string="true">Paris</｜GCML｜parameter>\n</｜GCML｜invoke>\n</｜GCML｜tool_calls>',
)

_OPEN, _CLOSE, _SEP = r"<\|open\|>", r"<\|close\|>", r"<\|sep\|>"
_XTML = XmlParams(
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
_KIMI_K3 = Dialect(
    "kimi-k3",
    (Opener("<|open|>tools<|sep|>", inclusive=True), Opener("<|open|>call ", inclusive=True)),
    _XTML.call,
    _XTML,
    thoughts=("kimi-k3",),
    models="Kimi K3",
    # SGLang's tests: the tools channel ends the thought.
    in_thought="ends",
    companions=(leftovers("kimi-k3", _XTML, "<|close|>argument"),),
    opens_text=("<|open|>response<|sep|>",),
    drops=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>tools<|sep|>", "<|close|>message<|sep|>"),
    example='<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>'
    '<|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|><|close|>call<|sep|>'
    "<|close|>tools<|sep|>",
)

_SOLAR_INSIDE = rf"(?={GAP}<\|tool_(?:arg:start|call:end)\|>)"
_SOLAR_TAGS = XmlParams(
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
_SOLAR_OPEN_2 = Dialect(
    "solar-open-2",
    (
        Opener("<|tool_call:start|>", inclusive=True),
        Opener("```", inclusive=True, position="line", auto="declared", each_tool=True),
    ),
    _SOLAR_TAGS.call,
    _SOLAR_TAGS,
    thoughts=("solar2",),
    models="Solar Open 2, Solar Pro 4",
    drops=("<|im:start|>assistant<|im:content|>", "<|im:end|>"),
    companions=(leftovers("solar-open-2", _SOLAR_TAGS, "<|tool_arg:end|>"),),
    example="<|tool_call:start|>get_weather\n<|tool_arg:start|>city<|tool_arg:value|>Paris<|tool_arg:end|>\n"
    "<|tool_call:end|>",
)

ROWS = (_DSML_V3_2, _DSML_V4, _DSML_V4_1, _GCML, _KIMI_K3, _SOLAR_OPEN_2)
