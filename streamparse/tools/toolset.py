"""The tools of one request, by name, and what a parser asks of them."""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from streamparse.patterns import BLANKS
from streamparse.schema.walk import resolve_ref
from streamparse.tools.declaration import TOOL_ATTRIBUTE, Tool
from streamparse.tools.definitions import read_definition, read_sdk_object

# Keywords with which the root of a schema may require more than its `required` says.
_COMPOUND = ("$ref", "allOf", "anyOf", "oneOf", "not", "if")

_MAX_REFERENCES = 16  # bound: references in a row that are followed, which may be a circle

# GPT's own word for the tools of a request, and Gemini's.
_NAMESPACES = ("functions.", "default_api.", "default_api:")


class Toolset(Mapping[str, Tool]):
    """An immutable mapping from names to tools.

    Names match by exact code points: no folding of case, no trimming; but see `resolve_name`.
    """

    __slots__ = ("_by_name", "_ordered", "names")

    names: frozenset[str]

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._by_name: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._by_name:
                raise ValueError(f"two tools have the name {tool.name!r}")
            self._by_name[tool.name] = tool
        self._ordered: list[str] | None = None  # the names, once it was asked how they begin
        self.names = frozenset(self._by_name)

    @classmethod
    def of(cls, tools: Iterable[Any] | None) -> Toolset:
        """Read tools of any kind: `Tool`, a provider's definition as a dict or as its SDK's object, or a function.

        The schema of a bare function is read each time: decorate the function, or keep the Toolset, to read it once.
        Raises TypeError or ValueError for anything else, and ValueError if two have one name.
        """
        if tools is None:
            return _NO_TOOLS
        if isinstance(tools, Toolset):
            return tools
        if isinstance(tools, (str, bytes, Mapping, Tool)) or not isinstance(tools, Iterable):
            raise TypeError(f"tools must be an iterable of tools, got one {type(tools).__name__}: {tools!r}")
        return cls(tool for each in tools for tool in _read_tools(each))

    def __getitem__(self, name: str) -> Tool:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __repr__(self) -> str:
        return f"Toolset({sorted(self.names)})"

    def begins(self, prefix: str) -> bool:
        """Whether some name begins with `prefix` and goes on after it."""
        ordered = self._ordered
        if ordered is None:
            ordered = self._ordered = sorted(self._by_name)
        at = bisect_right(ordered, prefix)  # such names come right after it
        return at < len(ordered) and ordered[at].startswith(prefix)

    def resolve_name(self, written: str) -> str:
        """Return the declared name that was meant; the given one, if there is none.

        Models and servers write white space around a name, a namespace before it that no request has, or it twice.
        """
        if written in self._by_name:
            return written
        name = written.strip(BLANKS)
        for namespace in _NAMESPACES:
            name = name.removeprefix(namespace)
        first, _, second = name.partition(".")  # `NAME.NAME`
        name = second if second == first else name
        return name if name in self._by_name else written

    def requires_arguments(self, name: str) -> bool | None:
        """Whether a call without arguments breaks the schema; None if the tool or its schema is not known."""
        tool = self._by_name.get(name)
        if tool is None or not tool.parameters:
            return None
        if tool.parameters.get("required") or tool.parameters.get("minProperties"):
            return True
        return None if any(keyword in tool.parameters for keyword in _COMPOUND) else False

    def parameter_schema(self, name: str, key: str) -> dict[str, Any] | None:
        """The schema of one parameter, references to the tool's own definitions followed; None if it is not known."""
        tool = self._by_name.get(name)
        if tool is None:
            return None
        root = _resolve(tool.parameters, tool.parameters)
        properties = root.get("properties")
        schema = properties.get(key) if isinstance(properties, dict) else None
        if schema is None:
            schema = root.get("additionalProperties")
        return _resolve(schema, tool.parameters) if isinstance(schema, dict) else None


_NO_TOOLS = Toolset()
_MOST_KEPT = 256 * 1024  # bound: bytes of definitions that are kept; longer ones are read each time


def read_toolset(tools: Iterable[Any] | None) -> Toolset:
    """Read the tools of a request as `Toolset.of` does; definitions that are as they were before are not read again.

    The result is made of a copy, and shared: it must not be changed.
    """
    if type(tools) is list:
        try:
            content = msgspec.json.encode(tools)
            copy, known = _read_copy(content) if len(content) <= _MOST_KEPT else (None, _NO_TOOLS)
        except (TypeError, ValueError, RecursionError):  # not JSON, or not tools
            copy, known = None, _NO_TOOLS
        if copy == tools:  # some other values are written in JSON, too
            return known
    return Toolset.of(tools)


@lru_cache(maxsize=32)
def _read_copy(content: bytes) -> tuple[list[Any], Toolset]:
    copy = msgspec.json.decode(content)
    return copy, Toolset.of(copy)


def _read_tools(declared: Any) -> Iterable[Tool]:
    if declared.__class__ is dict:  # nearly always; the checks below cost as much as the reading
        return read_definition(declared)
    if isinstance(declared, Tool):
        return (declared,)
    declared = read_sdk_object(declared)
    if isinstance(declared, Mapping):
        return read_definition(declared)
    attached = getattr(declared, TOOL_ATTRIBUTE, None)
    if isinstance(attached, Tool):
        if not inspect.ismethod(declared):
            return (attached,)
        # Read again from a bound method: its own signature has no `self`.
        return (msgspec.structs.replace(attached, function=declared, parameters={}),)
    if inspect.isfunction(declared) or inspect.ismethod(declared):
        return (Tool(declared.__name__, function=declared),)
    hint = " (wrap it: Tool(name, function=...))" if callable(declared) else ""
    raise TypeError(f"a tool must be a Tool, a dict or a function, got {type(declared).__name__}{hint}: {declared!r}")


def _resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follow references; one that leads nowhere, or in circles, stays as it is."""
    resolved = schema
    for _ in range(_MAX_REFERENCES):
        target = resolve_ref(resolved.get("$ref"), root)
        if not isinstance(target, dict):
            return resolved
        resolved = target
    return schema
