"""Formats of grammar H: channels and recipients."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener, markers
from streamparse.dialects.grammars.call_block import Branch
from streamparse.dialects.grammars.channels import ENDS, HEADER, Channels, ChannelThoughts, StrippedChannels
from streamparse.dialects.grammars.tag_calls import TagCalls
from streamparse.dialects.table.tag_families import make_tag_row

_START = r"(?:<\|start\|>assistant)?"
_RECIPIENT = r" ?to=(?P<name>[^\s<]{1,256})"

_OPENERS = (
    *markers("<|start|>assistant", "<|channel|>", inclusive=True, position="edge"),
    # The prompt ended with the beginning of the header.
    *markers(" to=", "to=", "<|message|>", inclusive=True, position="start"),
)

_ATEM = TagCalls(
    # Some recipients are fumbled: name="read<|message|>">
    call=r'(?:<atem:function_calls>[ \t\r\n]{0,64}+)?<atem:invoke\s{1,8}name="(?P<name>[^"<>]{1,256})'
    r'(?:<\|message\|>)?"?\s{0,8}>',
    parameter=r'<atem:parameter\s{1,8}name="(?P<key>[^"<>]{1,256})"\s{0,8}>',
    call_begin=r"<atem:(?:invoke\s|function_calls>)",
    call_close="</atem:invoke>",
    block_close="</atem:function_calls>",
    parameter_begin=r"<atem:parameter\s",
    parameter_close="</atem:parameter>",
    stops=("<atem:", "</atem:"),
)


_BEAM_CALL = rf"{_START}{_RECIPIENT}<\|channel\|>[^<{{\n]{{0,64}}<\|constrain\|>xml<\|message\|>"

_RFL = TagCalls(
    call=_BEAM_CALL,
    parameter=r'<rfl:parameter\s{1,8}name="(?P<key>[^"<>]{1,256})"\s{0,8}>',
    call_begin=r"<\|start\|>assistant to=",
    call_close=r"<\|(?:call|end)\|>",
    stop=True,
    parameter_begin=r"<rfl:parameter\s",
    parameter_close="</rfl:parameter>",
    stops=("<rfl:parameter", "</rfl:parameter>", "<|call|>", "<|end|>"),
    trim=True,
)


_PLAIN_HEADER = rf"(?!{_BEAM_CALL}){HEADER}"


ROWS = (
    make_tag_row(
        "muse-atem",
        (*_OPENERS, "<atem:function_calls>", "<atem:invoke"),
        _ATEM,
        # Its answers quote headers.
        Channels(markup=_ATEM, markup_head=r"<atem:", interrupts=()),
        closes=("</atem:parameter",),
        follows=rf"(?:{_START}(?:{_RECIPIENT})?<\|message\|>|<atem:)",
        models="Muse-Glimmer-30B, Muse Spark 1.x",
        example=' to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n'
        '<atem:parameter name="city">Paris</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>',
        thoughts=("muse",),
        drops=ENDS,
    ),
    Dialect(
        "harmony",
        (
            *_OPENERS,
            # A server removed the markers.
            *markers("analysis", "commentary to=", inclusive=True, position="start", auto="start", bare=True),
            Opener("assistantcommentary to=", inclusive=True, auto="named", bare=True),
        ),
        Branch(_PLAIN_HEADER, Channels(_PLAIN_HEADER), StrippedChannels()),
        models="gpt-oss-20b, gpt-oss-120b, gpt-oss-safeguard",
        example='<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
        thoughts=("harmony",),
        drops=ENDS,
    ),
    make_tag_row(
        "beam",
        _OPENERS,
        _RFL,
        Channels(markup=_RFL, markup_head=_BEAM_CALL),
        closes=("</rfl:parameter",),
        models="Beam",
        example=' to=get_weather<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name="city">\nParis\n'
        "</rfl:parameter><|call|>",
        thoughts=("harmony",),
        drops=ENDS,
    ),
)

_HEADED = rf"(?:{_START}(?:{_RECIPIENT})?<\|message\|>|{HEADER})"
# The thoughts of all of them: without their calls they differ in nothing.
REASONING = (Dialect("harmony", _OPENERS, ChannelThoughts(), _HEADED),)
