"""Formats of grammar D in which a parameter's tag is its name."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.engine.markers import GAP, write_any
from streamparse.dialects.grammars.call_block import Branch
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.name_then_json import NAME, LabelledCalls, MarkedCalls
from streamparse.dialects.grammars.nested_tags import NestedTags
from streamparse.dialects.grammars.stray_closers import RemembersTag, follow_stray_tags
from streamparse.dialects.grammars.tag_calls import KEY
from streamparse.dialects.grammars.tool_tags import ToolAttributes, ToolTags, ToolText
from streamparse.dialects.table.tag_families import build_child_tags, build_named_tags, make_tag_row

_MARK = "]<]minimax[>["
_M = r"\]<\]minimax\[>\[\s{0,8}"
_NAMED = r"\s{1,8}name=[\"']?(?P<name>[^<>\s\"']{1,256}?)[\"']?\s{0,8}(?P<empty>/)?>"
_NESTED = NestedTags(
    mark=_M,
    call=rf"(?:{_M}<tool_call>{GAP}){{0,3}}{_M}<invoke{_NAMED}",
    call_begin=rf"{_M}<(?:tool_call>|invoke\s)",
    call_close=f"{_M}</invoke>",
    block_close=f"{_M}</tool_call>",
    parameter=rf"{_M}<(?P<key>[^<>\s/]{{1,256}})>",
    parameter_begin=rf"{_M}<[^<>\s/]{{1,256}}>",
    parameter_close=f"{_M}</{KEY}>",
    stops=(_MARK,),
    unclosed=False,
    stray=r"\s{0,64}(?:[^\]\s]|\](?!<))(?:[^\]]|\](?!<)){0,255}",
)
_STRIPPED = build_child_tags(
    call=rf"(?:<tool_call>{GAP}){{0,3}}<invoke{_NAMED}",
    call_begin=r"<(?:tool_call>|invoke\s)",
    call_close="</invoke>",
    begins=("<invoke ", "<tool_call>"),
    block_close="</tool_call>",
)

_TOOL_NAMES = follow_stray_tags(*markers("<", "</", inclusive=True, auto="declared", each_tool=True))


# A block of <tools> may be a list of tools: a name and a text in it are no call.
_TEXT_WORDS = ("tool", "tool_use", "tool_call", "function", "function_call")
_WORDS = (*_TEXT_WORDS, "tools")
_PLAIN_WORDS = tuple(f"<{word}{end}" for word in ("tool", "tools", "function") for end in " >")
_ANY = write_any(_WORDS)
_BEGINS = tuple(f"<{word}{end}" for word in _WORDS for end in (" name=", " id=", ">"))
_ATTRIBUTE, _ELEMENT = build_named_tags(_ANY, _BEGINS)
_COMMAND = rf"<(?P<tag>{write_any(_TEXT_WORDS)})>{GAP}(?P<name>[\w.-]{{1,256}})(?=[\s<])\s?"
_NAME_LINE = rf"<{_ANY}>{GAP}{NAME}{GAP}(?=\{{)"
_ENDS = tuple(f"</{word}>" for word in _WORDS)
_JSON = MarkedCalls(_NAME_LINE, closes=_ENDS)
_TAGS = (*_BEGINS, *(f"<{word} " for word in _WORDS), *_ENDS)
_WORD_TAGS = follow_stray_tags(*markers(*_TAGS, inclusive=True, auto="declared"), words=_WORDS)


ROWS = (
    make_tag_row(
        "minimax-m3",
        (_MARK, "<tool_call>"),
        _NESTED,
        Branch(r"\]", _NESTED, _STRIPPED),
        closes=(_MARK,),
        follows=rf"(?:{_NESTED.call})|<tool_call>{GAP}<invoke\s",
        thoughts=("mm",),
        # A server's parser names this marker as what ends an open thought.
        in_thought="ends",
        models="MiniMax-M3",
        example=f'{_MARK}<tool_call>\n{_MARK}<invoke name="get_weather">{_MARK}<city>Paris{_MARK}</city>'
        f"{_MARK}</invoke>\n{_MARK}</tool_call>",
    ),
    Dialect(
        "tool-name-tag",
        (
            Opener("<", inclusive=True, position="line", auto="declared", each_tool=True, bare=True),
            Opener("<", inclusive=True, auto="named", each_tool=True, bare=True),
        ),
        RemembersTag(Branch(r"<[^\s<>/]{1,256}\s{0,8}/?>", ToolTags(), ToolAttributes(r"<(?P<name>[^\s<>/]{1,256})"))),
        r"<[^\s<>/]{1,256}(?:\s{0,8}/?>|\s{1,8}[\w.-]{1,64}=)",
        thoughts=("thinking",),
        companions=(_TOOL_NAMES,),
        models="any model with the prompt of a coding agent (Cline, Roo, Kilo)",
        example="<get_weather>\n<city>Paris</city>\n</get_weather>",
    ),
    Dialect(
        "tool-text-tag",
        (Opener("<", inclusive=True, position="line", auto="declared", each_tool=True, bare=True),),
        RemembersTag(ToolText(r"<(?P<tag>(?P<name>[^\s<>/]{1,256}))>")),
        companions=(_TOOL_NAMES,),
        models="GLM-5.1 and DeepSeek through routers",
        example="<bash>ls -l</bash>",
    ),
    Dialect(
        "tool-tag",
        tuple(Opener(begin, inclusive=True, auto="declared", word=begin.startswith(_PLAIN_WORDS)) for begin in _BEGINS),
        RemembersTag(
            Branch(
                rf"<{_ANY}\s",
                Branch(
                    _ATTRIBUTE.call,
                    _ATTRIBUTE,
                    ToolAttributes(rf"<{_ANY}\s{{1,8}}name=\"(?P<name>[^<>\s\"]{{1,256}})\""),
                ),
                Branch(rf"<{_ANY}>{GAP}<", _ELEMENT, Branch(_NAME_LINE, _JSON, ToolText(_COMMAND))),
            )
        ),
        rf"(?:{_ATTRIBUTE.call})|(?:{_ELEMENT.call})|(?:{_COMMAND})|{_NAME_LINE}|<{_ANY}\s{{1,8}}name=[^<>\s]{{1,256}}\s",
        companions=(_WORD_TAGS,),
        models="prompted models",
        example='<tool name="get_weather">\n<city>Paris</city>\n</tool>',
    ),
    Dialect(
        "cwm",
        (Opener("<tool:", inclusive=True, position="line", auto="declared", word=True),),
        LabelledCalls(),
        models="Meta CWM",
        example='<tool: get_weather>\n{"city": "Paris"}\n</tool>',
    ),
)

_XAI_WORDS = ("x.ai:tool_call", "xai:tool_call", "xai:function_call")
_XAI_TAGS = tuple(f"<{word}>" for word in _XAI_WORDS)
_XAI_ENDS = tuple(f"</{word}>" for word in _XAI_WORDS)
_XAI_ANY = write_any(_XAI_WORDS)
_XAI_BEGINS = (*_XAI_TAGS, *(f"<{word} " for word in _XAI_WORDS))
_XAI_ATTRIBUTE, _XAI_ELEMENT = build_named_tags(_XAI_ANY, _XAI_BEGINS)
_XAI_JSON = JsonCalls(closes=_XAI_ENDS, opens=_XAI_BEGINS, lead=rf"<{_XAI_ANY}>")
_XAI_TAGGED = Branch(rf"<{_XAI_ANY}\s", _XAI_ATTRIBUTE, _XAI_ELEMENT)
_XAI_OBJECT = rf"<{_XAI_ANY}>\s{{0,64}}(?:[\[{{]|\"(?:name|arguments|parameters|function|id|type)\"\s{{0,8}}:)"
_XAI_BLOCKS = ("xai:tool_call", "xai:tool_calls", "xai:function_call", "xai:function_calls")
_XAI_BLOCK = write_any(_XAI_BLOCKS)
_XAI_INVOKE = build_child_tags(
    call=rf"(?:<{_XAI_BLOCK}>{GAP})?<invoke\s{{1,8}}name=[\"']?(?P<name>[^<>\s\"']{{1,256}}?)[\"']?\s{{0,8}}(?P<empty>/)?>",
    call_begin=rf"(?:<{_XAI_BLOCK}>{GAP})?<invoke\s",
    call_close="</invoke>",
    block_close=f"</{_XAI_BLOCK}>",
    begins=("<invoke ", *(f"<{word}>" for word in _XAI_BLOCKS)),
)
_XAI_STRAY_TAGS = follow_stray_tags(*markers(*_XAI_BEGINS, *_XAI_ENDS, inclusive=True), words=_XAI_WORDS)
_XAI_IN_BLOCK = rf"<{_XAI_BLOCK}>{GAP}<invoke\s"

# The tags of xAI: around JSON, with the name as an attribute or an element, or around calls in tags of their own.
XAI_ROWS = (
    Dialect(
        "xai-tool-call",
        markers(*_XAI_BEGINS, "<xai:tool_calls>", "<xai:function_calls>", inclusive=True),
        RemembersTag(
            Branch(
                _XAI_IN_BLOCK,
                _XAI_INVOKE,
                Branch(_XAI_OBJECT, _XAI_JSON, _XAI_TAGGED),
            )
        ),
        rf"{_XAI_OBJECT}|{_XAI_IN_BLOCK}|(?:{_XAI_ATTRIBUTE.call})|(?:{_XAI_ELEMENT.call})",
        companions=(_XAI_STRAY_TAGS,),
        models="Grok",
        example='<xai:function_call name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</xai:function_call>",
    ),
)
