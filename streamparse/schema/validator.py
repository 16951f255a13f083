"""A validator of one schema: that of jsonschema-rs, and what it would take to look at arguments with it.

The draft is the one that `$schema` names, else 2020-12.  References are followed within the schema only: nothing is
ever fetched.  The library itself has no bound on its work, and a schema of thirty lines can ask for years of it; so the
steps are counted before they are taken (`CompiledSchema.count_steps`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from streamparse.repair.findings import cut
from streamparse.schema.ecma_regex import HUGE, options
from streamparse.schema.formats import FORMATS, check_format
from streamparse.schema.graph import Node, build_graph, count_characters, sum_paths
from streamparse.schema.rewriting import Rewriting

__all__ = ["MISSING", "CompiledSchema", "compile_schema", "has_validator"]

MISSING: Final = "JSON Schema checks need `pip install 'llm-streamparse[schema]'`"
_LARGEST: Final = 4 << 20
"""Characters of a schema as JSON."""
_PLACES: Final = 500_000
"""Pairs of a schema and a value that are counted one by one."""


class _TooMany(Exception):
    """There is more than anyone counts."""


class CompiledSchema:
    """What checks arguments against one schema, and the patterns of it that cannot be read and are not checked.

    `factor` is the number of steps that a character of arguments, written as JSON, asks for at most; None if only
    the arguments themselves can tell.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        import jsonschema_rs  # noqa: PLC0415 - an extra

        rewriting = Rewriting(schema)
        self.unread = tuple(rewriting.unread)
        self.root = build_graph(rewriting.schema, rewriting.patterns)
        _check_circles(self.root)
        self.factor = sum_paths(self.root, _weigh, _PLACES) if rewriting.is_linear else None
        formats = {name: check_format(fits) for name, fits in FORMATS.items()}
        try:
            self.validator = jsonschema_rs.validator_for(
                rewriting.schema,
                offline=True,
                validate_formats=True,
                formats=formats,
                pattern_options=options(rewriting.is_linear),
            )
        except jsonschema_rs.ValidationError as error:
            place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
            raise ValueError(f"{cut(error.message)} (at ${place})") from error

    def count_steps(self, arguments: Any) -> int:
        """Return how many steps it takes at most to look at arguments."""
        return self._count(arguments, _count_own)

    def count_looks(self, arguments: Any) -> int:
        """Return how often at most a value of the arguments is looked at with a schema."""
        return self._count(arguments, lambda _node, _value: 1)

    def count_told(self, arguments: Any) -> int:
        """Return how many characters at most the errors hold: each has the value, and what it must be."""
        sizes: dict[int, int] = {}

        def count_own(node: Node, value: Any) -> int:
            if id(value) not in sizes:
                sizes[id(value)] = count_characters(value)
            return node.claims * sizes[id(value)] + node.told

        return self._count(arguments, count_own)

    def _count(self, arguments: Any, count_own: Callable[[Node, Any], int]) -> int:
        """Sum over each schema with each value that it applies to."""
        values: dict[int, Any] = {}  # kept, so that no two have one id
        applied = 0

        def look(place: tuple[int, int]) -> tuple[int, list[tuple[int, tuple[int, int]]]]:
            nonlocal applied
            node, value = nodes[place[0]], values[place[1]]
            applied += _count_applied(node, value)
            if applied > _PLACES:
                raise _TooMany
            onward = []
            for times, inner, each in _apply(node, value):
                nodes[id(inner)], values[id(each)] = inner, each
                onward.append((times, (id(inner), id(each))))
            return count_own(node, value), onward

        nodes = {id(self.root): self.root}
        values[id(arguments)] = arguments
        try:
            total = sum_paths((id(self.root), id(arguments)), look, _PLACES)
        except _TooMany:
            return HUGE
        return HUGE if total is None else total


def compile_schema(schema: dict[str, Any]) -> CompiledSchema:
    """Return what checks arguments; it is kept for the next call.

    Raises ValueError for what is no schema, ModuleNotFoundError without jsonschema-rs.
    """
    if not has_validator():
        raise ModuleNotFoundError(MISSING)
    try:
        written = msgspec.json.encode(schema)
    except (TypeError, ValueError, RecursionError):
        return CompiledSchema(schema)
    if len(written) > _LARGEST:
        raise ValueError("it is too large")
    try:
        return _compile_kept(written)
    except ValueError:  # it may hold what JSON cannot: an infinite bound, a Decimal
        return CompiledSchema(schema)


@cache
def has_validator() -> bool:
    """Whether jsonschema-rs is installed."""
    try:
        import jsonschema_rs  # noqa: F401, PLC0415 - an extra
    except ModuleNotFoundError:
        return False
    return True


@lru_cache(maxsize=256)
def _compile_kept(written: bytes) -> CompiledSchema:
    return CompiledSchema(msgspec.json.decode(written))


def _weigh(node: Node) -> tuple[int, list[tuple[int, Node]]]:
    """What a schema costs for each character of its value, and where it leads."""
    patterns = [*([node.pattern] if node.pattern is not None else []), *node.keys]
    return node.cost + sum(pattern.weight for pattern in patterns), list(node.lead_to())


def _check_circles(root: Node) -> None:
    """Raise ValueError if a schema applies itself to the same value."""
    nodes = {id(root): root}
    waiting = [root]
    while waiting:
        for _, each in waiting.pop().lead_to():
            if id(each) not in nodes:
                nodes[id(each)] = each
                waiting.append(each)

    def look(node: Node | None) -> tuple[int, list[tuple[int, Node | None]]]:
        return 1, [(1, each) for each in (nodes.values() if node is None else node.same)]

    if sum_paths(None, look, _PLACES) is None:
        raise ValueError("it refers to itself without end")


def _count_applied(node: Node, value: Any) -> int:
    """How many schemas and patterns one applies to a value, its members and their names."""
    each = len(node.every_member) + len(node.names) + len(node.keys) + 1 if isinstance(value, dict) else 0
    each = len(node.every_item) + 1 if isinstance(value, list) else each
    return len(node.same) + each * len(value) if each else len(node.same)


def _apply(node: Node, value: Any) -> list[tuple[int, Node, Any]]:
    """The schemas that one applies to a value or to what is inside it, each with how often."""
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
