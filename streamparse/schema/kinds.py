"""Kinds of JSON values: what a place in a schema permits, and what JSON a text there means.

A schema is read as JSON Schema has it: `type`, `const` and `enum`, `anyOf`, `oneOf`, `allOf`, local `$ref`, and
OpenAPI's `nullable`.  All keywords of a schema hold together; a schema that contradicts itself permits anything.

Where markup gives no types, a parameter's text is read by the kinds that its schema permits: as the first of null,
boolean, number, object or array that is permitted and that it looks like, else as a string.  Numbers keep their literal
text, and nothing is taken off the ends of a string.  Where only strings are permitted, each text is one as it is.
Where nothing is known (`ANY`) a text that is JSON of another kind is that value.  Attributes of the markup
(`string="false"`, `type="number"`) override the schema; but a string that the schema does not permit is read by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from streamparse.json import JSONError, read
from streamparse.patterns import lazy_partial, lazy_re
from streamparse.schema.walk import resolve_ref

if TYPE_CHECKING:
    import regex

# JSON types; `integer` is a part of `number`.
# Two more: `quoted` says that a text that is a JSON string has the value of that string; `=TEXT` says that this very
# text is a string, whatever it looks like.
Kinds: TypeAlias = frozenset[str]

STRING: Final[Kinds] = frozenset({"string"})
ANY: Final[Kinds] = frozenset({"null", "boolean", "integer", "number", "object", "array", "string"})
# What a format says is JSON; its text is a string only if it cannot be read.
JSON: Final[Kinds] = ANY | {"quoted"}
# The prefix of a kind `=TEXT`.
VERBATIM: Final = "="
# JSON Schema's names of the types of Python's JSON values.
TYPE_NAMES: Final[dict[type, str]] = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array",
}  # fmt: skip

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
_LITERALS: Final = {word: word.lower().replace("none", "null") for words in _SPELLINGS.values() for word in words}
_NUMBERS: Final = {
    "number": r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    "integer": r"-?(?:0|[1-9][0-9]*)(?:\.0+)?",
}
# What Python's numbers may begin with, and JSON's may not.
_ADORNED: Final = lazy_re(r"^\+?(-?)0*(?=[0-9])")
_CONTAINERS: Final = {"object": "{", "array": "[", "quoted": '"'}
_CONTAINER_TYPES: Final = {"object": dict, "array": list, "quoted": str}
_LONGEST_SCALAR: Final = 1000  # bound: characters that are matched again with each piece of a value
_COMBINED: Final = ("anyOf", "oneOf", "allOf")


def read_type_attribute(word: str) -> Kinds | None:
    """Return what the type that an attribute of the markup names permits; None if the word is not known."""
    return _ATTRIBUTES.get(word) or (JSON if word in _WORDS else None)


def get_kind(value: Any) -> Kinds:
    """Return the kind of a JSON value."""
    return frozenset({TYPE_NAMES.get(type(value), "string")})


def join_kinds(parts: Iterable[Kinds | None]) -> Kinds:
    """Return what any of the parts permits; without any, anything."""
    return frozenset(kind for part in parts if part is not None for kind in part) or ANY


# -- texts -----------------------------------------------------------------------------------------


def is_string(head: str, kinds: Kinds) -> bool | None:
    """Whether a text that begins with `head` is a string whatever follows; None where more of it must be seen.

    False says that the text must be read as a whole.
    """
    if kinds == STRING:
        return True
    first = head.lstrip()[:1]
    if first and any(_CONTAINERS.get(kind) == first for kind in kinds):
        return False
    if len(head) > _LONGEST_SCALAR or _compile_scalar(kinds).fullmatch(head, partial=True) is None:
        return True
    return None


def to_json_text(text: str, kinds: Kinds) -> str:
    """Return the JSON text of a parameter that was written as `text`."""
    if VERBATIM + text in kinds:
        return quote(text)
    kept = text.strip()
    string = is_string(text, kinds)
    if string is None and _compile_scalar(kinds).fullmatch(text):
        return _LITERALS.get(kept) or _ADORNED.sub(r"\1", kept)
    return (_read_container(kept, kinds) if string is False else None) or quote(text)


def quote(text: str) -> str:
    """Return a string's JSON text."""
    if text.isascii():
        return encode_basestring(text)
    try:
        return msgspec.json.encode(text).decode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return msgspec.json.encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")).decode()


@lru_cache(maxsize=128)
def _compile_scalar(kinds: Kinds) -> regex.Pattern[str]:
    """The pattern of scalars that are no strings.  Where nothing is known only JSON's own words count."""
    words = [word for kind, spellings in _SPELLINGS.items() if kind in kinds for word in spellings]
    if kinds == ANY:
        words = [word for word in words if word == _LITERALS[word]]
    numbers = [pattern for kind, pattern in _NUMBERS.items() if kind in kinds]
    if "string" not in kinds:  # no text with a meaning of its own: `018956`, `+5`
        numbers = [rf"[+]?(?:{pattern.replace('(?:0|[1-9][0-9]*)', '[0-9]+')})" for pattern in numbers]
    return lazy_partial(rf"\s*(?:{'|'.join([*words, *numbers]) or '(?!)'})\s*")


