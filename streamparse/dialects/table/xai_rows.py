"""The tags of xAI: around JSON, with the name as an attribute or an element, or around calls in tags of their own."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener
from streamparse.dialects.engine.markers import GAP, any_of
from streamparse.dialects.grammars.call_block import Either
from streamparse.dialects.grammars.call_json import ARGUMENT_KEYS
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.stray_closers import Remembered, stray_tags
from streamparse.dialects.table.tag_families import child_tags, named_tags

_WORDS = ("x.ai:tool_call", "xai:tool_call", "xai:function_call")
_TAGS = tuple(f"<{word}>" for word in _WORDS)
_ENDS = tuple(f"</{word}>" for word in _WORDS)
_ANY = any_of(_WORDS)
_BEGINS = (*_TAGS, *(f"<{word} " for word in _WORDS))
_ATTRIBUTE, _ELEMENT = named_tags(_ANY, _BEGINS)
_JSON = JsonCalls(closes=_ENDS, opens=_BEGINS, arguments=ARGUMENT_KEYS, lead=rf"<{_ANY}>")
_OBJECT = rf"<{_ANY}>\s{{0,64}}(?:[\[{{]|\"(?:name|arguments|parameters|function|id|type)\"\s{{0,8}}:)"
_BLOCKS = ("xai:tool_call", "xai:tool_calls", "xai:function_call", "xai:function_calls")
_BLOCK = any_of(_BLOCKS)
_INVOKE = child_tags(
    call=rf"(?:<{_BLOCK}>{GAP})?<invoke\s{{1,8}}name=[\"']?(?P<name>[^<>\s\"']{{1,256}}?)[\"']?\s{{0,8}}(?P<empty>/)?>",
    call_begin=rf"(?:<{_BLOCK}>{GAP})?<invoke\s",
    call_close="</invoke>",
    block_close=f"</{_BLOCK}>",
    begins=("<invoke ", *(f"<{word}>" for word in _BLOCKS)),
)
_IN_BLOCK = rf"<{_BLOCK}>{GAP}<invoke\s"


ROWS = (
    Dialect(
        "xai-tool-call",
        tuple(Opener(begin, inclusive=True) for begin in (*_BEGINS, "<xai:tool_calls>", "<xai:function_calls>")),
        Remembered(Either(_IN_BLOCK, _INVOKE, Either(_OBJECT, _JSON, Either(rf"<{_ANY}\s", _ATTRIBUTE, _ELEMENT)))),
        rf"{_OBJECT}|{_IN_BLOCK}|(?:{_ATTRIBUTE.call})|(?:{_ELEMENT.call})",
        companions=(
            stray_tags("xai tags", *(Opener(tag, inclusive=True) for tag in (*_BEGINS, *_ENDS)), words=_WORDS),
        ),
        models="Grok",
        example='<xai:function_call name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</xai:function_call>",
    ),
)
