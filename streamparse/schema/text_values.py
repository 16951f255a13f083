"""What JSON a parameter's text means, by the kinds of values that are permitted.

The names of JSON's types are here too: as schemas, markup and Python have them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from streamparse.json import JSONError, read
from streamparse.patterns import gradual, plain

if TYPE_CHECKING:
    import regex

Kinds: TypeAlias = frozenset[str]
"""JSON types; `integer` is a part of `number`.

Two more: `quoted` says that a text that is a JSON string has the value of that string; `=TEXT` says that this very text
is a string, whatever it looks like.
"""

STRING: Final[Kinds] = frozenset({"string"})
ANY: Final[Kinds] = frozenset({"null", "boolean", "integer", "number", "object", "array", "string"})
JSON: Final[Kinds] = ANY | {"quoted"}
"""What a format says is JSON; its text is a string only if it cannot be read."""
VERBATIM: Final = "="
"""The prefix of a kind `=TEXT`."""
TYPE_NAMES: Final[dict[type, str]] = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array",
}  # fmt: skip
"""JSON Schema's names of the types of Python's JSON values."""

UNQUOTABLE: Final = r'["\\\x00-\x1f\ud800-\udfff]'
"""A pattern of the characters that must be escaped in a JSON string."""

_WORDS: Final[dict[str, Kinds]] = {
    **{kind: frozenset({kind}) for kind in ANY},
    "number": frozenset({"number", "integer"}),
    # Schemas made by hand from Python's annotations name its types.
    **dict.fromkeys(("str", "text"), STRING),
    **dict.fromkeys(("int", "long"), frozenset({"integer"})),
    **dict.fromkeys(("float", "double"), frozenset({"number", "integer"})),
    "bool": frozenset({"boolean"}),
    "dict": frozenset({"object"}),
    "list": frozenset({"array"}),
}
_ATTRIBUTES: Final[dict[str, Kinds]] = {"true": STRING, "string": STRING, "false": JSON}
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
_CONTAINER_TYPES: Final = {"object": dict, "array": list, "quoted": str}
_LONGEST_SCALAR: Final = 1000


def read_type_attribute(word: str) -> Kinds | None:
    """Return what the type that an attribute of the markup names permits; None if the word is not known."""
    return _ATTRIBUTES.get(word) or (JSON if word in _WORDS else None)


def read_type_name(word: str) -> Kinds:
    """Return what a schema's `type` permits; an unknown word permits anything."""
    return _WORDS.get(word.lower(), ANY)


def get_kind(value: Any) -> Kinds:
    """Return the kind of a JSON value."""
    return frozenset({TYPE_NAMES.get(type(value), "string")})


def join_kinds(parts: Iterable[Kinds | None]) -> Kinds:
    """Return what any of the parts permits; without any, anything."""
    return frozenset(kind for part in parts if part is not None for kind in part) or ANY


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


def to_json_text(text: str, kinds: Kinds) -> str:
    """Return the JSON text of a parameter that was written as `text`."""
    if VERBATIM + text in kinds:
        return quote(text)
    kept = text.strip()
    string = is_string(text, kinds)
    if string is None and _scalar(kinds).fullmatch(text):
        return _LITERALS.get(kept) or _ADORNED.sub(r"\1", kept)
    return (_container(kept, kinds) if string is False else None) or quote(text)


def quote(text: str) -> str:
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
    if not any(kind in kinds and isinstance(reading.value, type) for kind, type in _CONTAINER_TYPES.items()):
        return None
    return msgspec.json.encode(reading.value).decode() if reading.repairs else text