def _read_container(text: str, kinds: Kinds) -> str | None:
    """The text of an object, array or string, unchanged if it is JSON; None for any other text."""
    try:
        reading = read(text, "heal" if kinds != ANY else "lenient")
    except JSONError:
        return None
    if not any(kind in kinds and isinstance(reading.value, type) for kind, type in _CONTAINER_TYPES.items()):
        return None
    return msgspec.json.encode(reading.value).decode() if reading.repairs else text


# -- schemas ---------------------------------------------------------------------------------------


class SchemaView:
    """A place in a schema: the `kinds` of values it permits, and what it says of its members.

    `schemas` are alternatives; without any, everything is permitted.  `root` is the schema that references lead into.
    """

    __slots__ = ("_alternatives", "_branches", "_kinds", "_members", "_root")

    def __init__(self, schemas: Iterable[Any], root: Any) -> None:
        self._alternatives = list(schemas)
        self._root = root
        self._branches = list(_list_branches(self._alternatives, root))
        self._kinds: Kinds | None = None
        self._members: dict[str, SchemaView] = {}  # those that are declared, and were asked for

    @property
    def kinds(self) -> Kinds:
        """The kinds of values that are permitted."""
        if self._kinds is None:
            kinds = _find_permitted({"anyOf": self._alternatives}, self._root, set()) or ANY
            self._kinds = kinds | _find_verbatim(self._branches, kinds)
        return self._kinds

    def view_member(self, key: str) -> SchemaView:
        """What an object's member may be."""
        if key in self._members:
            return self._members[key]
        named = [schema["properties"].get(key) for schema in self._list_objects()]
        if any(schema is not None for schema in named):
            view = self._members[key] = SchemaView([schema for schema in named if schema is not None], self._root)
            return view
        return self._get_inner("additionalProperties")

    def view_item(self) -> SchemaView:
        """What an array's element may be."""
        return self._get_inner("items")

    @property
    def members(self) -> frozenset[str]:
        """The names of an object's members, as far as they are declared."""
        return frozenset(key for schema in self._list_objects() for key in schema["properties"])

    def _list_objects(self) -> Iterator[dict[str, Any]]:
        return (schema for schema in self._branches if isinstance(schema.get("properties"), dict))

    def _get_inner(self, keyword: str) -> SchemaView:
        inner = (schema.get(keyword) for schema in self._branches)
        return SchemaView([schema for schema in inner if isinstance(schema, dict)], self._root)


def _list_branches(schemas: Iterable[Any], root: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas, those they refer to, and their branches, each once."""
    seen: set[int] = set()
    waiting = [*schemas]
    while waiting:
        schema = waiting.pop(0)
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            branches = [branch for key in _COMBINED for branch in _as_list(schema.get(key))]
            waiting += [resolve_ref(schema.get("$ref"), root), *branches]


def _find_permitted(schema: Any, root: Any, seen: set[int]) -> Kinds | None:
    """What a schema permits; None for one that is being asked already: it refers to itself."""
    if not isinstance(schema, dict):
        return ANY
    if id(schema) in seen:
        return None
    seen.add(id(schema))
    allowed = ANY
    for part in _list_constraints(schema, root, seen):
        allowed &= part
    return (allowed or ANY) | ({"null"} if schema.get("nullable") is True else set())


def _list_constraints(schema: dict[str, Any], root: Any, seen: set[int]) -> Iterator[Kinds]:
    """Yield what each keyword of a schema permits."""
    if "$ref" in schema:
        yield _find_permitted(resolve_ref(schema.get("$ref"), root), root, seen) or ANY
    if "type" in schema:
        words = (word.lower() for word in _as_list(schema["type"]) if isinstance(word, str))
        yield join_kinds(_WORDS.get(word, ANY) for word in words)  # an unknown word permits anything
    if "const" in schema:
        yield get_kind(schema["const"])
    elif listed := _as_list(schema.get("enum")):
        yield join_kinds(map(get_kind, listed))
    for key in ("anyOf", "oneOf"):
        if branches := _as_list(schema.get(key)):
            yield join_kinds(_find_permitted(branch, root, seen) for branch in branches)
    for branch in _as_list(schema.get("allOf")):
        yield _find_permitted(branch, root, seen) or ANY


def _find_verbatim(branches: list[dict[str, Any]], kinds: Kinds) -> Kinds:
    """The texts that a schema lists as strings, and that would be read as something else."""
    if kinds == STRING or "string" not in kinds:
        return frozenset()
    listed = (value for schema in branches for value in (*_as_list(schema.get("enum")), schema.get("const")))
    texts = (value for value in listed if isinstance(value, str))
    return frozenset(VERBATIM + text for text in texts if to_json_text(text, kinds) != quote(text))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
