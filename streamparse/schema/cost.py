"""Counts the work of checking arguments against a schema before it is done.

jsonschema-rs has no bound on its work, and a schema of thirty lines can ask for years of it.  So the schema is read as
a graph: its nodes are the schemas, its edges lead to the schemas that one applies to a value or to what the value
holds.  The steps are summed over all paths.  References stay within the schema: they name a JSON Pointer, an anchor, or
an `$id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import unquote, urljoin

import msgspec

from streamparse.findings import truncate
from streamparse.schema.ecma_regex import HUGE, Pattern
from streamparse.schema.walk import follow_pointer, list_subschemas

_STEP: Final = 16  # source: looking at one value takes as long as a pattern at so many characters
_TWICE: Final = 4  # source: how often at most a schema is applied again where `unevaluated…` needs its result
_PLACES: Final = 500_000  # bound: the pairs of a schema and a value that are counted one by one

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
# The list of a `Node` that the schemas of a keyword are in; those of others are items.
_LEADS_TO: Final = {
    **dict.fromkeys(
        ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", *_REFERENCES),
        "same",
    ),
    **dict.fromkeys(("patternProperties", "additionalProperties", "unevaluatedProperties"), "every_member"),
    "propertyNames": "names",
}
_APPLIES_NOTHING: Final = ("$defs", "definitions", "contentSchema")
# Keywords that may each give an error, which holds the value.
_CLAIMS: Final = frozenset(
    ("type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
     "minLength", "pattern", "format", "maxItems", "minItems", "uniqueItems", "contains", "minContains", "maxContains",
     "items", "additionalItems", "unevaluatedItems", "maxProperties", "minProperties", "required", "dependentRequired",
     "additionalProperties", "unevaluatedProperties", "propertyNames", "not", "anyOf", "oneOf")
)  # fmt: skip


class Node(msgspec.Struct, eq=False):
    """A schema: what it costs to look at a value with it, and the schemas that it applies.

    `claims` is the number of errors that it gives at most, `quoted` the characters of the schema that they contain.
    `same` apply to the value itself, `members`, `every_member` and `names` to what an object holds, `items` and
    `every_item` to what an array holds.
    """

    cost: int = _STEP
    claims: int = 0
    quoted: int = 0
    pattern: Pattern | None = None
    keys: list[Pattern] = []
    weight: int = 1
    same: list[Node] = []
    members: dict[str, Node] = {}
    every_member: list[Node] = []
    names: list[Node] = []
    items: list[Node] = []
    every_item: list[Node] = []


class Cost:
    """What it takes to look at values with a schema, rewritten, with its `patterns`.

    `factor` is the largest number of steps for each character of arguments as JSON; None if it depends on the
    arguments themselves.  Raises ValueError for a schema with a reference to nothing, or to
    itself for the same value.
    """

    def __init__(self, schema: dict[str, Any], patterns: dict[str, Pattern], *, is_linear: bool) -> None:
        graph = _Graph(patterns)
        self._root = graph.build(schema)

        def look(node: Node | None) -> tuple[int, list[tuple[int, Node]]]:
            return 1, [(1, each) for each in (graph.nodes.values() if node is None else node.same)]

        if _sum_paths(None, look) is None:  # a schema applies itself to the same value
            raise ValueError("it refers to itself without end")
        self.factor: int | None = _sum_paths(self._root, _weigh) if is_linear else None

    def count_steps(self, arguments: Any) -> int:
        """Return how many steps it takes at most to look at arguments."""
        return self._count(arguments, _count_own)

    def count_looks(self, arguments: Any) -> int:
        """Return how often at most a value of the arguments is looked at with a schema."""
        return self._count(arguments, lambda _node, _value: 1)

    def count_reported(self, arguments: Any) -> int:
        """Return how many characters the errors hold at most: each repeats the value, and what it must be."""
        sizes: dict[int, int] = {}

        def count_own(node: Node, value: Any) -> int:
            if id(value) not in sizes:
                sizes[id(value)] = _count_characters(value)
            return node.claims * sizes[id(value)] + node.quoted

        return self._count(arguments, count_own)

    def _count(self, arguments: Any, count_own: Callable[[Node, Any], int]) -> int:
        """Sum over each schema with each value that it applies to."""
        nodes = {id(self._root): self._root}
        values: dict[int, Any] = {id(arguments): arguments}  # kept, so that no two have one id
        applied = 0

        def look(place: tuple[int, int]) -> tuple[int, list[tuple[int, tuple[int, int]]]]:
            nonlocal applied
            node, value = nodes[place[0]], values[place[1]]
            applied += _count_applied(node, value)
            if applied > _PLACES:
                return HUGE, []
            onward = []
            for times, inner, each in _apply(node, value):
                nodes[id(inner)], values[id(each)] = inner, each
                onward.append((times, (id(inner), id(each))))
            return count_own(node, value), onward

        total = _sum_paths((id(self._root), id(arguments)), look)
        return HUGE if total is None else total


def _sum_paths(start: Any, look: Callable[[Any], tuple[int, list[tuple[int, Any]]]]) -> int | None:
    """Return what all paths from `start` cost together, None if there is a circle, `HUGE` if there are too many places.

    `look` says what a place costs, and where it leads to how often; places are equal if they are the same object or
    equal tuples.  Each place is looked at once.  It does not recurse: paths may be longer than Python's stack.
    """
    open_places: dict[Any, tuple[int, list[tuple[int, Any]]]] = {}
    totals: dict[Any, int] = {}
    waiting = [start]
    while waiting:
        place = waiting[-1]
        if place in open_places:  # and all that it leads to is summed
            waiting.pop()
            cost, ahead = open_places.pop(place)
            totals[place] = min(cost + sum(times * totals[each] for times, each in ahead), HUGE)
        elif place in totals:
            waiting.pop()
        else:
            cost, ahead = open_places[place] = look(place)
            if any(each in open_places for _, each in ahead):
                return None
            if len(open_places) + len(totals) > _PLACES:
                return HUGE
            waiting += (each for _, each in ahead if each not in totals)
    return totals[start]


class _Graph:
    def __init__(self, patterns: dict[str, Pattern]) -> None:
        self._patterns = patterns
        self._places: dict[int, tuple[str, dict[str, Any]]] = {}  # of each schema: its base, and its resource
        self._named: dict[str, list[dict[str, Any]]] = {}  # by `$id`, or by base and anchor
        self.nodes: dict[int, Node] = {}  # of the schemas that are reached from the root, by their ids

    def build(self, root: dict[str, Any]) -> Node:
        """Return the node of the root.  Raises ValueError for a reference to nothing."""
        self._enter(root, "", root)
        waiting = [root]
        self.nodes[id(root)] = Node()
        while waiting:
            schema = waiting.pop()
            node = self.nodes[id(schema)]
            for keyword, name, inner in self._list_applied(schema):
                if id(inner) not in self.nodes:
                    self.nodes[id(inner)] = Node()
                    waiting.append(inner)
                if keyword == "properties":
                    node.members[name] = self.nodes[id(inner)]
                else:  # items without a number are those of `items`, `contains`, …
                    place = _LEADS_TO.get(keyword, "every_item" if name is None else "items")
                    getattr(node, place).append(self.nodes[id(inner)])
            self._fill(node, schema)
        return self.nodes[id(root)]

    def _enter(self, schema: Any, base: str, resource: dict[str, Any]) -> None:
        """Note the place and the names of a schema and of all inside it."""
        if not isinstance(schema, dict):
            return
        if isinstance(name := schema.get("$id"), str):
            base, resource = urljoin(base, name).removesuffix("#"), schema
        if schema is resource:
            self._named.setdefault(base, []).append(schema)
        self._places[id(schema)] = base, resource
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.get(keyword), str):
                self._named.setdefault(f"{base}#{anchor}", []).append(schema)
        for _, _, inner in list_subschemas(schema):
            self._enter(inner, base, resource)

    def _list_applied(self, schema: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        for keyword, name, inner in list_subschemas(schema):
            if isinstance(inner, dict) and keyword not in _APPLIES_NOTHING:
                yield keyword, name, inner
        for keyword in _REFERENCES:
            if isinstance(reference := schema.get(keyword), str):
                yield from ((keyword, None, target) for target in self._resolve(reference, schema))

    def _fill(self, node: Node, schema: dict[str, Any]) -> None:
        pattern = schema.get("pattern")
        node.pattern = self._patterns.get(pattern) if isinstance(pattern, str) else None
        if isinstance(sources := schema.get("patternProperties"), dict):
            node.keys = [self._patterns[source] for source in sources if source in self._patterns]
        listed = [each for key in ("enum", "required") if isinstance(each := schema.get(key), list)]
        node.cost += _STEP * sum(1 for _ in _list_values([listed, schema.get("const")]))
        required = schema.get("required")
        node.claims = len(_CLAIMS & schema.keys()) + (len(required) if isinstance(required, list) else 0)
        node.quoted = _count_characters([schema[key] for key in ("enum", "const", "not") if key in schema])
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            node.weight = _TWICE

    def _resolve(self, reference: str, schema: dict[str, Any]) -> list[dict[str, Any]]:
        base, resource = self._places.get(id(schema), ("", schema))
        whole, _, fragment = urljoin(base, reference).partition("#")
        found = [resource] if reference.startswith("#") else self._named.get(whole, [])
        if fragment and not fragment.startswith("/"):
            found = self._named.get(f"{whole}#{unquote(fragment)}", [])
        elif fragment:
            targets = [follow_pointer(each, unquote(fragment)) for each in found]
            if any(isinstance(target, bool) for target in targets):
                return []
            found = [target for target in targets if isinstance(target, dict)]
        if not found:
            raise ValueError(f"it refers to what is not there: {truncate(reference)}")
        for each in found:
            if id(each) not in self._places:
                self._enter(each, base, resource)
        return found


def _weigh(node: Node) -> tuple[int, list[tuple[int, Node]]]:
    """What a schema costs for each character of its value, and where it leads."""
    patterns = [*([node.pattern] if node.pattern is not None else []), *node.keys]
    inside = (*node.members.values(), *node.every_member, *node.names, *node.items, *node.every_item)
    onward = [*((node.weight, each) for each in node.same), *((1, each) for each in inside)]
    return node.cost + sum(pattern.weight for pattern in patterns), onward


def _count_applied(node: Node, value: Any) -> int:
    """How many schemas and patterns a node applies to a value, to its members and to their names."""
    each = len(node.every_member) + len(node.names) + len(node.keys) + 1 if isinstance(value, dict) else 0
    each = len(node.every_item) + 1 if isinstance(value, list) else each
    return len(node.same) + each * len(value) if each else len(node.same)


def _apply(node: Node, value: Any) -> list[tuple[int, Node, Any]]:
    """What a node applies to a value and to what the value holds: how often, the node, the value."""
    applied = [(node.weight, each, value) for each in node.same]
    if isinstance(value, dict):
        applied += [(1, node.members[key], each) for key, each in value.items() if key in node.members]
        applied += [(1, inner, each) for inner in node.every_member for each in value.values()]
        applied += [(1, inner, key) for inner in node.names for key in value]
    elif isinstance(value, list):
        applied += [(1, inner, each) for inner, each in zip(node.items, value, strict=False)]
        applied += [(1, inner, each) for inner in node.every_item for each in value]
    return applied


def _count_own(node: Node, value: Any) -> int:
    if isinstance(value, dict):
        return node.cost + sum(pattern.count_steps(key) for pattern in node.keys for key in value)
    if isinstance(value, str) and node.pattern is not None:
        return node.cost + node.pattern.count_steps(value)
    return node.cost


def _count_characters(value: Any) -> int:
    """Return about how many characters a value has as JSON."""
    return sum(len(each) + 2 if isinstance(each, str) else 4 for each in _list_values(value))


def _list_values(value: Any) -> Iterator[Any]:
    """Yield a value and all values inside it, the keys of objects too."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, dict):
            waiting += (*each.values(), *each)
        elif isinstance(each, list):
            waiting += each
