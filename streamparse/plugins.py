"""Dialects, wires and parsers that other distributions bring, as entry points.

| group | an entry point is | its name |
|---|---|---|
| `streamparse.dialects` | a `Dialect` | the dialect's |
| `streamparse.wires` | a class of the shape of `Wire` | what the wire is to be called |
| `streamparse.parsers` | a function of the tools that returns a `ToolCallParser` | what `parser_for` takes |

Nothing is looked up at import: an entry point is loaded when a name is asked for that is not known, or by
`load_plugins`, after which `"auto"` looks for those dialects and wires, too.  Each room says what it takes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["PluginError", "PluginWarning", "check", "find", "group", "load_plugins"]

Take: TypeAlias = Callable[[str, Any], None]
"""Takes what was loaded under a name into a room; raises TypeError or ValueError for what does not fit."""

Check: TypeAlias = Callable[[str], object]
"""Raises ValueError, with the names that are known, for one that is not, and that no distribution offers."""

_groups: dict[str, Take] = {}
_checks: dict[str, Check] = {}
_loaded: set[tuple[str, str, str]] = set()


class PluginError(ValueError):
    """A name was asked for that a distribution offers, but what it offers cannot be used."""


class PluginWarning(UserWarning):
    """What a distribution offers cannot be used, and was passed over."""


def group(name: str, take: Take, check: Check | None = None) -> None:
    """Say who takes the entry points of a group, and who knows the names where no lower room does."""
    _groups[name] = take
    if check is not None:
        _checks[name] = check


def check(group: str, name: str) -> None:
    """Raise ValueError for a name that nobody knows in a group that said who knows its names."""
    _checks[group](name)


def find(group: str, name: str) -> bool:
    """Load what a group offers under a name; whether there was anything.  Raises PluginError if it cannot be used."""
    offered = [entry for entry in _entry_points(group) if entry.name == name]
    for entry in offered:
        _load(group, entry)
    return bool(offered)


def load_plugins() -> dict[str, list[str]]:
    """Load all that installed distributions offer; return the names by group, those included that were loaded before.

    What cannot be used is passed over with a PluginWarning.
    """
    return {name: [entry.name for entry in _entry_points(name) if _works(name, entry)] for name in _groups}


def _works(group: str, entry: EntryPoint) -> bool:
    try:
        _load(group, entry)
    except PluginError as error:
        warnings.warn(str(error), PluginWarning, stacklevel=4)
        return False
    return True


def _load(group: str, entry: EntryPoint) -> None:
    """Load one entry point, once."""
    if (group, entry.name, entry.value) in _loaded:
        return
    try:
        _groups[group](entry.name, entry.load())
    except Exception as error:  # of foreign code, which may raise anything
        distribution = "an unknown distribution" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
        reason = f"{type(error).__name__}: {error}"
        raise PluginError(f"{entry.name!r} of {distribution} ({group}) cannot be used: {reason}") from error
    _loaded.add((group, entry.name, entry.value))


def _entry_points(group: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - large, and hardly ever needed

    return entry_points(group=group)
