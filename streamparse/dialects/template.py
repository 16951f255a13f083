"""A dialect from what a checkpoint declares of its own answers: the `response_template` of its tokenizer.

A declaration names the fields of a message and what delimits each of them:

    {"fields": {"thinking": {"open": "<think>", "close": "</think>", "content": "text"},
                "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "content": "json", ...},
                "content": {"close": "<|im_end|>", "content": "text"}}}

A declaration may hold any regular expression, and an arbitrary one can neither be fed piece by piece nor be trusted to
be linear.  Literals, white space, one named group of a character class, and `.*?` are enough for what checkpoints
declare.  They are translated, with bounds, and anything else is refused.

The format is that of https://huggingface.co/docs/transformers/main/chat_response_parsing
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from streamparse.dialects.engine.grammar import UNNAMED, Body, Dialect, Opener, Thought, markers, read_nothing
from streamparse.dialects.grammars.brace_calls import BraceCalls
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.name_then_json import MarkedCalls
from streamparse.dialects.grammars.tag_calls import TagCalls
from streamparse.patterns import lazy_re

_TOKEN = lazy_re(
    r"(?P<blanks>\\s[*+]\??)|(?P<any>\.[*+]\?)"
    r"|\(\?P<(?P<group>\w+)>(?P<kind>\\[wS]|\[\^?[^\]\\]*(?:\\.[^\]\\]*)*\])[+*]\??\)"
    r"|\\(?P<newline>n)|\\(?P<escaped>\W)|(?P<plain>[^\\.^$*+?{}\[\]|()])"
)
_REPEATED = lazy_re(r"[*+?{]")
_PLACEHOLDER = lazy_re(r"\{(\w+)\}")


def dialect_from_template(declaration: Mapping[str, Any], name: str = UNNAMED) -> Dialect:
    """Return the dialect that a declaration describes; it may be used in `dialects=` like a name.

    Raises ValueError with the reason where it describes what no grammar here reads: a pattern that cannot be read
    piece by piece, contents other than JSON, brace literals and inline tags, or a call without a name of its own.
    """
    fields = declaration.get("fields")
    parts = fields if isinstance(fields, Mapping) else {}
    thinking, calls, content = (_get_field(parts.get(part)) for part in ("thinking", "tool_calls", "content"))
    if thinking is None and calls is None:
        raise ValueError("the declaration has neither of the fields 'thinking' and 'tool_calls'")
    openers, follows, body = _read_openers(calls) if calls is not None else ((), r"(?!)", read_nothing)
    return Dialect(
        name,
        openers,
        body,
        follows,
        models="declared by the checkpoint",
        thoughts=(_make_thought(name, thinking),) if thinking is not None else (),
        drops=(*_list_opens(content), *_list_closes(content)) if content is not None else (),
    )


def _get_field(part: Any) -> Mapping[str, Any] | None:
    return part if isinstance(part, Mapping) else None


def _read_openers(calls: Mapping[str, Any]) -> tuple[tuple[Opener, ...], str, Body]:
    """The openers of the calls, what follows them, and their grammar."""
    opening, closes = _read_opening(calls), _list_closes(calls)
    if not opening.literal:
        raise ValueError("'tool_calls' does not begin with a literal marker")
    body, follows = _read_calls(calls, opening, closes)
    return markers(opening.literal), follows, body


def _read_calls(calls: Mapping[str, Any], opening: _Pattern, closes: tuple[str, ...]) -> tuple[Body, str]:
    """The grammar of the calls, and what follows their opening marker."""
    kind = calls.get("content", "text")
    arguments = calls.get("content_args") or {}
    if kind == "json" and not opening.groups and (name := _find_fixed_name(calls.get("transform"))):
        head = opening.rest + "(?P<name>)"
        return MarkedCalls(head, closes, opens=(opening.literal,), name=name), opening.rest + r"\s{0,64}\{"
    names, values = _read_transform(calls.get("transform"))
    if kind == "xml-inline" and opening.groups:
        return _read_tags(arguments, opening, closes), opening.rest
    if kind != "json":
        raise ValueError(f"the content {kind!r} of 'tool_calls' has no grammar")
    if not opening.groups:
        if opening.rest:
            raise ValueError("'open_pattern' of 'tool_calls' is no literal, and names no call")
        return JsonCalls(closes=closes, opens=(opening.literal,), names=names, arguments=values), r"\s{0,64}[\[{]"
    if values != ("content",):
        raise ValueError("a call that is named by its opening must have its content as arguments")
    if arguments.get("string_delims"):
        head = opening.rest + r"[ \t\r\n]{0,64}\{"
        return BraceCalls(_read_delimiter(arguments["string_delims"]), closes, head), head
    return MarkedCalls(head=opening.rest, closes=closes, opens=(opening.literal,)), opening.rest


def _read_tags(arguments: Mapping[str, Any], opening: _Pattern, closes: tuple[str, ...]) -> TagCalls:
    """A tag for each parameter; the inner tag of a call may close before its block does."""
    before, value, after = str(arguments.get("tag_pattern", "")).partition("(?P<value>.*?)")
    if not value:
        raise ValueError("'tag_pattern' holds no (?P<value>.*?)")
    begin = _translate(re.sub(r"\\s[*+]$", "", before))
    if "key" not in begin.groups:
        raise ValueError("'tag_pattern' holds no group 'key'")
    [close] = _read_literals(re.sub(r"^\\s[*+]", "", after))
    inner = re.search(r"<(\w+)=\Z|<(\w+)=", opening.literal + opening.rest)
    tag = f"</{inner[1] or inner[2]}>" if inner else ""
    ends = "(?:" + "|".join(map(re.escape, closes)) + ")"
    return TagCalls(
        call=rf"(?:{re.escape(opening.literal)})?{opening.rest}",
        call_begin=re.escape(opening.literal),
        call_close=rf"(?:{re.escape(tag)}\s{{0,64}})?{ends}" if tag else ends,
        parameter=re.escape(begin.literal) + begin.rest,
        parameter_begin=re.escape(begin.literal),
        parameter_close=re.escape(close),
        stops=tuple(filter(None, (close, begin.literal, tag, *closes))),
        trim=True,
    )


def _find_fixed_name(transform: Any) -> str:
    """The name of every call, if it is declared as a text without a placeholder, and the content is its arguments."""
    function = transform.get("function", transform) if isinstance(transform, Mapping) else None
    if not isinstance(function, Mapping) or function.get("arguments") != "{content}":
        return ""
    name = str(function.get("name", ""))
    return "" if _PLACEHOLDER.search(name) else name


def _read_transform(transform: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys of the content that hold a call's name and its arguments."""
    function = transform.get("function", transform) if isinstance(transform, Mapping) else "{content}"
    if not isinstance(function, Mapping):
        return ("name",), ("arguments", "parameters")
    keys = [_PLACEHOLDER.fullmatch(str(function.get(part, ""))) for part in ("name", "arguments")]
    if keys[0] is None or keys[1] is None:
        raise ValueError("'transform' takes the name or the arguments of a call from more than one placeholder")
    return (keys[0][1],), (keys[1][1],)


