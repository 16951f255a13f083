"""Tools by name and by category, for an agent and for any provider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamparse.loss import Translation
from streamparse.providers.adapters import translate_tools
from streamparse.tools import Tool, Toolset


class ToolRegistry(Iterable[Tool]):
    """The tools that a program has, in the order in which they were added.

        registry = sp.ToolRegistry([read_file, write_file])
        registry.add(bash)
        agent = sp.Agent(model, registry.select(categories=["files"]))
        registry.definitions("anthropic")

    Tools may be of any kind that `tools=` takes, and a registry is itself one of these.  What takes tools reads them
    once: tools added later are for the next parser, runner or agent.

    Raises TypeError or ValueError for anything that is not a tool, and ValueError if two tools have one name.
    """

    def __init__(self, tools: Iterable[Any] | None = None) -> None:
        self._tools = Toolset.of(tools)

    def add(self, *tools: Any) -> None:
        """Add tools.  Raises TypeError or ValueError as the class does; then none was added."""
        self._tools = Toolset([*self._tools.values(), *Toolset.of(tools).values()])

    def remove(self, name: str) -> None:
        """Remove a tool.  Raises KeyError if no tool has that name."""
        removed = self[name]
        self._tools = Toolset(tool for tool in self if tool is not removed)

    def __getitem__(self, name: str) -> Tool:
        if name not in self._tools:
            raise KeyError(f"no tool has the name {name!r}; there are: {', '.join(self._tools)}")
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"ToolRegistry({list(self._tools)})"

    @property
    def names(self) -> list[str]:
        """The names of the tools."""
        return list(self._tools)

    @property
    def categories(self) -> dict[str, list[Tool]]:
        """The tools by category; those without one are under `""`."""
        found: dict[str, list[Tool]] = {}
        for tool in self:
            found.setdefault(tool.category, []).append(tool)
        return found

    def select(self, *names: str, categories: Iterable[str] = ()) -> ToolRegistry:
        """Return a registry of the tools that have one of the names or one of the categories.

        Raises KeyError for a name or a category that no tool has.
        """
        chosen = self._find(names, categories)
        return ToolRegistry(tool for tool in self if tool.name in chosen)

    def without(self, *names: str, categories: Iterable[str] = ()) -> ToolRegistry:
        """Return a registry of all other tools than `select` would choose.  Raises KeyError as it does."""
        chosen = self._find(names, categories)
        return ToolRegistry(tool for tool in self if tool.name not in chosen)

    def definitions(self, provider: str) -> list[dict[str, Any]]:
        """Return the `tools` of a request to a provider.  Raises ValueError for an unknown one."""
        return self.translate(provider).definitions

    def translate(self, provider: str) -> Translation:
        """Return the same, and what that provider cannot express of the schemas."""
        return translate_tools(self, provider)

    def _find(self, names: Iterable[str], categories: Iterable[str]) -> set[str]:
        if isinstance(categories, str):
            raise TypeError(f"categories must be a list of texts, got the text {categories!r}")
        known, chosen = self.categories, {self[name].name for name in names}
        for category in categories:
            if category not in known:
                raise KeyError(f"no tool has the category {category!r}; there are: {', '.join(known)}")
            chosen |= {tool.name for tool in known[category]}
        return chosen
