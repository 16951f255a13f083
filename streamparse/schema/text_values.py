"""Texts: what one means by the kinds that are permitted, as JSON text."""

from __future__ import annotations

from functools import cache, lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Final

import msgspec

from streamparse.json import JSONError, read
from streamparse.patterns import gradual, plain
from streamparse.schema.kinds import ANY, STRING, VERBATIM, Kinds

if TYPE_CHECKING:
    import regex

__all__ = ["UNQUOTABLE", "coerced", "is_string", "quoted"]

UNQUOTABLE: Final = r'["\\\x00-\x1f\ud800-\udfff]'
"""A pattern of what may not stand in a JSON string as it is."""

_SPELLINGS: Final = {"null": ("null", "None", "NULL"), "boolean": ("true", "True", "TRUE", "false", "False", "FALSE")}
_LITERALS: Final = {
    spelling: spelling.lower().replace("none", "null") for words in _SPELLINGS.values() for spelling in words
}
_NUMBERS: Final = {
    "number": r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    "integer": r"-?(?:0|[1-9][0-9]*)(?:\.0+)?",
}
_ADORNED: Final = plain(r"^\+?(-?)0*(?=[0-9])")
"""What Python's numbers may begin with, and JSON's may not."""
_CONTAINERS: Final = {"object": "{", "array": "[", "quoted": '"'}
_LONGEST_SCALAR: Final = 1000


def is_string(head: str, kinds: Kinds) -> bool | None:
    """Whether a text that begins with `head` is a string whatever follows; None where more of it must be seen.

    False says that the text must be read as a whole.
    """
    if kinds == STRING:
        return True
    first = head.lstrip()[:1]
    if first and any(_CONTAINERS.get(kind) == first for kind in kinds):
        return False
    if len(head) > _LONGEST_SCALAR or _scalar(kinds).fullmatch(head, partial=True) is None:
        return True
    return None


def coerced(text: str, kinds: Kinds) -> str:
    """Return the JSON text of a parameter that was written as `text`."""
    if VERBATIM + text in kinds:
        return quoted(text)
    kept = text.strip()
    string = is_string(text, kinds)
    if string is None and _scalar(kinds).fullmatch(text):
        return _LITERALS.get(kept) or _ADORNED.sub(r"\1", kept)
    return (_container(kept, kinds) if string is False else None) or quoted(text)


def quoted(text: str) -> str:
    """Return a string's JSON text."""
    if text.isascii():
        return encode_basestring(text)
    try:
        return msgspec.json.encode(text).decode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return msgspec.json.encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")).decode()


@lru_cache(maxsize=128)
def _scalar(kinds: Kinds) -> regex.Pattern[str]:
    """The pattern of what is neither a string nor a container.  Where nothing is known only JSON's own words count."""
    words = [word for kind, spellings in _SPELLINGS.items() if kind in kinds for word in spellings]
    if kinds == ANY:
        words = [word for word in words if word == _LITERALS[word]]
    numbers = [pattern for kind, pattern in _NUMBERS.items() if kind in kinds]
    if "string" not in kinds:  # no text with a meaning of its own: `018956`, `+5`
        numbers = [rf"[+]?(?:{pattern.replace('(?:0|[1-9][0-9]*)', '[0-9]+')})" for pattern in numbers]
    return _pattern(rf"\s*(?:{'|'.join([*words, *numbers]) or '(?!)'})\s*")


@cache
def _pattern(source: str) -> regex.Pattern[str]:
    """A pattern of scalars: there are a few, where the kinds may hold texts of a request's schema."""
    return gradual(source)


def _container(text: str, kinds: Kinds) -> str | None:
    """The text of an object, array or string, as it came if it is JSON; None if it is none of these."""
    try:
        reading = read(text, "heal" if kinds != ANY else "lenient")
    except JSONError:
        return None
    types = {"object": dict, "array": list, "quoted": str}
    if not any(kind in kinds and isinstance(reading.value, type) for kind, type in types.items()):
        return None
    return msgspec.json.encode(reading.value).decode() if reading.repairs else text
