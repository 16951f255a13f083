"""What a schema leads to: each of its schemas with those that it applies, references followed.

References lead within the schema only: to a JSON Pointer, an anchor, or an `$id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final
from urllib.parse import unquote, urljoin

from streamparse.repair.findings import cut
from streamparse.schema.ecma_regex import HUGE, Pattern
from streamparse.schema.rewriting import IN_LISTS, IN_MAPS, IN_PLACE

__all__ = ["Node", "build_graph", "count_characters", "sum_paths"]

_STEP: Final = 16
"""Steps of looking at one value with one schema; a step is some nanoseconds, as that of a pattern at one character."""
_TWICE: Final = 4
"""How often at most a schema is applied again where `unevaluated…` asks what it said."""
_SAME: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
"""Keywords whose schemas apply to the same value."""
_CLAIMS: Final = frozenset(
    ("type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
     "minLength", "pattern", "format", "maxItems", "minItems", "uniqueItems", "contains", "minContains", "maxContains",
     "items", "additionalItems", "unevaluatedItems", "maxProperties", "minProperties", "required", "dependentRequired",
     "additionalProperties", "unevaluatedProperties", "propertyNames", "not", "anyOf", "oneOf")
)  # fmt: skip
"""Keywords that may each give an error, which holds the value."""


class Node:
    """A schema: what it costs to look at a value with it, and the schemas that it applies.

    `claims` is the number of errors that it gives at most, `told` the characters of the schema that stand in them.
    """

    __slots__ = (
        "claims", "cost", "every_item", "every_member", "items", "keys", "members", "names", "pattern", "same", "told",
        "weight",
    )  # fmt: skip

    def __init__(self) -> None:
        self.cost = _STEP
        self.claims = self.told = 0
        self.pattern: Pattern | None = None
        self.keys: list[Pattern] = []
        self.weight = 1
        self.same: list[Node] = []
        self.members: dict[str, Node] = {}
        self.every_member: list[Node] = []
        self.names: list[Node] = []
        self.items: list[Node] = []
        self.every_item: list[Node] = []

    def lead_to(self) -> Iterator[tuple[int, Node]]:
        """Yield the schemas that this one applies, each with how often."""
        yield from ((self.weight, node) for node in self.same)
        for nodes in (self.members.values(), self.every_member, self.names, self.items, self.every_item):
            yield from ((1, node) for node in nodes)


def sum_paths(start: Any, look: Callable[[Any], tuple[int, list[tuple[int, Any]]]], most: int) -> int | None:
    """Return what all paths from `start` cost together, None if there is a circle.

    `look` says what a place costs, and where it leads to how often; places are equal if they are the same object or
    equal tuples.  Each place is looked at once.  More than `most` places are too many to count: then it is `HUGE`.
    """
    totals: dict[Any, int | None] = {start: None}
    waiting = [_Path(start, *look(start))]
    while waiting:
        path = waiting[-1]
        for times, each in path.ahead:
            if each not in totals:
                totals[each] = None
                path.ahead = chain([(times, each)], path.ahead)
                waiting.append(_Path(each, *look(each)))
                break
            total = totals[each]
            if total is None:
                return None
            path.cost += times * total
        else:
            totals[path.place] = min(waiting.pop().cost, HUGE)
        if len(totals) > most:
            return HUGE
    return totals[start]


class _Path:
    """A place whose cost is being summed up, and where it leads that has not been added."""

    __slots__ = ("ahead", "cost", "place")

    def __init__(self, place: Any, cost: int, ahead: list[tuple[int, Any]]) -> None:
        self.place = place
        self.cost = cost
        self.ahead = iter(ahead)


def build_graph(schema: dict[str, Any], patterns: dict[str, Pattern]) -> Node:
    """Return the root of a rewritten schema.  Raises ValueError for a reference to what is not there."""
    builder = _Builder(patterns)
    builder.enter(schema, "", schema)
    return builder.build(schema)


class _Builder:
    def __init__(self, patterns: dict[str, Pattern]) -> None:
        self._patterns = patterns
        self._places: dict[int, tuple[str, dict[str, Any]]] = {}  # of each schema: its base, and its resource
        self._named: dict[str, list[dict[str, Any]]] = {}  # by `$id`, or by base and anchor
        self._nodes: dict[int, Node] = {}

    def enter(self, schema: Any, base: str, resource: dict[str, Any]) -> None:
        """Note the place and the names of a schema and of all inside it."""
        if not isinstance(schema, dict):
            return
        if isinstance(name := schema.get("$id"), str):
            base, resource = urljoin(base, name).removesuffix("#"), schema
            self._named.setdefault(base, []).append(schema)
        elif schema is resource:
            self._named.setdefault(base, []).append(schema)
        self._places[id(schema)] = base, resource
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.get(keyword), str):
                self._named.setdefault(f"{base}#{anchor}", []).append(schema)
        for _, inner in _inside(schema):
            self.enter(inner, base, resource)

    def build(self, root: dict[str, Any]) -> Node:
        """Make the nodes of all schemas that are led to from the root."""
        waiting = [root]
        self._nodes[id(root)] = Node()
        while waiting:
            schema = waiting.pop()
            node = self._nodes[id(schema)]
            for keyword, name, inner in self._applied(schema):
                if id(inner) not in self._nodes:
                    self._nodes[id(inner)] = Node()
                    waiting.append(inner)
                _join(node, keyword, name, self._nodes[id(inner)])
            self._weigh(node, schema)
        return self._nodes[id(root)]

    def _applied(self, schema: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        for (keyword, name), inner in _inside(schema):
            if isinstance(inner, dict) and keyword not in ("$defs", "definitions", "contentSchema"):
                yield keyword, name, inner
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(reference := schema.get(keyword), str):
                yield from ((keyword, None, target) for target in self._resolve(reference, schema))

    def _weigh(self, node: Node, schema: dict[str, Any]) -> None:
        node.pattern = self._patterns.get(schema.get("pattern", ""))
        if isinstance(sources := schema.get("patternProperties"), dict):
            node.keys = [self._patterns[source] for source in sources if source in self._patterns]
        listed = [each for key in ("enum", "required") if isinstance(each := schema.get(key), list)]
        node.cost += _STEP * _count_values([listed, schema.get("const")])
        required = schema.get("required")
        node.claims = len(_CLAIMS & schema.keys()) + (len(required) if isinstance(required, list) else 0)
        node.told = count_characters([schema[key] for key in ("enum", "const", "not") if key in schema])
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            node.weight = _TWICE

    def _resolve(self, reference: str, schema: dict[str, Any]) -> list[dict[str, Any]]:
        base, resource = self._places.get(id(schema), ("", schema))
        whole, _, fragment = urljoin(base, reference).partition("#")
        found = [resource] if reference.startswith("#") else self._named.get(whole, [])
        if fragment and not fragment.startswith("/"):
            found = self._named.get(f"{whole}#{unquote(fragment)}", [])
        elif fragment:
            targets = [_follow(each, unquote(fragment)) for each in found]
            if any(isinstance(target, bool) for target in targets):
                return []
            found = [target for target in targets if isinstance(target, dict)]
        if not found:
            raise ValueError(f"it refers to what is not there: {cut(reference)}")
        for each in found:
            if id(each) not in self._places:
                self.enter(each, base, resource)
        return found


def _inside(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, Any], Any]]:
    """Yield the schemas inside of one, with their keyword, and the name or number that they have there."""
    for keyword, value in schema.items():
        if keyword in IN_MAPS and isinstance(value, dict):
            yield from (((keyword, name), each) for name, each in value.items())
        elif keyword in IN_LISTS and isinstance(value, list):
            yield from (((keyword, number), each) for number, each in enumerate(value))
        elif keyword in IN_PLACE:
            yield (keyword, None), value


def _join(node: Node, keyword: str, name: Any, inner: Node) -> None:
    if keyword in _SAME or keyword.startswith("$"):
        node.same.append(inner)
    elif keyword == "properties":
        node.members[name] = inner
    elif keyword == "propertyNames":
        node.names.append(inner)
    elif keyword in ("patternProperties", "additionalProperties", "unevaluatedProperties"):
        node.every_member.append(inner)
    elif name is not None:  # `prefixItems`, and what `items` was before
        node.items.append(inner)
    else:
        node.every_item.append(inner)


def _follow(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def count_characters(value: Any) -> int:
    """Return about how many characters a value has as JSON."""
    count, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        count += len(each) + 2 if isinstance(each, str) else 4
        if isinstance(each, (dict, list)):
            waiting.extend(each)
            waiting.extend(each.values() if isinstance(each, dict) else ())
    return count


def _count_values(value: Any) -> int:
    """How many values there are inside of one."""
    count, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        count += 1
        if isinstance(each, (dict, list)):
            waiting.extend(each.values() if isinstance(each, dict) else each)
    return count