def _read_delimiter(pairs: Any) -> str:
    """The one delimiter that begins and ends a string."""
    if len(pairs) != 1 or len(pairs[0]) != 2 or pairs[0][0] != pairs[0][1]:
        raise ValueError(f"'string_delims' must be one pair of equal delimiters, got {pairs!r}")
    return str(pairs[0][0])


def _make_thought(name: str, thinking: Mapping[str, Any]) -> Thought:
    return Thought(name, _list_opens(thinking), _list_closes(thinking))


def _read_opening(field: Mapping[str, Any]) -> _Pattern:
    if isinstance(field.get("open"), str):
        return _Pattern(field["open"], "", ())
    if not isinstance(field.get("open_pattern"), str):
        raise ValueError("'tool_calls' has neither 'open' nor 'open_pattern'")  # noqa: TRY004 - a value that was declared
    return _translate(re.sub(r"^\\s[*+]", "", field["open_pattern"]))


def _list_opens(field: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(field.get("open_pattern"), str):
        return _read_literals(field["open_pattern"])
    return (field["open"],) if isinstance(field.get("open"), str) else ()


def _list_closes(field: Mapping[str, Any]) -> tuple[str, ...]:
    """The literals that end a field."""
    if isinstance(field.get("close_pattern"), str):
        return _read_literals(field["close_pattern"])
    close = field.get("close", ())
    return (close,) if isinstance(close, str) else tuple(close)


class _Pattern(NamedTuple):
    """A translated pattern: the literal that it begins with, and what follows that."""

    literal: str
    rest: str
    groups: tuple[str, ...]


def _translate(pattern: str) -> _Pattern:
    """Translate a pattern; raises ValueError with the place that cannot be."""
    literal, rest, groups = "", "", []
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise ValueError(f"{pattern!r} holds what cannot be read piece by piece: {pattern[at : at + 20]!r}")
        at = token.end()
        text = _get_character(token)
        if text is None or _REPEATED.match(pattern, at):
            if text is not None:
                raise ValueError(f"{pattern!r} repeats a character: {pattern[at - 1 : at + 19]!r}")
            rest += _write_part(token)
        elif rest:
            rest += re.escape(text)
        else:
            literal += text
        if token["group"]:
            groups.append(token["group"])
    return _Pattern(literal, rest, tuple(groups))


def _get_character(token: re.Match[str]) -> str | None:
    if token["newline"]:
        return "\n"
    character = token["escaped"] or token["plain"]
    return character if isinstance(character, str) else None


def _write_part(token: re.Match[str]) -> str:
    if token["blanks"]:
        return r"\s{0,64}" if "*" in token["blanks"] else r"\s{1,64}"
    if token["any"]:
        return r"[^\n]{0,256}?"
    return f"(?P<{token['group']}>{token['kind']}{{1,256}})"


def _read_literals(pattern: str) -> tuple[str, ...]:
    """The literals that a pattern means, white space around them aside; raises ValueError if there are others."""
    inner = re.sub(r"^(?:\\s[*+]|\\n\?)|(?:\\s[*+]|\\n\?)$", "", pattern)
    group = re.fullmatch(r"\(\?:(.*)\)", inner, re.DOTALL)
    parts = re.split(r"(?<!\\)\|", group[1] if group else inner)
    found = [_translate(re.sub(r"\\s[*+]$", "", part)) for part in parts if part != "^"]
    for each in found:
        if each.rest or not each.literal:
            raise ValueError(f"{pattern!r} is no literal")
    return tuple(each.literal for each in found)
