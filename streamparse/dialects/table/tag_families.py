"""The families of tags that the dialects of grammars D and E are written in, as patterns.

Each takes what differs: the block around the calls, a prefix of every tag.  The patterns accept the variants seen of
models that drift: other quotation marks or none, a doubled block, an opening tag without its `>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from streamparse.dialects.engine.grammar import Body, Dialect, Opener
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.stray_closers import find_stray_closers
from streamparse.dialects.grammars.tag_calls import KEY, TagCalls
from streamparse.schema.kinds import ANY, Kinds

_QUOTE = r"[\"']?"
_NAME = r"(?P<name>[^<>\s\"']{1,256}?)"
# A parameter's name as the value of an attribute: whole between its quotes, one word where one of them is missing.
NAMED_KEY = (
    r"(?:\"(?P<key>[^<>\"]{1,256})\"|'(?P<key>[^<>']{1,256})'"
    rf"|{_QUOTE}(?P<key>[^<>\s\"']{{1,256}}?){_QUOTE})"
)
# The name of a parameter up to the end of its tag; it may hold blanks, but no attributes.
_BARE_KEY = r"(?P<key>[^<>\s\"'=](?:[^<>\r\n\"'=]{0,254}[^<>\s\"'=])?)"
_ATTRIBUTES = r"(?:[\w.:-]{1,64}=(?:\"[^\"<>]{0,256}\"|'[^'<>]{0,256}')\s{0,8}){1,4}"
_WORD = r"(?=\w)[\w.:/-]{1,256}+"
# A blank between tags, or a line break as GLM writes it at times: in two characters.
_BREAKS = r"(?:[ \t\r\n]|\\n)"


def make_tag_row(
    name: str,
    opens: Iterable[str | Opener],
    tags: TagCalls,
    body: Body | None = None,
    closes: Iterable[str] = ("</parameter",),
    **more: Any,
) -> Dialect:
    """A dialect of tags, and what casts doubt on its calls where a closing tag closes nothing.

    `opens`: the markers that are a part of the first tag; `body`: what reads the calls, if not `tags` alone;
    `closes`: what the tags that close a value begin with; `more` as of `Dialect`.
    """
    openers = tuple(Opener(each, inclusive=True) if isinstance(each, str) else each for each in opens)
    return Dialect(name, openers, body or tags, companions=(find_stray_closers(tags, *closes),), **more)


def build_function_tags(block: str, trim: bool = True, untyped: Kinds = ANY) -> TagCalls:
    """`<function=NAME>` and `<parameter=KEY>`; also as `<function name="NAME">`."""
    inside = rf"(?={GAP}(?:<parameter|</function|\{{))"
    name = rf"<function(?:=|\s{{1,8}}name=){_QUOTE}{_NAME}{_QUOTE}"
    return TagCalls(
        call=rf"(?:(?:<{block}>{GAP}){{1,3}}{name}(?:\s{{0,8}}(?P<empty>/)?>|(?P<odd>){inside})"
        rf"|{name}(?:\s{{0,8}}(?P<empty>/)>|(?:\s{{0,8}}>|(?P<odd>)){inside}))",
        call_begin=rf"<(?:{block}>|function[=\s])",
        call_close="</function>",
        block_close="</(?:seed:)?tool_call>",
        parameter=rf"<parameter(?:=|\s{{1,8}}name=)(?:{NAMED_KEY}|{_BARE_KEY})>",
        parameter_begin=r"<parameter[=\s]",
        # Seen: </parameter/>, </parameter1>, </parameterfunction>, </parameter KEY>, and the tag without its end.
        parameter_close=rf"</parameter(?:>|(?P<odd>)(?:[^<>]{{1,64}}>|(?={GAP}<)))",
        stops=("</parameter", "<parameter", "</function>", f"<{block}>", "<function"),
        trim=trim,
        untyped=untyped,
    )


def build_invoke_tags(
    prefix: str, begins: tuple[str, ...], block: str, lead: str = "", block_close: str = ""
) -> TagCalls:
    """`<invoke name="NAME">` and `<parameter name="KEY">`, a type perhaps as `string="true"` or `type="number"`.

    `prefix` is a pattern before the word of each tag, and `begins` are the literals that tags begin
    with; `block` is the pattern of the block's tag, `lead` what may be before each invocation.
    """
    inside = rf"(?={GAP}(?:<{prefix}parameter|</{prefix}invoke|\{{))"
    name = rf"{lead}<{prefix}invoke\s{{1,8}}name={_QUOTE}{_NAME}{_QUOTE}\s{{0,8}}"
    # Other attributes mean nothing if parameters follow; else they could be the arguments.
    more = rf"(?<=[\"']\s){_ATTRIBUTES}>(?={GAP}(?:<{prefix}parameter|\{{))"
    return TagCalls(
        call=rf"(?:(?:<{block}>{GAP}){{1,3}}{name}(?:(?P<empty>/)?>|{more})"
        rf"|{name}(?:(?P<empty>/)>|>{inside}|{more}))",
        call_begin=rf"(?:<{block}>|{lead}<{prefix}invoke\s)",
        call_close=f"</{prefix}invoke>",
        block_close=block_close or f"</{block}>",
        parameter=rf"<{prefix}parameter\s{{1,8}}name={NAMED_KEY}"
        rf"(?:\s{{1,8}}(?:string|type)={_QUOTE}(?P<type>\w{{1,16}}){_QUOTE})?(?:\s[^<>]{{0,64}})?>",
        parameter_begin=rf"<{prefix}parameter\s",
        parameter_close=rf"</{prefix}parameter(?:>|(?P<odd>)(?:\s{{0,8}}/?>|(?={GAP}<)))",
        stops=tuple(slash + begin for begin in begins for slash in ("<", "</")),
    )


def build_child_tags(
    call: str, call_begin: str, call_close: str, begins: tuple[str, ...], block_close: str = "(?!)", lead: str = ""
) -> TagCalls:
    """`<KEY>VALUE</KEY>`: the tag of a parameter is its name; also `<parameter name="KEY">`.

    No other tag ends a value, for it may hold tags.  `begins` are the literals that a call begins with.
    """
    words = "parameter|param|argument|arg"
    return TagCalls(
        call=call,
        call_begin=call_begin,
        call_close=call_close,
        block_close=block_close,
        parameter=rf"<(?:(?:{words})\s{{1,8}}name={_QUOTE}(?P<key>[^<>\"']{{1,256}}?){_QUOTE}|(?P<key>[A-Za-z_][\w.-]{{0,255}}))>",
        parameter_begin=r"<[A-Za-z_]",
        parameter_close=rf"</(?:{words}|{KEY})>",
        stops=("</", *begins),
        lead=lead,
        trim=True,
        unclosed=False,
    )


_ID = r"(?P<id>[^\"<>]{1,256})"
_INSIDE = "(?:arguments|parameters|args|input|params)"


def build_named_tags(words: str, begins: tuple[str, ...]) -> tuple[TagCalls, TagCalls]:
    """`<tool name="NAME">` and `<tool><name>NAME</name>`: the name is an attribute, or the first element.

    `words` is the pattern of the tag's word.  An id may be next to the name, and an element around the parameters,
    which are children or JSON.
    """
    id, prefix = rf"\s{{1,8}}id=\"{_ID}\"", r"(?:[\w.]{1,32}:)?"
    # Grok repeats attributes in the closing tag, or leaves a blank or a quotation mark there.
    close = rf"(?:</{_INSIDE}>{GAP})?</{words}(?:>|(?P<odd>)[ \"][^<>]{{0,256}}>)"
    build = partial(build_child_tags, call_close=close, begins=begins, lead=f"<{_INSIDE}>")
    attribute = build(
        call=rf"<{words}(?:(?:{id})?\s{{1,8}}name={_QUOTE}{_NAME}{_QUOTE}\s{{0,8}}(?P<empty>/)?>(?:(?<=/>)|(?={GAP}[<{{]))"
        rf"|\s{{1,8}}name=\"{_NAME}\"{id}\s{{0,8}}>(?={GAP}(?:\{{|<[^/])))",
        call_begin=rf"<{words}\s",
    )
    element = build(
        call=rf"<{words}>{GAP}(?:<id>{GAP}(?P<id>[^<>\s]{{1,256}}){GAP}</id>{GAP})?"
        rf"<(?P<word>{prefix}(?:name|tool_name|function))>{GAP}(?P<name>[^<>\s]{{1,256}}){GAP}</(?P=word)>",
        call_begin=rf"<{words}>{GAP}<{prefix}(?:id|name|tool_name|function)>",
    )
    return attribute, element


def build_pair_tags(mark: str, word: str) -> TagCalls:
    """`<tool_call>NAME`, then `<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>` for each parameter.

    `mark` is a literal before the word of each tag, `word` the call's.  Any tag may bear a suffix
    (`<arg_key:opensource>`); `<arg_key>` or `<arg_value>` may be missing, or be a second `<tool_call>`.  Behind the
    name one JSON object may hold all parameters.
    """
    m = mark.replace("|", r"\|")
    end = r"(?::\w{1,32})?>"
    key = rf"[^<>\s]{{1,64}}+</{m}arg_key"
    other = _write_unlike(f"<{mark}arg_")
    begin = rf"(?:<{m}arg_key{end}|(?:<{m}{word}{end})?{GAP}{key})"
    inside = rf"<{m}arg_(?:key|value){end}|</{m}{word}{end}|<{m}{word}{end}{GAP}{key}|\{{\s{{0,64}}[\"'}}]"
    call = (
        rf"(?:<{m}tool_calls{end}{GAP}){{0,3}}<{m}{word}{end}(?! {{1,4}}{_WORD} {{1,4}}</){GAP}(?P<name>{_WORD})"
        rf"(?:{_BREAKS}{{0,64}}(?:<{m}tool_sep{end}|(?={inside}))|{_BREAKS}{{1,64}}(?={key}))"
    )
    return TagCalls(
        call=call,
        call_begin=rf"(?:{call}|<{m}tool_calls{end})",
        call_close=f"</{m}{word}{end}",
        block_close=f"</{m}tool_calls{end}",
        # A key right before the end of the call has no value.
        parameter=rf"(?:<{m}arg_key{end}|(?P<odd>)(?:<{m}(?:arg_key|{word}){end}){{0,3}}){GAP}(?P<key>[^<>]{{1,256}}?){GAP}</{m}arg_key{end}"
        rf"(?={GAP}(?:[^\s<]|<[^/]|</{m}arg_value{end}))",
        parameter_begin=begin,
        parameter_close=f"</{m}arg_value{end}",
        stops=tuple(slash + mark + tag for tag in ("arg_key", "arg_value", word) for slash in ("<", "</")),
        value_open=rf"(?:{_BREAKS}{{0,64}}(?:<{m}arg_type{end}{GAP}(?P<type>\w{{1,16}}){GAP}</{m}arg_type{end}{GAP})?"
        rf"<{m}arg_value{end}|{GAP}(?P<none>)(?=<{m}arg_key{end})|{GAP}(?P<odd>)(?=[^\s<\\]|{other}))",
        gap=rf"{_BREAKS}{{0,64}}+",
        hollow=False,
        # GLM-5.2 closes a value that the call does not have.
        empty_call=rf"<{m}{word}{end}{GAP}(?P<name>{_WORD})(?={GAP}</{m}arg_value{end}{GAP}</{m}{word}{end})",
    )


def _write_unlike(literal: str) -> str:
    """A pattern of what begins as the literal does and goes on otherwise."""
    differing = (f"{re.escape(literal[:size])}[^{re.escape(literal[size])}]" for size in range(1, len(literal)))
    return "|".join(differing)
