"""What a parameter's text means, where the markup gives no types: JSON text by the tool's schema.

What a schema permits is a set of kinds.  A text is read as the first of null, boolean, number, object or array that
is permitted and that it looks like, else it is a string; numbers keep their literal text, and nothing is taken off
the ends of a string.  Where only strings are permitted every text is one as it stands.  Where nothing is known
(`ANY`) a text that is JSON of another kind is that value.  Attributes of the markup (`string="false"`,
`type="number"`) override the schema; but a string that the schema does not permit is read by the schema.

Schemas are read as JSON Schema has it: `type`, `const` and `enum`, `anyOf`, `oneOf`, `allOf`, local `$ref`, and
OpenAPI's `nullable`.  Keywords beside each other all hold; what contradicts itself permits anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from streamparse.jsonread import JSONError, read
from streamparse.patterns import gradual, plain

if TYPE_CHECKING:
    import regex

__all__ = [
    "ANY",
    "JSON",
    "STRING",
    "UNQUOTABLE",
    "Kinds",
    "Typed",
    "coerced",
    "is_string",
    "kinds_of_attribute",
    "quoted",
]

Kinds: TypeAlias = frozenset[str]
"""JSON types; `integer` is a part of `number`.  `quoted`: a text that is a JSON string is what that says."""

STRING: Final[Kinds] = frozenset({"string"})
ANY: Final[Kinds] = frozenset({"null", "boolean", "integer", "number", "object", "array", "string"})
JSON: Final[Kinds] = ANY | {"quoted"}
"""What a format says is JSON; its text is a string only if it cannot be read."""

UNQUOTABLE: Final = r'["\\\x00-\x1f\ud800-\udfff]'
"""A pattern of what may not stand in a JSON string as it is."""

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
_LONGEST_SCALAR: Final = 1000
_COMBINED: Final = ("anyOf", "oneOf", "allOf")


class Typed:
    """A place in a schema: the `kinds` it permits, and what it says of its members.

    `schemas` are alternatives; without any, everything is permitted.  `root` is where references lead.
    """

    __slots__ = ("_branches", "_root", "kinds")

    def __init__(self, schemas: Iterable[Any], root: Any) -> None:
        alternatives = list(schemas)
        self._root = root
        self._branches = list(_branches(alternatives, root))
        self.kinds: Kinds = _permitted({"anyOf": alternatives}, root, set()) or ANY

    def member(self, key: str) -> Typed:
        """What an object's member may be."""
        named = [_at(schema.get("properties"), key) for schema in self._branches]
        if any(schema is not None for schema in named):
            return Typed([schema for schema in named if schema is not None], self._root)
        others = [schema.get("additionalProperties") for schema in self._branches]
        return Typed([schema for schema in others if isinstance(schema, dict)], self._root)

    def item(self) -> Typed:
        """What an array's element may be."""
        items = [schema.get("items") for schema in self._branches]
        return Typed([schema for schema in items if isinstance(schema, dict)], self._root)

    @property
    def members(self) -> frozenset[str]:
        """The names of an object's members, as far as they are declared."""
        named = [schema.get("properties") for schema in self._branches]
        return frozenset(key for properties in named if isinstance(properties, dict) for key in properties)


def kinds_of_attribute(word: str) -> Kinds | None:
    """Return what a type that is written in the markup permits; None if the word says nothing."""
    return _ATTRIBUTES.get(word) or (JSON if word in _WORDS else None)


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
    return gradual(rf"\s*(?:{'|'.join([*words, *numbers]) or '(?!)'})\s*")


def _container(text: str, kinds: Kinds) -> str | None:
    """The text of an object, array or string, as it came if it is JSON; None if it is none of these."""
    try:
        reading = read(text, "heal" if kinds != ANY else "lenient")
    except JSONError:
        return None
    kinds_here = {"object": dict, "array": list, "quoted": str}
    if not any(kind in kinds and isinstance(reading.value, kinds_here[kind]) for kind in kinds_here):
        return None
    return msgspec.json.encode(reading.value).decode() if reading.repairs else text


def _branches(schemas: Iterable[Any], root: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas, those they refer to, and their branches, each once."""
    seen: set[int] = set()
    waiting = [*schemas]
    while waiting:
        schema = waiting.pop(0)
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            waiting += [_referred(schema, root), *(each for key in _COMBINED for each in _list(schema.get(key)))]


def _permitted(schema: Any, root: Any, seen: set[int]) -> Kinds | None:
    """What a schema permits; None where it has been asked before, on the way here."""
    if not isinstance(schema, dict):
        return ANY
    if id(schema) in seen:
        return None
    seen.add(id(schema))
    allowed = ANY
    for part in _constraints(schema, root, seen):
        allowed &= part
    return (allowed or ANY) | ({"null"} if schema.get("nullable") is True else set())


def _constraints(schema: dict[str, Any], root: Any, seen: set[int]) -> Iterator[Kinds]:
    """Yield what each keyword of a schema permits."""
    if "$ref" in schema:
        yield _permitted(_referred(schema, root), root, seen) or ANY
    if "type" in schema:
        yield _union(_WORDS.get(word.lower(), ANY) for word in _list(schema["type"]) if isinstance(word, str))
    if "const" in schema:
        yield _kinds_of(schema["const"])
    elif _list(schema.get("enum")):
        yield _union(_kinds_of(value) for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        yield _union(_permitted(branch, root, seen) for branch in _list(schema.get(key)))
    for branch in _list(schema.get("allOf")):
        yield _permitted(branch, root, seen) or ANY


def _union(parts: Iterable[Kinds | None]) -> Kinds:
    return frozenset(kind for part in parts if part is not None for kind in part) or ANY


def _kinds_of(value: Any) -> Kinds:
    """The kind of a JSON value."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int):
        return frozenset({"integer"})
    names = {type(None): "null", float: "number", str: "string", dict: "object", list: "array"}
    return frozenset({names.get(type(value), "string")})


def _referred(schema: dict[str, Any], root: Any) -> Any:
    """What `"$ref": "#/a/b"` leads to; None if that is nothing, or not here."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target = root
    from urllib.parse import unquote  # noqa: PLC0415 - a slow import, which few schemas need

    for step in unquote(reference[1:]).split("/")[1:]:
        target = _at(target, step.replace("~1", "/").replace("~0", "~"))
    return target


def _at(value: Any, key: str) -> Any:
    if isinstance(value, list) and re.fullmatch("[0-9]{1,9}", key) and int(key) < len(value):
        return value[int(key)]
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
