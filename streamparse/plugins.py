"""Dialects, wires and parsers that other distributions bring, as entry points.

| group | an entry point is | its name |
|---|---|---|
| `streamparse.dialects` | a `Dialect` | the dialect's |
| `streamparse.wires` | a class of the shape of `Wire` | what the wire is to be called |
| `streamparse.parsers` | a function of the tools that returns a `ToolCallParser` | what `parser_for` takes |

Nothing is looked up at import.  An entry point is loaded when an unknown name is asked for, or by `load_plugins`; after
that `"auto"` looks for those dialects and wires, too.  Each room registers the group that it takes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["PluginError", "PluginWarning", "load", "load_plugins", "register_group"]

Take: TypeAlias = Callable[[str, Any], None]
"""Takes a plugin and its name into a room; raises TypeError or ValueError for one that does not fit."""

_groups: dict[str, Take] = {}
_loaded: set[tuple[str, str, str]] = set()


class PluginError(ValueError):
    """A distribution offers the name that was asked for, but what it offers cannot be used."""


class PluginWarning(UserWarning):
    """Something that a distribution offers cannot be used, and was passed over."""


def register_group(name: str, take: Take) -> None:
    """Register what takes the entry points of a group."""
    _groups[name] = take


def load(group: str, name: str) -> bool:
    """Load the entry points of a name in a group; return whether there are any.

    Raises PluginError if one cannot be used.
    """
    offered = [entry for entry in _list_entry_points(group) if entry.name == name]
    for entry in offered:
        _load(group, entry)
    return bool(offered)


def load_plugins() -> dict[str, list[str]]:
    """Load all that installed distributions offer; return the names by group, also those that were loaded before.

    What cannot be used is passed over with a PluginWarning.
    """
    return {name: [entry.name for entry in _list_entry_points(name) if _can_load(name, entry)] for name in _groups}


def _can_load(group: str, entry: EntryPoint) -> bool:
    try:
        _load(group, entry)
    except PluginError as error:
        warnings.warn(str(error), PluginWarning, stacklevel=4)
        return False
    return True


def _load(group: str, entry: EntryPoint) -> None:
    if (group, entry.name, entry.value) in _loaded:
        return
    try:
        _groups[group](entry.name, entry.load())
    except Exception as error:  # foreign code may raise anything
        distribution = "an unknown distribution" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
        reason = f"{type(error).__name__}: {error}"
        raise PluginError(f"{entry.name!r} of {distribution} ({group}) cannot be used: {reason}") from error
    _loaded.add((group, entry.name, entry.value))


def _list_entry_points(group: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - large, and hardly ever needed

    return entry_points(group=group)
